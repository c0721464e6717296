"""Prose and markdown: headings, first sentences, the names a reader goes on with, the conclusion.

A report, a page fetched from the web, a README. Headings say what it is about, and names say what it found
(files, functions, addresses): a line is worth the names that nothing shown before it has, so that two lines that
say the same are not both shown. Of a long paragraph sentences are chosen, not the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import compress
from operator import itemgetter

from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import FIRST_PIECES, Hidden, Room, Span, join
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("prose",)
#: Bytes of both ends that are read of a longer output. More: more time and memory.
HEAD_BYTES, TAIL_BYTES = 1 << 20, 1 << 15
#: A longer line is a paragraph, of which sentences are shown. More: fewer and longer pieces.
PARAGRAPH_BYTES = 280
#: The conclusion begins this many bytes before the end. More: more of the end is shown.
CONCLUSION_BYTES = 600
#: A hole of this many bytes is cheaper shown than marked. More: fewer markers.
HOLE_BYTES = 28
#: Pieces that may be shown. More: more work, though fewer fit.
MAX_PIECES = 20_000
#: What a marker costs, in bytes: a piece is shown alone only if it is worth that as well. More: longer pieces.
MARKER_BYTES = 32
#: Names of a piece that count. More: long lists of names come first.
MAX_NAMES = 24
#: The share of lines that are headings, items or sentences; with more other lines, whatever follows, it is no prose.
PROSE_SHARE, OTHER_SHARE = 0.6, 0.41

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
#: What makes a word a name: a joint inside it, or a capital behind a small letter. A dash joins only words.
_JOINT = re.compile(rb"[A-Za-z0-9][._/\\:#]++[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]_|_[A-Za-z]")
_FILE = re.compile(rb"[\w)\]-]\.[A-Za-z][A-Za-z0-9]{0,5}+\Z|/\w")
_LINE_NUMBER = re.compile(rb":\d++(?:-\d++)?+\Z")

#: What may stand around a word.
_MARKS = b".,;:!?()\"'*_[]"

#: Points of a piece for what it is, beside its names.
POINTS = {
    "title": 1.2,
    "heading": 0.8,
    "part": 0.6,
    "subhead": 0.4,
    "bold": 0.2,
    "first": 0.45,
    "item": 0.25,
    "row": 0.25,
    "text": 0.2,
    "code": 0.1,
    "end": 0.9,
    "rule": 0.0,
}
#: What headings are called, by the number of # before them.
_HEADINGS = ("bold", "title", "heading", "part", "subhead")
#: Points of a name: a file or an address, an identifier, what only stands in backquotes. More: names before headings.
FILE_POINTS, IDENTIFIER_POINTS, QUOTED_POINTS = 1.0, 0.5, 0.4
#: A name in a block of code has this share of its points. More: code before text.
CODE_SHARE = 0.5
#: Points of a piece that answers the query, on top. More: answers before headings.
ANSWER_POINTS = 1.5


class Piece(Struct, frozen=True):
    """A line, or a sentence of a long one: where it is, what it is, and the names in it."""

    start: int
    end: int
    use: str
    names: tuple[tuple[bytes, float], ...]  # and what each is worth
    line: int  # where its line begins


def recognise(sample: Sample) -> str:
    """Return "prose" for markdown and running text. What has colours was printed by something that ran."""
    head = sample.head
    has_marks = head.count(b"\n##") + head.count(b"\n**") > 1
    if not (has_marks or head.count(b". ") * 400 > len(head)) or b"\x1b" in head:
        return ""
    has_code = any(fence in piece for piece in sample.pieces for fence in FENCES)
    return "prose" if (has_code or not are_too_few(sample.lines)) and is_prose(sample.lines) else ""


def are_too_few(lines: Sequence[bytes]) -> bool:
    """Return whether, by how lines begin, too few are headings, items or sentences; none of them is empty or a fence.

    This rules out most logs, and takes a fifth of the time that `is_prose` does.
    """
    firsts = bytes(map(itemgetter(0), lines))
    left = OTHER_SHARE * len(lines) - len(firsts) + len(firsts.translate(None, _SMALL_BYTES))
    for line in compress(lines, firsts.translate(_IS_DIGIT)) if left >= 0 else ():
        left -= line[1:4].isalnum()
        if left < 0:
            break
    return left < 0


def is_prose(lines: Sequence[bytes]) -> bool:
    """Return whether these lines are markdown or running text: headings, items and sentences, and little else."""
    headings = good = count = sentences = 0
    in_code = False
    for left, line in zip(range(len(lines), 0, -1), lines, strict=True):
        if count - good > OTHER_SHARE * (count + left):
            return False  # whatever the rest is
        first = line[:1]
        if not in_code and (first in _SMALL or (first in _DIGITS and line[1:4].isalnum())):
            count += 1
        elif _FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            count += 1
            heading = line.startswith((b"##", b"**"))
            headings += heading
            sentence = _is_sentence(line)
            sentences += sentence and line.rstrip(b" \"')*_`")[-1:] in (b".", b"!", b"?", b":")
            good += heading or sentence or _ROW.match(line) is not None or (_ITEM.match(line) is not None)
    if count < 8 or good < PROSE_SHARE * count:
        return False
    return headings >= 2 or sentences >= PROSE_SHARE * count


def _is_sentence(line: bytes) -> bool:
    """Return whether a line reads like text: six words or more, most of them of letters, not counting names."""
    if not line.lstrip(b" *_\"'([`")[:1].isupper() and line[:1] != b"`":
        return False
    words = [word.strip(_MARKS) for word in _QUOTED.sub(b"", line).split()]
    words = [word for word in words if word]
    letters = sum(map(bytes.isalpha, words))
    return len(words) >= 6 and letters >= 0.65 * len(words)


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return the pieces worth most, in order; nothing if nothing of it fits."""
    pieces: list[Piece] = []
    ends = document.ends(HEAD_BYTES, TAIL_BYTES)
    for at, data in ends:
        document.work.spend(30 * OBJECT * (data.count(b"\n") + len(data) // 64 + 1))
        pieces += _read_pieces(data, at, is_end=at == ends[-1][0])
    if len(pieces) < 3:
        return []
    query = Query.of(call)
    texts = [document.blob.read(piece.start, piece.end) for piece in pieces] if query else []
    order = _order_pieces(pieces, query.score(texts).tolist() if query else [0.0] * len(pieces))[:MAX_PIECES]

    def show(count: int) -> list[Span]:
        document.work.spend(3 * OBJECT * count)
        return _close(pieces, sorted(order[:count]))

    return room.largest(show, len(order), start=FIRST_PIECES)


def _read_pieces(data: bytes, base: int, *, is_end: bool) -> Iterator[Piece]:
    """Yield lines, and the sentences of long ones."""
    conclusion = len(data.rstrip()) - CONCLUSION_BYTES if is_end else len(data)
    at = 0
    in_code = follows_heading = False
    for line in data.splitlines(keepends=True):
        end = at + len(line)
        is_fence = _FENCE.match(line) is not None
        if not line.strip() or is_fence or _RULE.match(line):
            in_code ^= is_fence
            use = "rule"
        elif in_code:
            use = "code"
        elif _HEADING.match(line):
            use = _HEADINGS[min(len(line) - len(line.lstrip(b"#")), 4)]
            follows_heading = True
        else:
            use = "row" if _ROW.match(line) else "item" if _ITEM.match(line) else "text"
            if use == "text" and _is_sentence(line):
                use = "end" if at >= conclusion else "first" if follows_heading else "text"
            follows_heading = False
        if end - at <= PARAGRAPH_BYTES or use in ("rule", "row"):
            yield Piece(base + at, base + end, use, _find_names(line, use), base + at)
        else:
            yield from _cut_sentences(line, base + at, use)
        at = end


def _cut_sentences(line: bytes, base: int, use: str) -> Iterator[Piece]:
    """Yield the sentences of a long line; without any, pieces of it."""
    at = 0
    edges = []
    for cut in [*(match.end() for match in _SENTENCE.finditer(line)), len(line)]:
        while cut - at > PARAGRAPH_BYTES:  # at a blank, or it is one word
            blank = line.rfind(b" ", at + PARAGRAPH_BYTES // 2, at + PARAGRAPH_BYTES) + 1
            if not blank:
                break
            edges.append((at, blank))
            at = blank
        if at < cut and (cut - at >= PARAGRAPH_BYTES // 6 or cut == len(line)):
            edges.append((at, cut))
            at = cut
    for number, (start, end) in enumerate(edges):
        part_use = use if number == 0 or use in ("code", "end") else "text"
        yield Piece(base + start, base + end, part_use, _find_names(line[start:end], part_use), base)


def _find_names(text: bytes, use: str) -> tuple[tuple[bytes, float], ...]:
    """Return the names in a text with their points: words with a joint, and what stands in backquotes."""
    if use == "rule":
        return ()
    names: dict[bytes, float] = {}
    share = CODE_SHARE if use == "code" else 1.0
    for match in _QUOTED.finditer(text) if use != "code" else ():
        names[match[1]] = QUOTED_POINTS
    for match in _NAME.finditer(text):
        word = match[0].strip(b".:/-#~")
        if _JOINT.search(word):
            place = _LINE_NUMBER.search(word)
            name = word[: place.start()] if place else word
            names[name] = share * (FILE_POINTS if _FILE.search(name) else IDENTIFIER_POINTS)
            if place:
                names[word] = share * QUOTED_POINTS
        if len(names) >= MAX_NAMES:
            break
    return tuple(names.items())


def _order_pieces(pieces: Sequence[Piece], answers: Sequence[float]) -> list[int]:
    """Return the pieces by what each is worth for its length, given the pieces before it. A name counts once."""
    shown_names: set[bytes] = set()

    def score(number: int) -> float:
        piece = pieces[number]
        points = POINTS[piece.use] + sum(points for name, points in piece.names if name not in shown_names)
        return (points + ANSWER_POINTS * answers[number]) / (piece.end - piece.start + MARKER_BYTES)

    heap = [(-score(number), number) for number in range(len(pieces))]
    heapify(heap)
    order = []
    while heap:
        before, number = heappop(heap)
        now = -score(number)
        if now > before:  # some of its names have been shown by now: as often as it has names, at most
            heappush(heap, (now, number))
            continue
        shown_names.update(name for name, _ in pieces[number].names)
        order.append(number)
    return order


def _close(pieces: Sequence[Piece], numbers: Sequence[int]) -> list[Span]:
    """Return the spans of some pieces, in order; a hole that is shorter than its marker is shown."""
    spans: list[Span] = []
    for number, following in zip(numbers, [*numbers[1:], -1], strict=True):
        piece = pieces[number]
        hole = pieces[following].start - piece.end if following > 0 else 0
        # What is hidden between two sentences of one line is marked inside of it.
        is_inline = following > 0 and hole > HOLE_BYTES and piece.line == pieces[following].line
        end = pieces[following].start if 0 < hole <= HOLE_BYTES else piece.end
        spans.append(Span(piece.start, end, piece.use, Hidden("chars") if is_inline else None))
    return join(spans)
