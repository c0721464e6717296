"""Which telling words each cell of a large output has.

One table of all words is run over many cells at once. Few cells have any word; where one is found, it is looked for in each of those cells. Words that every cell has, over and over, would hold up the
table at each: they are taken out of it, and are soon found in each cell.
"""

from __future__ import annotations

import stringzilla

from spillover.select.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

CELL = 1 << 14
GROUP = 8 * CELL
#: With more words than these in a group, the next group is looked at cell by cell.
FEW = 2
#: Compiling a smaller table takes as long as so many matches; and so many words are left out of it at most.
WORTH, MOST_COMMON = 100_000, 12

WORDS = (
    b"error:", b"Error:", b"ERROR", b"Error", b"error", b"FAIL", b"FAILED", b"Failed", b"failed", b"fail", b"FATAL", b"fatal",
    b"panic", b"Traceback", b"Exception", b"exception", b"Caused by", b"abort", b"Segmentation", b"segfault", b"core dumped",
    b"out of memory", b"cannot ", b"Cannot ", b"undefined", b"xpected", b"ssert", b"not found", b"o such ", b"denied",
    b"refused", b"timed out", b"imeout", b"illed", b"nexpected", b"nable to", b"nvalid", b"issing", b"exit code", b"exited with",
    b"exit status", b"*** [", b"error[", b"not ok", b"\xe2\x9c\x97", b"\xe2\x9c\x96", b"\xe2\x9c\x95", b"\xc3\x97", b"\xe2\x97\x8f",
    b"ismatch", b"onflict", b"nresolved", b"nhandled", b"crash", b"UNEXPECTED", b"BUILD FAIL", b"arning:", b"WARN", b"CRITICAL",
    b"refusing", b"rejected", b"violat", b"orrupt", b"deadlock", b"overflow", b"--- FAIL", b"<failure", b"<error",
)  # fmt: skip


def _engine(words: Iterable[bytes]) -> Engine:
    return Engine([b"".join(b"\\x%02x" % byte for byte in word) for word in words], once=True)


ENGINE = _engine(WORDS)


class Words:
    """Looks for the words in one block after another, and learns from each what the next ones will have."""

    def __init__(self) -> None:
        self._engine = ENGINE
        self._numbers = list(range(len(WORDS)))  # of the words in the table
        self._common: list[int] = []  # and of those that are not in it
        self._closely = False

    def look(self, data: bytes, left: int) -> list[int]:
        """Return the words of each cell, as cell * len(WORDS) + word; `left`: how many bytes will be looked at after these."""
        view, hits = memoryview(data), list[int]()
        for start in range(0, len(data), GROUP):
            cells = range(start, min(start + GROUP, len(data)), CELL)
            known = len(hits)
            words = self._common
            if self._closely:
                for cell in cells:
                    before = cell // CELL * len(WORDS)
                    hits += [before + number for number in self._scan(view[cell : cell + CELL])]
                count = len({hit % len(WORDS) for hit in hits[known:]})
            else:
                found = self._scan(view[start : start + GROUP])
                words, count = words + found, len(found)
            self._closely = count > FEW
            for number in words:
                word = WORDS[number]
                hits += [
                    cell // CELL * len(WORDS) + number
                    for cell in cells
                    if stringzilla.find(data, word, cell, cell + CELL) >= 0
                ]
        self._learn(view, hits, left)
        return hits

    def _scan(self, view: memoryview) -> list[int]:
        """Return which words of the table are in these bytes."""
        found: list[int] = []
        numbers = self._numbers

        def note(number: int, _start: int, _end: int, _flags: int, _context: object) -> None:
            found.append(numbers[number])

        self._engine.scan(view, note)
        return found

    def _learn(self, view: memoryview, hits: list[int], left: int) -> None:
        """Take words out of the table that every cell has so often that it pays."""
        cells, cells_left = -(-len(view) // CELL), left // CELL
        if cells_left * CELL < WORTH or len(hits) < cells:  # in a cell there are fewer matches than bytes
            return
        counts = [0] * len(WORDS)
        for hit in hits:
            counts[hit % len(WORDS)] += 1
        everywhere = [number for number in self._numbers if counts[number] == cells]
        often = {number: int(stringzilla.count(view[:CELL], WORDS[number])) for number in everywhere}
        dense = sorted((number for number in often if often[number] > 16), key=lambda number: -often[number])
        new = dense[: MOST_COMMON - len(self._common)]
        if sum(often[number] for number in new) * cells_left > WORTH:
            self._common = self._common + new
            self._numbers = [number for number in range(len(WORDS)) if number not in self._common]
            self._engine = _engine(WORDS[number] for number in self._numbers)
