"""ObjectStore: outputs in a bucket that many machines share, and a spool for what could not be brought there.

    acme/web/~o/bash-7f3a9c2e41d05b86.json                          the record, with the frames and the key of the bytes
    acme/web/~s/bash-7f3a9c2e41d05b86.5f1c09aa5f1c09aa.zst          its bytes, under a name that nobody else writes to

The scope comes first, so that a prefix can be granted to a tenant; no key outside the scope of a view is requested, and whose
a record is is checked at every read. A scope that is a folder of a machine stands under `~f/`, by its hash: it may be longer
than a key. What belongs to nobody stands under `~n/`. Records are in a folder of their own, so that a listing of one scope
brings records alone.

The bytes go up first, then the record, if there is none: whoever finds the record finds the bytes. If the same output is there
already, its record is brought up to date and the bytes that came for nothing are removed. docs/format.md says what stands in a
bucket.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from heapq import nlargest
from itertools import chain

from msgspec import Struct, convert
from msgspec.structs import astuple, force_setattr, replace

from spillover.base import Public
from spillover.base.folders import user_folder
from spillover.errors import RefError, SpilloverError, StoreError, UsageError
from spillover.store import BaseStore
from spillover.store.base import (
    REF_SHAPE,
    BytesMissingError,
    Record,
    RefTakenError,
    UnknownRefError,
    check_ref,
    matches,
    name_for,
    resolve,
)
from spillover.store.bucket import (
    DEADLINE_SECONDS,
    PART_BYTES,
    Bucket,
    Conflict,
    Denied,
    NotFound,
    Progress,
    load_library,
    watch,
)
from spillover.store.directory import DirStore
from spillover.store.folder import Folder, explain_errors
from spillover.store.frames import (
    FRAME_BYTES,
    DamagedError,
    FrameBlob,
    Frames,
    FrameWriter,
    load_zstd,
    open_bytes,
)
from spillover.store.owners import merge, owners, seen
from spillover.store.reading import read_record
from spillover.store.record import read_facts, to_json, to_record
from spillover.store.retention import Retention
from spillover.store.scope import EVERY, covers
from spillover.store.tally import remove

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins  # a method has the name of a type
    from collections.abc import Iterable, Iterator
    from typing import Any, Self

    from spillover.source.blob import Blob
    from spillover.store.runs import RunRecord


SCHEMES = ("s3", "gs", "az")
LIFECYCLE_DECIDES = "the bucket's lifecycle rule decides how long outputs are kept (docs/fleet.md)"
#: The format of a record in a bucket.
FORMAT = 2
#: Folders in a bucket.
OUTPUTS, STORED, FOLDERS, NOBODY = "~o", "~s", "~f", "~n"
#: A key has at most 1,024 bytes in every store; a prefix of the bucket and the name of an output are part of it.
SCOPE_CHARS = 700
_ODD = re.compile(rb"[^A-Za-z0-9_.@+-]")
#: The shape of a ref (`REF_SHAPE`) stands in the middle of it: a listing of 100,000 keys has time for one look at each.
_KEY = re.compile(
    rf"((?:.*/)?)(?:{OUTPUTS}/({REF_SHAPE.pattern})\.json|{STORED}/({REF_SHAPE.pattern})\.[0-9a-f]{{16}}\.(?:zst|txt))",
    re.ASCII | re.DOTALL,
)
#: Records read, newest first, to find an output by words: each one is a request.
MAX_RECORDS_SEARCHED = 1_000
#: Records read at once.
READS_AT_ONCE = 16
#: Bytes that are not more are read when an output is opened: they are there then, whatever becomes of them in the bucket.
SMALL_BYTES = 1 << 19
#: How often a record is tried that others change at the very moment, and how many names for the bytes.
MAX_RECORD_TRIES = 50
MAX_NAME_TRIES = 3
#: What a slow line may need for the parts that are under way when the last one is handed over: a second for so many bytes.
SLOW_LINE_BYTES = 1 << 20
#: A look that may be left out is slow if it takes more than this share of the deadline; then there is none for so long.
SLOW_SHARE = 0.1
PAUSE_SECONDS = 60.0
#: How long a tool call may be busy with what earlier ones have left.
ALONG_SECONDS = 1.0
#: What waits in the spool is not removed by age: it is nowhere else. It is bounded all the same.
SPOOL_RETENTION = Retention(age_seconds=None, bytes=5 << 30, count=10_000, grace_seconds=7 * 86_400)


class ObjectStore(BaseStore, Struct, metaclass=Public, frozen=True):
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
    scope: str = EVERY  # what this view of the bucket can see; `for_scope` narrows it
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
        load_library()
        if self.compress:
            load_zstd()  # or say at once what to install
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
        return self.local.folder

    def for_scope(self, scope: str) -> Self:
        """Return the part of the store that a scope can see; no key outside it is ever requested."""
        return self if scope == self.scope else replace(self, scope=scope)

    def writer(self) -> ObjectWriter:
        """Start storing an output. It goes to a local file first."""
        return ObjectWriter(self)

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix."""
        return _merge_records([entry.record for entry in self._find(ref)[1]])

    def get_any_scope(self, ref: str) -> Record | None:
        """Return the record of a complete ref in exactly this scope, with at most one request and no listing.

        An output may hold many lines that look like notices of ours, and each is looked up. If one look fails or is slow, the
        bucket is left alone for a minute.
        """
        started = time.monotonic()
        if not REF_SHAPE.fullmatch(ref) or started < self.bucket.pause_until:
            return None
        entries: builtins.list[Entry] = []
        failed = False
        try:
            entries = self._find_exact(ref)
        except StoreError:
            failed = True
        now = time.monotonic()
        if failed or now - started > SLOW_SHARE * self.deadline_seconds:
            self.bucket.pause_until = now + PAUSE_SECONDS
        return entries[0].record if entries else None

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref; reading a range downloads only the frames it is in."""
        return self.open_record(ref)[1]

    def open_record(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes with a single lookup, since each lookup is a request."""
        name, entries = self._find(ref)
        record = _merge_records([entry.record for entry in entries])
        for entry in entries:
            if not entry.spooled:
                return record, BucketBlob(self.bucket, entry)
        return record, self.local.open(name)

    def list(self) -> Iterator[Record]:
        """Return every visible output, newest first. Reads every record, many at once."""
        copies: dict[str, list[Record]] = {}
        for record in chain(self._spooled_records(), (entry.record for entry in self._read_entries(self._keys()))):
            copies.setdefault(record.ref, []).append(record)
        return iter(sorted(map(_merge_records, copies.values()), key=_newest_first))

    def newest(self, count: int | None = None) -> tuple[builtins.list[Record], int]:
        """Return the `count` outputs changed last in the bucket, and how many there are: one listing, and `count` records."""
        count = MAX_RECORDS_SEARCHED if count is None else count
        records = [*self._spooled_records()]
        rows = [*self._list_records()]
        total = len(records) + len(rows)
        keys = filter(None, (parse_key(key) for _, key in nlargest(count, rows)))
        records += [entry.record for entry in self._read_entries(keys)]
        return sorted(records, key=_newest_first)[:count], total

    def delete(self, ref: str) -> None:
        """Remove an output from every visible scope."""
        name, entries = self._find(ref)
        for entry in entries:
            if entry.spooled:
                with suppress(RefError):
                    self._delete_spooled(name)
                continue
            self.bucket.delete([entry.record_key])  # first, because it makes the bytes visible
            if entry.data:
                self.bucket.delete([entry.data_key])

    def release(self, ref: str, scope: str) -> None:
        """Drop an output from a scope."""
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
        """Upload the outputs that are only on this machine: all, or what can be done in so many seconds. What fails stays."""
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
                break  # what one meets, the next one would meet
            outputs += uploaded is not None
            size += uploaded or 0
        if outputs:
            _log.info("Pushed %s outputs of %s bytes to %s.", f"{outputs:,}", f"{size:,}", self.bucket.url)
        return Pushed(outputs, size, len(self._spooled_refs()) if refs else 0, why)

    def _push_one(self, ref: str) -> int | None:
        """Upload one output, for every scope that has it; its bytes, or None where somebody has stored it again meanwhile."""
        root = os.fspath(self.local.root)
        with explain_errors(root), Folder(root) as folder:
            facts = folder.look(ref)  # before it is read: whoever adds a call to it touches it
            record = read_record(folder, ref)
            blob = open_bytes(folder, ref)
            try:
                for each in _split_scopes(record):  # each has the deadline for itself
                    watch(self.bucket.url, self.deadline_seconds, partial(upload, self, blob, each))
            finally:
                blob.close()
            return record.bytes if remove(folder, ref, facts) else None

    def _spooled_refs(self) -> builtins.list[str]:
        with suppress(OSError), Folder(os.fspath(self.local.root)) as folder:
            return sorted(folder.refs())
        return []

    def _spooled_records(self) -> Iterator[Record]:
        if self._spooled_refs():
            yield from filter(None, (seen(record, self.scope) for record in self.local.list()))

    def _delete_spooled(self, ref: str) -> None:
        if self.scope == EVERY:
            self.local.delete(ref)
        else:
            self.local.release(ref, self.scope)

    def _find(self, ref: str) -> tuple[str, builtins.list[Entry]]:
        """Return the one output that `ref` names, and its entry in each scope in view."""
        check_ref(ref)
        if REF_SHAPE.fullmatch(ref) and (entries := self._find_exact(ref)):
            return ref, entries
        spooled = {record.ref for record in self._spooled_records()}
        try:
            keys = self._keys(ref)
        except StoreError:
            if not any(matches(ref, name) for name in spooled):
                raise
            keys = []  # the bucket is away, and it is here
        name = resolve(ref, iter(sorted({*spooled, *(key.ref for key in keys)})))
        entries = [*self._find_spooled(name), *self._read_entries(key for key in keys if key.ref == name)]
        if not entries:
            raise UnknownRefError(ref)
        return name, entries

    def _find_exact(self, ref: str) -> builtins.list[Entry]:
        """Return the entries of a whole ref that can be had without a listing: here, and in the very scope of this view."""
        if self.scope == EVERY:  # others may have it too
            return []
        spooled = self._find_spooled(ref)
        try:
            entry = self._read_entry(Key(ref, record_key(self.scope, ref)))
        except Denied:  # perhaps it is not there: who has to know makes a listing, which says why it may not
            return spooled
        except StoreError:
            if not spooled:
                raise
            return spooled  # the bucket is away, and it is here
        return [*spooled, *([entry] if entry else [])]

    def _find_spooled(self, ref: str) -> builtins.list[Entry]:
        """Return what is kept here only, as the scopes in view see it."""
        try:
            record = self.local.get(ref)
        except (RefError, StoreError):
            return []
        visible = seen(record, self.scope) if record.ref == ref else None
        return [Entry(visible, spooled=True)] if visible else []

    def _keys(self, ref: str = "") -> builtins.list[Key]:
        """Return the records in view, by their keys alone; with a ref, those that it may name."""
        keys = (parse_key(name) for _, name in self._list_records(ref))
        return [key for key in keys if key and matches(ref, key.ref)]

    def _list_records(self, ref: str = "") -> Iterator[tuple[Any, str]]:
        """Yield when each record in view was changed, and its key; with the start of a ref, of those that it may name, and others."""
        folder = folder_of(self.scope)
        after = None
        if self.scope.startswith("/"):  # such a scope has no others below it
            folder = f"{folder}/{OUTPUTS}"
            after = f"{folder}/{ref}" if "-" in ref else None
        for name, _, changed in self.bucket.list(folder, after=after):
            if after and name > f"{after}~":  # "~" comes after every character of a name
                return
            if name.endswith(".json") and parse_key(name):
                yield changed, name

    def _read_entries(self, keys: Iterable[Key]) -> builtins.list[Entry]:
        """Return the entries under these keys that can be read and belong where they stand."""
        keys = [*keys]
        if len(keys) < 2:
            return [*filter(None, map(self._read_entry, keys))]
        with ThreadPoolExecutor(min(READS_AT_ONCE, len(keys)), "spillover-list") as pool:
            return [*filter(None, pool.map(self._read_entry, keys))]

    def _read_entry(self, key: Key) -> Entry | None:
        """Return what stands under a key; None for nothing, for what cannot be read, and for what is not in view.

        A record has to stand where its own scope puts it: one that was copied elsewhere is nobody's.
        """
        try:
            entry = _get_entry(self.bucket, key)[1]
        except NotFound:
            return None
        if entry is None:
            _log.warning("The record %s in %s is damaged.", key.name, self.bucket.url)
            return None
        in_view = self.scope == EVERY or covers(self.scope, entry.record.scope)
        return entry if in_view and entry.record_key == key.name and not entry.record.others else None


