"""HTML and XML: whole tags, headings, text and what failed; scripts and the many siblings alike are left out first.

Bounded: an output above WHOLE is looked into at both ends and around at most HITS places where something failed.
"""

from __future__ import annotations

import re

import stringzilla

from spillover.select.ends import most
from spillover.select.span import Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.select.span import Fill
    from spillover.view.document import Document

WHOLE = 1 << 22
BLOCK = 1 << 20
HITS = 32
AROUND = 1 << 15
#: So many comments and CDATA sections are remembered, to know what does not begin inside of one.
RECENT = 64
#: An element up to this size is shown whole or not at all; longer text is cut into pieces of it.
SMALL = 600
#: So many siblings of one name are too many: the first two and the last one stand for them.
MANY = 6
#: A closing tag closes one of so many open elements.
DEEP = 64
#: More pieces than these never fit: of each rank that is spread all over the output, and of all.
SPREAD = 300
UNITS = 20_000

#: One tag, comment, CDATA section or declaration, which is never cut.
TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^<>\[]*+\[.*?\]\s*>"
    rb"""|<[!/]?([A-Za-z_][^\s<>"'/]*)[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>""",
    re.DOTALL,
)
_VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
_UNCLOSED = frozenset(b"li p tr td th dt dd option thead tbody".split())
_RAW = frozenset((b"script", b"style"))
_DROPPED = frozenset((b"script", b"style", b"svg", b"noscript", b"template"))
_HEADINGS = frozenset((b"title", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"caption"))
_FAILED = frozenset((b"failure", b"error", b"failed", b"fail", b"fault", b"faultstring", b"exception"))
_FAILED_TAG = re.compile(
    rb"""(?i)\b(?:status|result|outcome|state|severity|level|class)\s*=\s*["'](?:fail|err|fatal|broken)"""
)
_FAILED_TEXT = re.compile(
    rb"\b(?:FAIL(?:ED|URE)?|[Ff]ailed|[Ff]ailure|ERROR|[Ee]rror:|\w*Error\b|\w*Exception\b|FATAL|panic)\b"
)
#: What leads to a failure in an output too long to be read as a whole.
_NEEDLES = (b"<failure", b"<error", b'="fail', b'="FAIL', b'="error', b'="ERROR')
_SUITE = b"<testsuite "
_OPAQUE = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_MARKS = (*_NEEDLES, *_OPAQUE, *_OPAQUE.values(), _SUITE)

FRAME, NAMED, FAILED, HEADING, PLAIN, REPEATED, LAST = range(7)


class _Element:
    """An element, what it is to its siblings, and whether it failed or holds what did."""

    __slots__ = ("children", "encloses", "end", "failed", "inner", "name", "nth", "opened", "parent", "rank", "start")

    def __init__(self, name: bytes, start: int, opened: int, parent: _Element | None) -> None:
        self.name, self.start, self.opened, self.parent = name, start, opened, parent
        self.inner = self.end = opened  # where its closing tag begins and ends, once that is known
        self.children: dict[bytes, int] = {}
        self.failed = self.encloses = False
        self.nth = 0
        self.rank = PLAIN
        if parent is not None:
            self.nth = parent.children.get(name, 0)
            parent.children[name] = self.nth + 1

    def weigh(self) -> None:
        """Settle its rank: by its name, its place among its siblings, and what it stands in, which comes first."""
        around = self.parent.rank if self.parent else PLAIN
        count = self.parent.children[self.name] if self.parent else 1
        if self.failed or around == FAILED:
            self.rank = FAILED
        elif self.name in _DROPPED or around == LAST:
            self.rank = LAST
        elif around == REPEATED or (count >= MANY and 2 <= self.nth < count - 1):
            self.rank = REPEATED
        elif self.name in _HEADINGS:
            self.rank = HEADING

    @property
    def why(self) -> str:
        name = self.name.decode("utf-8", "replace")
        return f"{name} failed" if self.failed else name


if TYPE_CHECKING:
    Token = tuple[int, int, _Element | None, _Element | None]  # from, to, what it opens, what it stands in or closes
    Unit = tuple[int, int, int, str]  # rank, from, to, why


