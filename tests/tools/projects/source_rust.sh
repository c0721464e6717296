# cat: 2,000 lines of Rust
version() { cat --version | head -1; }
setup() {
{ echo "use std::fmt;"; echo; echo "pub const DEFAULT_MARGIN: u32 = 20;"; echo; echo "pub struct Item {"; echo "    pub cost: u32,"; echo "}"; echo; echo "impl Item {"; for n in $(seq 1 120); do echo; echo "    /// Returns price number $n."; echo "    pub fn price_$n(&self, amount: u32) -> u32 {"; for k in $(seq 1 12); do echo "        let part_$k = self.cost * amount + $n * $k;"; done; echo "        part_1 + part_12"; echo "    }"; done; echo "}"; } > prices.rs
}
run() { cat prices.rs; }
