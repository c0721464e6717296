"""NamedStore: a DirStore whose outputs also have names of another system, in that system's folder.

`JoinedStores` reads several folders as one store.

    <folder>/<name>                   one plain file per call, as that system names them
    <folder>/.spillover/              the DirStore: the same bytes (a hard link, where there are any) and their record
    <folder>/.spillover/.names/<name> the ref of the output that has this name

The folder may hold other files; only names of one shape are created here, and only they expire. A name with a note of
its ref is removed with its output, even if it is a copy.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import Blob
from spillover.store import BaseStore, WrappedWriter, Writer
from spillover.store.directory import DirStore
from spillover.store.folder import DATA, MAKE, MARKER, READ, explain_errors, open_folder, refuse_writable, shut
from spillover.store.record import (
    REF_SHAPE,
    Record,
    RunRecord,
    UnknownRefError,
    check_ref,
    combine,
    combine_by_ref,
    newest_first,
    resolve,
)
from spillover.store.retention import DAY, EVERY_SECONDS, Retention, StoredFile, Swept, plan

INNER = ".spillover"
NOTES = ".names"
#: Characters of another program's words that do not become part of a name.
_UNSAFE_CHARS = re.compile(r"[^A-Za-z0-9._-]+")
#: Characters of one part of a name. Two parts and an ending must fit into the 255 bytes of a file name.
MAX_PART_CHARS = 64
MAX_REF_BYTES = 128
_sweep_times: dict[str, float] = {}  # when each folder was swept last, by the monotonic clock


def name_part(words: str | None, otherwise: str) -> str:
    """Return a part of a file name from another program's words: short, visible, and without slashes."""
    return _UNSAFE_CHARS.sub("_", words or "")[:MAX_PART_CHARS].lstrip(".-") or otherwise


