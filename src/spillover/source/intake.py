"""One output on its way in: in memory while it may fit, in the store from its first byte once it cannot.

Storing can fail or reach its cap at any byte. Then counting goes on, and both ends are kept in memory to be shown.
Their size depends on the bytes alone, never on the pieces in which they arrived.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import IO, Any, Protocol, Self, TypeVar

from spillover.errors import StoreError, UsageError, describe_error
from spillover.source.blob import Blob, BothEnds, MemoryBlob, Meter, read_ends
from spillover.types import AsyncSource, Chunk, Source

#: Bytes of one output that are stored, at most; more fill the store with fewer outputs.
MAX_STORED_BYTES = 2 << 30
#: Bytes of each end that are kept, at least, when the middle is missing; more take more memory.
MIN_END_BYTES = 1 << 18
#: Segments of an output, one for each change of stream; more take more memory. The rest is one named "mixed".
MAX_SEGMENTS = 16_384
#: Bytes read at once from a file, and from a pipe. Larger reads take more memory, smaller ones more calls.
FILE_READ_BYTES = 1 << 22
PIPE_READ_BYTES = 1 << 18
#: The capacity of a pipe; a larger one needs fewer switches between the writer and us.
PIPE_BYTES = 1 << 20
#: fcntl.F_SETPIPE_SZ, which not every platform has.
_F_SETPIPE_SZ = 1031
#: Bytes of a line that waits for its end; more take more memory. A longer one may be torn by another stream.
MAX_LINE_BYTES = 1 << 20

SOURCE_TYPES = "str, bytes, a file, a Path, or an iterable of str or bytes"
CAP_REACHED = "the cap on one output was reached"

T = TypeVar("T")


def as_bytes(chunk: Chunk) -> bytes | bytearray | memoryview:
    """Return the bytes of a chunk. A lone surrogate has no UTF-8; it is kept as the three bytes it would have had."""
    if isinstance(chunk, str):
        try:
            return chunk.encode()
        except UnicodeEncodeError:
            return chunk.encode("utf-8", "surrogatepass")
    if isinstance(chunk, (bytes, bytearray)):
        return chunk
    if isinstance(chunk, memoryview):
        return chunk if chunk.contiguous and chunk.itemsize == 1 and chunk.ndim == 1 else chunk.tobytes()
    raise UsageError(f"cannot clip {type(chunk).__name__}; give {SOURCE_TYPES}.")


def chunks(source: Source) -> Iterator[bytes | bytearray | memoryview]:
    """Return the bytes of a source, piece by piece; a source that cannot be read is refused before the first piece."""
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return iter((as_bytes(source),))
    if isinstance(source, os.PathLike):
        try:
            file = open(source, "rb", buffering=0)  # noqa: SIM115  _read_file closes it
        except OSError as error:
            raise UsageError(f"{os.fspath(source)}: {error.strerror}.") from error
        return _read_file(file)
    if hasattr(source, "read"):
        return _read(source)  # type: ignore[arg-type]  # anything that can be read from
    if hasattr(source, "__aiter__"):
        raise UsageError("an async iterable needs `await aclip(...)`, or the method of that name on a Clipper.")
    if hasattr(source, "__iter__") and not isinstance(source, dict):
        return map(as_bytes, source)
    raise UsageError(f"cannot clip {type(source).__name__}; give {SOURCE_TYPES}.")


async def achunks(source: AsyncSource) -> AsyncIterator[bytes | bytearray | memoryview]:
    """Yield the bytes of a source that may be asynchronous, piece by piece."""
    if hasattr(source, "__aiter__"):
        async for chunk in source:
            yield as_bytes(chunk)
    else:
        for chunk in chunks(source):
            yield chunk


def _read_file(file: IO[bytes]) -> Iterator[bytes | bytearray | memoryview]:
    with file:
        yield from _read(file)


def _read(file: IO[str] | IO[bytes]) -> Iterator[bytes | bytearray | memoryview]:
    while chunk := file.read(FILE_READ_BYTES):
        yield as_bytes(chunk)


def file_name(source: object) -> str:
    """Return the name of a file, whose ending says what is in it; "" if the source is no file."""
    path = source if isinstance(source, os.PathLike) else getattr(source, "name", "")
    try:
        return os.path.basename(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
    except (TypeError, ValueError):  # a path object of another kind
        return ""


def widen_pipe(fd: int) -> None:
    """Request a larger pipe; do nothing if that fails, or if the descriptor is no pipe."""
    with suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE_BYTES)


class Filter(Protocol):
    """A stage that the pieces of an output pass on their way in. It may delay bytes, and never adds or removes any."""

    @property
    def waiting(self) -> int:
        """The number of bytes that it delays."""

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes | memoryview]]:
        """Take the next bytes of a stream; yield the bytes that may pass now, as (stream, bytes)."""

    def finish(self) -> Iterator[tuple[str, bytes | memoryview]]:
        """Yield the delayed bytes: the output has ended."""


class Cover(Filter, Protocol):
    """A filter that covers secrets (`secrets.outputs.CoveredStreams`)."""

    @property
    def count(self) -> int:
        """The number of secrets covered."""


class WholeLines:
    """A filter that lets no stream begin inside a line of another one: the start of a line waits for its end.

    No byte is added: where two streams end without a line end, their last lines meet.
    """

    def __init__(self) -> None:
        self._starts: dict[str, bytearray] = {}  # of lines that have not ended yet, by stream

    @property
    def waiting(self) -> int:
        return sum(map(len, self._starts.values()))

    def last_bytes(self, count: int) -> bytes:
        """Return the last bytes of the newest line that has not ended."""
        return b"".join(bytes(start[-count:]) for start in [*self._starts.values()][-1:])

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes | memoryview]]:
        chunk = bytes(data)
        end = chunk.rfind(b"\n") + 1
        if end:
            if start := self._starts.pop(stream, None):
                yield stream, bytes(start)
            yield stream, memoryview(chunk)[:end]  # not a copy: allocating one for each piece doubles the system time
        if end == len(chunk):
            return
        rest = self._starts.setdefault(stream, bytearray())
        rest += chunk[end:]
        if len(rest) > MAX_LINE_BYTES:
            del self._starts[stream]
            yield stream, bytes(rest)

    def finish(self) -> Iterator[tuple[str, bytes]]:
        yield from ((stream, bytes(start)) for stream, start in self._starts.items())
        self._starts.clear()


class Intake:
    """One output on its way in: `write` all of it, then `finish`. As a context manager it leaves nothing behind."""

    def __init__(
        self,
        window: int,
        open_writer: Callable[[], Any],
        *,
        cap: int = MAX_STORED_BYTES,
        side: int = MIN_END_BYTES,
        cover: Cover | None = None,
    ) -> None:
        self.window = window  # bytes that may still fit
        self.cap = cap
        self.side = max(side, window)  # bytes of each end to keep when the middle is missing
        self.bytes = 0
        self.segments: list[tuple[str, int]] = []  # (stream, bytes) in order of arrival
        self.meter = Meter()  # of all bytes, from when it overflows
        self.writer: GuardedWriter | None = None
        self.failure = ""  # why the middle is missing: storing failed, or stopped at the cap
        self._open_writer = open_writer
        self._head = bytearray()  # all of it while it has not overflowed; the first bytes if storing failed
        self._tail = bytearray()  # the last bytes, if the middle is missing
        self._blobs: list[Blob] = []
        self._cover = cover
        self._lines: WholeLines | None = None
        self._filters: list[Filter] = [] if cover is None else [cover]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    @property
    def overflowed(self) -> bool:
        """Whether the output has left the buffer for the store, even if storing failed."""
        return self.writer is not None or bool(self.failure)

    @property
    def stored_bytes(self) -> int:
        """The number of bytes in the store, from the first one on."""
        return self.meter.hashed if self.writer else 0

    @property
    def redacted(self) -> int | None:
        """The number of secrets covered; None if there is no cover."""
        return None if self._cover is None else self._cover.count

    @property
    def received(self) -> int:
        """The number of bytes received, including those that a filter delays."""
        return self.bytes + sum(stage.waiting for stage in self._filters)

    @property
    def buffer(self) -> bytes:
        """The whole output, while it has not overflowed."""
        return bytes(self._head)

    @property
    def pieces(self) -> list[tuple[str, bytes]]:
        """The whole output as (stream, bytes) in order of arrival, while it has not overflowed."""
        pieces = []
        start = 0
        for stream, count in self.segments:
            pieces.append((stream, bytes(self._head[start : start + count])))
            start += count
        return pieces

    def keep_lines_whole(self) -> None:
        """Let no stream begin inside a line of another one."""
        self._lines = WholeLines()
        self._filters.insert(0, self._lines)  # secrets are found in the order in which a reader sees the lines

    def write(self, chunk: bytes | bytearray | memoryview, stream: str = "stdout") -> None:
        """Take the next bytes of a stream."""
        self._pass_on(chunk, stream, self._filters)

    def write_from(self, fd: int, stream: str = "stdout") -> int:
        """Take the next bytes of a descriptor and return their number, 0 at its end. Blocks if the descriptor does."""
        chunk = os.read(fd, PIPE_READ_BYTES)
        self.write(chunk, stream)
        return len(chunk)

    def finish(self) -> None:
        """Take the bytes that the filters delay: the output has ended, and the numbers are final."""
        for number, stage in enumerate(self._filters, start=1):
            for stream, piece in stage.finish():
                self._pass_on(piece, stream, self._filters[number:])

    def overflow(self) -> None:
        """Move the buffer to the store, once; all further bytes go there too."""
        if self.overflowed:
            return
        buffer = self._head
        self._head = bytearray()
        try:
            self.writer = GuardedWriter(self._open_writer)
        except StoreError as error:
            self.fail(error)
        self._store(buffer)

    def publish(self, record: T) -> T:
        """Make the output visible in its store and return its record with the ref; raises StoreError."""
        if self.writer is None:
            raise StoreError(self.failure)
        return self.writer.publish(record)

    def fail(self, error: StoreError) -> None:
        """Give up on the store: read both ends back from it, and go on counting."""
        if self.writer:
            size = self.stored_bytes
            tail_follows = len(self._tail) == self.meter.bytes - size
            self._head = bytearray()
            with suppress(StoreError):  # it cannot be read back either: only the bytes in memory can be shown
                head, tail = self.writer.read_ends(size, self.side)
                self._head = bytearray(head)
                self._tail = bytearray(tail) + self._tail if tail_follows else self._tail
            self.writer.abandon()
            self.writer = None
        self.failure = str(error)

    def abandon(self) -> None:
        """Close everything, and discard the output unless it was published."""
        while self._blobs:
            self._blobs.pop().close()
        if self.writer:
            self.writer.abandon()

    def blob(self) -> Blob:
        """Return the stored or buffered bytes, for random access until the intake is abandoned."""
        self._blobs.append(self._blob())
        return self._blobs[-1]

    def last_bytes(self, count: int) -> bytes:
        """Return the last bytes that came in, to show progress."""
        if self._lines and (start := self._lines.last_bytes(count)):
            return start
        with suppress(StoreError), closing(self._blob()) as blob:  # progress is not worth failing the command
            return blob.read(max(0, blob.size - count), blob.size)
        return b""

    def _blob(self) -> Blob:
        head = self.writer.blob() if self.writer else MemoryBlob(bytes(self._head))
        return BothEnds(head, bytes(self._tail[-self.side :]), self.meter.bytes) if self.failure else head

    def _pass_on(self, chunk: bytes | bytearray | memoryview, stream: str, filters: list[Filter]) -> None:
        if not chunk:
            return
        if not filters:
            self._take(chunk, stream)
            return
        for name, piece in filters[0].pieces(chunk, stream):
            self._pass_on(piece, name, filters[1:])

    def _take(self, chunk: bytes | bytearray | memoryview, stream: str) -> None:
        self.bytes += len(chunk)
        last, count = self.segments[-1] if self.segments else (stream, 0)
        if self.segments and (last == stream or len(self.segments) == MAX_SEGMENTS):
            self.segments[-1] = (stream if last == stream else "mixed", count + len(chunk))
        else:
            self.segments.append((stream, len(chunk)))
        if not self.overflowed and len(self._head) + len(chunk) <= self.window:
            self._head += chunk
        else:
            self.overflow()
            self._store(chunk)

    def _store(self, chunk: bytes | bytearray | memoryview) -> None:
        """Store the next bytes up to the cap; count the rest and keep its ends."""
        if self.failure or self.writer is None:
            self._count(chunk)
            return
        room = self.cap - self.meter.bytes
        start = memoryview(chunk)[:room] if len(chunk) > room else chunk
        try:
            self.writer.write(start)
        except StoreError as error:
            self.fail(error)
            self._count(chunk)
            return
        self.meter.feed(start)
        if len(chunk) > room:
            self.failure = CAP_REACHED
            self._count(memoryview(chunk)[room:])

    def _count(self, chunk: bytes | bytearray | memoryview) -> None:
        """Count bytes that are not stored; the first of them complete the head, the last ones are the tail."""
        view = memoryview(chunk)
        head_grows = self.writer is None and len(self._head) == self.meter.bytes
        self.meter.feed(view, hashing=False)
        if head_grows and len(self._head) < self.side:
            room = self.side - len(self._head)
            self._head += view[:room]
            view = view[room:]
        self._tail += view[-self.side :] if len(view) > self.side else view
        if len(self._tail) > 2 * self.side:
            del self._tail[: -self.side]


class GuardedWriter:
    """A store's writer that raises nothing but StoreError, and nothing at all when it is abandoned."""

    def __init__(self, open_writer: Callable[[], Any]) -> None:
        self._writer = _guard(open_writer)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        _guard(self._writer.write, data)

    def fileno(self) -> int | None:
        fd = _guard(self._writer.fileno)
        return fd if isinstance(fd, int) and fd >= 0 else None

    def blob(self) -> GuardedBlob:
        return GuardedBlob(_guard(self._writer.blob))

    def read_ends(self, size: int, side: int) -> tuple[bytes, bytes]:
        """Read both ends of the first `size` bytes back; without a new descriptor if none is left."""
        try:
            with closing(self.blob()) as blob:
                return read_ends(blob.read, size, side)
        except StoreError:
            fd = self.fileno()
            if fd is None:
                raise
            return read_ends(partial(_read_at, fd), size, side)

    def publish(self, record: T) -> T:
        published: T = _guard(self._writer.publish, record)
        if not isinstance(getattr(published, "ref", None), str):
            raise StoreError("the store published it without a ref")
        return published

    def abandon(self) -> None:
        with suppress(Exception):
            self._writer.abandon()


class GuardedBlob:
    """A store's blob that reads every requested byte, or raises StoreError."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self.size = _guard(lambda: int(blob.size))

    def read(self, start: int, end: int) -> bytes:
        data = _guard(self._blob.read, start, end)
        return _check_length(data, min(end, self.size) - max(start, 0))

    def close(self) -> None:
        with suppress(Exception):
            self._blob.close()


def _read_at(fd: int, start: int, end: int) -> bytes:
    return _check_length(_guard(os.pread, fd, end - start, start), end - start)


def _check_length(data: bytes, length: int) -> bytes:
    """Return the bytes that a store read; StoreError if some are missing, which a reader would request forever."""
    if not isinstance(data, bytes) or len(data) < length:
        raise StoreError("the stored bytes cannot be read back whole")
    return data


def _guard(call: Callable[..., T], *arguments: Any) -> T:
    """Call a store; turn any exception into a StoreError with a message."""
    try:
        return call(*arguments)
    except Exception as error:
        if isinstance(error, StoreError) and str(error):
            raise
        words = describe_error(error) if isinstance(error, OSError) else ""
        raise StoreError(words or f"{type(error).__name__}: {error}".removesuffix(": ")) from error
