# rspec --format documentation in colours: two of 300 examples fail
version() { rspec --version | head -1; }
setup() {
mkdir -p spec
cat > spec/library_spec.rb <<'EOF'
require "date"

Loan = Struct.new(:title, :due) do
  def overdue?(today) = due < today
  def fee(today) = overdue?(today) ? ((today - due).to_i * 0.2).round(1) : 0
end

RSpec.describe Loan do
  today = Date.new(2026, 3, 1)
  %w[Atlas Bible Comics Diary Essays Fables Guide Hymns Index Journal Kites Legends Maps Novels Odes Poems Quotes Riddles Songs Tales].each do |title|
    context "with #{title}" do
      (1..14).each do |days|
        it "costs 20 cents a day after #{days} days without an error" do
          loan = Loan.new(title, today - days)
          expected = (days * 0.2).round(1)
          expected = 5.0 if title == "Essays" && days == 9
          expect(loan.fee(today)).to eq(expected)
        end
      end
      it "costs nothing on the day" do
        loan = Loan.new(title, title == "Guide" ? nil : today)
        expect(loan.fee(today)).to eq(0)
      end
    end
  end
end
EOF
}
run() { rspec --format documentation --force-color; }
