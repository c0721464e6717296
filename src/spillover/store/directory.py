"""DirStore: a plain file for each output, which any tool can read, and a JSON record beside it.

An output is visible once its record and its bytes are both there. The record comes first, by a link that never
overwrites: it claims the name for one hash, and another output with the same name is refused, even if both are written
at once. The bytes follow by a rename. So kill -9 at any moment leaves an output whole or unseen.

Nothing is synced: a power failure can leave a file short or empty. `verify` notices, by size and SHA-256.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from typing import Self

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from spillover.errors import StoreError, UsageError, describe_error
from spillover.source.blob import Blob
from spillover.store import BaseStore, Writer
from spillover.store.folder import (
    DATA,
    PACKED,
    READ,
    RECORD,
    RUNS,
    FileBlob,
    Folder,
    explain_errors,
    is_ours,
    make_file,
    shut,
    shut_on_error,
    write_all,
)
from spillover.store.frames import Compressed, compress, open_bytes
from spillover.store.record import (
    REF_SHAPE,
    Record,
    RefTakenError,
    RunRecord,
    UnknownRefError,
    check_ref,
    decode_run,
    encode,
    encode_run,
    merge,
    name_for,
    newest_first,
    released_by,
    resolve,
)
from spillover.store.retention import Amount, Retention, Swept, hold_tally, reserve, sweep, sweep_if_due

#: Tries for a name that other processes create and remove. Fewer lose outputs on a busy store.
MAX_CLAIM_TRIES = 100
#: Bytes of a run: an output that fits is a few times the limits at most. With more, a forged run takes more memory.
MAX_RUN_BYTES = 64 << 20
#: Runs for each one that removes old runs, so that the others need not list the folder. With more, more stay.
PRUNE_ONE_IN = 16
_RUN_NAME = re.compile(r"[0-9]{20}-[0-9a-f]{8}", re.ASCII)


class DirStore(BaseStore, Struct, frozen=True):
    """A folder of outputs. Creating the object does not touch the disk. With retention=None, nothing expires."""

    root: str | os.PathLike[str]
    retention: Retention | None = Retention()

    def __post_init__(self) -> None:
        try:
            path = os.fsdecode(self.root)
            os.fsencode(path)
            # Absolute, so that a change of the working folder changes nothing.
            absolute = os.path.abspath(path)
        except (TypeError, ValueError, OSError) as error:
            raise UsageError(f"root={self.root!r} is not a path: {error}.") from error
        if not path or "\0" in path:
            raise UsageError(f"root={path!r} names no folder.")
        force_setattr(self, "root", absolute)

    @property
    def path(self) -> str:
        """The folder of the outputs and their records."""
        return os.fspath(self.root)

    @property
    def limits(self) -> Retention | None:
        """The retention of the store; None removes nothing automatically."""
        return self.retention

    @property
    def folder(self) -> str | None:
        """The local folder that it writes to; the journal is kept there."""
        return self.path

    def writer(self) -> Writer:
        """Start storing an output. Once an hour, this also sweeps."""
        with explain_errors(self.path), Folder(self.path, make=True) as folder:
            if self.limits is not None:
                with suppress(OSError):  # a sweep that fails is no reason to lose an output
                    now = time.time()
                    if sweep_if_due(folder, self.limits, now):
                        _prune_runs(folder, self.limits, now)
            name, fd = folder.make_temp()
            try:
                with shut_on_error(fd):
                    return DirWriter(self.path, name, os.fdopen(fd, "r+b", buffering=0), self.limits)
            except BaseException:
                folder.drop_temp(name)
                raise

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix; StoreError when it is damaged."""
        with self._resolve(ref) as (folder, whole):
            return folder.read_record(whole)

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref, read piece by piece."""
        with self._resolve(ref) as (folder, whole):
            return open_bytes(folder, whole)

    def list(self) -> Iterator[Record]:
        """Return every output that can be read, newest first."""
        records = []
        with explain_errors(self.path), suppress(FileNotFoundError), Folder(self.path) as folder:
            for ref in filter(folder.holds, folder.refs()):
                with suppress(OSError):  # damaged, not ours, or removed meanwhile: `get` explains it
                    records.append(folder.read_record(ref))
        return iter(newest_first(records))

    def damaged(self) -> builtins.list[str]:
        """Return the refs whose record cannot be read."""
        readable = {record.ref for record in self.list()}
        with explain_errors(self.path), suppress(FileNotFoundError), Folder(self.path) as folder:
            return sorted(filter(folder.holds, folder.refs() - readable))
        return []

    def delete(self, ref: str) -> None:
        """Remove one output, pinned or not."""
        with self._resolve(ref) as (folder, whole):
            folder.remove(whole, folder.find_files(whole))
            _forget_bytes(folder, whole)

    def release(self, ref: str, scope: str) -> None:
        """Remove an output from a scope, and from the store if no other scope has it."""
        with self._resolve(ref) as (folder, whole):
            with folder.lock():
                record = released_by(folder.read_record(whole), scope)
                if record is None:
                    folder.remove_locked(whole, folder.find_files(whole))
                else:
                    _replace_record(folder, record)
            _forget_bytes(folder, whole, scope)

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output."""
        with self._resolve(ref) as (folder, whole):
            if pinned:
                folder.pin(whole)
            else:
                folder.unpin(whole)

    def where(self, ref: str) -> str | None:
        """Return the path of the plain file, for a complete ref also before it is published.

        None if it is compressed.
        """
        path = f"{self.path}/{ref}"
        if not REF_SHAPE.fullmatch(ref):
            with self._resolve(ref) as (_, whole):
                path = f"{self.path}/{whole}"
        return None if not os.path.lexists(path + DATA) and os.path.lexists(path + PACKED) else path + DATA

    def remember(self, run: RunRecord) -> None:
        """Remember a run, unless `retention.runs` is 0."""
        limits = self.limits or Retention(age_seconds=None)
        if limits.runs:
            with (
                explain_errors(self.path),
                Folder(self.path, make=True) as folder,
                RunFolder(folder, make=True) as runs,
            ):
                runs.add(run, limits)

    def runs(self) -> Iterator[RunRecord]:
        """Yield the remembered runs, newest first."""
        with (
            explain_errors(self.path),
            suppress(FileNotFoundError),
            Folder(self.path) as folder,
            RunFolder(folder) as runs,
        ):
            yield from runs.read_all()

    def sweep(self, now: float | None = None, *, retention: Retention | None = None, dry_run: bool = False) -> Swept:
        """Apply retention to the whole store, now. With `dry_run`, only count the outputs to remove."""
        limits = retention or self.limits or Retention()
        moment = time.time() if now is None else now
        with explain_errors(self.path), suppress(FileNotFoundError), Folder(self.path) as folder:
            result = sweep(folder, limits, moment, dry_run=dry_run)
            if not dry_run:
                _prune_runs(folder, limits, moment)
            return result
        return Swept()

    def compress(self, *, older_than_seconds: float = 0, now: float | None = None, dry_run: bool = False) -> Compressed:
        """Compress old outputs (extra: zstd), which are then no longer plain files."""
        max_age = self.limits.age_seconds if self.limits else None
        moment = time.time() if now is None else now
        with explain_errors(self.path), suppress(FileNotFoundError), Folder(self.path) as folder:
            return compress(
                folder, moment, older_than_seconds=older_than_seconds, ends_at_seconds=max_age, dry_run=dry_run
            )
        return Compressed()

    @contextmanager
    def _resolve(self, ref: str) -> Iterator[tuple[Folder, str]]:
        """Open the folder and complete a ref; RefError if there is no such output, or not any more."""
        check_ref(ref)
        with explain_errors(self.path):
            try:
                with Folder(self.path) as folder:
                    exact = REF_SHAPE.fullmatch(ref) and folder.holds(ref)
                    whole = ref if exact else resolve(ref, iter(folder.refs()))
                    if not exact and not folder.holds(whole):
                        raise UnknownRefError(ref)
                    yield folder, whole
            except FileNotFoundError:
                raise UnknownRefError(ref) from None


