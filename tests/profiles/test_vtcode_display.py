"""What vtcode shows a person: seed 004, "Expanded Display Limits" and "Token Flow"; helpers from seed-systems §2 VT."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import UsageError
from spillover.profiles.vtcode_display import (
    DISPLAYS,
    LINE_CHARS,
    Preview,
    hidden_lines,
    render,
    shortened,
    split,
    spooled,
    window,
)


def numbered(count):
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def test_the_limits_are_those_of_the_document():
    assert {kind: display.lines for kind, display in DISPLAYS.items()} == {"inline": 30, "code": 500, "diff": 500}
    assert LINE_CHARS == 150


@pytest.mark.parametrize(
    ("kind", "lines", "first", "last"),
    [
        ("inline", 30, "line 1", "line 30"),
        ("inline", 31, "[... 1 line truncated ...]", "line 31"),
        ("inline", 2_847, "[... 2817 lines truncated ...]", "line 2847"),
        ("code", 500, "line 1", "line 500"),
        ("code", 501, "line 1", "... (1 more lines truncated, view full output in tool logs)"),
        ("code", 900, "line 1", "... (400 more lines truncated, view full output in tool logs)"),
        ("diff", 500, "line 1", "line 500"),
        ("diff", 900, "line 1", "... (400 more lines truncated, view full diff in tool logs)"),
    ],
)
def test_so_many_lines_are_shown_and_the_others_are_counted(kind, lines, first, last):
    shown = render(numbered(lines), kind).split("\n")
    assert (shown[0], shown[-1]) == (first, last)
    limit = DISPLAYS[kind].lines
    assert len(shown) == min(lines, limit) + (lines > limit)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one", "one"),
        ("one\n\n", "one\n"),
        ("\n\ntwo", "\n\ntwo"),
        ("\x1b[31mred\x1b[0m\r\n10%\r100%\n", "red\n100%"),
        ("bell\x07 and \ud800", "bell and ?"),
    ],
)
def test_a_short_text_is_shown_as_a_person_would_see_it(text, shown):
    assert render(text) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("x" * 150, "x" * 150),
        ("x" * 151, "x" * 147 + "..."),
        ("日" * 200, "日" * 147 + "..."),
        ("x" * 146 + "e\u0301" + "x" * 9, "x" * 146 + "..."),  # an accent stays with its letter
        ("x" * 145 + "👩\u200d🚀" + "x" * 9, "x" * 145 + "..."),  # as an astronaut with her rocket
        ("e" + "\u0301" * 200, "e" + "\u0301" * 146 + "..."),  # nobody's writing
    ],
)
def test_a_long_line_is_cut_between_characters(line, shown):
    assert shortened(line) == shown
    assert render(f"a\n{line}\nb").split("\n")[1] == shown


def test_what_is_nothing_to_display_is_refused():
    with pytest.raises(UsageError, match="use one of inline, code, diff"):
        render("", "table")


def test_a_person_is_told_where_the_output_went():  # seed 004, "UI Experience Improvements"
    said = spooled(".vtcode/tool-output/run.log", size=512_123, lines=2_847)
    assert said == "[OUTPUT] Output too large (500KB, 2847 lines), spooled to: .vtcode/tool-output/run.log"


@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, "\n" * 10_000_000, "y\n" * 5_000_000], ids=["line", "empty", "short"]
)
@pytest.mark.parametrize("kind", DISPLAYS)
def test_ten_megabytes_are_a_few_lines(text, kind):
    tracemalloc.start()
    try:
        assert len(render(text, kind)) < 501 * 151
        assert tracemalloc.get_traced_memory()[1] < 3 * len(text), "the bytes and the cleaned text, once each"
    finally:
        tracemalloc.stop()


@given(
    st.lists(st.text(st.characters(exclude_characters="\n"), max_size=400), max_size=60), st.sampled_from([*DISPLAYS])
)
def test_no_line_is_too_long_and_there_are_never_too_many(lines, kind):
    shown = render("\n".join(lines), kind).split("\n")
    assert all(len(line) <= LINE_CHARS for line in shown)
    assert len(shown) <= DISPLAYS[kind].lines + 1


# ── the helpers, seed-systems §2 VT ("preview helpers") ──────────────────────────────────────────────────────────────

SEVEN = [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("items", "limit", "head", "preview"),
    [
        (SEVEN, 6, 3, Preview([1, 2], [5, 6, 7], 2)),  # their case
        (SEVEN, 7, 3, Preview(SEVEN, [], 0)),
        (SEVEN, 2, 3, Preview([], [6, 7], 5)),
        (SEVEN, 0, 3, Preview([], [], 7)),
        ([], 0, 3, Preview([], [], 0)),
    ],
)
def test_both_ends_are_split_with_a_row_for_the_gap(items, limit, head, preview):
    assert split(items, limit, head) == preview


@pytest.mark.parametrize(
    ("limit", "head", "rows"), [(6, 3, (2, 3)), (2, 3, (0, 2)), (0, 3, (0, 0)), (3, 0, (1, 1)), (80, 53, (39, 40))]
)
def test_the_window_keeps_a_row_for_the_gap(limit, head, rows):  # the first two are their cases
    assert window(limit, head) == rows


@given(st.lists(st.integers(), max_size=40), st.integers(0, 45), st.integers(0, 45))
def test_what_is_split_adds_up(items, limit, head):
    preview = split(items, limit, head)
    assert len(preview.head) + preview.hidden + len(preview.tail) == len(items)
    assert len(preview.head) + len(preview.tail) <= limit


@pytest.mark.parametrize(("hidden", "row"), [(1, "… +1 line"), (4, "… +4 lines")])
def test_the_row_of_a_gap(hidden, row):
    assert hidden_lines(hidden) == row
