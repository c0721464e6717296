"""Browser pages as accessibility trees: what can be clicked, filled or read, with its ref and the names around it.

Playwright (`- button "Save" [ref=e12]`), Chrome DevTools (`uid=1_23 button "Save"`), BrowserGym (`[123] link 'Save'`).
What a page repeats is worth less each time, and what stands early more: nothing ran here, so the end says little.
Bounded: of an output above MAX_BYTES only the beginning is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds.ends import char_after, char_before
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import FIRST_PIECES, Hidden, Room, Span, join
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("page",)
#: Bytes that are read. More: more time and memory.
MAX_BYTES = 1 << 20
#: A page has this many elements with a ref, and elements on this share of its lines: a console may follow. Where refs
#: are only numbers in brackets, which say less than `[ref=e12]` or `uid=1_23`, on the larger share.
MIN_ELEMENTS, ELEMENT_SHARE, NUMBERED_SHARE = 8, 0.3, 0.6
#: Of a line longer than MAX_LINE_BYTES, the first BEGINNING_BYTES are shown, and its ref, which may stand at its end.
MAX_LINE_BYTES, BEGINNING_BYTES = 240, 160
#: A hidden line of this many bytes is cheaper shown than marked. More: fewer markers, fewer other lines.
HOLE_BYTES = 20
#: Lines that may be shown. More: more work, though fewer fit.
MAX_LINES = 20_000

# A line of each grammar; matched where it begins, and every quantifier is possessive.
_NAME = rb"""(?:"((?:[^"\\\n]|\\.)*+)"|'((?:[^'\\\n]|\\.)*+)')"""
_PLAYWRIGHT = re.compile(
    rb"""([ ]*+)- ['"]?+(?:<\w++> )?+(/?[\w-]++)(?: ?+%b)?+(?=[ :=\r\n'"]|\Z)""" % _NAME, re.DOTALL
)
_DEVTOOLS = re.compile(rb"""([ ]*+)uid=[\w.-]++ ([\w-]++)(?: ?+%b)?+""" % _NAME, re.DOTALL)
_GYM = re.compile(rb"""([\t ]*+)(?:\[[A-Za-z]*+\d\w*+\] )?+([A-Za-z]++) ?+%b""" % _NAME, re.DOTALL)
#: One of these is in the lines of any page.
_MARKS = (b"[ref=", b"uid=", b"] link ", b"] button ", b"StaticText ")
_GRAMMARS = (_PLAYWRIGHT, _DEVTOOLS, _GYM)
#: What names an element: it is never cut off.
_REF = re.compile(rb"\[ref=[\w.-]++\]|\buid=[A-Za-z0-9]++_\w++|^[\t ]*+\[[A-Za-z]*+\d\w*+\] [A-Za-z]", re.MULTILINE)
_PLAYWRIGHT_REF = b" [ref="
#: Text behind the colon of a Playwright element, as in `- generic [ref=e3]: Save`.
_TEXT = re.compile(rb"[\]\w\"]: (\S)")

CONTROLS = frozenset(
    b"button link textbox combobox checkbox radio menuitem menuitemcheckbox menuitemradio tab option switch slider "
    b"searchbox spinbutton treeitem scrollbar textarea input select gridcell colorwell datepicker listbox tablist menu "
    b"togglebutton disclosuretriangle popupbutton".split()
)
HEADINGS = frozenset(b"heading rootwebarea webarea document dialog alert alertdialog status tooltip".split())
LANDMARKS = frozenset(
    b"main navigation banner form search region complementary contentinfo article table grid list menubar toolbar tree "
    b"group radiogroup tabpanel row rowgroup".split()
)
TEXTS = frozenset(
    b"statictext text paragraph cell columnheader rowheader listitem definition term code blockquote "
    b"caption figure strong emphasis time label labeltext note log marquee math progressbar meter timer".split()
)

