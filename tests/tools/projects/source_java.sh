# cat: 2,000 lines of Java
version() { cat --version | head -1; }
setup() {
{ echo "package shop;"; echo; echo "import java.util.List;"; echo; echo "public final class Prices {"; echo "    private static final int DEFAULT_MARGIN = 20;"; for n in $(seq 1 120); do echo; echo "    /** Returns price number $n. */"; echo "    public int price$n(int cost, int amount) {"; for k in $(seq 1 12); do echo "        int part$k = cost * amount + $n * $k;"; done; echo "        return part1 + part12;"; echo "    }"; done; echo "}"; } > Prices.java
}
run() { cat Prices.java; }
