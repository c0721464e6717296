"""The folder of a DirStore: creating, opening, moving, locking and removing its files.

    <ref>.txt  <ref>.json  <ref>.pin     an output, its record, and an empty file when it is pinned
    <ref>.txt.zst                        the output instead of <ref>.txt, once it is compressed
    .tmp/                                files on their way in or out
    .runs/<when>-<random>                a run, with the bytes of an output that fitted
    .spillover  .sweep  .lock            the marker of a store; the time of the last sweep; the lock, with the amount
                                         in the folder (store.retention)

Everything goes through the descriptor of a root that was checked after it was opened. A process may be killed
between any two lines here, and others may write, sweep and delete at the same time, also on a filesystem without locks.
So a process keeps a file by touching it, and removes one by moving it aside first, checking whether it was touched
meanwhile, and if so putting it back. An output may be compressed, or stored anew, while a reader opens it; the reader
tries the plain file first, then the compressed one, and then the plain one again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Self

from spillover.errors import StoreError, describe_error
from spillover.store.record import REF_SHAPE, Record, UnknownRefError, decode

DATA = ".txt"
PACKED = ".txt.zst"
RECORD = ".json"
PIN = ".pin"
#: The endings that a reader tries, in this order: a writer removes one file only after it has created the other.
BYTES = (DATA, PACKED, DATA)
MARKER = ".spillover"
TEMP = ".tmp"
RUNS = ".runs"
SWEEP = ".sweep"
LOCK = ".lock"
#: The file that replaces the lock on a filesystem without locks: only one process can create it.
LOCK_FILE = ".lock.held"
#: Seconds after which a lock file belongs to a killed process: a lock is held for microseconds. More make others wait.
STALE_SECONDS = 30
#: Seconds of waiting for another process that publishes. More delay the tool call.
WAIT_SECONDS = 10.0
#: Bytes of a record: that of a terabyte has a third of this. With more, a forged record takes more memory.
MAX_RECORD_BYTES = 1 << 29

#: The files of an output by their endings, at the time of the listing.
Files = dict[str, os.stat_result]

MARKER_TEXT = (
    b"Outputs of tools, kept by spillover: one .txt each, and what is known of it in .json. `spill gc` cleans up.\n"
)
TEMP_SHAPE = re.compile(r"[0-9a-f]{32}", re.ASCII)

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # without blocking on a FIFO in the place of a file
MAKE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def user_folder(environ: Mapping[str, str], variable: str, otherwise: str) -> str:
    """Return our folder inside the one that an XDG variable names, or inside `otherwise` in the user's home."""
    base = environ.get(variable, "")  # the XDG rules say to ignore a relative path
    base = base if os.path.isabs(base) else expand(f"~/{otherwise}", environ)
    if base.startswith("~"):  # a user without a home, as in many containers
        return temp_folder(f"spillover-{os.getuid()}")
    return os.path.join(base, "spillover")


def temp_folder(name: str) -> str:
    """Return the path of a folder among the temporary files; a store checks that it is private before it writes."""
    base = os.environ.get("TMPDIR", "")
    return os.path.join(base if os.path.isabs(base) else "/tmp", name)  # noqa: S108  a store checks it


def expand(path: str, environ: Mapping[str, str]) -> str:
    """Replace a leading `~` by the home folder."""
    home = environ.get("HOME") if path == "~" or path.startswith("~/") else None
    return home + path[1:] if home else os.path.expanduser(path)


@contextmanager
def explain_errors(path: str = "") -> Iterator[None]:
    """Turn an OSError in the block into a StoreError with a readable message about a path."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(describe_error(error, path)) from error


def is_ours(facts: os.stat_result) -> bool:
    """Return whether facts are those of a plain file that belongs to us."""
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid()


def refuse_writable(path: str, mode: int) -> None:
    """Raise StoreError for a folder in which others can replace files; they may read it."""
    if mode & 0o022 and not mode & stat.S_ISVTX:
        raise StoreError(f"other users can write to {path}; run `chmod go-w` on it, or use another folder.")


def parse_name(name: str) -> tuple[str, str] | None:
    """Return the ref and the ending of a file's name, if it is the name of a file of an output."""
    for ending in (DATA, RECORD, PACKED, PIN):
        if name.endswith(ending) and REF_SHAPE.fullmatch(ref := name.removesuffix(ending)):
            return ref, ending
    return None


def is_whole(parts: Collection[str]) -> bool:
    """Return whether endings are those of a complete output: a record and its bytes."""
    return RECORD in parts and not {*parts}.isdisjoint(BYTES)


def shut(fd: int) -> None:
    """Close a descriptor without reporting errors; do nothing for a negative one."""
    if fd >= 0:
        with suppress(OSError):
            os.close(fd)


