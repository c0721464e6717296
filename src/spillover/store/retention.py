"""What a DirStore keeps, for how long, and how much at most.

Outputs end by age, then the oldest first until size and number hold. A sweep does that once an hour. Whoever publishes
an output makes room for it, or is refused.

So that nobody has to count, the file of the lock holds the tally: how many outputs there are, and their bytes. The
numbers may be too high (an output was removed, or its writer was killed) but not too low; so before anything is refused
for them, the files are counted. They are also counted where the file is missing or odd, and after each hourly sweep.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import StoreError, UsageError
from spillover.store.folder import LOCK, MARKER, PIN, SWEEP, Files, Folder, is_whole

_log = logging.getLogger(__name__)

DAY = 86_400
#: How often a store sweeps by itself.
EVERY_SECONDS = 3_600
#: What one such sweep looks at and removes at most, so that the tool call it happens in does not wait.
MAX_SWEEP_FILES = 50_000
MAX_SWEEP_REMOVALS = 2_000
#: What has no living writer and is younger than this may still be between two steps of one.
STEP_SECONDS = 60
#: When outputs have to go, this part of a limit is made free, so that not every output that follows has to look for room.
SPARE_DIVISOR = 32
_TALLY_SHAPE = re.compile(rb"([0-9]{20}) ([0-9]{20})\n")
_UNKNOWN_TALLY = b"-" * 41 + b"\n"


class Retention(Struct, frozen=True, kw_only=True):
    """How long outputs are kept; None sets no limit.

    Pinned outputs are kept for good, and a sweep removes no other output for them. But `bytes` and `count` are also what a store
    holds at most, pinned outputs included: to store another output, the oldest that are not pinned are removed first.
    """

    age_seconds: int | float | None = 7 * DAY
    bytes: int | None = 5 << 30
    count: int | None = 10_000
    grace_seconds: int | float = 3_600  # younger outputs stay, whatever the limits say
    runs: int = 1_000  # how many runs are remembered, including output that fitted; 0: none

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is None and name not in ("grace_seconds", "runs"):
                continue
            kinds = (int, float) if name.endswith("_seconds") else (int,)
            if type(value) not in kinds or not 0 <= value < float("inf"):
                raise UsageError(f"Retention({name}={value!r}) is not a limit; use a number of 0 or more.")


class StoredFile(Struct, frozen=True):
    """What retention looks at of one output, or of one file."""

    ref: str
    bytes: int  # on disk
    mtime: float
    pinned: bool = False


class Swept(Struct, frozen=True):
    """What a sweep removed."""

    outputs: int = 0
    bytes: int = 0
    leftovers: int = 0  # files of writers that were killed


class Amount(Struct, frozen=True):
    """So many outputs, and so many bytes with all that belongs to them."""

    outputs: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.outputs + other.outputs, self.bytes + other.bytes)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(max(0, self.outputs - other.outputs), max(0, self.bytes - other.bytes))

    def fits(self, retention: Retention) -> bool:
        """Return whether a store may hold as much."""
        return (retention.bytes is None or self.bytes <= retention.bytes) and (
            retention.count is None or self.outputs <= retention.count
        )


class Tally:
    """How much a folder holds, while its lock is held."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> Amount | None:
        """Return what the folder holds; None where it has to be counted."""
        found = _TALLY_SHAPE.fullmatch(os.pread(self._fd, 64, 0))
        return Amount(int(found[1]), int(found[2])) if found else None

    def write(self, amount: Amount | None) -> None:
        """Note what the folder holds; None where that is not certain."""
        text = _UNKNOWN_TALLY if amount is None else b"%020d %020d\n" % (amount.outputs, amount.bytes)
        if os.pwrite(self._fd, text, 0) != len(text):
            raise StoreError(f"{LOCK} could not be written.")


@contextmanager
def hold_tally(folder: Folder) -> Iterator[Tally]:
    """Hold the lock of a folder, to read and write its tally."""
    with folder.lock() as fd:
        yield Tally(fd)


