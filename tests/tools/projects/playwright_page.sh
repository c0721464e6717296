# a Playwright snapshot of a page in Chromium: a shop's orders, a table of eighty rows, filters, a form, a footer
version() { echo "playwright-core $(node -p "require('$TOOLS/js/node_modules/playwright-core/package.json').version"), $(chromium --version 2>/dev/null | cut -d' ' -f1-2)"; }
setup() {
cat > orders.html <<'EOF'
<!doctype html><html lang="en"><head><title>Orders - Harbour Lamps</title></head><body>
<header><a href="/">Harbour Lamps</a>
<nav aria-label="Main"><ul><li><a href="/orders">Orders</a></li><li><a href="/stock">Stock</a></li><li><a href="/customers">Customers</a></li><li><a href="/refunds">Refunds</a></li><li><a href="/reports">Reports</a></li></ul></nav>
<button aria-label="Account of Dana">D</button></header>
<main><h1>Orders</h1><p role="status">3 orders are waiting for payment.</p>
<form aria-label="Filter"><label>Search orders <input type="search"></label>
<label>State <select><option>All</option><option>Waiting for payment</option><option>Sent</option></select></label>
<label>From <input type="date"></label><button>Apply</button><button type="button">Export as CSV</button></form>
<table><caption>Orders of this week</caption><thead><tr><th>Number</th><th>Customer</th><th>Lamp</th><th>State</th><th>Actions</th></tr></thead><tbody id="rows"></tbody></table>
<nav aria-label="Pages"><a href="?page=1" aria-current="page">1</a><a href="?page=2">2</a><a href="?page=3">Next page</a></nav>
<section aria-label="New order"><h2>New order</h2><form><label>Customer's mail <input type="email" required></label>
<label>Lamp <input></label><label><input type="checkbox"> Send an invoice</label><button>Create order</button></form></section></main>
<footer><a href="/help">Help</a><a href="/imprint">Imprint</a><p>Harbour Lamps, pier 4</p></footer>
<script>
const lamps = ["Pier lantern", "Signal lamp", "Deck light", "Anchor light"];
document.getElementById("rows").innerHTML = Array.from({length: 80}, (_, n) => `<tr><td><a href="/orders/${4100 + n}">${4100 + n}</a></td>
<td>Customer ${n + 1}</td><td>${lamps[n % 4]}</td><td>${n % 27 === 5 ? "Waiting for payment" : "Sent"}</td>
<td><button>Open</button><button>Print label</button><button>Refund</button></td></tr>`).join("");
</script></body></html>
EOF
cat > snapshot.js <<'EOF'
const { chromium } = require(process.env.TOOLS + "/js/node_modules/playwright-core");
(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto("file://" + process.cwd() + "/orders.html");
  const found = await page.ariaSnapshot({ mode: "ai" }).catch(() => page._snapshotForAI());
  const text = typeof found === "string" ? found : found.full;
  console.log("### Page\n- Page URL: https://shop.example.org/orders\n- Page Title: " + (await page.title()) + "\n### Snapshot\n```yaml\n" + text + "\n```");
  await browser.close();
})();
EOF
}
run() { node snapshot.js; }
