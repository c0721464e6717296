import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import without

from spillover.select.take import fill_holes, grow, price, sum_upto, take

pytestmark = pytest.mark.usefixtures("loops")


@st.composite
def tries(draw):
    """Lines with costs as they come (many are the same, so that sums are near the room), and an order of some of them."""
    lines = draw(st.integers(1, 400))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    costs = draw(st.sampled_from(["few", "any"]))
    cost = rng.choice([1.0, 3.5, 9.0, 18.0, 40.25], lines) if costs == "few" else rng.exponential(12, lines)
    base = rng.random(lines) < draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    order = rng.permutation(lines)[: draw(st.integers(0, lines))]
    count = len(order) if draw(st.booleans()) else draw(st.integers(0, 2 * lines))
    share = draw(st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0, 3.0]))
    room = float(round(share * cost.sum())) if draw(st.booleans()) else share * float(cost.sum())
    return base, order, count, cost, sum_upto(cost), room


@given(tries())
@settings(max_examples=400, deadline=None)
def test_the_same_lines_are_taken(given_):
    base = given_[0].copy()
    assert take(*given_).tolist() == without(take, *given_).tolist()
    assert given_[0].tolist() == base.tolist(), "what was given is left alone"


@given(tries())
@settings(max_examples=100, deadline=None)
def test_a_room_that_is_just_enough_is_found_by_both(given_):
    base, order, count, cost, upto, _ = given_
    keep = base.copy()
    keep[order[: len(order) // 2]] = True
    room = price(fill_holes(keep, upto), cost)
    for near in (room, np.nextafter(room, 0), np.nextafter(room, np.inf), room + 1e-3, room - 1e-3):
        args = (base, order, count, cost, upto, float(near))
        assert take(*args).tolist() == without(take, *args).tolist()


@given(tries())
@settings(max_examples=200, deadline=None)
def test_prices_and_strengths_are_the_same_to_the_last_bit(given_):
    base, _, _, cost, _, room = given_
    assert price(base, cost) == without(price, base, cost)
    points = np.random.default_rng(len(cost)).normal(-2, 2, len(cost)).round(2)
    scale = (2_000 / max(room, 1)) ** 0.5
    assert grow(points, cost, scale).tobytes() == without(grow, points, cost, scale).tobytes()


def test_no_lines_cost_nothing():
    none, empty = np.zeros(0, dtype=bool), np.zeros(0)
    assert price(none, empty) == without(price, none, empty) == 0.0
    assert grow(empty, empty, 1.0).tolist() == []
    assert take(none, np.zeros(0, dtype=np.intp), 0, empty, np.zeros(1), 10.0).tolist() == []


def test_wrong_arrays_are_refused_and_nothing_is_read(loops):
    base, cost, upto = np.zeros(3, dtype=bool), np.ones(3), np.arange(4.0)
    order, keep = np.arange(3, dtype=np.intp), np.zeros(3, dtype=bool)
    good = (base, order, 3, cost, upto, 10.0, keep, 9, 18, 1e-3, 6)
    assert loops.take(*good) is None
    for place, wrong in (
        (0, np.zeros(4, dtype=bool)),
        (1, order + 1),
        (1, order - 1),
        (1, order.astype(np.int32)),
        (2, "three"),
        (3, np.ones(2)),
        (4, np.arange(3.0)),
        (5, None),
        (6, np.zeros(2, dtype=bool)),
    ):
        with pytest.raises((TypeError, ValueError)):
            loops.take(*good[:place], wrong, *good[place + 1 :])
    with pytest.raises(ValueError, match="same lines"):
        loops.price(base, np.ones(4), 9)
    with pytest.raises(ValueError, match="same lines"):
        loops.grow(cost, cost, 1.0, 0.1, 0.1, 0.1, np.ones(4))
    keep.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        loops.take(*good)
