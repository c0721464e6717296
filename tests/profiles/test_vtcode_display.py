"""What vtcode shows a person: seed 004, "Expanded Display Limits" and "Token Flow"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import UsageError
from spillover.profiles.vtcode import render

LINES = {"inline": 30, "code": 500, "diff": 500}


def numbered(count):
    return "".join(f"line {number}\n" for number in range(1, count + 1))


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
    limit = LINES[kind]
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
    ],
)
def test_a_long_line_is_cut(line, shown):
    assert render(f"a\n{line}\nb").split("\n")[1] == shown


def test_what_is_nothing_to_display_is_refused():
    with pytest.raises(UsageError, match="use one of inline, code, diff"):
        render("", "table")


def test_the_lines_of_code_and_of_a_diff_can_be_set():  # seed 004, "Configuration"
    shown = render(numbered(100), "code", code_fence_max_lines=10, diff_max_lines=20).split("\n")
    assert (len(shown), shown[-1]) == (11, "... (90 more lines truncated, view full output in tool logs)")
    shown = render(numbered(100), "diff", code_fence_max_lines=10, diff_max_lines=20).split("\n")
    assert (len(shown), shown[-1]) == (21, "... (80 more lines truncated, view full diff in tool logs)")
    assert render(numbered(800), "code", code_fence_max_lines=800) == numbered(800).rstrip("\n")
    assert len(render(numbered(100), code_fence_max_lines=1, diff_max_lines=1).split("\n")) == 31


@pytest.mark.parametrize("lines", [0, -1, 1.5, "10", True, None])
@pytest.mark.parametrize("name", ["code_fence_max_lines", "diff_max_lines"])
def test_a_number_of_lines_that_is_none_is_refused(name, lines):
    with pytest.raises(UsageError, match=f"{name}=.* use 1 or more"):
        render("text", **{name: lines})


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=400), max_size=60), st.sampled_from([*LINES]))
def test_no_line_is_too_long_and_there_are_never_too_many(lines, kind):
    shown = render("\n".join(lines), kind).split("\n")
    assert all(len(line) <= 150 for line in shown)
    assert len(shown) <= LINES[kind] + 1
