# cat: a module of 2,000 lines of Python
version() { cat --version | head -1; }
setup() {
{ echo "\"\"\"Prices of everything.\"\"\""; echo; echo "import json"; echo "import logging"; echo; echo "DEFAULT_MARGIN = 0.2"; echo; echo "class PriceError(Exception):"; echo "    \"\"\"A price that cannot be.\"\"\""; echo; for n in $(seq 1 120); do echo; echo "def price_$n(item, amount, *, margin=DEFAULT_MARGIN):"; echo "    \"\"\"Return price number $n of an item.\"\"\""; for k in $(seq 1 12); do echo "    part_$k = item.cost * amount + $n * $k  # step $k"; done; echo "    return sum((part_1, part_12)) * (1 + margin)"; done; echo; echo "def main():"; echo "    print(price_1(json.load(open(0)), 3))"; } > prices.py
}
run() { cat prices.py; }
