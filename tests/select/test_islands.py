"""Lines between two gaps cost a marker more: they stay only if they are worth it."""

import numpy as np
import pytest

from spillover.select.islands import weak_islands


@pytest.mark.parametrize(
    ("keep", "held", "strength", "weak"),
    [
        ("x..x..xx", "........", [0, 0, 0, 0, 0, 0, 0, 0], "........"),  # all are strong
        ("x..x..xx", "........", [0, 0, 0, -5, 0, 0, -5, -5], "...x..xx"),  # two islands are not
        ("x..x..xx", "...x....", [0, 0, 0, -5, 0, 0, -5, -5], "......xx"),  # one is held
        ("xx.x", "........"[:4], [-5, 0, 0, -5], "...x"),  # a weak line beside a strong one needs no marker of its own
        ("....", "....", [0, 0, 0, 0], "...."),
    ],
)
def test_islands_that_are_not_worth_their_marker(keep, held, strength, weak):
    as_array = lambda text: np.array([char == "x" for char in text])  # noqa: E731
    found = weak_islands(
        as_array(keep), as_array(held), np.array(strength, float), np.full(len(keep), 10.0), least=-3, marker=9
    )
    assert "".join(".x"[each] for each in found.tolist()) == weak


def test_a_long_island_pays_for_its_marker_where_a_short_one_does_not():
    keep = np.array([True, False, True, True, True, True])
    found = weak_islands(keep, np.zeros(6, bool), np.full(6, -2.8), np.full(6, 20.0), least=-3, marker=9)
    assert found.tolist() == [True, False, False, False, False, False]
