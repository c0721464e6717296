"""HTML and XML: whole tags, headings, what can be filled or pressed, text and what failed; scripts and the many siblings alike are left out first.

Bounded: an output above WHOLE is looked into at both ends and around at most HITS places where something failed.
"""

from __future__ import annotations

import re

import stringzilla

from spillover.base.work import OBJECT, TAG
from spillover.select.ends import most
from spillover.select.span import Span, join
from spillover.select.tags import CLOSES, OPENS, read_tags
from spillover.select.wanted import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from spillover.base.work import Work
    from spillover.select.span import Fill
    from spillover.select.tags import Elements
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

WHOLE = 1 << 22
BLOCK = 1 << 20
HITS = 32
AROUND = 1 << 15
#: The number of comments and CDATA sections that are remembered, to know what begins inside of one.
RECENT = 64
#: An element up to this size is shown whole or not at all; longer text is cut into pieces of it.
SMALL = 600
#: More siblings of one name than this are too many: the first two and the last one stand for them.
MANY = 6
#: The work for tags is counted for this many at a time.
BATCH = 256
#: A closing tag closes one of this many open elements at most.
DEEP = 64
#: More pieces than these never fit: of each rank that is spread all over the output, and of all.
SPREAD = 300
UNITS = 20_000

# One tag, comment, CDATA section or declaration, which is never cut. Linear: what is not closed reaches to the end, and so
# is looked at once; all else is possessive. A tag that fails has been followed to the next < outside of quotes; of two tags
# that begin inside of each other's quotes, the third that does stands where one of them ended, so a byte is looked at
# three times at most.
_TAG = rb"""<[!/]?([A-Za-z_][^\s<>"'/]*+)[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>"""
_CLOSED = re.compile(_TAG)
_TOKEN = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)|!\[CDATA\[.*?(?:\]\]>|\Z)|\?.*?(?:\?>|\Z)|(!DOCTYPE[^<>\[]*+\[)|" + _TAG[1:] + rb")",
    re.DOTALL,
)
#: How a declaration ends that holds others.
_DECLARED = re.compile(rb"\]\s*+>")
_VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
_UNCLOSED = frozenset(b"li p tr td th dt dd option thead tbody".split())
_RAW = frozenset((b"script", b"style"))
_DROPPED = frozenset((b"script", b"style", b"svg", b"noscript", b"template"))
_HEADINGS = frozenset((b"title", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"caption"))
#: What can be filled or pressed; links are too many to be each worth a heading.
_CONTROLS = frozenset((b"form", b"input", b"button", b"select", b"textarea"))
_FAILED = frozenset((b"failure", b"error", b"failed", b"fail", b"fault", b"faultstring", b"exception"))
_FAILED_TAG = re.compile(
    rb"""(?i)\b(?:status|result|outcome|state|severity|level|class)\s*+=\s*+["'](?:fail|err|fatal|broken)"""
)
# A word is looked at twice from its beginning: \b holds nowhere inside of it.
_FAILED_TEXT = re.compile(
    rb"\b(?:FAIL(?:ED|URE)?|[Ff]ailed|[Ff]ailure|ERROR|[Ee]rror:|\w*Error\b|\w*Exception\b|FATAL|panic)\b"
)
#: Without one of these, neither of the two can match.
_FAILED_WORDS = (b"FAIL", b"ailed", b"ailure", b"ERROR", b"rror", b"Exception", b"FATAL", b"panic")
_FAILED_VALUES = tuple(quote + word for quote in (b'"', b"'") for word in (b"fail", b"err", b"fatal", b"broken"))
#: What leads to a failure in an output too long to be read as a whole.
_NEEDLES = (b"<failure", b"<error", b'="fail', b'="FAIL', b'="error', b'="ERROR')
_SUITE = b"<testsuite "
_OPAQUE = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_MARKS = (*_NEEDLES, *_OPAQUE, *_OPAQUE.values(), _SUITE)

FRAME, NAMED, FAILED, HEADING, PLAIN, REPEATED, LAST = range(7)


