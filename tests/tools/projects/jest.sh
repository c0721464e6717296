# jest --verbose on a terminal: two of 22 suites fail, one of them cannot be loaded
# On a terminal.
version() { echo "jest $(jest --version)"; }
setup() {
ln -s "$TOOLS/js/node_modules" node_modules
mkdir -p src __tests__
echo '{"name": "cart", "version": "1.0.0", "jest": {"testEnvironment": "node"}}' > package.json
cat > src/cart.js <<'EOF'
class Cart {
  constructor() {
    this.lines = [];
  }
  add(sku, price, count = 1) {
    this.lines.push({sku, price, count});
    return this;
  }
  total() {
    return this.lines.reduce((sum, line) => sum + line.price * line.count, 0);
  }
  receipt() {
    return {lines: this.lines.map((line) => line.sku), total: this.total(), currency: 'EUR'};
  }
}
module.exports = {Cart};
EOF
for name in address auth banner basket catalog checkout cookies errors filters footer header images login menus orders profile ratings search settings shipping; do
cat > __tests__/$name.test.js <<EOF
const {Cart} = require('../src/cart');

describe('$name', () => {
  for (const count of [1, 2, 3, 5, 8, 13, 21]) {
    test(\`adds up \${count} lines of $name\`, () => {
      const cart = new Cart();
      for (let i = 0; i < count; i++) cart.add('$name-' + i, 3);
      expect(cart.total()).toBe(3 * count);
    });
  }
  test('throws no error on an empty $name', () => {
    if ('$name' === 'login') console.warn('session cookie is not secure; ignoring in test mode');
    expect(new Cart().total()).toBe(0);
  });
});
EOF
done
cat > __tests__/discounts.test.js <<'EOF'
const {Cart} = require('../src/cart');

describe('discounts', () => {
  test('are shown on the receipt', () => {
    const cart = new Cart().add('tea', 4).add('pot', 30);
    expect(cart.receipt()).toEqual({lines: ['tea', 'pot'], total: 32, discount: 2, currency: 'EUR'});
  });
  test('do not touch the lines', () => {
    expect(new Cart().add('tea', 4).lines).toHaveLength(1);
  });
});
EOF
cat > __tests__/currency.test.js <<'EOF'
const {convert} = require('../src/currency');

test('converts', () => expect(convert(1, 'USD')).toBeGreaterThan(0));
EOF
}
run() { jest --verbose -w 2 --no-cache; }
