"""Helpers for arrays agree with numpy."""

import numpy as np
import pytest

from spillover.select.arrays import among, group


@pytest.mark.parametrize("values", [[], [7], [3, 1, 3, 3, 2, 1], [5] * 9])
def test_groups_are_those_of_numpy_and_the_first_of_each_comes_first(values):
    values = np.array(values, dtype=np.int64)
    order, starts, sizes = group(values)
    known, first, counts = np.unique(values, return_index=True, return_counts=True)
    assert values[order[starts]].tolist() == known.tolist()
    assert order[starts].tolist() == first.tolist()
    assert sizes.tolist() == counts.tolist()


@pytest.mark.parametrize(("values", "those"), [([], [1]), ([1, 4, 9], []), ([1, 4, 9], [9, 0, 4, 4, 12])])
def test_those_among_the_values_are_found_whatever_their_order(values, those):
    assert among(np.array(values, dtype=np.int64), those).tolist() == [each in those for each in values]
