"""The lines of a page, from a file of any size: of a line no more than can be shown is ever in memory."""

from __future__ import annotations

from spillover.data import dataclass, field
from spillover.select.ends import char_after, char_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

LINE_CHARS = 2_000
SUFFIX = f"... (line truncated to {LINE_CHARS} chars)"
#: So many bytes of a line are looked at; the most its characters can have, and one more of them to know that it is longer.
HEAD = 4 * (LINE_CHARS + 1)
CHUNK = 1 << 18
#: What is no UTF-8 shows as one character of so many bytes.
REPLACED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown of a file, and what was seen of the rest of it."""

    lines: list[str] = field(default_factory=list)
    count: int  # lines seen so far; all of them, unless it was capped
    more: bool  # whether there are lines behind these
    capped: bool  # whether the bytes, and not the lines, ended it
    cut: tuple[int, int, int] | None = None  # the first line that was cut: its number, where to go on in it, its bytes


class Lines:
    """A file from one line to the next. `count` lines have been passed; the next one begins at byte `position`."""

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
        """Go on until so many lines are passed, or to the end."""
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
        """The next line without its end: the beginning of it, and how many bytes it has."""
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


def taken(lines: Lines, offset: int, limit: int, room: int) -> Page:
    """Lines from `offset` on while they are not more than `limit` and `room` bytes; past the bytes nothing is read."""
    lines.pass_over(offset - 1)
    shown: list[str] = []
    cut: tuple[int, int, int] | None = None
    while len(shown) < limit and not lines.ended:
        text, upto, size = _shown(*lines.line())
        room -= len(text.encode()) + (1 if shown else 0)
        if room < 0:
            return Page(lines=shown, count=lines.count, more=True, capped=True, cut=cut)
        shown.append(text)
        if upto < size and cut is None:
            cut = (lines.count, upto + 1, size)
    more = not lines.ended
    lines.pass_over()
    return Page(lines=shown, count=lines.count, more=more, capped=False, cut=cut)


def _shown(head: bytes, size: int) -> tuple[str, int, int]:
    """A line as it is shown, how many of its bytes that is, and how many it has."""
    chars = head.decode(
        "utf-8", "surrogateescape"
    )  # a byte that is no UTF-8 is one character, and is a byte again below
    if len(head) == size and len(chars) <= LINE_CHARS:
        return head.decode("utf-8", "replace"), size, size
    kept = chars[:LINE_CHARS].encode("utf-8", "surrogateescape")
    return kept.decode("utf-8", "replace") + SUFFIX, len(kept), size


def fitting(data: bytes, room: int, *, last: bool) -> tuple[int, bytes]:
    """What can be shown of a part of a line: how much stands before the first whole character, and what is behind it."""
    start = char_after(data, 0, len(data))
    if start == len(data):  # nothing but the middle of characters, so none at all
        start = 0
    end = len(data) if last else len(data) - _unfinished(data)
    if len(data[start:end].decode("utf-8", "replace").encode()) > room:
        end = char_before(data, min(end, start + room // REPLACED), start + 1)
    return start, data[start:end]


def _unfinished(data: bytes) -> int:
    """How many bytes at the end begin a character that is not there whole."""
    for back in range(1, min(4, len(data))):
        byte = data[-back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0
