# pytest -v --cov: two failures, then a long table of coverage, then the verdict
version() { python -m pytest --version; }
setup() {
mkdir -p fleet tests
touch fleet/__init__.py
for name in accidents audits axles batteries bookings brakes chargers contracts depots drivers engines errors exports fines fuel garages insurance invoices keys leases licences logs maps meters mileage orders parts permits plates pools prices queries reports routes routers seats sensors services shifts stations taxes telemetry tickets tolls trailers trips tyres users vans vendors; do
cat > fleet/$name.py <<EOF
def count(rows):
    total = 0
    for row in rows:
        if row is None:
            continue
        total += row
    return total


def describe(rows):
    if not rows:
        raise ValueError("no $name")
    if len(rows) > 10:
        return "many $name"
    return f"{len(rows)} $name"
EOF
cat > tests/test_$name.py <<EOF
import pytest

from fleet import $name


@pytest.mark.parametrize("rows", [[], [1], [1, 2], [3, None]], ids=["none", "one", "two", "holes"])
def test_${name}_are_counted(rows):
    assert $name.count(rows) == sum(row or 0 for row in rows)


def test_${name}_raise_an_error_when_empty():
    with pytest.raises(ValueError):
        $name.describe([])
EOF
done
sed -i 's/        if row is None:/        if not row:/; s/        total += row/        total += row if row > 1 else 0/' fleet/tolls.py
}
run() { python -m pytest -v -p no:cacheprovider --tb=short --cov=fleet --cov-report=term-missing --cov-branch --cov-fail-under=90; }
