"""Rows of a table as arrays: the same as lists of them, in the same order, joined in the same way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.select.grid import first_rows, merge, put_in_order
from spillover.select.span import Span, join
from spillover.select.table import rows

ROWS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)).map(lambda row: (row[0], sum(row))), max_size=40)


def array(some):
    return np.array(some, np.int64).reshape(-1, 2)


@pytest.mark.parametrize(
    "data", [b"a,b\n1,2\n", b"a,b\r\n\r\n1,2\r\n\r\r\n3,4", b"\n\na,b", b"\ra,b\n\r\n", b"", b"\n"]
)
def test_the_first_rows_are_the_lines_that_are_not_empty(data):
    assert [tuple(row) for row in first_rows(data).tolist()] == rows(data, b",")


@given(ROWS)
def test_rows_are_merged_as_spans_are(some):
    whys = {row: f"row {row[0]}-{row[1]}" for row in some[::2]}
    assert merge(array(some), whys) == join([Span(*row, whys.get(row, "")) for row in some])


@given(ROWS.filter(bool), ROWS, ROWS)
def test_each_row_comes_once_the_ends_in_turn_and_others_after_four(first, last, others):
    ends = [row for pair in zip(first[1:], last[::-1], strict=False) for row in pair]
    both = len(ends) // 2
    ends += [*first[1 + both :], *last[::-1][both:]]
    expected = list(dict.fromkeys([first[0], *ends[:4], *others, *ends[4:]]))
    assert [tuple(row) for row in put_in_order(array(first), array(last), others).tolist()] == expected
