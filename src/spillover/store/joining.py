"""Changing a record that stands in a folder already, one process at a time, so that no scope is lost from it.

A record is replaced by a rename, so that a reader never meets half of one. But two that read it, each add a scope, and
rename would leave only the second: so whoever changes a record holds a lock for those few steps. It ends with its
process, and who cannot get it within WAIT_SECONDS says so instead of waiting on. Where a filesystem has no locks, a file
that only one can make takes its place.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from functools import partial

from spillover.errors import StoreError
from spillover.store.folder import RECORD, Folder, shut
from spillover.store.owners import merge, without
from spillover.store.reading import read_record
from spillover.store.record import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillover.store.base import Record

LOCK, HELD = ".join", ".join.held"
WAIT_SECONDS, STEP_SECONDS = 5.0, 0.002
#: Where there are no locks: a file this old was left by a process that was killed. The steps take a millisecond.
STALE_SECONDS = 30


@contextmanager
def joining(folder: Folder) -> Iterator[None]:
    """Hold the lock on records; StoreError when another process holds it too long."""
    import fcntl  # wanted only where an output is stored again

    with suppress(FileExistsError):
        folder.make(LOCK)
    fd = folder.open(LOCK)
    release: Callable[[], None] | None = None
    try:
        give_up = time.monotonic() + WAIT_SECONDS
        while release is None:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Closing alone would leave it to a child forked meanwhile.
                release = partial(fcntl.flock, fd, fcntl.LOCK_UN)
            except BlockingIOError:
                pass
            except OSError:  # no locks on this filesystem
                release = _hold(folder)
            if release is None:
                if time.monotonic() > give_up:
                    raise StoreError(f"{folder.path}/{LOCK} is held by another process; check whether one hangs")
                time.sleep(STEP_SECONDS)
        yield
    finally:
        if release is not None:
            with suppress(OSError):
                release()
        shut(fd)


def _hold(folder: Folder) -> Callable[[], None] | None:
    """Hold a file that only one process can create; return what releases it, or None if another process holds it."""
    try:
        folder.make(HELD)
    except FileExistsError:
        left = folder.facts(HELD)
        if left and time.time() - left.st_mtime > STALE_SECONDS:
            folder.take(HELD, left)
        return None
    return partial(os.unlink, HELD, dir_fd=folder.fd)


def join(folder: Folder, held: Record, record: Record) -> Record:
    """Return what stands in the folder once a new record of the same bytes has joined the one that is `held`. Inside `joining`."""
    merged = merge(held, record)
    if merged != held:
        replace_record(folder, merged)
    return merged


def replace_record(folder: Folder, record: Record) -> None:
    """Put a record in the place of the one that is there."""
    temp, _ = folder.write_temp(to_json(record))
    try:
        folder.move(temp, record.ref + RECORD)
    finally:
        folder.drop_temp(temp)


def disown(folder: Folder, ref: str, scope: str) -> None:
    """Drop an output from a scope, and remove it when no other scope has it."""
    from spillover.store.removal import remove_counted
    from spillover.store.tally import open_tally

    with (
        open_tally(folder, needed=False) as tally,
        joining(folder),
    ):  # the locks in the order in which publishing takes them
        left = without(read_record(folder, ref), scope)
        if left is not None:
            replace_record(folder, left)
            return
        remove_counted(folder, tally, ref, folder.look(ref))
