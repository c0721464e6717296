"""Taking an output in: held in memory while it may fit, streamed into the store from byte 0 once it cannot.

Storing can fail or reach its cap at any byte. Then counting goes on, and the two ends are kept in memory, so that
there is something to show. How much of them depends on the bytes alone, never on the pieces they came in.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from spillover.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from spillover.intake.blob import Blob
    from spillover.intake.meter import Meter
else:
    Protocol = object

#: The most a store is given of one output.
CAP = 2 << 30
#: How much of each end is kept at least when the middle is gone.
SIDE = 1 << 18
#: Past so many switches between streams, the rest is one segment named "mixed": memory stays bounded.
SEGMENTS = 16_384


class Sink(Protocol):
    """Where an output goes once it overflows: the part of a store's writer that intake needs, see intake.guard."""

    def write(self, data: bytes | bytearray | memoryview) -> None: ...
    def blob(self) -> Blob: ...
    def ends(self, stored: int, side: int) -> tuple[bytes, bytes]: ...
    def publish(self, record: Any) -> Any: ...  # the pipeline's business: records come below
    def abandon(self) -> None: ...


class Cover(Protocol):
    """What covers secrets on the way in: pieces leave in the order in which they came (`secrets.streams`)."""

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]: ...
    def finish(self) -> Iterator[tuple[str, bytes]]: ...
    @property
    def count(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class Lines(Protocol):
    """What lets no stream begin inside a line of another one (`intake.pipe.WholeLines`)."""

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]: ...
    def finish(self) -> Iterator[tuple[str, bytes]]: ...
    def last(self, count: int) -> bytes: ...
    @property
    def waiting(self) -> int: ...


class Gone(Struct, frozen=True):
    """Why the middle of an output is not there: storing failed, or stopped at the cap."""

    reason: str
    stored: int  # bytes, from the first one on


