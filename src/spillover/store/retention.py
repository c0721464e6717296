"""Retention: the age, the size and the number of the outputs that a DirStore keeps.

Outputs expire by age; then the oldest are removed until size and number are within the limits. A sweep does that once
an hour. A writer that publishes an output makes room for it, or is refused.

So that no writer has to list the folder, the file of the lock holds the tally: how many outputs there are, and their
bytes. The numbers may be too high (an output was removed, or its writer was killed) but not too low; so before an
output is refused for them, the files are counted. They are also counted where the file is missing or malformed, and
after each hourly sweep.
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

from spillover.errors import OptionsStruct, StoreError, UsageError, quote
from spillover.store.folder import LOCK, MARKER, PIN, SWEEP, Files, Folder, is_whole

_log = logging.getLogger(__name__)

DAY = 86_400
#: Seconds between two automatic sweeps. More keep expired outputs longer.
EVERY_SECONDS = 3_600
#: Files that such a sweep lists, and outputs that it removes. More delay the tool call in which it happens.
MAX_SWEEP_FILES = 50_000
MAX_SWEEP_REMOVALS = 2_000
#: Seconds for which a file without a writer may be between two steps of one. More keep leftovers longer.
STEP_SECONDS = 60
#: Making room frees this part of a limit, so that not every later output has to. A higher number frees less.
SPARE_DIVISOR = 32
_TALLY_SHAPE = re.compile(rb"([0-9]{20}) ([0-9]{20})\n")
_UNKNOWN_TALLY = b"-" * 41 + b"\n"


class Retention(OptionsStruct, frozen=True, kw_only=True):
    """How long outputs are kept; None sets no limit.

    Pinned outputs are kept for good, and a sweep removes no other output for them. But `bytes` and `count` are also
    what a store holds at most, pinned outputs included: to store another output, the oldest that are not pinned are
    removed first.
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
                raise UsageError(f"Retention({name}={quote(value)}) is not a limit; use a number of 0 or more.")


class StoredFile(Struct, frozen=True):
    """The size and age of one output, or of one file."""

    ref: str
    bytes: int  # on disk
    mtime: float
    pinned: bool = False


class Swept(Struct, frozen=True):
    """The result of a sweep."""

    outputs: int = 0
    bytes: int = 0
    leftovers: int = 0  # files of writers that were killed


class Amount(Struct, frozen=True):
    """A number of outputs, and the bytes of all their files."""

    outputs: int = 0
    bytes: int = 0

    def __add__(self, more: Amount) -> Amount:
        return Amount(self.outputs + more.outputs, self.bytes + more.bytes)

    def __sub__(self, less: Amount) -> Amount:
        return Amount(max(0, self.outputs - less.outputs), max(0, self.bytes - less.bytes))

    def fits(self, retention: Retention) -> bool:
        """Return whether this amount is within a retention."""
        return (retention.bytes is None or self.bytes <= retention.bytes) and (
            retention.count is None or self.outputs <= retention.count
        )