def plan(entries: Iterable[StoredFile], retention: Retention, now: float) -> list[str]:
    """Return which outputs have to go, the oldest first."""
    loose = sorted((entry for entry in entries if not entry.pinned), key=lambda entry: (entry.mtime, entry.ref))
    size, count = sum(entry.bytes for entry in loose), len(loose)
    expired = []
    for entry in loose:
        age = now - entry.mtime
        is_old = retention.age_seconds is not None and age > retention.age_seconds
        too_big = retention.bytes is not None and size > retention.bytes
        too_many = retention.count is not None and count > retention.count
        if age < retention.grace_seconds or not (is_old or too_big or too_many):
            break  # all that follow are younger
        expired.append(entry.ref)
        size, count = size - entry.bytes, count - 1
    return expired


def list_entries(folder: Folder) -> dict[str, tuple[StoredFile, Files]]:
    """Return every complete output of a folder, as retention sees it, and its files."""
    return {ref: (_entry(ref, files), files) for ref, files in folder.outputs().items() if is_whole(files)}


def count(folder: Folder) -> Amount:
    """Return what a folder holds, file by file."""
    outputs = folder.outputs().values()
    return Amount(sum(map(is_whole, outputs)), sum(facts.st_size for files in outputs for facts in files.values()))


def sweep(folder: Folder, retention: Retention, now: float, *, dry_run: bool = False) -> Swept:
    """Sweep all of it. Two at once do no harm, only the same work."""
    if folder.stat(MARKER) is None:  # an empty folder that is not ours yet
        return Swept()
    if not dry_run:
        _mark(folder)
    return _sweep(folder, retention, now, dry_run=dry_run)


def sweep_if_due(folder: Folder, retention: Retention, now: float) -> Swept | None:
    """Sweep within bounds, at most once in EVERY_SECONDS over all processes; None if it is not due."""
    last = folder.stat(SWEEP)
    if last is not None and abs(now - last.st_mtime) <= EVERY_SECONDS:
        return None
    _mark(folder)
    return _sweep(folder, retention, now, max_files=MAX_SWEEP_FILES, max_removals=MAX_SWEEP_REMOVALS)


def _mark(folder: Folder) -> None:
    """Note that a sweep begins: others do not start one, and one that fails is not tried again by the very next call."""
    if not folder.touch(SWEEP):
        with suppress(FileExistsError):
            folder.make(SWEEP)


def _sweep(
    folder: Folder,
    retention: Retention,
    now: float,
    *,
    max_files: int | None = None,
    max_removals: int | None = None,
    dry_run: bool = False,
) -> Swept:
    found = folder.outputs(max_files)
    entries = {ref: _entry(ref, files) for ref, files in found.items() if is_whole(files)}
    expired = plan(entries.values(), retention, now)[:max_removals]
    removed = [ref for ref in expired if dry_run or folder.remove(ref, found[ref])]

    # What is between two steps of being published or removed is not whole either; it gets time to become so.
    min_age = max(retention.grace_seconds, STEP_SECONDS)
    halves = [ref for ref, files in found.items() if ref not in entries and now - _touched(files) > min_age]
    # We may have looked at a part of the folder only, or while an output was compressed; it is whole all the same.
    halves = [ref for ref in halves[:max_removals] if not folder.holds(ref)]
    leftovers = sum(len(found[ref]) for ref in halves if dry_run or folder.remove(ref, found[ref]))
    for name in list(_list_leftovers(folder, now, min_age, max_files))[:max_removals]:
        leftovers += 1
        if not dry_run:
            folder.drop_temp(name)
    swept = Swept(len(removed), sum(entries[ref].bytes for ref in removed), leftovers)
    if not dry_run:
        with suppress(OSError), hold_tally(folder) as tally:
            tally.write(None)  # the next who publishes counts, and so whatever made it wrong is put right
        if removed or leftovers:
            outputs = f"{swept.outputs:,} output{'s' * (swept.outputs != 1)}"
            files = f"{leftovers:,} leftover file{'s' * (leftovers != 1)}"
            _log.info("Swept %s of %s bytes, and %s.", outputs, f"{swept.bytes:,}", files)
    return swept