@contextmanager
def shut_on_error(fd: int) -> Iterator[None]:
    """Close the descriptor if the block raises."""
    try:
        yield
    except BaseException:
        shut(fd)
        raise


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write every byte, or raise OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


class FileBlob:
    """The bytes of an open file, read in ranges."""

    __slots__ = ("_file", "size")

    def __init__(self, fd: int) -> None:
        with shut_on_error(fd):
            self.size = os.fstat(fd).st_size
            self._file = os.fdopen(fd, "rb", buffering=0)

    def read(self, start: int, end: int) -> bytes:
        if self._file.closed:
            raise StoreError("These bytes have already been closed.")
        at = max(start, 0)
        end = min(end, self.size)
        parts = []
        with explain_errors():
            while at < end and (part := os.pread(self._file.fileno(), end - at, at)):
                parts.append(part)
                at += len(part)
        if at < end:  # a reader that expects more would never reach the end
            raise StoreError(
                f"The file became shorter while it was being read: {self.size:,} bytes before, {at:,} now."
            )
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        with suppress(OSError):  # nothing was written through it
            self._file.close()


class Folder:
    """A checked root, open while a `with` lasts. With `make`, a missing one is created; otherwise FileNotFoundError."""

    __slots__ = ("_temp", "fd", "path")

    def __init__(self, path: str, *, make: bool = False) -> None:
        self.path = path
        self._temp = -1
        if make:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            make_folder(path)
        self.fd = open_folder(path)
        try:
            self._check(make=make)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        shut(self.fd)
        shut(self._temp)
        self.fd = self._temp = -1

    def _check(self, *, make: bool) -> None:
        has_marker = self.stat(MARKER) is not None
        if not has_marker:
            with os.scandir(self.fd) as entries:
                is_empty = next(entries, None) is None
            # The marker is created before anything else, so where there is a file of ours, there is a marker by now.
            has_marker = not is_empty and self.stat(MARKER) is not None
            if not is_empty and not has_marker:
                raise StoreError(
                    f"{self.path} holds files that are not ours. Name a folder that is empty or not there yet "
                    f"(or, if it is a store, put back the empty file {MARKER})."
                )
        if make:
            refuse_writable(self.path, os.fstat(self.fd).st_mode)
            if not has_marker:
                with suppress(FileExistsError):
                    self.make(MARKER, MARKER_TEXT)

    @property
    def temp(self) -> int:
        """The descriptor of the folder of temporary files."""
        if self._temp < 0:
            self._temp = self.open_folder(TEMP, make=True)
        return self._temp

    def open_folder(self, name: str, *, make: bool = False) -> int:
        """Return a descriptor of a folder in this one; FileNotFoundError if there is none."""
        if make:
            make_folder(name, self.fd)
        return open_folder(f"{self.path}/{name}", name, self.fd)

    def make(self, name: str, data: bytes = b"") -> None:
        """Create a new file; raise FileExistsError if it exists."""
        fd = make_file(name, self.fd)
        try:
            os.write(fd, data)
        finally:
            shut(fd)

    def make_temp(self) -> tuple[str, int]:
        """Create a temporary file; return its name, and a descriptor that holds a lock on it."""
        name = _temp_name()
        fd = make_file(name, self.temp)
        with suppress(OSError):  # no locks on this filesystem: sweeps go by age
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return name, fd

    def write_temp(self, data: bytes) -> tuple[str, os.stat_result]:
        """Create, write and close a temporary file; return its name and its facts."""
        name, fd = self.make_temp()
        try:
            with shut_on_error(fd):
                write_all(fd, data)
                facts = os.fstat(fd)
            os.close(fd)  # a quota or a file server may report a failed write only here
        except BaseException:
            self.drop_temp(name)
            raise
        return name, facts

    def drop_temp(self, name: str) -> None:
        with suppress(OSError):  # it is removed already, or a later sweep removes it
            os.unlink(name, dir_fd=self.temp)

    def claim(self, temp: str, name: str) -> None:
        """Rename a temporary file; raise FileExistsError if a file has the name."""
        try:
            os.link(temp, name, src_dir_fd=self.temp, dst_dir_fd=self.fd, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # No hard links here (FAT, some network mounts): hold the name with an empty file, then move onto that.
            # Any other error comes again here.
            self.make(name)
            try:
                self.move(temp, name)
            except BaseException:
                os.unlink(name, dir_fd=self.fd)
                raise
        else:
            self.drop_temp(temp)

    def move(self, temp: str, name: str) -> None:
        """Rename a temporary file, and replace a file of that name."""
        os.replace(temp, name, src_dir_fd=self.temp, dst_dir_fd=self.fd)

    def open(self, name: str) -> int:
        """Return a descriptor to read from; FileNotFoundError when there is none."""
        try:
            fd = os.open(name, READ, dir_fd=self.fd)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise StoreError(f"{self.path}/{name} is a symlink, and symlinks are not followed here.") from error
            raise
        with shut_on_error(fd):
            if not is_ours(os.fstat(fd)):
                raise StoreError(f"{self.path}/{name} is not a plain file of ours.")
        return fd

    def stat(self, name: str) -> os.stat_result | None:
        """Return size and times of a plain file of ours; None when there is none."""
        return _stat(name, self.fd)

    def touch(self, name: str) -> bool:
        """Protect a file from a process that has listed it and may remove it; return whether it exists."""
        now = time.time_ns()  # not the kernel's own "now", which stands still for milliseconds
        try:
            os.utime(name, ns=(now, now), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def take(self, name: str, facts: os.stat_result) -> bool:
        """Remove a file unless it was touched or replaced since `facts`; return whether it is gone."""
        if not _is_same(facts, self.stat(name) or facts):
            return False  # it stays in its place, where others can read it
        aside = _temp_name()
        try:
            os.rename(name, aside, src_dir_fd=self.fd, dst_dir_fd=self.temp)
        except FileNotFoundError:
            return True
        is_same = _is_same(facts, os.stat(aside, dir_fd=self.temp, follow_symlinks=False))
        if not is_same:
            with suppress(FileExistsError):  # there is a newer one by now
                self.claim(aside, name)
        self.drop_temp(aside)
        return is_same

    def remove(self, ref: str, files: Files) -> bool:
        """Remove these files of an output, unless one was touched since; return whether they are gone."""
        with ExitStack() as stack:
            with suppress(OSError):  # a full disk or a hanging process: removing works without the lock
                stack.enter_context(self.lock())
            return self.remove_locked(ref, files)

    def remove_locked(self, ref: str, files: Files) -> bool:
        """Remove files of an output under the lock: the record first, since it makes the others visible."""
        endings = [ending for ending in (RECORD, DATA, PACKED, PIN) if ending in files]
        is_gone = all(self.take(ref + ending, files[ending]) for ending in endings)
        if is_gone:
            self.remove_orphans(ref)
        return is_gone

    def remove_orphans(self, ref: str) -> None:
        """Remove bytes whose record was deleted while their writer was publishing them."""
        files = self.find_files(ref)
        if RECORD in files or not (DATA in files or PACKED in files):
            return
        time.sleep(0.02)  # `take` may have a record aside for a moment, and put it back
        files = self.find_files(ref)
        if RECORD not in files:
            for ending in {DATA, PACKED} & files.keys():
                self.take(ref + ending, files[ending])

    @contextmanager
    def lock(self) -> Iterator[int]:
        """Hold the lock of the folder and yield the descriptor of its file; raise StoreError after WAIT_SECONDS."""
        with suppress(FileExistsError):
            self.make(LOCK)
        fd = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self.fd)
        with shut_on_error(fd):
            if not is_ours(os.fstat(fd)):
                raise StoreError(f"{self.path}/{LOCK} is not a plain file of ours.")
            unlock = self._wait_for_lock(fd)
        try:
            yield fd
        finally:
            with suppress(OSError):
                unlock()
            shut(fd)

    def _wait_for_lock(self, fd: int) -> Callable[[], None]:
        """Wait for the lock and return a function that releases it."""
        until = time.monotonic() + WAIT_SECONDS
        pause = 0.000_2
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Closing alone would leave it to a child that was forked meanwhile.
                return partial(fcntl.flock, fd, fcntl.LOCK_UN)
            except BlockingIOError:
                pass
            except OSError:  # no locks on this filesystem
                if self._make_lock_file():
                    return partial(os.unlink, LOCK_FILE, dir_fd=self.fd)
            if time.monotonic() > until:
                raise StoreError(
                    f"Another process has been using the store for {WAIT_SECONDS:.0f} seconds: {self.path}/{LOCK}"
                )
            time.sleep(pause)
            pause = min(2 * pause, 0.01)

    def _make_lock_file(self) -> bool:
        """Create the lock file, unless another process holds it; remove a stale one."""
        try:
            self.make(LOCK_FILE)
        except FileExistsError:
            stale = self.stat(LOCK_FILE)
            if stale and time.time() - stale.st_mtime > STALE_SECONDS:
                self.take(LOCK_FILE, stale)
            return False
        return True

    def read_record(self, ref: str) -> Record:
        """Return the record of an output; FileNotFoundError when there is none, StoreError when it is damaged."""
        file = FileBlob(self.open(ref + RECORD))
        try:
            if file.size > MAX_RECORD_BYTES:
                raise StoreError(f"The record of {ref} is damaged: it has {file.size:,} bytes.")
            data = file.read(0, file.size)
        finally:
            file.close()
        try:
            return decode(data, ref=ref, pinned=self.stat(ref + PIN) is not None)
        except ValueError as error:
            raise StoreError(
                f"The record of {ref} is damaged: {error}. Its bytes may be whole: {self.path}/{ref}{DATA}"
            ) from error

    def pin(self, ref: str) -> None:
        """Pin an output; UnknownRefError if a sweep was faster."""
        with suppress(FileExistsError):
            self.make(ref + PIN)
        if not self.touch(ref + RECORD):
            self.unpin(ref)
            raise UnknownRefError(ref)

    def unpin(self, ref: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(ref + PIN, dir_fd=self.fd)

    def outputs(self, max_files: int | None = None) -> dict[str, Files]:
        """Return the files of every output, complete or not; with `max_files`, from a part of the folder."""
        outputs: dict[str, Files] = {}
        for name, facts in self._list(self.fd, max_files):
            if parts := parse_name(name):
                ref, ending = parts
                outputs.setdefault(ref, {})[ending] = facts
        return outputs

    def temps(self, max_files: int | None = None) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the temporary files."""
        return ((name, facts) for name, facts in self._list(self.temp, max_files) if TEMP_SHAPE.fullmatch(name))

    def has_writer(self, temp: str) -> bool | None:
        """Return whether a living writer holds the lock on a temporary file; None on a filesystem without locks."""
        try:
            fd = os.open(temp, READ, dir_fd=self.temp)
        except FileNotFoundError:
            return True  # its writer has just published it
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None
        finally:
            shut(fd)
        return False

    def _list(self, fd: int, max_files: int | None) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the plain files in a folder that belong to us."""
        with os.scandir(fd) as entries:
            for entry in islice(entries, max_files):
                try:
                    facts: os.stat_result | None = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # a file server may report this for an existing file
                    facts = _stat(entry.name, fd)
                if facts is not None and is_ours(facts):
                    yield entry.name, facts

    def find_files(self, ref: str) -> Files:
        """Return the files of an output by their endings."""
        return {ending: facts for ending in (RECORD, *BYTES, PIN) if (facts := self.stat(ref + ending))}

    def holds(self, ref: str) -> bool:
        """Return whether an output is complete: record and bytes."""
        return bool(self.stat(ref + RECORD) and any(self.stat(ref + ending) for ending in BYTES))

    def refs(self) -> set[str]:
        """Return the refs of all complete outputs, by the names of their files if possible."""
        names = {*os.listdir(self.fd)}
        parts = filter(None, map(parse_name, names))
        refs = {ref for ref, ending in parts if ending == RECORD}
        # If an output was compressed while the names were read, they may have neither of its files.
        return {ref for ref in refs if ref + DATA in names or ref + PACKED in names or self.holds(ref)}


def _stat(name: str, within: int) -> os.stat_result | None:
    """Return size and times of a plain file of ours; None when there is none."""
    try:
        facts = os.stat(name, dir_fd=within, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return facts if is_ours(facts) else None


def _is_same(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def _temp_name() -> str:
    return os.urandom(16).hex()


def make_folder(name: str, within: int | None = None) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=within)
    except FileExistsError:
        return
    if os.stat(name, dir_fd=within, follow_symlinks=False).st_mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=within)  # the umask has removed our own right to enter


def open_folder(path: str, name: str | None = None, within: int | None = None) -> int:
    """Open the folder at `path`, or by its `name` in the folder `within`."""
    name = path if name is None else name
    try:
        fd = os.open(name, FOLDER, dir_fd=within)
    except FileNotFoundError:
        raise
    except OSError as error:
        if _is_link(name, within):
            raise StoreError(f"{path} is a symlink, and symlinks are not followed here; use a real folder.") from error
        raise StoreError(describe_error(error, path)) from error
    with shut_on_error(fd):
        owner = os.fstat(fd).st_uid
        if owner != os.geteuid():
            raise StoreError(f"{path} belongs to another user (uid {owner}); use a folder of your own.")
    return fd


def _is_link(name: str, within: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False


def make_file(name: str, within: int) -> int:
    fd = os.open(name, MAKE, 0o600, dir_fd=within)
    try:
        os.fchmod(fd, 0o600)  # whatever the umask is
    except BaseException:
        shut(fd)
        with suppress(OSError):
            os.unlink(name, dir_fd=within)
        raise
    return fd
