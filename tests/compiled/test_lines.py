"""Distinct lines, their messages, shapes and costs: the compiled loops say what Python says."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twins import without

from spillover.select import distinct, lines, shapes
from spillover.select.classes import PLACES
from spillover.tokens import ASKED, LEFT_OPEN, PER_BIT, PER_BYTE

pytestmark = pytest.mark.usefixtures("loops")
TOOLS = sorted((Path(__file__).parent.parent / "tools").glob("*.txt"))
#: What lines are made of, above all what stamps and numbers are made of.
PARTS = [
    *[b"\n", b"\n", b"\n", b"0", b"1", b"7", b"00", b"10", b"2026", b"-", b"/", b"T", b" ", b"\t", b":", b"[", b"]", b".", b","],
    *[b"Z", b"+", b"|", b"INFO", b"DEBUG", b"TRACE", b"info", b"debug", b"INF", b"10:00:07", b"2026-08-22", b"2026/08/22 10:00:00"],
    *[b"error", b"compile", b"_", b"\0", b"\xff", "é".encode(), "●".encode(), b"\r", b" \0", b"+01:00", b"-0100", b"123456", b"a1"],
]  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join),
    st.lists(st.binary(max_size=20), max_size=8).map(b"\n".join),
)


def alike(values):
    """Which values are equal, and nothing else of them."""
    known = {}
    return [known.setdefault(value, len(known)) for value in values]


def compare_split(view, *, stamped):
    count = view.count(b"\n")
    one, other = lines._split(view, count, stamped=stamped), without(lines._split, view, count, stamped=stamped)
    *said, exact = (each.tolist() if isinstance(each, np.ndarray) else each for each in one)
    *expected, exactly = (each.tolist() if isinstance(each, np.ndarray) else each for each in other)
    assert said == expected
    assert alike(exact) == alike(exactly)
    assert max(exact) < 0  # they are compared with the numbers of templates and subjects
    return one


def compare_all(view):
    places = np.arange(view.count(b"\n"))
    one, other = lines._measure(view, *[places] * 3), without(lines._measure, view, *[places] * 3)
    for name in one.__slots__:
        here, there = getattr(one, name), getattr(other, name)
        assert (here.dtype, here.shape) == (there.dtype, there.shape), name
        if name in ("exact", "family"):
            assert alike(here.tolist()) == alike(there.tolist()), name
            assert ((here == 0) == (there == 0)).all(), name
        else:
            assert here.tobytes() == there.tobytes(), name


@given(texts, st.booleans())
@example(b"10:00:0707\n 07\n10:00:0707\n 07", True)  # a zero that only without its stamp begins a number
@example(b"", False)
@example(b"\n\n", True)
@example(b"[[INFO]\n[INFO\nINFO]\n[10:00:00\n10:00:00]", True)
def test_distinct_rows_and_messages_are_the_same(text, stamped):
    compare_split(text + b"\n", stamped=stamped)


@given(texts)
@example(b"")
@example(b"a")
@example(b"\0\n\0\0")
def test_all_that_is_known_of_lines_is_the_same(text):
    compare_all(text + b"\n")


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_so_it_is_for_what_real_tools_print(path):
    compare_all(path.read_bytes()[: 1 << 17] + b"\n")


@pytest.mark.parametrize(
    "view",
    [
        b"x" * (1 << 20) + b"\n",
        (b"0" * (1 << 20) + b"\n") * 2,
        (b"word7 " * 200_000 + b"\n") * 2,
        b"\n" * 70_000,
        b"".join(b"%x of many\n" % number for number in range(70_000)),
        b"".join(bytes([byte]) + b"\n" for byte in range(256) if byte != 10),
        b" " * 63 + b"a\n" + b" " * 64 + b"a\n" + b" " * 65 + b"a\n" + b"\t" * 70 + b"\n",
        "größer ● 中文 übel\n".encode() * 3,
    ],
    ids=["long", "zeros", "long words", "empty", "many", "bytes", "indented", "not ASCII"],
)
def test_so_it_is_for_lines_that_are_long_many_or_odd(view):
    compare_all(view)


CLOCKS = ["", "10:00:00", "10:00:00.123", "10:00:00,", "10:00", "2026-08-22T10:00:00", "2026/08/22 10:00:00.5", "2026-08-22", "2026-08-22T10:00:0", "12026-08-22T10:00:00"]  # fmt: skip
ZONES = ["", "Z", "+01:00", "-0100", "+01", "+01:0", "+0:100"]
LEVELS = ["", "INFO", "[DEBUG]", "[TRACE", "info]", "debug", "Info", "INFODEBUG"]


@pytest.mark.parametrize("opened", ["", "[", "[["])
@pytest.mark.parametrize("closed", ["", "]", "]]"])
def test_a_stamp_ends_where_the_pattern_says(opened, closed):
    parts = product(["", " \t"], CLOCKS, ZONES, ["", "  "], LEVELS, ["", " - ", "|", "::"])
    rows = [
        f"{blank}{opened}{clock}{zone}{closed}{gap}{level}{behind}{end}".encode()
        for blank, clock, zone, gap, level, behind in parts
        for end in ("", "7 x")
    ]
    _, _, text, starts, ends, which, _ = compare_split(b"\n".join(rows) + b"\n", stamped=True)
    for row, place in zip(rows, which.tolist(), strict=True):
        assert len(row) - lines.STAMP.match(row).end() == ends[place] - starts[place]
        assert re.sub(rb"\d", b"1", row).endswith(re.sub(rb"\d", b"1", text[starts[place] : ends[place]]))


@pytest.mark.parametrize(
    ("view", "stamped"),
    [
        (b"12:00:00 it\n", True), (b"12:00:0\n", False), (b"x INFO\n", True), (b"an info\n", True), (b"Debug\n", False), (b"", False),
    ],
)  # fmt: skip
def test_whether_there_are_stamps_is_seen_at_once(view, stamped):
    assert lines._is_stamped(view) is stamped


def test_lines_that_share_all_but_their_ends_are_told_apart_in_time():
    long = b"y" * 400
    view = b"".join(long + bytes([97 + number % 26]) * (number % 50) + b"\n" for number in range(20_000))
    rows, *_ = compare_split(view, stamped=False)
    assert rows.count(b"\n") < 1_400


def test_wrong_views_and_arrays_are_refused_and_nothing_is_read(loops):
    def places(count=2, kind=np.intp):
        return np.empty(count, kind)

    good = (b"a\nb\n", False, distinct.BARRIER, *(places() for _ in range(5)), np.empty(1_000, np.uint8))
    assert loops.split_lines(*good)[1:] == (b"a\n \0\nb\n", 2)
    wrong = [
        (0, b""),
        (0, b"a\nb"),
        (0, b"a\n"),
        (0, b"a\nb\nc\n"),
        (0, "a\nb\n"),
        (2, None),
        (8, np.empty(5, np.uint8)),
        (8, bytes(1_000)),
    ]
    wrong += [(place, places(count)) for place in range(3, 8) for count in (0, 1, 3)]
    wrong += [(place, places(kind=np.int16)) for place in range(3, 8)]
    for place, each in wrong:
        with pytest.raises((TypeError, ValueError, BufferError)):
            loops.split_lines(*good[:place], each, *good[place + 1 :])
    for room in range(400):
        try:
            loops.split_lines(*good[:8], np.empty(room, np.uint8))
        except ValueError:
            continue
    with pytest.raises(TypeError):
        loops.split_lines(b"a\n")


def test_wrong_places_of_lines_are_refused(loops):
    at = np.array([0, 2])
    sums = [np.empty(2, np.uint64) for _ in range(3)]
    good = (b"a\nb\n", at, at + 1, shapes._FLAGS, shapes._salt(), *sums, np.empty(2, np.int64))
    assert loops.shape_lines(*good) is None
    for place, each in [
        (0, b"a"),
        (1, at - 1),
        (1, at[:1]),
        (2, at - 1),
        (2, at + 9),
        (3, b""),
        (4, sums[0]),
        (5, sums[0][:1]),
        (8, at[:1]),
    ]:
        with pytest.raises((TypeError, ValueError)):
            loops.shape_lines(*good[:place], each, *good[place + 1 :])
    costs = (b"a\nb\n", np.array([0, 1, 0]), LEFT_OPEN, ASKED, PER_BIT, PER_BYTE, np.empty(3))
    assert loops.cost_lines(*costs) is None
    for place, each in [
        (0, b""),
        (0, b"a\nb"),
        (0, b"a\n"),
        (1, np.array([0, 2, 0])),
        (1, np.array([0, -1, 0])),
        (2, b""),
        (3, b""),
        (4, "x"),
        (6, np.empty(2)),
    ]:
        with pytest.raises((TypeError, ValueError)):
            loops.cost_lines(*costs[:place], each, *costs[place + 1 :])
    assert loops.cost_lines(b"a\n", np.empty(0, np.intp), *costs[2:6], np.empty(0)) is None


def test_wrong_classes_of_messages_are_refused(loops):
    starts, which = np.array([0, 2]), np.array([0, 1, 0])
    good = (
        np.eye(2, dtype=bool),
        b"a\nb\n",
        starts,
        starts + 1,
        which,
        bytes(256),
        b"\0",
        np.zeros((2, 3), bool),
        np.empty(3, bool),
    )
    assert loops.spread_classes(*good) is False
    assert good[7].tolist() == [[True, False, True], [False, True, False]]
    assert good[8].tolist() == [False] * 3
    wrong = [
        (0, np.zeros((3, 1), bool)),
        (0, np.zeros((65, 2), bool)),
        (1, b"a\nb"),
        (2, starts - 1),
        (2, starts[:1]),
        (3, starts - 1),
        (3, starts + 2),
    ]
    wrong += [
        (4, which + 1),
        (4, which - 1),
        (4, which[:2]),
        (5, b""),
        (6, b"\2"),
        (6, b"\xff"),
        (7, np.zeros((2, 2), bool)),
        (8, np.empty(2, bool)),
    ]
    for place, each in wrong:
        with pytest.raises((TypeError, ValueError)):
            loops.spread_classes(*good[:place], each, *good[place + 1 :])
    many = np.zeros((64, 2), bool)
    many[63, 1] = True
    table = np.zeros((64, 3), bool)
    loops.spread_classes(many, *good[1:7], table, good[8])
    assert table.nonzero() == (63, 1)


@given(texts)
def test_a_line_may_be_reached_from_the_one_before(text):
    view = text + b"\n"
    _, _, text, starts, ends, which, _ = lines._split(view, view.count(b"\n"), stamped=False)
    alone = np.random.default_rng(len(view)).random((len(starts), len(PLACES))) < 0.1
    alone = np.asfortranarray(alone)
    one, other = (
        call(distinct._spread, alone, text, starts, ends, which) for call in (lambda call, *args: call(*args), without)
    )
    assert one[0].tolist() == other[0].tolist()
    assert (one[1] is None) == (other[1] is None)
    assert one[1] is None or one[1].tolist() == other[1].tolist()
