"""What counts as a line, and what remains of progress bars and colours, from published cases."""

import json

import pytest

from spillover import Limits
from spillover.testing import content
from support import clean

FRAMES = [
    # source, raw, what a person sees, why ours differs
    ("Roo extract-text", "30%\r60%\r100%", "100%", ""),
    (
        "Roo extract-text",
        "Initial text\rReplacement text\r",
        "Initial text\nReplacement text",
        "they show what was written last; it is no progress bar, and nothing of it is lost",
    ),
    (
        "Roo extract-text",
        "Progress: 100%\rProgress: 5%",
        "Progress: 5%",
        "their terminal leaves what is not overwritten",
    ),
    ("Roo extract-text", "line1\r\nline2\r\n", "line1\nline2\n", ""),
    ("Roo extract-text", "a\rb\nc\rd", "a\nb\nc\nd", "they show the last; these are no frames"),
    ("Roo extract-text", "no frames here", "no frames here", ""),
    ("Roo extract-text", "", "", ""),
    ("Roo extract-text, backspaces", "abc\b\bXY", "aXY", ""),
    ("Roo extract-text, spinner", "|\b/\b-\b\\\b|\bdone", "done", ""),
    ("Roo extract-text, backspace at the start", "\babc", "abc", ""),
    ("opencode, 5 frames", "10%\r20%\r30%\r40%\r50%\n", "50%\n", "they count every frame's bytes"),
    ("klaude ansi", "\x1b[1;32mok\x1b[0m \x1b]0;title\x07done", "ok done", ""),
    ("pydantic strip_ansi", "\x1b[31merror\x1b[39m", "error", ""),
    ("pi, binary", "a\x00b\x01c", "abc", ""),
    ("crush, CJK and ZWJ emoji", "日本語 👩‍👩‍👧", "日本語 👩‍👩‍👧", ""),
]


@pytest.mark.parametrize(("source", "raw", "seen", "why"), FRAMES)
def test_only_the_last_frame_of_a_progress_bar_is_seen(source, raw, seen, why):
    assert clean(raw.encode()) == seen, why


COUNTED = [
    # source, text, lines, why ours differs
    ("opencode v1 counts 2001", "a\n" * 2_000, 2_000, "a final newline opens no line"),
    ("opencode v2 counts 3", "one\ntwo\n", 2, "a final newline opens no line"),
    (
        "klaude, 2500 frames on one line",
        "\r".join(f"{n} %" for n in range(2_500)),
        1,
        "splitlines() takes CR for a line end",
    ),
    ("klaude, CRLF", "x\r\n" * 2_500, 2_500, ""),
    ("klaude, VT and FF", "a\vb\fc", 1, "splitlines() takes them for line ends"),
    ("klaude, U+2028", "a\u2028b\u2029c\x85d", 1, "splitlines() takes them for line ends"),
    (
        "pydantic json_lines",
        "\n".join(json.dumps(x, ensure_ascii=False) for x in ({"text": "a\u2028b"}, {"ok": True})),
        2,
        "",
    ),
    ("only newlines", "\n" * 300, 300, ""),
    ("no newline", "x", 1, ""),
    ("nothing", "", 0, ""),
]


@pytest.mark.parametrize(("source", "text", "lines", "why"), COUNTED)
@pytest.mark.parametrize("limits", [Limits(bytes=200), Limits()])
def test_lines_are_counted_as_a_person_does(clipping, source, text, lines, why, limits):
    clip = clipping(limits).clip(text)
    assert clip.total.lines == lines, why
    shown = sum(last - first + 1 for first, last in (*clip.ranges, *clip.hidden))
    assert shown == lines, "what is shown and what is hidden add up"


def test_a_progress_bar_that_fits_once_it_is_cleaned_is_not_cut_and_its_frames_are_kept(clipping, store):
    """opencode#35246: thousands of frames waste context; indexable-inc/index#1348."""
    bar = "".join(f"\rdownloading {number:5d}/5000" for number in range(5_001)) + "\nInstalled.\n"
    clip = clipping(Limits()).clip(bar)
    assert "downloading  5000/5000\nInstalled.\n" in clip.text
    assert "  4999/5000" not in clip.text
    assert content(store, clip.ref).decode() == bar


NAMES = [
    # source, a tool's name, how its refs begin
    ("gemini fileUtils", "../../dangerous/tool", "dangerous_tool"),
    ("vtcode sanitize", "mcp/fetch", "mcp_fetch"),
    ("vtcode sanitize", "tool-name", "tool_name"),
    ("klaude", "TestTool", "testtool"),
    ("a name that is no name", "../..", "tool"),
    ("deepagents#5560, 1.5 KB", "x" * 1_500, "x" * 32),
    ("a name in another script", "読む", "tool"),
    ("a name with a newline", "a\nb", "a_b"),
]


@pytest.mark.parametrize(("source", "tool", "name"), NAMES)
def test_a_tools_name_becomes_the_start_of_a_ref_and_never_of_a_path(clipping, source, tool, name):
    clip = clipping(Limits(bytes=200)).clip("x" * 1_000, tool=tool, call_id=tool)
    assert clip.ref.rpartition("-")[0] == name
