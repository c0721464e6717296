"""ObjectStore: outputs in a bucket that many machines share, and a local spool for what could not be uploaded.

    acme/web/~o/bash-7f3a9c2e41d05b86.json                          the record, with the frames and the key of the bytes
    acme/web/~s/bash-7f3a9c2e41d05b86.5f1c09aa5f1c09aa.zst          its bytes, under a name that no other writer uses

The scope comes first, so that a prefix can be granted to a tenant. A view of a scope requests no key outside it, and
every record is checked when it is read. A scope that is a folder of a machine stands under `~f/`, by its hash, since it
may be longer than a key; an output without a scope stands under `~n/`. Records have a folder of their own, so that a
listing of one scope returns records only.

The bytes are uploaded first, then the record, if there is none: a reader that finds the record finds the bytes. If
there is one for the same output, it is brought up to date and the new bytes are removed. docs/format.md describes the
contents.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
import hashlib
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from heapq import nlargest
from itertools import chain
from typing import Any, Self

from msgspec import Struct, convert
from msgspec.structs import astuple, force_setattr, replace

from spillover.errors import RefError, SpilloverError, StoreError, UsageError
from spillover.source.blob import Blob
from spillover.store import BaseStore, WrappedWriter
from spillover.store.bucket import DEADLINE_SECONDS, Bucket, Conflict, Denied, Listed, NotFound, load_library
from spillover.store.directory import DirStore
from spillover.store.folder import Folder, explain_errors, user_folder
from spillover.store.frames import DamagedError, FrameBlob, Frames, FrameWriter, load_zstd, open_bytes
from spillover.store.record import (
    EVERY,
    REF_SHAPE,
    BytesMissingError,
    Record,
    RefTakenError,
    RunRecord,
    UnknownRefError,
    check_ref,
    combine,
    combine_by_ref,
    covers,
    encode,
    matches,
    merge,
    name_for,
    newest_first,
    read_facts,
    resolve,
    seen_by,
    split_by_scope,
    to_record,
)
from spillover.store.retention import Retention

_log = logging.getLogger(__name__)

SCHEMES = ("s3", "gs", "az")
LIFECYCLE_DECIDES = "the bucket's lifecycle rule decides how long outputs are kept (docs/fleet.md)"
#: The format of a record in a bucket.
FORMAT = 2
#: Folders in a bucket: records, bytes, scopes that are folders of a machine, and outputs without a scope.
RECORDS = "~o"
STORED = "~s"
FOLDERS = "~f"
NOBODY = "~n"
#: Characters of a scope in a key: keys have at most 1,024 bytes, with the bucket's prefix and the name of the output.
MAX_SCOPE_CHARS = 700
_NOT_PLAIN = re.compile(rb"[^A-Za-z0-9_.@+-]")
#: One pattern with the shape of a ref in it: a listing of 100,000 keys has time for one match each.
_KEY = re.compile(
    rf"((?:.*/)?)(?:{RECORDS}/({REF_SHAPE.pattern})\.json|{STORED}/({REF_SHAPE.pattern})\.[0-9a-f]{{16}}\.(?:zst|txt))",
    re.ASCII | re.DOTALL,
)
#: Records read, newest first, to find an output by words. More find older outputs, at a request each.
MAX_RECORDS_SEARCHED = 1_000
#: Records requested at once. More make a listing faster, and need more memory and connections.
REQUESTS_AT_ONCE = 16
#: Bytes of an output that is read when it is opened, so that it stays readable if it is removed. More open slower.
SMALL_BYTES = 1 << 19
#: Tries to update a record that others change meanwhile. Fewer lose calls on a busy record.
MAX_RECORD_TRIES = 50
#: An optional request that takes more than this share of the deadline is the last for PAUSE_SECONDS. With a longer
#: pause, more genuine notices are taken for forged ones.
SLOW_SHARE = 0.1
PAUSE_SECONDS = 60.0
#: Seconds in which a tool call uploads outputs that earlier calls have left in the spool. More delay the call.
PUSH_SECONDS = 1.0
#: Outputs in the spool are nowhere else, so age does not remove them; their number and size are bounded all the same.
SPOOL_RETENTION = Retention(age_seconds=None, bytes=5 << 30, count=10_000, grace_seconds=7 * 86_400)


class Pushed(Struct, frozen=True):
    """The result of a push."""

    outputs: int = 0
    bytes: int = 0
    left: int = 0  # outputs that are still only on this machine
    why: str = ""  # the error that kept them there


class BucketRecord(Struct, frozen=True):
    """A record in a bucket, with the key and the frames of its bytes."""

    record: Record
    data: str  # the key of the bytes in the folder of the scope; "" if there are none
    frames: Frames
    newlines: int

    @property
    def key(self) -> str:
        return record_key(self.record.scope, self.record.ref)

    @property
    def data_key(self) -> str:
        return f"{folder_of(self.record.scope)}/{self.data}"

    def encode(self) -> bytes:
        place = {"data": self.data, **self.frames.to_json(), "newlines": self.newlines}
        return encode(self.record, spillover=FORMAT, object=place)


class Place(Struct, frozen=True):
    """The key and the newlines of the bytes of a record: the JSON key `object`, without the frames."""

    data: str
    newlines: int


class Copies(Struct, frozen=True):
    """The copies of an output for the scopes in view: in the spool, and in the bucket for each scope."""

    ref: str
    spooled: Record | None
    entries: tuple[BucketRecord, ...]

    @property
    def record(self) -> Record:
        return combine([*([self.spooled] if self.spooled else []), *(entry.record for entry in self.entries)])


class ObjectStore(BaseStore, Struct, frozen=True):
    """Outputs in object storage: `ObjectStore("s3://bucket/prefix")`. Creating the object sends no request.

    Credentials and endpoints are found by the library's own conventions (AWS_…, GOOGLE_…, AZURE_… variables), or given
    as `options` for `obstore.store.from_url`. `deadline_seconds` is how long a call waits without progress.
    """

    url: str
    retention: Retention = Retention()  # its age is that of the bucket's lifecycle rule; the rest is for folders
    spool: str | os.PathLike[str] | None = None  # a local folder; None: one beside the default store
    deadline_seconds: float = DEADLINE_SECONDS
    compress: bool = True
    options: Any = None
    scope: str = EVERY  # what this view of the bucket can see; `for_scope` narrows it
    bucket: Bucket = None  # type: ignore[assignment]  # set below

    def __eq__(self, store: object) -> bool:
        return isinstance(store, ObjectStore) and astuple(self)[:-1] == astuple(store)[:-1]  # all but the bucket

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
        load_library()  # so that a missing extra is reported now
        if self.compress:
            load_zstd()
        url = self.url.rstrip("/")
        force_setattr(self, "bucket", Bucket(url, deadline=self.deadline_seconds, options=self.options))
        force_setattr(self, "spool", os.path.abspath(self.spool or _default_spool(url)))

    @property
    def local(self) -> DirStore:
        """The spool: the outputs that are only on this machine."""
        assert self.spool is not None
        return DirStore(self.spool, SPOOL_RETENTION)

    @property
    def folder(self) -> str:
        return self.local.path

    def for_scope(self, scope: str) -> Self:
        """Return the part of the store that a scope may see; no key outside it is ever requested."""
        return self if scope == self.scope else replace(self, scope=scope)

    def writer(self) -> ObjectWriter:
        """Start storing an output. It goes to a local file first."""
        return ObjectWriter(self)

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix."""
        return self._find(ref).record

    def get_any_scope(self, ref: str) -> Record | None:
        """Return the record of a complete ref in exactly this scope, with at most one request and no listing.

        An output may hold many lines that look like notices of ours, and each is looked up. After a request that fails
        or is slow, there is none for a minute.
        """
        started = time.monotonic()
        if not REF_SHAPE.fullmatch(ref) or started < self.bucket.pause_until:
            return None
        copies = None
        is_quick = False
        with suppress(StoreError):
            copies = self._find_exact(ref)
            is_quick = time.monotonic() - started <= SLOW_SHARE * self.deadline_seconds
        if not is_quick:
            self.bucket.pause_until = time.monotonic() + PAUSE_SECONDS
        return copies.record if copies else None

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref; reading a range downloads only the frames it is in."""
        return self.open_record(ref)[1]

    def open_record(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes of a ref with one lookup, since each lookup is a request."""
        copies = self._find(ref)
        blob = BucketBlob(self.bucket, copies.entries[0]) if copies.entries else self.local.open(copies.ref)
        return copies.record, blob

    def list(self) -> Iterator[Record]:
        """Return every output in view, newest first; this reads every record."""
        records = (entry.record for entry in self._read_entries(self._keys()))
        return iter(combine_by_ref(chain(self._spooled_records(), records)))

    def newest(self, count: int | None = None) -> tuple[builtins.list[Record], int]:
        """Return the newest outputs, and the number of all, with one listing and `count` more requests."""
        count = MAX_RECORDS_SEARCHED if count is None else count
        records = self._spooled_records()
        rows = [*self._list_records()]
        total = len(records) + len(rows)
        newest = nlargest(count, rows, key=lambda row: (row.modified, row.key))
        records += [entry.record for entry in self._read_entries(row.key for row in newest)]
        return newest_first(records)[:count], total

    def delete(self, ref: str) -> None:
        """Remove an output from every scope in view."""
        copies = self._find(ref)
        if copies.spooled:
            with suppress(RefError):
                if self.scope == EVERY:
                    self.local.delete(copies.ref)
                else:
                    self.local.release(copies.ref, self.scope)
        for entry in copies.entries:
            self.bucket.delete([entry.key])  # first, because it makes the bytes visible
            if entry.data:
                self.bucket.delete([entry.data_key])

    def release(self, ref: str, scope: str) -> None:
        """Remove an output from one scope."""
        self.for_scope(scope).delete(ref)

    def pin(self, ref: str, pinned: bool = True) -> None:  # noqa: ARG002  as in every store
        """Raise StoreError: the bucket's lifecycle rule decides how long an output is kept."""
        self._find(ref)
        raise StoreError(f"{self.url}: {LIFECYCLE_DECIDES}; nothing can be pinned or unpinned")

    def where(self, ref: str) -> str | None:
        """Return None: outputs in the bucket have no path."""
        if not REF_SHAPE.fullmatch(ref):
            check_ref(ref)
        return None

    def remember(self, run: RunRecord) -> None:
        """Remember a run, on this machine only: a request for every tool call would cost too much."""
        self.local.remember(run)

    def runs(self) -> Iterator[RunRecord]:
        return self.local.runs()

    def push(self, *, seconds: float | None = None) -> Pushed:
        """Upload the outputs that are only on this machine, for at most `seconds`. An output that fails stays here."""
        refs = self._spooled_refs()
        until = None if seconds is None else time.monotonic() + seconds
        outputs = size = 0
        why = ""
        for ref in refs:
            if until is not None and time.monotonic() >= until:
                break
            try:
                uploaded = self._push_one(ref)
            except (RefError, FileNotFoundError):
                continue  # another process was faster
            except RefTakenError as error:
                why = str(error)
                continue
            except SpilloverError as error:
                why = str(error)
                break  # the next one would fail too
            outputs += uploaded is not None
            size += uploaded or 0
        if outputs:
            _log.info("Pushed %s outputs of %s bytes to %s.", f"{outputs:,}", f"{size:,}", self.bucket.url)
        return Pushed(outputs, size, len(self._spooled_refs()) if refs else 0, why)

    def _push_one(self, ref: str) -> int | None:
        """Upload an output for each of its scopes; return its size, or None if it was stored again and stays."""
        root = self.local.path
        with explain_errors(root), Folder(root) as folder:
            files = folder.find_files(ref)  # before reading: a process that adds a call to the record touches it
            record = folder.read_record(ref)
            with closing(open_bytes(folder, ref)) as blob:
                for part in split_by_scope(record):
                    upload(self, blob, part)
            return record.bytes if folder.remove(ref, files) else None

    def _spooled_refs(self) -> builtins.list[str]:
        with suppress(OSError), Folder(self.local.path) as folder:
            return sorted(folder.refs())
        return []

    def _spooled_records(self) -> builtins.list[Record]:
        """Return the records in the spool with the calls in view; none if it cannot be read."""
        with suppress(StoreError):
            return [visible for record in self.local.list() if (visible := seen_by(record, self.scope))]
        return []

    def _get_spooled(self, ref: str) -> Record | None:
        """Return the record of a complete ref in the spool, with the calls in view."""
        try:
            record = self.local.get(ref)
        except (RefError, StoreError):
            return None
        return seen_by(record, self.scope) if record.ref == ref else None

    def _find(self, ref: str) -> Copies:
        """Return the one output that `ref` names; raise RefError if there is none."""
        check_ref(ref)
        if REF_SHAPE.fullmatch(ref) and (copies := self._find_exact(ref)):
            return copies
        spooled = {record.ref for record in self._spooled_records()}
        try:
            keys = self._keys(ref)
        except StoreError:
            if not any(matches(ref, name) for name in spooled):
                raise
            keys = {}  # the bucket is away, but the output is here
        name = resolve(ref, iter(sorted({*spooled, *keys.values()})))
        entries = self._read_entries(key for key in keys if keys[key] == name)
        copies = Copies(name, self._get_spooled(name), tuple(entries))
        if not copies.spooled and not copies.entries:
            raise UnknownRefError(ref)
        return copies

    def _find_exact(self, ref: str) -> Copies | None:
        """Return an output by its complete ref without a listing: from the spool, and from exactly this scope."""
        if self.scope == EVERY:  # several scopes may have it
            return None
        spooled = self._get_spooled(ref)
        entry = None
        try:
            entry = self._read_entry(record_key(self.scope, ref))
        except Denied:
            pass  # perhaps it does not exist; a listing answers that, or explains the missing right
        except StoreError:
            if not spooled:
                raise
            # The bucket is away, but the output is here.
        if spooled is None and entry is None:
            return None
        return Copies(ref, spooled, (entry,) if entry else ())

    def _keys(self, ref: str = "") -> dict[str, str]:
        """Return the keys of the records in view whose refs begin with `ref`, each with its ref."""
        keys = {row.key: parse_key(row.key) or "" for row in self._list_records(ref)}
        return {key: name for key, name in keys.items() if matches(ref, name)}

    def _list_records(self, ref: str = "") -> Iterator[Listed]:
        """List the records in view; for the start of a ref, at least those that begin with it."""
        folder = folder_of(self.scope)
        after = None
        if self.scope.startswith("/"):  # no other scope is below it
            folder = f"{folder}/{RECORDS}"
            after = f"{folder}/{ref}" if "-" in ref else None
        for row in self.bucket.list(folder, after=after):
            if after and row.key > f"{after}~":  # "~" comes after every character of a name
                return
            if row.key.endswith(".json") and parse_key(row.key):
                yield row

    def _read_entries(self, keys: Iterable[str]) -> builtins.list[BucketRecord]:
        """Return the records under these keys, without those that are damaged or not in view."""
        with ThreadPoolExecutor(REQUESTS_AT_ONCE, "spillover-list") as pool:
            return [*filter(None, pool.map(self._read_entry, keys))]

    def _read_entry(self, key: str) -> BucketRecord | None:
        """Return the record under a key; None if there is none, or it is damaged or not in view.

        A record counts only where its own scope puts it: one that was copied elsewhere belongs to no scope.
        """
        try:
            _, entry = _get_record(self.bucket, key)
        except NotFound:
            return None
        if entry is None:
            _log.warning("The record %s in %s is damaged.", key, self.bucket.url)
            return None
        is_in_view = covers(self.scope, entry.record.scope)
        return entry if is_in_view and entry.key == key and not entry.record.others else None


