"""The limits of a folder, held when an output is published: what is past its grace makes room, or the output is refused."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.removal import remove_counted
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


def make_room(folder: Folder, tally: Tally, retention: Retention, now: float, ref: str, wanted: Amount) -> None:
    """See that there is room for so much more under `ref`; StoreError where there is none. The tally is right afterwards."""
    held = tally.read()
    if held is None:
        held = count(folder)
        tally.write(held)
    if _fits(held + wanted, retention):
        return
    # What is pinned is never removed, but is there: the limits are for all of it.
    found = look_around(folder)
    entries = [entry for entry, _ in found.values() if entry.ref != ref]
    held = count(folder)
    tally.write(held)
    if _fits(held + wanted, retention):
        return
    pinned = Amount(sum(entry.pinned for entry in entries), sum(entry.bytes for entry in entries if entry.pinned))
    rest = wanted + pinned
    doomed = plan(
        entries,
        replace(
            retention,
            bytes=_less(retention.bytes, rest.bytes),
            count=_less(retention.count, rest.outputs),
        ),
        now,
    )
    going = Amount(len(doomed), sum(found[each][0].bytes for each in doomed))
    if not _fits(held - going + wanted, retention):  # then nobody is sent away for it
        raise _full(held, wanted, retention)
    _log.info("Removed %s outputs of %s bytes to make room.", f"{going.outputs:,}", f"{going.bytes:,}")
    for each in doomed:
        remove_counted(folder, tally, each, found[each][1])
    held = tally.read() or count(folder)
    if not _fits(held + wanted, retention):  # somebody wants to keep what was to go
        raise _full(held, wanted, retention)


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
