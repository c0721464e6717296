"""What is stored, and how it is: list, show, gc, verify, pin, unpin, config, doctor."""

from __future__ import annotations

import time

from spillover.cli import exits
from spillover.cli.output import put, put_json
from spillover.cli.setup import clipper
from spillover.config.settings import load
from spillover.config.values import AGE, read
from spillover.errors import UsageError
from spillover.result import Reason
from spillover.retrieve.last import LAST, matches, named
from spillover.store.base import Record, verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from spillover.store.base import Store
    from spillover.store.directory import DirStore
    from spillover.store.packing import Compressed

NEWEST = 50


def list_(arguments: argparse.Namespace) -> int:
    store = clipper(arguments).store
    records = [
        record
        for record in store.list()
        if arguments.tool in (None, record.tool) and matches(record, arguments.command)
    ]
    shown = records if arguments.all else records[:NEWEST]
    if arguments.json:
        put_json([facts(record) for record in shown])
        return exits.OK
    rows = [
        (
            record.ref,
            f"{record.lines:,}",
            f"{record.bytes:,}",
            _age(record),
            _marks(record, store),
            record.command or "",
        )
        for record in shown
    ]
    table(("ref", "lines", "bytes", "age", "", "command"), rows, right=(1, 2, 3))
    if len(shown) < len(records):
        put(f"{len(shown)} of {_outputs(len(records))}; --all shows all.\n")
    elif not records:
        put("Nothing is stored.\n")
    return exits.OK


def show(arguments: argparse.Namespace) -> int:
    store = clipper(arguments).store
    if (arguments.ref is None) == (arguments.last is None):
        raise UsageError("name one output: `spill show REF`, or `spill show --last [WORD ...]`.")
    ref = f"{LAST}:{' '.join(arguments.last)}" if arguments.ref is None else arguments.ref
    record = store.get(named(store, ref))
    if arguments.json:
        put_json({**facts(record), "path": store.where(record.ref)})
        return exits.OK
    streams = {name: sum(size for stream, size in record.segments if stream == name) for name, _ in record.segments}
    rows = [
        ("path", store.where(record.ref) or "none: it is compressed, and read by `spill`"),
        ("tool", record.tool),
        ("command", record.command or ""),
        ("call", record.call_id or ""),
        ("stored", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))),
        ("lines", f"{record.lines:,}"),
        ("bytes", f"{record.bytes:,}"),
        ("sha256", record.sha256),
        ("streams", ", ".join(f"{name} {size:,} bytes" for name, size in streams.items())),
        ("in part", f"{record.partial}; {record.produced_bytes or 0:,} bytes came" if record.partial else ""),
        ("kind", record.kind),
        ("shown", ", ".join(f"{first:,}-{last:,}" for first, last in record.shown[:20])),
        ("pinned", "yes" * record.pinned),
    ]
    if arguments.why:
        put(
            "".join(f"{Reason(*reason)}\n" for reason in record.why)
            or f"{record.ref}: no part of it was shown for a reason.\n"
        )
        return exits.OK
    table((record.ref, ""), [row for row in rows if row[1]])
    return exits.OK


def gc(arguments: argparse.Namespace) -> int:
    # The configured store is a folder. What is made smaller first may stay.
    store: DirStore = clipper(arguments).store  # type: ignore[assignment]
    after = _compress_after(arguments, store)
    packed = None if after is None else store.compress(older_than_seconds=after, dry_run=arguments.dry_run)
    swept = store.sweep(dry_run=arguments.dry_run)
    if arguments.json:
        removed = {"outputs": swept.outputs, "bytes": swept.bytes, "leftovers": swept.leftovers}
        put_json({**removed, **_packed_facts(packed), "dry_run": arguments.dry_run})
        return exits.OK
    if packed:
        put(_packed_said(packed))
    verb = "would remove" if arguments.dry_run else "removed"
    put(
        f"{verb} {_outputs(swept.outputs)} ({swept.bytes:,} bytes) and {swept.leftovers:,} leftovers of writers that were killed\n"
    )
    return exits.OK


def _compress_after(arguments: argparse.Namespace, store: DirStore) -> float | None:
    said = arguments.compress_after
    if said is None:
        return store.retention.compress_seconds if store.retention else None
    try:
        return float(read(AGE, int(said) if said.isdecimal() else said))
    except ValueError as error:
        raise UsageError(f"--compress-after {said!r}: expected {AGE}.") from error


