"""Every vector of opencode, to the letter: the result of its published algorithm, and ours, which is equal or says why not.

Source: anomalyco/opencode at d545d8f (v1.18.18), packages/opencode/src/tool/{truncate,shell}.ts, re-evaluated on small
inputs. <PATH> stands for the file.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opencode_reference import first_output, shell_tail, size_of

from spillover import Limits, MemoryStore
from spillover.profiles import opencode
from support import count_lines

HINT = (
    "The tool call succeeded but the output was truncated. Full output saved to: <PATH>\n"
    "Use Grep to search the full content or Read with offset/limit to view specific sections."
)
ONE_LONG_LINE = "whole lines only leave nothing of one long line: ours shows the part of it that fits"
FINAL_NEWLINE = "a final newline opens no line"


def lines(count):
    return "\n".join(f"line{number}" for number in range(count))


#: name, text, max_lines, max_bytes, direction, theirs: (preview, removed, unit) or None, ours if different, why.
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
    """Return their message around a preview."""
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
    assert bool(why) == (expected != theirs), "every difference needs a reason"


STORE = MemoryStore()


@given(
    st.text("ab\né€\r", max_size=60),
    st.integers(1, 6),
    st.integers(1, 40),
    st.sampled_from(["head", "tail"]),
)
def test_v1_on_any_text(text, most, size, direction):
    """The same as theirs to the letter, except for the two reasons above. With a limit of 1 or 2 bytes, the other end was shown."""
    theirs = first_output(text, most, size, direction)
    clip = opencode.clipper(store=STORE, limits=Limits(lines=most, bytes=size), keep=direction).clip(text)
    if theirs is None or (count_lines(text) <= most and size_of(text) <= size):
        assert (clip.text, clip.outcome) == (text, "whole")
    elif not theirs[0].strip("\n") and (theirs[0] == "" or theirs[2] == "bytes"):
        edge = (
            text.encode()[: clip.shown.bytes]
            if direction == "head"
            else text.encode()[-clip.shown.bytes or len(text) * 4 :]
        )
        assert (edge.decode() or "\n") in clip.text, "the end that was asked for, and no half of a character"
        assert (0 if size < 4 else 1) <= clip.shown.bytes <= size, "blank lines are not all that is shown"
    else:
        assert clip.text == said(theirs, direction).replace("<PATH>", clip.ref)


#: name, text, max_lines, max_bytes, theirs, ours if different.
SHELL = [
    ("single 500B line no nl, 100B", "b" * 500, 2_000, 100, "b" * 100, None),
    ("single 500B line WITH nl, 100B (bug #42277)", "b" * 500 + "\n", 2_000, 100, "", "b" * 99 + "\n"),
    ("multi-byte € x 10 (30B), 10B", "€" * 10, 2_000, 10, "€€€", None),
    ("10 lines keep 3", lines(10), 3, 51_200, "line7\nline8\nline9", None),
]


@pytest.mark.parametrize(("name", "text", "most", "size", "theirs", "ours"), SHELL, ids=[row[0] for row in SHELL])
def test_v1_shell_tail(tmp_path, name, text, most, size, theirs, ours):
    assert shell_tail(text, most, size) == theirs
    clipper = opencode.clipper(folder=str(tmp_path / "out"), limits=Limits(lines=most, bytes=size), keep="tail")
    assert clipper.clip(text).text.endswith("\n\n" + (theirs if ours is None else ours))


def test_every_vector_has_its_row():
    """vectors.json has 17 + 4 vectors of the design in the document. The second design is in no document, so not here."""
    assert (len(V1), len(SHELL)) == (17, 4)
