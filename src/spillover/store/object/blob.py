"""The bytes of an output in a bucket, read by ranges: each frame is checked against its hash before it is given out.

A read costs one request for the frames it stands in and the one behind them; whoever reads on gets WINDOW frames at once.
"""

from __future__ import annotations

from _thread import allocate_lock  # as in store.memory

from spillover.store.base import BytesMissingError
from spillover.store.object.bucket import Missing
from spillover.store.object.frames import DamagedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.object.bucket import Bucket
    from spillover.store.object.entry import Entry

#: Frames in one request while reading on.
WINDOW = 8
#: Frames that are kept at hand.
HELD = 2 * WINDOW
#: What is not larger is read when it is opened: it is there then, whatever becomes of it in the bucket.
SMALL = 1 << 19


class RemoteBlob:
    """The bytes of one output in a bucket."""

    __slots__ = ("_bucket", "_frames", "_held", "_key", "_lock", "_name", "_next", "_starts", "newlines", "size")

    def __init__(self, bucket: Bucket, place: str, entry: Entry) -> None:
        self._bucket, self._frames, self._name = bucket, entry.frames, entry.record.ref
        self._key = f"{place}/{entry.data}"
        self._starts = entry.frames.starts()
        self.size = entry.record.bytes
        self.newlines = entry.newlines
        self._held: dict[int, bytes] = {}  # the one used last stands last
        self._next = -1  # the frame after those that were fetched last
        self._lock = allocate_lock()
        if 0 < self._starts[-1] <= SMALL:
            self._keep(self._fetch(0, len(self._starts) - 1))

    def read(self, start: int, end: int) -> bytes:
        start, end = max(start, 0), min(end, self.size)
        if start >= end:
            return b""
        step = self._frames.frame
        first, last = start // step, (end - 1) // step
        parts = []
        for number in range(first, last + 1):
            frame = self._frame(number, last)
            base = number * step
            parts.append(frame[max(0, start - base) : end - base])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._held.clear()

    def _frame(self, number: int, last: int) -> bytes:
        with self._lock:
            held = self._held.pop(number, None)
            if held is not None:
                self._held[number] = held
                return held
        wanted = number + WINDOW if number == self._next else max(number + 2, min(last + 1, number + WINDOW))
        fetched = self._fetch(number, wanted)
        self._keep(fetched)
        self._next = max(fetched) + 1
        return fetched[number]

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
