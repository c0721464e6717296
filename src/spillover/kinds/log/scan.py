"""Where to look closely in a large output: one pass over all of it for rare words and rare beginnings of lines.

Small cells of the output are compared by the words in them. A word that occurs everywhere says nothing, so the rarer a
word, the more it counts: a thousand times "0 errors" is no news, one "error:" among them is. Memory is a few numbers
per cell and per beginning, whatever the output prints.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from math import log2

import numpy as np
from msgspec import Struct

from spillover.document.document import Document
from spillover.kinds.log.classes import Array
from spillover.kinds.log.lines import STAMP
from spillover.patterns import PatternSet

WORDS = (
    b"error:", b"Error:", b"ERROR", b"Error", b"error", b"FAIL", b"FAILED", b"Failed", b"failed", b"fail", b"FATAL", b"fatal",
    b"panic", b"Traceback", b"Exception", b"exception", b"Caused by", b"abort", b"Segmentation", b"segfault", b"core dumped",
    b"out of memory", b"cannot ", b"Cannot ", b"undefined", b"xpected", b"ssert", b"not found", b"o such ", b"denied",
    b"refused", b"timed out", b"imeout", b"illed", b"nexpected", b"nable to", b"nvalid", b"issing", b"exit code", b"exited with",
    b"exit status", b"*** [", b"error[", b"not ok", b"\xe2\x9c\x97", b"\xe2\x9c\x96", b"\xe2\x9c\x95", b"\xc3\x97", b"\xe2\x97\x8f",
    b"ismatch", b"onflict", b"nresolved", b"nhandled", b"crash", b"UNEXPECTED", b"BUILD FAIL", b"arning:", b"WARN", b"CRITICAL",
    b"refusing", b"rejected", b"violat", b"orrupt", b"deadlock", b"overflow", b"--- FAIL", b"<failure", b"<error",
)  # fmt: skip
ENGINE = PatternSet([b"".join(b"\\x%02x" % byte for byte in word) for word in WORDS], once=True)
#: The size of a cell, in bytes. More: rare words are told apart less, and fewer places are looked at closely.
CELL = 1 << 14
#: An output up to this size is looked at closely as a whole; of a larger one, this many bytes.
CLOSE = 1 << 19
#: And at most this many lines, however short.
MAX_LINES = 1 << 14
#: An output is read in blocks of this size, which threads share.
BLOCK = 1 << 20
MAX_THREADS = 4
#: Both ends are always looked at: this many cells of them.
HEAD_CELLS, TAIL_CELLS = 1, 5
#: How far from a cell's edge its lines may begin and end.
EDGE = 1 << 12
#: A word is rare if at most one cell in FEW_CELLS has it, and at most RARE cells; a beginning, if at most RARE lines have it.
FEW_CELLS, RARE = 24, 2
#: With more rare beginnings than these, or more than one in so many lines, they mean nothing.
MANY_RARE, FEW_LINES = 256, 16
#: The share of what is looked at closely that may go to rare lines that no word points to.
RARE_SHARE = 0.25
#: So many cells are weighed at a time: as numbers, their words take eight times the memory.
CELLS_AT_ONCE = 1 << 12
#: Lines are compared by so many bytes at their beginning, hashed into so many places; of a block, at most so many lines.
BEGINNING, PLACES, MAX_BEGINNINGS = 16, 1 << 16, 1 << 15
NEWLINE, DIGITS = 0x0A, 0x30  # all bytes from 0x30 to 0x3f are made equal
#: A clock in front of a line is at most this wide.
MAX_STAMP = 40


class Look(Struct, frozen=True):
    """The parts worth a close look, in order, beginning and ending at line ends where lines allow it; and odd lines."""

    pieces: Sequence[tuple[int, int]]
    rare_starts: Sequence[int] = ()  # where lines begin that hold a rare word, or begin like no others


class Beginnings:
    """How often lines begin alike, digits aside, and where first. `skip`: how many bytes of each line are a clock."""

    def __init__(self, skip: int) -> None:
        self.lines = 0
        self.first = np.full(PLACES, np.iinfo(np.int64).max)
        self.counts = np.zeros(PLACES, dtype=np.int64)
        self._skip = skip

    def add(self, data: bytes, start: int) -> None:
        """Add the lines of a block that stands behind all that were added before."""
        behind = np.frombuffer(data, dtype=np.uint8)[self._skip :]
        if len(behind) <= BEGINNING:
            return
        starts = np.flatnonzero(np.frombuffer(data, dtype=np.uint8)[: len(behind) - BEGINNING - 1] == NEWLINE) + 1
        starts = starts[:MAX_BEGINNINGS]
        begins = np.lib.stride_tricks.sliding_window_view(behind, BEGINNING)[starts]
        begins[begins >> 4 == DIGITS >> 4] = DIGITS
        words = begins.view("<u8")
        places = (_mix(_mix(words[:, 0]) ^ words[:, 1]) & np.uint64(PLACES - 1)).view(np.int64)
        self.lines += len(places)
        new = (self.counts[places] == 0).nonzero()[0][::-1]
        self.first[places[new]] = starts[new] + start  # the first of each stays
        np.add.at(self.counts, places, 1)


def find_pieces(document: Document, start: int, end: int, news: Sequence[int] = ()) -> Look:
    """Return where to look closely in these bytes; `news`: how many lines are new in each cell of the output, if known."""
    if end - start <= CLOSE and _count_lines(document, start, end) <= MAX_LINES:
        return Look([(start, end)])
    words, rare = scan(document, start, end)
    cells, room = len(words), CLOSE // CELL
    points = _points(words)
    if any(news):  # of these, the cells with the most telling words; and of the others, none but the ends
        here = [max(news[(start + cell * CELL) // CELL : (start + cell * CELL) // CELL + 2]) for cell in range(cells)]
        points = [
            (1.0 + point) * (count > 0) + min(count, CELL) / CELL for point, count in zip(points, here, strict=True)
        ]
    chosen = {*range(HEAD_CELLS), *range(max(0, cells - TAIL_CELLS), cells)}
    chosen |= {(at - start) // CELL for at in rare[: int(room * RARE_SHARE)]}
    lines = sum(_count_lines(document, *_cell(cell, start, end)) for cell in chosen)
    for cell in (-np.array(points)).argsort(kind="stable").tolist():
        if len(chosen) >= room or points[cell] <= 0 or lines > MAX_LINES:
            break
        if cell not in chosen:
            lines += _count_lines(document, *_cell(cell, start, end))
            chosen.add(cell)
    edges = [_cell(cell, start, end) for cell in sorted(chosen)]
    whole = _merge([(_line_start(document, a, start), _line_end(document, b, end)) for a, b in edges])
    return Look(_thin(document, whole), [*_rare_words(document, words, start, end), *rare])


def scan(document: Document, start: int, end: int) -> tuple[Array, list[int]]:
    """Return a row of booleans for each cell, a word each, and where lines begin that begin like no others.

    Blocks are independent, so threads share them.
    """
    words = np.zeros((-(-(end - start) // CELL), len(WORDS)), dtype=bool)
    blocks = iter(range(start, end, BLOCK))
    skip = _stamp_width(document, start, end)
    parts = [Beginnings(skip) for _ in range(min(MAX_THREADS, os.cpu_count() or 1, -(-(end - start) // BLOCK)))]
    errors: list[BaseException] = []

    def take_blocks(part: Beginnings) -> None:
        try:
            for at in blocks:  # whichever thread is done takes the next one
                if errors:
                    return
                data = document.blob.read(at, min(at + BLOCK, end))
                for offset in range(0, len(data), CELL):
                    words[(at - start + offset) // CELL, find_words(data[offset : offset + CELL])] = True
                part.add(data, at)
        except BaseException as error:  # noqa: BLE001  raised below
            errors.append(error)

    threads = [
        threading.Thread(target=take_blocks, args=(part,), name="spillover-scan", daemon=True) for part in parts[1:]
    ]
    with suppress(RuntimeError):  # no more threads here
        for thread in threads:
            thread.start()
    take_blocks(parts[0])
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    if errors:
        raise errors[0]
    return words, rare_beginnings(parts)


def find_words(data: bytes) -> list[int]:
    """Return which of WORDS are in these bytes."""
    found: list[int] = []
    ENGINE.scan(data, lambda number, *_: found.append(number))
    return found


def rare_beginnings(parts: Sequence[Beginnings]) -> list[int]:
    """Return where lines begin that begin like no others, as long as these are few."""
    counts = sum(part.counts for part in parts)
    first = np.minimum.reduce([part.first for part in parts])
    lines = sum(part.lines for part in parts)
    few = np.sort(first[(counts > 0) & (counts <= RARE)])
    return few.tolist() if 0 < len(few) <= MANY_RARE and lines > FEW_LINES * len(few) else []


def _mix(words: Array) -> Array:
    mixed = words * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


def _cell(number: int, start: int, end: int) -> tuple[int, int]:
    at = start + number * CELL
    return at, min(end, at + CELL)


def _count_lines(document: Document, start: int, end: int) -> int:
    return document.blob.read(start, end).count(b"\n")


def _rare_words(document: Document, words: Array, start: int, end: int) -> list[int]:
    """Return where lines begin that hold a word which few cells have."""
    having = words.sum(axis=0)
    found = set()
    for number in ((having > 0) & (having * FEW_CELLS <= len(words)) & (having <= RARE)).nonzero()[0].tolist():
        for cell in words[:, number].nonzero()[0].tolist():
            at, upto = _cell(cell, start, end)
            data = document.blob.read(at, upto)
            found.add(_line_start(document, at + data.find(WORDS[number]), start))
    return sorted(found)


def _points(words: Array) -> list[float]:
    """Return how much the words of each cell tell, by how rare they are."""
    cells = len(words)
    worth = np.array([log2(cells / count) if count else 0.0 for count in words.sum(axis=0).tolist()])
    # The last part is the longer one: of few rows, BLAS would add up the words in another order.
    edges = [*range(0, max(1, cells - CELLS_AT_ONCE + 1), CELLS_AT_ONCE), cells]
    some = (words[at:upto] @ worth for at, upto in pairwise(edges))
    return [point for points in some for point in points.tolist()]


def _stamp_width(document: Document, start: int, end: int) -> int:
    """Return how many bytes of every line are a clock, so that the message behind it is compared."""
    middle = (start + end) // 2
    sample = document.blob.read(middle, min(end, middle + EDGE)).split(b"\n")[1:-1]
    widths = [found.end() for line in sample if (found := STAMP.match(line))]
    return min(max(set(widths), key=widths.count), MAX_STAMP) if widths else 0


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
    low = max(least, at - EDGE)
    found = document.blob.read(low, at).rfind(b"\n")
    return low + found + 1 if found >= 0 else low if low == least else at


def _line_end(document: Document, at: int, most: int) -> int:
    found = document.blob.read(at - 1, min(most, at + EDGE)).find(b"\n")
    return at + found if found >= 0 else min(most, at + EDGE) if at + EDGE >= most else at


def _merge(edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for a, b in edges:
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out
