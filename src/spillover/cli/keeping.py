"""What is stored, and how things stand: list, show, config."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.output import fit_terminal, make_harmless, put, put_json
from spillover.cli.refs import is_remote, look_up, path_here, reader, why_no_path
from spillover.cli.units import count_of, with_unit
from spillover.hosts import detect, find_agents
from spillover.kinds.selection import Reason
from spillover.notice.wording import one_line
from spillover.retrieve.names import describe_run, matches
from spillover.settings.load import load
from spillover.store.record import Record, owners
from spillover.store.scopes import ScopedStore, default_scope

NEWEST = 50
CELL_CHARS = 4_096  # as long as a path may be
COMMAND_CHARS = 400  # of a command line in a table; `--json` has all of it
#: What is said of a run, and of so many where an output has several.
RUN_FACTS = ("exit_code", "seconds", "cwd")
RUNS_SHOWN = 5
#: In an agent's shell, rows take so much of what it shows; the rest is for the line below them.
LIST_SHARE = 0.95
#: Where a filter finds nothing: so many of the tools there are, and so much of each word.
TOOLS_NAMED, WORD_CHARS = 10, 40


def list_(arguments: argparse.Namespace) -> int:
    made = reader(arguments)
    store = made.settings.outputs
    shown, count = _choose(arguments, store)
    if arguments.json:
        put_json([facts(record) for record in shown])
        return exits.OK
    if arguments.quiet:
        put("".join(f"{record.ref}\n" for record in shown))
        return exits.OK
    if not shown:
        put(_tell_nothing(arguments, store))
        return exits.OK
    rows = [
        (
            record.ref,
            f"{record.lines:,}",
            f"{record.bytes:,}",
            _age(record),
            _marks(record, store),
            *((", ".join(_scopes(record)) or "none",) if arguments.all_scopes else ()),
            record.command or "",
        )
        for record in shown
    ]
    project = ("project",) if arguments.all_scopes else ()
    head, right = ("ref", "lines", "bytes", "age", "", *project, "command"), (1, 2, 3)
    if not arguments.all:
        rows = rows[: _fit(made, len(rows), lambda count: lay_out(head, rows[:count], right))]
    put(fit_terminal(lay_out(head, rows, right)))
    if len(rows) < count:
        put(f"{len(rows)} of {count_of(count, 'output')}; --all shows all.\n")
    return exits.OK


def _choose(arguments: argparse.Namespace, store: ScopedStore) -> tuple[list[Record], int]:
    """Return the records to show, and how many there are. The newest alone are read where a store can tell which they are."""
    if arguments.all or arguments.tool is not None or arguments.command:
        records = [
            record
            for record in store.list()
            if arguments.tool in (None, record.tool) and matches(record, arguments.command)
        ]
        return (records if arguments.all else records[:NEWEST]), len(records)
    return store.newest(NEWEST)


def _tell_nothing(arguments: argparse.Namespace, store: ScopedStore) -> str:
    """Say that nothing is listed and, where a filter is to blame, what there is instead."""
    where = (
        ""
        if arguments.all_scopes
        else " in this project"
        if store.scope.startswith("/")
        else f" in scope {store.scope}"
    )
    elsewhere = "" if arguments.all_scopes else " --all-scopes looks in every project."
    tools = sorted({record.tool for record in store.list()})
    if not tools:
        return f"Nothing is stored{where}.{elsewhere}\n"
    if arguments.tool is not None and arguments.tool not in tools:
        some = ", ".join(one_line(tool, WORD_CHARS) for tool in tools[:TOOLS_NAMED])
        more = ", …" * (len(tools) > TOOLS_NAMED)
        return (
            f"No output of a tool {one_line(arguments.tool, WORD_CHARS)!r}{where}; there are {some}{more}.{elsewhere}\n"
        )
    return f"No output{where} is of a command with {one_line(arguments.command, WORD_CHARS)!r}.{elsewhere}\n"


def show(arguments: argparse.Namespace) -> int:
    made = reader(arguments)
    store = made.settings.outputs
    record = look_up(store, arguments.ref)
    here = path_here(store, record.ref)
    path = here or store.where(record.ref)
    runs = [run for run in store.runs() if run.printed(record)]
    # The newest that says what was run: the same output may have come by way of a pipe, too, which says nothing.
    run = next((run for run in runs if run.command == record.command), None)
    if arguments.json:
        ran = {name: getattr(run, name, None) for name in RUN_FACTS}
        each = [{name: getattr(run, name) for name in ("created", "command", *RUN_FACTS)} for run in runs]
        put_json({**facts(record), "path": path, **ran, "runs": each})
        return exits.OK
    streams = {name: sum(size for stream, size in record.segments if stream == name) for name, _ in record.segments}
    preview = record.produced_bytes is None
    printed = "" if preview else f"{record.produced_bytes:,} bytes were printed"
    rows = [
        ("path", path or f"none: {why_no_path(store.store)}; use `spill read`"),
        ("bucket", "not there: on this machine only; `spill push` uploads it" if here else ""),
        ("tool", record.tool),
        ("command", one_line(record.command or "", COMMAND_CHARS)),
        ("exit code", "" if run is None or run.exit_code is None else str(run.exit_code)),
        ("took", "" if run is None or run.seconds is None else f"{run.seconds:.1f} s"),
        ("folder", (run and run.cwd) or ""),
        *(("run", describe_run(other, time.time(), "no command")) for other in runs[:RUNS_SHOWN] if len(runs) > 1),
        ("call", record.call_id or ""),
        ("project", ", ".join(_scopes(record)) or "none"),
        ("stored", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))),
        ("lines", f"{record.lines:,}"),
        ("bytes", f"{record.bytes:,}"),
        ("sha256", record.sha256),
        ("streams", ", ".join(f"{name} {size:,} bytes" for name, size in streams.items())),
        ("preview" if preview else "in part", "; ".join(filter(None, (record.partial, printed)))),
        ("kind", record.kind),
        ("shown", ", ".join(f"{first:,}" + f"-{last:,}" * (last > first) for first, last in record.shown[:20])),
        ("redacted", "" if record.redacted is None else f"{record.redacted:,} secrets, before it was stored"),
        ("pinned", "yes" * record.pinned),
    ]
    if arguments.why:
        reasons = [f"{Reason(*reason)}\n" for reason in record.why]
        fitting = _fit(made, len(reasons), lambda count: "".join(reasons[:count]))
        put("".join(reasons[:fitting]) or f"No reasons are recorded for {record.ref}.\n")
        if fitting < len(reasons):
            put(f"{fitting:,} of {len(reasons):,} reasons; --json shows all.\n")
        return exits.OK
    table((record.ref, ""), [row for row in rows if row[1]])
    return exits.OK


def config(arguments: argparse.Namespace) -> int:
    settings = load(agents=find_agents(os.environ))
    settings.settings()  # so that a wrong value is heard of here too
    if arguments.json:
        facts = {key: {"value": setting.value, "origin": setting.origin} for key, setting in settings.values.items()}
        ignored = [{"path": one.path, "key": one.key, "why": one.why} for one in settings.ignored]
        put_json({**facts, "ignored": ignored})
        return exits.OK
    rows = [(key, with_unit(key, setting.value), setting.origin) for key, setting in settings.values.items()]
    rows = [(key, value or _tell_default(key), origin) for key, value, origin in rows]
    table(("setting", "value", "from"), [[one_line(cell, CELL_CHARS) for cell in row] for row in rows])
    if settings.ignored:
        put("\n")
        ignored_rows = [(one.path, one.key or "the file", one.why) for one in settings.ignored]
        table(("ignored in", "what", "why"), [[one_line(cell, CELL_CHARS) for cell in row] for row in ignored_rows])
    return exits.OK


def _tell_default(key: str) -> str:
    """Say what holds where nobody says anything."""
    return default_scope() if key == "scope" else "none"


def facts(record: Record) -> dict[str, object]:
    """Return a record for a program; the line index stays out of it."""
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
        "redacted": record.redacted,
        "scope": record.scope,
        "scopes": _scopes(record),
    }


def _fit(made: Clipper, count: int, text: Callable[[int], str]) -> int:
    """Return how many rows fit where the shell is an agent's; all of them in a person's."""
    if not detect(os.environ):
        return count
    from spillover.kinds.selection import largest

    limits = made.settings.limits.share(LIST_SHARE)
    return largest(count, lambda rows: limits.fill(text(rows), made.settings.count))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print columns as wide as they need to be; the last one is as long as it is."""
    put(lay_out(head, rows, right))


def lay_out(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return a table as a text."""
    text = ""
    clean = [[" ".join(make_harmless(cell).split()) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [head, *clean]) for column in range(len(head))]
    for row in [head, *clean]:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text


def _marks(record: Record, store: ScopedStore) -> str:
    packed = not is_remote(store.store) and store.where(record.ref) is None
    return ", ".join(["pinned"] * record.pinned + ["compressed"] * packed)


def _scopes(record: Record) -> list[str]:
    """Whose it is, as far as whoever asks may see."""
    return [owner.scope for owner in owners(record)]


def _age(record: Record) -> str:
    seconds = max(0, int(time.time() - record.created))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