class Tally:
    """The amount in a folder, in the file of its lock; valid while the lock is held."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> Amount | None:
        """Return the amount in the folder; None if it has to be counted."""
        match = _TALLY_SHAPE.fullmatch(os.pread(self._fd, 64, 0))
        return Amount(int(match[1]), int(match[2])) if match else None

    def write(self, amount: Amount | None) -> None:
        """Write the amount in the folder; None if it is uncertain."""
        text = _UNKNOWN_TALLY if amount is None else b"%020d %020d\n" % (amount.outputs, amount.bytes)
        if os.pwrite(self._fd, text, 0) != len(text):
            raise StoreError(f"{LOCK} could not be written.")


@contextmanager
def hold_tally(folder: Folder) -> Iterator[Tally]:
    """Hold the lock of a folder, to read and write its tally."""
    with folder.lock() as fd:
        yield Tally(fd)


def plan(entries: Iterable[StoredFile], retention: Retention, now: float) -> list[str]:
    """Return the refs of the outputs to remove, the oldest first."""
    loose = sorted((entry for entry in entries if not entry.pinned), key=lambda entry: (entry.mtime, entry.ref))
    size = sum(entry.bytes for entry in loose)
    count = len(loose)
    expired = []
    for entry in loose:
        age = now - entry.mtime
        is_old = retention.age_seconds is not None and age > retention.age_seconds
        too_big = retention.bytes is not None and size > retention.bytes
        too_many = retention.count is not None and count > retention.count
        if age < retention.grace_seconds or not (is_old or too_big or too_many):
            break  # all that follow are younger
        expired.append(entry.ref)
        size -= entry.bytes
        count -= 1
    return expired


def list_entries(folder: Folder) -> dict[str, tuple[StoredFile, Files]]:
    """Return the size, the age and the files of every complete output of a folder."""
    return {ref: (_entry(ref, files), files) for ref, files in folder.outputs().items() if is_whole(files)}


def count(folder: Folder) -> Amount:
    """Return the amount in a folder, counted file by file."""
    outputs = folder.outputs().values()
    return Amount(sum(map(is_whole, outputs)), sum(facts.st_size for files in outputs for facts in files.values()))


def sweep(folder: Folder, retention: Retention, now: float, *, dry_run: bool = False) -> Swept:
    """Sweep a whole folder. Two sweeps at once do no harm."""
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
    """Record the time of a sweep, so that no other starts, and a failed one is not repeated at once."""
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
    outputs = folder.outputs(max_files)
    entries = {ref: _entry(ref, files) for ref, files in outputs.items() if is_whole(files)}
    expired = plan(entries.values(), retention, now)[:max_removals]
    removals = [entries[ref] for ref in expired if dry_run or folder.remove(ref, outputs[ref])]

    # An output that is being published or removed is incomplete, too; it gets the time for that.
    min_age = max(retention.grace_seconds, STEP_SECONDS)
    halves = [ref for ref, files in outputs.items() if ref not in entries and now - _entry(ref, files).mtime > min_age]
    # If only a part of the folder was listed, or an output was compressed meanwhile, it may be complete.
    halves = [ref for ref in halves[:max_removals] if not folder.holds(ref)]
    leftovers = sum(len(outputs[ref]) for ref in halves if dry_run or folder.remove(ref, outputs[ref]))
    for name in list(_list_leftovers(folder, now, min_age, max_files))[:max_removals]:
        leftovers += 1
        if not dry_run:
            folder.drop_temp(name)
    result = Swept(len(removals), sum(entry.bytes for entry in removals), leftovers)
    if not dry_run:
        with suppress(OSError), hold_tally(folder) as tally:
            tally.write(None)  # the next writer counts, which corrects a wrong tally
        if removals or leftovers:
            count_words = f"{len(removals):,} output{'s' * (len(removals) != 1)}"
            file_words = f"{leftovers:,} leftover file{'s' * (leftovers != 1)}"
            _log.info("Swept %s of %s bytes, and %s.", count_words, f"{result.bytes:,}", file_words)
    return result


def _entry(ref: str, files: Files) -> StoredFile:
    size = sum(facts.st_size for facts in files.values())
    # A pin makes no output younger.
    times = [facts.st_mtime for ending, facts in files.items() if ending != PIN or len(files) == 1]
    return StoredFile(ref, size, max(times), pinned=PIN in files)


def _list_leftovers(folder: Folder, now: float, min_age: float, max_files: int | None) -> Iterator[str]:
    """Yield the temporary files of processes that have ended."""
    for name, facts in folder.temps(max_files):
        age = now - max(facts.st_mtime, facts.st_ctime)  # ctime: a file taken aside to be removed keeps its mtime
        if age <= STEP_SECONDS:
            continue
        has_writer = folder.has_writer(name)  # the tool may have been silent for hours
        if has_writer is False or (has_writer is None and age > min_age):
            yield name


def reserve(folder: Folder, tally: Tally, retention: Retention | None, ref: str, more: Amount) -> None:
    """Add an output that will be published to the tally, and make room for it; raise StoreError if there is none."""
    present = tally.read()
    if retention and not (present and (present + more).fits(retention)):
        present = count(folder)
        if not (present + more).fits(retention):
            tally.write(present)
            present -= make_room(folder, present, retention, ref, more)
    tally.write(present and present + more)


def make_room(folder: Folder, present: Amount, retention: Retention, ref: str, more: Amount) -> Amount:
    """Remove the oldest outputs past their grace, and return their amount; raise StoreError if it is too small."""
    # Pinned outputs are never removed, but they count.
    entries = {name: entry for name, entry in list_entries(folder).items() if name != ref}
    pinned = _sum(file for file, _ in entries.values() if file.pinned)
    rest = more + pinned
    lower = replace(retention, bytes=_less(retention.bytes, rest.bytes), count=_less(retention.count, rest.outputs))
    expired = plan((file for file, _ in entries.values()), lower, time.time())
    if not (present - _sum(entries[name][0] for name in expired) + more).fits(retention):
        raise _full(present, more, retention)  # then nothing is removed for it
    removals = _sum(entries[name][0] for name in expired if folder.remove_locked(name, entries[name][1]))
    _log.info("Removed %s outputs of %s bytes to make room.", f"{removals.outputs:,}", f"{removals.bytes:,}")
    if not (present - removals + more).fits(retention):  # another process touched one of them
        raise _full(present - removals, more, retention)
    return removals


def _sum(files: Iterable[StoredFile]) -> Amount:
    sizes = [file.bytes for file in files]
    return Amount(len(sizes), sum(sizes))


def _less(limit: int | None, size: int) -> int | None:
    return None if limit is None else max(0, limit - size - limit // SPARE_DIVISOR)


def _full(present: Amount, more: Amount, retention: Retention) -> StoreError:
    if retention.count is not None and present.outputs + more.outputs > retention.count:
        name = "count"
        amount = f"{present.outputs:,} of {retention.count:,} outputs"
    else:
        name = "bytes"
        amount = f"{present.bytes:,} of {retention.bytes:,} bytes, {more.bytes:,} more needed"
    return StoreError(
        f"the store is full ({amount}), and everything in it is pinned or too young to be removed; "
        f"raise retention.{name}, lower retention.grace, or unpin and `spill gc`"
    )