class ObjectWriter:
    """An output on its way into a bucket; it stays in the spool if it cannot be brought there."""

    __slots__ = ("_inner", "_store", "abandon", "blob", "fileno", "write")

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._inner = store.local.writer()
        self.write = self._inner.write
        self.fileno = self._inner.fileno
        self.blob = self._inner.blob
        self.abandon = self._inner.abandon

    def publish(self, record: Record) -> Record:
        """Upload it, and what earlier calls have left here; where that fails, keep it here and say so."""
        store = self._store
        record = record.with_created(time.time())
        blob = self._inner.blob()
        if blob.size != record.bytes:
            blob.close()
            self.abandon()
            raise StoreError(f"expected {record.bytes:,} bytes, but {blob.size:,} were stored.")
        try:
            published = watch(store.bucket.url, store.deadline_seconds, partial(self._upload, blob, record))
        except RefTakenError:  # keeping it here would not help
            self.abandon()
            raise
        except StoreError as error:
            _log.warning("An output of %s is kept on this machine only: %s", record.tool, error)
            spooled = self._inner.publish(record)
            return replace(spooled, path=store.local.where(spooled.ref), only_here=str(error))
        finally:
            blob.close()
        self.abandon()
        with suppress(StoreError):
            store.push(seconds=ALONG_SECONDS)
        return published

    def _upload(self, blob: Blob, record: Record, progress: Progress) -> Record:
        return _merge_records([upload(self._store, blob, each, progress) for each in _split_scopes(record)])


