"""Memory that is used again: arrays of one loan never overlap, and two loans at once never share any."""

import numpy as np
import pytest

from spillover.select import scratch
from spillover.select.scratch import KEPT, MOST, borrow


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(scratch, "_free", [])


def fill(loan, sizes):
    arrays = [loan.array(size, np.int64) for size in sizes]
    for number, array in enumerate(arrays):
        array[:] = number
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize("sizes", [[5, 7, 9], [1], [0, 3], [1 << 16, 1 << 16]])
def test_arrays_of_one_loan_do_not_overlap_whether_it_is_the_first_or_not(sizes):
    for _ in range(3):
        with borrow() as loan:
            assert fill(loan, sizes) == [[number] * size for number, size in enumerate(sizes)]


def test_the_memory_is_the_same_from_the_second_loan_on():
    seen = set()
    for number in range(4):
        with borrow() as loan:
            place = loan.array((3, 100), np.float64).__array_interface__["data"][0]
            if number:
                seen.add(place)
    assert len(seen) == 1


def test_two_loans_at_once_share_nothing():
    for _ in range(3):
        with borrow() as one, borrow() as two:
            assert not np.shares_memory(one.array(64, np.uint8), two.array(64, np.uint8))


def test_what_is_kept_is_bounded():
    for _ in range(3):
        with borrow() as one, borrow() as two, borrow() as three:
            for loan in (one, two, three):
                assert len(loan.array(2 * MOST, np.uint8)) == 2 * MOST
    assert len(scratch._free) == KEPT
    assert all(len(each._data) <= MOST for each in scratch._free)
