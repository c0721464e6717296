"""One output by its ref: path, pin, unpin, rm, and verify for one or all."""

from __future__ import annotations

import argparse
import os

from spillover import profiles
from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.output import complain, put, put_json
from spillover.cli.setup import clipper
from spillover.cli.units import count_of
from spillover.errors import MissingExtraError, RefError, StoreError
from spillover.retrieve.names import resolve
from spillover.settings.settings import default_store
from spillover.store import BaseStore, Store, verify
from spillover.store.directory import DirStore
from spillover.store.named import JoinedStores, find_store
from spillover.store.record import Record
from spillover.store.scopes import ScopedStore


def reader(arguments: argparse.Namespace) -> Clipper:
    """Return the Clipper for going back. It also finds what profiles keep in folders of their own, and paths in any store."""
    made = clipper(arguments)
    words = [getattr(arguments, name, None) for name in ("ref", "pattern", "other", "refs")]
    paths = [path for word in words for path in (word if isinstance(word, list) else [word]) if path and os.sep in path]
    beside: list[Store | None] = [find_store(path) for path in paths]
    if arguments.store is None and not os.environ.get("SPILLOVER_STORE"):
        beside += [default_store(), *(find_store(os.path.join(folder, "any")) for folder in profiles.folders())]
    stores = {each.folder or "": each for each in (made.settings.store, *beside) if isinstance(each, DirStore)}
    several = isinstance(made.settings.store, DirStore) and len(stores) > 1
    return made.but(store=JoinedStores(tuple(stores.values()))) if several else made


def path(arguments: argparse.Namespace) -> int:
    """Print the path of the plain file, and nothing else, so that it can stand in a command."""
    store = reader(arguments).settings.outputs
    ref = look_up(store, arguments.ref).ref
    where = path_here(store, ref)
    if where is not None:
        complain(f"{ref} is on this machine only; `spill push` uploads it.")
    elif (where := store.where(ref)) is None:
        raise StoreError(f"{ref} is {why_no_path(store.store)} and has no plain file; `spill read {ref}` reads it.")
    put(f"{where}\n")
    return exits.OK


def look_up(store: ScopedStore, ref: str) -> Record:
    """Return the record of what is named; where a bucket is away, `last` is the newest on this machine, which is said."""
    found = resolve(ref, store)
    if found.away:
        complain(f"{found.away}.")
    return store.get(found.ref)


def path_here(store: ScopedStore, ref: str) -> str | None:
    """Return the path of an output that waits on this machine for its bucket."""
    local = store.local
    if local is None:
        return None
    try:
        return local.where(ref) if local.get(ref).ref == ref else None
    except (RefError, StoreError):
        return None


def _look_up_surely(store: ScopedStore, ref: str) -> Record:
    """Return the record of what is to be changed: a newer output in a bucket that is away may be meant by `last`."""
    found = resolve(ref, store)
    if found.away:
        raise StoreError(f"{found.away}. Name it by its ref.")
    return store.get(found.ref)


def pin(arguments: argparse.Namespace) -> int:
    return _pin(arguments, pinned=True)


def unpin(arguments: argparse.Namespace) -> int:
    return _pin(arguments, pinned=False)


def _pin(arguments: argparse.Namespace, *, pinned: bool) -> int:
    store = reader(arguments).settings.outputs
    record = store.get(_look_up_surely(store, arguments.ref).ref)
    store.pin(record.ref, pinned)
    said = "is pinned" if pinned else "is no longer pinned" if record.pinned else "was not pinned"
    put(f"{record.ref} {said}\n")
    return exits.OK


def rm(arguments: argparse.Namespace) -> int:
    """Remove outputs; every ref is looked up before the first one goes. One with a damaged record may be pinned."""
    store = reader(arguments).settings.outputs
    damaged = {*arguments.refs}.intersection(store.damaged()) if arguments.force else set()
    records = {
        record.ref: record for record in (_look_up_surely(store, ref) for ref in arguments.refs if ref not in damaged)
    }
    for ref in sorted(damaged):
        store.store.delete(ref)
        put(f"removed {ref}, whose record was damaged\n")
    kept = [ref for ref, record in records.items() if record.pinned and not arguments.force]
    for ref, record in records.items():
        if ref not in kept:
            store.delete(ref)
            put(f"removed {ref} ({record.bytes:,} bytes)\n")
    for ref in kept:
        complain(f"{ref} is pinned and was not removed; use `spill unpin {ref}`, or --force.")
    return exits.FOUND if kept else exits.OK


def verify_(arguments: argparse.Namespace) -> int:
    """Check outputs against their records; one that cannot be opened here does not stop the others."""
    store = reader(arguments).settings.outputs
    views = {resolve(ref, store).ref: store for ref in arguments.refs} or {
        **{record.ref: _by_its_scope(store, record) for record in store.list()},
        **dict.fromkeys(store.damaged(), store),
    }
    wrong: dict[str, str | None] = {}
    unchecked: dict[str, str] = {}
    for ref, view in views.items():
        try:
            wrong[ref] = verify(view, ref)
        except MissingExtraError as error:
            unchecked[ref] = str(error)
        except RefError:
            if arguments.refs:
                raise
            # Removed since it was listed: nothing is wrong with it.
    if arguments.json:
        rows = [{"ref": ref, "ok": what is None, "wrong": what} for ref, what in wrong.items()]
        put_json(rows + [{"ref": ref, "ok": None, "wrong": why} for ref, why in unchecked.items()])
    else:
        for ref in views:
            if ref in unchecked:
                put(f"{ref}  not checked: {unchecked[ref]}\n")
            elif ref in wrong:
                put(f"{ref}  {wrong[ref] or 'ok'}\n")
        damaged = sum(what is not None for what in wrong.values())
        skipped = f", {len(unchecked):,} not checked" * bool(unchecked)
        put(f"{count_of(len(wrong), 'output')} checked, {damaged:,} damaged{skipped}\n")
    return exits.FOUND if unchecked or any(wrong.values()) else exits.OK


def _by_its_scope(store: ScopedStore, record: Record) -> ScopedStore:
    """Return the view in which a listed output is found without another listing: that of its very own scope, in a bucket."""
    return store.for_scope(record.scope) if record.scope and is_remote(store.store) else store


def why_no_path(store: BaseStore) -> str:
    """Say why an output has no plain file."""
    return "in a bucket" if is_remote(store) else "compressed"


def is_remote(store: BaseStore) -> bool:
    """Return whether outputs are in a bucket."""
    return store.local is not None