#: Points of a line at the beginning of a page, by its use.
POINTS = {
    "control": 1.0,
    "top": 1.0,
    "heading": 0.9,
    "changed": 0.8,
    "around": 0.6,
    "text": 0.55,
    "other": 0.4,
    "bare": 0.12,
    "repeated": 0.06,
}
#: The share of its points that the last line of a page loses. More: the end of a page is shown less.
END_LOSS = 0.4
#: An element that occurred n times before is worth 1 / (1 + REPEAT_LOSS * n). More: repeats are shown less.
REPEAT_LOSS = 0.5
#: Of rows alike, the first SAME_ROWS say what the others are; each of the others is worth less than the one before.
SAME_ROWS, ROW_LOSS = 12, 0.5
#: Points of a line that answers the query, on top. More: answers before controls.
ANSWER_POINTS = 0.5
#: A control without a name is worth this share of one with a name.
UNNAMED_SHARE = 0.9


class Line(Struct, frozen=True):
    """One line of a page: where it is, how deep, its role and name in small letters, and what it is for."""

    start: int
    end: int
    depth: int
    role: bytes
    name: bytes
    use: str
    shape: int = 0  # a number for its role and the roles around it: rows of a table have the same


def recognise(sample: Sample) -> str:
    """Return "page" if the lines are elements of a browser page, and enough of them have a ref."""
    return "page" if any(mark in sample.head for mark in _MARKS) and is_page(sample.lines) else ""


