"""Bytes open for random access: in memory, or the two ends of something whose middle is gone."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from spillover.base.work import Work
else:
    Protocol = object


class Blob(Protocol):
    """Bytes, open for random access. `read` gives fewer than asked for only at the end."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, end: int) -> bytes: ...

    def close(self) -> None: ...


class Held(Struct, frozen=True):
    """Bytes in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, start: int, end: int) -> bytes:
        return self.data[max(0, start) : max(0, end)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Counted(Struct, frozen=True):
    """Bytes of which each that is read costs a unit of work."""

    blob: Blob
    work: Work

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def gap(self) -> tuple[int, int]:
        """What is not here, as in `Ends`."""
        return getattr(self.blob, "gap", (0, 0))

    def read(self, start: int, end: int) -> bytes:
        data = self.blob.read(start, end)
        self.work.spend_together(len(data))  # large outputs are read by several threads
        return data

    def close(self) -> None:
        self.blob.close()


class Ends(Struct, frozen=True):
    """The first and the last bytes of an output of which the middle was not kept."""

    head: Blob
    tail: bytes
    size: int

    @property
    def gap(self) -> tuple[int, int]:
        """What is not here: from, to; the same twice when nothing is missing."""
        return self.head.size, max(self.head.size, self.size - len(self.tail))

    def read(self, start: int, end: int) -> bytes:
        """Return what is here of the range; it never reaches over the gap."""
        opens, closes = self.gap
        start, end = max(0, start), min(end, self.size)
        if start < opens:
            head = self.head.read(start, min(end, opens))
            return head if end <= closes or opens < closes else head + self.read(closes, end)
        start = max(start, closes)
        return self.tail[start - self.size + len(self.tail) : end - self.size + len(self.tail)] if end > start else b""

    def close(self) -> None:
        self.head.close()
