"""The commands that manage a store: `pin`, `unpin`, `rm`, `verify`, `gc` and `push`."""

from __future__ import annotations

import argparse

from spillover.cli.output import EXIT_FINDINGS, EXIT_OK, count_of, write, write_error, write_json
from spillover.cli.outputs import add_ref_options, is_remote, make_reader
from spillover.cli.parsing import REF_HELP, Command, add_json, add_place, add_store
from spillover.cli.setup import make_clipper
from spillover.errors import MissingExtraError, RefError, StoreError, UsageError
from spillover.retrieve.names import resolve
from spillover.settings.load import AGE, parse_value
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.store.frames import Compressed
from spillover.store.named import NamedStore
from spillover.store.object_store import LIFECYCLE_DECIDES, ObjectStore
from spillover.store.record import Record
from spillover.store.retention import Swept
from spillover.store.scopes import ScopedStore


def pin(arguments: argparse.Namespace) -> int:
    return _set_pin(arguments, pinned=True)


def unpin(arguments: argparse.Namespace) -> int:
    return _set_pin(arguments, pinned=False)


def _set_pin(arguments: argparse.Namespace, *, pinned: bool) -> int:
    store = make_reader(arguments).settings.outputs
    record = _look_up_for_change(store, arguments.ref)
    store.pin(record.ref, pinned)
    unpinned = "is no longer pinned" if record.pinned else "was not pinned"
    state = "is pinned" if pinned else unpinned
    write(f"{record.ref} {state}\n")
    return EXIT_OK


def _look_up_for_change(store: ScopedStore, ref: str) -> Record:
    """Return the record of what is to be changed: while a bucket is away, `last` may mean a newer output there."""
    target = resolve(ref, store)
    if target.away:
        raise StoreError(f"{target.away}. Name it by its ref.")
    return store.get(target.ref)


def rm(arguments: argparse.Namespace) -> int:
    """Remove outputs; every ref is looked up before the first one goes. One with a damaged record may be pinned."""
    store = make_reader(arguments).settings.outputs
    damaged = {*arguments.refs}.intersection(store.damaged()) if arguments.force else set()
    records = {
        record.ref: record
        for record in (_look_up_for_change(store, ref) for ref in arguments.refs if ref not in damaged)
    }
    for ref in sorted(damaged):
        store.store.delete(ref)
        write(f"removed {ref}, whose record was damaged\n")
    pinned = [ref for ref, record in records.items() if record.pinned and not arguments.force]
    for ref, record in records.items():
        if ref not in pinned:
            store.delete(ref)
            write(f"removed {ref} ({record.bytes:,} bytes)\n")
    for ref in pinned:
        write_error(f"{ref} is pinned and was not removed; use `spill unpin {ref}`, or --force.")
    return EXIT_FINDINGS if pinned else EXIT_OK


def verify_outputs(arguments: argparse.Namespace) -> int:
    """Check outputs against their records; one that cannot be opened here does not stop the others."""
    store = make_reader(arguments).settings.outputs
    views = {resolve(ref, store).ref: store for ref in arguments.refs} or {
        **{record.ref: _view_of(store, record) for record in store.list()},
        **dict.fromkeys(store.damaged(), store),
    }
    problems: dict[str, str | None] = {}
    unchecked: dict[str, str] = {}
    for ref, view in views.items():
        try:
            problems[ref] = verify(view, ref)
        except MissingExtraError as error:
            unchecked[ref] = str(error)
        except RefError:  # without refs: removed since it was listed
            if arguments.refs:
                raise
    if arguments.json:
        rows = [{"ref": ref, "ok": problem is None, "wrong": problem} for ref, problem in problems.items()]
        write_json(rows + [{"ref": ref, "ok": None, "wrong": reason} for ref, reason in unchecked.items()])
    else:
        for ref in views:
            if ref in unchecked:
                write(f"{ref}  not checked: {unchecked[ref]}\n")
            elif ref in problems:
                write(f"{ref}  {problems[ref] or 'ok'}\n")
        damaged_count = sum(problem is not None for problem in problems.values())
        unchecked_note = f", {len(unchecked):,} not checked" * bool(unchecked)
        write(f"{count_of(len(problems), 'output')} checked, {damaged_count:,} damaged{unchecked_note}\n")
    return EXIT_FINDINGS if unchecked or any(problems.values()) else EXIT_OK


def _view_of(store: ScopedStore, record: Record) -> ScopedStore:
    """Return the view in which a listed output is found without another listing: that of its own scope, in a bucket."""
    return store.for_scope(record.scope) if record.scope and is_remote(store.store) else store


