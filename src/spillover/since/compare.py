"""Two outputs compared by the shapes of their lines: what is new, what differs in numbers only, what is the same, what is gone.

Lines are compared as sets: neither their order nor how often one comes makes a difference, since parallel work prints in any
order. Three passes, a block at a time: over the earlier output for its shapes, over the new one, and over the earlier one again
for what is gone; of the first lines of the earlier one the shapes are held, so that most are read once. The same two outputs give the same answer, whatever pieces they arrived in.
"""

from __future__ import annotations

from msgspec import Struct

from spillover.since.known import Known
from spillover.since.shape import STRETCH, LongLine, keys
from spillover.view.clean import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: What a line is, against the earlier output.
SAME, NUMBERS, NEW = 0, 1, 2
#: So much is read at once; of a line that is longer, a piece at a time.
BLOCK = 1 << 20
#: How many lines are new is known for each cell of this many bytes.
CELL = 1 << 14
#: The shapes of so many lines of the earlier output are held for the last pass: 24 MiB.
HELD_LINES = 1 << 20
#: So many ranges of lines are named at most, the first ones.
MOST_RANGES = 1_000


class Found(Struct, frozen=True):
    """Lines of one output that the other does not have: how many, which ones, and where in its bytes they are many."""

    lines: int
    ranges: tuple[tuple[int, int], ...]  # line numbers from 1, first to last; no more than MOST_RANGES
    cells: tuple[int, ...]  # how many of them begin in each CELL of bytes


class Compared(Struct, frozen=True):
    """What became of an output since an earlier one. `new`, `numbers` and `same` add up to its lines."""

    new: Found
    numbers: Found  # lines that differ from lines of the earlier output in numbers only
    gone: Found  # lines of the earlier output that the new one does not have, not even with other numbers
    lines: int
    lines_before: int
    exact: bool  # False: so many different lines that one in a thousand new ones may count as the same
    _before: Shapes
    _after: Shapes

    @property
    def same(self) -> int:
        return self.lines - self.new.lines - self.numbers.lines

    @property
    def cells(self) -> tuple[int, ...]:
        """How many new lines begin in each CELL of the output; where none is new, lines with other numbers."""
        return self.new.cells if self.new.lines else self.numbers.cells

    @property
    def unchanged(self) -> bool:
        """Whether both outputs say the same: nothing new, nothing gone, and no other numbers."""
        return not (self.new.lines or self.numbers.lines or self.gone.lines)

    def look(self, document: Document, start: int, end: int) -> tuple[Array, Array]:
        """Return what each line in these bytes is (SAME, NUMBERS or NEW), and its key: lines that say the same share one.

        The bytes begin and end at line ends.
        """
        return _look(self._before, document, start, end)

    def mark_before(self, before: Document, start: int, end: int) -> Array:
        """Return what each line of the earlier output is, where NEW means that it is gone."""
        return _look(self._after, before, start, end)[0]


def _look(shapes: Shapes, document: Document, start: int, end: int) -> tuple[Array, Array]:
    import numpy as np

    marks, keys = [np.zeros(0, np.uint8)], [np.zeros(0, np.uint64)]
    for said, worded, _ in read_shapes(document, start, end):
        marks.append(shapes.judge(said, worded))
        keys.append(said)
    return np.concatenate(marks), np.concatenate(keys)


class Shapes:
    """The lines of an output, by their shapes."""

    __slots__ = ("said", "worded")

    def __init__(self) -> None:
        self.said = Known()
        self.worded = Known()

    @property
    def exact(self) -> bool:
        return self.said.exact and self.worded.exact

    def add(self, said: Array, worded: Array) -> None:
        self.said.add(said)
        self.worded.add(worded)

    def judge(self, said: Array, worded: Array) -> Array:
        """Return what each line is against those that were added; a blank one is the same anywhere."""
        import numpy as np

        out = np.zeros(len(said), dtype=np.uint8)
        other = np.flatnonzero((said != 0) & ~self.said.has(said))
        out[other] = np.where(self.worded.has(worded[other]), NUMBERS, NEW)
        return out


