"""An output to look into, however large: its lines, what a model sees of any part, and the work that may be spent.

Work is counted, not timed, so that the same bytes give the same text on every machine. One unit is roughly the cost of
reading one byte, ten nanoseconds; a loop that creates objects spends the cost of those as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

import stringzilla
from msgspec import Struct
from msgspec.structs import replace

from spillover.document.clean import clean_and_count, is_plain, keep_line_ends
from spillover.document.forgery import Guard, may_imitate
from spillover.errors import StoreError
from spillover.notice.wording import WORDING, Wording
from spillover.secrets.outputs import CoveredBlob, cover
from spillover.source.blob import Blob, LineIndex, MemoryBlob, Meter, find_gap
from spillover.store.scopes import ScopedStore

#: With more sections than this, the whole output counts as one: no share would hold a line.
MAX_SHARES = 32
CHANGED = "the stored bytes no longer match their record; `spill verify` says more"

#: The most that selecting may cost: about two seconds plus four passes over the output. More lets a hostile output take
#: longer before both its ends are shown.
BASE_WORK = 200_000_000
WORK_PER_BYTE = 4
#: The cost of a small object (a span, a line, a cell), of a parsed tag, and of a rendered piece.
OBJECT = 100
TAG = 500
PIECE = 3_000
#: The cost of a row started by a carriage return, which may turn out to be a frame of a progress bar.
ROW = 300
#: The fixed cost of a few calls into numpy, however short the arrays are.
ARRAYS = 20_000


class TooMuchWork(Exception):  # noqa: N818  not an error: both ends are shown instead
    """Raised when the budget of work is spent."""


class Work:
    """A budget of work, so that selecting always ends, whatever the output is. `Work()` has no limit."""

    __slots__ = ("left",)

    def __init__(self, units: int | None = None) -> None:
        self.left = units

    def __repr__(self) -> str:
        return f"Work({'' if self.left is None else self.left})"

    def spend(self, units: int) -> None:
        """Subtract from the budget; raise TooMuchWork when it is exhausted."""
        if self.left is not None:
            self.left -= units
            if self.left < 0:
                raise TooMuchWork


UNBOUNDED = Work()


def work_for(size: int) -> Work:
    """Return the budget for selecting from `size` bytes."""
    return Work(BASE_WORK + WORK_PER_BYTE * size)


class MeteredBlob(Struct, frozen=True):
    """A blob whose every byte read costs a unit of work."""

    blob: Blob
    work: Work

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def gap(self) -> tuple[int, int]:
        return find_gap(self.blob)

    def read(self, start: int, end: int) -> bytes:
        data = self.blob.read(start, end)
        self.work.spend(len(data))
        return data

    def close(self) -> None:
        self.blob.close()


class Section(Struct, frozen=True):
    """A part of an output that is shown as one: a stream or a block. The heavier, the more room when room is short."""

    start: int
    end: int
    label: str | None = None
    weight: int = 1

    @property
    def size(self) -> int:
        return self.end - self.start


class Document(Struct, frozen=True):
    """An output, with its lines found through a sparse index. `reach`: how far into either end a cut may look."""

    blob: Blob
    index: LineIndex
    lines: int
    newlines: int
    sections: tuple[Section, ...] = ()
    reach: int = 1 << 18
    chars: int = 0
    raw: bool = False  # show control codes as they are
    guard: Guard | None = None  # marks text that imitates our notices; see `document.forgery`
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
        if len(self.sections) <= MAX_SHARES:
            return self.sections
        return (Section(self.sections[0].start, self.sections[-1].end),)

    @property
    def gap(self) -> tuple[int, int]:
        """The start and end of the bytes that were not kept; the same number twice if everything was."""
        return find_gap(self.blob)

    def within(self, work: Work) -> Document:
        """Return a copy whose every byte read is a unit of work."""
        return replace(self, blob=MeteredBlob(self.blob, work), work=work)

    def text(self, start: int, end: int) -> str:
        """Return what a person would see of these bytes."""
        return self.text_and_frames(start, end)[0]

    def text_and_frames(self, start: int, end: int) -> tuple[str, int]:
        """Return what a person would see of these bytes, and how many overwritten frames are left out of it."""
        data = self.blob.read(start, end)
        if not self.raw and b"\r" in data:
            self.work.spend(ROW * data.count(b"\r"))
        text, frames = (data.decode("utf-8", "replace"), 0) if self.raw else clean_and_count(data)
        return (text if self.guard is None else self.guard(text)), frames

    def plain_text(self) -> str:
        """Return all of an output in memory if every part of it can be shown unchanged; otherwise ""."""
        data = self.blob.data if isinstance(self.blob, MemoryBlob) and not self.raw else b""
        if not data.isascii() or not is_plain(data):
            return ""
        text = data.decode("ascii")
        return text if self.guard is None or not self.guard.suspects(text) else ""

    def ends(self, head: int, tail: int) -> list[tuple[int, bytes]]:
        """Return all bytes of an output, or whole lines of both its ends, with where each piece begins."""
        if self.size <= head + tail:
            return [(0, self.blob.read(0, self.size))]
        first = self.blob.read(0, head)
        last = self.blob.read(self.size - tail, self.size)
        cut = last.find(b"\n") + 1
        return [(0, first[: first.rfind(b"\n") + 1] or first), (self.size - tail + cut, last[cut:])]

    def number(self, offset: int) -> int:
        """Return the line that holds the byte at `offset`, from 1."""
        opens, closes = self.gap
        if opens < closes and offset >= opens:  # counted from the end; what is not there has the line it ends with
            after = _count_newlines(self.blob.read(max(offset, closes), self.size))
            return min(self.newlines - after + 1, self.lines)
        block = min(offset // self.index.block, len(self.index.before) - 1)
        return self.index.before[block] + _count_newlines(self.blob.read(block * self.index.block, offset)) + 1

    def start(self, line: int) -> int:
        """Return where a line (from 1) begins; past the last line, the end of the output."""
        if line <= 1:
            return 0
        if line > self.lines:
            return self.size
        newline = line - 1  # it begins behind this many newlines
        opens, closes = self.gap
        limit = opens if opens < closes else self.size
        block = max(0, bisect_left(self.index.before, newline) - 1)
        base = block * self.index.block
        nth = newline - self.index.before[block]
        while base < limit:
            data = self.blob.read(base, min(base + self.index.block, limit))
            newlines = _count_newlines(data)
            following = self.index.before[block + 1 : block + 2]
            if following and len(data) == self.index.block and newlines != following[0] - self.index.before[block]:
                break  # an index that is wrong here would name the wrong line
            if newlines >= nth:
                return base + _find_newline(data, nth) + 1
            if following or not data:
                break  # it is in what is not there
            # What was only counted, not stored, is not in the index: there is little of it, and it is looked through.
            base += len(data)
            nth -= newlines
        if opens == closes:
            raise StoreError(CHANGED)
        data = self.blob.read(closes, self.size)
        before = self.newlines - _count_newlines(data)
        # A line that begins in the gap is there from the first byte behind the gap.
        return closes if newline <= before else closes + _find_newline(data, newline - before) + 1


class LineNumbers:
    """The lines that hold the bytes of a document. A place is counted from the one before it, and remembered."""

    def __init__(self, document: Document) -> None:
        opens, closes = document.gap
        self._document = document
        self._is_whole = opens == closes
        self._numbers: dict[int, int] = {}
        self._last = 0  # the place that was asked for before

    def at(self, offset: int) -> int:
        """Return the number of the line, from 1, that holds the byte at `offset`."""
        number = self._numbers.get(offset)
        if number is None:
            last, block = self._last, self._document.index.block
            if self._is_whole and offset - offset % block <= last <= offset and last in self._numbers:
                number = self._numbers[last] + self._document.blob.read(last, offset).count(b"\n")
            else:
                number = self._document.number(offset)
            self._numbers[offset] = number
        self._last = offset
        return number


def _count_newlines(data: bytes) -> int:
    return int(stringzilla.count(data, "\n"))


def _find_newline(data: bytes, nth: int) -> int:
    """Return where the nth newline (from 1) stands, by halving: counting runs at memory speed, splitting does not."""
    low, high = 0, len(data)
    view = memoryview(data)
    while high - low > 64:
        middle = (low + high) // 2
        newlines = stringzilla.count(view[low:middle], "\n")
        if newlines >= nth:
            high = middle
        else:
            nth -= newlines
            low = middle
    for at in range(low, high):
        if data[at] == 0x0A:
            nth -= 1
            if nth == 0:
                return at
    raise StoreError(CHANGED)


class ViewSettings(Protocol):
    """The settings that decide what a model sees of bytes: control codes, secrets, imitated notices."""

    @property
    def raw(self) -> bool: ...
    @property
    def redact(self) -> str: ...
    @property
    def wording(self) -> object: ...
    @property
    def outputs(self) -> ScopedStore: ...


def visible(settings: ViewSettings, data: bytes) -> tuple[str, int]:
    """Return what a model sees of these bytes, and how many overwritten frames are left out."""
    data = cover_bytes(settings, data)
    text, frames = (data.decode("utf-8", "replace"), 0) if settings.raw else clean_and_count(data)
    guard = notice_guard(settings)
    text = text if guard is None else guard(text)
    text = cover_text(settings, text)  # what was written over may have come between the parts of a secret
    # A model that writes a file back writes the line ends that it was shown.
    return (text if settings.raw else keep_line_ends(text, data)), frames


def visible_text(settings: ViewSettings, data: bytes) -> str:
    """Return what a model sees of these bytes."""
    return visible(settings, data)[0]


def cover_bytes(settings: ViewSettings, data: bytes) -> bytes:
    """Return the bytes with secrets covered, where the settings say so; the length does not change."""
    return data if settings.redact == "off" else cover(data)[0]


def cover_text(settings: ViewSettings, text: str) -> str:
    """Return a text with secrets covered, where the settings say so; the length does not change."""
    if settings.redact == "off":
        return text
    return cover_bytes(settings, text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def cover_blob(settings: ViewSettings, blob: Blob, *, is_cut: bool = False) -> Blob:
    """Return the bytes of an output as a model may read them; `is_cut`: its last bytes are not there."""
    return blob if settings.redact == "off" else CoveredBlob(blob, is_cut)


def may_imitate_notice(settings: ViewSettings, text: str) -> bool:
    """Return whether a text may hold a line that reads like a notice."""
    if settings.wording is WORDING:
        return may_imitate(text)
    return not settings.raw and isinstance(settings.wording, Wording)


def notice_guard(settings: ViewSettings) -> Guard | None:
    """Return the function that marks tool text imitating our notices; None for profiles and raw output."""
    if settings.raw or not isinstance(settings.wording, Wording):
        return None

    def find_notices(ref: str) -> Sequence[str]:
        try:
            record = settings.outputs.get_any_scope(ref)
        except Exception:  # noqa: BLE001  a store that cannot say makes no notice ours, and fails no tool call
            return ()
        return () if record is None else record.notices

    return Guard(find_notices, () if settings.wording is WORDING else settings.wording.openings)
