"""DirStore: one plain file per output that any tool can read, and one JSON record beside it.

An output is visible once its record and its bytes are both there. The record comes first, by a link that never
overwrites: it claims the name for one hash, so two outputs whose short names collide cannot be mixed up, whoever
writes at the same time. The bytes follow by a rename. So kill -9 at any moment leaves an output whole or unseen.

Nothing is synced: a power failure can leave a file short or empty. `verify` notices, by size and SHA-256.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress

from spillover.data import dataclass, replace
from spillover.errors import StoreError, UsageError
from spillover.store.base import REF_SHAPE, Record, checked, names_for, resolve, unknown
from spillover.store.folder import DATA, PACKED, PIN, RECORD, Folder, told
from spillover.store.reading import FileBlob, open_bytes, read_record
from spillover.store.record import to_json
from spillover.store.retention import Retention, Swept, sweep, sweep_if_due

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from spillover.intake.blob import Blob
    from spillover.store.packing import Compressed

#: How often a name is tried for that others give back at the very moment we look.
TRIES = 100


@dataclass(frozen=True, slots=True)
class DirStore:
    """A folder of outputs. Making the object touches no disk; retention=None never sweeps by itself."""

    root: str | os.PathLike[str]
    retention: Retention | None = Retention()

    def __post_init__(self) -> None:
        try:
            path = os.fsdecode(self.root)
            os.fsencode(path)
            # Absolute from here on, so that a change of the working folder changes nothing.
            whole = os.path.abspath(path)
        except (TypeError, ValueError, OSError) as error:
            raise UsageError(f"root={self.root!r} is not a path: {error}.") from error
        if not path or "\0" in path:
            raise UsageError(f"root={path!r} names no folder.")
        object.__setattr__(self, "root", whole)

    @property
    def _path(self) -> str:
        return os.fspath(self.root)

    def writer(self) -> DirWriter:
        """Begin an output. Once an hour, this also sweeps."""
        with told(self._path), Folder(self._path, make=True) as folder:
            if self.retention is not None:
                with suppress(OSError):  # an output is at stake here, and only tidiness there
                    sweep_if_due(folder, self.retention, time.time())
            name, fd = folder.make_temp()
            return DirWriter(self._path, name, os.fdopen(fd, "r+b", buffering=0))

    def get(self, ref: str) -> Record:
        """The record of a ref or of a unique start of one; StoreError when it is damaged."""
        with self._reach(ref) as (folder, whole):
            return read_record(folder, whole)

    def open(self, ref: str) -> Blob:
        """The bytes of a ref, read piece by piece."""
        with self._reach(ref) as (folder, whole):
            return open_bytes(folder, whole)

    def list(self) -> Iterator[Record]:
        """Every output that can be read, newest first."""
        records = []
        with told(self._path), suppress(FileNotFoundError), Folder(self._path) as folder:
            for ref in filter(folder.holds, folder.refs()):
                with suppress(OSError):  # damaged, not ours, or gone meanwhile: `get` says what is wrong
                    records.append(read_record(folder, ref))
        return iter(sorted(records, key=lambda record: (-record.created, record.ref)))

    def delete(self, ref: str) -> None:
        """Remove one output, pinned or not."""
        with self._reach(ref) as (folder, whole):
            folder.remove(whole, folder.look(whole))

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Keep an output from retention, or no longer."""
        with self._reach(ref) as (folder, whole):
            if pinned:
                _pin(folder, whole)
            else:
                with suppress(FileNotFoundError):
                    os.unlink(whole + PIN, dir_fd=folder.fd)

    def where(self, ref: str) -> str | None:
        """The path of the plain file; of a whole ref, also before it is published. None when it is compressed."""
        path = f"{self._path}/{ref}"
        if not REF_SHAPE.fullmatch(ref):
            with self._reach(ref) as (_, whole):
                path = f"{self._path}/{whole}"
        return None if not os.path.lexists(path + DATA) and os.path.lexists(path + PACKED) else path + DATA

    def sweep(self, now: float | None = None, *, retention: Retention | None = None, dry_run: bool = False) -> Swept:
        """Apply retention to all of it, now. With `dry_run`, only say what would go."""
        applied = retention or self.retention or Retention()
        with told(self._path), suppress(FileNotFoundError), Folder(self._path) as folder:
            return sweep(folder, applied, time.time() if now is None else now, dry_run=dry_run)
        return Swept()

    def compress(self, *, older_than_seconds: float = 0, now: float | None = None, dry_run: bool = False) -> Compressed:
        """Compress what was stored so long ago (extra: zstd). It is read as before, but no longer as a plain file."""
        from spillover.store.packing import Compressed, compress  # never in a tool call

        ends = self.retention.age_seconds if self.retention else None
        moment = time.time() if now is None else now
        with told(self._path), suppress(FileNotFoundError), Folder(self._path) as folder:
            return compress(
                folder, moment, older_than_seconds=older_than_seconds, ends_at_seconds=ends, dry_run=dry_run
            )
        return Compressed()

    @contextmanager
    def _reach(self, ref: str) -> Iterator[tuple[Folder, str]]:
        """The folder, and the one output in it that `ref` names; if that is gone, even just now, a RefError."""
        checked(ref)
        with told(self._path):
            try:
                with Folder(self._path) as folder:
                    exact = REF_SHAPE.fullmatch(ref) and folder.holds(ref)
                    whole = ref if exact else resolve(ref, iter(folder.refs()))
                    if not exact and not folder.holds(whole):
                        raise unknown(ref)
                    yield folder, whole
            except FileNotFoundError:
                raise unknown(ref) from None


