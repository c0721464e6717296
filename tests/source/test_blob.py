"""Bytes open for random access, and what is said of a middle that is gone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.source.blob import BothEnds, MemoryBlob

WHOLE = b"0123456789"


@pytest.mark.parametrize(
    ("start", "end", "got"),
    [
        (0, 10, WHOLE),
        (0, 99, WHOLE),
        (3, 5, b"34"),
        (5, 3, b""),
        (-4, 2, b"01"),  # never counted from the end
        (2, -1, b""),
        (10, 12, b""),
    ],
)
def test_a_range_is_what_it_says(start, end, got):
    assert MemoryBlob(WHOLE).read(start, end) == got
    assert BothEnds(MemoryBlob(WHOLE), b"", 10).read(start, end) == got
    assert BothEnds(MemoryBlob(b""), WHOLE, 10).read(start, end) == got


@pytest.mark.parametrize(
    ("start", "end", "got"),
    [
        (0, 3, b"012"),
        (2, 3, b"2"),
        (2, 9, b"2"),  # it stops where the gap begins
        (3, 7, b""),  # nothing of this is here
        (4, 9, b"78"),
        (7, 10, b"789"),
        (0, 10, b"012"),
    ],
)
def test_what_is_between_the_ends_is_not_there(start, end, got):
    ends = BothEnds(MemoryBlob(b"012"), b"789", 10)
    assert ends.gap == (3, 7)
    assert ends.read(start, end) == got


@settings(max_examples=200)  # the laws look further
@given(st.integers(0, 10), st.integers(0, 10), st.integers(-1, 12), st.integers(-1, 12))
def test_ends_that_meet_or_overlap_are_the_whole(head, tail, start, end):
    ends = BothEnds(MemoryBlob(WHOLE[:head]), WHOLE[10 - tail :], 10)
    got = ends.read(start, end)
    opens, closes = ends.gap
    if head + tail >= 10:
        assert opens == closes
        assert got == WHOLE[max(0, start) : max(0, end)]
    else:
        assert (opens, closes) == (head, 10 - tail)
        assert got in WHOLE[max(0, start) : max(0, end)]


def test_closing_the_ends_closes_the_head():
    class Head(MemoryBlob):
        closed = False

        def close(self):
            type(self).closed = True

    BothEnds(Head(b"01"), b"9", 10).close()
    assert Head.closed