class Intake:
    """One output on its way in. `write` whatever comes, then `finish`, then look."""

    def __init__(
        self,
        window: int,
        begin: Callable[[], Any],
        *,
        cap: int = CAP,
        side: int = SIDE,
    ) -> None:
        self.window = window
        self.side = max(side, window)
        self.cap = cap
        self.bytes = 0
        self.sink: Sink | None = None
        self.gone: Gone | None = None
        self.segments: list[tuple[str, int]] = []
        self._begin = begin
        self._held = bytearray()
        self._tail = bytearray()
        self._meter: Meter | None = None
        self._opened: list[Blob] = []
        self._cover: Cover | None = None
        self._lines: Lines | None = None

    def keep_lines_whole(self, lines: Lines) -> None:
        """Let no stream begin inside a line of another one."""
        self._lines = lines

    def cover_with(self, cover: Cover) -> None:
        """Cover secrets before anything is measured, held or stored."""
        self._cover = cover

    @property
    def redacted(self) -> int | None:
        """How many secrets were covered; None where none is looked for."""
        return None if self._cover is None else self._cover.count

    @property
    def received(self) -> int:
        """How many bytes have come, those included that wait for the end of a line, or to be known as no part of a secret."""
        return self.bytes + (self._lines.waiting if self._lines else 0) + (self._cover.waiting if self._cover else 0)

    @property
    def held(self) -> bytes:
        """All of it, while it has not overflowed."""
        return bytes(self._held)

    @property
    def pieces(self) -> list[tuple[str, bytes]]:
        """The same as (stream, bytes), in order of arrival."""
        at, out = 0, []
        for stream, count in self.segments:
            out.append((stream, bytes(self._held[at : at + count])))
            at += count
        return out

    @property
    def meter(self) -> Meter:
        """What is measured of it, from when it overflows."""
        if self._meter is None:
            from spillover.intake.meter import Meter  # most outputs fit: no hash is needed, nor its library

            self._meter = Meter()
        return self._meter

    @property
    def spilled(self) -> bool:
        """Whether it has overflowed: into the store, or into nothing when that failed."""
        return self.sink is not None or self.gone is not None

    def write(self, chunk: bytes | bytearray | memoryview, stream: str = "stdout") -> None:
        """Take the next bytes."""
        if self._lines is None or not chunk:
            self._pass_on(chunk, stream)
            return
        for name, piece in self._lines.pieces(chunk, stream):
            self._pass_on(piece, name)

    def _pass_on(self, chunk: bytes | bytearray | memoryview, stream: str) -> None:
        if self._cover is not None and chunk:
            for name, piece in self._cover.pieces(chunk, stream):
                self._write(piece, name)
            return
        self._write(chunk, stream)

    def _write(self, chunk: bytes | bytearray | memoryview, stream: str) -> None:
        if not chunk:
            return
        self.note(stream, len(chunk))
        if self.spilled:
            self._store(chunk)
        elif len(self._held) + len(chunk) <= self.window:
            self._held += chunk
        else:
            self.spill()
            self._store(chunk)

    def note(self, stream: str, count: int) -> None:
        """Remember which stream the next bytes are from."""
        self.bytes += count
        segments = self.segments
        if segments and (segments[-1][0] == stream or len(segments) == SEGMENTS):
            last = segments[-1]
            segments[-1] = (stream if last[0] == stream else "mixed", last[1] + count)
        else:
            segments.append((stream, count))

    def spill(self) -> None:
        """Turn to the store with what is held; from here on everything goes there."""
        from spillover.intake.guard import GuardedWriter  # most outputs fit

        held, self._held = self._held, bytearray()
        try:
            self.sink = GuardedWriter(self._begin)
        except StoreError as error:
            self._lose(error, held)
            return
        self._store(held)

    def finish(self) -> None:
        """Finish: nothing more will come, and the numbers are final."""
        if self._lines is not None:
            for stream, piece in self._lines.finish():
                self._pass_on(piece, stream)
        if self._cover is not None:
            for stream, piece in self._cover.finish():
                self._write(piece, stream)

    def abandon(self) -> None:
        """Leave nothing behind."""
        while self._opened:
            self._opened.pop().close()
        if self.sink:
            self.sink.abandon()

    def blob(self) -> Blob:
        """Return what is kept of it, for random access until it is abandoned."""
        from spillover.intake.blob import Ends, Held

        if self.sink is None:
            head: Blob = Held(bytes(self._held))
        else:
            head = self.sink.blob()
            self._opened.append(head)
        return Ends(head, bytes(self._tail[-self.side :]), self.meter.bytes) if self.gone else head

    def last(self, count: int) -> bytes:
        """Return the last bytes that came in, to show progress."""
        if self._lines is not None and (start := self._lines.last(count)):
            return start
        if not self.spilled:
            return bytes(self._held[-count:])
        if self.gone:
            return bytes((self._tail if self._tail or self.sink else self._held)[-count:])
        assert self.sink is not None
        try:
            blob = self.sink.blob()
            try:
                return blob.read(max(0, self.bytes - count), self.bytes)
            finally:
                blob.close()
        except StoreError:  # what a person watches is not worth the command; the end says what went wrong
            return b""

    def failed(self, error: StoreError) -> None:
        """Give up on the store; keep both ends and go on counting."""
        self._lose(error)

    def _store(self, chunk: bytes | bytearray | memoryview) -> None:
        """Pass the next bytes on, as far as the cap and the store allow."""
        if self.gone:
            self._count(chunk)
            return
        assert self.sink is not None
        room = self.cap - self.meter.bytes
        rest = memoryview(chunk)[room:] if len(chunk) > room else b""
        chunk = memoryview(chunk)[:room] if rest else chunk
        try:
            self.sink.write(chunk)
            self.meter.feed(chunk)
        except StoreError as error:
            self._lose(error, chunk)
        else:
            if rest:
                self.gone = Gone("the cap on one output was reached", self.meter.bytes)
        if rest:
            self._count(rest)

    def _lose(self, error: StoreError, chunk: bytes | bytearray | memoryview = b"") -> None:
        """Storing failed at `chunk`: read both ends back from what was written, then go on without a store."""
        if self.sink:
            stored = self.gone.stored if self.gone else self.meter.bytes
            follows = len(self._tail) == self.meter.bytes - stored  # nothing is missing between the store and the tail
            self._held = bytearray()
            with suppress(StoreError):  # it cannot be read back either; what is in memory is all there is to show
                head, tail = self.sink.ends(stored, self.side)
                self._held = bytearray(head)
                self._tail = bytearray(tail) + self._tail if follows else self._tail
            self.sink.abandon()
            self.sink = None
        self.gone = Gone(str(error), 0)
        self._count(chunk)

    def _count(self, chunk: bytes | bytearray | memoryview) -> None:
        follows = self.sink is None and len(self._held) == self.meter.bytes  # nothing is missing between
        self.meter.feed(chunk, hashing=False)
        view = memoryview(chunk)
        if follows and len(self._held) < self.side:
            room = self.side - len(self._held)
            self._held += view[:room]
            view = view[room:]
        self._tail += view[-self.side :] if len(view) > self.side else view
        if len(self._tail) > 2 * self.side:
            del self._tail[: -self.side]