class _Declared:
    """Where declarations that hold others end, in some bytes that are looked through from their beginning on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ends = True  # False where none can end any more

    def end(self, match: re.Match[bytes]) -> tuple[int, bytes] | None:
        """Return where the one ends that opens here, or the tag that it is instead, and its name; None where it is neither."""
        ends = _DECLARED.search(self._data, match.end()) if self._ends else None
        if ends:
            return ends.end(), b""
        self._ends = False
        tag = _CLOSED.match(self._data, match.start())  # the bracket may be a character like any other
        return (tag.end(), tag[1]) if tag else None


def _tokens(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where each tag, comment and the like reaches."""
    declared = _Declared(data)
    for match in _TOKEN.finditer(data, at):
        if match.start() < at:  # inside of a declaration
            continue
        end = match.end() if match[1] is None else (declared.end(match) or (0, b""))[0]
        if end:
            yield match.start(), end
            at = end


class _Element:
    """An element, what it is to its siblings, and whether it failed or holds what did."""

    __slots__ = ("children", "encloses", "end", "failed", "inner", "name", "nth", "opened", "parent", "rank", "start")

    def __init__(self, name: bytes, start: int, opened: int, parent: _Element | None) -> None:
        self.name, self.start, self.opened, self.parent = name, start, opened, parent
        self.inner = self.end = opened  # where its closing tag begins and ends, once that is known
        self.children: dict[bytes, int] | None = None  # how many of each name; most elements have none
        self.failed = self.encloses = False
        self.nth = 0
        self.rank = PLAIN
        if parent is not None:
            siblings = parent.children
            if siblings is None:
                parent.children = {name: 1}
            else:
                self.nth = siblings.get(name, 0)
                siblings[name] = self.nth + 1

    def weigh(self) -> None:
        """Settle its rank: by its name, its place among its siblings, and what it stands in, which comes first."""
        parent = self.parent
        around = parent.rank if parent is not None else PLAIN
        count = parent.children[self.name] if parent is not None and parent.children is not None else 1
        if self.failed or around == FAILED:
            self.rank = FAILED
        elif self.name in _DROPPED or around == LAST:
            self.rank = LAST
        elif around == REPEATED or (count >= MANY and 2 <= self.nth < count - 1):
            self.rank = REPEATED
        elif self.name in _HEADINGS or self.name in _CONTROLS:
            self.rank = HEADING

    @property
    def why(self) -> str:
        name = self.name.decode("utf-8", "replace")
        return f"{name} failed" if self.failed else name


if TYPE_CHECKING:
    Array = Any  # of numpy; its own types say little about what is in one
    Token = tuple[int, int, _Element | None, _Element | None]  # from, to, what it opens, what it stands in or closes
    Unit = tuple[int, int, int, str]  # rank, from, to, why