def upload(store: ObjectStore, blob: Blob, record: Record, progress: Progress) -> Record:
    """Upload an output and return its record as it is in the bucket then; StoreError when that could not be done."""
    bucket = store.bucket
    record = record.with_ref(name_for(record.tool, record.sha256))
    entry = _put_bytes(bucket, blob, record, compress=store.compress, progress=progress)
    # Where this fails, nobody knows whether the record arrived, so the bytes stay, until the lifecycle rule removes them.
    published = _claim(bucket, entry, progress, store.retention.age_seconds)
    if entry.data and published.data != entry.data:
        with suppress(StoreError):  # the lifecycle rule removes it
            bucket.delete([entry.data_key])
    return published.record


def _put_bytes(bucket: Bucket, blob: Blob, record: Record, *, compress: bool, progress: Progress) -> Entry:
    """Put the bytes under a name that nobody has; return the entry that names them."""
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    packer = FrameWriter(blob, compress=compress)
    if not blob.size:
        return Entry(record, "", packer.table(), newlines)

    def pieces() -> Iterator[bytes]:
        for piece in packer.write():
            progress.step(4 * PART_BYTES / SLOW_LINE_BYTES)
            yield piece

    rest = pieces()
    first: list[bytes] = []
    size = 0
    for piece in rest:
        first.append(piece)
        size += len(piece)
        if size > PART_BYTES:
            break
    for _ in range(MAX_NAME_TRIES):
        data = f"{STORED}/{record.ref}.{os.urandom(8).hex()}.{'zst' if packer.form == 'zstd' else 'txt'}"
        key = f"{folder_of(record.scope)}/{data}"
        if size > PART_BYTES:
            bucket.put_pieces(key, chain(first, rest))
        elif not _create(bucket, key, b"".join(first), progress):
            continue
        progress.step()
        return Entry(record, data, packer.table(), newlines)
    raise StoreError(f"{bucket.url}: {MAX_NAME_TRIES} uploads in a row were refused under names that nobody has")


