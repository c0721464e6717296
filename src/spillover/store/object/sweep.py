"""Retention in a bucket: scope by scope, by age, bytes and count. Any number of machines may sweep at once.

A listing tells size and time; the record is read only of what has to go.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import takewhile

from spillover.base.data import dataclass, field, replace
from spillover.base.log import info
from spillover.errors import StoreError
from spillover.store.object.entry import Entry
from spillover.store.object.keys import OUTPUTS, RECORD, Name, parse, place_of
from spillover.store.object.listing import list_all
from spillover.store.object.view import AT_ONCE, View
from spillover.store.retention import DAY, STEP_SECONDS, Swept, plan
from spillover.store.retention import Entry as Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from spillover.store.retention import Retention

#: So many records are read before the first of them is removed.
STEP = 8 * AT_ONCE
#: Days after which a bucket gives up uploads that were never finished.
UNFINISHED_DAYS = 1


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a listing says of the outputs of one scope."""

    records: dict[str, Kept] = field(default_factory=dict)  # by ref
    bytes: dict[str, tuple[str, int, float]] = field(default_factory=dict)  # as a record names them: ref, size, when


def sweep(view: View, retention: Retention, now: float, *, dry_run: bool = False) -> Swept:
    """Sweep every scope in view."""
    outputs = size = left = 0
    for place, scope in _look(view).items():
        gone, freed = _sweep_outputs(view, place, scope, retention, now, dry_run=dry_run)
        outputs, size = outputs + gone, size + freed
        left += _sweep_leftovers(view, place, scope, retention, now, dry_run=dry_run)
    if (outputs or left) and not dry_run:
        info("Swept %s outputs of %s bytes from %s.", f"{outputs:,}", f"{size:,}", view.bucket.url)
    return Swept(outputs, size, left)


def _look(view: View) -> dict[str, _Scope]:
    found: dict[str, _Scope] = {}
    for key, size, changed in list_all(view.bucket, place_of(view.scope)):
        name, when = parse(key), changed.timestamp()
        if name is None:
            continue
        scope = found.setdefault(name.place, _Scope())
        if name.end != "json":
            scope.bytes[name.within] = (name.ref, size, when)
        else:
            scope.records[name.ref] = Kept(name.ref, size, when)
    return found


def _sweep_outputs(
    view: View, place: str, scope: _Scope, retention: Retention, now: float, *, dry_run: bool
) -> tuple[int, int]:
    sizes: dict[str, int] = {}
    for ref, size, _ in scope.bytes.values():
        sizes[ref] = sizes.get(ref, 0) + size
    entries = [replace(kept, bytes=kept.bytes + sizes.get(ref, 0)) for ref, kept in scope.records.items()]
    by_ref = {kept.ref: kept for kept in entries}
    pinned: set[str] = set()
    gone: set[str] = set()
    looked: set[str] = set()
    with ThreadPoolExecutor(AT_ONCE, "spillover-sweep") as pool:
        # What turns out to be pinned makes nobody else go, as in a folder: so who has to go is asked again without it.
        again = True
        while again:
            doomed = plan((kept for kept in entries if kept.ref not in pinned), retention, now)
            again = False
            for some in _in_steps([ref for ref in doomed if ref not in looked]):
                found = [*pool.map(lambda ref: view.read(_record(place, ref)), some)]
                fixed = {entry.record.ref for entry in found if entry and entry.record.pinned}
                ready = [*takewhile(lambda entry: not (entry and entry.record.pinned), found)]
                removed = pool.map(lambda entry: bool(entry) and (dry_run or _remove(view, entry)), ready)
                looked.update(some[: len(ready)])
                gone.update(ref for ref, is_gone in zip(some, removed, strict=False) if is_gone)
                if fixed:
                    pinned |= fixed
                    again = True
                    break
    return len(gone), sum(by_ref[ref].bytes for ref in gone)


def _in_steps(refs: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(refs), STEP):
        yield refs[at : at + STEP]


def _record(place: str, ref: str) -> Name:
    return Name(place, ref, "json", f"{place}{OUTPUTS}/{ref}{RECORD}")


def _remove(view: View, entry: Entry) -> bool:
    with suppress(StoreError):
        view.remove(entry)
        return True
    return False


def _sweep_leftovers(view: View, place: str, scope: _Scope, retention: Retention, now: float, *, dry_run: bool) -> int:
    """Remove bytes that no record names, as writers leave them that were killed."""
    patience = max(retention.grace_seconds, STEP_SECONDS)
    doomed: list[str] = []
    copies: dict[str, list[str]] = {}
    for data, (ref, _, _) in scope.bytes.items():
        copies.setdefault(ref, []).append(data)
    for ref, several in copies.items():
        old = [data for data in several if now - scope.bytes[data][2] > patience]
        if not old or (ref in scope.records and len(several) == 1):
            continue  # one record, one object: they belong together
        entry = view.read(_record(place, ref))
        if entry is None and ref in scope.records:
            continue  # a record that cannot be read may name any of them
        doomed += [f"{place}{data}" for data in old if entry is None or entry.data != data]
    if doomed and not dry_run:
        view.bucket.delete(doomed)
    return len(doomed)


def lifecycle(url: str, retention: Retention) -> dict[str, Any]:
    """Return rules by which a bucket applies the age limit by itself, as `aws s3api put-bucket-lifecycle-configuration` takes them.

    A bucket knows nothing of pins, sizes and reads: those need `spill gc`.
    """
    prefix = url.partition("://")[2].partition("/")[2].strip("/")
    rules: list[dict[str, Any]] = [
        {
            "ID": "spillover-unfinished-uploads",
            "Status": "Enabled",
            "Filter": {"Prefix": f"{prefix}/" if prefix else ""},
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": UNFINISHED_DAYS},
        }
    ]
    age = retention.age_seconds
    if age is not None:
        rules.append(
            {
                "ID": "spillover-age",
                "Status": "Enabled",
                "Filter": {"Prefix": f"{prefix}/" if prefix else ""},
                "Expiration": {"Days": max(1, -(-int(age) // DAY))},
            }
        )
    return {"Rules": rules}
