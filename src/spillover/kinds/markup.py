"""HTML and XML: whole tags, headings, what can be filled or pressed, text and what failed; scripts and the many siblings alike are left out first.

Bounded: an output above WHOLE is looked into at both ends and around at most HITS places where something failed.
"""

from __future__ import annotations

import re
from bisect import bisect
from itertools import pairwise

import stringzilla

from spillover.document.document import OBJECT
from spillover.kinds.elements import (
    CLOSED_TAG,
    FAILED,
    FRAME,
    HEADING,
    LAST,
    NAMED,
    PLAIN,
    SMALL,
    cut_pieces,
    is_one,
    read_elements,
    tokens_of,
)
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Span, join, largest
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("html", "xml")
_HTML = re.compile(rb"(?i)<(?:!doctype html|html|head|body|div|span|p|table|ul|h[1-6])[\s>]")
_FIRST_TAG = re.compile(rb"<([A-Za-z_][\w:.-]*+)(?=[\s/>])")
#: What may stand behind a tag on its line: a comment, or nothing.
_BEHIND = re.compile(rb"[^\S\n]*+(<!--|\n|\Z)")
_COMMENT = (b"<!--", b"-->")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document, Work
    from spillover.kinds.elements import Unit
    from spillover.kinds.selection import Fill

WHOLE = 1 << 22
BLOCK = 1 << 20
HITS = 32
AROUND = 1 << 15
#: The number of comments and CDATA sections that are remembered, to know what begins inside of one.
RECENT = 64
#: More pieces than these never fit: of each rank that is spread all over the output, and of all.
SPREAD = 300
UNITS = 20_000

#: What leads to a failure in an output too long to be read as a whole.
_NEEDLES = (b"<failure", b"<error", b'="fail', b'="FAIL', b'="error', b'="ERROR')
_SUITE = b"<testsuite "
_OPAQUE = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_MARKS = (*_NEEDLES, *_OPAQUE, *_OPAQUE.values(), _SUITE)


def select(document: Document, fill: Fill, _call: Call) -> list[Span] | None:
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
        units += [(rank, start + one, start + two, why) for rank, one, two, why in found] if start else found
    for start in suites:
        if match := CLOSED_TAG.match(document.blob.read(start, start + SMALL)):
            units.append((NAMED, start, start + match.end(), "encloses what failed"))
    if len(units) < 3:
        return None
    units.sort()
    # Of the first ranks, each spread all over the output, some; of the others, which begin here, all.
    edges = [bisect(units, (rank,)) for rank in (FRAME, NAMED, FAILED, HEADING, HEADING + 1)]
    spread = [unit for low, high in pairwise(edges) for unit in units[low : min(high, low + SPREAD)]]
    chosen = [*spread, *units[edges[-1] :]]
    # What could not be shown even if it were nearly alone must not keep out all that comes after it.
    order = [
        unit
        for unit in chosen[:UNITS]
        if unit[2] - unit[1] <= 2 * SMALL or fill([Span(unit[1], unit[2], unit[3])]) <= 0.7
    ]

    def spans(count: int) -> list[Span]:
        document.work.spend(OBJECT * count)
        return join([Span(start, end, why) for _, start, end, why in order[:count]])

    count = largest(len(order), lambda count: fill(spans(count)))
    return spans(count) if count >= min(3, len(order)) else None


def _units(data: bytes, work: Work, *, inside: bool) -> list[Unit]:
    """Return the pieces of a window, each of them shown whole or not at all; it begins and ends outside of any tag."""
    tokens = read_elements(data, work, inside=inside)
    units: list[Unit] = []
    at = 0
    for start, end, element, owner in tokens:
        if start < at:
            continue
        rank = owner.rank if owner is not None else FRAME
        if at < start and data[at:start].strip():
            units += cut_pieces(data, (at, at, start, start), rank or PLAIN, "")
        if element is not None and element.parent is not None and is_one(data, element):
            units += cut_pieces(data, (start, end, element.inner, element.end), element.rank, element.why)
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
        units += cut_pieces(data, (at, at, len(data), len(data)), PLAIN, "")
    return _add_space(data, units) if tokens else []


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
        closed = (upto for since, upto in tokens_of(data, first) if _is_closed(data[since:upto]))
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


def recognise(sample: Sample) -> str:
    """Return "html" or "xml" for what begins and ends with a tag, and closes its first element or is HTML."""
    head, tail = sample.head.removeprefix(b"\xef\xbb\xbf").lstrip(), sample.pieces[-1].rstrip()
    first = _FIRST_TAG.search(head) if head.startswith(b"<") and tail.endswith(b">") else None
    if first is None:
        return ""
    if not re.match(rb"<[?!]", head) and first.start() != 0:
        return ""
    closing = _closes_first(tail, first[1])
    declared = re.match(rb"(?i)<\?xml|<!doctype", head) is not None
    tags = sum(piece.count(b"<") for piece in sample.pieces) * 1_000 >= sum(map(len, sample.pieces))
    hinted = sample.hint in NAMES
    if not tags or not (closing or ((declared or hinted or _HTML.match(head)) and re.search(rb"</\w[^<>]*+>\Z", tail))):
        return ""
    return "html" if sample.hint == "html" or _HTML.search(sample.head) else "xml"


def _closes_first(tail: bytes, name: bytes) -> bool:
    """Return whether an element is closed, with nothing behind it but comments that each end on their line."""
    lines = tail.split(b"\n")
    good = 0  # so many of the last lines are comments, or empty
    while good < len(lines) and _is_comment(lines[-1 - good].strip()):
        good += 1
    # Where the last line ends that is something else.
    since = len(tail) - sum(map(len, lines[len(lines) - good :])) - good
    for match in re.finditer(rb"(?i)</%b\s*+>" % re.escape(name), tail):
        if tail.find(b"\n", match.end(), max(0, since)) >= 0:
            continue
        behind = _BEHIND.match(tail, match.end())
        if behind and (behind[1] != _COMMENT[0] or _ends_line(tail, behind.end())):
            return True
    return False


def _is_comment(line: bytes) -> bool:
    opens, closes = _COMMENT
    return not line or (line.startswith(opens) and line.endswith(closes, len(opens)))


def _ends_line(tail: bytes, at: int) -> bool:
    """Return whether a comment that is open here is closed at the end of its line."""
    end = tail.find(b"\n", at)
    return tail[at : end if end >= 0 else len(tail)].rstrip().endswith(_COMMENT[1])
