"""Bytes open for random access, and a meter of the bytes that pass."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Annotated, Protocol

import stringzilla
from msgspec import Meta, Struct

#: Bytes between two entries of a line index. Smaller blocks make records larger (16 entries a MiB), larger ones lookups
#: slower.
BLOCK_BYTES = 1 << 16
#: The largest block that a record may have; to find one line, a whole block is read.
MAX_BLOCK_BYTES = 1 << 24
#: Bytes read at once to measure a blob. More take more memory.
MEASURE_BYTES = 1 << 20


class Blob(Protocol):
    """Bytes, open for random access. `read` returns fewer than requested only at the end, and at a gap."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, end: int) -> bytes: ...

    def close(self) -> None: ...


class MemoryBlob(Struct, frozen=True):
    """Bytes in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, start: int, end: int) -> bytes:
        return self.data[max(0, start) : max(0, end)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class BothEnds(Struct, frozen=True):
    """The first and the last bytes of an output whose middle was not kept."""

    head: Blob
    tail: bytes
    size: int

    @property
    def gap(self) -> tuple[int, int]:
        """The range of the missing bytes, empty if none is missing."""
        return self.head.size, max(self.head.size, self.size - len(self.tail))

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of a range up to the gap, or from the gap on."""
        opens, closes = self.gap
        start = max(0, start)
        end = min(end, self.size)
        if start < opens:
            head = self.head.read(start, min(end, opens))
            return head if end <= closes or opens < closes else head + self.read(closes, end)
        start = max(start, closes)
        offset = self.size - len(self.tail)
        return self.tail[start - offset : end - offset] if end > start else b""

    def close(self) -> None:
        self.head.close()


def find_gap(blob: Blob) -> tuple[int, int]:
    """Return the range of the missing bytes of a blob; (0, 0) if it is whole."""
    gap: tuple[int, int] = getattr(blob, "gap", (0, 0))
    return gap


def read_ends(read: Callable[[int, int], bytes], size: int, side: int) -> tuple[bytes, bytes]:
    """Read the first and the last `side` of `size` bytes, without an overlap."""
    head = read(0, min(side, size))
    return head, read(max(len(head), size - side), size)


def measure(blob: Blob) -> Meter:
    """Read a blob completely and return its measures."""
    meter = Meter()
    while part := blob.read(meter.bytes, meter.bytes + MEASURE_BYTES):
        meter.feed(part)
    return meter


class LineIndex(Struct, frozen=True):
    """The number of newlines before each block of `block` bytes."""

    block: Annotated[int, Meta(gt=0, le=MAX_BLOCK_BYTES)] = BLOCK_BYTES
    before: tuple[int, ...] = (0,)


class Meter:
    """Measures bytes that pass in pieces of any size: length, lines, characters, hash and line index."""

    __slots__ = ("_before", "_hash", "bytes", "chars", "hashed", "last", "newlines")

    def __init__(self) -> None:
        self.bytes = 0
        self.chars = 0
        self.newlines = 0
        self.hashed = 0
        self.last = b""
        self._before = [0]
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
        return LineIndex(BLOCK_BYTES, tuple(self._before))

    def feed(self, data: bytes | bytearray | memoryview, *, hashing: bool = True) -> None:
        """Measure the next bytes; without `hashing`, count them only."""
        view = memoryview(data)
        if not view:
            return
        if hashing:
            self._hash.update(view)
            self.hashed += len(view)
        self.chars += stringzilla.utf8_count(view)
        start = 0
        while start < len(view):
            block = view[start : start + BLOCK_BYTES - self.bytes % BLOCK_BYTES]
            self.newlines += stringzilla.count(block, "\n")
            self.bytes += len(block)
            start += len(block)
            if hashing and self.bytes % BLOCK_BYTES == 0:  # past the cap no line is looked up, and memory stays bounded
                self._before.append(self.newlines)
        self.last = bytes(view[-1:])
