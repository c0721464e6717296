"""HTML and XML: whole tags, headings, controls, text and what failed; scripts and the many siblings alike come last.

Bounded: an output above MAX_BYTES is read at both ends and around at most MAX_FAILURES places where something failed.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

import stringzilla

from spillover.document.document import OBJECT, TAG, Document, Work
from spillover.kinds.ends import char_before
from spillover.kinds.log.classes import FAILURE_WORDS
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Room, Span, join, largest
from spillover.settings.settings import Call

Token = tuple[int, int, "Element | None", "Element | None"]  # from, to, what it opens, what it stands in or closes
Unit = tuple[int, int, int, str]  # a piece: rank, from, to, why

#: What `Clip.kind` may say.
NAMES = ("html", "xml")
#: An output up to this size is read as a whole. More: more time and memory.
MAX_BYTES = 1 << 22
#: Bytes read at a time, and of each end of a longer output. More: more memory.
BLOCK_BYTES = 1 << 20
#: Places where something failed that are read of a longer output, and bytes around each. More: more time.
MAX_FAILURES, AROUND_BYTES = 32, 1 << 15
#: Comments and CDATA sections that are remembered, to know what begins inside of one. More: more memory.
MAX_COMMENTS = 64
#: Pieces of each rank that is spread all over the output, and of all. More: more work, though fewer fit.
MAX_SPREAD_UNITS, MAX_UNITS = 300, 20_000
#: An element of this many bytes is shown whole or not at all; longer text is cut into pieces of it. More: fewer pieces.
PIECE_BYTES = 600
#: Of more siblings with one name, the first two and the last stand for all. More: longer lists before other parts.
MAX_SIBLINGS = 6
#: Tags whose work is counted together.
TAGS_PER_COUNT = 256
#: Open elements that a closing tag may close. More: more time for tags that are never closed.
MAX_OPEN = 64

_HTML = re.compile(rb"(?i)<(?:!doctype html|html|head|body|div|span|p|table|ul|h[1-6])[\s>]")
_FIRST_TAG = re.compile(rb"<([A-Za-z_][\w:.-]*+)(?=[\s/>])")
#: What leads to a failure in an output too long to be read as a whole.
_FAILURES = (b"<failure", b"<error", b'="fail', b'="FAIL', b'="error', b'="ERROR')
_SUITE = b"<testsuite "
_OPAQUE = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_MARKS = (*_FAILURES, *_OPAQUE, *_OPAQUE.values(), _SUITE)

# One tag, comment, CDATA section or declaration, which is never cut. Linear: what is not closed reaches to the end, and
# so is looked at once; all else is possessive. A tag that fails has been followed to the next < outside of quotes; of
# two tags that begin inside of each other's quotes, the third that does stands where one of them ended, so a byte is
# looked at three times at most.
_TAG = rb"""<[!/]?([A-Za-z_][^\s<>"'/]*+)[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>"""
_CLOSED_TAG = re.compile(_TAG)
_TOKEN = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)|!\[CDATA\[.*?(?:\]\]>|\Z)|\?.*?(?:\?>|\Z)"
    rb"|!DOCTYPE[^<>\[]*+\[(?:[^\]]|\](?!\s*+>))*+(?:\]\s*+>|\Z)|" + _TAG[1:] + rb")",
    re.DOTALL,
)
_SLASH, _DECLARES = b"/!"
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
_FAILED_VALUES = tuple(quote + word for quote in (b'"', b"'") for word in (b"fail", b"err", b"fatal", b"broken"))
#: What a piece is worth showing, the most first.
FRAME, NAMED, FAILED, HEADING, PLAIN, REPEATED, LAST = range(7)


