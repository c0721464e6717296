"""Going back by pattern: the lines that match, how many there are in all, and how to go on."""

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.cli.parsing import build_parser
from spillover.errors import UsageError
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import put

HUNDRED = "".join(f"line{number}\n" for number in range(1, 101)).encode()
STORE = MemoryStore()
CLIPPER = Clipper(Limits(bytes=2_000), store=STORE, hints="cli")


def grep(data, pattern, clipper=CLIPPER, **options):
    return clipper.grep(put(STORE, data).ref, pattern, **options)


@pytest.mark.parametrize(
    ("pattern", "options", "rows"),
    [
        ("line7$", {}, ["7: line7"]),
        ("line(7|9)$", {}, ["7: line7", "9: line9"]),
        ("LINE7$", {"ignore_case": True}, ["7: line7"]),
        ("e7", {"fixed": True, "start": 70}, ["70: line70", *(f"{n}: line{n}" for n in range(71, 80))]),
        # lines around: each shown once, `--` only where lines are left out
        ("line7$", {"context": 1}, ["6- line6", "7: line7", "8- line8"]),
        ("line(7|8)$", {"context": 1}, ["6- line6", "7: line7", "8: line8", "9- line9"]),
        ("line(7|9)$", {"context": 1}, ["6- line6", "7: line7", "8- line8", "9: line9", "10- line10"]),
        ("line(7|10)$", {"context": 1}, ["6- line6", "7: line7", "8- line8", "9- line9", "10: line10", "11- line11"]),
        ("line(7|11)$", {"context": 1},
         ["6- line6", "7: line7", "8- line8", "--", "10- line10", "11: line11", "12- line12"]),
        ("line(1|100)$", {"context": 2},
         ["1: line1", "2- line2", "3- line3", "--", "98- line98", "99- line99", "100: line100"]),
        ("line(7|9)$", {"context": 5},
         [*(f"{n}- line{n}" for n in range(2, 7)), "7: line7", "8- line8", "9: line9",
          *(f"{n}- line{n}" for n in range(10, 15))]),
    ],
)  # fmt: skip
def test_hits_have_numbers_and_the_lines_around_them(pattern, options, rows):
    answer = grep(HUNDRED, pattern, **options)
    assert answer.text.split("\n")[:-1] == rows


@pytest.mark.parametrize(
    ("pattern", "options", "said"),
    [
        ("line7$", {}, "[1 of 1 match shown.]"),
        ("line(7|9)$", {}, "[2 of 2 matches shown.]"),
        ("line(7|9)$", {"start": 8}, "[1 of 2 matches shown.]"),  # the total is of the whole output
        ("line(7|9)$", {"start": 50}, "[0 of 2 matches shown.]"),
        ("nothing", {}, "[No match for nothing in 100 lines of REF.]"),
    ],
)
def test_how_many_there_are_is_always_said(pattern, options, said):
    answer = grep(HUNDRED, pattern, **options)
    assert answer.text.split("\n")[-1] == said.replace("REF", answer.ref)


def follow(clipper, answer, patience=5_000):
    """Search on by pasting each next step, until there is none."""
    answers = [answer.text]
    while step := re.search(r"Next: spill (grep .*)\]$", answers[-1]):
        asked = build_parser("grep").parse_args(shlex.split(step[1])[1:])
        answer = clipper.grep(
            asked.ref,
            asked.pattern,
            context=asked.context,
            ignore_case=asked.ignore_case,
            fixed=asked.fixed,
            start=asked.start,
        )
        assert clipper.settings.limits.hold(answer.text, clipper.settings.count)
        assert int(answer.text.rpartition("[")[2].split(" ")[0].replace(",", "")) > 0, "an answer that gets nowhere"
        answers.append(answer.text)
        assert len(answers) < patience
    return answers


@pytest.mark.parametrize("size", [200, 300, 2_000])
@pytest.mark.parametrize("options", [{}, {"context": 1}, {"ignore_case": True, "fixed": True}])
def test_following_the_next_step_shows_every_match_once(size, options):
    clipper = Clipper(Limits(bytes=size), store=STORE, hints="cli")
    answers = follow(clipper, grep(HUNDRED, "line", clipper, **options))
    numbers = [int(number) for answer in answers for number in re.findall(r"^(\d+): ", answer, re.MULTILINE)]
    assert numbers == list(range(1, 101))
    assert all("of 100 matches shown." in answer for answer in answers)


EVERY = 118  # bytes from one needle to the next
GIANT = "".join(f"{number:06d},needle{number:04d};" + "x" * 100 for number in range(600)).encode()


@pytest.mark.parametrize(("size", "first"), [(200, 570), (2_000, 500), (200_000, 0)])
def test_in_a_giant_line_every_occurrence_is_found_once_and_counted(size, first):
    clipper = Clipper(Limits(bytes=size), store=STORE, hints="cli")
    answers = follow(clipper, grep(GIANT, r"needle\d+", clipper, start=f"1:{first * EVERY + 1}"))
    columns = [column for answer in answers for column in re.findall(r"\(columns ([\d,]+)-", answer)]
    assert [int(column.replace(",", "")) for column in columns] == [number * EVERY + 8 for number in range(first, 600)]
    assert all("of 600 matches shown." in answer for answer in answers)


def test_of_a_long_line_the_neighbourhood_of_the_match_is_shown():
    answer = grep(b"q" * 3_000 + b"needle" + b"r" * 3_000 + b"\nneedle\n", "needle")
    assert f"1: …{'q' * 200}needle{'r' * 200}… (columns 3,001-3,006)\n2: needle\n" in answer.text