class ObjectWriter(WrappedWriter):
    """An output on its way into a bucket; it stays in the spool if it cannot be uploaded."""

    __slots__ = ("_store",)

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store.local.writer())
        self._store = store

    def publish(self, record: Record) -> Record:
        """Upload the output, and then the spool of earlier calls; on failure keep it there, as the record reports."""
        store = self._store
        record = record.with_created(time.time())
        with closing(self.blob()) as blob:
            if blob.size != record.bytes:
                self.abandon()
                raise StoreError(f"expected {record.bytes:,} bytes, but {blob.size:,} were stored.")
            try:
                published = combine([upload(store, blob, part) for part in split_by_scope(record)])
            except RefTakenError:  # the spool would not help
                self.abandon()
                raise
            except StoreError as error:
                _log.warning("An output of %s is kept on this machine only: %s", record.tool, error)
                spooled = self.inner.publish(record)
                return replace(spooled, path=store.local.where(spooled.ref), only_here=str(error))
        self.abandon()
        with suppress(StoreError):
            store.push(seconds=PUSH_SECONDS)
        return published


def upload(store: ObjectStore, blob: Blob, record: Record) -> Record:
    """Upload an output for one scope and return its record in the bucket."""
    record = record.with_ref(name_for(record.tool, record.sha256))
    uploaded = _upload_bytes(store.bucket, blob, record, compress=store.compress)
    # If this fails, the record may have arrived all the same, so the bytes stay until the lifecycle rule removes them.
    published = _upload_record(store.bucket, uploaded, store.retention.age_seconds)
    if uploaded.data and published.data != uploaded.data:
        with suppress(StoreError):  # the lifecycle rule removes them
            store.bucket.delete([uploaded.data_key])
    return published.record


