"""The bytes of an output in a bucket, read by ranges: each frame is checked against its hash before it is given out.

A read costs one request for the frames it stands in and the one behind them. Whoever reads on and on gets several
requests under way ahead, and never more than AHEAD windows are held.
"""

from __future__ import annotations

from _thread import allocate_lock  # as in store.memory

from spillover.store.base import BytesMissingError
from spillover.store.object.bucket import Missing
from spillover.store.object.frames import DamagedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from spillover.store.object.bucket import Bucket
    from spillover.store.object.entry import Entry

#: Frames in one request while reading on, and how many such requests are under way.
WINDOW, AHEAD = 8, 4
#: Frames that are kept at hand.
HELD = WINDOW * (AHEAD + 2)
#: After so many bytes read in order, somebody reads on.
STEADY = 1 << 21
#: What somebody may go back, or leave out, and still be reading on.
SLACK = 1 << 18
#: What is not larger is read when it is opened: it is there then, whatever becomes of it in the bucket.
SMALL = 1 << 19


class RemoteBlob:
    """The bytes of one output in a bucket."""

    __slots__ = (
        "_ahead",
        "_bucket",
        "_end",
        "_frames",
        "_held",
        "_key",
        "_lock",
        "_name",
        "_pool",
        "_starts",
        "_steady",
        "newlines",
        "size",
    )

    def __init__(self, bucket: Bucket, place: str, entry: Entry) -> None:
        self._bucket, self._frames, self._name = bucket, entry.frames, entry.record.ref
        self._key = f"{place}/{entry.data}"
        self._starts = entry.frames.starts()
        self.size = entry.record.bytes
        self.newlines = entry.newlines
        self._held: dict[int, bytes] = {}  # the one used last stands last
        self._ahead: dict[int, Future[dict[int, bytes]]] = {}  # by window
        self._pool: ThreadPoolExecutor | None = None
        self._end, self._steady = 0, 0
        self._lock = allocate_lock()
        if 0 < self._starts[-1] <= SMALL:
            self._keep(self._fetch(0, len(self._starts) - 1))

    def read(self, start: int, end: int) -> bytes:
        start, end = max(start, 0), min(end, self.size)
        if start >= end:
            return b""
        step = self._frames.frame
        first, last = start // step, (end - 1) // step
        steady = self._follow(start, end)
        parts = []
        for number in range(first, last + 1):
            frame = self._frame(number, last, steady=steady)
            base = number * step
            parts.append(frame[max(0, start - base) : end - base])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._ahead.clear()
        self._held.clear()

    def _follow(self, start: int, end: int) -> bool:
        """Note a read; whether somebody reads on, so that what comes next is worth fetching."""
        on = self._end - SLACK <= start <= self._end + SLACK
        self._steady = self._steady + max(0, end - self._end) if on else end - start
        self._end = max(end, self._end) if on else end
        return self._steady >= STEADY

    def _frame(self, number: int, last: int, *, steady: bool) -> bytes:
        with self._lock:
            held = self._held.pop(number, None)
            if held is not None:
                self._held[number] = held
                if not steady:
                    return held
        if steady:
            waiting = self._look_ahead(number)
            if held is not None:
                return held
            if waiting is not None:
                self._keep(waiting.result())
                with self._lock:
                    self._ahead.pop(number // WINDOW, None)
                    if number in self._held:
                        return self._held[number]
        fetched = self._fetch(number, max(number + 2, min(last + 1, number + WINDOW)))
        self._keep(fetched)
        return fetched[number]

    def _look_ahead(self, number: int) -> Future[dict[int, bytes]] | None:
        """See that the windows from here on are under way; the one that holds this frame, if it is still to come."""
        count = len(self._starts) - 1
        here = number // WINDOW
        with self._lock:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(AHEAD, "spillover-read")
            for gone in [window for window in self._ahead if not here <= window <= here + AHEAD]:
                self._ahead.pop(gone).cancel()
            for window in range(here, min(here + AHEAD + 1, -(-count // WINDOW))):
                first = window * WINDOW
                if (
                    window not in self._ahead
                    and not (window == here and number in self._held)
                    and first not in self._held
                ):
                    self._ahead[window] = self._pool.submit(self._fetch, first, first + WINDOW)
            return self._ahead.get(here)

    def _fetch(self, first: int, upto: int) -> dict[int, bytes]:
        """Return frames by their numbers, in one request, each checked."""
        upto = min(upto, len(self._starts) - 1)
        try:
            return self._fetched(first, upto)
        except DamagedError:  # what the way garbled once comes whole the next time
            return self._fetched(first, upto)

    def _fetched(self, first: int, upto: int) -> dict[int, bytes]:
        begin, end = self._starts[first], self._starts[upto]
        try:
            data = memoryview(self._bucket.get_range(self._key, begin, end))
        except Missing:
            raise BytesMissingError(
                f"The bytes of {self._name} are gone (removed, or expired in the bucket). Run the tool again."
            ) from None
        if len(data) != end - begin:
            raise DamagedError(
                f"{self._name} is damaged: {end - begin:,} bytes were asked for, and {len(data):,} came."
            )
        parts = {}
        for number in range(first, upto):
            at = self._starts[number] - begin
            try:
                parts[number] = self._frames.unpack(number, data[at : at + self._frames.sizes[number]], self._name)
            except DamagedError:
                if number == first:
                    raise
                break  # fetched along; whoever wants it asks for it, and is told
        return parts

    def _keep(self, parts: dict[int, bytes]) -> None:
        with self._lock:
            for number, part in parts.items():
                self._held.pop(number, None)
                self._held[number] = part
            while len(self._held) > HELD:
                del self._held[next(iter(self._held))]
