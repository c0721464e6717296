"""What a DirStore keeps, and for how long: by age, then the oldest first until size and number hold."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from spillover.errors import UsageError
from spillover.store.folder import (
    MARKER,
    PIN,
    READ,
    SWEEP,
    TEMP_SHAPE,
    Folder,
    is_ours,
    is_whole,
    parse_name,
    shut,
)

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DAY = 86_400
#: How often a store sweeps by itself.
EVERY_SECONDS = 3_600
#: What one such sweep may do at most, so that the tool call it happens in does not wait.
LOOK, DROP = 50_000, 2_000
#: What has no living writer and is younger than this may still be between two steps of one.
STEP_SECONDS = 60


class Retention(Struct, frozen=True, kw_only=True):
    """How long outputs are kept; None sets no limit.

    Pinned outputs are kept for good, and no other output is removed for them. But `bytes` and `count` are also what a store holds at
    most, with all that is pinned or young: past that it takes no new output.
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


class Entry(Struct, frozen=True):
    """What retention looks at of one output."""

    ref: str
    bytes: int  # on disk
    mtime: float
    pinned: bool = False


class Swept(Struct, frozen=True):
    """What a sweep removed."""

    outputs: int = 0
    bytes: int = 0
    leftovers: int = 0  # files of writers that were killed


def plan(entries: Iterable[Entry], retention: Retention, now: float) -> list[str]:
    """Return which outputs have to go, the oldest first."""
    loose = sorted((entry for entry in entries if not entry.pinned), key=lambda entry: (entry.mtime, entry.ref))
    size, count = sum(entry.bytes for entry in loose), len(loose)
    doomed = []
    for entry in loose:
        age = now - entry.mtime
        expired = retention.age_seconds is not None and age > retention.age_seconds
        too_big = retention.bytes is not None and size > retention.bytes
        too_many = retention.count is not None and count > retention.count
        if age < retention.grace_seconds or not (expired or too_big or too_many):
            break  # all that follow are younger
        doomed.append(entry.ref)
        size, count = size - entry.bytes, count - 1
    return doomed


def sweep(folder: Folder, retention: Retention, now: float, *, dry_run: bool = False) -> Swept:
    """Sweep all of it. Two at once do no harm, only the same work."""
    if folder.facts(MARKER) is None:  # an empty folder that is not ours yet
        return Swept()
    if dry_run:
        return _sweep(folder, retention, now, dry_run=True)
    _mark(folder)
    return _sweep(folder, retention, now)


def sweep_if_due(folder: Folder, retention: Retention, now: float) -> None:
    """Sweep within bounds, and at most once in EVERY_SECONDS over all processes."""
    if _due(folder, now):
        _mark(folder)
        _sweep(folder, retention, now, look=LOOK, drop=DROP)


def _due(folder: Folder, now: float) -> bool:
    last = folder.facts(SWEEP)
    return last is None or abs(now - last.st_mtime) > EVERY_SECONDS


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
    look: int | None = None,
    drop: int | None = None,
    dry_run: bool = False,
) -> Swept:
    from spillover.store.runs import clear_runs
    from spillover.store.tally import hold_lock, remove  # wanted once an hour

    found = _found(folder, look)
    entries = {ref: _entry(ref, parts) for ref, parts in found.items() if is_whole(parts)}
    doomed = plan(entries.values(), retention, now)[:drop]
    gone = [ref for ref in doomed if dry_run or remove(folder, ref, found[ref])]

    # What is between two steps of being published or removed is not whole either; it gets time to become so.
    patience = max(retention.grace_seconds, STEP_SECONDS)
    halves = [ref for ref, parts in found.items() if ref not in entries and now - _touched(parts) > patience][:drop]
    # We may have looked at a part of the folder only, or while an output was compressed; it is whole all the same.
    halves = [ref for ref in halves if not folder.holds(ref)]
    left = sum(len(found[ref]) for ref in halves if dry_run or remove(folder, ref, found[ref]))
    for name in list(_leftovers(folder, look, now, patience))[:drop]:
        left += 1
        if not dry_run:
            folder.drop_temp(name)
    if not dry_run:
        oldest = None if retention.age_seconds is None else now - retention.age_seconds
        clear_runs(folder, retention.runs, oldest)
        with suppress(OSError), hold_lock(folder) as tally:
            tally.write(None)  # the next who publishes counts, and so whatever made it wrong is put right
    swept = Swept(len(gone), sum(entries[ref].bytes for ref in gone), left)
    if (gone or left) and not dry_run:
        outputs, files = (
            f"{swept.outputs:,} output{'s' * (swept.outputs != 1)}",
            f"{left:,} leftover file{'s' * (left != 1)}",
        )
        _log.info("Swept %s of %s bytes, and %s.", outputs, f"{swept.bytes:,}", files)
    return swept


def look_around(folder: Folder) -> dict[str, tuple[Entry, dict[str, os.stat_result]]]:
    """Return every output of a folder, as retention sees it, and its files."""
    return {ref: (_entry(ref, parts), parts) for ref, parts in _found(folder).items() if is_whole(parts)}


def _found(folder: Folder, look: int | None = None) -> dict[str, dict[str, os.stat_result]]:
    found: dict[str, dict[str, os.stat_result]] = {}
    for name, facts in _files(folder.fd, look):
        if known := parse_name(name):
            found.setdefault(known[0], {})[known[1]] = facts
    return found


def _files(fd: int, look: int | None) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the plain files of ours in a folder; links, folders and what belongs to others is not looked at."""
    with os.scandir(fd) as found:
        for entry in islice(found, look):
            with suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                if is_ours(facts):
                    yield entry.name, facts


def _touched(parts: dict[str, os.stat_result]) -> float:
    return max(part.st_mtime for part in parts.values())


def _entry(ref: str, parts: dict[str, os.stat_result]) -> Entry:
    size = sum(part.st_size for part in parts.values())
    touched = _touched({ending: part for ending, part in parts.items() if ending != PIN})
    return Entry(ref, size, touched, pinned=PIN in parts)


def _leftovers(folder: Folder, look: int | None, now: float, patience: float) -> Iterator[str]:
    """Files on their way whose writer is gone."""
    import fcntl  # wanted once an hour

    for name, facts in _files(folder.temp, look):
        age = now - max(facts.st_mtime, facts.st_ctime)  # ctime: what is taken aside to be removed keeps its mtime
        if age <= STEP_SECONDS or not TEMP_SHAPE.fullmatch(name):
            continue
        try:
            fd = os.open(name, READ, dir_fd=folder.temp)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its writer lives; the tool it writes for may have been silent for hours
        except OSError:  # no locks on this filesystem
            if age <= patience:
                continue
        finally:
            shut(fd)
        yield name
