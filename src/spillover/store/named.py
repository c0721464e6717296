"""NamedStore: a DirStore whose outputs also stand under names of another system's making, in that system's folder.

    <folder>/<name>          one plain file per call, as that system names them
    <folder>/.spillover/     the DirStore: the same bytes (a hard link, where there are any) and what is known of them

The folder may hold files of others; only names of the given shape are ever made here, and only those end by age.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.store.base import Record, check_ref
from spillover.store.directory import DirStore
from spillover.store.folder import explain_errors, refuse_writable
from spillover.store.retention import DAY, EVERY_SECONDS, Entry, Retention, plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins  # a method has the name of a type
    from collections.abc import Callable, Iterator

    from spillover.intake.blob import Blob
    from spillover.store.directory import DirWriter
    from spillover.store.runs import RunRecord

INNER = ".spillover"
#: What a name may hold of somebody else's words, and how much of each.
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
PART_CHARS = 64
_swept: dict[str, float] = {}  # folder → when, by the clock that only goes forward


def name_part(words: str | None, otherwise: str) -> str:
    """Return somebody else's words as a part of a file name: short, visible, and inside the folder."""
    return _ODD.sub("_", words or "")[:PART_CHARS].lstrip(".-") or otherwise


class NamedStore(Struct, frozen=True):
    """A folder of outputs under `names(record)`. What is older than `age_seconds` ends, once per process, before the first.

    With a `retention` it is that which decides, of the names as of the outputs, again every hour.
    """

    folder: str | os.PathLike[str]
    names: Callable[[Record], str]
    shape: str = r".+"  # of the names that are made here; no other file of the folder is ever touched
    age_seconds: float | None = 7 * DAY
    inner: DirStore | None = None  # where the outputs are kept; without it, in the folder itself
    retention: Retention | None = None

    def __post_init__(self) -> None:
        own = DirStore(os.path.join(os.fspath(self.folder), INNER))
        force_setattr(self, "folder", os.path.dirname(own.root))
        try:
            re.compile(self.shape)
        except re.error as error:
            raise UsageError(f"shape={self.shape!r} is not a pattern: {error}.") from error

    @property
    def _inner(self) -> DirStore:
        """The store that keeps the outputs."""
        kept = self.retention or Retention(age_seconds=self.age_seconds)
        return self.inner or DirStore(os.path.join(self._path, INNER), kept)

    @property
    def _path(self) -> str:
        return os.fspath(self.folder)

    @property
    def here(self) -> str | None:
        """The folder of this machine that it writes to; None where that is behind a link, or somebody else's."""
        if self.inner is not None:
            return self._inner.here
        try:
            facts = os.lstat(self._path)
        except OSError:  # not there yet
            return self._inner.here
        return self._inner.here if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() else None

    def writer(self) -> NamedWriter:
        """Begin an output; before the first of a process, what is too old goes."""
        if self.inner is None:
            self._make()
        writer = self._inner.writer()
        try:
            self._make()
        except StoreError:
            writer.abandon()
            raise
        if self._due(time.monotonic()):
            with suppress(OSError):  # an output is at stake here, and only tidiness there
                self.sweep()
        return NamedWriter(self, writer)

    def sweep(self, now: float | None = None) -> int:
        """Remove the names that are too old, or too many, by the age of the file; how many there were.

        In a store of ours also those whose output has ended there: or a name would hold on to bytes that nothing counts.
        """
        by_age = Retention(age_seconds=self.age_seconds, bytes=None, count=None, grace_seconds=0)
        moment = time.time() if now is None else now
        names, left = [], []
        with self._open() as found:
            for entry in filter(self._ours, found):
                with suppress(FileNotFoundError):  # gone meanwhile
                    facts = entry.stat(follow_symlinks=False)
                    names.append(Entry(entry.path, facts.st_size, facts.st_mtime))
                    linked = facts.st_mode & stat.S_IWUSR and moment - facts.st_mtime > EVERY_SECONDS
                    if self.inner is not None and linked and facts.st_nlink == 1:
                        left.append(entry.path)
        gone = 0
        for path in dict.fromkeys((*left, *plan(names, self.retention or by_age, moment))):
            with suppress(OSError):  # gone meanwhile, or not ours to remove
                os.unlink(path)
                gone += 1
        return gone

    def _due(self, moment: float) -> bool:
        """Return whether to sweep: for the first time in this process or, with a retention, after an hour."""
        last = _swept.get(self._path)
        if last is not None and (self.retention is None or moment - last < EVERY_SECONDS):
            return False
        _swept[self._path] = moment
        return True

    def get(self, ref: str) -> Record:
        return self._inner.get(ref)

    def open(self, ref: str) -> Blob:
        return self._inner.open(ref)

    def list(self) -> Iterator[Record]:
        return self._inner.list()

    def damaged(self) -> builtins.list[str]:
        return self._inner.damaged()

    def pin(self, ref: str, pinned: bool = True) -> None:
        self._inner.pin(ref, pinned)

    def disown(self, ref: str, scope: str) -> None:
        self._inner.disown(ref, scope)

    def ref_of(self, path: str) -> str | None:
        """Return the ref of the output that has this name in the folder; None where none has it."""
        folder, name = os.path.split(os.path.abspath(path))
        if folder != self._path or not re.fullmatch(self.shape, name):
            return None
        with suppress(OSError, StoreError):
            here = os.lstat(os.path.join(folder, name))
            for record in self._inner.list():
                own = self._inner.where(record.ref)
                if own is not None and os.path.samestat(os.lstat(own), here):
                    return record.ref
        return None

    def note(self, run: RunRecord) -> None:
        if self.inner is None:
            self._make()
        self._inner.note(run)

    def runs(self) -> Iterator[RunRecord]:
        return self._inner.runs()

    def delete(self, ref: str) -> None:
        """Remove one output, and every name it has."""
        record = self._inner.get(ref)
        names = list(self._named(record.ref))
        self._inner.delete(record.ref)
        for path in names:
            with suppress(OSError):
                os.unlink(path)

    def where(self, ref: str) -> str | None:
        """Return the newest of its names, or the plain file of the store."""
        check_ref(ref)
        with suppress(OSError, RefError):
            return max(self._named(ref), default=None) or self._inner.where(ref)
        return self._inner.where(ref)

    def name(self, record: Record, since: Record) -> str | None:
        """Give a published output the name it has in this call; None where that cannot be done: it is stored all the same."""
        try:
            wanted = str(self.names(replace(since, ref=record.ref, sha256=record.sha256)))
        except Exception:  # noqa: BLE001  whatever it raises, the output is kept, and the tool call goes on
            return None
        if os.sep in wanted or "\0" in wanted or not re.fullmatch(self.shape, wanted):
            return None
        inner = self._inner.where(record.ref) or ""  # none: compressed between two lines of ours
        # A name that another output has is not taken from it: an earlier notice leads there.
        stem, dot, ending = wanted.rpartition(".") if "." in wanted else (wanted, "", "")
        for name in (wanted, f"{stem}-{record.sha256[:12]}{dot}{ending}"):
            path = os.path.join(self._path, name)
            with suppress(OSError):
                _same_bytes(inner, path)
                return path
        return None

    def _make(self) -> None:
        with explain_errors(self._path):
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self._path, 0o700)
            found = os.lstat(self._path)
        if not stat.S_ISDIR(found.st_mode):
            raise StoreError(f"{self._path} is not a folder, and symlinks are not followed here; use a real one.")
        if found.st_uid != os.geteuid():
            raise StoreError(f"{self._path} belongs to another user (uid {found.st_uid}); use a folder of your own.")
        refuse_writable(self._path, found.st_mode)

    def _open(self) -> os._ScandirIterator[str]:
        return os.scandir(self._path)

    def _ours(self, entry: os.DirEntry[str]) -> bool:
        return bool(re.fullmatch(self.shape, entry.name)) and entry.is_file(follow_symlinks=False)

    def _named(self, ref: str) -> Iterator[str]:
        """Yield every name in the folder of the very file that the store has."""
        path = self._inner.where(ref)
        if path is None:  # compressed, which happens only to what has no other name
            return
        here = os.stat(path)
        with self._open() as found:
            for entry in found:
                if self._ours(entry) and entry.inode() == here.st_ino:
                    yield entry.path


class NamedWriter:
    """An output on its way in; it gets its name when it is published."""

    __slots__ = ("_inner", "_store", "abandon", "blob", "fileno", "write")

    def __init__(self, store: NamedStore, inner: DirWriter) -> None:
        self._store, self._inner = store, inner
        self.write, self.fileno, self.blob, self.abandon = inner.write, inner.fileno, inner.blob, inner.abandon

    def publish(self, record: Record) -> Record:
        """Make it visible; the record comes back with the path of its name."""
        dated = record.dated(time.time())
        published = self._inner.publish(dated)
        return replace(published, path=self._store.name(published, dated))


def _same_bytes(source: str, path: str) -> None:
    """Give a file another name, or copy it where there are no hard links; raise OSError if the name is taken."""
    try:
        os.link(source, path, follow_symlinks=False)
    except FileExistsError:
        if not os.path.samefile(source, path):
            raise
    except OSError:
        _copied(source, path)


def _copied(source: str, path: str) -> None:
    # Nobody is to write into it, and so it can be told from a link that is the last of its file.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o400)
    try:
        with open(source, "rb") as read, os.fdopen(fd, "wb") as write:
            while part := read.read(1 << 20):
                write.write(part)
    except BaseException:
        os.unlink(path)
        raise
