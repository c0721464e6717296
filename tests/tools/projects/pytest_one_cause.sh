# pytest: 233 failures of one cause, among tests that pass
version() { python -m pytest --version; }
setup() {
cat > pricing.py <<'EOF'
"""Prices of an order, in cents."""


def unit_price(item):
    return item["price"] - item.get("discount", "0")


def total(order):
    return sum(unit_price(item) * item["count"] for item in order)
EOF
cat > test_orders.py <<'EOF'
import pytest
from pricing import total

ORDERS = [[{"price": 100 + number, "count": 1 + number % 3}] for number in range(233)]


@pytest.mark.parametrize("number", range(120))
def test_numbers_are_not_negative(number):
    assert number >= 0


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: f"order{order[0]['price']}")
def test_total_is_the_sum_of_its_items(order):
    assert total(order) == order[0]["price"] * order[0]["count"]
EOF
}
run() { python -m pytest -p no:cacheprovider; }
