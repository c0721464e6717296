"""Prose and markdown: headings, first sentences, the names a reader goes on with, the conclusion; less of more places.

A report, a page fetched from the web, a README. What it is about is told by its headings, and what it found by the names in
it (files, functions, addresses): a line is worth the names that nothing shown before it has, so that two lines that say the
same are not both shown. Of a long paragraph sentences are chosen, not the whole.
Bounded: of an output above WHOLE, the beginning and the last LAST bytes are looked at.
"""

from __future__ import annotations

import re
from heapq import heapify, heappop, heappush
from itertools import compress
from operator import itemgetter

from msgspec import Struct

from spillover.document.document import OBJECT
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import FIRST_PIECES, Hidden, Span, join, largest
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("prose",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

WHOLE = 1 << 20
LAST = 1 << 15
#: A longer line is a paragraph, of which sentences are shown.
PARAGRAPH = 280
#: A hole up to this many bytes is cheaper shown than marked.
HOLE = 28
#: More pieces than these never fit.
UNITS = 20_000
#: What a marker costs, in bytes: a piece is shown alone only if it is worth that, too.
MARK = 32
#: A piece has at most so many names that count.
MAX_NAMES = 24
#: The share of lines that are headings, items or sentences; with so many others, whatever follows, it is no prose.
GOOD, BAD = 0.6, 0.41

# Matched where a line begins; every quantifier is possessive.
_HEADING = re.compile(rb"#{1,6} \S|(?:\d++\. )?\*\*[^*\n]++\*\*:?\s*+\Z")
_ITEM = re.compile(rb"\s*+(?:[-*+\xe2]|\d{1,3}[.)]) ++\S")
_ROW = re.compile(rb"\s*+\|")
_RULE = re.compile(rb"\s*+(?:[-=*_]{3,}+|\|[-:| ]++)\s*+\Z")
#: A line that begins with one of these is no heading, no item, no row and no sentence.
_SMALL_BYTES = b"abcdefghijklmnopqrstuvwxyz/=<"
_SMALL = frozenset(bytes([byte]) for byte in _SMALL_BYTES)
#: Nor is one that begins with more digits than items have.
_DIGITS = frozenset(bytes([byte]) for byte in b"0123456789")
_IS_DIGIT = bytes(byte in b"0123456789" for byte in range(256))
FENCES = (b"```", b"~~~")
_FENCE = re.compile(rb"\s*+(?:```|~~~)")
#: Where a sentence ends: a mark, a blank, and something that begins one.
_SENTENCE = re.compile(rb"[.!?:;][)\"'*`\]]?+ (?=[A-Z\"'`*(\[\d])")
_QUOTED = re.compile(rb"`([^`\n]{2,80}+)`")
_NAME = re.compile(rb"[\w$@./\\:#~-]{3,}+")
#: What makes a word a name: a joint inside it, or a capital behind a small letter. Words joined by a dash are only words.
_JOINT = re.compile(rb"[A-Za-z0-9][._/\\:#]++[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]_|_[A-Za-z]")
_FILE = re.compile(rb"[\w)\]-]\.[A-Za-z][A-Za-z0-9]{0,5}+\Z|/\w")
_LINE_NUMBER = re.compile(rb":\d++(?:-\d++)?+\Z")

#: What may stand around a word.
_MARKS = b".,;:!?()\"'*_[]"

#: What a piece is worth for what it is, beside its names.
WORTH = {
    "title": 1.2, "heading": 0.8, "part": 0.6, "subhead": 0.4, "bold": 0.2, "first": 0.45, "item": 0.25, "row": 0.25, "text": 0.2, "code": 0.1,
    "end": 0.9, "rule": 0.0,
}  # fmt: skip
#: What headings are called, by the number of # before them.
_HEADINGS = ("bold", "title", "heading", "part", "subhead")
#: What a name is worth: a file or an address, an identifier, what only stands in backquotes; and in a piece of code.
FILE, IDENTIFIER, QUOTED = 1.0, 0.5, 0.4
CODED = 0.5
#: What a piece that answers a query is worth on top.
ANSWERS = 1.5


class Piece(Struct, frozen=True):
    """A line, or a sentence of a long one: where it is, what it is, and the names in it."""

    start: int
    end: int
    use: str
    names: tuple[tuple[bytes, float], ...]  # and what each is worth
    line: int  # where its line begins


def are_too_few(lines: Sequence[bytes]) -> bool:
    """Return whether, by how lines begin, too few are headings, items or sentences; none of them is empty or a fence.

    Most logs are told by this, which takes a fifth of the time that `is_prose` does.
    """
    firsts = bytes(map(itemgetter(0), lines))
    left = BAD * len(lines) - len(firsts) + len(firsts.translate(None, _SMALL_BYTES))
    for line in compress(lines, firsts.translate(_IS_DIGIT)) if left >= 0 else ():
        left -= line[1:4].isalnum()
        if left < 0:
            break
    return left < 0


def is_prose(lines: Sequence[bytes]) -> bool:
    """Return whether these lines are markdown or running text: headings, items and sentences, and little else."""
    headings = good = count = ended = 0
    fenced = False
    for left, line in zip(range(len(lines), 0, -1), lines, strict=True):
        if count - good > BAD * (count + left):
            return False  # whatever the rest is
        first = line[:1]
        if not fenced and (first in _SMALL or (first in _DIGITS and line[1:4].isalnum())):
            count += 1
        elif _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            count += 1
            heading = line.startswith((b"##", b"**"))
            headings += heading
            sentence = _is_sentence(line)
            ended += sentence and line.rstrip(b" \"')*_`")[-1:] in (b".", b"!", b"?", b":")
            good += heading or sentence or _ROW.match(line) is not None or (_ITEM.match(line) is not None)
    if count < 8 or good < GOOD * count:
        return False
    return headings >= 2 or ended >= GOOD * count


def _is_sentence(line: bytes) -> bool:
    """Return whether a line reads like text: six words or more, most of them of letters; names in backquotes do not count."""
    if not line.lstrip(b" *_\"'([`")[:1].isupper() and line[:1] != b"`":
        return False
    words = [word.strip(_MARKS) for word in _QUOTED.sub(b"", line).split()]
    words = [word for word in words if word]
    letters = sum(map(bytes.isalpha, words))
    return len(words) >= 6 and letters >= 0.65 * len(words)


def select(document: Document, fill: Fill, call: Call) -> list[Span] | None:
    """Return the pieces worth most, in order; None if nothing of it fits."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    pieces = list(_read(document))
    if len(pieces) < 3:
        return None
    asked = Query.of(call)
    answers: Sequence[float] = ()
    if asked:
        answers = asked.score([document.blob.read(piece.start, piece.end) for piece in pieces]).tolist()
    order = _order(pieces, answers)[:UNITS]

    def spans(count: int) -> list[Span]:
        document.work.spend(3 * OBJECT * count)
        return _close(pieces, sorted(order[:count]))

    count = largest(len(order), lambda count: fill(spans(count)), start=FIRST_PIECES)
    return spans(count) if count else None


def _read(document: Document) -> Iterator[Piece]:
    """Yield the pieces of an output, or of the beginning and the end of a long one."""
    size = document.size
    data = document.blob.read(0, min(size, WHOLE))
    if len(data) < size:
        data = data[: data.rfind(b"\n") + 1] or data
    document.work.spend(30 * OBJECT * (data.count(b"\n") + len(data) // 64 + 1))
    yield from _pieces(data, 0, last=len(data) == size)
    if len(data) < size:
        since = max(len(data), size - LAST)
        tail = document.blob.read(since, size)
        cut = tail.find(b"\n") + 1 or len(tail)
        yield from _pieces(tail[cut:], since + cut, last=True)


def _pieces(data: bytes, base: int, *, last: bool) -> Iterator[Piece]:
    """Yield lines, and the sentences of long ones."""
    ends = len(data.rstrip()) - 600 if last else len(data)  # the conclusion begins about here
    at, fenced, first = 0, False, False
    for line in data.splitlines(keepends=True):
        end = at + len(line)
        fence = _FENCE.match(line) is not None
        if not line.strip() or fence or _RULE.match(line):
            fenced ^= fence
            use = "rule"
        elif fenced:
            use = "code"
        elif _HEADING.match(line):
            use, first = _HEADINGS[min(len(line) - len(line.lstrip(b"#")), 4)], True
        else:
            kind = "row" if _ROW.match(line) else "item" if _ITEM.match(line) else "text"
            sentence = kind == "text" and _is_sentence(line)
            use, first = "end" if sentence and at >= ends else "first" if first and sentence else kind, False
        if end - at <= PARAGRAPH or use in ("rule", "row"):
            yield Piece(base + at, base + end, use, _names(line, use), base + at)
        else:
            yield from _sentences(line, base + at, use)
        at = end


def _sentences(line: bytes, base: int, use: str) -> Iterator[Piece]:
    """Yield the sentences of a long line; without any, pieces of it."""
    cuts = [match.end() for match in _SENTENCE.finditer(line)]
    at, edges = 0, []
    for cut in [*cuts, len(line)]:
        while cut - at > PARAGRAPH:  # at a blank, or it is one word
            blank = line.rfind(b" ", at + PARAGRAPH // 2, at + PARAGRAPH) + 1
            if not blank:
                break
            edges.append((at, blank))
            at = blank
        if cut - at >= PARAGRAPH // 6 or cut == len(line):
            edges.append((at, cut))
            at = cut
    for number, (start, end) in enumerate(edge for edge in edges if edge[0] < edge[1]):
        what = use if number == 0 or use in ("code", "end") else "text"
        yield Piece(base + start, base + end, what, _names(line[start:end], what), base)


def _names(text: bytes, use: str) -> tuple[tuple[bytes, float], ...]:
    """Return the names in a text and what each is worth: words with a joint, and what stands in backquotes."""
    if use == "rule":
        return ()
    found: dict[bytes, float] = {}
    share = CODED if use == "code" else 1.0
    for match in _QUOTED.finditer(text) if use != "code" else ():
        found[match[1]] = QUOTED
    for match in _NAME.finditer(text):
        word = match[0].strip(b".:/-#~")
        if _JOINT.search(word):
            place = _LINE_NUMBER.search(word)
            bare = word[: place.start()] if place else word
            found[bare] = share * (FILE if _FILE.search(bare) else IDENTIFIER)
            if place:
                found[word] = share * QUOTED
        if len(found) >= MAX_NAMES:
            break
    return tuple(found.items())


def _order(pieces: Sequence[Piece], answers: Sequence[float]) -> list[int]:
    """Return the pieces by what each is worth for its length, given those before it. A name counts once."""
    known: set[bytes] = set()

    def worth(number: int) -> float:
        piece = pieces[number]
        points = WORTH[piece.use] + sum(worth for name, worth in piece.names if name not in known)
        if answers:
            points += ANSWERS * answers[number]
        return points / (piece.end - piece.start + MARK)

    heap = [(-worth(number), number) for number in range(len(pieces))]
    heapify(heap)
    order = []
    while heap:
        was, number = heappop(heap)
        now = -worth(number)
        if now > was:  # some of its names have been shown by now: as often as it has names, at most
            heappush(heap, (now, number))
            continue
        known.update(name for name, _ in pieces[number].names)
        order.append(number)
    return order


def _close(pieces: Sequence[Piece], chosen: Sequence[int]) -> list[Span]:
    """Return the spans of some pieces, in order; a hole that is shorter than its marker is shown."""
    spans: list[Span] = []
    for number, after in zip(chosen, [*chosen[1:], -1], strict=True):
        piece = pieces[number]
        hole = pieces[after].start - piece.end if after > 0 else 0
        # What is hidden between two sentences of one line is marked inside of it.
        inline = piece.line == pieces[after].line if after > 0 else False
        end = pieces[after].start if 0 < hole <= HOLE else piece.end
        spans.append(Span(piece.start, end, piece.use, Hidden("chars") if inline and hole > HOLE else None))
    return join(spans)


def recognise(sample: Sample) -> str:
    """Return "prose" for markdown and running text. What has colours was printed by something that ran."""
    head = sample.head
    marked = head.count(b"\n##") + head.count(b"\n**") > 1
    if not (marked or head.count(b". ") * 400 > len(head)) or b"\x1b" in head:
        return ""
    fenced = any(fence in piece for piece in sample.pieces for fence in FENCES)
    return "prose" if (fenced or not are_too_few(sample.lines)) and is_prose(sample.lines) else ""
