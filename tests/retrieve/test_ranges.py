"""Ranges as people write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.errors import UsageError
from spillover.retrieve.ranges import parse


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
        ("1_20:1,80", 120, 180),
        ("190:900", 190, 200),  # what is asked for beyond the end is not there
        ("-900:", 1, 200),
        ("-900:+5", 1, 5),
        ("1:1", 1, 1),
        ("200:200", 200, 200),
    ],
)
def test_a_range_is_understood(written, first, last):
    assert parse(written, 200) == (first, last)


@pytest.mark.parametrize("written", ["201:", "300:400", "50:40", ":0", "120:+0", "9_999_999_999_999:"])
def test_a_range_with_nothing_in_it_ends_before_it_begins(written):
    first, last = parse(written, 200)
    assert last < first


def test_an_empty_output_has_no_line_to_give():
    assert [parse(written, 0) for written in ("1", ":", "-5:", "1:10")] == [(1, 0)] * 4


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "is no range of lines; write 120:180"),
        ("abc", "is no range of lines"),
        ("1-5", "is no range of lines"),
        ("1:2:3", "is no range of lines"),
        ("1:+", "is no range of lines"),
        ("+5", "is no range of lines"),
        ("--5", "is no range of lines"),
        ("1.5", "is no range of lines"),
        ("\u0661:\u0662", "is no range of lines"),
        (True, "is no range of lines"),
        ("0", "counted from 1"),
        ("0:5", "counted from 1"),
        (",", "is no number"),
        ("1:_", "is no number"),
        ("9" * 30, "is no number"),
    ],
)
def test_what_is_no_range_is_told_how_to_write_one(written, told):
    with pytest.raises(UsageError, match=told):
        parse(written, 200)


def test_the_unit_is_the_one_that_was_asked_for():
    with pytest.raises(UsageError, match="no range of columns"):
        parse("x", 9, "columns")


@settings(max_examples=200)
@given(st.integers(-30, 30), st.integers(-30, 30), st.integers(1, 20))
def test_no_range_reaches_outside(first, last, total):
    if first == 0:
        return
    low, high = parse(f"{first}:{last}", total)
    assert low >= 1
    assert high <= total
