"""NamedStore: a DirStore whose outputs also stand under names of another system's making, in that system's folder.

`JoinedStores` reads several such stores as one.

    <folder>/<name>                   one plain file per call, as that system names them
    <folder>/.spillover/              the DirStore: the same bytes (a hard link, where there are any) and their record
    <folder>/.spillover/.names/<name> the ref of the output that has this name

The folder may hold files of others; only names of the given shape are ever made here, and only those end by age. A name
that is noted ends with its output, also where it is a copy.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import Blob
from spillover.store import BaseStore, Writer
from spillover.store.directory import DirStore, DirWriter
from spillover.store.folder import DATA, MAKE, MARKER, READ, explain_errors, refuse_writable
from spillover.store.record import (
    REF_SHAPE,
    Record,
    RunRecord,
    UnknownRefError,
    check_ref,
    merge,
    newest_first,
    resolve,
)
from spillover.store.retention import DAY, EVERY_SECONDS, Retention, StoredFile, plan

INNER, NOTES = ".spillover", ".names"
#: Characters of somebody else's words that do not become part of a name.
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
MAX_PART_CHARS = 64
MAX_REF_BYTES = 128
_swept: dict[str, float] = {}  # when each folder was swept last, by the monotonic clock


def name_part(words: str | None, otherwise: str) -> str:
    """Return somebody else's words as a part of a file name: short, visible, and inside the folder."""
    return _ODD.sub("_", words or "")[:MAX_PART_CHARS].lstrip(".-") or otherwise


