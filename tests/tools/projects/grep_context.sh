# grep -rn -B -A: matches with lines around them
version() { grep --version | head -1; }
setup() {
mkdir -p src/billing src/orders vendor/lib tests docs
for n in $(seq 1 40); do
for d in src/billing src/orders vendor/lib tests; do
{ echo "\"\"\"Part $n of $d.\"\"\""; echo "from billing.rates import load_rates"; echo; for k in $(seq 1 6); do echo "def step_${n}_$k(order):"; echo "    rates = load_rates(order.country, cached=True)"; echo "    return order.total * rates.tax_$k"; echo; done; } > $d/part_$n.py
done; done
{ echo "\"\"\"Tax rates.\"\"\""; echo; echo "def load_rates(country, *, cached=False):"; echo "    \"\"\"Return the rates of a country.\"\"\""; echo "    return RATES[country]"; } > src/billing/rates.py
echo "load_rates reads the table of rates" > docs/rates.md

}
run() { grep -rn -B2 -A3 "tax_3" src | sort -s -t- -k1,1; }
