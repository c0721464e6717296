# cat: 2,000 lines of TypeScript
version() { cat --version | head -1; }
setup() {
{ echo "import { load } from \"./load\";"; echo; echo "export const DEFAULT_MARGIN = 0.2;"; echo; echo "export interface Item {"; echo "  cost: number;"; echo "  name: string;"; echo "}"; for n in $(seq 1 120); do echo; echo "/** Returns price number $n. */"; echo "export function price$n(item: Item, amount: number): number {"; for k in $(seq 1 12); do echo "  const part$k = item.cost * amount + $n * $k;"; done; echo "  return part1 + part12;"; echo "}"; done; } > prices.ts
}
run() { cat prices.ts; }
