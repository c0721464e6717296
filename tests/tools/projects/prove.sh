# prove -v: Perl's TAP, two tests not ok, a plan that is not kept
version() { prove --version; }
setup() {
mkdir -p t
for name in 01-load 02-parse 03-error 04-write; do
printf 'use strict;\nuse warnings;\nuse Test::More tests => 45;\nok(length("x" x $_) == $_, "'$name': a field of $_ characters is kept, no error") for 1 .. 45;\n' > t/$name.t
done
cat > t/025-quotes.t <<'EOF'
use strict;
use warnings;
use Test::More tests => 5;

sub unquote { my ($text) = @_; $text =~ s/^"|"$//g; return $text }

is(unquote('"tea"'), 'tea', 'quotes are dropped');
is(unquote('"tea ""green"""'), 'tea "green"', 'doubled quotes become one');
is(unquote('tea'), 'tea', 'no quotes, no change');
is_deeply([map { unquote($_) } '"a"', 'b"c"'], ['a', 'b"c"'], 'quotes inside stay');
EOF
}
run() { prove -v t; }
