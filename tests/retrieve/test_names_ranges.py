"""Ranges as people write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.errors import UsageError
from spillover.retrieve.names import parse_range


@pytest.mark.parametrize(
    ("written", "first", "last"),  # of 200 lines
    [
        ("120:180", 120, 180),
        ("120:+50", 120, 169),
        ("120:+1", 120, 120),
        ("-50:", 151, 200),
        ("-50:-10", 151, 191),
        ("-50:+5", 151, 155),
        ("120", 120, 120),
        (120, 120, 120),
        ("-1", 200, 200),
        (-1, 200, 200),
        ("120:", 120, 200),
        (":30", 1, 30),
        (":+30", 1, 30),
        (":", 1, 200),
        ("  7 ", 7, 7),
        ("1_000:", 1_000, 200),
        ("1,000:", 1_000, 200),
        ("1,5", 1, 5),
        ("120-180", 120, 180),
        ("120-", 120, 200),
        ("1-1,000", 1, 200),
        ("120 - 180", 120, 180),
        ("120\u2013180", 120, 180),
        ("-5", 196, 200),
        (-5, 196, 200),
        ("190:900", 190, 200),  # what is asked for beyond the end is not there
        ("-900:", 1, 200),
        ("-900:+5", 1, 5),
        ("1:1", 1, 1),
        ("200:200", 200, 200),
    ],
)
def test_a_range_is_understood(written, first, last):
    assert parse_range(written, 200) == (first, last)


@pytest.mark.parametrize("written", ["201:", "300:400", ":0", "120:+0", "9_999_999_999_999:"])
def test_a_range_with_nothing_in_it_ends_before_it_begins(written):
    first, last = parse_range(written, 200)
    assert last < first


def test_a_range_in_the_wrong_order_is_refused_whatever_the_size_of_the_output():
    for total in (0, 3, 5_000):
        with pytest.raises(UsageError, match="write 10:20"):
            parse_range("20:10", total)


def test_an_empty_output_has_no_line_to_give():
    assert [parse_range(written, 0) for written in ("1", ":", "-5:", "1:10")] == [(1, 0)] * 4


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "is not a range of lines; write 120:180"),
        ("abc", "is not a range of lines"),
        ("1,50:", "'1,50' is not a number; write 120:180"),
        ("1,2,3", "'1,2,3' is not a number; write 120:180"),
        ("20:10", "20:10 ends before it begins; write 10:20."),
        ("20-10", "20:10 ends before it begins; write 10:20."),
        ("-3:-5", "ends before it begins"),
        ("5:3", "ends before it begins"),
        ("1:2:3", "is not a range of lines"),
        ("1:+", "is not a range of lines"),
        ("+5", "is not a range of lines"),
        ("--5", "is not a range of lines"),
        ("1.5", "is not a range of lines"),
        ("\u0661:\u0662", "is not a range of lines"),
        (True, "is not a range of lines"),
        ("0", "counted from 1"),
        ("0:5", "counted from 1"),
        (",", "is not a number"),
        ("1:_", "is not a number"),
        ("9" * 30, "is larger than any number of lines"),
        ("1-3,7", "'1-3,7' is more than one range of lines; ask for one at a time, e.g. 1:3."),
        ("1:3, 7:9", "is more than one range of lines"),
    ],
)
def test_what_is_no_range_is_told_how_to_write_one(written, told):
    with pytest.raises(UsageError, match=told):
        parse_range(written, 200)


def test_the_unit_is_the_one_that_was_asked_for():
    with pytest.raises(UsageError, match="not a range of columns"):
        parse_range("x", 9, "columns")


@settings(max_examples=200)
@given(st.integers(-30, 30), st.integers(-30, 30), st.integers(1, 20))
def test_no_range_reaches_outside(first, last, total):
    if first == 0:
        return
    if last and (first < 0) == (last < 0) and last < first:
        with pytest.raises(UsageError, match="ends before it begins"):
            parse_range(f"{first}:{last}", total)
        return
    low, high = parse_range(f"{first}:{last}", total)
    assert low >= 1
    assert high <= total