class DirWriter:
    """An output on its way into a folder: a temporary file, locked while its writer lives."""

    __slots__ = ("_file", "_path", "_temp")

    def __init__(self, path: str, temp: str, file: FileIO) -> None:
        self._path, self._temp, self._file = path, temp, file

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of it, or raise StoreError and append nothing."""
        fd = self.fileno()
        rest = memoryview(data).cast("B")
        written = 0
        try:
            while written < len(rest):
                written += os.write(fd, rest[written:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(fd, os.lseek(fd, -written, os.SEEK_CUR))
            raise StoreError(error.strerror or str(error)) from error

    def fileno(self) -> int:
        if self._file.closed:
            raise StoreError("This output was published or abandoned before.")
        return self._file.fileno()

    def blob(self) -> FileBlob:
        """What was written so far; it can be read when the writer is long done."""
        with told():
            return FileBlob(os.dup(self.fileno()))

    def publish(self, record: Record) -> Record:
        """Make it visible, all at once. The same output again is the one that is there already."""
        self.fileno()
        try:
            with told(self._path), Folder(self._path) as folder:
                return self._publish(folder, record.dated(time.time()))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leave nothing behind."""
        if self._file.closed:
            return
        self._file.close()
        if self._temp:
            with suppress(OSError), Folder(self._path) as folder:
                folder.drop_temp(self._temp)

    def _publish(self, folder: Folder, record: Record) -> Record:
        temp, fd = folder.make_temp()
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(to_json(record))
                file.flush()
                made = os.fstat(fd)
                held, new = _claim(folder, temp, record)
        finally:
            folder.drop_temp(temp)
        packed = None
        try:
            there = None if new else folder.facts(held.ref + DATA)
            if not (there and there.st_size == held.bytes and folder.touch(held.ref + DATA)):
                packed = folder.facts(held.ref + PACKED)
                os.utime(self._file.fileno())  # retention counts from here, however long the tool was silent
                folder.move(self._temp, held.ref + DATA)
                self._temp = ""
                if packed:  # a plain file again, as it costs nothing now
                    folder.take(held.ref + PACKED, packed)
                folder.tidy(held.ref)
            if record.pinned:
                _pin(folder, held.ref)
        except BaseException:
            if new:
                folder.take(held.ref + RECORD, made)
            raise
        # `where` knew of no path a moment ago; now there is the one it always had.
        path = f"{self._path}/{held.ref}{DATA}" if packed else None
        return replace(held, pinned=held.pinned or record.pinned, path=path)


def _claim(folder: Folder, temp: str, record: Record) -> tuple[Record, bool]:
    """Put the record under the shortest name it can have: what stands there then, and whether it is ours."""
    for ref in names_for(record.tool, record.sha256):
        for _ in range(TRIES):
            try:
                folder.claim(temp, ref + RECORD)
            except FileExistsError:
                if not folder.touch(ref + RECORD):
                    continue  # removed just now
            else:
                return record.renamed(ref), True
            try:
                held = read_record(folder, ref)
            except FileNotFoundError:
                continue
            except (StoreError, PermissionError):
                held = None
            if held is None:
                folder.move(temp, ref + RECORD)
                return record.renamed(ref), True
            if held.sha256 == record.sha256:
                # The newest call is the one that is asked for; and the last time it may have been only a part.
                if held.facts != record.facts or held.created <= record.created:
                    folder.move(temp, ref + RECORD)
                    held = replace(record, ref=ref, pinned=held.pinned)
                return held, False
            break  # another output has this name; take a longer one
        else:
            raise StoreError(f"{folder.path}/{ref}{RECORD} comes and goes; nothing can be stored under that name.")
    raise StoreError(f"Every name for {record.sha256} is taken.")


def _pin(folder: Folder, ref: str) -> None:
    with suppress(FileExistsError):
        folder.make(ref + PIN)
    if not folder.touch(ref + RECORD):  # a sweep was faster
        os.unlink(ref + PIN, dir_fd=folder.fd)
        raise unknown(ref)