def gc(arguments: argparse.Namespace) -> int:
    """Remove what retention no longer keeps, and compress what is old enough."""
    store = make_clipper(arguments).settings.store
    if isinstance(store, ObjectStore):
        raise UsageError(f"{LIFECYCLE_DECIDES}; `spill gc` cleans up folders only.")
    if not isinstance(store, DirStore):
        raise UsageError("this store has no retention of its own; nothing to do.")
    age = _parse_age(arguments.compress_after)
    if isinstance(store, NamedStore) and age is not None:
        raise UsageError("the files of a profile stay plain, for tools that read them; leave out --compress-after.")
    # Compressing comes first: it may make room for what would be removed.
    compressed = None if age is None else store.compress(older_than_seconds=age, dry_run=arguments.dry_run)
    sweep = store.sweep(dry_run=arguments.dry_run)
    if arguments.json:
        removal = {"outputs": sweep.outputs, "bytes": sweep.bytes, "leftovers": sweep.leftovers}
        write_json({**removal, **_compression_facts(compressed), "dry_run": arguments.dry_run})
    else:
        write(_describe_compression(compressed) + _describe_sweep(sweep, dry_run=arguments.dry_run))
    return EXIT_OK


def _parse_age(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(parse_value(AGE, int(text) if text.isdecimal() else text))
    except ValueError as error:
        raise UsageError(f"--compress-after {text!r}: expected {AGE}.") from error


def _describe_sweep(sweep: Swept, *, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    outputs = count_of(sweep.outputs, "output")
    return f"{verb} {outputs} ({sweep.bytes:,} bytes) and {sweep.leftovers:,} leftover files\n"


def _compression_facts(compressed: Compressed | None) -> dict[str, object]:
    if compressed is None:
        return {}
    names = ("outputs", "bytes_before", "bytes_after", "damaged")
    return {"compressed": {name: getattr(compressed, name) for name in names}}


def _describe_compression(compressed: Compressed | None) -> str:
    """Return the line about compressed outputs; "" where none was to be compressed."""
    if compressed is None:
        return ""
    outputs = count_of(compressed.outputs, "output")
    if compressed.bytes_after is None:
        return f"would compress {outputs} ({compressed.bytes_before:,} bytes)\n"
    verb = "is" if compressed.damaged == 1 else "are"
    damaged = f"; {compressed.damaged:,} {verb} damaged (see `spill verify`)" * (compressed.damaged > 0)
    return f"compressed {outputs} ({compressed.bytes_before:,} bytes are {compressed.bytes_after:,} now){damaged}\n"


def push(arguments: argparse.Namespace) -> int:
    """Upload what is only on this machine to the bucket it was meant for."""
    store = make_clipper(arguments).settings.store
    if not isinstance(store, ObjectStore):
        raise UsageError(
            "outputs are kept in a folder on this machine; `spill push` needs a store such as s3://BUCKET/PREFIX."
        )
    pushed = store.push()
    if arguments.json:
        write_json({"outputs": pushed.outputs, "bytes": pushed.bytes, "left": pushed.left, "why": pushed.why})
    else:
        write(f"pushed {count_of(pushed.outputs, 'output')} ({pushed.bytes:,} bytes) to {store.url}\n")
        if pushed.left:
            reason = f": {pushed.why}" if pushed.why else ""
            write(f"{count_of(pushed.left, 'output')} still on this machine only{reason}\n")
    return EXIT_FINDINGS if pushed.left else EXIT_OK


def _add_rm_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="+", metavar="REF", help=REF_HELP)
    parser.add_argument(
        "-f", "--force", action="store_true", help="also remove pinned outputs and, with --all-scopes, damaged ones"
    )
    add_place(parser)


def _add_verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="which outputs; default: all of them")
    add_place(parser)
    add_json(parser)


def _add_gc_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be removed, and remove nothing")
    parser.add_argument(
        "--compress-after", metavar="AGE", help="compress outputs older than this, e.g. 12h or 2d (extra: zstd)"
    )
    add_store(parser)
    add_json(parser)


def _add_push_options(parser: argparse.ArgumentParser) -> None:
    add_store(parser)
    add_json(parser)


COMMANDS = {
    "pin": Command(
        "Keep an output until it is unpinned.",
        add_ref_options,
        pin,
        ("spill pin bash-7f3a9c2e41d05b86", "spill pin last"),
    ),
    "unpin": Command("Unpin an output.", add_ref_options, unpin, ("spill unpin bash-7f3a9c2e41d05b86",)),
    "rm": Command(
        "Remove stored outputs.",
        _add_rm_options,
        rm,
        ("spill rm bash-7f3a9c2e41d05b86", "spill rm --force last"),
        intermixed=True,
    ),
    "verify": Command(
        "Check stored outputs against their SHA-256.",
        _add_verify_options,
        verify_outputs,
        ("spill verify", "spill verify bash-7f3a9c2e41d05b86"),
        intermixed=True,
    ),
    "gc": Command(
        "Remove expired outputs and leftover files.",
        _add_gc_options,
        gc,
        ("spill gc --dry-run", "spill gc --compress-after 1d"),
    ),
    "push": Command(
        "Upload outputs that are only on this machine to the bucket.",
        _add_push_options,
        push,
        ("spill push", "spill push --store s3://bucket/outputs"),
    ),
}