def _create(bucket: Bucket, key: str, data: bytes, progress: Progress) -> bool:
    """Put an object under a name that nobody has; False where the server is wrong about that."""
    progress.step(len(data) / SLOW_LINE_BYTES)
    try:
        bucket.create(key, data)
    except Conflict:  # nobody else makes this name: an earlier try of ours arrived, and its answer was lost
        stored = bucket.head(key)
        return stored is not None and stored["size"] == len(data)
    return True


def _claim(bucket: Bucket, entry: Entry, progress: Progress, max_age_seconds: float | None) -> Entry:
    """Put the record under its key, and return what stands there then; RefTakenError when another output has it."""
    key = Key(entry.record.ref, entry.record_key)
    for _ in range(MAX_RECORD_TRIES):
        progress.step()
        try:
            bucket.create(key.name, entry.encode())
        except Conflict:
            pass
        else:
            return entry
        try:
            tag, present = _get_entry(bucket, key)
        except NotFound:
            continue  # removed just now
        merged = entry  # what cannot be read is nobody's, and the same bytes are here
        if present is not None:
            if present.record.sha256 != entry.record.sha256:
                raise RefTakenError(entry.record.ref)
            if present.data == entry.data and present.record == entry.record:
                return present  # our own request was heard, and its answer was lost on the way
            # The record is written again even if nothing changed, so that the lifecycle rule sees it as new.
            record = replace(merge(present.record, entry.record), others=())
            merged = replace(present if _has_fresh_bytes(bucket, present, max_age_seconds) else entry, record=record)
        try:
            bucket.replace(key.name, merged.encode(), tag)
        except (Conflict, NotFound):
            continue
        return merged
    raise StoreError(f"{bucket.url}/{key.name} keeps changing; nothing can be stored under that name")


