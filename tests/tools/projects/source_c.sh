# cat: 2,000 lines of C
version() { cat --version | head -1; }
setup() {
{ echo "#include <stdio.h>"; echo; echo "#define DEFAULT_MARGIN 20"; echo; echo "struct item {"; echo "    int cost;"; echo "};"; for n in $(seq 1 120); do echo; echo "/* Returns price number $n. */"; echo "int price_$n(const struct item *item, int amount) {"; for k in $(seq 1 12); do echo "    int part_$k = item->cost * amount + $n * $k;"; done; echo "    return part_1 + part_12;"; echo "}"; done; } > prices.c
}
run() { cat prices.c; }
