"""Where to look closely in a large output: one pass over all of it for rare words and rare beginnings of lines.

Small cells of the output are compared by the words in them. A word that occurs everywhere says nothing, so the rarer a
word, the more it counts: a thousand times "0 errors" is no news, one "error:" among them is. Memory is a few numbers
per cell and per beginning, whatever the output prints.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
from msgspec import Struct

from spillover.select.log.beginnings import RARE, Beginnings, rare
from spillover.select.log.lines import STAMP
from spillover.select.log.words import CELL, WORDS, Words
from spillover.view.document import Document

Array = Any  # of numpy; its own types say little about what is in one

#: An output up to this size is looked at closely as a whole; of a larger one, this many bytes.
CLOSE = 1 << 19
#: And at most this many lines, however short.
MOST_LINES = 1 << 14
BLOCK = 1 << 20
#: The ends are always looked at: this many bytes of the beginning and of the end.
HEAD, TAIL = CELL, 4 * CELL
#: How far from a cell's edge its lines may begin and end.
EDGE = 1 << 12
#: A word is rare if at most one cell in FEW_CELLS has it, and at most RARE cells.
FEW_CELLS = 24
#: So many cells are weighed at a time: as numbers, their words take eight times the memory.
ROWS = 1 << 12
#: The share of what is looked at closely that may go to rare lines that no word points to.
RARE_SHARE = 0.25


class Scan(Struct, frozen=True):
    """What one pass found."""

    words: Array  # a bit per word, a row per cell
    rare: Sequence[int]  # where lines begin that begin like no others


class Look(Struct, frozen=True):
    """The parts worth a close look, in order, beginning and ending at line ends where lines allow it; and odd lines."""

    pieces: Sequence[tuple[int, int]]
    rare: Sequence[int] = ()  # where lines begin that hold a rare word, or begin like no others


def look(document: Document, start: int, end: int, news: Sequence[int] = ()) -> Look:
    """Return where to look closely in these bytes; `news`: how many lines are new in each cell of the output, if that is known."""
    if end - start <= CLOSE and _lines(document, start, end) <= MOST_LINES:
        return Look([(start, end)])
    seen = scan(document, start, end)
    odd = [*_rare_words(document, seen.words, start, end), *seen.rare]
    cells = len(seen.words)
    points = _points(seen.words)
    if any(news):  # of these, the cells with the most telling words; and of the others, none but the ends
        here = [max(news[(start + cell * CELL) // CELL : (start + cell * CELL) // CELL + 2]) for cell in range(cells)]
        points = [
            (1.0 + point) * (count > 0) + min(count, CELL) / CELL for point, count in zip(points, here, strict=True)
        ]
    chosen = {0, *range(max(0, cells - TAIL // CELL - 1), cells)}
    room = CLOSE // CELL
    for at in seen.rare[: int(room * RARE_SHARE)]:
        chosen.add((at - start) // CELL)
    lines = sum(_lines(document, *_cell(cell, start, end)) for cell in chosen)
    for cell in _strongest_first(points):
        if len(chosen) >= room or points[cell] <= 0 or lines > MOST_LINES:
            break
        if cell not in chosen:
            lines += _lines(document, *_cell(cell, start, end))
            chosen.add(cell)
    edges = [_cell(cell, start, end) for cell in sorted(chosen)]
    whole = _merge([(_line_start(document, a, start), _line_end(document, b, end)) for a, b in edges])
    return Look(_thin(document, whole), odd)


def _cell(number: int, start: int, end: int) -> tuple[int, int]:
    at = start + number * CELL
    return at, min(end, at + CELL)


def _lines(document: Document, start: int, end: int) -> int:
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


def scan(document: Document, start: int, end: int) -> Scan:
    """Look at every block of the bytes once. Blocks are independent, so threads can share them."""
    words = np.zeros((-(-(end - start) // CELL), len(WORDS)), dtype=bool)
    cells = [words[row : row + BLOCK // CELL].reshape(-1) for row in range(0, len(words), BLOCK // CELL)]
    blocks = deque(enumerate(cells))
    skip = _stamp_width(document, start, end)
    parts = [Beginnings(skip) for _ in range(min(4, os.cpu_count() or 1, len(blocks)))]
    section = (start, end)
    _run_together([partial(_look_at_blocks, document, section, blocks, part, len(parts)) for part in parts])
    return Scan(words, rare(parts))


def _look_at_blocks(
    document: Document,
    section: tuple[int, int],
    blocks: deque[tuple[int, Array]],
    beginnings: Beginnings,
    threads: int,
) -> None:
    """Look at blocks until none is left; those who look at them together each take the next one."""
    start, end = section
    words = Words()
    try:
        while True:
            try:
                number, cells = blocks.popleft()
            except IndexError:
                return
            at = start + number * BLOCK
            data = document.blob.read(at, min(at + BLOCK, end))
            cells[words.look(data, len(blocks) * BLOCK // threads)] = True
            beginnings.add(data, at)
    except BaseException:
        blocks.clear()  # nobody wants the others any more
        raise


def _run_together(tasks: Sequence[Callable[[], None]]) -> None:
    """Run tasks at once, the first one here; whatever one raises is raised once all have ended."""
    raised: list[BaseException] = []

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:  # noqa: BLE001  raised below
            raised.append(error)

    # Without `concurrent.futures`, which takes 7 ms to load.
    threads = []
    for task in tasks[1:]:
        thread = threading.Thread(target=run, args=(task,), name="spillover-scan", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads here
            break
        threads.append(thread)
    run(tasks[0])
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def _points(words: Array) -> list[float]:
    """Return how much the words of each cell tell, by how rare they are."""
    cells = len(words)
    having = words.sum(axis=0)
    worth = np.array([log2(cells / count) if count else 0.0 for count in having.tolist()])
    # The last part is the longer one: of few rows, BLAS would add up the words in another order.
    edges = [*range(0, max(1, cells - ROWS + 1), ROWS), cells]
    some = (words[at:upto] @ worth for at, upto in pairwise(edges))
    return [point for points in some for point in points.tolist()]


def _strongest_first(points: Sequence[float]) -> Array:
    return (-np.array(points)).argsort(kind="stable")


def _stamp_width(document: Document, start: int, end: int) -> int:
    """Return how many bytes of every line are a clock, so that the message behind it is compared."""
    middle = (start + end) // 2
    sample = document.blob.read(middle, min(end, middle + EDGE)).split(b"\n")[1:-1]
    widths = [found.end() for line in sample if (found := STAMP.match(line))]
    return min(max(set(widths), key=widths.count), 40) if widths else 0


def _thin(document: Document, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Reduce pieces to both ends of each if together they have too many lines."""
    ends = [np.flatnonzero(np.frombuffer(document.blob.read(a, b), dtype=np.uint8) == 10) + 1 + a for a, b in pieces]
    total = sum(map(len, ends))
    if total <= MOST_LINES:
        return list(pieces)
    thin = []
    for (a, b), lines in zip(pieces, ends, strict=True):
        half = len(lines) * MOST_LINES // total // 2
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
