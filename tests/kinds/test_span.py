"""Spans of an output's bytes."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.kinds.selection import Span, join


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], []),
        ([(0, 3)], [(0, 3)]),
        ([(5, 9), (0, 3)], [(0, 3), (5, 9)]),  # in order
        ([(0, 3), (3, 5)], [(0, 5)]),  # those that touch are one
        ([(0, 9), (2, 4)], [(0, 9)]),  # and so are those that overlap
        ([(0, 3), (1, 7), (6, 8)], [(0, 8)]),
        ([(4, 4), (6, 2)], []),  # nothing in them
        ([(0, 3), (3, 3), (4, 5)], [(0, 3), (4, 5)]),
    ],
)
def test_spans_are_put_in_order_and_joined(spans, expected):
    assert join([Span(*span) for span in spans]) == [Span(*span) for span in expected]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30))))
def test_joined_spans_cover_the_same_bytes_and_never_touch(pairs):
    spans = [Span(*pair) for pair in pairs]
    out = join(spans)
    assert {at for span in out for at in range(span.start, span.end)} == {
        at for span in spans for at in range(span.start, span.end)
    }
    assert all(left.end < right.start for left, right in pairwise(out))
    assert join(out) == out
