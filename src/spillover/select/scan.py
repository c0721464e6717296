"""Where to look closely in a large output: one pass over all of it for rare words and rare beginnings of lines.

Small cells of the output are compared by the words in them. A word that occurs everywhere says nothing, so the rarer a
word, the more it counts: a thousand times "0 errors" is no news, one "error:" among them is. Memory is a few numbers
per cell and per beginning, whatever the output prints.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import log2

from spillover.base.data import dataclass
from spillover.select.arrays import load
from spillover.select.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: An output up to this size is looked at closely as a whole; of a larger one, this many bytes.
CLOSE = 1 << 19
#: And at most this many lines, however short.
MOST_LINES = 1 << 14
CELL = 1 << 14
GROUP = 8 * CELL
BLOCK = 1 << 20
#: The ends are always looked at: this many bytes of the beginning and of the end.
HEAD, TAIL = CELL, 4 * CELL
#: How far from a cell's edge its lines may begin and end.
EDGE = 1 << 12
#: Beginnings of lines are compared by two words of eight bytes, hashed into this many places.
PLACES = 1 << 16
#: The number of lines of a block that are looked at.
MOST_BEGINNINGS = 1 << 15
#: A beginning is rare if at most RARE lines have it; with more than MANY_RARE rare ones, it means nothing.
RARE, MANY_RARE = 2, 256
#: A word is rare if at most one cell in FEW_CELLS has it, and at most RARE cells.
FEW_CELLS = 24
#: So many cells are weighed at a time: as numbers, their words take eight times the memory.
ROWS = 1 << 12
#: The share of what is looked at closely that may go to rare lines that no word points to.
RARE_SHARE = 0.25

WORDS = (
    b"error:", b"Error:", b"ERROR", b"Error", b"error", b"FAIL", b"FAILED", b"Failed", b"failed", b"fail", b"FATAL", b"fatal",
    b"panic", b"Traceback", b"Exception", b"exception", b"Caused by", b"abort", b"Segmentation", b"segfault", b"core dumped",
    b"out of memory", b"cannot ", b"Cannot ", b"undefined", b"xpected", b"ssert", b"not found", b"o such ", b"denied",
    b"refused", b"timed out", b"imeout", b"illed", b"nexpected", b"nable to", b"nvalid", b"issing", b"exit code", b"exited with",
    b"exit status", b"*** [", b"error[", b"not ok", b"\xe2\x9c\x97", b"\xe2\x9c\x96", b"\xe2\x9c\x95", b"\xc3\x97", b"\xe2\x97\x8f",
    b"ismatch", b"onflict", b"nresolved", b"nhandled", b"crash", b"UNEXPECTED", b"BUILD FAIL", b"arning:", b"WARN", b"CRITICAL",
    b"refusing", b"rejected", b"violat", b"orrupt", b"deadlock", b"overflow", b"--- FAIL", b"<failure", b"<error",
)  # fmt: skip
ENGINE = Engine([b"".join(b"\\x%02x" % byte for byte in word) for word in WORDS], once=True)


@dataclass(frozen=True, slots=True)
class Scan:
    """What one pass found."""

    words: Array  # a bit per word, a row per cell
    rare: Sequence[int]  # where lines begin that begin like no others
    lines: int


@dataclass(frozen=True, slots=True)
class Look:
    """The parts worth a close look, in order, beginning and ending at line ends where lines allow it; and odd lines."""

    pieces: Sequence[tuple[int, int]]
    rare: Sequence[int] = ()  # where lines begin that hold a rare word, or begin like no others


def look(document: Document, start: int, end: int, news: Sequence[int] = ()) -> Look:
    """Return where to look closely in these bytes; `news`: how many lines are new in each cell of the output, if that is known."""
    if end - start <= CLOSE and _lines(document, start, end) <= MOST_LINES:
        return Look([(start, end)])
    seen = scan(document, start, end)
    rare = [*_rare_words(document, seen.words, start, end), *seen.rare]
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
    return Look(_thin(document, whole), rare)


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
    import os
    from collections import deque

    load()
    import numpy as np

    blocks = deque((at, min(at + BLOCK, end)) for at in range(start, end, BLOCK))
    skip = _stamp_width(document, start, end)
    words = np.zeros((-(-(end - start) // CELL), len(WORDS)), dtype=bool)
    parts = [_Part(words, start) for _ in range(min(4, os.cpu_count() or 1, len(blocks)))]
    _run_together([partial(_look_at_blocks, document, blocks, skip, part) for part in parts])
    counts = sum(part.counts for part in parts)
    first = np.minimum.reduce([part.first for part in parts])
    lines = sum(part.lines for part in parts)
    rare = np.sort(first[(counts > 0) & (counts <= RARE)])
    few = rare.tolist() if 0 < len(rare) <= MANY_RARE and lines > 16 * len(rare) else []
    return Scan(words, few, lines)


class _Part:
    """What one thread has found: in the table of all words, and of its own lines how often they begin alike, and where first."""

    def __init__(self, words: Array, start: int) -> None:
        import numpy as np

        self.words, self.start, self.lines = words, start, 0
        self.counts = np.zeros(PLACES, dtype=np.int64)
        self.first = np.full(PLACES, np.iinfo(np.int64).max)

    def add(self, at: int, bits: Array, places: Array, offsets: Array) -> None:
        """Add a block that stands behind all that were added before."""
        import numpy as np

        row = (at - self.start) // CELL
        self.words[row : row + len(bits)] = bits
        self.lines += len(places)
        new = self.counts[places] == 0
        self.first[places[new][::-1]] = offsets[new][::-1]  # the first of each stays
        self.counts += np.bincount(places, minlength=PLACES)


def _look_at_blocks(document: Document, blocks: deque[tuple[int, int]], skip: int, part: _Part) -> None:
    """Look at blocks until none is left; those who look at them together each take the next one."""
    try:
        while True:
            try:
                at, upto = blocks.popleft()
            except IndexError:
                return
            data = document.blob.read(at, upto)
            part.add(at, _words(data), *_beginnings(data, at, skip))
    except BaseException:
        blocks.clear()  # nobody wants the others any more
        raise


def _run_together(tasks: Sequence[Callable[[], None]]) -> None:
    """Run tasks at once, the first one here; whatever one raises is raised once all have ended."""
    import threading

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


def _words(data: bytes) -> Array:
    """Return which words occur in each cell."""
    import numpy as np

    view, hits, before = memoryview(data), list[int](), 0

    def found(number: int, _start: int, _end: int, _flags: int, _context: object) -> None:
        hits.append(before + number)

    # Where nothing is found, few calls are quicker than many; where the cells before had something, so will these.
    closely = False
    for group in range(0, len(data), GROUP):
        known = len(hits)
        if not closely:
            ENGINE.scan(view[group : group + GROUP], found)
            closely = len(hits) > known
            del hits[known:]
        if closely:
            for start in range(group, min(group + GROUP, len(data)), CELL):
                before = start // CELL * len(WORDS)
                ENGINE.scan(view[start : start + CELL], found)
            closely = len(hits) > known
    table = np.zeros((-(-len(data) // CELL), len(WORDS)), dtype=bool)
    table.ravel()[hits] = True
    return table


def _points(words: Array) -> list[float]:
    """Return how much the words of each cell tell, by how rare they are."""
    import numpy as np

    cells = len(words)
    having = words.sum(axis=0)
    worth = np.array([log2(cells / count) if count else 0.0 for count in having.tolist()])
    # The last part is the longer one: of few rows, BLAS would add up the words in another order.
    edges = [*range(0, max(1, cells - ROWS + 1), ROWS), cells]
    some = (words[at:upto] @ worth for at, upto in pairwise(edges))
    return [point for points in some for point in points.tolist()]


def _strongest_first(points: Sequence[float]) -> Array:
    import numpy as np

    return (-np.array(points)).argsort(kind="stable")


def _beginnings(data: bytes, start: int, skip: int) -> tuple[Array, Array]:
    """Return how each line of a block begins, hashed, with digits made equal; and where it begins."""
    import numpy as np

    whole = len(data) - 16 - skip
    if whole <= 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    starts = _newlines(data) + 1
    starts = starts[: min(int(starts.searchsorted(whole)), MOST_BEGINNINGS)]
    every = np.ndarray((whole,), dtype="V16", buffer=data, offset=skip, strides=(1,))
    words = _without_digits(every[starts].view("<u8"))
    total = _mix(words[::2])
    total = _mix(total ^ words[1::2])
    return (total & np.uint64(PLACES - 1)).view(np.int64), start + starts


def _newlines(data: bytes) -> Array:
    """Return where newlines are: eight bytes at a time first, of which few have one."""
    import numpy as np

    found = np.frombuffer(data, dtype=np.uint8) == 10
    whole = len(found) & ~7
    eights = found[:whole].view(np.uint64)
    some = (eights != 0).nonzero()[0]
    places = eights[some].view(bool).nonzero()[0]
    rest = whole + found[whole:].nonzero()[0]
    return np.concatenate(((some[places >> 3] << 3) + (places & 7), rest))


def _mix(words: Array) -> Array:
    import numpy as np

    mixed = words * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _without_digits(words: Array) -> Array:
    """Replace bytes from 0x30 to 0x3f by 0x30, eight bytes at a time."""
    import numpy as np

    other = words ^ np.uint64(0x3030303030303030)
    other >>= np.uint64(4)
    other &= np.uint64(0x0F0F0F0F0F0F0F0F)  # 0 for those bytes
    other += np.uint64(0x0F0F0F0F0F0F0F0F)
    other &= np.uint64(0x1010101010101010)  # a bit for each of the others,
    other -= other >> np.uint64(4)  # which becomes four: their lower halves stay
    other |= np.uint64(0xF0F0F0F0F0F0F0F0)
    other &= words
    return other


def _stamp_width(document: Document, start: int, end: int) -> int:
    """Return how many bytes of every line are a clock, so that the message behind it is compared."""
    from spillover.select.lines import STAMP

    middle = (start + end) // 2
    sample = document.blob.read(middle, min(end, middle + EDGE)).split(b"\n")[1:-1]
    widths = [found.end() for line in sample if (found := STAMP.match(line))]
    return min(max(set(widths), key=widths.count), 40) if widths else 0


def _thin(document: Document, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Reduce pieces to both ends of each if together they have too many lines."""
    import numpy as np

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