def _touched(files: Files) -> float:
    return max(facts.st_mtime for facts in files.values())


def _entry(ref: str, files: Files) -> StoredFile:
    size = sum(facts.st_size for facts in files.values())
    touched = _touched({ending: facts for ending, facts in files.items() if ending != PIN})
    return StoredFile(ref, size, touched, pinned=PIN in files)


def _list_leftovers(folder: Folder, now: float, min_age: float, max_files: int | None) -> Iterator[str]:
    """Yield the files on their way whose writer is gone."""
    for name, facts in folder.temps(max_files):
        age = now - max(facts.st_mtime, facts.st_ctime)  # ctime: what is taken aside to be removed keeps its mtime
        if age <= STEP_SECONDS:
            continue
        has_writer = folder.has_writer(name)  # the tool that it writes for may have been silent for hours
        if has_writer is False or (has_writer is None and age > min_age):
            yield name


def reserve(folder: Folder, tally: Tally, retention: Retention | None, ref: str, wanted: Amount) -> None:
    """Add an output that is about to be published to the tally, and make room for it; StoreError where there is none."""
    present = tally.read()
    if retention is None:
        tally.write(present and present + wanted)
        return
    if present is None or not (present + wanted).fits(retention):
        present = count(folder)
    if not (present + wanted).fits(retention):
        tally.write(present)
        present -= make_room(folder, present, retention, ref, wanted)
    tally.write(present + wanted)


def make_room(folder: Folder, present: Amount, retention: Retention, ref: str, wanted: Amount) -> Amount:
    """Remove what is past its grace, the oldest first, and return how much that was; StoreError if it is not enough."""
    # What is pinned is never removed, but is there: the limits are for all of it.
    found = list_entries(folder)
    entries = [entry for entry, _ in found.values() if entry.ref != ref]
    pinned = Amount(sum(entry.pinned for entry in entries), sum(entry.bytes for entry in entries if entry.pinned))
    rest = wanted + pinned
    lower = replace(retention, bytes=_less(retention.bytes, rest.bytes), count=_less(retention.count, rest.outputs))
    expired = plan(entries, lower, time.time())
    if not (present - _amount(expired, found) + wanted).fits(retention):
        raise _full(present, wanted, retention)  # then nothing is removed for it
    removed = _amount([each for each in expired if folder.remove_locked(each, found[each][1])], found)
    _log.info("Removed %s outputs of %s bytes to make room.", f"{removed.outputs:,}", f"{removed.bytes:,}")
    if not (present - removed + wanted).fits(retention):  # somebody wants to keep what was to go
        raise _full(present - removed, wanted, retention)
    return removed


def _amount(refs: list[str], found: dict[str, tuple[StoredFile, Files]]) -> Amount:
    return Amount(len(refs), sum(found[ref][0].bytes for ref in refs))


def _less(limit: int | None, wanted: int) -> int | None:
    return None if limit is None else max(0, limit - wanted - limit // SPARE_DIVISOR)


def _full(present: Amount, wanted: Amount, retention: Retention) -> StoreError:
    if retention.count is not None and present.outputs + wanted.outputs > retention.count:
        name, amount = "count", f"{present.outputs:,} of {retention.count:,} outputs"
    else:
        name, amount = "bytes", f"{present.bytes:,} of {retention.bytes:,} bytes, {wanted.bytes:,} more needed"
    return StoreError(
        f"the store is full ({amount}), and everything in it is pinned or too young to be removed; raise retention.{name}, "
        "lower retention.grace, or unpin and `spill gc`"
    )
