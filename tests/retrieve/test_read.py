"""Going back by place: lines, bytes, or columns within a line."""

import re
import shlex
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.cli.parsing import build_parser
from spillover.errors import RefError, UsageError
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import HOSTILE_REFS, put

HUNDRED = "".join(f"line{number}\n" for number in range(1, 101)).encode()
STORE = MemoryStore()
CLIPPER = Clipper(Limits(bytes=600), store=STORE, hints="cli")


def read(data, clipper=CLIPPER, **where):
    return clipper.read(put(STORE, data).ref, **where)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"lines": "98:"}, "98: line98\n99: line99\n100: line100\n[Lines 98-100 of 100. The end.]"),
        ({"lines": "-1:"}, "100: line100\n[Line 100 of 100. The end.]"),
        ({"lines": "7"}, "7: line7\n[Line 7 of 100. Next: spill read REF 8:8]"),
        ({"lines": 7}, "7: line7\n[Line 7 of 100. Next: spill read REF 8:8]"),
        ({"lines": "7:+2"}, "7: line7\n8: line8\n[Lines 7-8 of 100. Next: spill read REF 9:10]"),
        ({"lines": "99:500"}, "99: line99\n100: line100\n[Lines 99-100 of 100. The end.]"),
        ({"bytes": "1:8"}, "line1\nli\n[Bytes 1-8 of 692, lines 1-2. Next: spill read REF --bytes 9:16]"),
        ({"bytes": "690:"}, "00\n\n[Bytes 690-692 of 692, line 100. The end.]"),
        ({"lines": 7, "columns": "2:3"}, "7: in\n[Line 7, columns 2-3 of 5. Next: spill read REF 7 --columns 4:5]"),
        ({"lines": 7, "columns": "2:"}, "7: ine7\n[Line 7, columns 2-5 of 5. Next: spill read REF 8:8]"),
        ({"lines": 100, "columns": "1:"}, "100: line100\n[Line 100, columns 1-7 of 7. The end.]"),
        ({"columns": "1:4"}, "1: line\n[Line 1, columns 1-4 of 5. Next: spill read REF 1 --columns 5:5]"),
    ],
)
def test_an_answer_has_numbers_and_ends_with_the_call_that_goes_on(where, expected):
    answer = read(HUNDRED, **where)
    assert answer.text == expected.replace("REF", answer.ref)
    assert answer.outcome == "whole"


@pytest.mark.parametrize(
    ("data", "where", "told"),
    [
        (HUNDRED, {"lines": "101"}, "No line 101: REF has 100 lines. Next: spill read REF 1:100"),
        (HUNDRED, {"lines": "101", "columns": "1:5"}, "No line 101: REF has 100 lines."),
        (HUNDRED, {"bytes": "693:"}, "No byte 693: REF has 692 bytes."),
        (HUNDRED, {"lines": "5", "columns": "6:"}, "No column 6:"),
        (b"", {}, "No line 1: REF has 0 lines. The end."),
        (b"", {"lines": "1"}, "No line 1: REF has 0 lines."),
        (b"", {"columns": "1:"}, "No line 1: REF has 0 lines."),
        (b"", {"bytes": "1:"}, "No byte 1: REF has 0 bytes."),
    ],
)
def test_what_is_not_there_is_said_with_what_there_is(data, where, told):
    answer = read(data, **where)
    assert answer.text.startswith(f"[{told.replace('REF', answer.ref)}")
    assert answer.ranges == ()


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"lines": "1:2", "columns": "1:"}, "columns need a single line"),
        ({"bytes": "1:", "lines": "1"}, "use bytes alone, or lines and columns together"),
        ({"bytes": "1:", "columns": "1"}, "use bytes alone, or lines and columns together"),
        ({"lines": "x"}, "not a range of lines"),
        ({"bytes": "0:5"}, "counted from 1"),
    ],
)
def test_what_cannot_be_asked_is_told_how(where, told):
    with pytest.raises(UsageError, match=told):
        read(HUNDRED, **where)


def test_without_a_range_it_reads_from_the_start():
    assert read(HUNDRED).text.startswith("1: line1\n2: line2\n")


def test_lines_are_shown_as_the_model_saw_them_and_bytes_as_they_are():
    data = b"\x1b[31mred\x1b[0m\r\n10%\r100%\n"
    assert read(data, lines="1:2").text.startswith("1: red\n2: 100%\n")
    assert read(data, bytes="1:").text.startswith("␛[31mred␛[0m␍\n10%␍100%\n")
    assert read(data, lines="2", columns="1:").text.startswith("2: 10%␍100%\n")


@pytest.mark.parametrize(
    ("data", "where", "expected"),
    [
        ("éàü".encode(), "2:3", "éà\n[Bytes 1-4 of 6"),  # all of the characters the range stands inside
        ("éàü".encode(), "1:1", "é\n[Bytes 1-2"),
        ("éàü".encode(), "2:2", "é\n[Bytes 1-2"),
        ("a😀b".encode(), "3:4", "😀\n[Bytes 2-5 of 6"),
        ("a😀b".encode(), "1:3", "a😀\n[Bytes 1-5"),
        (b"a\x80\x80b", "2:2", "\ufffd\n[Byte 2 of 4"),  # not inside a character: broken bytes, as they come
        (b"a\xf0\x9f\x98", "3:3", "\ufffd\n[Byte 3"),
        (b"\xc3\n\xa9", "3:3", "\ufffd\n[Byte 3"),
    ],
)
def test_no_character_is_cut_in_two(data, where, expected):
    assert read(data, bytes=where).text.startswith(expected)


