# git log -p: fourteen commits, most of them in a lock file, one that changes what is computed
version() { git --version; }
setup() {
git init -q -b main .
mkdir -p src tests docs
for n in $(seq -w 1 40); do echo "value_$n = $n" >> src/values.py; done
cat > src/money.py <<'EOF'
"""Amounts of money."""


def with_tax(cents, rate):
    return cents + cents * rate // 100


def split(cents, ways):
    return [cents // ways] * ways
EOF
seq 1 400 | sed 's/.*/package-& sha256:&&&&&&&&/' > packages.lock
printf '# Shop\n\nA shop.\n' > docs/index.md
git add . && git commit -qm "Start the shop"
for n in $(seq -w 1 12); do
  sed -i "s/^package-${n#0}\([0-9]*\) sha256:.*/package-${n#0}\1 sha256:$n$n$n$n$n\1/" packages.lock
  echo "note $n: packages are up to date" >> docs/index.md
  [ $n = 07 ] && sed -i 's/return \[cents \/\/ ways\] \* ways/each, rest = divmod(cents, ways)\n    return [each + 1] * rest + [each] * (ways - rest)/' src/money.py
  [ $n = 07 ] && printf 'from src.money import split\n\n\ndef test_no_cent_is_lost():\n    assert sum(split(100, 3)) == 100\n' > tests/test_money.py
  git add . && GIT_AUTHOR_DATE="2026-01-$n 12:00 +0000" GIT_COMMITTER_DATE="2026-01-$n 12:00 +0000" git commit -qm "$([ $n = 07 ] && echo 'Lose no cent in split()' || echo "Update packages, week $n")"
done
}
run() { git --no-pager log -p; }
