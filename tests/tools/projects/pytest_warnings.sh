# pytest: one test fails, and a deprecation is warned of on every other line
version() { python -m pytest --version; }
setup() {
cat > clock.py <<'EOF'
import warnings


def now(name):
    warnings.warn(f"clock.now({name!r}) is deprecated: an error will be raised from 4.0 on, call clock.utc() instead", DeprecationWarning, stacklevel=2)
    return 1_700_000_000
EOF
for area in $(seq -w 1 60); do
cat > test_area_$area.py <<EOF
import clock


def test_open_$area():
    assert clock.now("open-$area") > 0


def test_close_$area():
    assert clock.now("close-$area") > 0
EOF
done
cat > test_area_37_invoice.py <<'EOF'
import clock


def due(days):
    return clock.now("invoice") + days * 86_400


def test_an_invoice_is_due_in_a_fortnight():
    assert due(14) - clock.now("today") == 14 * 24 * 60
EOF
}
run() { python -m pytest -p no:cacheprovider -v; }
