# eslint, stylish in colours: warnings galore and three errors
version() { echo "eslint $(eslint --version)"; }
setup() {
ln -s "$TOOLS/js/node_modules" node_modules
cat > eslint.config.mjs <<'EOF'
import js from '@eslint/js';

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: { console: 'readonly' } },
    rules: { 'no-console': 'warn', 'no-unused-vars': 'warn', eqeqeq: 'warn', 'prefer-const': 'warn', 'no-var': 'warn', 'no-magic-numbers': ['warn', { ignore: [0, 1] }] },
  },
];
EOF
mkdir -p src
for name in alerts badges charts dialogs errors forms grids icons lists modals panels rows sliders tables tabs toasts trees widgets; do
cat > src/$name.js <<EOF
var cache = {};
export function load_$name(id, options) {
  let key = '$name:' + id;
  if (cache[key] == undefined) {
    console.log('loading', key);
    cache[key] = { id, ttl: 300, size: 42 };
  }
  var stale = cache[key].ttl > 86400;
  return cache[key];
}
export const render_$name = (entry, unused) => {
  if (entry.size == 12) console.error('error in $name', entry);
  return '<div>' + entry.id + '</div>';
};
EOF
done
cat >> src/lists.js <<'EOF'
export function sorted(items) {
  return itmes.slice().sort();
}
EOF
cat >> src/tabs.js <<'EOF'
export function kind(tab) {
  switch (tab.kind) {
    case 'wide':
      return 1;
    case 'wide':
      return 0;
  }
}
EOF
echo 'export const broken = (row) => { return row.cells.map((cell => cell.text) };' >> src/rows.js
}
run() { eslint --color src; }
