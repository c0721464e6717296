"""Read a descriptor into an intake; and the order of the lines of two of them that are read side by side."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from spillover.intake.take import Intake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_BYTES = 1 << 18
#: The size to ask of the kernel for a pipe: a larger one needs fewer switches between the writer and us.
PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
#: A longer line passes before it has ended, and may be torn by lines of the other stream.
MAX_LINE_BYTES = 1 << 20


def widen(fd: int) -> None:
    """Ask for a larger pipe; it does not matter if that is refused, or if it is not a pipe."""
    with suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE_BYTES)


def move(fd: int, intake: Intake, stream: str = "stdout") -> int:
    """Move the next bytes of `fd` into the intake and return how many; 0 at its end. Blocks where the descriptor does."""
    chunk = os.read(fd, READ_BYTES)
    intake.write(chunk, stream)
    return len(chunk)


class WholeLines:
    """Pass on whole lines of several streams. The start of a line waits for its end, as long as another stream may come between.

    No byte is added: where two streams end without a line end, their last lines meet.
    """

    __slots__ = ("_starts",)

    def __init__(self) -> None:
        self._starts: dict[str, bytearray] = {}  # of lines that have not ended yet, by stream

    @property
    def waiting(self) -> int:
        """How many bytes have come and were not passed on yet."""
        return sum(map(len, self._starts.values()))

    def last(self, count: int) -> bytes:
        """Return the last bytes of the newest line that has not ended."""
        return b"".join(bytes(start[-count:]) for start in [*self._starts.values()][-1:])

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]:
        """Yield what may be passed on, now that these bytes have come."""
        chunk = bytes(data)
        end = chunk.rfind(b"\n") + 1
        if end:
            if start := self._starts.pop(stream, None):
                yield stream, bytes(start)
            yield stream, chunk[:end] if end < len(chunk) else chunk
        if end == len(chunk):
            return
        rest = self._starts.setdefault(stream, bytearray())
        rest += chunk[end:]
        if len(rest) > MAX_LINE_BYTES:
            del self._starts[stream]
            yield stream, bytes(rest)

    def finish(self) -> Iterator[tuple[str, bytes]]:
        """Yield the last lines, which no line end follows, in order of arrival."""
        yield from ((stream, bytes(start)) for stream, start in self._starts.items())
        self._starts.clear()
