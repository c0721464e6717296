# mocha, spec reporter in colours: a timeout and a deep diff
version() { echo "mocha $(mocha --version)"; }
setup() {
mkdir -p test
cat > test/routes.spec.js <<'EOF'
const assert = require('assert');

const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];
const THINGS = ['users', 'teams', 'projects', 'boards', 'cards', 'labels', 'errors', 'files', 'hooks', 'tokens', 'invoices', 'plans', 'seats', 'exports', 'alerts', 'badges', 'charts', 'devices', 'events', 'forms', 'groups', 'images', 'jobs', 'keys', 'links', 'mails', 'notes', 'orders', 'pages', 'queues', 'audits', 'regions', 'domains', 'limits'];

const answer = (method, thing) => ({ status: method === 'POST' ? 201 : 200, body: { thing, method, links: { self: `/v1/${thing}` } } });

for (const thing of THINGS) {
  describe(`/v1/${thing}`, () => {
    for (const method of METHODS) {
      it(`${method} answers ${thing} with success`, () => {
        assert.ok(answer(method, thing).status < 300);
      });
      it(`${method} links ${thing} to itself`, () => {
        const wanted = { status: 200, body: { thing, method, links: { self: `/v1/${thing}` } } };
        if (method === 'POST') wanted.status = 201;
        if (thing === 'labels' && method === 'PATCH') wanted.body.links.self = '/v2/labels';
        assert.deepStrictEqual(answer(method, thing), wanted);
      });
    }
    it('answers within 20 ms when there is an error', function (done) {
      this.timeout(20);
      if (thing === 'hooks') return;
      setImmediate(done);
    });
  });
}
EOF
}
run() { FORCE_COLOR=1 mocha --color; }