def select(document: Document, fill: Fill, _wanted: Wanted = NOTHING) -> list[Span] | None:
    """Return text and structure; None if this is not markup, or there is no room for it."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    units: list[Unit] = []
    if not document.blob.read(0, 4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return None
    windows, suites = _windows(document)
    for start, end in windows:
        data = document.blob.read(start, end)
        found = _units(data, document.work, inside=start > 0)
        units += [(rank, start + one, start + two, why) for rank, one, two, why in found]
    for start in suites:
        if match := _CLOSED.match(document.blob.read(start, start + SMALL)):
            units.append((NAMED, start, start + match.end(), "encloses what failed"))
    if len(units) < 3:
        return None
    units.sort()
    spread = [[unit for unit in units if unit[0] == rank][:SPREAD] for rank in (FRAME, NAMED, FAILED, HEADING)]
    chosen = [*(unit for group in spread for unit in group), *(unit for unit in units if unit[0] > HEADING)]
    # What could not be shown even if it were nearly alone must not keep out all that comes after it.
    order = [
        unit
        for unit in chosen[:UNITS]
        if unit[2] - unit[1] <= 2 * SMALL or fill([Span(unit[1], unit[2], unit[3])]) <= 0.7
    ]

    def spans(count: int) -> list[Span]:
        document.work.spend(OBJECT * count)
        return join([Span(start, end, why) for _, start, end, why in order[:count]])

    count = most(len(order), lambda count: fill(spans(count)))
    return spans(count) if count >= min(3, len(order)) else None


def _units(data: bytes, work: Work, *, inside: bool) -> list[Unit]:
    """Return the pieces of a window, each of them shown whole or not at all; it begins and ends outside of any tag."""
    tokens = None if inside else _read_by_rules(data, work)
    if tokens is None:
        tokens, elements = _tree(data, work, _Element(b"", 0, 0, None) if inside else None)
        _mark(data, elements)
    units: list[Unit] = []
    at = 0
    for start, end, element, owner in tokens:
        if start < at:
            continue
        rank = owner.rank if owner is not None else FRAME
        if at < start and data[at:start].strip():
            units += _pieces(data, (at, at, start, start), rank or PLAIN, "")
        if element is not None and element.parent is not None and _is_one(data, element):
            units += _pieces(data, (start, end, element.inner, element.end), element.rank, element.why)
            at = element.end
            continue
        about = element or owner
        if data.startswith(b"<!--", start):
            rank = LAST
        elif about is not None:
            around = NAMED if element is not None else FAILED  # which tests failed comes before how
            rank = FRAME if about.parent is None else around if about.encloses else about.rank
        units.append((rank, start, end, "encloses what failed" if rank == NAMED else ""))
        at = end
    if data[at:].strip():
        units += _pieces(data, (at, at, len(data), len(data)), PLAIN, "")
    return _add_space(data, units) if tokens else []


def _is_one(data: bytes, element: _Element) -> bool:
    """Return whether an element is a piece of its own: it is short, or there is nothing but text in it."""
    if element.end == element.opened and not data.endswith(b"/>", element.start, element.end):
        return element.name in _VOID
    long = element.end - element.start > SMALL
    return (
        not long or element.name in _RAW or (not element.children and b"<" not in data[element.opened : element.inner])
    )


def _read_by_rules(data: bytes, work: Work) -> list[Token] | None:
    """Return the tags that are not inside of what is shown whole or not at all; None where markup is not written by the rules."""
    found = read_tags(data, _VOID, _RAW, _UNCLOSED)
    if found is None:
        return None
    import numpy as np

    tags, elements = found
    work.spend(TAG * len(tags.start))
    failed, encloses = _find_failures(data, elements)
    rank = _ranks(elements, failed)
    size, paired = elements.end - elements.start, elements.end > elements.opened
    slashed = np.frombuffer(data, dtype=np.uint8)[elements.opened - 2] == 0x2F
    whole = np.where(paired | slashed, (size <= SMALL) | elements.empty, elements.named(_VOID)) & (elements.parent >= 0)
    # Of what is shown whole, only the first tag is looked at.
    within = np.zeros(len(tags.start) + 1, dtype=np.int32)
    first, last = (tags.kind == OPENS).nonzero()[0], (tags.kind == CLOSES).nonzero()[0]
    within[first[whole] + 1] += 1
    within[last[whole[tags.element[last]]] + 1] -= 1
    within[first[whole & ~paired] + 1] -= 1
    seen = (within[:-1].cumsum() == 0).nonzero()[0]
    made: dict[int, _Element | None] = {-1: None}
    tokens: list[Token] = []
    number = tags.element[seen]
    of_tags = (tags.start[seen], tags.end[seen], tags.kind[seen], number, tags.owner[seen])
    of_elements = (elements.name, elements.inner, elements.end, elements.holds, failed, encloses, rank)
    columns = [column.tolist() for column in (*of_tags, *(column[number] for column in of_elements))]
    for start, end, kind, which, owner, name, inner, upto, holds, fails, around, rated in zip(*columns, strict=True):
        opens = None
        if kind == OPENS:
            opens = made[which] = _Element(elements.names[name], start, end, None)
            opens.parent, opens.inner, opens.end, opens.rank = made[owner], inner, upto, rated
            opens.children, opens.failed, opens.encloses = {b"": 1} if holds else None, fails, around
        tokens.append((start, end, opens, made[owner]))
    return tokens


def _find_failures(data: bytes, elements: Elements) -> tuple[Array, Array]:
    """Return which elements failed, and which hold one that did; as `_mark` has it."""
    import numpy as np

    failed = elements.named(_FAILED)
    leaves = ~elements.holds & (elements.inner > elements.opened)
    if _has_any(data, _FAILED_WORDS):
        worded = np.zeros(len(failed), dtype=bool)
        worded[_holding(_FAILED_TEXT, data, elements.opened, elements.inner)] = True
        worded &= leaves
        if worded.sum() <= max(5, int(leaves.sum()) // 20):
            failed |= worded
    lower = data.lower()
    if _has_any(lower, _FAILED_VALUES):
        failed[_holding(_FAILED_TAG, data, elements.start, elements.opened)] = True
    encloses = np.zeros(len(failed), dtype=bool)
    for number in failed.nonzero()[0].tolist():
        at = int(elements.parent[number])
        while at >= 0 and not encloses[at]:
            encloses[at] = True
            at = int(elements.parent[at])
    size = elements.end - elements.opened
    return failed | (encloses & (elements.parent >= 0) & (size > 0) & (size <= 4 * SMALL)), encloses


def _has_any(data: bytes, words: Sequence[bytes]) -> bool:
    return any(stringzilla.find(data, word) >= 0 for word in words)


def _holding(pattern: re.Pattern[bytes], data: bytes, low: Array, high: Array) -> Array:
    """Return in which of these stretches, which begin in order, there is a match; it is that which began last before it."""
    import numpy as np

    spans = np.array([match.span() for match in pattern.finditer(data)], dtype=np.int64).reshape(-1, 2)
    at = low.searchsorted(spans[:, 0], side="right") - 1
    return at[(at >= 0) & (spans[:, 1] <= high[at])]


def _ranks(elements: Elements, failed: Array) -> Array:
    """Return the rank of each element, as `weigh` has it: those that stand in none first, then those in them, and so on."""
    import numpy as np

    repeated = (elements.alike >= MANY) & (elements.nth >= 2) & (elements.nth < elements.alike - 1)
    repeated &= elements.parent >= 0
    dropped = elements.named(_DROPPED)
    rank = np.where(elements.named(_HEADINGS | _CONTROLS), HEADING, PLAIN)
    for depth in range(int(elements.depth.max(initial=0)) + 1):
        here = (elements.depth == depth).nonzero()[0]
        around = rank[elements.parent[here]] if depth else np.full(len(here), PLAIN)
        own = np.where((around == REPEATED) | repeated[here], REPEATED, rank[here])
        own = np.where(dropped[here] | (around == LAST), LAST, own)
        rank[here] = np.where(failed[here] | (around == FAILED), FAILED, own)
    return rank


def _tree(data: bytes, work: Work, root: _Element | None) -> tuple[list[Token], list[_Element]]:
    """Return tags, comments and the like in order, and the elements they make; what is never closed ends where it opens."""
    tokens: list[Token] = []
    elements: list[_Element] = []
    stack: list[_Element] = []
    open_ended: set[bytes] = set()
    declared = _Declared(data)
    matches = _TOKEN.finditer(data)
    while match := next(matches, None):
        start, at = match.span()
        if not len(tokens) % BATCH:
            work.spend(TAG * BATCH)
        owner = stack[-1] if stack else root
        name = match[2]
        if match.lastindex == 1:
            end = declared.end(match)
            if end is None:
                continue
            at, name = end
            matches = _TOKEN.finditer(data, at)
        second = data[start + 1]
        if not name or second == 0x21:
            tokens.append((start, at, None, owner))
            continue
        name = name.lower()
        if second == 0x2F:
            if stack and stack[-1].name == name:
                owner = stack.pop()
                owner.inner, owner.end = start, at
                tokens.append((start, at, None, owner))
                continue
            place = len(stack) - 1
            least = max(0, len(stack) - DEEP)
            while place >= least and stack[place].name != name:
                place -= 1
            if place >= least:
                stack[place].inner, stack[place].end = start, at
                owner = stack[place]
                del stack[place:]
            tokens.append((start, at, None, owner))
            continue
        if owner is not None and owner.name == name and name in _UNCLOSED:
            owner.inner = owner.end = start
            stack.pop()
            owner = stack[-1] if stack else root
        element = _Element(name, start, at, owner)
        elements.append(element)
        tokens.append((start, at, element, owner))
        if name in _RAW:
            closing = None if name in open_ended else re.compile(rb"(?i)</%b\s*+>" % name).search(data, at)
            if closing is None:
                open_ended.add(name)  # nor is there one behind any later
            else:
                element.inner, element.end = closing.span()
                matches = _TOKEN.finditer(data, element.end)
        elif data[at - 2] != 0x2F and name not in _VOID:
            stack.append(element)
    return tokens, elements


def _mark(data: bytes, elements: Sequence[_Element]) -> None:
    """Mark the elements that failed, and those around them. Words in a text count only where few texts have them."""
    leaves = [element for element in elements if not element.children and element.inner > element.opened]
    worded: list[_Element] = []
    if _has_any(data, _FAILED_WORDS):  # most pages have none of them, and are told at memory speed
        worded = [leaf for leaf in leaves if _FAILED_TEXT.search(data, leaf.opened, leaf.inner)]
    failed = worded if len(worded) <= max(5, len(leaves) // 20) else []
    lower = data.lower()
    tagged = _has_any(lower, _FAILED_VALUES)
    failed += [
        one for one in elements if one.name in _FAILED or (tagged and _FAILED_TAG.search(data, one.start, one.opened))
    ]
    for element in failed:
        element.failed = True
        at = element.parent
        while at is not None and not at.encloses:
            at.encloses = True
            at = at.parent
    for element in elements:
        if element.encloses and element.parent is not None and 0 < element.end - element.opened <= 4 * SMALL:
            element.failed = True  # the test that holds a failure, not the failure alone
        element.weigh()


def _pieces(data: bytes, edges: tuple[int, int, int, int], rank: int, why: str) -> Iterator[Unit]:
    """Yield text with the tags around it, in pieces if it is long: the first and the last are worth more than the others."""
    start, opened, inner, end = edges
    if end - start <= SMALL + SMALL // 2:
        yield rank, start, end, why
        return
    at, cuts = start, []
    while end - at > SMALL + SMALL // 2:
        cut = max(_cut(data, max(at, opened), at + SMALL), opened)
        if cut >= inner or cut <= at:
            break
        cuts.append(cut)
        at = cut
    for one, two in zip([start, *cuts], [*cuts, end], strict=True):
        yield rank if one == start or two == end else max(rank, REPEATED), one, two, why if one == start else ""


def _cut(data: bytes, low: int, high: int) -> int:
    """Return the best place to cut text: behind a line, a word, or at least a character."""
    for mark in (b"\n", b" "):
        cut = data.rfind(mark, low + (high - low) // 2, high) + 1
        if cut:
            return cut
    while high > low and high < len(data) and 0x80 <= data[high] < 0xC0:
        high -= 1
    return high


def _add_space(data: bytes, units: Sequence[Unit]) -> list[Unit]:
    """Add the space between units: a line's end goes to what stands before, an indent to what follows."""
    out: list[Unit] = []
    at = 0
    for (rank, _, end, why), after in zip(units, [unit[1] for unit in units[1:]] + [len(data)], strict=True):
        upto = data.rfind(b"\n", end, after) + 1 or (len(data) if after == len(data) else end)
        out.append((rank, at, upto, why))
        at = upto
    return out


