"""An output to look into, however large: bytes, lines and the view of any part of them, one block at a time."""

from __future__ import annotations

from bisect import bisect_left

import stringzilla

from spillover.data import dataclass
from spillover.errors import StoreError
from spillover.intake.blob import Blob, Ends
from spillover.intake.meter import LineIndex
from spillover.view.clean import clean


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an output that is shown as one: a stream or a block. The heavier, the more room when room is short."""

    start: int
    end: int
    label: str | None = None
    weight: int = 1

    @property
    def size(self) -> int:
        return self.end - self.start


#: With more sections than these, nobody has a share worth having.
MANY = 32


@dataclass(frozen=True, slots=True)
class Document:
    """An output, its lines found through the sparse index. `reach`: how far into either end a cut may look."""

    blob: Blob
    index: LineIndex
    lines: int
    newlines: int
    sections: tuple[Section, ...] = ()
    reach: int = 1 << 18
    chars: int = 0
    raw: bool = False  # shown as it came, control codes and all

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def shares(self) -> tuple[Section, ...]:
        """The sections that are each given some of the room; where there are very many, all of it is one."""
        if len(self.sections) <= MANY:
            return self.sections
        return (Section(self.sections[0].start, self.sections[-1].end),)

    @property
    def gap(self) -> tuple[int, int]:
        """Bytes that were not kept, and cannot be shown: from, to; the same twice when everything is there."""
        return self.blob.gap if isinstance(self.blob, Ends) else (0, 0)

    def text(self, start: int, end: int) -> str:
        """What a person would see of these bytes."""
        data = self.blob.read(start, end)
        return data.decode("utf-8", "replace") if self.raw else clean(data)

    def number(self, offset: int) -> int:
        """The line that holds the byte at `offset`, from 1."""
        opens, closes = self.gap
        if opens < closes and offset >= opens:  # counted from the end; what is not there has the line it ends with
            behind = _newlines(self.blob.read(max(offset, closes), self.size))
            return min(self.newlines - behind + 1, self.lines)
        block = min(offset // self.index.block, len(self.index.before) - 1)
        return self.index.before[block] + _newlines(self.blob.read(block * self.index.block, offset)) + 1

    def start(self, line: int) -> int:
        """Where a line (from 1) begins; past the last line, the end of the output."""
        if line <= 1:
            return 0
        if line > self.lines:
            return self.size
        newline = line - 1  # it begins behind this many newlines
        block = bisect_left(self.index.before, newline) - 1
        base = block * self.index.block
        data = self.blob.read(base, base + self.index.block)
        return base + _nth_newline(data, newline - self.index.before[block]) + 1


def _newlines(data: bytes) -> int:
    return int(stringzilla.count(data, "\n"))


def _nth_newline(data: bytes, nth: int) -> int:
    """Where the nth newline (from 1) stands, by halving: counting runs at memory speed, splitting does not."""
    low, high = 0, len(data)
    view = memoryview(data)
    while high - low > 64:
        middle = (low + high) // 2
        here = stringzilla.count(view[low:middle], "\n")
        if here >= nth:
            high = middle
        else:
            nth -= here
            low = middle
    for at in range(low, high):
        if data[at] == 0x0A:
            nth -= 1
            if nth == 0:
                return at
    raise StoreError("the stored bytes no longer fit their record; `spill verify` says more")
