"""Spans of an output's bytes, and the room they have."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.kinds.selection import Room, Span, join, largest, share_fairly


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


@pytest.mark.parametrize(
    ("room", "sizes", "weights", "shares"),
    [
        (10, [3, 3], [1, 1], [3, 3]),  # all fit
        (10, [20, 20], [1, 1], [5, 5]),
        (9, [90, 90], [1, 2], [3, 6]),
        (10, [2, 20], [1, 1], [2, 8]),  # who needs less leaves the rest
        (10, [1, 3, 20, 20], [1, 1, 1, 1], [1, 3, 3, 3]),
        (7, [9, 9, 9], [1, 1, 1], [2, 2, 3]),  # the remainder is placed, the same every time
        (5, [0, 9], [1, 1], [0, 5]),
        (0, [9, 9], [1, 1], [0, 0]),
        (5, [], [], []),
    ],
)
def test_room_is_shared_fairly(room, sizes, weights, shares):
    assert share_fairly(room, sizes, weights) == shares


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 5)), max_size=8))
def test_fair_shares_use_the_room_and_nobody_gets_more_than_they_need(room, sizes_and_weights):
    sizes, weights = [size for size, _ in sizes_and_weights], [weight for _, weight in sizes_and_weights]
    shares = share_fairly(room, sizes, weights)
    assert sum(shares) == min(room, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    assert share_fairly(room, sizes, weights) == shares


@pytest.mark.parametrize("top", [0, 1, 2, 3, 7, 100, 1_000])
@pytest.mark.parametrize("high", [0, 1, 2, 50, 1_000])
@pytest.mark.parametrize("start", [0, 1, 8, 5_000])
def test_the_largest_number_that_fits_is_found(high, top, start):
    number = largest(high, lambda number: 0.0 if number <= top else 2.0, start=start)
    assert min(high, top) - max(1, top // 100) < number <= min(high, top)


def test_where_few_fit_of_many_no_large_number_is_measured():
    measured = []

    def fill(number):
        measured.append(number)
        return number / 40

    assert largest(1_000_000, fill, start=8) == 40
    assert max(measured) == 128
    assert len(measured) < 8


@pytest.mark.parametrize("limit", [1, 9, 100, 5_000])
def test_a_full_measure_is_searched_in_few_steps(limit):
    measured = []

    def fill(number):
        measured.append(number)
        return number / limit

    number = largest(1 << 40, fill, start=128)
    assert limit * 0.98 - 1 <= number <= limit
    assert len(measured) < 20


def test_a_room_may_be_capped_and_finds_the_most_that_fits():
    room = Room(lambda spans: sum(span.end - span.start for span in spans) / 100)
    spans = [Span(0, 10)]
    assert room.fill(spans) == 0.1
    assert room.capped(20).fill(spans) == 0.5
    assert room.largest(lambda count: [Span(0, count)], 1_000) == [Span(0, 100)]
    assert room.largest(lambda count: [Span(0, 200 + count)], 1_000) == []