def _upload_bytes(bucket: Bucket, blob: Blob, record: Record, *, compress: bool) -> BucketRecord:
    """Upload the bytes under a new name; return the record that names them."""
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    writer = FrameWriter(blob, compress=compress)
    data = ""
    if blob.size:
        ending = "zst" if writer.form == "zstd" else "txt"
        data = f"{STORED}/{record.ref}.{os.urandom(8).hex()}.{ending}"
        bucket.put(f"{folder_of(record.scope)}/{data}", writer.write())
    return BucketRecord(record, data, writer.table(), newlines)


def _upload_record(bucket: Bucket, uploaded: BucketRecord, max_age_seconds: float | None) -> BucketRecord:
    """Create a record, or merge it with the one of its key; RefTakenError if another output has the ref."""
    for _ in range(MAX_RECORD_TRIES):
        try:
            bucket.create(uploaded.key, uploaded.encode())
        except Conflict:
            pass
        else:
            return uploaded
        try:
            tag, present = _get_record(bucket, uploaded.key)
        except NotFound:
            continue  # removed just now
        merged = uploaded  # replaces a damaged record, which no scope can see
        if present is not None:
            if present.record.sha256 != uploaded.record.sha256:
                raise RefTakenError(uploaded.record.ref)
            # The record is replaced even if nothing changed, so that the lifecycle rule sees it as new. It may be our
            # own: the request arrived, and its answer was lost.
            place = present if _has_fresh_bytes(bucket, present, max_age_seconds) else uploaded
            merged = replace(place, record=replace(merge(present.record, uploaded.record), others=()))
        try:
            bucket.replace(uploaded.key, merged.encode(), tag)
        except (Conflict, NotFound):
            continue
        return merged
    raise StoreError(f"{bucket.url}/{uploaded.key} keeps changing; nothing can be stored under that name")