def is_page(lines: Sequence[bytes]) -> bool:
    """Return whether enough of these lines are elements of a page, and enough elements have a ref."""
    elements = [line for line in lines if any(grammar.match(line) for grammar in _GRAMMARS)]
    refs = [line for line in elements if _REF.search(line)]
    certain = sum(b"[ref=" in line or b"uid=" in line for line in refs)
    share = ELEMENT_SHARE if 2 * certain > len(refs) else NUMBERED_SHARE
    return len(refs) >= MIN_ELEMENTS and 3 * len(refs) >= len(elements) and len(elements) >= share * len(lines)


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return the lines worth most, in order; nothing if this is not a page, or nothing of it fits."""
    (_, data), *_ = document.ends(MAX_BYTES, 0)
    document.work.spend(20 * OBJECT * (data.count(b"\n") + 1))
    lines = list(_read_lines(data))
    if sum(bool(line.role) for line in lines) < MIN_ELEMENTS:
        return []
    points = _score(lines, Query.of(call), data)
    order = sorted(range(len(lines)), key=lambda number: (-points[number], number))[:MAX_LINES]
    long = [number for number in sorted(order) if lines[number].end - lines[number].start > MAX_LINE_BYTES]
    rest = [piece for number in long for piece in _hidden_pieces(lines[number], _cut_line(data, lines[number]))]

    def show(count: int) -> list[Span]:
        document.work.spend(3 * OBJECT * count)
        numbers = set(order[:count])
        numbers.update(_find_holes(data, lines, numbers))
        pieces = [piece for number in numbers for piece in _cut_line(data, lines[number])]
        return join([*pieces, *rest[: max(0, count - len(order))]])

    return room.largest(show, len(order) + len(rest), start=FIRST_PIECES)


def _read_lines(data: bytes) -> Iterator[Line]:
    """Yield all lines; what stands before the tree is its top, e.g. the address and the title."""
    at = 0
    in_tree = False
    shapes: dict[tuple[int, int, bytes], int] = {}
    above: list[Line] = []  # the elements that a line stands in
    for text in data.splitlines(keepends=True):
        match = next((match for grammar in _GRAMMARS if (match := grammar.match(text))), None)
        end = at + len(text)
        if match is None or not (in_tree or _REF.search(text)):
            use = "repeated" if not text.strip(b" \t\r\n`") else "other" if in_tree else "top"
            yield Line(at, end, 0, b"", b"", use)
        else:
            in_tree = True
            depth, role = len(match[1]), match[2].lower()
            name = (match[3] or match[4] or b"").strip().lower()
            while above and above[-1].depth >= depth:
                above.pop()
            words = name or _read_text(text)
            is_repeated = bool(words) and words in [line.name for line in above[-3:]]
            use = _find_use(role, words, text, is_named=bool(name), is_repeated=is_repeated)
            path = (above[-1].shape if above else 0, depth, role)
            above.append(Line(at, end, depth, role, words, use, shapes.setdefault(path, len(shapes) + 1)))
            yield above[-1]
        at = end


def _read_text(line: bytes) -> bytes:
    """Return the text of an element that has no name."""
    match = _TEXT.search(line)
    return line[match.start(1) :].strip().strip(b"\"'").lower() if match else b""


def _find_use(role: bytes, words: bytes, text: bytes, *, is_named: bool, is_repeated: bool) -> str:
    """Return what an element is for; `is_repeated`: an element around it has the same words."""
    if role in CONTROLS or (b"[cursor=pointer]" in text and not is_repeated):
        return "control"
    if role in HEADINGS and words and not is_repeated:
        return "heading"
    if not words:
        return "bare"
    if is_repeated or not any(char > 0x7F or chr(char).isalnum() for char in words) or role.startswith(b"/"):
        return "repeated"
    if b"<changed>" in text:
        return "changed"
    return "text" if role in TEXTS or not is_named else "around"


def _score(lines: Sequence[Line], query: Query, data: bytes) -> list[float]:
    """Return what each line is worth: by its use, how often it was there before, how early it is, and the query."""
    points: list[float] = []
    times: dict[tuple[bytes, bytes], int] = {}
    rows: dict[int, int] = {}
    for number, line in enumerate(lines):
        worth = POINTS[line.use] * (1 - END_LOSS * number / len(lines))
        if line.role:
            before = times.get((line.role, line.name), 0)
            times[line.role, line.name] = before + 1
            worth *= 1 / (1 + REPEAT_LOSS * before) if line.name else UNNAMED_SHARE
            rows[line.shape] = rows.get(line.shape, 0) + 1
            worth /= 1 + ROW_LOSS * max(0, rows[line.shape] - SAME_ROWS)
        points.append(worth)
    if query:
        answers = query.score_in(data, [line.start for line in lines]).tolist()
        points = [worth + ANSWER_POINTS * answer for worth, answer in zip(points, answers, strict=True)]
    _lift(lines, points)
    return points


def _lift(lines: Sequence[Line], points: list[float]) -> None:
    """Make the named elements that a line stands in worth nearly as much as it."""
    best: list[tuple[int, float]] = []  # depth, and the most that is below it
    for number in reversed(range(len(lines))):
        line = lines[number]
        inside = 0.0
        while best and best[-1][0] > line.depth:
            inside = max(inside, best.pop()[1])
        if line.use == "around" and line.role in LANDMARKS:
            points[number] = max(points[number], 0.95 * inside)
        if line.role:
            best.append((line.depth, max(points[number], inside)))


def _find_holes(data: bytes, lines: Sequence[Line], numbers: set[int]) -> list[int]:
    """Return lines between two of these that are shorter than their marker."""
    holes = [number + 1 for number in numbers if number + 2 in numbers and number + 1 not in numbers]
    return [hole for hole in holes if len(data[lines[hole].start : lines[hole].end].strip()) <= HOLE_BYTES]


def _cut_line(data: bytes, line: Line) -> list[Span]:
    """Return what is shown of a line: all of it, or of a long one the beginning and its ref."""
    if line.end - line.start <= MAX_LINE_BYTES:
        return [Span(line.start, line.end, line.use)]
    cut = char_before(data, line.start + BEGINNING_BYTES, line.start)
    ref = data.rfind(_PLAYWRIGHT_REF, cut - len(_PLAYWRIGHT_REF) - 16, line.end)
    if 0 <= ref < cut:  # it is in the way, or already shown
        cut = char_after(data, min(line.end, data.find(b"]", ref) + 1), line.end)
        ref = -1
    if ref >= 0:
        tail = ref
        ref_end = data.find(b"]", ref) + 1
        end = ref_end if ref_end and line.end - ref_end > MAX_LINE_BYTES else line.end
    else:
        tail = line.start + len(data[line.start : line.end].rstrip())
        end = line.end
    if cut >= tail:
        return [Span(line.start, line.end, line.use)]
    return [Span(line.start, cut, line.use, Hidden("chars")), Span(tail, end, line.use)]


def _hidden_pieces(line: Line, pieces: Sequence[Span]) -> list[Span]:
    """Return what is hidden of a line that is shown in part."""
    edges = [*(edge for piece in pieces for edge in (piece.start, piece.end)), line.end]
    return [Span(start, end, line.use) for start, end in zip(edges[1::2], edges[2::2], strict=True) if start < end]
