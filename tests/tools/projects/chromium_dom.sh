# chromium --dump-dom: a page of a shop as HTML, scripts and styles included, a table of sixty rows and a form
version() { chromium --version 2>/dev/null | cut -d' ' -f1-2; }
setup() {
cat > stock.html <<'EOF'
<!doctype html><html lang="en"><head><title>Stock - Harbour Lamps</title><style>
body { font: 14px sans-serif } td { padding: 4px 8px } .low { color: crimson } .row:nth-child(even) { background: #eee }
</style></head><body><h1>Stock</h1><p id="says">2 lamps are nearly sold out.</p>
<form id="find" action="/stock"><label for="q">Find a lamp</label> <input id="q" name="q" type="search"> <button id="go">Find</button></form>
<table><tbody id="rows"></tbody></table>
<form id="order" action="/reorder" method="post"><label>Lamps <input name="count" type="number" value="10"></label><button id="reorder">Reorder</button></form>
<script>
document.getElementById("rows").innerHTML = Array.from({length: 60}, (_, n) => `<tr class="row${n === 33 ? " low" : ""}"><td class="name">Lamp ${n + 1}</td><td class="count">${n === 33 ? 1 : 40 + n}</td><td><a class="edit" href="/stock/${n + 1}/edit">Edit</a></td></tr>`).join("\n");
window.tracker = { send(event) { return navigator.sendBeacon && navigator.sendBeacon("/t", JSON.stringify({ event, at: Date.now() })) } };
</script></body></html>
EOF
}
run() { chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/stock.html" 2>/dev/null; }