def _has_fresh_bytes(bucket: Bucket, present: BucketRecord, max_age_seconds: float | None) -> bool:
    """Return whether the bytes of a record are there, and at most half as old as the bucket's lifecycle rule allows."""
    if not present.data:
        return True
    facts = bucket.head(present.data_key)
    if facts is None or facts["size"] != present.frames.stored_bytes:
        return False
    return max_age_seconds is None or time.time() - facts["last_modified"].timestamp() <= max_age_seconds / 2


def _get_record(bucket: Bucket, key: str) -> tuple[str | None, BucketRecord | None]:
    """Return the tag and the content of a record; None for one that is damaged in the bucket, not on the way here."""
    for _ in range(2):
        answer = bucket.get(key)
        with suppress(ValueError):
            return answer.tag, decode(answer.data, parse_key(key) or "")
    return answer.tag, None


class BucketBlob(FrameBlob):
    """The bytes of one output in a bucket. A read costs one request, and every frame is checked."""

    __slots__ = ("_bucket", "_key", "newlines")

    def __init__(self, bucket: Bucket, entry: BucketRecord) -> None:
        self._bucket = bucket
        self._key = entry.data_key
        self.newlines = entry.newlines
        super().__init__(entry.frames, self._get_range, entry.record.ref)
        if 0 < entry.frames.stored_bytes <= SMALL_BYTES:
            self.load(0, len(entry.frames.sizes))

    def load(self, first: int, upto: int) -> dict[int, bytes]:
        try:
            return super().load(first, upto)
        except DamagedError:  # perhaps by the transfer
            return super().load(first, upto)

    def _get_range(self, start: int, end: int) -> bytes:
        try:
            return self._bucket.get_range(self._key, start, end)
        except NotFound:
            raise BytesMissingError(
                f"The bytes of {self._name} are gone (removed, or expired in the bucket). Run the tool again."
            ) from None


