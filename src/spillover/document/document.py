"""An output to look into, however large: bytes, lines and the view of any part of them, one block at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import stringzilla
from msgspec import Struct
from msgspec.structs import replace

from spillover.document.clean import is_plain, look
from spillover.document.forged import Guard
from spillover.document.work import ROW, UNBOUNDED, Work
from spillover.errors import StoreError
from spillover.patterns import Public
from spillover.source.blob import Blob, LineIndex, MemoryBlob, Meter, Metered, find_gap


class Section(Struct, frozen=True):
    """A part of an output that is shown as one: a stream or a block. The heavier, the more room when room is short."""

    start: int
    end: int
    label: str | None = None
    weight: int = 1

    @property
    def size(self) -> int:
        return self.end - self.start


#: With more sections than this, no share would be worth having.
MANY = 32
#: Up to this size, no output is read by several threads.
ONE_THREAD = 1 << 20


class Document(Struct, metaclass=Public, frozen=True):
    """An output, with its lines found through a sparse index. `reach`: how far into either end a cut may look."""

    blob: Blob
    index: LineIndex
    lines: int
    newlines: int
    sections: tuple[Section, ...] = ()
    reach: int = 1 << 18
    chars: int = 0
    raw: bool = False  # show control codes as they are
    guard: Guard | None = None  # marks text that imitates our notices; see `document.forged`
    work: Work = UNBOUNDED  # how much work may still be spent on it

    @classmethod
    def from_bytes(
        cls, data: bytes, sections: Sequence[Section] = (), *, raw: bool = False, guard: Guard | None = None
    ) -> Document:
        """Return a document of bytes in memory."""
        meter = Meter()
        meter.feed(data, hashing=False)
        whole = (Section(0, len(data)),)
        return cls(
            MemoryBlob(data), meter.index, meter.lines, meter.newlines, tuple(sections) or whole, raw=raw, guard=guard
        )

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def shares(self) -> tuple[Section, ...]:
        """The sections that share the room; if there are very many, the whole output counts as one."""
        if len(self.sections) <= MANY:
            return self.sections
        return (Section(self.sections[0].start, self.sections[-1].end),)

    @property
    def gap(self) -> tuple[int, int]:
        """The start and end of the bytes that were not kept; the same number twice if everything was."""
        return find_gap(self.blob)

    def within(self, work: Work) -> Document:
        """Return the same document; reading it then counts as work."""
        return replace(self, blob=Metered(self.blob, work), work=work)

    def text(self, start: int, end: int) -> str:
        """Return what a person would see of these bytes."""
        return self.look(start, end)[0]

    def look(self, start: int, end: int) -> tuple[str, int]:
        """Return the same, and how many overwritten frames are left out of it."""
        data = self.blob.read(start, end)
        if not self.raw and b"\r" in data:
            self.work.spend(ROW * data.count(b"\r"))
        text, frames = (data.decode("utf-8", "replace"), 0) if self.raw else look(data)
        return (text if self.guard is None else self.guard(text)), frames

    def plain(self) -> str | None:
        """Return all of a small output if every part of it can be shown unchanged; otherwise None."""
        data = self.blob.data if isinstance(self.blob, MemoryBlob) and self.size <= ONE_THREAD and not self.raw else b""
        if not data or not data.isascii() or not is_plain(data):
            return None
        text = data.decode("ascii")
        return text if self.guard is None or not self.guard.suspects(text) else None

    def number(self, offset: int) -> int:
        """Return the line that holds the byte at `offset`, from 1."""
        opens, closes = self.gap
        if opens < closes and offset >= opens:  # counted from the end; what is not there has the line it ends with
            behind = _newlines(self.blob.read(max(offset, closes), self.size))
            return min(self.newlines - behind + 1, self.lines)
        block = min(offset // self.index.block, len(self.index.before) - 1)
        return self.index.before[block] + _newlines(self.blob.read(block * self.index.block, offset)) + 1

    def start(self, line: int) -> int:
        """Return where a line (from 1) begins; past the last line, the end of the output."""
        if line <= 1:
            return 0
        if line > self.lines:
            return self.size
        newline = line - 1  # it begins behind this many newlines
        opens, closes = self.gap
        upto = opens if opens < closes else self.size
        block = max(0, bisect_left(self.index.before, newline) - 1)
        base, nth = block * self.index.block, newline - self.index.before[block]
        while base < upto:
            data = self.blob.read(base, min(base + self.index.block, upto))
            here = _newlines(data)
            following = self.index.before[block + 1 : block + 2]
            if following and len(data) == self.index.block and here != following[0] - self.index.before[block]:
                break  # an index that is wrong here would name the wrong line
            if here >= nth:
                return base + _nth_newline(data, nth) + 1
            if following or not data:
                break  # it is in what is not there
            # What was only counted, not stored, is not in the index: there is little of it, and it is looked through.
            base, nth = base + len(data), nth - here
        if opens == closes:
            raise StoreError("the stored bytes no longer match their record; `spill verify` says more")
        data = self.blob.read(closes, self.size)
        before = self.newlines - _newlines(data)
        # A line that begins where nothing was kept is there from its first byte that was.
        return closes if newline <= before else closes + _nth_newline(data, newline - before) + 1


def _newlines(data: bytes) -> int:
    return int(stringzilla.count(data, "\n"))


def _nth_newline(data: bytes, nth: int) -> int:
    """Return where the nth newline (from 1) stands, by halving: counting runs at memory speed, splitting does not."""
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
    raise StoreError("the stored bytes no longer match their record; `spill verify` says more")
