# minitest -v: one failure, one error, one skip
version() { ruby -e 'require "minitest"; puts "minitest #{Minitest::VERSION}, ruby #{RUBY_VERSION}"'; }
setup() {
cat > test_roman.rb <<'EOF'
require "minitest/autorun"

module Roman
  VALUES = { "M" => 1000, "CM" => 900, "D" => 500, "CD" => 400, "C" => 100, "XC" => 90, "L" => 50, "XL" => 40, "X" => 10, "V" => 5, "IV" => 4, "I" => 1 }.freeze

  def self.write(number)
    raise ArgumentError, "no Roman numeral for #{number}" unless number.positive?

    VALUES.reduce(+"") { |text, (letters, value)| text << letters * (number / value).tap { number %= value } }
  end
end

class TestRoman < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!

  (1..399).each do |number|
    next if number % 10 == 9

    define_method("test_#{number.to_s.rjust(4, "0")}_has_no_error") { assert_match(/\A[MDCLXVI]+\z/, Roman.write(number)) }
  end

  def test_0077_a_nine_is_short
    assert_equal "XIX", Roman.write(19)
  end

  def test_0090_zero_is_nulla
    assert_equal "N", Roman.write(0)
  end

  def test_0100_overlines
    skip "not yet"
  end
end
EOF
}
run() { ruby test_roman.rb --verbose --seed 1; }
