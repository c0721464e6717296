"""Where to look closely in a large output: one pass over all of it for rare words and rare beginnings of lines.

Small cells of the output are compared by the words in them. A word that occurs everywhere says nothing, so the rarer a
word, the more it counts: a thousand times "0 errors" is no news, one "error:" among them is. Memory is a few numbers
per cell and per beginning, whatever the output prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2

import numpy as np
from msgspec import Struct

from spillover.document.document import Document
from spillover.kinds.log.classes import Array
from spillover.kinds.log.lines import STAMP
from spillover.patterns import PatternSet

WORDS = (
    b"error:", b"Error:", b"ERROR", b"Error", b"error", b"FAIL", b"FAILED", b"Failed", b"failed", b"fail", b"FATAL",
    b"fatal", b"panic", b"Traceback", b"Exception", b"exception", b"Caused by", b"abort", b"Segmentation",
    b"segfault", b"core dumped", b"out of memory", b"cannot ", b"Cannot ", b"undefined", b"xpected", b"ssert",
    b"not found", b"o such ", b"denied", b"refused", b"timed out", b"imeout", b"illed", b"nexpected", b"nable to",
    b"nvalid", b"issing", b"exit code", b"exited with", b"exit status", b"*** [", b"error[", b"not ok",
    b"\xe2\x9c\x97", b"\xe2\x9c\x96", b"\xe2\x9c\x95", b"\xc3\x97", b"\xe2\x97\x8f", b"ismatch", b"onflict",
    b"nresolved", b"nhandled", b"crash", b"UNEXPECTED", b"BUILD FAIL", b"arning:", b"WARN", b"CRITICAL", b"refusing",
    b"rejected", b"violat", b"orrupt", b"deadlock", b"overflow", b"--- FAIL", b"<failure", b"<error",
)  # fmt: skip
PATTERNS = PatternSet([b"".join(b"\\x%02x" % byte for byte in word) for word in WORDS], once=True)
#: The bytes of a cell. Larger: rare words differ less, and fewer places are looked at closely.
CELL_BYTES = 1 << 14
#: An output up to this size is looked at closely as a whole; of a larger one, this many bytes. Larger: slower, less is
#: missed.
CLOSE_BYTES = 1 << 19
#: And at most this many lines, however short.
MAX_LINES = 1 << 14
#: The bytes read at a time. Larger: more memory.
BLOCK_BYTES = 1 << 20
#: Cells of either end, which are always looked at. Larger: fewer places between.
HEAD_CELLS, TAIL_CELLS = 1, 5
#: How far from a cell's edge its lines may begin and end.
EDGE_BYTES = 1 << 12
#: A word is rare if at most one cell in CELLS_PER_RARE has it, and at most MAX_RARE cells; a beginning, if at most
#: MAX_RARE lines have it. Larger: more places count as rare.
CELLS_PER_RARE, MAX_RARE = 24, 2
#: More rare beginnings than these, or more than one in this many lines, mean nothing.
MAX_RARE_STARTS, LINES_PER_RARE_START = 256, 16
#: The share of what is looked at closely that may go to rare lines that no word points to.
RARE_SHARE = 0.25
#: Cells that are weighed at a time: as numbers, their words take eight times the memory.
CELLS_AT_ONCE = 1 << 12
#: Lines are compared by this many bytes at their beginning, hashed into this many places; of a block, at most this many
#: lines.
BEGINNING_BYTES, PLACES, MAX_BEGINNINGS = 16, 1 << 16, 1 << 15
NEWLINE, DIGITS = 0x0A, 0x30  # all bytes from 0x30 to 0x3f count as one
#: A clock in front of a line is at most this wide.
MAX_STAMP_BYTES = 40


class Look(Struct, frozen=True):
    """The parts worth a close look, in order, beginning and ending at line ends where lines allow it; and odd lines."""

    pieces: Sequence[tuple[int, int]]
    rare_starts: Sequence[int] = ()  # where lines begin that hold a rare word, or begin like no others


class Beginnings:
    """How often lines begin alike, digits aside, and where first. `stamp_bytes`: of each line, how many are a clock."""

    def __init__(self, stamp_bytes: int) -> None:
        self.lines = 0
        self.first = np.full(PLACES, np.iinfo(np.int64).max)
        self.counts = np.zeros(PLACES, dtype=np.int64)
        self._stamp_bytes = stamp_bytes

    def add(self, data: bytes, start: int) -> None:
        """Add the lines of a block that stands behind all that were added before."""
        messages = np.frombuffer(data, dtype=np.uint8)[self._stamp_bytes :]
        if len(messages) <= BEGINNING_BYTES:
            return
        text = np.frombuffer(data, dtype=np.uint8)[: len(messages) - BEGINNING_BYTES - 1]
        starts = np.flatnonzero(text == NEWLINE)[:MAX_BEGINNINGS] + 1
        begins = np.lib.stride_tricks.sliding_window_view(messages, BEGINNING_BYTES)[starts]
        begins[begins >> 4 == DIGITS >> 4] = DIGITS
        words = begins.view("<u8")
        places = (_mix(_mix(words[:, 0]) ^ words[:, 1]) & np.uint64(PLACES - 1)).view(np.int64)
        self.lines += len(places)
        new = (self.counts[places] == 0).nonzero()[0][::-1]
        self.first[places[new]] = starts[new] + start  # the first of each stays
        np.add.at(self.counts, places, 1)

    def rare_starts(self) -> list[int]:
        """Return where lines begin that begin like no others, as long as these are few."""
        starts = np.sort(self.first[(self.counts > 0) & (self.counts <= MAX_RARE)])
        is_rare = 0 < len(starts) <= MAX_RARE_STARTS and self.lines > LINES_PER_RARE_START * len(starts)
        return starts.tolist() if is_rare else []


def find_pieces(document: Document, start: int, end: int, news: Sequence[int] = ()) -> Look:
    """Return where to look closely; `news`: how many lines are new in each cell of the output, if known."""
    if end - start <= CLOSE_BYTES and _count_lines(document, start, end) <= MAX_LINES:
        return Look([(start, end)])
    words, rare_starts = scan(document, start, end)
    cells = len(words)
    max_cells = CLOSE_BYTES // CELL_BYTES
    points = _score_cells(words)
    if any(news):  # of these, the cells with the most telling words; and of the others, none but the ends
        numbers = [(start + cell * CELL_BYTES) // CELL_BYTES for cell in range(cells)]
        counts = [max(news[number : number + 2]) for number in numbers]
        points = [
            (1.0 + point) * (count > 0) + min(count, CELL_BYTES) / CELL_BYTES
            for point, count in zip(points, counts, strict=True)
        ]
    selection = {*range(HEAD_CELLS), *range(max(0, cells - TAIL_CELLS), cells)}
    selection |= {(at - start) // CELL_BYTES for at in rare_starts[: int(max_cells * RARE_SHARE)]}
    lines = sum(_count_lines(document, *_cell(cell, start, end)) for cell in selection)
    for cell in (-np.array(points)).argsort(kind="stable").tolist():
        if len(selection) >= max_cells or points[cell] <= 0 or lines > MAX_LINES:
            break
        if cell not in selection:
            lines += _count_lines(document, *_cell(cell, start, end))
            selection.add(cell)
    edges = [_cell(cell, start, end) for cell in sorted(selection)]
    pieces = _merge([(_line_start(document, a, start), _line_end(document, b, end)) for a, b in edges])
    return Look(_thin(document, pieces), [*_rare_words(document, words, start, end), *rare_starts])


def scan(document: Document, start: int, end: int) -> tuple[Array, list[int]]:
    """Return a row of booleans for each cell, a word each, and where lines begin that begin like no others."""
    words = np.zeros((-(-(end - start) // CELL_BYTES), len(WORDS)), dtype=bool)
    beginnings = Beginnings(_stamp_bytes(document, start, end))
    for at in range(start, end, BLOCK_BYTES):
        data = document.blob.read(at, min(at + BLOCK_BYTES, end))
        for offset in range(0, len(data), CELL_BYTES):
            words[(at - start + offset) // CELL_BYTES, find_words(data[offset : offset + CELL_BYTES])] = True
        beginnings.add(data, at)
    return words, beginnings.rare_starts()


def find_words(data: bytes) -> list[int]:
    """Return which of WORDS are in these bytes."""
    numbers: list[int] = []
    PATTERNS.scan(data, lambda number, *_: numbers.append(number))
    return numbers


def _mix(words: Array) -> Array:
    product = words * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(32))


def _cell(number: int, start: int, end: int) -> tuple[int, int]:
    at = start + number * CELL_BYTES
    return at, min(end, at + CELL_BYTES)


def _count_lines(document: Document, start: int, end: int) -> int:
    return document.blob.read(start, end).count(b"\n")


def _rare_words(document: Document, words: Array, start: int, end: int) -> list[int]:
    """Return where lines begin that hold a word which few cells have."""
    counts = words.sum(axis=0)
    is_rare = (counts > 0) & (counts * CELLS_PER_RARE <= len(words)) & (counts <= MAX_RARE)
    starts = set()
    for number in is_rare.nonzero()[0].tolist():
        for cell in words[:, number].nonzero()[0].tolist():
            at, upto = _cell(cell, start, end)
            data = document.blob.read(at, upto)
            starts.add(_line_start(document, at + data.find(WORDS[number]), start))
    return sorted(starts)


def _score_cells(words: Array) -> list[float]:
    """Return how much the words of each cell tell, by how rare they are."""
    cells = len(words)
    worth = np.array([log2(cells / count) if count else 0.0 for count in words.sum(axis=0).tolist()])
    # The last part is the longer one: of few rows, BLAS would add up the words in another order.
    edges = [*range(0, max(1, cells - CELLS_AT_ONCE + 1), CELLS_AT_ONCE), cells]
    parts = (words[at:upto] @ worth for at, upto in pairwise(edges))
    return [point for part in parts for point in part.tolist()]


def _stamp_bytes(document: Document, start: int, end: int) -> int:
    """Return how many bytes of every line are a clock, so that the message behind it is compared."""
    middle = (start + end) // 2
    sample = document.blob.read(middle, min(end, middle + EDGE_BYTES)).split(b"\n")[1:-1]
    widths = [match.end() for line in sample if (match := STAMP.match(line))]
    return min(max(set(widths), key=widths.count), MAX_STAMP_BYTES) if widths else 0


def _thin(document: Document, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Reduce pieces to both ends of each if together they have too many lines."""
    ends = [
        np.flatnonzero(np.frombuffer(document.blob.read(a, b), dtype=np.uint8) == NEWLINE) + 1 + a for a, b in pieces
    ]
    total = sum(map(len, ends))
    if total <= MAX_LINES:
        return list(pieces)
    thin = []
    for (a, b), lines in zip(pieces, ends, strict=True):
        half = len(lines) * MAX_LINES // total // 2
        thin += [(a, int(lines[half])), (int(lines[-1 - half]), b)] if half else [(a, b)]
    return _merge(thin)


def _line_start(document: Document, at: int, least: int) -> int:
    low = max(least, at - EDGE_BYTES)
    newline = document.blob.read(low, at).rfind(b"\n")
    return low + newline + 1 if newline >= 0 else low if low == least else at


def _line_end(document: Document, at: int, high: int) -> int:
    newline = document.blob.read(at - 1, min(high, at + EDGE_BYTES)).find(b"\n")
    return at + newline if newline >= 0 else high if at + EDGE_BYTES >= high else at


def _merge(edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    for a, b in edges:
        if pieces and a <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], b))
        else:
            pieces.append((a, b))
    return pieces
