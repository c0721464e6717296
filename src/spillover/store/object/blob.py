"""The bytes of an output in a bucket, read by ranges: each frame is checked against its hash before it is given out."""

from __future__ import annotations

from spillover.store.base import BytesMissingError
from spillover.store.frames import DamagedError, FrameBlob
from spillover.store.object.bucket import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.object.bucket import Bucket
    from spillover.store.object.entry import Entry

#: What is not larger is read when it is opened: it is there then, whatever becomes of it in the bucket.
SMALL = 1 << 19


class RemoteBlob(FrameBlob):
    """The bytes of one output in a bucket. A read costs one request."""

    __slots__ = ("_bucket", "_key", "newlines")

    def __init__(self, bucket: Bucket, place: str, entry: Entry) -> None:
        self._bucket = bucket
        self._key = f"{place}/{entry.data}"
        self.newlines = entry.newlines
        super().__init__(entry.frames, self._request, entry.record.ref)
        if 0 < entry.frames.stored <= SMALL:
            self.load(0, len(entry.frames.sizes))

    def load(self, first: int, upto: int) -> dict[int, bytes]:
        try:
            return super().load(first, upto)
        except DamagedError:  # what the way garbled once comes whole the next time
            return super().load(first, upto)

    def _request(self, start: int, end: int) -> bytes:
        try:
            return self._bucket.get_range(self._key, start, end)
        except Missing:
            raise BytesMissingError(
                f"The bytes of {self._name} are gone (removed, or expired in the bucket). Run the tool again."
            ) from None