class NamedStore(BaseStore, Struct, frozen=True):
    """A folder of outputs under `names(record)`.

    A process removes what is older than `age_seconds` before it stores its first output. With a `retention`, that
    decides which names and outputs are removed, again every hour.
    """

    root: str | os.PathLike[str]
    names: Callable[[Record], str]
    shape: str = r".+"  # of the names that are made here; no other file of the folder is ever touched
    age_seconds: float | None = 7 * DAY
    retention: Retention | None = None

    def __post_init__(self) -> None:
        inner = DirStore(os.path.join(os.fspath(self.root), INNER))
        force_setattr(self, "root", os.path.dirname(inner.root))
        try:
            re.compile(self.shape)
        except re.error as error:
            raise UsageError(f"shape={self.shape!r} is not a pattern: {error}.") from error

    @property
    def inner(self) -> DirStore:
        """The store that keeps the outputs."""
        return DirStore(os.path.join(self._path, INNER), self.retention or Retention(age_seconds=self.age_seconds))

    @property
    def _path(self) -> str:
        return os.fspath(self.root)

    @property
    def folder(self) -> str | None:
        """The folder of this machine that it writes to; None where a folder is refused, and so nothing is written."""
        with suppress(FileNotFoundError):  # not there yet
            try:
                self._check(os.lstat(self._path))
            except StoreError:
                return None
        return self.inner.folder

    def writer(self) -> NamedWriter:
        """Start storing an output; before the first one of a process, remove names that are too old."""
        self._make()
        writer = self.inner.writer()
        if self._due(time.monotonic()):
            with suppress(OSError):  # an output is at stake here, and only tidiness there
                self.sweep()
        return NamedWriter(self, writer)

    def sweep(self, now: float | None = None) -> int:
        """Remove the names that are too old or too many, and those whose output was removed; return how many."""
        by_age = Retention(age_seconds=self.age_seconds, bytes=None, count=None, grace_seconds=0)
        moment = time.time() if now is None else now
        names: list[StoredFile] = []
        orphans: list[str] = []
        with os.scandir(self._path) as found:
            for entry in filter(self._is_name, found):
                with suppress(FileNotFoundError):  # gone meanwhile
                    facts = entry.stat(follow_symlinks=False)
                    names.append(StoredFile(entry.path, facts.st_size, facts.st_mtime))
                    ref = self._read_note(entry.name) if moment - facts.st_mtime > EVERY_SECONDS else None
                    if ref and not self._find_data(ref):
                        orphans.append(entry.path)
        removed = 0
        for path in dict.fromkeys((*orphans, *plan(names, self.retention or by_age, moment))):
            with suppress(OSError):  # gone meanwhile, or not ours to remove
                self._remove(path)
                removed += 1
        return removed

    def _due(self, moment: float) -> bool:
        """Return whether to sweep: for the first time in this process or, with a retention, after an hour."""
        last = _swept.get(self._path)
        if last is not None and (self.retention is None or moment - last < EVERY_SECONDS):
            return False
        _swept[self._path] = moment
        return True

    def get(self, ref: str) -> Record:
        return self.inner.get(ref)

    def open(self, ref: str) -> Blob:
        return self.inner.open(ref)

    def list(self) -> Iterator[Record]:
        return self.inner.list()

    def damaged(self) -> builtins.list[str]:
        return self.inner.damaged()

    def pin(self, ref: str, pinned: bool = True) -> None:
        self.inner.pin(ref, pinned)

    def release(self, ref: str, scope: str) -> None:
        names = [*self._paths(ref)]
        self.inner.release(ref, scope)
        if self._find_data(ref) is None:  # nobody else has it
            self._remove_names(names)

    def find_ref(self, path: str) -> str | None:
        """Return the ref of the output that has this name in the folder; None where none has it."""
        folder, name = os.path.split(os.path.abspath(path))
        return self._read_note(name) if folder == self._path and os.path.lexists(path) else None

    def remember(self, run: RunRecord) -> None:
        self._make()
        self.inner.remember(run)

    def runs(self) -> Iterator[RunRecord]:
        return self.inner.runs()

    def delete(self, ref: str) -> None:
        """Remove one output, and every name it has."""
        whole = self.inner.get(ref).ref
        self._remove_names([*self._paths(whole)])
        self.inner.delete(whole)

    def where(self, ref: str) -> str | None:
        """Return the newest of its names, or the plain file of the store."""
        check_ref(ref)
        with suppress(OSError, RefError):
            return max(self._paths(ref), default=None) or self.inner.where(ref)
        return self.inner.where(ref)

    def name(self, record: Record, since: Record) -> str | None:
        """Give a published output the name it has in this call and return its path; None if that cannot be done."""
        try:
            wanted = str(self.names(replace(since, ref=record.ref, sha256=record.sha256)))
        except Exception:  # noqa: BLE001  whatever it raises, the output is kept, and the tool call goes on
            return None
        if os.sep in wanted or "\0" in wanted or not re.fullmatch(self.shape, wanted):
            return None
        inner = self.inner.where(record.ref) or ""  # none: compressed between two lines of ours
        # A name that another output has is not taken from it: an earlier notice leads there.
        stem, dot, ending = wanted.rpartition(".") if "." in wanted else (wanted, "", "")
        for name in (wanted, f"{stem}-{record.sha256[:12]}{dot}{ending}"):
            path = os.path.join(self._path, name)
            with suppress(OSError):
                _link_or_copy(inner, path)
                with suppress(OSError):  # another process gives the same output the same name
                    self._write_note(name, record.ref)
                return path
        return None

    def _make(self) -> None:
        with explain_errors(self._path):
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self._path, 0o700)
            self._check(os.lstat(self._path))

    def _check(self, found: os.stat_result) -> None:
        """Refuse a folder in which somebody else could put a file in the place of ours."""
        if not stat.S_ISDIR(found.st_mode):
            raise StoreError(f"{self._path} is not a folder, and symlinks are not followed here; use a real one.")
        if found.st_uid != os.geteuid():
            raise StoreError(f"{self._path} belongs to another user (uid {found.st_uid}); use a folder of your own.")
        refuse_writable(self._path, found.st_mode)

    def _is_name(self, entry: os.DirEntry[str]) -> bool:
        return bool(re.fullmatch(self.shape, entry.name)) and entry.is_file(follow_symlinks=False)

    def _find_data(self, ref: str) -> str | None:
        """Return the path of the bytes of an output; None where the store has none under this ref."""
        path = os.path.join(self.inner.folder, ref + DATA)
        return path if os.path.lexists(path) else None

    def _write_note(self, name: str, ref: str) -> None:
        """Note whose name this is, so that it ends with its output."""
        noted = os.path.join(self.inner.folder, NOTES, name)
        os.makedirs(os.path.dirname(noted), 0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # of an output that had this name before
            os.unlink(noted)
        fd = os.open(noted, MAKE, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(ref.encode())

    def _read_note(self, name: str) -> str | None:
        """Return the ref of the output that was given this name."""
        try:
            with os.fdopen(os.open(os.path.join(self.inner.folder, NOTES, name), READ), "rb") as file:
                ref = file.read(MAX_REF_BYTES).decode()
        except (OSError, ValueError):
            return None
        return ref if REF_SHAPE.fullmatch(ref) else None

    def _paths(self, ref: str) -> Iterator[str]:
        """Yield every name of an output in the folder: of the very file that the store has, or of a copy that we made."""
        path = self._find_data(ref)
        if path is None:  # compressed, which happens only to what has no other name
            return
        here = os.stat(path)
        with os.scandir(self._path) as found:
            for entry in filter(self._is_name, found):
                copied = not entry.stat(follow_symlinks=False).st_mode & stat.S_IWUSR
                if entry.inode() == here.st_ino or (copied and self._read_note(entry.name) == ref):
                    yield entry.path

    def _remove_names(self, paths: Iterable[str]) -> None:
        for path in paths:
            with explain_errors(path), suppress(FileNotFoundError):
                self._remove(path)

    def _remove(self, path: str) -> None:
        """Remove a name and the note of it."""
        os.unlink(path)
        with suppress(OSError):
            os.unlink(os.path.join(self.inner.folder, NOTES, os.path.basename(path)))


class NamedWriter:
    """An output on its way in; it gets its name when it is published."""

    __slots__ = ("_inner", "_store", "abandon", "blob", "fileno", "write")

    def __init__(self, store: NamedStore, inner: DirWriter) -> None:
        self._store, self._inner = store, inner
        self.write, self.fileno, self.blob, self.abandon = inner.write, inner.fileno, inner.blob, inner.abandon

    def publish(self, record: Record) -> Record:
        """Make it visible; the record comes back with the path of its name."""
        dated = record.with_created(time.time())
        published = self._inner.publish(dated)
        return replace(published, path=self._store.name(published, dated))


def _link_or_copy(source: str, path: str) -> None:
    """Give a file another name, or copy it where there are no hard links; raise OSError if the name is taken."""
    try:
        os.link(source, path, follow_symlinks=False)
    except FileExistsError:
        if not os.path.samefile(source, path):
            raise
    except OSError:
        _copy(source, path)


def _copy(source: str, path: str) -> None:
    # Read-only, which tells it from a link that is the last of its file.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o400)
    try:
        with open(source, "rb") as read, os.fdopen(fd, "wb") as write:
            while part := read.read(1 << 20):
                write.write(part)
    except BaseException:
        os.unlink(path)
        raise


class JoinedStores(BaseStore, Struct, frozen=True):
    """Several stores of this machine read as one, for a reader who has a ref or a path but not the call's settings.

    New outputs go into the first store. An output that several stores have is read from the first of them, and removed,
    released or pinned in all of them.
    """

    stores: tuple[DirStore | NamedStore, ...]

    @property
    def folder(self) -> str | None:
        """The folder that new outputs are written to."""
        return self.stores[0].folder

    def writer(self) -> Writer:
        return self.stores[0].writer()

    def remember(self, run: RunRecord) -> None:
        self.stores[0].remember(run)

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix, with the scopes of every store that has the output."""
        whole, stores = self._find(ref)
        return _merge([store.get(whole) for store in stores])

    def open(self, ref: str) -> Blob:
        whole, stores = self._find(ref)
        return stores[0].open(whole)

    def list(self) -> Iterator[Record]:
        copies: dict[str, list[Record]] = {}
        for store in self.stores:
            for record in store.list():
                copies.setdefault(record.ref, []).append(record)
        return iter(newest_first(map(_merge, copies.values())))

    def runs(self) -> Iterator[RunRecord]:
        return iter(sorted((run for store in self.stores for run in store.runs()), key=lambda run: -run.created))

    def damaged(self) -> builtins.list[str]:
        return sorted({ref for store in self.stores for ref in store.damaged()})

    def delete(self, ref: str) -> None:
        """Remove an output from every store that has it, also one whose record is damaged."""
        stores = [store for store in self.stores if ref in store.damaged()]
        whole, stores = (ref, stores) if stores else self._find(ref)
        for store in stores:
            store.delete(whole)

    def release(self, ref: str, scope: str) -> None:
        whole, stores = self._find(ref)
        for store in stores:
            store.release(whole, scope)

    def pin(self, ref: str, pinned: bool = True) -> None:
        whole, stores = self._find(ref)
        for store in stores:
            store.pin(whole, pinned)

    def where(self, ref: str) -> str | None:
        """Return the path of an output; of one that is not there, the path it would have."""
        with suppress(RefError):
            whole, stores = self._find(ref)
            return stores[0].where(whole)
        return self.stores[0].where(ref)

    def find_ref(self, path: str) -> str | None:
        return next((ref for store in self.stores if (ref := store.find_ref(path))), None)

    def _find(self, ref: str) -> tuple[str, builtins.list[DirStore | NamedStore]]:
        """Return the ref that is meant, and the stores that have the output; raise RefError if there is none."""
        check_ref(ref)
        if stores := [store for store in self.stores if _has(store, ref)]:
            return ref, stores
        whole = resolve(ref, iter(dict.fromkeys(record.ref for store in self.stores for record in store.list())))
        if stores := [store for store in self.stores if _has(store, whole)]:
            return whole, stores
        raise UnknownRefError(ref)  # removed this moment


def find_store(path: str) -> DirStore | NamedStore | None:
    """Return the store that the path of an output is in, by the marker that every store has."""
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isfile(os.path.join(folder, INNER, MARKER)):
        return NamedStore(folder, lambda _: "")
    is_output = name.endswith(DATA) and REF_SHAPE.fullmatch(name.removesuffix(DATA))
    return DirStore(folder) if is_output and os.path.isfile(os.path.join(folder, MARKER)) else None


def _has(store: DirStore | NamedStore, ref: str) -> bool:
    """Return whether a store has an output under a complete ref."""
    if not REF_SHAPE.fullmatch(ref):
        return False
    try:
        return store.get(ref).ref == ref
    except RefError:
        return False


def _merge(records: list[Record]) -> Record:
    """Return one record of the same bytes in several stores."""
    first, *rest = records
    for record in rest:
        with suppress(StoreError):  # it has more scopes than a record can name: those of the first count
            first = merge(record, first) if record.sha256 == first.sha256 else first
    return first