class RunFolder:
    """The runs of a store: a small file for each call, even if its output fitted or could not be stored.

    A file is written once and never changed, so no lock is needed; one that a full disk or a kill has cut short is
    skipped. Nothing is hashed, since every tool call would take longer. An output that fitted gets a ref when it is
    read by its name (retrieve.names).
    """

    __slots__ = ("_fd",)

    def __init__(self, folder: Folder, *, make: bool = False) -> None:
        self._fd = folder.open_folder(RUNS, make=make)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shut(self._fd)

    def names(self) -> list[str]:
        """Return the name of every run, newest first."""
        return sorted(filter(_RUN_NAME.fullmatch, os.listdir(self._fd)), reverse=True)

    def read(self, name: str) -> RunRecord | None:
        """Return the run of a file; None if it does not exist, is not ours, or is cut short."""
        if not _RUN_NAME.fullmatch(name):
            return None
        try:
            fd = os.open(name, READ, dir_fd=self._fd)
        except OSError:
            return None
        try:
            facts = os.fstat(fd)
            if not is_ours(facts) or facts.st_size > MAX_RUN_BYTES:
                return None
            with open(fd, "rb", closefd=False) as file:
                return decode_run(file.read(MAX_RUN_BYTES))
        except (OSError, ValueError):
            return None
        finally:
            shut(fd)

    def read_all(self) -> Iterator[RunRecord]:
        """Yield every run that can be read, newest first."""
        return filter(None, map(self.read, self.names()))

    def add(self, run: RunRecord, limits: Retention) -> None:
        """Write a run; one time in PRUNE_ONE_IN, remove old ones."""
        random = os.urandom(4)
        self._write(f"{int(run.created * 1e9):020d}-{random.hex()}", run)
        if random[0] % PRUNE_ONE_IN == 0:
            self.prune(limits, run.created)

    def prune(self, limits: Retention, now: float) -> None:
        """Remove the runs that are too many or too old."""
        max_age = float("inf") if limits.age_seconds is None else limits.age_seconds
        for number, name in enumerate(self.names()):
            if number >= limits.runs or now - int(name[:20]) / 1e9 > max_age:
                with suppress(OSError):  # removed already
                    os.unlink(name, dir_fd=self._fd)

    def forget_bytes(self, ref: str, scope: str | None = None) -> None:
        """Remove the bytes of a removed output from the runs that printed it, in one scope or in all."""
        for name in self.names():
            run = self.read(name)
            if run is not None and run.has_bytes_of(ref, scope):
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._fd)
                    self._write(name, run.without_bytes(ref))

    def _write(self, name: str, run: RunRecord) -> None:
        file = make_file(name, self._fd)
        try:
            write_all(file, encode_run(run))
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=self._fd)
            raise
        finally:
            shut(file)


