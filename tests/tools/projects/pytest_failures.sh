# pytest -v on a terminal: hundreds pass, two fail
# On a terminal.
version() { python -m pytest --version; }
setup() {
mkdir -p shop tests
touch shop/__init__.py
cat > shop/money.py <<'EOF'
"""Amounts in cents, and what is done with them."""

from dataclasses import dataclass

RATES = {"DE": 19, "FR": 20, "NL": 21, "SE": 25, "HU": 27, "LU": 17}


@dataclass(frozen=True)
class Money:
    cents: int
    currency: str = "EUR"

    def __add__(self, other):
        if self.currency != other.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(self.cents + other.cents, self.currency)

    def with_tax(self, country):
        return Money(int(self.cents * (100 + RATES[country]) / 100), self.currency)

    def split(self, ways):
        return [Money(self.cents // ways, self.currency)] * ways
EOF
cat > tests/test_money.py <<'EOF'
import pytest

from shop.money import RATES, Money

AMOUNTS = [1, 99, 100, 101, 999, 1_000, 12_345, 99_999]


@pytest.mark.parametrize("country", RATES)
@pytest.mark.parametrize("cents", AMOUNTS)
def test_tax_is_never_negative(cents, country):
    assert Money(cents).with_tax(country).cents >= cents


@pytest.mark.parametrize("one", AMOUNTS)
@pytest.mark.parametrize("other", AMOUNTS)
def test_adding_is_commutative(one, other):
    assert Money(one) + Money(other) == Money(other) + Money(one)


@pytest.mark.parametrize("currency", ["USD", "GBP", "SEK", "CHF"])
def test_adding_another_currency_is_an_error(currency):
    with pytest.raises(ValueError, match="cannot add"):
        Money(1) + Money(1, currency)


def test_split_loses_nothing():
    parts = Money(100).split(3)
    assert sum(part.cents for part in parts) == 100


@pytest.mark.parametrize("ways", range(1, 11))
def test_split_gives_as_many_parts_as_asked(ways):
    assert len(Money(1_000).split(ways)) == ways
EOF
cat > tests/test_orders.py <<'EOF'
import itertools

import pytest

from shop.money import Money

STATES = ["draft", "paid", "packed", "shipped", "failed", "refunded"]


class Order:
    def __init__(self, state):
        self.state = state
        self.total = Money(4_990)

    def move(self, state):
        if self.state == "refunded":
            raise RuntimeError(f"order is {self.state}; no way back to {state}")
        self.state = state
        return self


@pytest.mark.parametrize(("before", "after"), list(itertools.product(STATES, STATES)))
def test_an_order_moves(before, after):
    if before == "refunded":
        pytest.skip("final")
    assert Order(before).move(after).state == after


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("step", ["error_page", "retry", "timeout", "exception_mail"])
def test_every_state_has_a_step(state, step):
    order = Order(state)
    if (state, step) == ("refunded", "retry"):
        order.move("paid")
    assert order.total == Money(4_990)
EOF
}
run() { python -m pytest -v -p no:cacheprovider --color=yes; }
