"""The scopes that have an output: each with its own newest call, in one record. Pure: records in, records out.

The same bytes from two scopes are stored once. What the record says of a call (when, which command) is then said for
each scope apart, so that nobody reads the command of another.
"""

from __future__ import annotations

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.base import Owner, Record
from spillover.store.scope import EVERY, covers

#: So many scopes can have one output. Past that the oldest gives way, as outputs do to retention, and like there not
#: within an hour: then the new one is refused, and its clip says so.
MOST = 500
GRACE_SECONDS = 3_600


def owners(record: Record) -> tuple[Owner, ...]:
    """Return every scope that has it."""
    if record.scope is None:
        return record.others
    return (Owner(record.scope, record.created, record.call_id, record.command), *record.others)


def merge(held: Record, new: Record) -> Record:
    """Return one record for the same bytes stored again: that of the newest call, with the scopes of both; raise StoreError if it is full."""
    # The newest call is the one that is asked for; and the last time it may have been only a part.
    newest, before_it = (new, held) if held.facts != new.facts or held.created <= new.created else (held, new)
    by_scope: dict[str, Owner] = {}
    for owner in sorted((*owners(held), *owners(new)), key=lambda owner: owner.created):
        before = by_scope.get(owner.scope)
        # A call that does not say its command, as a pipe does not, takes away nothing that an earlier one said.
        by_scope[owner.scope] = replace(owner, command=owner.command or (before and before.command))
    if newest.scope is not None:
        newest = replace(newest, command=by_scope.pop(newest.scope).command)
    others = sorted(by_scope.values(), key=lambda owner: (-owner.created, owner.scope))
    moment = max(held.created, new.created)
    if any(owner.scope == new.scope or moment - owner.created < GRACE_SECONDS for owner in others[MOST - 1 :]):
        raise StoreError(
            f"This output already belongs to {MOST:,} scopes, and its record has room for no more; try again in an hour"
        )
    newest = newest.with_notices(before_it)
    return replace(newest, ref=held.ref, others=tuple(others[: MOST - 1]), pinned=held.pinned or new.pinned)


def seen(record: Record, own: str) -> Record | None:
    """Return the record as a scope sees it: its own newest call, and nothing of others; None when it is not its own."""
    if own == EVERY:
        return record
    mine = sorted((owner for owner in owners(record) if covers(own, owner.scope)), key=lambda owner: -owner.created)
    if not mine:
        return None
    first, *rest = mine
    return replace(
        record,
        scope=first.scope,
        created=first.created,
        call_id=first.call_id,
        command=first.command,
        others=tuple(rest),
    )


def without(record: Record, own: str) -> Record | None:
    """Return the record once the scopes that `own` covers have let go of it; None when nobody has it then."""
    rest = sorted((owner for owner in owners(record) if not covers(own, owner.scope)), key=lambda owner: -owner.created)
    if not rest:
        return None
    first = rest[0]
    return replace(
        record,
        scope=first.scope,
        created=first.created,
        call_id=first.call_id,
        command=first.command,
        others=tuple(rest[1:]),
    )