def _has_fresh_bytes(bucket: Bucket, entry: Entry, max_age_seconds: float | None) -> bool:
    """Return whether the bytes of an entry are there, and at most half as old as the bucket's lifecycle rule allows."""
    if not entry.data:
        return True
    stored = bucket.head(entry.data_key)
    if stored is None or stored["size"] != entry.frames.stored_bytes:
        return False
    return max_age_seconds is None or time.time() - stored["last_modified"].timestamp() <= max_age_seconds / 2


def _get_entry(bucket: Bucket, key: Key) -> tuple[str | None, Entry | None]:
    """Return the tag of a record's object, and its entry; None for one that is damaged, and not only on the way here."""
    stored = bucket.get(key.name)
    try:
        return stored.tag, decode(stored.data, key.ref)
    except ValueError:
        stored = bucket.get(key.name)
    try:
        return stored.tag, decode(stored.data, key.ref)
    except ValueError:
        return stored.tag, None


class BucketBlob(FrameBlob):
    """The bytes of one output in a bucket: a read costs one request, and each frame is checked before it is given out."""

    __slots__ = ("_bucket", "_key", "newlines")

    def __init__(self, bucket: Bucket, entry: Entry) -> None:
        self._bucket = bucket
        self._key = entry.data_key
        self.newlines = entry.newlines
        super().__init__(entry.frames, self._get_range, entry.record.ref)
        if 0 < entry.frames.stored_bytes <= SMALL_BYTES:
            self.load(0, len(entry.frames.sizes))

    def load(self, first: int, upto: int) -> dict[int, bytes]:
        try:
            return super().load(first, upto)
        except DamagedError:  # what the way garbled once comes whole the next time
            return super().load(first, upto)

    def _get_range(self, start: int, end: int) -> bytes:
        try:
            return self._bucket.get_range(self._key, start, end)
        except NotFound:
            raise BytesMissingError(
                f"The bytes of {self._name} are gone (removed, or expired in the bucket). Run the tool again."
            ) from None


