# pylint: conventions and refactorings by the hundred, two errors
version() { pylint --version | head -1; }
setup() {
mkdir -p pkg
for name in alarms beacons dials errors flaps gauges horns lamps meters pumps; do
cat > pkg/$name.py <<EOF
import os, sys, json
class ${name}Driver():
    def __init__(self, a, b, c, d, e, f, g):
        self.a = a
        self.Handler = lambda x: x
    def read(self, unused):
        l = []
        for i in range(len(self.a)):
            l.append(self.a[i])
        if len(l) == 0:
            return None
        else:
            return l
    def log_error(self):
        try:
            print("error of %s" % self.a)
        except Exception as e:
            raise ValueError("no")
EOF
done
cat > pkg/panel.py <<'EOF'
"""The panel in the front."""

from pkg.lamps import lampsDriver


def switch_on():
    """Switch the first lamp on."""
    driver = lampsDriver(1, 2, 3, 4, 5, 6, 7)
    driver.ignite()
    return driver.read()
EOF
touch pkg/__init__.py
}
run() { pylint --persistent=n pkg; }