def test_a_match_at_the_very_start_or_end_of_a_long_line_needs_no_dots_there():
    assert grep(b"needle" + b"x" * 5_000, "needle").text.startswith("1: needlexxx")
    assert "xxxneedle" in grep(b"x" * 5_000 + b"needle", "needle").text


@pytest.mark.parametrize("size", [200, 250, 400])
def test_where_a_hit_does_not_fit_less_of_its_line_is_shown_and_never_nothing(size):
    clipper = Clipper(Limits(bytes=size), store=STORE, hints="cli")
    data = b"\n".join(b"y" * 900 + b"needle%d" % number + b"z" * 900 for number in range(5))
    answers = follow(clipper, grep(data, r"needle\d", clipper, context=3))
    assert [re.search(r"needle(\d)", answer)[1] for answer in answers] == ["0", "1", "2", "3", "4"]


def test_a_pattern_too_long_to_be_said_again_does_not_break_the_limits():
    limits = Limits(bytes=200)
    clipper = Clipper(limits, store=STORE, hints="cli")
    pattern = "line|" + "z" * 900
    for answer in (grep(HUNDRED, pattern, clipper), grep(HUNDRED, "z" * 3_000, clipper)):
        assert limits.hold(answer.text, clipper.settings.count)
    assert "1: line1" in grep(HUNDRED, pattern, clipper).text.replace("…", "")


def test_a_match_is_found_in_what_the_model_saw_and_in_the_raw_bytes():
    data = b"\x1b[31mFAIL\x1b[0mED here\n10%\r100% done\n"
    assert grep(data, "FAILED").text.startswith("1: FAILED here\n")
    assert grep(data, "100%").text.startswith("2: 100% done\n")
    assert grep(data, "10%").text.startswith("2: 10%… (columns 1-3)\n")


def test_what_was_written_over_is_found_and_shown():
    """`printf 'FATAL: 3 failed\\rok'`: the line was found, and shown as ok."""
    rows = b"one\nFATAL: 3 failed\rok\nthree\n"
    assert grep(rows, "FATAL").text.startswith("2: FATAL: 3 failed\n2: ok\n[1 of 1 match")
    assert grep(rows, "^ok$").text.startswith("2: FATAL: 3 failed\n2: ok\n[1 of 1 match")
    assert grep(rows, "three", context=1).text.startswith("2- FATAL: 3 failed\n2- ok\n3: three\n[")
    frames = b"[=>      ] 1/9: oddity\r[=====>  ] 7/9: b\rdone\n"
    assert grep(frames, "oddity").text.startswith("1: [=>      ] 1/9: oddity… (columns 17-22)\n")
    assert grep(frames, "done").text.startswith("1: done\n[1 of 1 match shown.]")
    erased = b"secret word\b\b\b\bnote\n"
    assert grep(erased, "word").text.startswith("1: secret word␈␈␈␈note… (columns 8-11)\n")


def test_a_frame_in_a_line_of_megabytes_is_found_and_shown():
    frames = b"".join(b"\rgetting %7d/100000 at 5 MB/s" % number for number in range(1, 100_001)) + b"\n"
    text = grep(frames, "77777/").text
    assert "getting   77777/100000 at 5 MB/s… (columns " in text
    assert "77776" not in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"context": -1}, "not between 0 and 1,000"),
        ({"context": 1_001}, "not between 0 and 1,000"),
        ({"start": "0"}, "counted from 1"),
        ({"start": "x"}, "not a place to search from"),
        ({"start": "-5"}, "not a place to search from"),
        ({"start": "1:"}, "not a place to search from"),
    ],
)
def test_what_cannot_be_asked_is_told_how(options, told):
    with pytest.raises(UsageError, match=told):
        grep(HUNDRED, "line", **options)


@pytest.mark.parametrize(("start", "first"), [(1, "1: "), ("50", "50: "), ("10", "10: "), ("100", "100: ")])
def test_a_search_goes_on_from_a_line(start, first):
    assert grep(HUNDRED, "line", start=start).text.startswith(first)


def test_past_the_end_there_is_nothing_more():
    assert grep(HUNDRED, "line", start=101).text == "[0 of 100 matches shown.]"


def test_an_empty_output_has_no_match():
    assert grep(b"", "x").text.startswith("[No match for x in 0 lines")


def test_a_part_that_is_stored_is_not_taken_for_the_whole():
    clipper = Clipper(Limits(bytes=300), store=STORE, cap=100)
    clip = clipper.clip(HUNDRED)
    assert clipper.grep(clip.ref, "line100").text.endswith("Only the first 100 bytes are stored.]")


def test_searching_never_stores_anything_again():
    store = MemoryStore()
    clipper = Clipper(Limits(bytes=300), store=store)
    ref = clipper.clip(HUNDRED).ref
    clipper.grep(ref, "line", context=5)
    assert [record.ref for record in store.list()] == [ref]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([b"needle", b"\n", b"hay" * 30, b"x" * 900, "é".encode(), b"\x1b[1m"]), max_size=25).map(
        b"".join
    ),
    st.sampled_from([Limits(bytes=200), Limits(chars=200), Limits(lines=4), Limits(tokens=100)]),
    st.integers(0, 3),
    st.sampled_from(["cli", "tools", "none"]),
)
def test_every_answer_fits(data, limits, context, hints):
    clipper = Clipper(limits, store=STORE, hints=hints)
    answer = grep(data, "needle", clipper, context=context)
    assert limits.hold(answer.text, clipper.settings.count)
    assert answer.text.endswith("]")
