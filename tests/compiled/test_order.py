"""Equal values are brought together and numbered, and lines lose what tells them apart, as numpy does it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import same, without

from spillover.select.arrays import group, number_alike
from spillover.select.families import templates

pytestmark = pytest.mark.usefixtures("loops")
TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.txt"))
NAMES = [
    b"'",
    b"`",
    b"\xe2\x80\x98",
    b":",
    b"::",
    b".",
    b"...",
    b"/",
    b"\\",
    b"7",
    b"a",
    b"b_c",
    b"%",
    b"@",
    b" ",
    b"  ",
    b"\n",
    b"\1",
    b"\0",
    b"\xff",
    b"\t",
]


def kinds(*names):
    return st.sampled_from(names).map(np.dtype)


@given(kinds("u2", "u4", "u8", "i2", "i4", "i8"), st.data())
def test_equal_values_are_brought_together(kind, data):
    limits = np.iinfo(kind)
    values = st.one_of(st.integers(int(limits.min), int(limits.max)), st.integers(0, 3), st.just(int(limits.min)))
    same(group, np.array(data.draw(st.lists(values, max_size=60)), kind))


@given(kinds("u2", "u4", "u8"), st.data())
def test_distinct_values_are_numbered_in_their_order(kind, data):
    values = st.one_of(st.integers(0, int(np.iinfo(kind).max)), st.integers(0, 3))
    same(number_alike, np.array(data.draw(st.lists(values, max_size=60)), kind))


@pytest.mark.parametrize("count", [65_535, 65_536, 65_537, 70_000])
@pytest.mark.parametrize("most", [3, 1 << 62])
def test_so_are_very_many(count, most):
    values = np.random.default_rng(count).integers(0, most, count).astype(np.uint64)
    same(number_alike, values)
    same(group, values)
    same(number_alike, np.arange(count, dtype=np.uint64))


@pytest.mark.parametrize(
    "values",
    [np.array([0.5, -1, 0.5]), np.array([True, False, True]), np.arange(9)[::2], np.zeros(0), np.zeros(0, int)],
)
def test_so_are_values_of_other_kinds(values):
    same(group, values)


@given(st.lists(st.sampled_from(NAMES), max_size=40))
def test_lines_lose_the_names_that_tell_them_apart(parts):
    view = b"".join(parts)
    assert templates(view) == without(templates, view)


@given(st.binary(max_size=60))
def test_so_do_any_bytes(view):
    assert templates(view) == without(templates, view)


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_so_do_lines_that_real_tools_print(path):
    view = path.read_bytes()[: 1 << 17]
    assert templates(view) == without(templates, view)


def test_wrong_arrays_are_refused_and_nothing_is_read(loops):
    values, places = np.zeros(3, np.uint64), [np.empty(3, np.intp) for _ in range(3)]
    assert loops.group_values(values, False, *places) == 1
    for wrong in (
        (values[:2], False, *places),
        (values.astype(np.uint8), False, *places),
        (values, False, places[0][:2], *places[1:]),
        (values, False, places[0].astype(np.int16), *places[1:]),
        (values, False),
    ):
        with pytest.raises((TypeError, ValueError)):
            loops.group_values(*wrong)
    assert loops.number_values(values, np.empty(3, np.uint16)) == 1
    for wrong in (
        (values, np.empty(2, np.uint16)),
        (values, np.empty(3, np.uint64)),
        (b"abc", np.empty(3, np.uint16)),
        (np.zeros(1 << 16, np.uint16), np.empty(1 << 16, np.uint16)),
        (values,),
    ):
        with pytest.raises((TypeError, ValueError)):
            loops.number_values(*wrong)
    for wrong in ((b"a", b"", bytes(256)), (b"a", bytes(256), b""), ("a", bytes(256), bytes(256)), (b"a",)):
        with pytest.raises((TypeError, ValueError)):
            loops.strip_names(*wrong)