def test_columns_stay_in_their_line_also_when_it_begins_with_broken_bytes():
    assert read(b"ab\n\x80\x80xyz\n", lines=2, columns="1:3").text.startswith("2: \ufffd\ufffdx\n[Line 2, columns 1-3")


def follow(clipper, ref, text, patience=10_000):
    """Read on by pasting each next step, until the end; what was shown, answer by answer."""
    answers = [text]
    while step := re.search(r"Next: spill (read .*)\]$", answers[-1]):
        asked = build_parser("read").parse_args(shlex.split(step[1])[1:])
        answer = clipper.read(asked.ref, lines=asked.range, bytes=asked.byte_range, columns=asked.columns)
        assert clipper.settings.limits.hold(answer.text, clipper.settings.count)
        answers.append(answer.text)
        assert len(answers) < patience
    assert answers[-1].endswith("The end.]")
    return answers


def test_following_the_next_step_reads_every_line_once():
    ref = put(STORE, HUNDRED).ref
    answers = follow(CLIPPER, ref, CLIPPER.read(ref).text)
    rows = [row.partition(": ")[2] for answer in answers for row in answer.split("\n")[:-1]]
    assert "".join(f"{row}\n" for row in rows).encode() == HUNDRED


def test_following_the_next_step_reads_one_giant_line_to_its_end_and_then_the_next():
    giant = "".join(f"{number:05d}é" for number in range(1_500))
    ref = put(STORE, f"{giant}\nend\n".encode()).ref
    answers = follow(CLIPPER, ref, CLIPPER.read(ref).text)
    rows = [answer.split("\n")[0] for answer in answers]
    assert "".join(row.removeprefix("1: ") for row in rows if row.startswith("1: ")) == giant
    assert rows[-1] == "2: end"


def test_following_the_next_step_reads_every_byte():
    data = bytes(range(256)) * 20
    ref = put(STORE, data).ref
    answers = follow(CLIPPER, ref, CLIPPER.read(ref, bytes="1:300").text)
    spans = [re.search(r"\[Bytes ([\d,]+)-([\d,]+) of", answer).groups() for answer in answers]
    edges = [(int(first.replace(",", "")), int(last.replace(",", ""))) for first, last in spans]
    assert edges[0][0] == 1
    assert edges[-1][1] == len(data)
    assert all(after[0] <= before[1] + 1 for before, after in pairwise(edges)), "nothing skipped"


def test_a_line_whose_last_frame_is_far_away_is_not_shown_as_another_frame():
    bar = b"".join(b"\r%3d%%" % (number // 1_000) for number in range(100_001)) + b"\n"
    answer = read(bar)
    assert not re.match(r"1: +\d+%\n", answer.text) or answer.text.startswith("1: 100%")
    assert "columns 1-" in answer.text


def test_reading_never_stores_anything_again():
    store = MemoryStore()
    clipper = Clipper(Limits(bytes=300), store=store)
    ref = clipper.clip(HUNDRED).ref
    for where in ({}, {"lines": "1:"}, {"bytes": "1:"}, {"lines": 1, "columns": "1:"}):
        clipper.read(ref, **where)
    assert [record.ref for record in store.list()] == [ref]


def test_a_part_that_is_stored_says_where_it_ends():
    clipper = Clipper(Limits(bytes=300), store=STORE, cap=100)
    clip = clipper.clip(HUNDRED)
    answer = clipper.read(clip.ref, lines="-1:")
    assert "The stored part ends here: the first 100 of 692 bytes; the cap on one output was reached." in answer.text


def test_the_start_of_a_ref_is_enough():
    store = MemoryStore()
    ref = put(store, b"x\n").ref
    clipper = Clipper(store=store)
    assert clipper.read(ref[:9]).ref == clipper.read(ref.partition("-")[2]).ref == ref


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_stops_here(ref):
    with pytest.raises(RefError):
        CLIPPER.read(ref)


LIMITS = st.sampled_from([Limits(bytes=200), Limits(chars=200), Limits(lines=4), Limits(tokens=100)])
DATA = st.lists(
    st.sampled_from([b"a", b"\n", b"xyz" * 40, "é".encode() * 30, b"\xff", b"\r", b"\x1b[1m", "😀".encode()]),
    max_size=30,
).map(b"".join)
RANGE = st.builds(
    lambda first, more: f"{first}:{first + more if more is not None else ''}",
    st.integers(1, 300),
    st.integers(0, 300) | st.none(),
)


@settings(max_examples=200)
@given(DATA, LIMITS, RANGE, st.sampled_from(["lines", "bytes", "columns"]), st.sampled_from(["cli", "tools", "none"]))
def test_every_answer_fits(data, limits, asked, kind, hints):
    clipper = Clipper(limits, store=STORE, hints=hints)
    answer = read(data, clipper, **{kind: asked})
    assert limits.hold(answer.text, clipper.settings.count)
    assert answer.text.endswith("]")
