# node --test, TAP: two of hundreds are not ok
version() { echo "node $(node --version)"; }
setup() {
cat > slug.test.mjs <<'EOF'
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

const WORDS = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Error', 'Failure', 'Zeta', 'Eta', 'Theta', 'Iota', 'Kappa'];
describe('slug', () => {
  for (const one of WORDS) {
    for (const other of WORDS) {
      it(`joins ${one} and ${other}`, () => {
        assert.equal(slug(`${one}, ${other}!`), `${one}-${other}`.toLowerCase());
      });
    }
    if (one === 'Gamma') {
      it('keeps letters with accents', () => {
        assert.equal(slug('Crème brûlée'), 'creme-brulee');
      });
    }
  }
  it('refuses what is not text', () => {
    assert.equal(slug(undefined), '');
  });
});
EOF
}
run() { node --test --test-reporter=tap slug.test.mjs; }