def decode(data: bytes, ref: str) -> BucketRecord:
    """Return the record that was written for a ref; raise ValueError, with the reason, for anything else."""
    facts = read_facts(data, FORMAT)
    record = to_record(facts, ref=ref, pinned=False)
    place = convert(facts.get("object"), Place)
    frames = convert({**facts["object"], "bytes": record.bytes}, Frames)
    if record.bytes if not place.data else not _is_data_of(ref, place.data):
        raise ValueError("its bytes would be elsewhere")
    if place.newlines not in (record.lines, record.lines - 1):
        raise ValueError("its lines do not add up")
    return BucketRecord(record, place.data, frames, place.newlines)


def _is_data_of(ref: str, name: str) -> bool:
    """Return whether a key in the folder of a scope names bytes of a ref; no other is ever opened for it."""
    return parse_key(name) == ref and name.rpartition("/")[0] == STORED


def parse_key(key: str) -> str | None:
    """Return the ref in the key of a record or of bytes; None if it is not one of ours."""
    match = _KEY.fullmatch(key)
    return match and (match[2] or match[3])


def record_key(scope: str | None, ref: str) -> str:
    return f"{folder_of(scope)}/{RECORDS}/{ref}.json"


def folder_of(scope: str | None) -> str:
    """Return the folder of a scope, which also holds every scope below it; "" for everything."""
    if scope == EVERY:
        return ""
    if scope is None:
        return NOBODY
    if scope.startswith("/"):
        return f"{FOLDERS}/{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    folder = "/".join(map(_escape, scope.split("/")))
    if len(folder) > MAX_SCOPE_CHARS:
        raise StoreError(
            f"the scope takes {len(folder):,} characters of a key; use at most {MAX_SCOPE_CHARS}, "
            "best of a-z, 0-9 and '-_.@'"
        )
    return folder


def _escape(segment: str) -> str:
    """Return a segment of a scope as a segment of a key, with =XX for unusual bytes; it never begins with "~"."""
    data = segment.encode("utf-8", "surrogatepass")
    return _NOT_PLAIN.sub(lambda match: b"=%02X" % match[0][0], data).decode("ascii")


def _default_spool(url: str) -> str:
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return os.path.join(user_folder(os.environ, "XDG_STATE_HOME", ".local/state") + "-spool", name)
