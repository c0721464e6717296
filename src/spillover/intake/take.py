"""Taking an output in: held in memory while it may fit, streamed into the store from byte 0 once it cannot.

Storing can fail or reach its cap at any byte. Then counting goes on, and the two ends are kept in memory, so that
there is something to show. How much of them depends on the bytes alone, never on the pieces they came in.
"""

from __future__ import annotations

from contextlib import suppress

from spillover.base.data import dataclass
from spillover.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Thread
    from typing import Any, Protocol

    from spillover.intake.blob import Blob
    from spillover.intake.follow import Follower
    from spillover.intake.meter import Meter
else:
    Protocol = object

#: The most a store is given of one output.
CAP = 2 << 30
#: How much of each end is kept at least when the middle is gone.
SIDE = 1 << 18
#: Past so many switches between streams, the rest is one segment named "mixed": memory stays bounded.
SEGMENTS = 16_384
#: From this size on, hashing runs beside writing.
BESIDE = 1 << 20


class Sink(Protocol):
    """Where an output goes once it overflows: the part of a store's writer that intake needs, see intake.guard."""

    def write(self, data: bytes | bytearray | memoryview) -> None: ...
    def fileno(self) -> int | None: ...
    def blob(self) -> Blob: ...
    def ends(self, stored: int, side: int) -> tuple[bytes, bytes]: ...
    def publish(self, record: Any) -> Any: ...  # the pipeline's business: records come below
    def abandon(self) -> None: ...
    @property
    def most_bytes(self) -> int | None: ...


class Cover(Protocol):
    """What covers secrets on the way in: pieces leave in the order in which they came (`secrets.streams`)."""

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]: ...
    def finish(self) -> Iterator[tuple[str, bytes]]: ...
    @property
    def count(self) -> int: ...
    @property
    def waiting(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Gone:
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
        self._follower: Follower | None = None
        self._hashing: Thread | None = None
        self._opened: list[Blob] = []
        self._cover: Cover | None = None

    def cover_with(self, cover: Cover) -> None:
        """Cover secrets before anything is measured, held or stored."""
        self._cover = cover

    @property
    def redacted(self) -> int | None:
        """How many secrets were covered; None where none is looked for."""
        return None if self._cover is None else self._cover.count

    @property
    def received(self) -> int:
        """How many bytes have come, those included that wait until they are known to be no part of a secret."""
        return self.bytes + (0 if self._cover is None else self._cover.waiting)

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
        if self._cover is not None and chunk:
            for name, piece in self._cover.pieces(chunk, stream):
                self._write(piece, name)
            return
        self._write(chunk, stream)

    def _write(self, chunk: bytes | bytearray | memoryview, stream: str) -> None:
        if not chunk:
            return
        self.note(stream, len(chunk))
        before = self.bytes - len(chunk)
        if self.spilled:
            self._store(chunk, before)
        elif len(self._held) + len(chunk) <= self.window:
            self._held += chunk
        else:
            self.spill()
            self._store(chunk, before)

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
            self._lose(error, held, 0)
            return
        self._store(held, 0)

    def finish(self) -> None:
        """Finish: nothing more will come, and the numbers are final."""
        if self._cover is not None:
            for stream, piece in self._cover.finish():
                self._write(piece, stream)
        if not self._follower:
            return
        try:
            self._follower.finish()
        except StoreError as error:
            self._lose(error, before=self.bytes)
        self._follower = None

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._hashed()
        if self._follower:
            self._follower.stop()
            self._follower = None
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

    def room(self) -> int:
        """Return how many bytes may still go straight into the descriptor of the store; 0 when none may."""
        if self.gone or self.sink is None or self._cover is not None:
            return 0
        try:
            if self.sink.fileno() is None:
                return 0
        except StoreError:
            return 0  # the next write says why
        most = self.sink.most_bytes
        return (self.cap if most is None else min(self.cap, most)) - self.bytes

    def passed(self, stream: str, count: int) -> None:
        """Count bytes that have gone straight into the descriptor of the store."""
        self.note(stream, count)
        try:
            self._follow(self.bytes)
        except StoreError as error:
            self._lose(error, before=self.bytes)

    def failed(self, error: StoreError) -> None:
        """Give up on writing straight into the store; keep what can be kept and go on counting."""
        self._lose(error, before=self.bytes)

    def _store(self, chunk: bytes | bytearray | memoryview, before: int) -> None:
        """Pass on what stands behind the first `before` bytes, as far as the cap and the store allow."""
        if self.gone:
            self._count(chunk)
            return
        assert self.sink is not None
        room = self.cap - before
        rest = memoryview(chunk)[room:] if len(chunk) > room else b""
        chunk = memoryview(chunk)[:room] if rest else chunk
        try:
            self._put(chunk, before)
        except StoreError as error:
            self._lose(error, chunk, before)
        else:
            if rest:
                self._cap()
        if rest:
            self._count(rest)

    def _put(self, chunk: bytes | bytearray | memoryview, before: int) -> None:
        assert self.sink is not None
        self._hashed()
        if self._follower:
            self.sink.write(chunk)
            self._follow(before + len(chunk))
        elif len(chunk) < BESIDE:
            self.sink.write(chunk)
            self.meter.feed(chunk)
        else:
            self._put_large(memoryview(chunk))

    def _put_large(self, view: memoryview) -> None:
        """Hash beside writing: both take about as long."""
        from threading import Thread

        assert self.sink is not None
        hashing = Thread(target=self.meter.hash, args=(view,), name="spillover-hash", daemon=True)
        try:
            hashing.start()
            self._hashing = hashing
        except RuntimeError:  # no more threads here: one after the other, then
            self.meter.hash(view)
        try:
            for at in range(0, len(view), BESIDE):
                part = view[at : at + BESIDE]
                self.sink.write(part)
                self.meter.tally(part)
        finally:
            if not isinstance(view.obj, bytes):  # whoever owns a buffer may write into it as soon as we are back
                self._hashed()

    def _hashed(self) -> None:
        """Wait until everything has been hashed."""
        if self._hashing:
            self._hashing.join()
            self._hashing = None

    def sha256(self) -> str:
        """Return the hash of what is stored."""
        self._hashed()
        return self.meter.sha256

    def _follow(self, written: int) -> None:
        """Let the meter run behind the writing, through the descriptor that is written to."""
        self._hashed()
        assert self.sink is not None
        if not self._follower:
            from spillover.intake.follow import Follower  # a thread is for what is large

            fd = self.sink.fileno()
            assert fd is not None
            self._follower = Follower(fd, self.meter)
        self._follower.upto(written)

    def _settle(self) -> None:
        """Wait until everything stored has been measured."""
        if self._follower:
            follower, self._follower = self._follower, None
            follower.finish()

    def _cap(self) -> None:
        try:
            self._settle()
        except StoreError as error:
            self._lose(error, before=self.cap)
            return
        self.gone = Gone("the cap on one output was reached", self.meter.bytes)

    def _lose(self, error: StoreError, chunk: bytes | bytearray | memoryview = b"", before: int = 0) -> None:
        """Storing failed inside `chunk`: read both ends back from what was written, then go on without a store."""
        if self.sink:
            with suppress(StoreError):  # then the numbers are of what could be read back
                self._settle()
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
        if self.meter.bytes < before:  # of what cannot be read back no more than its size is known
            self.meter.bytes = before
            self._tail = bytearray()
        self._count(memoryview(chunk)[self.meter.bytes - before :])

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
