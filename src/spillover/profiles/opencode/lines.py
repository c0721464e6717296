"""The lines of a page, from a file of any size: no more of a line than can be shown is ever in memory."""

from __future__ import annotations

from spillover.base.data import dataclass, field
from spillover.select.ends import char_after, char_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

LINE_CHARS = 2_000
#: How many bytes of a line are looked at: the most its characters can have, and one more to know that it is longer.
HEAD = 4 * (LINE_CHARS + 1)
CHUNK = 1 << 18
#: A byte that is not UTF-8 is shown as one character of this many bytes.
REPLACED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown of a file, and what was seen of the rest of it."""

    lines: list[str] = field(default_factory=list)
    count: int  # lines seen so far; all of them, unless it was capped
    more: bool  # whether more lines follow
    capped: bool  # whether it ended because of its bytes, not its lines
    cut: tuple[int, int, int] | None = (
        None  # the first line that was cut: its number, the column to continue at, its bytes
    )


class Lines:
    """Reads a file line by line. `count` lines have been passed; the next one begins at byte `position`."""

    def __init__(self, file: BinaryIO) -> None:
        self.count = self.position = 0
        self._file, self._data, self._at = file, b"", 0

    @property
    def ended(self) -> bool:
        return self._at == len(self._data) and not self._more()

    def _more(self) -> bool:
        self._data, self._at = self._file.read(CHUNK) or b"", 0
        return bool(self._data)

    def pass_over(self, upto: int | None = None) -> None:
        """Go on until `upto` lines are passed, or to the end."""
        open_line = False
        while (upto is None or self.count < upto) and not self.ended:
            found = self._data.count(b"\n", self._at)
            if upto is not None and self.count + found >= upto:
                at = self._at
                for _ in range(upto - self.count):
                    at = self._data.index(b"\n", at) + 1
                self._step(at)
                self.count, open_line = upto, False
            else:
                self.count += found
                open_line = self._data[-1:] != b"\n"
                self._step(len(self._data))
        self.count += open_line

    def line(self, most: int = HEAD) -> tuple[bytes, int]:
        """Return the beginning of the next line, without its line end, and how many bytes it has."""
        head, size, last = b"", 0, b""
        while not self.ended:
            found = self._data.find(b"\n", self._at)
            end = found if found >= 0 else len(self._data)
            head += self._data[self._at : min(end, self._at + most - len(head))]
            size += end - self._at
            last = self._data[end - 1 : end] if end > self._at else last
            self._step(min(end + 1, len(self._data)))
            if found >= 0:
                size -= last == b"\r"  # CRLF is one line end
                break
        self.count += 1
        return head[:size], size

    def _step(self, at: int) -> None:
        self.position += at - self._at
        self._at = at


def take_page(lines: Lines, offset: int, limit: int, room: int, suffix: str) -> Page:
    """Take lines from line `offset` on, at most `limit` lines and `room` bytes; past the bytes nothing is read.

    A line that is cut ends in `suffix`.
    """
    lines.pass_over(offset - 1)
    shown: list[str] = []
    cut: tuple[int, int, int] | None = None
    while len(shown) < limit and not lines.ended:
        text, upto, size = _cut(*lines.line(), suffix)
        room -= len(text.encode()) + (1 if shown else 0)
        if room < 0:
            return Page(lines=shown, count=lines.count, more=True, capped=True, cut=cut)
        shown.append(text)
        if upto < size and cut is None:
            cut = (lines.count, upto + 1, size)
    more = not lines.ended
    lines.pass_over()
    return Page(lines=shown, count=lines.count, more=more, capped=False, cut=cut)


def _cut(head: bytes, size: int, suffix: str) -> tuple[str, int, int]:
    """Return a line as it is shown, how many of its bytes that is, and how many it has."""
    # A byte that is not UTF-8 is one character here, and becomes a byte again below.
    chars = head.decode("utf-8", "surrogateescape")
    if len(head) == size and len(chars) <= LINE_CHARS:
        return head.decode("utf-8", "replace"), size, size
    kept = chars[:LINE_CHARS].encode("utf-8", "surrogateescape")
    return kept.decode("utf-8", "replace") + suffix, len(kept), size


def fit(data: bytes, room: int, *, last: bool) -> tuple[int, bytes]:
    """Return how many bytes stand before the first whole character of a part of a line, and what fits from there on."""
    start = char_after(data, 0, len(data))
    if start == len(data):  # no character begins here, so none is whole
        start = 0
    end = len(data) if last else len(data) - _count_unfinished(data)
    if len(data[start:end].decode("utf-8", "replace").encode()) > room:
        end = char_before(data, min(end, start + room // REPLACED), start + 1)
    return start, data[start:end]


def _count_unfinished(data: bytes) -> int:
    """Count the bytes at the end that begin an incomplete character."""
    for back in range(1, min(4, len(data))):
        byte = data[-back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0