def select(document: Document, fill: Fill) -> list[Span] | None:
    """Text and structure; None when this is no markup, or there is no room for it."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    units: list[Unit] = []
    if not document.blob.read(0, 4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return None
    windows, suites = _windows(document)
    for start, end in windows:
        data = document.blob.read(start, end)
        units += [(rank, start + one, start + two, why) for rank, one, two, why in _units(data, inside=start > 0)]
    for start in suites:
        if match := TOKEN.match(document.blob.read(start, start + SMALL)):
            units.append((NAMED, start, start + match.end(), "encloses what failed"))
    if len(units) < 3:
        return None
    units.sort()
    spread = [[unit for unit in units if unit[0] == rank][:SPREAD] for rank in (FRAME, NAMED, FAILED, HEADING)]
    chosen = [*(unit for group in spread for unit in group), *(unit for unit in units if unit[0] > HEADING)]
    order = [Span(*unit[1:]) for unit in chosen[:UNITS]]
    # What could not be shown even if it were nearly alone must not keep out all that comes after it.
    order = [span for span in order if span.end - span.start <= 2 * SMALL or fill([span]) <= 0.7]
    count = most(len(order), lambda count: fill(joined(order[:count])))
    return joined(order[:count]) if count >= min(3, len(order)) else None


def _units(data: bytes, *, inside: bool) -> list[Unit]:
    """The pieces of a window, each of them shown whole or not at all; it begins and ends outside of any tag."""
    tokens, elements = _tree(data, _Element(b"", 0, 0, None) if inside else None)
    _mark(data, elements)
    units: list[Unit] = []
    at = 0
    for start, end, element, owner in tokens:
        if start < at:
            continue
        rank = owner.rank if owner is not None else FRAME
        if data[at:start].strip():
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
    return _spaced(data, units) if tokens else []


def _is_one(data: bytes, element: _Element) -> bool:
    """Whether an element is a piece of its own: it is short, or there is nothing but text in it."""
    if element.end == element.opened and not data.endswith(b"/>", element.start, element.end):
        return element.name in _VOID
    long = element.end - element.start > SMALL
    return (
        not long or element.name in _RAW or (not element.children and b"<" not in data[element.opened : element.inner])
    )


def _tree(data: bytes, root: _Element | None) -> tuple[list[Token], list[_Element]]:
    """Tags, comments and the like in order, and the elements they make; what is never closed ends where it opens."""
    tokens: list[Token] = []
    elements: list[_Element] = []
    stack: list[_Element] = []
    open_ended: set[bytes] = set()
    at = 0
    while match := TOKEN.search(data, at):
        start, at = match.span()
        owner = stack[-1] if stack else root
        if match[1] is None or data[start + 1] == 0x21:
            tokens.append((start, at, None, owner))
            continue
        name = match[1].lower()
        if data[start + 1] == 0x2F:
            place = next(
                (
                    place
                    for place in reversed(range(max(0, len(stack) - DEEP), len(stack)))
                    if stack[place].name == name
                ),
                None,
            )
            if place is not None:
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
            closing = None if name in open_ended else re.compile(rb"(?i)</%b\s*>" % name).search(data, at)
            if closing is None:
                open_ended.add(name)  # nor is there one behind any later
            else:
                element.inner, element.end = closing.span()
                at = element.end
        elif data[at - 2] != 0x2F and name not in _VOID:
            stack.append(element)
    return tokens, elements


def _mark(data: bytes, elements: Sequence[_Element]) -> None:
    """Mark the elements that failed, and those around them. Words in a text count only where few texts have them."""
    leaves = [element for element in elements if not element.children and element.inner > element.opened]
    worded = [leaf for leaf in leaves if _FAILED_TEXT.search(data, leaf.opened, leaf.inner)]
    failed = worded if len(worded) <= max(5, len(leaves) // 20) else []
    failed += [one for one in elements if one.name in _FAILED or _FAILED_TAG.search(data, one.start, one.opened)]
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
    """Text with the tags around it, in pieces if it is long: the first and the last are worth more than the others."""
    start, opened, inner, end = edges
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
    """The best place to cut text: behind a line, a word, or at least a character."""
    for mark in (b"\n", b" "):
        cut = data.rfind(mark, low + (high - low) // 2, high) + 1
        if cut:
            return cut
    while high > low and high < len(data) and 0x80 <= data[high] < 0xC0:
        high -= 1
    return high


def _spaced(data: bytes, units: Sequence[Unit]) -> list[Unit]:
    """The same with the space between them: a line's end goes to what stands before, an indent to what follows."""
    out: list[Unit] = []
    at = 0
    for (rank, _, end, why), after in zip(units, [unit[1] for unit in units[1:]] + [len(data)], strict=True):
        upto = data.rfind(b"\n", end, after) + 1 or (len(data) if after == len(data) else end)
        out.append((rank, at, upto, why))
        at = upto
    return out


def _windows(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """All of an output, or of a long one both ends and what is around failures; each begins outside of any tag."""
    size = document.size
    if size <= WHOLE:
        return [(0, size)], []
    out: list[tuple[int, int]] = []
    wanted, suites = _wanted(document)
    for start, end in wanted:
        low = max(start, out[-1][1] if out else 0)
        data = document.blob.read(low, end)
        first = max(data.find(b"<"), 0) if low else 0
        closed = (match.end() for match in TOKEN.finditer(data, first) if _is_closed(match[0]))
        last = len(data) if end >= size else max(closed, default=first)  # what is cut off at the end stays out
        if first < last:
            out.append((low + first, low + last))
    return out, suites


def _is_closed(token: bytes) -> bool:
    return token.endswith(next((closes for opens, closes in _OPAQUE.items() if token.startswith(opens)), b">"))


def _wanted(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """Both ends and where something failed, none begun in a comment or CDATA; and where the suites around it begin."""
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
        for at, needle in sorted((base + at, each) for each in _MARKS for at in _all(data, each) if at < BLOCK):
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
