"""Matches are marked in C as they are noted in Python."""

import gc
import sys

import hyperscan
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import without

from spillover import compiled
from spillover.select import classes

pytestmark = pytest.mark.usefixtures("loops")
WORDS = [
    b"error: ",
    b"FAILED",
    b"ok",
    b"\n",
    b"\n",
    b"12",
    b":",
    b"  ",
    b"=====",
    b"test_a",
    b"\0",
    b"\xff",
    b"exit code 1",
    b"{",
    "✗".encode(),
]


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.data())
def test_lines_are_in_the_same_classes(parts, data):
    view = b"".join([*parts, b"\n"])
    starts = [0, *(at + 1 for at, byte in enumerate(view[:-1]) if byte == 10)]
    some = data.draw(st.lists(st.sampled_from(starts), min_size=1).map(lambda those: sorted({*those})))
    for places in (starts, some):  # a match before the first line counts for the last, as an index of -1 does
        one, other = (
            call(classes.classify, view, np.array(places)) for call in (lambda call, *args: call(*args), without)
        )
        assert (one.shape, one.strides, one.tolist()) == (other.shape, other.strides, other.tolist())


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=40), st.lists(st.integers(0, 50), min_size=1)
)
def test_matches_may_come_in_any_order(found, places):
    starts, table = np.array(sorted(places)), np.zeros((3, len(places)), bool)
    mark = compiled.loops().mark_matches(starts, table, 1 << 20, 1 << 12)
    expected = np.zeros_like(table)
    for number, end in found:
        assert mark(number, 0, end, 0, None) is None
        expected[number, starts.searchsorted(max(end, 1) - 1, side="right") - 1] = True
    assert table.tolist() == expected.tolist()


@pytest.mark.parametrize("ends", [[1, 2, 3, 4, 9, 20], [20, 3, 21, 30], [0, 0, 0, 0], [1, 8, 9, 10, 11]])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 9])
def test_a_pass_stops_after_the_same_match(loops, monkeypatch, ends, most):
    """As `found` in classes.py: matches are counted, once in PACE bytes."""
    table = np.zeros((1, 1), bool)
    mark, checked = loops.mark_matches(np.zeros(1, np.int64), table, most, 7), 0
    for count, end in enumerate(ends, 1):
        stops = end > checked and count > most
        checked = end + 7 if end > checked else checked
        assert bool(mark(0, 0, end, 0, None)) is stops


def test_a_pass_with_too_many_matches_ends_in_the_same_error(monkeypatch):
    monkeypatch.setattr(classes, "MOST_HITS", 100)
    view, starts = b"error: x\n" * 5_000, np.arange(5_000) * 9
    with pytest.raises(hyperscan.ScanTerminated) as one:
        classes.classify(view, starts)
    with pytest.raises(hyperscan.ScanTerminated) as other:
        without(classes.classify, view, starts)
    assert (one.type, str(one.value)) == (other.type, str(other.value))


def test_what_is_marked_outside_of_the_table_is_an_error(loops):
    starts, table = np.array([0, 5]), np.zeros((3, 2), bool)
    mark = loops.mark_matches(starts, table, 10, 10)
    for args in ((3, 0, 1, 0, None), (-1, 0, 1, 0, None), (1 << 70, 0, 1, 0, None)):
        with pytest.raises((IndexError, OverflowError)):
            mark(*args)
    for args in ((0, 0, -1, 0, None), ("0", 0, 1, 0, None), (0, 0, None, 0, None), (0, 0, 1, 0)):
        with pytest.raises((TypeError, OverflowError)):
            mark(*args)
    assert not table.any()
    assert mark(2, 0, 1 << 63, 0, None) is None
    assert table.nonzero() == (2, 1)
    for wrong in (
        (starts[::-1].copy(), table, 1, 1),
        (starts - 1, table, 1, 1),
        (starts[:0], table, 1, 1),
        (np.array([0, 1, 2, 3]), table, 1, 1),
    ):
        with pytest.raises((TypeError, ValueError)):
            loops.mark_matches(*wrong)
    for wrong in (
        (starts.astype(np.int32), table, 1, 1),
        (starts, table.tobytes(), 1, 1),
        (starts, table, -1, 1),
        (starts, table, 1, None),
        (starts,),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError, BufferError)):
            loops.mark_matches(*wrong)
    with pytest.raises(IndexError):
        loops.mark_matches(starts[:0], table[:, :0].copy(), 1, 1)(0, 0, 1, 0, None)


def test_arrays_are_let_go_of_with_the_function(loops):
    starts, table = np.zeros(1, np.int64), np.zeros((1, 1), bool)
    before = sys.getrefcount(starts), sys.getrefcount(table)
    mark = loops.mark_matches(starts, table, 1, 1)
    assert sys.getrefcount(table) > before[1]
    del mark
    gc.collect()
    assert (sys.getrefcount(starts), sys.getrefcount(table)) == before
