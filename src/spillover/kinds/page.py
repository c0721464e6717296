"""Browser pages as accessibility trees: what can be clicked, filled or read, with its ref and the names around it.

Playwright (`- button "Save" [ref=e12]`), Chrome DevTools (`uid=1_23 button "Save"`) and BrowserGym (`[123] button 'Save'`).
What a page repeats is worth less each time, and what stands early more: nothing ran here, so the end says nothing special.
Bounded: of an output above WHOLE only the beginning is looked at.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.document.document import OBJECT
from spillover.kinds.ends import char_after, char_before
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import FIRST_PIECES, Hidden, Span, join, largest
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("page",)
#: One of these is in the lines of any page.
_MARKS = (b"[ref=", b"uid=", b"] link ", b"] button ", b"StaticText ")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

WHOLE = 1 << 20
#: With fewer elements than this it is no page, nor with a smaller share of the lines: messages of the console may follow.
ELEMENTS = 8
SHARE = 0.3
#: A number in brackets before a word says less than `[ref=e12]` or `uid=1_23`.
SHARE_NUMBERED = 0.6
#: Of a longer line the beginning is shown, and its ref, which may stand at its end.
LONG = 240
BEGINNING = 160
#: A hole of one line up to this length is cheaper shown than marked.
HOLE = 20
#: More elements than these never fit.
UNITS = 20_000

# A line of each grammar; matched where it begins, and every quantifier is possessive.
_NAME = rb"""(?:"((?:[^"\\\n]|\\.)*+)"|'((?:[^'\\\n]|\\.)*+)')"""
_PLAYWRIGHT = re.compile(
    rb"""([ ]*+)- ['"]?+(?:<\w++> )?+(/?[\w-]++)(?: ?+%b)?+(?=[ :=\r\n'"]|\Z)""" % _NAME, re.DOTALL
)
_DEVTOOLS = re.compile(rb"""([ ]*+)uid=[\w.-]++ ([\w-]++)(?: ?+%b)?+""" % _NAME, re.DOTALL)
_GYM = re.compile(rb"""([\t ]*+)(?:\[[A-Za-z]*+\d\w*+\] )?+([A-Za-z]++) ?+%b""" % _NAME, re.DOTALL)
_GRAMMARS = (_PLAYWRIGHT, _DEVTOOLS, _GYM)
#: What names an element: it is never cut off.
_REF = re.compile(rb"\[ref=[\w.-]++\]|\buid=[A-Za-z0-9]++_\w++|^[\t ]*+\[[A-Za-z]*+\d\w*+\] [A-Za-z]", re.MULTILINE)
_PLAYWRIGHT_REF = b" [ref="
#: Text behind the colon of a Playwright element, as in `- generic [ref=e3]: Save`.
_SAYS = re.compile(rb"[\]\w\"]: (\S)")

