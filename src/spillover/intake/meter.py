"""Measuring bytes as they pass: size, lines, hash and a sparse line index. Chunking makes no difference."""

from __future__ import annotations

import stringzilla

from spillover.base.data import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Small enough that looking into one costs microseconds, large enough that a record stays small (16 entries a MiB).
BLOCK = 1 << 16
#: Makes 1 of every newline and 0 of every other byte, which can be added up.
_NEWLINES = bytes(byte == ord("\n") for byte in range(256))
#: That takes a third of the time it takes to go from newline to newline; but with older processors, up to three times as long.
_ADDED_UP = "ice" in str(getattr(stringzilla, "__capabilities__", ""))  # Ice Lake: AVX-512 with tables


@dataclass(frozen=True, slots=True)
class LineIndex:
    """Where lines are, sparsely: how many newlines stand before each block of `block` bytes."""

    block: int = BLOCK
    before: tuple[int, ...] = (0,)


class Meter:
    """Counts what passes; `hashing` can stop (past the cap of a store) while counting goes on."""

    __slots__ = ("_before", "_hash", "bytes", "chars", "hashed", "last", "newlines")

    def __init__(self) -> None:
        self.bytes = 0
        self.chars = 0
        self.newlines = 0
        self.hashed = 0
        self.last = b""
        self._before = [0]
        import hashlib  # most outputs fit, and are never hashed

        self._hash = hashlib.sha256()

    @property
    def lines(self) -> int:
        """Lines as a person counts them: a final newline opens none."""
        return self.newlines + (self.last not in (b"", b"\n"))

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    @property
    def index(self) -> LineIndex:
        return LineIndex(BLOCK, tuple(self._before))

    def feed(self, data: bytes | bytearray | memoryview, *, hashing: bool = True) -> None:
        """Measure the next bytes."""
        view = memoryview(data)
        if hashing:
            self.hash(view)
        self.tally(view, indexing=hashing)

    def hash(self, view: memoryview) -> None:
        """Hash the bytes: the slower half of measuring, which may run in a thread beside the other."""
        self._hash.update(view)
        self.hashed += len(view)

    def tally(self, view: memoryview, *, indexing: bool = True) -> None:
        """Count sizes and lines: the quicker half."""
        if not view:
            return
        at = 0
        while at < len(view):
            step = min(len(view) - at, BLOCK - self.bytes % BLOCK)
            if step == BLOCK:  # all whole blocks that are here, at once
                step = (len(view) - at) // BLOCK * BLOCK
            newlines, chars = _count(view[at : at + step])
            self.chars += chars
            self.bytes += step
            at += step
            whole = self.bytes % BLOCK == 0
            for each in newlines:
                self.newlines += each
                if whole and indexing:  # past the cap nobody looks lines up, and memory stays bounded
                    self._before.append(self.newlines)
        self.last = bytes(view[-1:])


def _count(view: memoryview) -> tuple[Sequence[int], int]:
    """Return how many newlines each block has, and how many characters there are."""
    blocks = [view[at : at + BLOCK] for at in range(0, len(view), BLOCK)]
    return [*map(_count_newlines, blocks)], stringzilla.utf8_count(view)


def _count_newlines(view: memoryview) -> int:
    if _ADDED_UP:
        return int(stringzilla.bytesum(stringzilla.translate(view, _NEWLINES)))
    return int(stringzilla.count(view, "\n"))
