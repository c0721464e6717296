"""Distinct lines are looked at once, and what is said of each line is what it would be in its place."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.select.classes import NAMES, classify
from spillover.select.distinct import BARRIER, classify_each, number, same_digits

TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.txt"))
#: What patterns are made of, above all those with `\s` in them, which is a newline as well.
FRAGMENTS = [
    *["FAILED", "FAIL", "ERROR", "error", "fatal", "failure", "...", ":", "!", "=", "foo", "bar.baz", "E", "Traceback", "FooError", "def", "class", "12", "0", "10", "01", "{", "}", "(", ");", ";", "[", "]", ">", "✗"],
    *["---", "~~~", "^", "^^^", "-----", "=====", "@@", "-", "+", ",", "#"], "=== x ===", "stack trace", "exited with code ", "0 errors", "1) ", "at ", 'File "',
    "E  ", "not ok", '"k": ', "https://a", "test_", "exit 1", "Caused by", "x.py:12", " ", "  ", "\t", "\n", "\n", "\n", "\n\n",
]  # fmt: skip


def lines_of(view):
    ends = np.flatnonzero(np.frombuffer(view, dtype=np.uint8) == 10)
    return np.concatenate(([0], ends[:-1] + 1)), ends


def find_in_place(view):
    return classify(view, lines_of(view)[0])


def find_once(view):
    messages, which = number(same_digits(view)[:-1].split(b"\n"))
    text = BARRIER.join(messages) + b"\n"
    starts, ends = (places[::2] for places in lines_of(text))
    return classify_each(text, starts, ends, which)


def named(table):
    return [[name for name, there in zip(NAMES, row, strict=True) if there] for row in table]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60))
def test_a_line_is_in_the_same_classes_wherever_it_is_looked_at(parts):
    view = "".join([*parts, "\n"]).encode()
    assert named(find_once(view)) == named(find_in_place(view))


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=12), max_size=4), st.integers(2, 4))
def test_so_it_is_where_lines_that_reach_into_each_other_recur(blocks, times):
    view = "".join(["".join([*block, "\nbetween\n"]) for block in blocks] * times + ["key:\n"]).encode()
    assert named(find_once(view)) == named(find_in_place(view))


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_so_it_is_for_what_real_tools_print(path):
    view = path.read_bytes()[: 1 << 18] + b"\n"
    assert named(find_once(view)) == named(find_in_place(view))


@pytest.mark.parametrize(
    ("view", "line", "name"),
    [
        (b"key:\nvalue\n", 1, "key and value"),
        (b"key:\nvalue\nvalue\n", 1, "key and value"),
        (b"a test ...\nFAILURE\n", 1, "verdict"),
        (b"error\n: no such file\n", 1, "error says"),
        (b"it FAILED\n  \nbut\n", 1, "verdict"),
        (b"it FAILED\n\n", 1, "verdict"),
    ],
)
def test_a_pattern_may_reach_over_a_line_end(view, line, name):
    assert name in named(find_once(view))[line]


@pytest.mark.parametrize("view", [b"key:\nother words\nvalue\n", b"it FAILED\nx\n  \n", b"value\nkey:\n\nvalue\n"])
def test_but_never_into_a_line_that_only_looks_like_the_one_it_reaches(view):
    assert named(find_once(view)) == named(find_in_place(view))


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (b"took 12 ms\n", b"took 90 ms\n", True),
        (b"exit code 10\n", b"exit code 27\n", True),
        (b"exit code 0\n", b"exit code 1\n", False),
        (b"exit code 01\n", b"exit code 11\n", False),
        (b"100 errors\n", b"0 errors\n", False),
        (b"0\n", b"7\n", False),
    ],
)
def test_which_digit_it_is_matters_only_where_a_number_begins_with_a_zero(one, two, same):
    assert (same_digits(one) == same_digits(two)) is same
    assert len(same_digits(one)) == len(one)


@given(
    st.lists(st.sampled_from([b"0", b"1", b"7", b"code ", b"exit ", b"errors", b" ", b":", b"=", b"a"]), max_size=20)
)
def test_the_classes_of_a_line_do_not_change_with_its_digits(parts):
    view = b"".join([*parts, b"\n"])
    assert named(find_in_place(same_digits(view))) == named(find_in_place(view))


def test_each_row_is_told_which_of_the_distinct_ones_it_is():
    rows, which = number([b"b", b"a", b"b", b""])
    assert rows == [b"b", b"a", b""]
    assert which.tolist() == [0, 1, 0, 2]