class NamedStore(DirStore, frozen=True):
    """A folder of outputs under `names(record)`.

    A process removes outputs older than `age_seconds` before it stores its first one. A `retention` decides instead
    which names and outputs are removed, every hour.
    """

    retention: Retention | None = None
    names: Callable[[Record], str] = lambda _: ""
    shape: str = r".+"  # of the names that are created here; no other file of the folder is ever touched
    age_seconds: float | None = 7 * DAY

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            re.compile(self.shape)
        except re.error as error:
            raise UsageError(f"shape={self.shape!r} is not a pattern: {error}.") from error

    @property
    def path(self) -> str:
        """The folder of the outputs and their records."""
        return os.path.join(self.root, INNER)

    @property
    def limits(self) -> Retention:
        return self.retention or Retention(age_seconds=self.age_seconds)

    @property
    def folder(self) -> str | None:
        """The local folder that the store writes to; None where a folder is refused, and so nothing is written."""
        with suppress(FileNotFoundError):  # not there yet
            try:
                self._check()
            except StoreError:
                return None
        return self.path

    def writer(self) -> Writer:
        """Start storing an output; before the first one of a process, remove names that are too old."""
        self._make()
        writer = super().writer()
        if self._is_sweep_due(time.monotonic()):
            with suppress(OSError):  # a failed sweep is no reason to lose an output
                self.sweep_names()
        return NamedWriter(self, writer)

    def sweep(self, now: float | None = None, *, retention: Retention | None = None, dry_run: bool = False) -> Swept:
        """Apply retention to outputs and names, now. With `dry_run`, only report which outputs would be removed."""
        result = super().sweep(now, retention=retention, dry_run=dry_run)
        if not dry_run:
            self.sweep_names(now)
        return result

    def sweep_names(self, now: float | None = None) -> int:
        """Remove names that are too old or too many, or whose output was removed; return their number."""
        by_age = Retention(age_seconds=self.age_seconds, bytes=None, count=None, grace_seconds=0)
        moment = time.time() if now is None else now
        names: list[StoredFile] = []
        orphans: list[str] = []
        for entry in self._entries():
            with suppress(FileNotFoundError):  # removed meanwhile
                facts = entry.stat(follow_symlinks=False)
                names.append(StoredFile(entry.name, facts.st_size, facts.st_mtime))
                ref = self._read_note(entry.name) if moment - facts.st_mtime > EVERY_SECONDS else None
                if ref and not self._find_data(ref):
                    orphans.append(entry.name)
        count = 0
        for name in dict.fromkeys((*orphans, *plan(names, self.retention or by_age, moment))):
            with suppress(OSError):  # removed meanwhile, or not ours to remove
                self._remove_name(name)
                count += 1
        return count

    def _is_sweep_due(self, moment: float) -> bool:
        """Return whether a sweep is due: the first in this process or, with a retention, after an hour."""
        root = os.fspath(self.root)
        last = _sweep_times.get(root)
        if last is not None and (self.retention is None or moment - last < EVERY_SECONDS):
            return False
        _sweep_times[root] = moment
        return True

    def remember(self, run: RunRecord) -> None:
        self._make()
        super().remember(run)

    def delete(self, ref: str) -> None:
        """Remove one output, and every name it has."""
        whole = self.get(ref).ref
        self._remove_names(self._find_names(whole))
        super().delete(whole)

    def release(self, ref: str, scope: str) -> None:
        """Remove an output from a scope, and from the store with its names if no other scope has it."""
        names = self._find_names(ref)
        super().release(ref, scope)
        if self._find_data(ref) is None:
            self._remove_names(names)

    def find_ref(self, path: str) -> str | None:
        """Return the ref of the output that has this name in the folder; None if there is none."""
        folder, name = os.path.split(os.path.abspath(path))
        return self._read_note(name) if folder == self.root and os.path.lexists(path) else None

    def where(self, ref: str) -> str | None:
        """Return the path of the newest name of an output, or of its plain file."""
        check_ref(ref)
        with suppress(OSError):
            if names := self._find_names(ref):
                return os.path.join(self.root, max(names))
        return super().where(ref)

    def give_name(self, record: Record, call: Record) -> str | None:
        """Name a published output after this call and return the path; None if that fails."""
        try:
            name = str(self.names(replace(call, ref=record.ref, sha256=record.sha256)))
        except Exception:  # noqa: BLE001  a profile's function may raise anything; the output is stored
            return None
        if os.sep in name or "\0" in name or not re.fullmatch(self.shape, name):
            return None
        data = super().where(record.ref) or ""  # compressed since it was published: then it gets no name
        # A name that another output has is not taken from it: an earlier notice leads there.
        stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
        for candidate in (name, f"{stem}-{record.sha256[:12]}{dot}{ending}"):
            path = os.path.join(self.root, candidate)
            with suppress(OSError):
                _link_or_copy(data, path)
                with suppress(OSError):  # another process gives the same output the same name
                    self._write_note(candidate, record.ref)
                return path
        return None

    def _make(self) -> None:
        root = os.fspath(self.root)
        with explain_errors(root):
            os.makedirs(os.path.dirname(root), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(root, 0o700)
            self._check()

    def _check(self) -> None:
        """Refuse a folder in which another user could replace our files."""
        root = os.fspath(self.root)
        fd = open_folder(root)
        try:
            refuse_writable(root, os.fstat(fd).st_mode)
        finally:
            shut(fd)

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """Yield the plain files of the folder whose names have our shape."""
        with os.scandir(self.root) as entries:
            for entry in entries:
                if re.fullmatch(self.shape, entry.name) and entry.is_file(follow_symlinks=False):
                    yield entry

    def _find_data(self, ref: str) -> str | None:
        """Return the path of the plain file of an output; None if the store has none under this ref."""
        path = os.path.join(self.path, ref + DATA)
        return path if os.path.lexists(path) else None

    def _find_names(self, ref: str) -> builtins.list[str]:
        """Return every name of an output: links to its plain file, or copies of it."""
        path = self._find_data(ref)
        if path is None:  # compressed, which happens only to what has no other name
            return []
        inode = os.stat(path).st_ino
        names = []
        for entry in self._entries():
            is_copy = not entry.stat(follow_symlinks=False).st_mode & stat.S_IWUSR
            if entry.inode() == inode or (is_copy and self._read_note(entry.name) == ref):
                names.append(entry.name)
        return names

    def _remove_names(self, names: builtins.list[str]) -> None:
        for name in names:
            with explain_errors(os.path.join(self.root, name)), suppress(FileNotFoundError):
                self._remove_name(name)

    def _remove_name(self, name: str) -> None:
        """Remove a name and the note of it."""
        os.unlink(os.path.join(self.root, name))
        with suppress(OSError):
            os.unlink(self._note(name))

    def _note(self, name: str) -> str:
        return os.path.join(self.path, NOTES, name)

    def _write_note(self, name: str, ref: str) -> None:
        """Write the ref of a name, so that the name is removed with its output."""
        path = self._note(name)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # of an output that had this name before
            os.unlink(path)
        with os.fdopen(os.open(path, MAKE, 0o600), "wb") as file:
            file.write(ref.encode())

    def _read_note(self, name: str) -> str | None:
        """Return the ref of a name; None if it has no note."""
        try:
            with os.fdopen(os.open(self._note(name), READ), "rb") as file:
                ref = file.read(MAX_REF_BYTES).decode()
        except (OSError, ValueError):
            return None
        return ref if REF_SHAPE.fullmatch(ref) else None


class NamedWriter(WrappedWriter):
    """An output that gets its name when it is published."""

    __slots__ = ("_store",)

    def __init__(self, store: NamedStore, inner: Writer) -> None:
        super().__init__(inner)
        self._store = store

    def publish(self, record: Record) -> Record:
        """Make the output visible, and return its record with the path of its name."""
        dated = record.with_created(time.time())
        published = self.inner.publish(dated)
        return replace(published, path=self._store.give_name(published, dated))


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
    # Read-only, unlike a link.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o400)
    try:
        with open(source, "rb") as read, os.fdopen(fd, "wb") as write:
            while part := read.read(1 << 20):
                write.write(part)
    except BaseException:
        os.unlink(path)
        raise


class JoinedStores(BaseStore, Struct, frozen=True):
    """Several folders read as one store, for a reader with a ref or a path and without the call's settings.

    New outputs go into the first one. An output that several stores have is read from the first of them, and removed,
    released or pinned in all of them.
    """

    stores: tuple[DirStore, ...]

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
        return combine([store.get(whole) for store in stores])

    def open(self, ref: str) -> Blob:
        whole, stores = self._find(ref)
        return stores[0].open(whole)

    def list(self) -> Iterator[Record]:
        return iter(newest_first(combine_by_ref(record for store in self.stores for record in store.list())))

    def runs(self) -> Iterator[RunRecord]:
        return iter(sorted((run for store in self.stores for run in store.runs()), key=lambda run: -run.created))

    def damaged(self) -> builtins.list[str]:
        return sorted({ref for store in self.stores for ref in store.damaged()})

    def delete(self, ref: str) -> None:
        """Remove an output from every store that has it, even if its record is damaged."""
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
        """Return the path of an output; for an unknown ref, the path it would have."""
        with suppress(RefError):
            whole, stores = self._find(ref)
            return stores[0].where(whole)
        return self.stores[0].where(ref)

    def find_ref(self, path: str) -> str | None:
        return next((ref for store in self.stores if (ref := store.find_ref(path))), None)

    def _find(self, ref: str) -> tuple[str, builtins.list[DirStore]]:
        """Return the completed ref, and the stores that have the output; raise RefError if there is none."""
        check_ref(ref)
        if stores := [store for store in self.stores if _has(store, ref)]:
            return ref, stores
        whole = resolve(ref, iter(dict.fromkeys(record.ref for store in self.stores for record in store.list())))
        if stores := [store for store in self.stores if _has(store, whole)]:
            return whole, stores
        raise UnknownRefError(ref)  # removed meanwhile


def find_store(path: str) -> DirStore | None:
    """Return the store around the path of an output, by the marker of every store; None if there is none."""
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isfile(os.path.join(folder, INNER, MARKER)):
        return NamedStore(folder)
    is_output = name.endswith(DATA) and REF_SHAPE.fullmatch(name.removesuffix(DATA))
    return DirStore(folder) if is_output and os.path.isfile(os.path.join(folder, MARKER)) else None


def _has(store: DirStore, ref: str) -> bool:
    """Return whether a store has an output under a complete ref."""
    if not REF_SHAPE.fullmatch(ref):
        return False
    try:
        return store.get(ref).ref == ref
    except RefError:
        return False
