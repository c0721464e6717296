# pytest -v: one module cannot be imported, one test fails, and every other one warns
version() { python -m pytest --version; }
setup() {
mkdir -p tests
cat > legacy.py <<'EOF'
import warnings


def read(name):
    warnings.warn(f"legacy.read({name!r}) is deprecated and will be an error in 4.0; use store.open()", DeprecationWarning, stacklevel=2)
    return name.upper()
EOF
for name in accounts billing carts coupons customers errors exports feeds imports invoices labels mails orders parcels prices refunds reports returns search stock taxes users; do
cat > tests/test_$name.py <<EOF
import legacy


def test_${name}_are_read():
    assert legacy.read("$name") == "$name".upper()


def test_${name}_are_read_twice():
    legacy.read("$name.csv")
    assert legacy.read("$name.bak").endswith("BAK")
EOF
done
cat > tests/test_payments.py <<'EOF'
from legacy import read, write_atomically


def test_payments():
    assert read(write_atomically("payments"))
EOF
sed -i 's/assert legacy.read("parcels")/assert legacy.read("parcel")/' tests/test_parcels.py
}
run() { python -m pytest -p no:cacheprovider --continue-on-collection-errors -v; }