def recognise(sample: Sample) -> str:
    """Return "html" or "xml" for what begins and ends with a tag, and closes its first element or is HTML."""
    head = sample.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    tail = sample.pieces[-1].rstrip()
    first = _FIRST_TAG.search(head) if head.startswith(b"<") and tail.endswith(b">") else None
    if first is None or (head[1:2] not in b"?!" and first.start() != 0):
        return ""
    if sum(piece.count(b"<") for piece in sample.pieces) * 1_000 < sum(map(len, sample.pieces)):
        return ""
    is_declared = head[:9].lower().startswith((b"<?xml", b"<!doctype"))
    may_be_open = is_declared or sample.hint in NAMES or _HTML.match(head) is not None
    while tail.endswith(b"-->"):
        tail = tail[: max(0, tail.rfind(b"<!--"))].rstrip()
    closing = tail[tail.rfind(b"<") :].lower()
    is_closed = closing[:-1].rstrip() == b"</" + first[1].lower()
    if not is_closed and not (may_be_open and closing.startswith(b"</")):
        return ""
    return "html" if sample.hint == "html" or _HTML.search(sample.head) else "xml"


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return text and structure; nothing if this is not markup, or there is no room for it."""
    if not document.blob.read(0, 4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return []
    units: list[Unit] = []
    windows, suites = _read_windows(document)
    for start, end in windows:
        pieces = _read_units(document.blob.read(start, end), document.work, inside=start > 0)
        units += [(rank, start + first, start + last, why) for rank, first, last, why in pieces]
    for start in suites:
        if match := _CLOSED_TAG.match(document.blob.read(start, start + PIECE_BYTES)):
            units.append((NAMED, start, start + match.end(), "encloses what failed"))
    if len(units) < 3:
        return []
    units.sort()
    # Of the first ranks, each spread all over the output, some; of the others, which begin here, all.
    edges = [bisect(units, (rank,)) for rank in (FRAME, NAMED, FAILED, HEADING, HEADING + 1)]
    spread = [unit for low, high in pairwise(edges) for unit in units[low : min(high, low + MAX_SPREAD_UNITS)]]
    spans = [Span(start, end, why) for _, start, end, why in [*spread, *units[edges[-1] :]][:MAX_UNITS]]
    # What could not be shown even if it were nearly alone must not keep out all that comes after it.
    order = [span for span in spans if span.end - span.start <= 2 * PIECE_BYTES or room.fill([span]) <= 0.7]

    def show(count: int) -> list[Span]:
        document.work.spend(OBJECT * count)
        return join(order[:count])

    count = largest(len(order), lambda count: room.fill(show(count)))
    return show(count) if count >= min(3, len(order)) else []


def _read_units(data: bytes, work: Work, *, inside: bool) -> list[Unit]:
    """Return the pieces of a window, each of them shown whole or not at all; it begins and ends outside of any tag."""
    tokens = _read_elements(data, work, inside=inside)
    units: list[Unit] = []
    at = 0
    for start, end, element, owner in tokens:
        if start < at:
            continue
        rank = owner.rank if owner is not None else FRAME
        if at < start and data[at:start].strip():
            units += _cut_pieces(data, (at, at, start, start), rank or PLAIN, "")
        if element is not None and element.parent is not None and _is_piece(data, element):
            units += _cut_pieces(data, (start, end, element.inner_end, element.end), element.rank, element.why)
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
        units += _cut_pieces(data, (at, at, len(data), len(data)), PLAIN, "")
    return _add_space(data, units) if tokens else []


def _add_space(data: bytes, units: Sequence[Unit]) -> list[Unit]:
    """Add the space between units: a line's end goes to what stands before, an indent to what follows."""
    spaced: list[Unit] = []
    at = 0
    for (rank, _, end, why), following in zip(units, [unit[1] for unit in units[1:]] + [len(data)], strict=True):
        last = data.rfind(b"\n", end, following) + 1 or (len(data) if following == len(data) else end)
        spaced.append((rank, at, last, why))
        at = last
    return spaced