def compare(document: Document, before: Document) -> Compared:
    """Compare an output with an earlier one."""
    earlier, later = Shapes(), Shapes()
    first_pass = _Held(before)
    for said, worded, _ in first_pass:
        earlier.add(said, worded)
    new, numbers, gone = _Tally(document), _Tally(document), _Tally(before)
    lines = 0
    for said, worded, starts in _read_all(document):
        later.add(said, worded)
        what = earlier.judge(said, worded)
        new.add(what == NEW, starts)
        numbers.add(what == NUMBERS, starts)
        lines += len(said)
    lines_before = 0
    for said, worded, starts in first_pass.again():
        gone.add(later.judge(said, worded) == NEW, starts)
        lines_before += len(said)
    exact = earlier.exact and later.exact
    return Compared(new.found(), numbers.found(), gone.found(), lines, lines_before, exact, earlier, later)


def read_shapes(document: Document, start: int, end: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the shapes of the lines in these bytes, many at a time: both keys, and where each line begins."""
    import numpy as np

    at = start
    while at < end:
        data = document.blob.read(at, min(end, at + BLOCK))
        if not data:  # it cannot be read
            return
        whole = len(data) if at + len(data) >= end else data.rfind(b"\n") + 1
        if not whole or (len(data) >= BLOCK and b"\n" not in data):
            long, stop = _read_long(document, at, end)
            yield (*long.keys(), np.array([at]))
            at = stop
            continue
        data = data[:whole]
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1
        starts = np.concatenate(([0], ends))
        starts = at + (starts[:-1] if data.endswith(b"\n") else starts)
        view = flat(data).encode("utf-8", "replace")
        said, worded = keys(view if data.endswith(b"\n") else view + b"\n")
        yield said, worded, starts
        at += whole


def _read_long(document: Document, at: int, end: int) -> tuple[LongLine, int]:
    """Read a line that is longer than a block; return its shape, and where it ends."""
    long = LongLine()
    while at < end:
        data = document.blob.read(at, min(end, at + STRETCH))
        if not data:
            return long, end
        piece, newline, _ = data.partition(b"\n")
        long.add(flat(piece).encode("utf-8", "replace"))
        at += len(piece) + len(newline)
        if newline:
            break
    return long, at


def _read_all(document: Document, start: int = 0) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the shapes of all lines from there on: of both ends, where the middle was not kept."""
    opens, closes = document.gap
    if opens >= closes:
        opens = closes = document.size
    yield from read_shapes(document, start, opens)
    yield from read_shapes(document, max(start, closes), document.size)


class _Held:
    """The shapes of an output, read twice; those of its first lines are worked out once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._blocks: list[tuple[Array, Array, Array]] = []
        self._stop = 0  # where the first line begins whose shape is not held

    def __iter__(self) -> Iterator[tuple[Array, Array, Array]]:
        lines, full = 0, False
        for block in _read_all(self._document):
            lines += len(block[0])
            if not full and lines > HELD_LINES:
                full, self._stop = True, int(block[2][0])
            elif not full:
                self._blocks.append(block)
            yield block
        if not full:
            self._stop = self._document.size

    def again(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the same once more."""
        yield from self._blocks
        yield from _read_all(self._document, self._stop)


class _Tally:
    """Lines of one kind, as they are found: how many, in which ranges, and in which cells."""

    def __init__(self, document: Document) -> None:
        import numpy as np

        self._document = document
        self._cells = np.zeros(-(-document.size // CELL), dtype=np.int64)
        self._lines = 0
        self._ranges: list[tuple[int, int]] = []
        self._full = False

    def add(self, those: Array, starts: Array) -> None:
        """Count those of the next lines; `starts`: where each of them begins."""
        import numpy as np

        rows = np.flatnonzero(those)
        if not len(rows):
            return
        self._lines += len(rows)
        self._cells += np.bincount(starts[rows] // CELL, minlength=len(self._cells))
        if self._full:
            return
        first = self._document.number(int(starts[0]))
        edges = np.flatnonzero(np.diff(rows) > 1)
        opening = rows[np.concatenate(([0], edges + 1))]
        closing = rows[np.append(edges, len(rows) - 1)]
        for begins, ends in zip((first + opening).tolist(), (first + closing).tolist(), strict=True):
            if self._ranges and self._ranges[-1][1] + 1 == begins:
                self._ranges[-1] = (self._ranges[-1][0], ends)
            elif len(self._ranges) < MOST_RANGES:
                self._ranges.append((begins, ends))
            else:
                self._full = True
                break

    def found(self) -> Found:
        return Found(self._lines, tuple(self._ranges), tuple(self._cells.tolist()))
