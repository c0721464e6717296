"""Law 4: counts describe the complete output, and the shown and hidden parts add up to it.

The tests parse the text using only the numbers in it: the markers say where the gaps are, so everything else must match
the output line for line.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_in_short, outputs, unforged
from law_naive import Lines, line_count, merged
from law_ways import SOURCES, TOGETHER

from spillover import Clipper, Limits, MemoryStore
from spillover.testing import FailingStore
from support import ToolClipper, clean, look

NUMBER = r"([\d,]+)"
NOTICE = re.compile(r"\[(?:Output|Clipped)[^\]]*\]\n?")
MARKER = re.compile(
    rf"\[… (?:lines? {NUMBER}(?:-{NUMBER})? not shown"
    rf"|bytes {NUMBER}-{NUMBER}(?:, in lines? {NUMBER}(?:-{NUMBER})?, not shown)?"
    rf"|{NUMBER}(?:-{NUMBER})?"
    r"|(?:the (?:line|[\d,]+ lines) above (?:once|[\d,]+) more(?: times)?|[\d,]+ more like the line above|[\w ]+, [\d,]+ bytes, sha256 \w+), "
    rf"(?:lines? {NUMBER}(?:-{NUMBER})?|bytes {NUMBER}-{NUMBER})) …\]"
)
#: Sentences that a notice may contain, and what their numbers mean.
SAID = {
    rf"Output clipped: {NUMBER} of {NUMBER} lines? shown; {NUMBER} bytes, ~{NUMBER} tokens in all\.": "shown_lines lines bytes tokens",
    rf"Output clipped: {NUMBER} of {NUMBER} bytes shown, in {NUMBER} lines?; ~{NUMBER} tokens in all\.": "shown_bytes bytes lines tokens",
    rf"Output clipped: control codes only; all {NUMBER} lines? shown, {NUMBER} bytes in all\.": "lines bytes",
    rf"Output clipped: {NUMBER} overwritten frames? left out\.": "frames",
    rf"Clipped: {NUMBER} of {NUMBER} lines? shown\.": "shown_lines lines",
    rf"Clipped: {NUMBER} of {NUMBER} bytes shown\.": "shown_bytes bytes",
}
#: The next step that a notice names, and the line it starts from.
NEXT = re.compile(rf'(?:lines="|spill read \S+ |offset=)({NUMBER})')


def number(text):
    return int(text.replace(",", ""))


def gap_of(found, lines):
    """Return the byte range of the gap that a marker describes: start, end."""
    first, last, start, end, in_first, in_last, tiny_first, tiny_last, said_first, said_last, said_start, said_end = (
        text and number(text) for text in found.groups()
    )
    first, last = first or tiny_first or said_first, last or tiny_last or said_last
    start, end = start or said_start, end or said_end
    if start:
        if in_first:
            assert (in_first, in_last or in_first) == (lines.number(start - 1), lines.number(end - 1))
        return start - 1, end
    return lines.upto(first, last or first)


def read_back(text, data):
    """Return the notice and the spans that the markers imply, after checking that the text shows exactly those spans."""
    lines = Lines(data)
    words = NOTICE.match(text).group()
    body = text[len(words) :]
    found = list(MARKER.finditer(body))
    gaps = [gap_of(one, lines) for one in found]
    assert gaps == sorted(gaps)
    edges = [0, *(edge for gap in gaps for edge in gap), len(data)]
    spans = list(zip(edges[::2], edges[1::2], strict=True))
    assert all(start <= end for start, end in spans), "gaps overlap"
    pieces = []
    for (start, end), marker in zip(spans, [*found, None], strict=True):
        if start < end:
            pieces.append("".join(clean(piece) for piece in lines.pieces(start, end)))
        if marker:
            pieces.append(marker.group())
    ended = [piece if piece.endswith("\n") else piece + "\n" for piece in pieces[:-1]]
    assert body == "".join([*ended, *pieces[-1:]])
    return words, [(start, end) for start, end in spans if start < end], gaps


def check_numbers(clip, words, spans, gaps, data):
    lines = Lines(data)
    shown = merged((lines.number(start), lines.number(end - 1)) for start, end in spans)
    assert clip.ranges == shown
    assert clip.shown.lines == sum(last - first + 1 for first, last in shown)
    assert clip.shown.bytes == sum(end - start for start, end in spans)
    true = {
        "lines": len(lines),
        "bytes": len(data),
        "tokens": clip.total.tokens,
        "shown_lines": clip.shown.lines,
        "shown_bytes": clip.shown.bytes,
        "frames": sum(look(data[start:end])[1] for start, end in spans),
    }
    said = re.search(rf"{NUMBER} overwritten frames? left out\.", words)
    assert (number(said[1]) if said else 0) == true["frames"]
    said, names = next((found, SAID[form]) for form in SAID if (found := re.match(r"\[" + form, words)))
    assert [number(text) for text in said.groups()] == [true[name] for name in names.split()]
    following = NEXT.search(words)
    if following and gaps:
        assert number(following[1]) == lines.number(gaps[0][0]), "the next step reads what is hidden first"


stores = st.sampled_from([0, 1_000, 10**9]).map(lambda after: FailingStore(MemoryStore(), after_bytes=after))


@law
@given(way=st.sampled_from([*SOURCES]), chosen=choices, data=unforged, cuts=cuts, store=stores)
def test_what_the_text_says_of_itself_is_what_it_shows(tmp_path, way, chosen, data, cuts, store):
    came = SOURCES[way](ToolClipper(**chosen, store=store), data, cuts, tmp_path)
    (clip,), (came_in,) = came.clips, came.inputs
    if clip.outcome != "whole":
        words, spans, gaps = read_back(clip.text, came_in)
        check_numbers(clip, words, spans, gaps, came_in)


@law_in_short
@given(way=st.sampled_from([*SOURCES, *TOGETHER]), chosen=choices, data=outputs, cuts=cuts, store=stores)
def test_what_is_shown_and_what_is_hidden_add_up(tmp_path, way, chosen, data, cuts, store):
    came = (SOURCES | TOGETHER)[way](ToolClipper(**chosen, store=store), data, cuts, tmp_path)
    for clip, came_in in zip(came.clips, came.inputs, strict=True):
        assert (clip.total.lines, clip.total.bytes) == (line_count(came_in), len(came_in))
        every = sorted([*clip.ranges, *clip.hidden])
        assert [line for first, last in every for line in range(first, last + 1)] == [*range(1, clip.total.lines + 1)]
        assert merged(clip.ranges) == clip.ranges
        assert clip.shown.lines == sum(last - first + 1 for first, last in clip.ranges)
        assert clip.shown.bytes <= clip.total.bytes


@law_in_short
@given(data=outputs)
def test_a_line_looks_the_same_alone_as_among_others(data):
    """Otherwise, line numbers in the text would not match line numbers in the store."""
    assert clean(data) == "".join(clean(line) for line in Lines(data).all)


@law_in_short
@given(data=outputs)
def test_characters_are_counted_as_decoding_counts_them(data):
    text = data.decode("utf-8", "ignore")
    clip = Clipper(Limits(bytes=200), store=MemoryStore()).clip(text)
    assert clip.total.chars == len(text)


#: output → number of lines, as a person counts.
COUNTED = [
    (b"", 0),
    (b"x", 1),
    (b"x\n", 1),
    (b"\n", 1),
    (b"\n\n", 2),
    (b"a\r\nb\r\n", 2),
    (b"a\rb\rc", 1),
    (b"a\nb", 2),
    ("a\u2028b\x85c".encode(), 1),
    (b"a\x0bb\x0cc\x1cd", 1),
    (b"\0\n\0", 2),
]


@pytest.mark.parametrize(("output", "lines"), COUNTED)
def test_lines_are_counted_as_a_person_does(output, lines):
    assert Clipper(Limits(lines=4), store=MemoryStore()).clip(output).total.lines == lines
    ended = output if output.endswith(b"\n") or not output else output + b"\n"
    assert Clipper(Limits(lines=4), store=MemoryStore()).clip(ended + b"y\n" * 50).total.lines == lines + 50


TEN = "".join(f"line {number}\n" for number in range(1, 11))
DIGITS = "0123456789" * 30
#: keep, limits, output → notice, text below it. REF and N replace what depends on the hash and on the estimate.
BY_EYE = [
    (
        "head",
        Limits(lines=5),
        TEN,
        "[Output clipped: 3 of 10 lines shown; 71 bytes, ~N tokens in all. Full output: REF]",
        "line 1\nline 2\nline 3\n[… lines 4-10 not shown …]",
    ),
    (
        "tail",
        Limits(lines=4),
        TEN,
        "[Output clipped: 2 of 10 lines shown; 71 bytes, ~N tokens in all. Full output: REF]",
        "[… lines 1-8 not shown …]\nline 9\nline 10\n",
    ),
    (
        "ends",
        Limits(lines=6),
        TEN.replace("\n", "\r\n"),
        "[Output clipped: 4 of 10 lines shown; 81 bytes, ~N tokens in all. Full output: REF]",
        "line 1\nline 2\n[… lines 3-8 not shown …]\nline 9\nline 10\n",
    ),
    (
        "head",
        Limits(chars=200),
        DIGITS,
        "[Output clipped: 51 of 300 bytes shown, in 1 line; ~N tokens in all. Full output: REF]",
        "012345678901234567890123456789012345678901234567890\n[… bytes 52-300, in line 1, not shown …]",
    ),
    (
        "tail",
        Limits(chars=200),
        f"first\n{DIGITS}\nlast\n",
        "[Output clipped: 2 of 3 lines shown; 312 bytes, ~N tokens in all. Full output: REF]",
        "[… bytes 1-260, in lines 1-2, not shown …]\n4567890123456789012345678901234567890123456789\nlast\n",
    ),
    (
        "ends",
        Limits(bytes=400),
        "\r 10%" * 100 + "\r100%\n",
        "[Output clipped: 100 overwritten frames left out. Full output: REF]",
        "100%\n",
    ),
    (
        "ends",
        Limits(bytes=400),
        "\x1b[31m\x1b[0m" * 100 + "ok\n",
        "[Output clipped: control codes only; all 1 line shown, 903 bytes in all. Full output: REF]",
        "ok\n",
    ),
    (
        "head",
        Limits(lines=5),
        TEN.replace("1", "0%\r1"),
        "[Output clipped: 2 of 10 lines shown; 77 bytes, ~N tokens in all. Full output: REF]",
        "line 0%\n1\nline 2\n[… lines 3-10 not shown …]",
    ),
    (
        "head",
        Limits(lines=5),
        TEN.replace("line 1", "at 10%\rat 90%"),
        "[Output clipped: 3 of 10 lines shown; 85 bytes, ~N tokens in all. 1 overwritten frame left out. Full output: REF]",
        "at 90%\nline 2\nline 3\n[… lines 4-10 not shown …]",
    ),
]


@pytest.mark.parametrize(("keep", "limits", "output", "notice", "below"), BY_EYE)
def test_a_clip_can_be_checked_by_eye(keep, limits, output, notice, below):
    clip = Clipper(limits, keep=keep, hints=(), store=MemoryStore()).clip(output)
    assert re.sub(r"~[\d,]+ tokens", "~N tokens", clip.text).replace(clip.ref, "REF") == f"{notice}\n{below}"