def _read_windows(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """Return what to read, each part begun outside of a tag: all, or both ends and failures; and where suites begin."""
    size = document.size
    if size <= MAX_BYTES:
        return [(0, size)], []
    windows: list[tuple[int, int]] = []
    places, suites = _find_failures(document)
    for start, end in places:
        low = max(start, windows[-1][1] if windows else 0)
        data = document.blob.read(low, end)
        first = max(data.find(b"<"), 0) if low else 0
        ends = (match.end() for match in _TOKEN.finditer(data, first) if _is_closed(match[0]))
        last = len(data) if end >= size else max(ends, default=first)  # what is cut off at the end stays out
        if first < last:
            windows.append((low + first, low + last))
    return windows, suites


def _is_closed(token: bytes) -> bool:
    return token.endswith(next((closes for opens, closes in _OPAQUE.items() if token.startswith(opens)), b">"))


def _find_failures(document: Document) -> tuple[list[tuple[int, int]], list[int]]:
    """Return both ends and places where something failed, none begun in a comment or CDATA; and where suites begin."""
    places = [(0, BLOCK_BYTES)]
    suites: dict[int, None] = {}
    comments: list[tuple[int, int]] = []  # and CDATA sections, the last ones
    suite = -1
    opening = b""  # of the comment that is open, and where it begins
    start = 0

    def leave_comments(low: int) -> int:
        if len(comments) == MAX_COMMENTS and comments[0][0] > low:
            return comments[0][0]
        return max([low, *(last for first, last in comments if first < low < last)])

    for base in range(0, document.size, BLOCK_BYTES):
        data = document.blob.read(base, base + BLOCK_BYTES + 16)
        marks = sorted((base + at, mark) for mark in _MARKS for at in _find_all(data, mark) if at < BLOCK_BYTES)
        document.work.spend(OBJECT * len(marks))
        for at, mark in marks:
            if opening:
                if mark == _OPAQUE[opening]:
                    comments = [*comments, (start, at + len(mark))][-MAX_COMMENTS:]
                    opening = b""
            elif mark in _OPAQUE:
                opening = mark
                start = at
            elif mark == _SUITE:
                suite = at
            elif mark in _FAILURES and len(places) <= MAX_FAILURES and at >= BLOCK_BYTES:
                suites.update({suite: None} if suite >= 0 else {})
                if at >= places[-1][1] - AROUND_BYTES // 2:
                    places.append((leave_comments(max(0, at - AROUND_BYTES)), at + AROUND_BYTES))
    return [*places, (leave_comments(document.size - BLOCK_BYTES), document.size)], list(suites)


def _find_all(data: bytes, needle: bytes) -> Iterator[int]:
    at = int(stringzilla.find(data, needle))
    while at >= 0:
        yield at
        at = data.find(needle, at + 1)


def _read_elements(data: bytes, work: Work, *, inside: bool) -> list[Token]:
    """Return the tags of a piece of markup with the elements that they open and close, each with its rank.

    `inside`: the piece is from the middle of an output.
    """
    tokens, elements = _read_tree(data, work, Element(b"", 0, 0, None) if inside else None)
    _mark_failures(data, elements)
    return tokens


class Element:
    """An element, what it is to its siblings, and whether it failed or holds what did."""

    __slots__ = (
        "children",
        "encloses",
        "end",
        "failed",
        "inner_end",
        "inner_start",
        "name",
        "nth",
        "parent",
        "rank",
        "start",
    )

    def __init__(self, name: bytes, start: int, inner_start: int, parent: Element | None) -> None:
        self.name = name
        self.start = start
        self.inner_start = inner_start
        self.parent = parent
        self.inner_end = self.end = inner_start  # where its closing tag begins and ends, once that is known
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
        elif around == REPEATED or (count >= MAX_SIBLINGS and 2 <= self.nth < count - 1):
            self.rank = REPEATED
        elif self.name in _HEADINGS or self.name in _CONTROLS:
            self.rank = HEADING

    @property
    def why(self) -> str:
        name = self.name.decode("utf-8", "replace")
        return f"{name} failed" if self.failed else name


def _is_piece(data: bytes, element: Element) -> bool:
    """Return whether an element is a piece of its own: it is short, or there is nothing but text in it."""
    if element.end == element.inner_start and not data.endswith(b"/>", element.start, element.end):
        return element.name in _VOID
    long = element.end - element.start > PIECE_BYTES
    return (
        not long
        or element.name in _RAW
        or (not element.children and b"<" not in data[element.inner_start : element.inner_end])
    )


def _cut_pieces(data: bytes, edges: tuple[int, int, int, int], rank: int, why: str) -> Iterator[Unit]:
    """Yield text with the tags around it, in pieces if it is long: both ends are worth more than the rest."""
    start, inner_start, inner_end, end = edges
    cuts = [start]
    while end - cuts[-1] > PIECE_BYTES + PIECE_BYTES // 2:
        cut = max(_find_cut(data, max(cuts[-1], inner_start), cuts[-1] + PIECE_BYTES), inner_start)
        if cut >= inner_end or cut <= cuts[-1]:
            break
        cuts.append(cut)
    for first, last in pairwise([*cuts, end]):
        is_end = first == start or last == end
        yield rank if is_end else max(rank, REPEATED), first, last, why if first == start else ""


def _find_cut(data: bytes, low: int, high: int) -> int:
    """Return the best place to cut text: behind a line, a word, or at least a character."""
    for mark in (b"\n", b" "):
        cut = data.rfind(mark, low + (high - low) // 2, high) + 1
        if cut:
            return cut
    return char_before(data, high, low)


def _read_tree(data: bytes, work: Work, root: Element | None) -> tuple[list[Token], list[Element]]:
    """Return tags, comments and the like, and the elements they make; what is never closed ends where it opens."""
    tokens: list[Token] = []
    elements: list[Element] = []
    stack: list[Element] = []
    never_closed: set[bytes] = set()
    matches = _TOKEN.finditer(data)
    while match := next(matches, None):
        start, end = match.span()
        if not len(tokens) % TAGS_PER_COUNT:
            work.spend(TAG * TAGS_PER_COUNT)
        owner = stack[-1] if stack else root
        name = (match[1] or b"").lower()
        if not name or data[start + 1] == _DECLARES:
            tokens.append((start, end, None, owner))
            continue
        if data[start + 1] == _SLASH:
            deepest = max(0, len(stack) - MAX_OPEN)
            place = len(stack) - 1
            while place >= deepest and stack[place].name != name:
                place -= 1
            if place >= deepest:
                owner = stack[place]
                owner.inner_end = start
                owner.end = end
                del stack[place:]
            tokens.append((start, end, None, owner))
            continue
        if stack and stack[-1].name == name and name in _UNCLOSED:
            sibling = stack.pop()
            sibling.inner_end = sibling.end = start
            owner = stack[-1] if stack else root
        element = Element(name, start, end, owner)
        elements.append(element)
        tokens.append((start, end, element, owner))
        if name in _RAW:
            closing = None if name in never_closed else re.compile(rb"(?i)</%b\s*+>" % name).search(data, end)
            if closing is None:
                never_closed.add(name)
            else:
                element.inner_end, element.end = closing.span()
                matches = _TOKEN.finditer(data, element.end)
        elif data[end - 2] != _SLASH and name not in _VOID:
            stack.append(element)
    return tokens, elements


def _mark_failures(data: bytes, elements: Sequence[Element]) -> None:
    """Mark the elements that failed and the elements around them. Words count only where few texts have them."""
    folded = data.lower()
    failed: list[Element] = []
    leaves = [element for element in elements if not element.children and element.inner_end > element.inner_start]
    if any(word in folded for word in FAILURE_WORDS):
        worded = [leaf for leaf in leaves if _FAILED_TEXT.search(data, leaf.inner_start, leaf.inner_end)]
        failed += worded if len(worded) <= max(5, len(leaves) // 20) else []
    may_be_tagged = any(value in folded for value in _FAILED_VALUES)
    for element in elements:
        is_tagged = may_be_tagged and _FAILED_TAG.search(data, element.start, element.inner_start)
        if element.name in _FAILED or is_tagged:
            failed.append(element)
    for element in failed:
        element.failed = True
        parent = element.parent
        while parent is not None and not parent.encloses:
            parent.encloses = True
            parent = parent.parent
    for element in elements:
        if element.encloses and element.parent is not None and 0 < element.end - element.inner_start <= 4 * PIECE_BYTES:
            element.failed = True  # the test that holds a failure, not the failure alone
        element.weigh()
