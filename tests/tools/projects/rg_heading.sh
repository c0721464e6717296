# rg -n --heading: a name in eighty files, defined in one of them, most lines of it the same
version() { rg --version | head -1; }
setup() {
mkdir -p src/api src/jobs tests third_party/pay
for n in $(seq 1 20); do
for d in src/api src/jobs tests third_party/pay; do
{ echo "import { retry } from 'net/retry';"; echo; for k in 1 2 3 4; do echo "export async function call_${n}_$k(order) {"; echo "  return retry(() => order.send($k), { times: 3 });"; echo "}"; done; } > $d/part_$n.ts
done; done
mkdir -p src/net
{ echo "/** Calls again what failed. */"; echo "export async function retry(call, { times, wait = 100 }) {"; echo "  for (let left = times; ; left--) {"; echo "    try { return await call(); } catch (error) { if (left <= 1) throw error; }"; echo "  }"; echo "}"; } > src/net/retry.ts
echo "retry(call, { times: 0 }); // never ends" > src/jobs/nightly.ts
}
run() { rg -n --heading --sort path retry; }