class Pushed(Struct, frozen=True):
    """What a push did."""

    outputs: int = 0
    bytes: int = 0
    left: int = 0  # still on this machine only
    why: str = ""


class Key(Struct, frozen=True):
    """The key of a record or of bytes, and the ref in it."""

    ref: str
    name: str


class Entry(Struct, frozen=True):
    """A record as an object: with its frames, and where its bytes are. One in the spool has neither yet."""

    record: Record
    data: str = ""  # the key of the bytes, in the folder of the scope; "" where there are none
    frames: Frames = Frames(0, "plain", FRAME_BYTES, (), ())
    newlines: int = 0
    spooled: bool = False

    @property
    def record_key(self) -> str:
        return record_key(self.record.scope, self.record.ref)

    @property
    def data_key(self) -> str:
        return f"{folder_of(self.record.scope)}/{self.data}"

    def encode(self) -> bytes:
        stored = {"data": self.data, **self.frames.to_json(), "newlines": self.newlines}
        return to_json(self.record, spillover=FORMAT, object=stored)


def decode(data: bytes, ref: str) -> Entry:
    """Return the entry under the key of a ref; ValueError, with the reason, for anything else."""
    facts = read_facts(data, FORMAT)
    record = to_record(facts, ref=ref, pinned=False)
    try:
        stored: dict[str, Any] = facts["object"]
        name = stored["data"]
        newlines = stored["newlines"]
        frames = convert({**stored, "bytes": record.bytes}, Frames)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a value is missing or wrong ({error})") from error
    if not isinstance(name, str) or (record.bytes if not name else not _is_data_of(ref, name)):
        raise ValueError("its bytes would be elsewhere")
    if newlines not in (record.lines, record.lines - 1):
        raise ValueError("its lines do not add up")
    return Entry(record, name, frames, newlines)


def _is_data_of(ref: str, name: str) -> bool:
    """Return whether a key in the folder of a scope is one of the bytes of a ref: no other is ever opened for it."""
    key = parse_key(name)
    return key is not None and key.ref == ref and name.rpartition("/")[0] == STORED


def parse_key(name: str) -> Key | None:
    """Return the ref in a key; None where it is not one of ours."""
    match = _KEY.fullmatch(name)
    return None if match is None else Key(match[2] or match[3], name)


def record_key(scope: str | None, ref: str) -> str:
    return f"{folder_of(scope)}/{OUTPUTS}/{ref}.json"


def folder_of(scope: str | None) -> str:
    """Return the folder of a scope: with its outputs and, where it is a name, every scope below it; "" for everything."""
    if scope == EVERY:
        return ""
    if scope is None:
        return NOBODY
    if scope.startswith("/"):
        return f"{FOLDERS}/{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    folder = "/".join(map(_escape, scope.split("/")))
    if len(folder) > SCOPE_CHARS:
        raise StoreError(
            f"the scope takes {len(folder):,} characters of a key; use at most {SCOPE_CHARS}, best of a-z, 0-9 and '-_.@'"
        )
    return folder


def _escape(name: str) -> str:
    """Return a part of a scope as a part of a key; what is not plain stands there as =XX. It never begins with "~"."""
    return _ODD.sub(lambda match: b"=%02X" % match[0][0], name.encode("utf-8", "surrogatepass")).decode("ascii")


def _default_spool(url: str) -> str:
    """Return the folder where outputs wait for this store."""
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return os.path.join(user_folder(os.environ, "XDG_STATE_HOME", ".local/state") + "-spool", name)


def _split_scopes(record: Record) -> list[Record]:
    """Return a record for each scope that has the output, with that scope's own call."""
    return [
        replace(record, scope=one.scope, created=one.created, call_id=one.call_id, command=one.command, others=())
        for one in owners(record)
    ] or [record]


def _merge_records(records: list[Record]) -> Record:
    """Return one record of the same bytes from those of several scopes."""
    first, *rest = records
    for record in rest:
        if record.sha256 == first.sha256:
            first = merge(first, record)
    return first


def _newest_first(record: Record) -> tuple[float, str]:
    return -record.created, record.ref
