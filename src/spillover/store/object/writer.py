"""An output on its way into a bucket, by way of a file on this machine."""

from __future__ import annotations

import logging
import time
from contextlib import suppress

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.object.spool import ALONG_SECONDS, by_scope, merge_all, push, waiting
from spillover.store.object.upload import Progress, upload, watch

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.intake.blob import Blob
    from spillover.store.base import Record
    from spillover.store.directory import DirStore
    from spillover.store.object.bucket import Bucket


class ObjectWriter:
    """An output on its way into a bucket; `local` is where it stays if it cannot be brought there."""

    __slots__ = (
        "_age_seconds",
        "_bucket",
        "_compress",
        "_inner",
        "_local",
        "abandon",
        "blob",
        "fileno",
        "write",
    )

    def __init__(self, bucket: Bucket, local: DirStore, *, compress: bool, age_seconds: float | None) -> None:
        self._bucket, self._local, self._compress, self._age_seconds = bucket, local, compress, age_seconds
        self._inner = inner = local.writer()
        self.write, self.fileno, self.blob, self.abandon = inner.write, inner.fileno, inner.blob, inner.abandon

    def publish(self, record: Record) -> Record:
        """Bring it up, and what earlier calls have left here; where that fails, keep it here and say so."""
        record = record.dated(time.time())
        blob = self._inner.blob()
        if blob.size != record.bytes:
            blob.close()
            self.abandon()
            raise StoreError(f"expected {record.bytes:,} bytes, but {blob.size:,} were stored.")
        try:
            held = watch(self._bucket.url, self._bucket.deadline, lambda progress: self._bring(blob, record, progress))
        except StoreError as error:
            if _is_final(error):
                self.abandon()
                raise
            _log.warning("An output of %s is kept on this machine only: %s", record.tool, error)
            kept = self._inner.publish(record)
            return replace(kept, path=self._local.where(kept.ref), here=str(error))
        finally:
            blob.close()
        self.abandon()
        if waiting(self._local):
            with suppress(StoreError):
                push(
                    self._local,
                    self._bucket,
                    compress=self._compress,
                    age_seconds=self._age_seconds,
                    seconds=ALONG_SECONDS,
                )
        return held

    def _bring(self, blob: Blob, record: Record, progress: Progress) -> Record:
        options: Any = {"compress": self._compress, "age_seconds": self._age_seconds, "progress": progress}
        return merge_all([upload(self._bucket, blob, each, **options) for each in by_scope(record)])


def _is_final(error: StoreError) -> bool:
    """Return whether keeping it on this machine would not help: another output has its name."""
    return "one ref never names two" in str(error)
