"""The one lock of a folder: `.lock`, which also holds the tally.

The tally is how many outputs a folder holds and their bytes, so that nobody has to count. Whoever publishes an output, or
changes its record, holds the lock meanwhile, for microseconds. The numbers may be too high (an output was removed, or its
writer was killed) but not too low; so before anything is refused for them, the files are counted. They are also counted
where the file is missing or odd, and after each hourly sweep. On a filesystem without locks, a second file that only one
process can create takes the place of the lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.folder import Folder, is_ours, is_whole, parse_name, shut, shut_on_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCK = ".lock"
#: Stands in for the lock on a filesystem that has none.
LOCK_FILE = ".lock.held"
#: A lock file this old was left by a process that was killed; a lock is held for microseconds.
STALE_SECONDS = 30
#: The longest that anybody waits for another process that publishes.
WAIT_SECONDS = 10.0
_SHAPE = re.compile(rb"([0-9]{20}) ([0-9]{20})\n")
_UNKNOWN = b"-" * 41 + b"\n"


class Amount(Struct, frozen=True):
    """So many outputs, and so many bytes with all that belongs to them."""

    outputs: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.outputs + other.outputs, self.bytes + other.bytes)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(max(0, self.outputs - other.outputs), max(0, self.bytes - other.bytes))


class Tally:
    """The numbers, while the lock is held."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> Amount | None:
        """Return what the folder holds; None where it has to be counted."""
        found = _SHAPE.fullmatch(os.pread(self._fd, 64, 0))
        return Amount(int(found[1]), int(found[2])) if found else None

    def write(self, amount: Amount | None) -> None:
        """Note what it holds; None where that is not certain."""
        text = _UNKNOWN if amount is None else b"%020d %020d\n" % (amount.outputs, amount.bytes)
        if os.pwrite(self._fd, text, 0) != len(text):
            raise StoreError(f"{LOCK} could not be written.")


@contextmanager
def hold_lock(folder: Folder) -> Iterator[Tally]:
    """Hold the lock of a folder; StoreError when another process holds it too long."""
    with suppress(FileExistsError):
        folder.make(LOCK)
    fd = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder.fd)
    with shut_on_error(fd):
        if not is_ours(os.fstat(fd)):
            raise StoreError(f"{folder.path}/{LOCK} is not a plain file of ours.")
        release = _lock(fd, folder)
    try:
        yield Tally(fd)
    finally:
        with suppress(OSError):
            release()
        shut(fd)


def _lock(fd: int, folder: Folder) -> Callable[[], None]:
    """Wait for the lock and return a function that releases it."""
    until, pause = time.monotonic() + WAIT_SECONDS, 0.000_2
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return partial(fcntl.flock, fd, fcntl.LOCK_UN)  # closing alone would leave it to a child forked meanwhile
        except BlockingIOError:
            pass
        except OSError:  # no locks on this filesystem
            if _make_lock_file(folder):
                return partial(os.unlink, LOCK_FILE, dir_fd=folder.fd)
        if time.monotonic() > until:
            raise StoreError(
                f"Another process has been using the store for {WAIT_SECONDS:.0f} seconds: {folder.path}/{LOCK}"
            )
        time.sleep(pause)
        pause = min(2 * pause, 0.01)


def _make_lock_file(folder: Folder) -> bool:
    """Create the lock file, unless another process holds it; remove a stale one."""
    try:
        folder.make(LOCK_FILE)
    except FileExistsError:
        stale = folder.facts(LOCK_FILE)
        if stale and time.time() - stale.st_mtime > STALE_SECONDS:
            folder.take(LOCK_FILE, stale)
        return False
    return True


def remove(folder: Folder, ref: str, seen: dict[str, os.stat_result]) -> bool:
    """Remove what was `seen` of an output, unless somebody wants to keep it; whether it is gone."""
    with ExitStack() as stack:
        with suppress(OSError):  # a full disk, or a process that hangs: cleaning up works all the same
            stack.enter_context(hold_lock(folder))
        return folder.remove(ref, seen)


def count(folder: Folder) -> Amount:
    """Return what a folder holds, file by file."""
    found: dict[str, dict[str, int]] = {}
    with os.scandir(folder.fd) as entries:
        for entry in entries:
            if known := parse_name(entry.name):
                try:
                    facts: os.stat_result | None = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    facts = folder.facts(entry.name)  # a file server may say so of one that is there; once more, then
                if facts is not None and is_ours(facts):
                    found.setdefault(known[0], {})[known[1]] = facts.st_size
    return Amount(sum(map(is_whole, found.values())), sum(sum(sizes.values()) for sizes in found.values()))
