"""Every vector of opencode, to the letter: what its published algorithm gives, and what ours gives, which is the same or says why.

Source: anomalyco/opencode at d545d8f (v1.18.18), packages/opencode/src/tool/{truncate,shell}.ts and
packages/core/src/tool-output-store.ts, re-evaluated on small inputs. <PATH> stands for the file.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opencode_reference import first_output, second_bound, shell_tail, size_of

from spillover.limits import Limits, count_lines
from spillover.profiles import opencode, opencode_bash, opencode_v2
from spillover.store.memory import MemoryStore

HINT = (
    "The tool call succeeded but the output was truncated. Full output saved to: <PATH>\n"
    "Use Grep to search the full content or Read with offset/limit to view specific sections."
)
ONE_LONG_LINE = "whole lines only leave nothing of one long line: ours shows the part of it that fits"
FINAL_NEWLINE = "a final newline opens no line"


def lines(count):
    return "\n".join(f"line{number}" for number in range(count))


#: name, text, max_lines, max_bytes, direction, theirs: (preview, removed, unit) or None, ours if it is another one, why.
V1 = [
    ("empty", "", 2_000, 51_200, "head", None, None, ""),
    ("exactly 2000 lines no trailing nl", "\n".join(["a"] * 2_000), 2_000, 51_200, "head", None, None, ""),
    ("2000 lines WITH trailing newline", "a\n" * 2_000, 2_000, 51_200, "head",
     ("\n".join(["a"] * 2_000), 1, "lines"), "whole", FINAL_NEWLINE),
    ("exactly 51200 bytes", "a" * 51_200, 2_000, 51_200, "head", None, None, ""),
    ("51201 bytes single line", "a" * 51_201, 2_000, 51_200, "head",
     ("", 51_201, "bytes"), ("a" * 51_200, 1, "bytes"), ONE_LONG_LINE),
    ("1000 a, maxBytes 100", "a" * 1_000, 2_000, 100, "head",
     ("", 1_000, "bytes"), ("a" * 100, 900, "bytes"), ONE_LONG_LINE),
    ("100 lines, maxLines 10", lines(100), 10, 51_200, "head", (lines(10), 90, "lines"), None, ""),
    ("10 lines tail 3", lines(10), 3, 51_200, "tail", ("line7\nline8\nline9", 7, "lines"), None, ""),
    ("10 lines trailing nl, tail 3", lines(10) + "\n", 3, 51_200, "tail", ("line8\nline9\n", 8, "lines"), None, ""),
    ("short first then huge line, head 100B", "ok\n" + "b" * 500, 2_000, 100, "head", ("ok", 501, "bytes"), None, ""),
    ("huge line then short, tail 100B", "b" * 500 + "\nok", 2_000, 100, "tail", ("ok", 501, "bytes"), None, ""),
    ("huge single line + nl, tail 100B", "b" * 500 + "\n", 2_000, 100, "tail",
     ("", 501, "bytes"), ("b" * 99 + "\n", 401, "bytes"), ONE_LONG_LINE),
    ("multibyte: 10 x é per line x 10 lines, maxBytes 50", "\n".join(["é" * 10] * 10), 2_000, 50, "head",
     ("é" * 10 + "\n" + "é" * 10, 168, "bytes"), None, ""),
    ("CRLF 10 lines maxLines 3", "x\r\n" * 10, 3, 51_200, "head", ("x\r\nx\r\nx\r", 8, "lines"), None, ""),
    ("bytes hit exactly on line boundary: 3 lines aaaa, maxBytes 9", "aaaa\naaaa\naaaa", 2_000, 9, "head",
     ("aaaa\naaaa", 5, "bytes"), None, ""),
    ("both limits exceeded, lines first", "\n".join(["a"] * 100), 10, 100, "head",
     ("\n".join(["a"] * 10), 90, "lines"), None, ""),
    ("CR-only progress bar 5 frames", "10%\r20%\r30%", 1, 8, "head",
     ("", 11, "bytes"), ("10%\r20%\r", 3, "bytes"), ONE_LONG_LINE),
]  # fmt: skip


def said(cut, direction):
    """Their message around a preview."""
    preview, removed, unit = cut
    message = f"...{removed} {unit} truncated..."
    return f"{preview}\n\n{message}\n\n{HINT}" if direction == "head" else f"{message}\n\n{HINT}\n\n{preview}"


@pytest.mark.parametrize(
    ("name", "text", "most", "size", "direction", "theirs", "ours", "why"), V1, ids=[row[0] for row in V1]
)
def test_v1_output(tmp_path, name, text, most, size, direction, theirs, ours, why):
    assert first_output(text, most, size, direction) == theirs
    expected = theirs if ours is None else None if ours == "whole" else ours
    clipper = opencode.clipper(folder=str(tmp_path / "out"))
    result = opencode.output(text, clipper, max_lines=most, max_bytes=size, direction=direction)
    if expected is None:
        assert result == {"content": text, "truncated": False}, why
        return
    path = result["outputPath"]
    assert result == {
        "content": said(expected, direction).replace("<PATH>", path),
        "truncated": True,
        "outputPath": path,
    }, why
    assert Path(path).read_bytes() == text.encode()
    assert bool(why) == (expected != theirs), "a difference has its reason"


STORE = MemoryStore()


@given(
    st.text("ab\né€\r", max_size=60),
    st.integers(1, 6),
    st.integers(4, 40),
    st.sampled_from(["head", "tail"]),
)
def test_v1_on_any_text(text, most, size, direction):
    """The same as theirs to the letter, but for the two reasons above."""
    theirs = first_output(text, most, size, direction)
    clip = opencode.clipper(store=STORE, limits=Limits(lines=most, bytes=size), keep=direction).clip(text)
    if theirs is None or (count_lines(text) <= most and size_of(text) <= size):
        assert (clip.text, clip.outcome) == (text, "whole")
    elif theirs[0] == "":
        assert 0 < clip.shown.bytes <= size
    else:
        assert clip.text == said(theirs, direction).replace("<PATH>", clip.ref)


#: name, text, max_lines, max_bytes, theirs, ours if it is another one.
SHELL = [
    ("single 500B line no nl, 100B", "b" * 500, 2_000, 100, "b" * 100, None),
    ("single 500B line WITH nl, 100B (bug #42277)", "b" * 500 + "\n", 2_000, 100, "", "b" * 99 + "\n"),
    ("multi-byte € x 10 (30B), 10B", "€" * 10, 2_000, 10, "€€€", None),
    ("10 lines keep 3", lines(10), 3, 51_200, "line7\nline8\nline9", None),
]


@pytest.mark.parametrize(("name", "text", "most", "size", "theirs", "ours"), SHELL, ids=[row[0] for row in SHELL])
def test_v1_shell_tail(tmp_path, name, text, most, size, theirs, ours):
    assert shell_tail(text, most, size) == theirs
    clipper = opencode_bash.clipper(folder=str(tmp_path / "out"), limits=Limits(lines=most, bytes=size))
    clip = clipper.clip(text)
    banner = f"...output truncated...\n\nFull output saved to: {clip.path}\n\n"
    assert clip.text == banner + (theirs if ours is None else ours)


PATH = "/d/tool-output/tool_X"
MARKER = f"... output truncated; full content saved to {PATH} ..."
SIXTY = "\n".join(str(number) * 60 for number in range(6))

#: name, text, max_lines, max_bytes, what both give.
V2 = [
    ("3 lines limit 2 (marker only since ml<=4)", "one\ntwo\nthree", 2, 1_000, MARKER),
    ("20 lines, ml 10, mb 1000", lines(20), 10, 1_000,
     f"line0\nline1\nline2\n\n{MARKER}\n\nline17\nline18\nline19"),
    ("20 lines, ml 9 (odd)", lines(20), 9, 1_000, f"line0\nline1\nline2\n\n{MARKER}\n\nline18\nline19"),
    ("single 1000B line, mb 200", "x" * 1_000, 2_000, 200, "x" * 64 + f"\n\n{MARKER}\n\n" + "x" * 63),
    ("€ x 400, mb 200", "€" * 400, 2_000, 200, "€" * 21 + f"\n\n{MARKER}\n\n" + "€" * 21),
    ("tiny mb 40 => marker prefix only", "x" * 1_000, 2_000, 40, "... output truncated; full content saved"),
    ("few lines over bytes: 6 lines of 60B, mb 200, ml 2000", SIXTY, 2_000, 200,
     "0" * 60 + f"\n111\n\n{MARKER}\n\n44\n" + "5" * 60),
]  # fmt: skip


@given(st.text("ab\né€", max_size=300), st.integers(5, 12), st.integers(100, 130))
def test_v2_on_any_text(text, most, size):
    """Within both limits; the same as theirs where theirs does not run from one end into the other without a word."""
    theirs = second_bound(text, PATH, most, size)
    if size_of(text) <= size and count_lines(text) <= most:
        return  # it is never asked for a preview
    ours = opencode_v2.preview(text, MARKER, Limits(lines=most, bytes=size))
    assert size_of(ours) <= size
    assert count_lines(ours) <= most
    head, tail = ours.split(MARKER)
    assert text.startswith(head.removesuffix("\n\n"))
    assert text.endswith(tail.removeprefix("\n\n"))
    if len(text.split("\n")) <= most - 4 or size_of(text) <= size - size_of(MARKER) - 4:
        assert ours == theirs


def test_v2_does_not_run_over_what_it_left_out():
    """Theirs joins the lines of both ends before it counts bytes: line 3 stands right behind line 1, and nothing says so."""
    text = "a\nGONE\nb\n" + "z" * 300
    assert second_bound(text, PATH, 6, 200) == f"a\n{'z' * 62}\n\n{MARKER}\n\n{'z' * 63}"
    assert opencode_v2.preview(text, MARKER, Limits(lines=6, bytes=200)) == f"a\n\n{MARKER}\n\n{'z' * 126}"


@pytest.mark.parametrize(("name", "text", "most", "size", "expected"), V2, ids=[row[0] for row in V2])
def test_v2_preview(name, text, most, size, expected):
    assert second_bound(text, PATH, most, size) == expected
    assert opencode_v2.preview(text, MARKER, Limits(lines=most, bytes=size)) == expected
    assert size_of(expected) <= size


def test_v2_under_limit_is_the_same_object(tmp_path):
    clipper = opencode_v2.clipper(folder=str(tmp_path / "out"), limits=Limits(lines=2, bytes=1_000))
    output = {"structured": {}, "content": [{"type": "text", "text": "a\nb"}]}
    assert opencode_v2.bound(output, clipper) == {"output": output, "outputPaths": []}
    assert second_bound("a\nb", PATH, 2, 1_000) == "a\nb"


def test_v2_aggregate_of_60010_bytes_is_exactly_51200():
    text = "HEAD-" + "x" * 30_000 + "y" * 30_000 + "-TAIL"
    shown = opencode_v2.preview(text, MARKER, Limits(lines=2_000, bytes=51_200))
    assert shown == second_bound(text, PATH, 2_000, 51_200)
    assert (size_of(shown), shown[:5], shown[-5:]) == (51_200, "HEAD-", "-TAIL")


def test_v2_three_thousand_lines_are_1999_lines_and_4062_bytes():
    shown = opencode_v2.preview("a\n" * 3_000, MARKER, Limits(lines=2_000, bytes=51_200))
    assert shown == second_bound("a\n" * 3_000, PATH, 2_000, 51_200)
    assert (1 + shown.count("\n"), size_of(shown)) == (1_999, 4_062)


def test_every_vector_has_its_row():
    """vectors.json has 17 + 4 + 10 of opencode: those above, and three of v2 in tests of their own."""
    assert (len(V1), len(SHELL), len(V2) + 3) == (17, 4, 10)
