# pytest: 80 failures of one cause and three of another, between them tests that pass
version() { pytest --version; }
setup() {
cat > stock.py <<'END'
def units(row):
    return int(row["units"])


def site(row):
    return row["site"].upper()
END
cat > test_stock.py <<'END'
import pytest

from stock import site, units

ROWS = [{"units": "12 pcs" if n % 3 else "12", "site": None if n in (50, 70, 90) else "kiel"} for n in range(120)]


@pytest.mark.parametrize("number", range(120))
def test_units_are_a_number(number):
    assert units(ROWS[number]) == 12


@pytest.mark.parametrize("number", range(120))
def test_a_site_is_in_capitals(number):
    assert site(ROWS[number]) == "KIEL"
END
}
run() { pytest -p no:cacheprovider; }