def _packed_facts(packed: Compressed | None) -> dict[str, object]:
    if packed is None:
        return {}
    names = ("outputs", "bytes_before", "bytes_after", "damaged")
    return {"compressed": {name: getattr(packed, name) for name in names}}


def _packed_said(packed: Compressed) -> str:
    are = "is" if packed.damaged == 1 else "are"
    damaged = f"; {packed.damaged:,} {are} damaged (see `spill verify`)" * (packed.damaged > 0)
    if packed.bytes_after is None:
        return f"would compress {_outputs(packed.outputs)} ({packed.bytes_before:,} bytes)\n"
    return f"compressed {_outputs(packed.outputs)} ({packed.bytes_before:,} bytes are {packed.bytes_after:,} now){damaged}\n"


def verify_(arguments: argparse.Namespace) -> int:
    store = clipper(arguments).store
    refs = arguments.refs or [record.ref for record in store.list()]
    wrong = {ref: verify(store, ref) for ref in refs}
    if arguments.json:
        put_json([{"ref": ref, "ok": what is None, "wrong": what} for ref, what in wrong.items()])
    else:
        for ref, what in wrong.items():
            put(f"{ref}  {what or 'ok'}\n")
        damaged = sum(what is not None for what in wrong.values())
        put(f"{_outputs(len(wrong))} checked, {damaged:,} damaged\n")
    return exits.FOUND if any(wrong.values()) else exits.OK


def pin(arguments: argparse.Namespace) -> int:
    return _pinned(arguments, pinned=True)


def unpin(arguments: argparse.Namespace) -> int:
    return _pinned(arguments, pinned=False)


def _pinned(arguments: argparse.Namespace, *, pinned: bool) -> int:
    store = clipper(arguments).store
    ref = store.get(arguments.ref).ref
    store.pin(ref, pinned)
    put(f"{ref} is {'pinned' if pinned else 'no longer pinned'}\n")
    return exits.OK


def config(arguments: argparse.Namespace) -> int:
    settings = load()
    settings.choices()  # so that a wrong value is heard of here too
    if arguments.json:
        put_json({key: {"value": setting.value, "origin": setting.origin} for key, setting in settings.values.items()})
        return exits.OK
    rows = [(key, str(setting.value), setting.origin) for key, setting in settings.values.items()]
    table(("setting", "value", "from"), rows)
    return exits.OK


def doctor(arguments: argparse.Namespace) -> int:
    from spillover.cli.doctor import checks

    found = checks(arguments)
    if arguments.json:
        put_json([{"check": check.name, "ok": check.ok, "said": check.said} for check in found])
    else:
        table(("", "check", ""), [("ok" if check.ok else "!!", check.name, check.said) for check in found])
    return exits.OK if all(check.ok for check in found) else exits.FOUND


def facts(record: Record) -> dict[str, object]:
    """A record for a program; the line index stays out of it."""
    return {
        "ref": record.ref,
        "tool": record.tool,
        "call_id": record.call_id,
        "command": record.command,
        "created": record.created,
        "lines": record.lines,
        "bytes": record.bytes,
        "sha256": record.sha256,
        "partial": record.partial,
        "produced_bytes": record.produced_bytes,
        "produced_lines": record.produced_lines,
        "segments": [list(segment) for segment in record.segments],
        "shown": [list(pair) for pair in record.shown],
        "kind": record.kind,
        "why": [list(reason) for reason in record.why],
        "pinned": record.pinned,
    }


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Columns as wide as they need to be; the last one as long as it is."""
    clean = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [head, *clean]) for column in range(len(head))]
    for row in [head, *clean]:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        put("  ".join(cells).rstrip() + "\n")


def _marks(record: Record, store: Store) -> str:
    return ", ".join(["pinned"] * record.pinned + ["compressed"] * (store.where(record.ref) is None))


def _outputs(count: int) -> str:
    return f"{count:,} output{'s' * (count != 1)}"


def _age(record: Record) -> str:
    seconds = max(0, int(time.time() - record.created))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


FUNCTIONS = {
    "list": list_,
    "show": show,
    "gc": gc,
    "verify": verify_,
    "pin": pin,
    "unpin": unpin,
    "config": config,
    "doctor": doctor,
}