CONTROLS = frozenset(
    b"button link textbox combobox checkbox radio menuitem menuitemcheckbox menuitemradio tab option switch slider searchbox "
    b"spinbutton treeitem scrollbar textarea input select gridcell colorwell datepicker listbox tablist menu "
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

#: What a line of each class is worth at the beginning of a page.
WORTH = {
    "control": 1.0, "top": 1.0, "heading": 0.9, "changed": 0.8, "around": 0.6, "text": 0.55, "other": 0.4, "bare": 0.12, "said": 0.06,
}  # fmt: skip
#: What is lost from the first line of a page to the last.
FADES = 0.4
#: How soon the same element, met again, is worth half.
AGAIN = 0.5
#: Of many rows alike the first ROWS say what the others are; each of those is worth less than the one before.
ROWS = 12
ROW = 0.5
#: What a line that answers a query is worth on top.
ANSWERS = 0.5
#: A control without a name is worth so much of one with a name.
UNNAMED = 0.9


class Line(Struct, frozen=True):
    """One line of a page: where it is, how deep, its role and name in small letters, and what it is for."""

    start: int
    end: int
    depth: int
    role: bytes
    name: bytes
    use: str
    shape: int = 0  # a number for its role and those of what it stands in: rows of a table have the same


def is_page(lines: Sequence[bytes]) -> bool:
    """Return whether most of these lines are elements of a page, and enough of them have a ref."""
    found = [line for line in lines if any(grammar.match(line) for grammar in _GRAMMARS)]
    refs = [line for line in found if _REF.search(line)]
    certain = sum(b"[ref=" in line or b"uid=" in line for line in refs)
    share = SHARE if 2 * certain > len(refs) else SHARE_NUMBERED
    return len(refs) >= ELEMENTS and 3 * len(refs) >= len(found) and len(found) >= share * len(lines)


def select(document: Document, fill: Fill, call: Call) -> list[Span] | None:
    """Return the lines worth most, in order; None if this is not a page, or nothing of it fits."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    data = document.blob.read(0, min(document.size, WHOLE))
    if len(data) < document.size:
        data = data[: data.rfind(b"\n") + 1]
    document.work.spend(20 * OBJECT * (data.count(b"\n") + 1))
    lines = list(_lines(data))
    if sum(bool(line.role) for line in lines) < ELEMENTS:
        return None
    points = _points(lines, Query.of(call), data)
    order = sorted(range(len(lines)), key=lambda number: (-points[number], number))[:UNITS]
    long = [number for number in sorted(order) if lines[number].end - lines[number].start > LONG]
    rest = [piece for number in long for piece in _missing(lines[number], _pieces(data, lines[number]))]

    def spans(count: int) -> list[Span]:
        document.work.spend(3 * OBJECT * count)
        chosen = set(order[:count])
        chosen.update(_cheap(data, lines, chosen))
        shown = [piece for number in chosen for piece in _pieces(data, lines[number])]
        return join([*shown, *rest[: max(0, count - len(order))]])

    count = largest(len(order) + len(rest), lambda count: fill(spans(count)), start=FIRST_PIECES)
    return spans(count) if count else None


def _lines(data: bytes) -> Iterator[Line]:
    """Yield all lines; what stands before the tree is its top, e.g. the address and the title."""
    at, seen = 0, False
    shapes: dict[tuple[int, int, bytes], int] = {}
    above: list[tuple[int, bytes, int]] = []  # depth, name and shape of what a line stands in
    for text in data.splitlines(keepends=True):
        match = next((found for grammar in _GRAMMARS if (found := grammar.match(text))), None)
        end = at + len(text)
        if match is None or not (seen or _REF.search(text)):
            use = "said" if not text.strip(b" \t\r\n`") else "other" if seen else "top"
            yield Line(at, end, 0, b"", b"", use)
        else:
            seen = True
            depth, role = len(match[1]), match[2].lower()
            name = (match[3] or match[4] or b"").strip().lower()
            while above and above[-1][0] >= depth:
                above.pop()
            said = name or _said(text)
            use = _use(role, said, text, bool(name), bool(said) and said in [one for _, one, _ in above[-3:]])
            path = (above[-1][2] if above else 0, depth, role)
            shape = shapes.setdefault(path, len(shapes) + 1)
            above.append((depth, said, shape))
            yield Line(at, end, depth, role, said, use, shape)
        at = end


def _said(text: bytes) -> bytes:
    """Return the text of an element that has no name."""
    match = _SAYS.search(text)
    return text[match.start(1) :].strip().strip(b"\"'").lower() if match else b""


def _use(role: bytes, said: bytes, text: bytes, named: bool, known: bool) -> str:
    """Return what an element is for."""
    if role in CONTROLS:
        return "control"
    if b"[cursor=pointer]" in text and not known:
        return "control"
    if role in HEADINGS and said and not known:
        return "heading"
    if known or not any(char > 0x7F or chr(char).isalnum() for char in said) or role.startswith(b"/"):
        return "bare" if not said else "said"
    if b"<changed>" in text:
        return "changed"
    if role in TEXTS or not named:
        return "text"
    return "around"


def _points(lines: Sequence[Line], asked: Query, data: bytes) -> list[float]:
    """Return what each line is worth: by its use, how often it was there before, how early it is, and what was asked for."""
    points: list[float] = []
    times: dict[tuple[bytes, bytes], int] = {}
    rows: dict[int, int] = {}
    for number, line in enumerate(lines):
        worth = WORTH[line.use] * (1 - FADES * number / len(lines))
        if line.role:
            again = times.get((line.role, line.name), 0)
            times[line.role, line.name] = again + 1
            worth *= 1 / (1 + AGAIN * again) if line.name else UNNAMED
            rows[line.shape] = rows.get(line.shape, 0) + 1
            worth /= 1 + ROW * max(0, rows[line.shape] - ROWS)
        points.append(worth)
    if asked:
        answers = asked.score_in(data, [line.start for line in lines]).tolist()
        points = [worth + ANSWERS * answer for worth, answer in zip(points, answers, strict=True)]
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


def _cheap(data: bytes, lines: Sequence[Line], chosen: set[int]) -> list[int]:
    """Return lines between two chosen ones that are shorter than their marker."""
    return [
        number + 1
        for number in chosen
        if number + 2 in chosen
        and number + 1 not in chosen
        and len(data[lines[number + 1].start : lines[number + 1].end].strip()) <= HOLE
    ]


def _pieces(data: bytes, line: Line) -> list[Span]:
    """Return what is shown of a line: all of it, or of a long one the beginning and its ref."""
    if line.end - line.start <= LONG:
        return [Span(line.start, line.end, line.use)]
    cut = char_before(data, line.start + BEGINNING, line.start)
    ref = data.rfind(_PLAYWRIGHT_REF, cut - len(_PLAYWRIGHT_REF) - 16, line.end)
    if ref >= 0 and ref < cut:  # it is in the way, or already shown
        cut = char_after(data, min(line.end, data.find(b"]", ref) + 1), line.end)
        ref = -1
    ends = data.find(b"]", ref) + 1 if ref >= 0 else 0
    tail = (
        ref if ref >= 0 else line.end - (len(data[line.start : line.end]) - len(data[line.start : line.end].rstrip()))
    )
    if not cut < tail:
        return [Span(line.start, line.end, line.use)]
    rest = line.end if not ends or line.end - ends <= LONG else ends
    return [Span(line.start, cut, line.use, Hidden("chars")), Span(tail, rest, line.use)]


def _missing(line: Line, pieces: Sequence[Span]) -> list[Span]:
    """Return what is not shown of a line that is shown in part."""
    edges = [*(edge for piece in pieces for edge in (piece.start, piece.end)), line.end]
    return [Span(one, two, line.use) for one, two in zip(edges[1::2], edges[2::2], strict=True) if one < two]


def recognise(sample: Sample) -> str:
    """Return "page" if the lines are elements of a browser page, each with a ref; otherwise ""."""
    if not any(mark in sample.head for mark in _MARKS):
        return ""
    return "page" if is_page(sample.lines) else ""
