"""Reading a stored output back, from published cases: request → which lines, and how to continue."""

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.errors import PatternError, RefError, UsageError
from spillover.testing import put

STORE = MemoryStore()
CLIPPER = Clipper(store=STORE, hints="cli")


def numbered(count, first=1):
    return "".join(f"line{number}\n" for number in range(first, first + count)).encode()


PAGES = [
    # source, output, request, first row, last row, closing line
    (
        "opencode OC3",
        numbered(100),
        {"lines": "1:+10"},
        "1: line1",
        "10: line10",
        "Lines 1-10 of 100. Next: spill read REF 11:20",
    ),
    (
        "opencode OC3",
        numbered(20),
        {"lines": "10:+5"},
        "10: line10",
        "14: line14",
        "Lines 10-14 of 20. Next: spill read REF 15:19",
    ),
    ("opencode OC3", b"hello world", {}, "1: hello world", "1: hello world", "Line 1 of 1. The end."),
    (
        "vtcode spool of 120 lines",
        numbered(120),
        {"lines": "1:40"},
        "1: line1",
        "40: line40",
        "Next: spill read REF 41:80",
    ),
    ("vtcode offset 81 limit 40", numbered(120), {"lines": "81:+40"}, "81: line81", "120: line120", "The end."),
    ("vtcode exactly 40 lines", numbered(40), {"lines": "1:40"}, "1: line1", "40: line40", "The end."),
    ("vtcode 5 lines", numbered(5), {"lines": "1:40"}, "1: line1", "5: line5", "The end."),
    ("vtcode read_lines(2,4)", numbered(50), {"lines": "2:4"}, "2: line2", "4: line4", "Next: spill read REF 5:7"),
    ("daycare read, limit 2", numbered(9), {"lines": "1:+2"}, "1: line1", "2: line2", "Next: spill read REF 3:4"),
    ("Roo, from the end", numbered(9), {"lines": "-2:"}, "8: line8", "9: line9", "The end."),
    ("pydantic from_end", numbered(9), {"lines": "-1:"}, "9: line9", "9: line9", "The end."),
]


@pytest.mark.parametrize(("source", "output", "asked", "first", "last", "said"), PAGES)
def test_a_page_has_numbers_and_says_how_it_goes_on(source, output, asked, first, last, said):
    ref = put(STORE, output).ref
    *rows, end = CLIPPER.read(ref, **asked).text.split("\n")
    assert (rows[0], rows[-1]) == (first, last)
    assert end.endswith(said.replace("REF", ref) + "]")


ANSWERS = [
    # source, output, request, answer
    ("opencode OC3: an error there", numbered(3), {"lines": "4:"}, "No line 4: REF has 3 lines."),
    ("opencode OC3: an empty file", b"", {}, "REF has 0 lines."),
    ("opencode OC3: an error there", b"", {"lines": "2"}, "No line 2: REF has 0 lines."),
    ("klaude: a warning there", numbered(2), {"lines": "100:"}, "No line 100: REF has 2 lines."),
    ("Roo: offset past the end", numbered(2), {"bytes": "9999:"}, "No byte 9,999: REF has 12 bytes."),
]


@pytest.mark.parametrize(("source", "output", "asked", "said"), ANSWERS)
def test_past_the_end_is_an_answer_and_no_error(source, output, asked, said):
    ref = put(STORE, output).ref
    assert said.replace("REF", ref) in CLIPPER.read(ref, **asked).text


def test_a_page_is_bounded_and_the_next_one_begins_where_it_ended():
    """opencode OC3: 60 KB are capped; deepagents computes the next offset from the last complete line shown."""
    ref = put(STORE, b"".join(b"%05d %s\n" % (number, b"x" * 80) for number in range(1_000))).ref
    clip = CLIPPER.read(ref, lines="1:1000")
    [(first, last)] = clip.ranges
    assert (first, clip.outcome) == (1, "stored")
    assert f"Next: spill read {ref} {last + 1}:1000" in clip.text
    assert len(clip.text.encode()) <= 51_200


@pytest.mark.parametrize("size", [3_000, 65_537, 1_000_000])
def test_any_place_in_one_huge_line_is_one_step_away(size):
    """opencode and klaude show only the first 2000 characters of a line; vtcode gives up at 64 KiB."""
    ref = put(STORE, b"a" * (size - 6) + b"SECRET" + b"\nnext\n").ref
    assert "SECRET" in CLIPPER.read(ref, lines=1, columns=f"{size - 5}:").text
    assert f"columns {size - 5:,}-{size:,}" in CLIPPER.grep(ref, "SECRET").text
    assert CLIPPER.read(ref, lines="2").text.startswith("2: next")


@pytest.mark.parametrize("ref", ["../../etc/passwd", "cmd-123.txt", "cmd-../x", "/abs", "a/b", "bash-xyz", "..\\x"])
def test_a_ref_that_would_leave_the_store_is_refused(ref):
    """Roo ReadCommandOutputTool: only ids of the expected shape are accepted."""
    with pytest.raises(RefError):
        CLIPPER.read(ref)


def test_the_answer_for_a_removed_output_says_what_to_do():
    """vtcode: says to rerun the command; pydantic: gives guidance instead of an exception (here: `tools()`)."""
    read_output, grep_output, outline_output, _ = CLIPPER.tools()
    gone = "bash-0123456789ab"
    for answer in (read_output(gone), grep_output(gone, "x"), outline_output(gone)):
        assert "run the tool again" in answer or "list_outputs()" in answer


def test_an_invalid_pattern_is_reported():
    """Roo falls back to a literal search; we say what is wrong, and offer `fixed` for literal text."""
    ref = put(STORE, b"a[b\n").ref
    with pytest.raises(PatternError):
        CLIPPER.grep(ref, "a[b")
    assert CLIPPER.grep(ref, "a[b", fixed=True).text.startswith("1: a[b")


@pytest.mark.parametrize("asked", [{"lines": "0"}, {"bytes": "0:10"}, {"lines": "-0"}, {"lines": "1:x"}])
def test_a_wrong_offset_is_refused(asked):
    """pydantic refuses negative offsets; ours count from 1, and negative ones from the end."""
    ref = put(STORE, numbered(3)).ref
    with pytest.raises(UsageError):
        CLIPPER.read(ref, **asked)


def test_a_search_that_stops_at_its_limit_says_of_how_many():
    """Roo: says only "showing first N"; supertool#622: "more exist" does not help without a number."""
    ref = put(STORE, numbered(5_000)).ref
    small = Clipper(Limits(bytes=500), store=STORE, hints="cli")
    answer = small.grep(ref, "line").text
    assert "of 5,000 matches shown. Next: spill grep" in answer
