"""The limits of a folder, held when an output is published: what is past its grace makes room, or the output is refused."""

from __future__ import annotations

import logging
import time

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.retention import look_around, plan
from spillover.store.tally import Amount, count

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.folder import Folder
    from spillover.store.retention import Retention
    from spillover.store.tally import Tally

#: When outputs have to go, this part of a limit is made free, so that not every output that follows has to look for room.
SPARE = 32


def reserve(folder: Folder, tally: Tally, retention: Retention | None, ref: str, wanted: Amount) -> None:
    """Add so much to the tally for an output that is about to be published, and make room for it; StoreError where there is none."""
    held = tally.read()
    if retention is None:
        tally.write(held and held + wanted)
        return
    if held is None or not _fits(held + wanted, retention):
        held = count(folder)
    if not _fits(held + wanted, retention):
        tally.write(held)
        held -= _make_room(folder, held, retention, ref, wanted)
    tally.write(held + wanted)


def _make_room(folder: Folder, held: Amount, retention: Retention, ref: str, wanted: Amount) -> Amount:
    """Remove what is past its grace, the oldest first, and return how much that was; StoreError if it is not enough."""
    # What is pinned is never removed, but is there: the limits are for all of it.
    found = look_around(folder)
    entries = [entry for entry, _ in found.values() if entry.ref != ref]
    pinned = Amount(sum(entry.pinned for entry in entries), sum(entry.bytes for entry in entries if entry.pinned))
    rest = wanted + pinned
    lower = replace(retention, bytes=_less(retention.bytes, rest.bytes), count=_less(retention.count, rest.outputs))
    doomed = plan(entries, lower, time.time())
    if not _fits(held - Amount(len(doomed), sum(found[each][0].bytes for each in doomed)) + wanted, retention):
        raise _full(held, wanted, retention)  # then nothing is removed for it
    gone = [each for each in doomed if folder.remove(each, found[each][1])]
    freed = Amount(len(gone), sum(found[each][0].bytes for each in gone))
    _log.info("Removed %s outputs of %s bytes to make room.", f"{freed.outputs:,}", f"{freed.bytes:,}")
    if not _fits(held - freed + wanted, retention):  # somebody wants to keep what was to go
        raise _full(held - freed, wanted, retention)
    return freed


def _fits(amount: Amount, retention: Retention) -> bool:
    return (retention.bytes is None or amount.bytes <= retention.bytes) and (
        retention.count is None or amount.outputs <= retention.count
    )


def _less(limit: int | None, wanted: int) -> int | None:
    return None if limit is None else max(0, limit - wanted - limit // SPARE)


def _full(held: Amount, wanted: Amount, retention: Retention) -> StoreError:
    if retention.count is not None and held.outputs + wanted.outputs > retention.count:
        name, said = "count", f"{held.outputs:,} of {retention.count:,} outputs"
    else:
        name, said = "bytes", f"{held.bytes:,} of {retention.bytes:,} bytes, {wanted.bytes:,} more needed"
    return StoreError(
        f"the store is full ({said}) of what is pinned or too young to be removed; raise retention.{name}, "
        "lower retention.grace, or unpin and `spill gc`"
    )
