"""Measuring bytes as they pass: size, lines, hash and a sparse line index. Chunking makes no difference."""

from __future__ import annotations

import stringzilla
from msgspec import Struct

#: Small enough that looking into one costs microseconds, large enough that a record stays small (16 entries a MiB).
BLOCK = 1 << 16


class LineIndex(Struct, frozen=True):
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
        if not view:
            return
        if hashing:
            self._hash.update(view)
            self.hashed += len(view)
        self.chars += stringzilla.utf8_count(view)
        at = 0
        while at < len(view):
            part = view[at : at + BLOCK - self.bytes % BLOCK]
            self.newlines += stringzilla.count(part, "\n")
            self.bytes += len(part)
            at += len(part)
            if hashing and self.bytes % BLOCK == 0:  # past the cap nobody looks lines up, and memory stays bounded
                self._before.append(self.newlines)
        self.last = bytes(view[-1:])
