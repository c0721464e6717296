"""One output by its ref: path, pin, unpin, rm, and verify for one or all."""

from __future__ import annotations

from spillover.cli import exits
from spillover.cli.output import complain, put, put_json
from spillover.cli.setup import clipper
from spillover.errors import MissingExtraError, StoreError
from spillover.retrieve.last import find
from spillover.store.base import verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def path(arguments: argparse.Namespace) -> int:
    """Print the path of the plain file, and nothing else, so that it can stand in a command."""
    store = clipper(arguments).outputs
    ref = store.get(find(store, arguments.ref).ref).ref
    where = store.where(ref)
    if where is None:
        why = "in a bucket" if hasattr(store.store, "push") else "compressed"
        raise StoreError(f"{ref} is {why} and has no plain file; `spill read {ref}` reads it.")
    put(f"{where}\n")
    return exits.OK


def pin(arguments: argparse.Namespace) -> int:
    return _pin(arguments, pinned=True)


def unpin(arguments: argparse.Namespace) -> int:
    return _pin(arguments, pinned=False)


def _pin(arguments: argparse.Namespace, *, pinned: bool) -> int:
    store = clipper(arguments).outputs
    record = store.get(find(store, arguments.ref).ref)
    store.pin(record.ref, pinned)
    said = "is pinned" if pinned else "is no longer pinned" if record.pinned else "was not pinned"
    put(f"{record.ref} {said}\n")
    return exits.OK


def rm(arguments: argparse.Namespace) -> int:
    """Remove outputs; every ref is looked up before the first one goes."""
    store = clipper(arguments).outputs
    records = {record.ref: record for record in (store.get(find(store, ref).ref) for ref in arguments.refs)}
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
    store = clipper(arguments).outputs
    refs = [find(store, ref).ref for ref in arguments.refs] or [record.ref for record in store.list()]
    wrong: dict[str, str | None] = {}
    unchecked: dict[str, str] = {}
    for ref in refs:
        try:
            wrong[ref] = verify(store, ref)
        except MissingExtraError as error:
            unchecked[ref] = str(error)
    if arguments.json:
        rows = [{"ref": ref, "ok": what is None, "wrong": what} for ref, what in wrong.items()]
        put_json(rows + [{"ref": ref, "ok": None, "wrong": why} for ref, why in unchecked.items()])
    else:
        for ref in refs:
            put(f"{ref}  not checked: {unchecked[ref]}\n" if ref in unchecked else f"{ref}  {wrong[ref] or 'ok'}\n")
        damaged = sum(what is not None for what in wrong.values())
        skipped = f", {len(unchecked):,} not checked" * bool(unchecked)
        put(f"{count_outputs(len(wrong))} checked, {damaged:,} damaged{skipped}\n")
    return exits.FOUND if unchecked or any(wrong.values()) else exits.OK


def count_outputs(count: int) -> str:
    return f"{count:,} output{'s' * (count != 1)}"
