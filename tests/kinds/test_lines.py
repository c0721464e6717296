"""Lines in arrays: one place per line in all of them, whatever the bytes are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.kinds.log import classes
from spillover.kinds.log.classes import NAMES, classify
from spillover.kinds.log.lines import find_rare_starts, read_lines
from spillover.kinds.log.spans import describe_gap
from spillover.source.blob import MemoryBlob, Meter
from spillover.tokens import estimate


def lines(data):
    meter = Meter()
    meter.feed(data)
    return read_lines(
        Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),)), [(0, len(data))]
    )


pieces = st.sampled_from([b"error: no\n", b"\n", b"\x1b[31mred\x1b[0m", b"10:02:03 INFO ", b"\r 10%\r 20%", b"\xff\xfe", "été\u2028".encode(), b"\x00", b"a b\n"])  # fmt: skip


@given(st.lists(pieces, min_size=1, max_size=12))
def test_every_array_has_one_place_for_each_line_and_the_lines_are_the_outputs(parts):
    data = b"".join(parts)
    seen = lines(data)
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    assert {len(getattr(seen, name)) for name in seen.__slots__} == {count}
    assert seen.first[0] == 0
    assert seen.last[-1] == len(data)
    assert (seen.first[1:] == seen.last[:-1]).all()
    assert seen.number.tolist() == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        ("took 12 ms for job_17", "took 9 ms for job_3", True),
        ("[    9] compiling", "[   10] compiling", True),  # columns are padded
        ("id 7f3a9c2e: ready", "id 00b1: ready", True),
        ("10:02:03 INFO - ready", "ready", True),  # a clock and a level are not the message
        ("took 12 ms for job_17", "took 12 s for job_17", False),
        ("FAILED test_a", "PASSED test_a", False),
    ],
)
def test_lines_that_differ_in_numbers_only_are_alike(one, two, alike):
    seen = lines(f"10:00:00 INFO start\n{one}\n{two}\n".encode())
    assert (seen.template[1] == seen.template[2]) is np.bool_(alike)


def test_equal_lines_are_equal_and_others_are_not():
    seen = lines(b"ab\nba\nab\n a b\n")
    assert seen.exact[0] == seen.exact[2]
    assert len(set(seen.exact.tolist())) == 3


def test_lines_about_the_same_thing_have_the_same_subject():
    seen = lines(b"test_interest (bank.RateTests) ... FAIL\nFAIL: test_interest (bank.RateTests)\nok 12 it is\n")
    assert seen.subject[0] == seen.subject[1] != 0
    assert seen.subject[2] == 0


@pytest.mark.parametrize("text", ["a line of a log, number 12345: /usr/lib/x.so", "=" * 70, '{"a": [1, 2, 3]}'])
def test_what_a_line_costs_is_what_the_estimate_says(text):
    seen = lines(f"{text}\n{text}\n".encode())
    assert seen.tokens[0] == pytest.approx(estimate(text + "\n"), abs=2)


def test_few_lines_that_begin_like_no_others_are_rare_and_many_are_not():
    usual = [f"[{number}] Building object {number}" for number in range(500)]
    output = "\n".join([*usual[:200], "region FLASH resized", *usual[200:]]) + "\n"
    assert find_rare_starts(lines(output.encode())) == [output.index("region")]
    prose = "\n".join(f"{chr(97 + number % 26)}{chr(97 + number // 26)} word" for number in range(400))
    assert find_rare_starts(lines(prose.encode())) == []


@pytest.mark.parametrize(
    ("line", "inside", "outside"),
    [
        ("src/a.c:3:1: error: expected ';'", {"error says", "expected", "place"}, {"none", "passed"}),
        ("[taskcluster:error] Aborting task...", {"error says"}, {"none"}),
        ("12 tests, 0 errors", {"none", "summary"}, {"error says", "verdict"}),
        ("tests/test_a.py::test_x PASSED", {"passed", "test name"}, {"verdict"}),
        ("gcc -Werror -c error_handler.c", {"none", "progress"}, {"error says", "in capitals"}),
        ("FAILED tests/test_a.py::test_x - assert 1 == 2", {"verdict", "in capitals"}, {"passed"}),
        ("E       assert 10.5 == 10", {"exception head", "mark"}, set()),
        ("make: *** [Makefile:9: all] Error 1", {"exit"}, set()),
        ("error[E0502]: cannot borrow `*jobs` as mutable", {"error says", "cannot"}, set()),
        ("\x1b[31m✗\x1b[0m renders the list", {"mark"}, {"passed"}),
        ("def handle_error(self, error):", {"code"}, {"error says"}),
    ],
)  # fmt: skip
def test_a_line_is_in_the_classes_a_person_would_put_it_in(line, inside, outside):
    row = lines(line.encode() + b"\n").classes[0]
    found = {name for name, there in zip(NAMES, row, strict=True) if there}
    assert inside <= found
    assert not outside & found


def test_what_lines_say_and_what_they_are_like_are_never_the_same_number():
    seen = lines("".join(f"word{chr(97 + number)} another\n" for number in range(26)).encode())
    told = seen.exact.tolist()
    assert not {*told} & {*seen.template.tolist(), *seen.subject.tolist()}  # fold.py and plain.py mix them


def test_a_class_never_marks_the_line_below():
    view = b"the build FAILED\n\nnext\n"
    table = classify(view, np.array([0, 17, 18]))
    assert table[0, NAMES.index("verdict")]
    assert not table[1:].any()


def test_a_pass_over_nothing_but_matches_ends_early(monkeypatch):
    monkeypatch.setattr(classes, "MAX_HITS", 1_000)
    view = b"FAILED\n" * 50_000
    table = classify(view, np.arange(0, len(view), 7))
    assert 0 < table[:, NAMES.index("verdict")].sum() < 10_000


def test_a_gap_of_which_not_all_was_looked_at_is_no_repetition():
    data = b"same\n" * 9
    meter = Meter()
    meter.feed(data)
    document = Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))
    assert describe_gap(read_lines(document, [(0, 45)]), 1, 6).kind == "same"
    assert describe_gap(read_lines(document, [(0, 15), (20, 45)]), 1, 6) is None