def _prune_runs(folder: Folder, retention: Retention, now: float) -> None:
    with suppress(FileNotFoundError), RunFolder(folder) as runs:
        runs.prune(retention, now)


def _forget_bytes(folder: Folder, ref: str, scope: str | None = None) -> None:
    with suppress(FileNotFoundError), RunFolder(folder) as runs:
        runs.forget_bytes(ref, scope)


class DirWriter:
    """An output on its way into a folder: a temporary file, locked while its writer lives."""

    __slots__ = ("_file", "_max_bytes", "_path", "_retention", "_temp")

    def __init__(self, path: str, temp: str, file: FileIO, retention: Retention | None = None) -> None:
        self._path = path
        self._temp = temp
        self._file = file
        self._retention = retention
        #: A larger output is not even written.
        self._max_bytes = retention.bytes if retention else None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of it, or raise StoreError and append nothing."""
        fd = self.fileno()
        rest = memoryview(data).cast("B")
        if self._max_bytes is not None:
            with explain_errors():
                size = os.lseek(fd, 0, os.SEEK_CUR) + len(rest)
            if size > self._max_bytes:
                raise StoreError(
                    f"it is larger than the whole store may be ({self._max_bytes:,} bytes); raise retention.bytes"
                )
        count = 0
        try:
            while count < len(rest):
                count += os.write(fd, rest[count:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(fd, os.lseek(fd, -count, os.SEEK_CUR))
            raise StoreError(describe_error(error)) from error

    def fileno(self) -> int:
        if self._file.closed:
            raise StoreError("This output has already been published or abandoned.")
        return self._file.fileno()

    def blob(self) -> FileBlob:
        """Return the bytes written so far; they can be read after the writer is closed."""
        with explain_errors():
            return FileBlob(os.dup(self.fileno()))

    def publish(self, record: Record) -> Record:
        """Make the output visible, all at once; merge it with the same output if that is stored already."""
        self.fileno()
        try:
            with explain_errors(self._path), Folder(self._path) as folder:
                return self._publish(folder, record.with_created(time.time()))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self._file.close()
        if self._temp:
            with suppress(OSError), Folder(self._path) as folder:
                folder.drop_temp(self._temp)
            self._temp = ""

    def _publish(self, folder: Folder, record: Record) -> Record:
        ref = name_for(record.tool, record.sha256)
        size = self._close_file(record)
        temp, facts = folder.write_temp(encode(record))
        try:
            with hold_tally(folder) as tally:
                # An output that is stored already needs room for its record only.
                more = Amount(0, facts.st_size) if folder.holds(ref) else Amount(1, size + facts.st_size)
                reserve(folder, tally, self._retention, ref, more)
                present, is_new = _claim(folder, temp, ref, record)
                return self._move_bytes(folder, record, present, facts if is_new else None)
        finally:
            folder.drop_temp(temp)

    def _close_file(self, record: Record) -> int:
        """Close the file and return its size; raise StoreError if bytes are missing."""
        fd = self.fileno()
        os.utime(fd)  # the age counts from here, even after a silent hour of the tool
        size = os.fstat(fd).st_size
        self._file.close()  # a quota or a file server may report a failed write only here
        if size != record.bytes:
            raise StoreError(f"expected {record.bytes:,} bytes, but {size:,} were stored.")
        return size

    def _move_bytes(self, folder: Folder, record: Record, present: Record, claim: os.stat_result | None) -> Record:
        """Put the bytes beside their record. If that fails, remove a record that is new (`claim`)."""
        compressed = None
        try:
            data = None if claim else folder.stat(present.ref + DATA)
            if not (data and data.st_size == present.bytes and folder.touch(present.ref + DATA)):
                compressed = folder.stat(present.ref + PACKED)
                folder.move(self._temp, present.ref + DATA)
                self._temp = ""
                if compressed:  # a plain file again, as it costs nothing now
                    folder.take(present.ref + PACKED, compressed)
                folder.remove_orphans(present.ref)
            if record.pinned:
                folder.pin(present.ref)
        except BaseException:
            if claim:
                folder.take(present.ref + RECORD, claim)
            raise
        # It was compressed, so `where` returned no path; now there is one again.
        path = f"{self._path}/{present.ref}{DATA}" if compressed else None
        return replace(present, pinned=present.pinned or record.pinned, path=path)


def _claim(folder: Folder, temp: str, ref: str, record: Record) -> tuple[Record, bool]:
    """Create a record, or merge it with the one of its name; return the record, and whether it is new.

    Raise RefTakenError if another output has the name.
    """
    for attempt in range(MAX_CLAIM_TRIES):
        try:
            folder.claim(temp, ref + RECORD)
        except FileExistsError:
            if not folder.touch(ref + RECORD):
                continue  # removed just now
        else:
            return record.with_ref(ref), True
        try:
            present = folder.read_record(ref)
        except FileNotFoundError:
            continue
        except (StoreError, PermissionError):
            # Where there are no hard links, an empty record is one that is being claimed.
            facts = folder.stat(ref + RECORD)
            if attempt < MAX_CLAIM_TRIES // 2 and facts and not facts.st_size:
                time.sleep(0.001)
                continue
            folder.move(temp, ref + RECORD)
            return record.with_ref(ref), True
        if present.sha256 != record.sha256:
            raise RefTakenError(ref)
        merged = merge(present, record)
        if merged != present:
            _replace_record(folder, merged)
        return merged, False
    raise StoreError(
        f"{folder.path}/{ref}{RECORD} keeps appearing and disappearing; nothing can be stored under that name."
    )


def _replace_record(folder: Folder, record: Record) -> None:
    """Replace a record."""
    temp, _ = folder.write_temp(encode(record))
    try:
        folder.move(temp, record.ref + RECORD)
    finally:
        folder.drop_temp(temp)