def _windows(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """Return all of an output, or of a long one both ends and what is around failures; each begins outside of any tag."""
    size = document.size
    if size <= WHOLE:
        return [(0, size)], []
    out: list[tuple[int, int]] = []
    wanted, suites = _wanted(document)
    for start, end in wanted:
        low = max(start, out[-1][1] if out else 0)
        data = document.blob.read(low, end)
        first = max(data.find(b"<"), 0) if low else 0
        closed = (upto for since, upto in _tokens(data, first) if _is_closed(data[since:upto]))
        last = len(data) if end >= size else max(closed, default=first)  # what is cut off at the end stays out
        if first < last:
            out.append((low + first, low + last))
    return out, suites


def _is_closed(token: bytes) -> bool:
    return token.endswith(next((closes for opens, closes in _OPAQUE.items() if token.startswith(opens)), b">"))


def _wanted(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """Return both ends and where something failed, none begun in a comment or CDATA; and where the suites around it begin."""
    out = [(0, BLOCK)]
    suites: dict[int, None] = {}
    recent: list[tuple[int, int]] = []  # comments and CDATA sections
    suite, inside, since = -1, b"", 0

    def outside(low: int) -> int:
        if len(recent) == RECENT and recent[0][0] > low:
            return recent[0][0]
        return max([low, *(to for at, to in recent if at < low < to)])

    for base in range(0, document.size, BLOCK):
        data = document.blob.read(base, base + BLOCK + 16)
        marks = sorted((base + at, each) for each in _MARKS for at in _all(data, each) if at < BLOCK)
        document.work.spend(OBJECT * len(marks))
        for at, needle in marks:
            if inside:
                if needle == _OPAQUE[inside]:
                    recent = [*recent, (since, at + len(needle))][-RECENT:]
                    inside = b""
            elif needle in _OPAQUE:
                inside, since = needle, at
            elif needle == _SUITE:
                suite = at
            elif needle in _NEEDLES and len(out) <= HITS and at >= BLOCK:
                suites.update({suite: None} if suite >= 0 else {})
                if at >= out[-1][1] - AROUND // 2:
                    out.append((outside(max(0, at - AROUND)), at + AROUND))
    return [*out, (outside(document.size - BLOCK), document.size)], list(suites)


def _all(data: bytes, needle: bytes) -> Iterator[int]:
    at = int(stringzilla.find(data, needle))
    while at >= 0:
        yield at
        at = data.find(needle, at + 1)
