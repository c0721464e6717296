"""ObjectStore: outputs in a bucket that many machines share, and a folder on this one for what could not be brought there yet."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from heapq import heappush, heappushpop

from msgspec import Struct
from msgspec.structs import astuple, force_setattr, replace

from spillover.base import Public
from spillover.errors import RefError, StoreError, UsageError
from spillover.store.base import REF_SHAPE, Record, check_ref, matches, resolve, unknown
from spillover.store.directory import DirStore
from spillover.store.object.blob import RemoteBlob
from spillover.store.object.bucket import DEADLINE_SECONDS, Bucket, library
from spillover.store.object.entry import Entry
from spillover.store.object.keys import Name, parse, place_of
from spillover.store.object.spool import ALONG_SECONDS, RETENTION, Pushed, by_scope, merge_all, push, spool_of, waiting
from spillover.store.object.upload import Progress, upload, watch
from spillover.store.object.view import View
from spillover.store.owners import seen
from spillover.store.retention import Retention
from spillover.store.scope import EVERY

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from typing import Any, Self

    from spillover.intake.blob import Blob
    from spillover.store.runs import RunRecord

    Records = list[Record]
    Entries = list[Entry]  # a method has the name of the type below
    Names = list[Name]
    Missed = Callable[[str], RefError]

SCHEMES = ("s3", "gs", "az")
#: A look that may be left out is slow if it takes more than this share of the deadline.
SLOW_SHARE = 0.1
LIFECYCLE_DECIDES = "the bucket's lifecycle rule decides how long outputs are kept (docs/fleet.md)"


class ObjectStore(Struct, metaclass=Public, frozen=True):
    """Outputs in object storage: `ObjectStore("s3://bucket/prefix")`. Creating the object sends no request.

    Credentials and endpoints are found by the library's own conventions (AWS_…, GOOGLE_…, AZURE_… variables), or given as
    `options` for `obstore.store.from_url`. `deadline_seconds` is how long a call waits without progress.
    """

    url: str
    retention: Retention = Retention()  # its age is that of the bucket's lifecycle rule; the rest is for folders
    spool: str | os.PathLike[str] | None = None  # a local folder; None: one beside the default store
    deadline_seconds: float = DEADLINE_SECONDS
    compress: bool = True
    options: Any = None
    scope: str = EVERY  # what this view of the bucket can see; `within` narrows it
    bucket: Bucket = None  # type: ignore[assignment]  # made below

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStore) and astuple(self)[:-1] == astuple(other)[:-1]  # all but the bucket

    def __hash__(self) -> int:
        return hash(self.url)

    def __repr__(self) -> str:
        return f"ObjectStore({self.url!r})"  # options may hold credentials

    def __post_init__(self) -> None:
        if self.bucket is not None:
            return
        if not str(self.url).partition("://")[2].strip("/"):
            raise UsageError(f"store={self.url!r} names no bucket; use e.g. s3://BUCKET/PREFIX.")
        if not 0 < self.deadline_seconds < float("inf"):
            raise UsageError(
                f"deadline_seconds={self.deadline_seconds!r} is not a time; use a number of seconds above 0."
            )
        library()  # or say at once what to install
        if self.compress:
            from spillover.store.frames import zstd

            zstd()
        made = Bucket(self.url.rstrip("/"), deadline=self.deadline_seconds, options=self.options)
        force_setattr(self, "bucket", made)
        force_setattr(self, "spool", os.path.abspath(self.spool or spool_of(self.url.rstrip("/"))))

    @property
    def local(self) -> DirStore:
        """The outputs that are only on this machine."""
        assert self.spool is not None
        return DirStore(self.spool, RETENTION)

    @property
    def here(self) -> str:
        return self.local.here

    @property
    def view(self) -> View:
        return View(self.bucket, self.scope)

    def within(self, scope: str) -> Self:
        """Return the part of the store that a scope can see; no key outside it is ever requested."""
        return self if scope == self.scope else replace(self, scope=scope)

    def writer(self) -> ObjectWriter:
        """Start storing an output. It goes to a local file first."""
        return ObjectWriter(self.bucket, self.local, compress=self.compress, age_seconds=self.retention.age_seconds)

    def get(self, ref: str, missing: Missed | None = None) -> Record:
        """Return the record of a ref or of a unique prefix; `missing` makes the error for none."""
        return merge_all([entry.record for entry in self._find(ref, missing)[1]])

    def known(self, ref: str) -> Record | None:
        """Return the record of a complete ref in exactly this scope, with at most one request and no listing.

        An output may hold many lines that look like notices of ours, and each is looked up. If one look fails or is slow, the
        bucket is left alone for a minute.
        """
        begun = time.monotonic()
        if begun < self.bucket.busy_until:
            return None
        entries: Entries = []
        failed = False
        try:
            entries = self._exact(ref)
        except StoreError:
            failed = True
        if failed or time.monotonic() - begun > SLOW_SHARE * self.deadline_seconds:
            self.bucket.busy_until = time.monotonic() + 60
        return entries[0].record if entries else None

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref; reading a range downloads only the frames it is in."""
        return self.opened(ref)[1]

    def opened(self, ref: str, missing: Missed | None = None) -> tuple[Record, Blob]:
        """Return the record and the bytes with a single lookup, since each lookup is a request."""
        whole, entries = self._find(ref, missing)
        record = merge_all([entry.record for entry in entries])
        for entry in entries:
            if entry.data or not entry.record.bytes:
                return record, RemoteBlob(self.bucket, place_of(entry.record.scope), entry)
        return record, self.local.open(whole)

    def list(self) -> Iterator[Record]:
        """Return every visible output, newest first. Reads every record, many at once."""
        found: dict[str, list[Record]] = {}
        for record in self._local_records():
            found.setdefault(record.ref, []).append(record)
        for entry in self.view.entries(self._names()):
            found.setdefault(entry.record.ref, []).append(entry.record)
        return iter(sorted(map(merge_all, found.values()), key=lambda record: (-record.created, record.ref)))

    def newest(self, count: int) -> tuple[Records, int]:
        """Return the `count` outputs changed last in the bucket, and how many there are: one listing, and `count` records."""
        here = [*self._local_records()]
        total = len(here)
        heap: list[tuple[datetime, str]] = []
        for one in self.view.listed():
            total += 1
            (heappush if len(heap) < count else heappushpop)(heap, one)
        found = [entry.record for entry in self.view.entries(filter(None, (parse(key) for _, key in heap)))]
        return sorted([*here, *found], key=lambda record: (-record.created, record.ref))[:count], total

    def delete(self, ref: str) -> None:
        """Remove an output from every visible scope."""
        whole, entries = self._find(ref)
        for entry in entries:
            if entry.data or not entry.record.bytes:
                self.view.remove(entry)
        with suppress(RefError):
            if any(not entry.data for entry in entries):
                self._forget_local(whole)

    def disown(self, ref: str, scope: str) -> None:
        """Drop an output from a scope."""
        self.within(scope).delete(ref)

    def pin(self, ref: str, pinned: bool = True) -> None:  # noqa: ARG002  as in every store
        """Raise StoreError: the bucket's lifecycle rule decides how long an output is kept."""
        self._find(ref)
        raise StoreError(f"{self.url}: {LIFECYCLE_DECIDES}; nothing can be pinned or unpinned")

    def where(self, ref: str) -> str | None:
        """Return the path of an output that is only on this machine; outputs in the bucket have none."""
        if not REF_SHAPE.fullmatch(ref):
            check_ref(ref)
        return None

    def note(self, run: RunRecord) -> None:
        """Remember a run, on this machine only: a request for every tool call would cost too much."""
        self.local.note(run)

    def runs(self) -> Iterator[RunRecord]:
        return self.local.runs()

    def push(self, *, seconds: float | None = None) -> Pushed:
        """Upload the outputs that are only on this machine."""
        return push(
            self.local,
            self.bucket,
            compress=self.compress,
            age_seconds=self.retention.age_seconds,
            seconds=seconds,
        )

    def _find(self, ref: str, missing: Missed | None = None) -> tuple[str, Entries]:
        """Return the one output that `ref` names, and its entry in each scope in view. What is only here has no bytes there."""
        check_ref(ref)
        if REF_SHAPE.fullmatch(ref) and (entries := self._exact(ref)):
            return ref, entries
        local = {record.ref for record in self._local_records()}
        try:
            names = self._names(ref)
        except StoreError:
            if not any(matches(ref, name) for name in local):
                raise
            names = []  # the bucket is away, and it is here
        whole = resolve(ref, iter(sorted({*local, *(name.ref for name in names)})), missing)
        entries = [*self._local(whole), *self.view.entries(name for name in names if name.ref == whole)]
        if not entries:
            raise (missing or unknown)(ref)
        return whole, entries

    def _exact(self, ref: str) -> Entries:
        """Return the entries of a whole ref that can be had without a listing: here, and in the very scope of this view."""
        if self.scope == EVERY:  # others may have it too
            return []
        local = self._local(ref)
        try:
            found = self.view.own(ref)
        except StoreError:
            if not local:
                raise
            return local  # the bucket is away, and it is here
        return [*local, *([found] if found else [])]

    def _local(self, ref: str) -> Entries:
        """Return what is kept here only, as the scopes in view see it."""
        try:
            record = self.local.get(ref)
        except (RefError, StoreError):
            return []
        mine = seen(record, self.scope) if record.ref == ref else None
        return [Entry(mine)] if mine else []

    def _names(self, ref: str = "") -> Names:
        """Return the records in view, by their keys alone; with a ref, those that it may name."""
        names = (parse(key) for _, key in self.view.listed(ref))
        return [name for name in names if name and matches(ref, name.ref)]

    def _local_records(self) -> Iterator[Record]:
        if waiting(self.local):
            yield from filter(None, (seen(record, self.scope) for record in self.local.list()))

    def _forget_local(self, ref: str) -> None:
        if self.scope == EVERY:
            self.local.delete(ref)
        else:
            self.local.disown(ref, self.scope)


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
            if "one ref never names two" in str(error):  # keeping it here would not help
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
