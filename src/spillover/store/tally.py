"""How much a folder holds: the number of its outputs and their bytes, in a small file, so that nobody has to count.

Whoever publishes or removes an output holds a lock on that file meanwhile, for microseconds. The numbers may be too
high (a process was killed in between, or somebody removed files by hand) but not too low; so before anything is refused
for them, the files are counted. They are also counted where the file is missing or odd, and after each hourly sweep.
Where a filesystem has no locks, the numbers may be off by what happens at the same moment.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager, suppress

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.folder import BYTES, ENDINGS, RECORD, Folder, is_ours, parse_name, shut, shut_on_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TALLY = ".tally"
#: The longest that anybody waits for another process that publishes or removes.
WAIT_SECONDS = 10.0
_OPEN_FOR = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
_SHAPE = re.compile(rb"([0-9]{20}) ([0-9]{20})\n")
_NONE = b"-" * 41 + b"\n"


class Amount(Struct, frozen=True):
    """So many outputs, and so many bytes with all that belongs to them."""

    outputs: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.outputs + other.outputs, self.bytes + other.bytes)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.outputs - other.outputs, self.bytes - other.bytes)


class Tally:
    """The numbers, while the lock is held."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> Amount | None:
        """Return what the folder holds; None where it has to be counted."""
        if self._fd < 0:
            return None
        found = _SHAPE.fullmatch(os.pread(self._fd, 64, 0))
        return Amount(int(found[1]), int(found[2])) if found else None

    def write(self, amount: Amount | None) -> None:
        """Note what it holds; None where that is not certain."""
        if self._fd >= 0:
            odd = amount is None or amount.outputs < 0 or amount.bytes < 0
            text = _NONE if odd or amount is None else b"%020d %020d\n" % (amount.outputs, amount.bytes)
            if os.pwrite(self._fd, text, 0) != len(text):
                raise StoreError(f"{TALLY} could not be written.")

    @contextmanager
    def follow(self, folder: Folder, ref: str, before: Amount, at_most: Amount | None = None) -> Iterator[None]:
        """What changes of an output in here is noted: `at_most` so much in advance, what it came to afterwards."""
        known, exact = self.read(), False
        if known is not None and at_most is not None:
            self.write(known + at_most)
        try:
            yield
            exact = at_most is not None and before == Amount()  # it was not there at all, and is now
        finally:
            if known is not None and not exact:
                with suppress(OSError):  # too high, then, until it is counted again
                    self.write(known - before + amount_of(folder, ref, certain=True))


@contextmanager
def open_tally(folder: Folder, *, needed: bool = True) -> Iterator[Tally]:
    """The tally, locked. Unless it is `needed`, work goes on without where it cannot be had: a full disk can be cleaned up."""
    import fcntl  # wanted only once something has overflowed

    try:
        fd = _open(folder)
    except OSError:
        if needed:
            raise
        fd = -1
    try:
        yield Tally(fd)
    finally:
        if fd >= 0:
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)  # closing alone would leave it to a child forked meanwhile
            shut(fd)


def _open(folder: Folder) -> int:
    """Return the file, locked."""
    try:
        fd = os.open(TALLY, _OPEN_FOR, dir_fd=folder.fd)
    except FileNotFoundError:
        with suppress(FileExistsError):
            folder.make(TALLY)
        fd = os.open(TALLY, _OPEN_FOR, dir_fd=folder.fd)
    with shut_on_error(fd):
        if not is_ours(os.fstat(fd)):
            raise StoreError(f"{folder.path}/{TALLY} is not a plain file of ours.")
        _lock(fd, folder.path)
    return fd


def _lock(fd: int, path: str) -> None:
    import fcntl

    until, pause = time.monotonic() + WAIT_SECONDS, 0.000_2
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise StoreError(
                    f"Another process has been using the store for {WAIT_SECONDS:.0f} seconds: {path}/{TALLY}"
                ) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.01)
        except OSError:
            return  # no locks on this filesystem
        else:
            return


def amount_of(folder: Folder, ref: str, *, certain: bool = False) -> Amount:
    """Return what there is of one output; `certain`: OSError where a file is said to be missing that is there."""
    sizes: dict[str, int] = {}
    for ending in ENDINGS:
        if facts := folder.facts(ref + ending):
            sizes[ending] = facts.st_size
        elif certain and folder.has(ref + ending):
            raise OSError(f"{folder.path}/{ref}{ending} cannot be looked at.")
    return amount(sizes)


def amount(sizes: dict[str, int]) -> Amount:
    """Return what these files come to, by their endings: an output, or a part of one."""
    whole = RECORD in sizes and not sizes.keys().isdisjoint(BYTES)
    return Amount(int(whole), sum(sizes.values()))


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
    total = Amount()
    for sizes in found.values():
        total += amount(sizes)
    return total
