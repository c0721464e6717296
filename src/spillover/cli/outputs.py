"""The commands that look at what is stored: `list`, `show`, `path` and `ui`."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any

from spillover import __version__, profiles
from spillover.api import Clipper
from spillover.cli.output import (
    EXIT_OK,
    count_of,
    fit_terminal,
    format_table,
    write,
    write_error,
    write_json,
    write_table,
)
from spillover.cli.parsing import REF_HELP, Command, add_json, add_place, add_ref, parse_port
from spillover.cli.setup import make_clipper
from spillover.errors import MissingExtraError, RefError, StoreError
from spillover.hosts import detect
from spillover.kinds.selection import Reason, largest
from spillover.notice.wording import one_line
from spillover.retrieve.names import describe_run, matches, resolve
from spillover.settings.settings import KEEPS, default_store
from spillover.store import BaseStore, Store
from spillover.store.directory import DirStore
from spillover.store.named import JoinedStores, find_store
from spillover.store.record import Record, RunRecord
from spillover.store.scopes import ScopedStore

#: Outputs that `list` shows without --all; more would flood the agent that lists them.
MAX_ROWS = 50
#: Characters of a command line in a table; `--json` has all of it.
COMMAND_CHARS = 400
#: Facts that are shown of each run.
RUN_FACTS = ("exit_code", "seconds", "cwd")
#: Runs that are shown of an output that several had; `--json` has all of them.
MAX_RUNS = 5
#: Share of what an agent shows that rows may take; the rest is for the line below them.
ROWS_SHARE = 0.95
#: Tools that are named where a filter matches nothing, and characters of each name; more would not fit on a line.
MAX_TOOLS = 10
TOOL_CHARS = 40


def make_reader(arguments: argparse.Namespace) -> Clipper:
    """Return the Clipper for retrieval, which also finds outputs in the folders of profiles, and paths in any store."""
    clipper = make_clipper(arguments)
    words = [getattr(arguments, name, None) for name in ("ref", "pattern", "other", "refs")]
    paths = [path for word in words for path in (word if isinstance(word, list) else [word]) if path and os.sep in path]
    more_stores: list[Store | None] = [find_store(path) for path in paths]
    if arguments.store is None and not os.environ.get("SPILLOVER_STORE"):
        more_stores += [default_store(), *(find_store(os.path.join(folder, "any")) for folder in profiles.folders())]
    stores = {
        store.folder or "": store for store in (clipper.settings.store, *more_stores) if isinstance(store, DirStore)
    }
    if len(stores) < 2 or not isinstance(clipper.settings.store, DirStore):
        return clipper
    return clipper.but(store=JoinedStores(tuple(stores.values())))


def look_up(store: ScopedStore, ref: str) -> Record:
    """Return the record of a ref. While a bucket is away, `last` is the newest on this machine, with a warning."""
    target = resolve(ref, store)
    if target.away:
        write_error(f"{target.away}.")
    return store.get(target.ref)


def spool_path(store: ScopedStore, ref: str) -> str | None:
    """Return the path of an output that waits on this machine for its bucket."""
    local = store.local
    if local is None:
        return None
    try:
        return local.where(ref) if local.get(ref).ref == ref else None
    except (RefError, StoreError):
        return None


def is_remote(store: BaseStore) -> bool:
    """Return whether outputs are in a bucket."""
    return store.local is not None


def reason_without_path(store: BaseStore) -> str:
    """Return the reason why an output has no plain file."""
    return "in a bucket" if is_remote(store) else "compressed"


def list_outputs(arguments: argparse.Namespace) -> int:
    """Print a table of outputs, the newest first."""
    clipper = make_reader(arguments)
    store = clipper.settings.outputs
    records, total = _find_records(arguments, store)
    if arguments.json:
        write_json([record.as_dict() for record in records])
        return EXIT_OK
    if arguments.quiet:
        write("".join(f"{record.ref}\n" for record in records))
        return EXIT_OK
    if not records:
        write(_describe_nothing(arguments, store))
        return EXIT_OK
    project = ("project",) if arguments.all_scopes else ()
    head = ("ref", "lines", "bytes", "age", "", *project, "command")
    right = (1, 2, 3)
    rows = [_row(record, store, with_project=arguments.all_scopes) for record in records]
    if not arguments.all:
        rows = rows[: _count_fitting(clipper, len(rows), lambda count: format_table(head, rows[:count], right))]
    write(fit_terminal(format_table(head, rows, right)))
    if len(rows) < total:
        write(f"{len(rows)} of {count_of(total, 'output')}; --all shows all.\n")
    return EXIT_OK


def _find_records(arguments: argparse.Namespace, store: ScopedStore) -> tuple[list[Record], int]:
    """Return the records to show, and the number of all. Without a filter, only the newest are read from the store."""
    if not arguments.all and arguments.tool is None and not arguments.command:
        return store.newest(MAX_ROWS)
    records = [
        record
        for record in store.list()
        if arguments.tool in (None, record.tool) and matches(record, arguments.command)
    ]
    return (records if arguments.all else records[:MAX_ROWS]), len(records)


def _row(record: Record, store: ScopedStore, *, with_project: bool) -> tuple[str, ...]:
    compressed = not is_remote(store.store) and store.where(record.ref) is None
    marks = ", ".join(["pinned"] * record.pinned + ["compressed"] * compressed)
    project = (", ".join(record.scopes) or "none",) if with_project else ()
    return (
        record.ref,
        f"{record.lines:,}",
        f"{record.bytes:,}",
        _age(record),
        marks,
        *project,
        record.command or "",
    )


def _age(record: Record) -> str:
    seconds = max(0, int(time.time() - record.created))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _describe_nothing(arguments: argparse.Namespace, store: ScopedStore) -> str:
    """Return the message for an empty list; if a filter is the cause, with what there is instead."""
    if arguments.all_scopes:
        place = ""
        elsewhere = ""
    else:
        place = " in this project" if store.scope.startswith("/") else f" in scope {store.scope}"
        elsewhere = " --all-scopes looks in every project."
    tools = sorted({record.tool for record in store.list()})
    if not tools:
        return f"Nothing is stored{place}.{elsewhere}\n"
    if arguments.tool is None or arguments.tool in tools:
        return f"No output{place} is of a command with {one_line(arguments.command, TOOL_CHARS)!r}.{elsewhere}\n"
    names = ", ".join(one_line(tool, TOOL_CHARS) for tool in tools[:MAX_TOOLS])
    more = ", …" * (len(tools) > MAX_TOOLS)
    tool = one_line(arguments.tool, TOOL_CHARS)
    return f"No output of a tool {tool!r}{place}; there are {names}{more}.{elsewhere}\n"


def _count_fitting(clipper: Clipper, count: int, text: Callable[[int], str]) -> int:
    """Return the number of rows that fit in the shell of an agent; in a person's, all of them."""
    if not detect(os.environ):
        return count
    limits = clipper.settings.limits.share(ROWS_SHARE)
    return largest(count, lambda rows: limits.fill(text(rows), clipper.settings.count))


def show(arguments: argparse.Namespace) -> int:
    """Print what is known about an output."""
    clipper = make_reader(arguments)
    store = clipper.settings.outputs
    record = look_up(store, arguments.ref)
    waiting = spool_path(store, record.ref)
    path = waiting or store.where(record.ref)
    runs = [run for run in store.runs() if run.printed(record)]
    # The newest with this command: the same output may also have come through a pipe, which names none.
    run = next((run for run in runs if run.command == record.command), None)
    if arguments.json:
        facts = {name: getattr(run, name, None) for name in RUN_FACTS}
        run_rows = [{name: getattr(run, name) for name in ("created", "command", *RUN_FACTS)} for run in runs]
        write_json({**record.as_dict(), "path": path, **facts, "runs": run_rows})
        return EXIT_OK
    if arguments.why:
        _print_reasons(clipper, record)
        return EXIT_OK
    place = [
        ("path", path or f"none: {reason_without_path(store.store)}; use `spill read`"),
        ("bucket", "not there: on this machine only; `spill push` uploads it" if waiting else ""),
    ]
    rows = [*place, *_describe_run(record, run, runs), *_describe_output(record)]
    write_table((record.ref, ""), [row for row in rows if row[1]])
    return EXIT_OK


def _describe_run(record: Record, run: RunRecord | None, runs: Sequence[RunRecord]) -> list[tuple[str, str]]:
    earlier_runs = runs[:MAX_RUNS] if len(runs) > 1 else ()
    return [
        ("tool", record.tool),
        ("command", one_line(record.command or "", COMMAND_CHARS)),
        ("exit code", "" if run is None or run.exit_code is None else str(run.exit_code)),
        ("took", "" if run is None or run.seconds is None else f"{run.seconds:.1f} s"),
        ("folder", (run and run.cwd) or ""),
        *(("run", describe_run(earlier, time.time(), "no command")) for earlier in earlier_runs),
        ("call", record.call_id or ""),
    ]


def _describe_output(record: Record) -> list[tuple[str, str]]:
    streams = {name: sum(size for stream, size in record.segments if stream == name) for name, _ in record.segments}
    is_preview = record.produced_bytes is None
    printed = "" if is_preview else f"{record.produced_bytes:,} bytes were printed"
    return [
        ("project", ", ".join(record.scopes) or "none"),
        ("stored", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))),
        ("lines", f"{record.lines:,}"),
        ("bytes", f"{record.bytes:,}"),
        ("sha256", record.sha256),
        ("streams", ", ".join(f"{name} {size:,} bytes" for name, size in streams.items())),
        ("preview" if is_preview else "in part", "; ".join(filter(None, (record.partial, printed)))),
        ("kind", record.kind),
        ("shown", ", ".join(f"{first:,}" + f"-{last:,}" * (last > first) for first, last in record.shown[:20])),
        ("redacted", "" if record.redacted is None else f"{record.redacted:,} secrets, before it was stored"),
        ("pinned", "yes" * record.pinned),
    ]


def _print_reasons(clipper: Clipper, record: Record) -> None:
    reasons = [f"{Reason(*reason)}\n" for reason in record.why]
    count = _count_fitting(clipper, len(reasons), lambda count: "".join(reasons[:count]))
    write("".join(reasons[:count]) or f"No reasons are recorded for {record.ref}.\n")
    if count < len(reasons):
        write(f"{count:,} of {len(reasons):,} reasons; --json shows all.\n")


def path(arguments: argparse.Namespace) -> int:
    """Print the path of the plain file, and nothing else, so that it can stand in a command."""
    store = make_reader(arguments).settings.outputs
    ref = look_up(store, arguments.ref).ref
    waiting = spool_path(store, ref)
    if waiting is not None:
        write_error(f"{ref} is on this machine only; `spill push` uploads it.")
    file = waiting or store.where(ref)
    if file is None:
        raise StoreError(
            f"{ref} is {reason_without_path(store.store)} and has no plain file; `spill read {ref}` reads it."
        )
    write(f"{file}\n")
    return EXIT_OK


def ui(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    try:
        from spillover.ui.server import serve
    except ImportError as error:
        raise MissingExtraError(
            f"spill ui needs the package {error.name}; run: pip install 'spillover[ui]'."
        ) from error

    clipper = make_clipper(arguments)
    path = ""
    if arguments.ref:
        outputs = clipper.settings.outputs
        path = f"/output/{outputs.get(resolve(arguments.ref, outputs).ref).ref}"

    def announce(address: str) -> None:
        write(f"{address}\n")
        write_error("open this address in a browser on this machine; Ctrl-C to stop")

    about = _describe_page(arguments, clipper)
    browse = not arguments.no_open
    serve(clipper, port=arguments.port, about=about, announce=announce, browse=browse, path=path)
    return EXIT_OK


def _describe_page(arguments: argparse.Namespace, clipper: Clipper) -> dict[str, Any]:
    """Return the facts that the page shows about this installation, and the settings that can be tried on it."""
    settings = clipper.settings
    options = [f"--{name} {quote(value)}" for name in ("store", "scope") if (value := getattr(arguments, name))]
    options += ["--all-scopes"] * arguments.all_scopes
    store = getattr(settings.store, "root", None) or getattr(settings.store, "url", None)
    return {
        "version": __version__,
        "store": str(store or type(settings.store).__name__),
        "project": "" if arguments.all_scopes else settings.outputs.scope,
        "options": " ".join(options),  # for commands that are copied from the page
        "limits": dict(settings.limits.given()),
        "keep": settings.keep if isinstance(settings.keep, str) else "",
        "worth": settings.worth,
        "keeps": [*KEEPS],
        "profiles": [*profiles.NAMES],
        "tokenizer": settings.tokenizer if isinstance(settings.tokenizer, str) else "your own",
    }


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", metavar="NAME", help="only outputs of this tool")
    parser.add_argument(
        "--command", metavar="WORDS", default="", help="only outputs of commands that contain these words"
    )
    parser.add_argument("--all", action="store_true", help="list all of them, not only the newest 50")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the refs, one per line")
    add_place(parser)
    add_json(parser)


def _add_show_options(parser: argparse.ArgumentParser) -> None:
    add_ref(parser)
    parser.add_argument("--why", action="store_true", help="show why each line was chosen")
    add_place(parser)
    add_json(parser)


def add_ref_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that takes one ref."""
    add_ref(parser)
    add_place(parser)


def _add_ui_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help=f"open the page at this output; {REF_HELP}")
    parser.add_argument(
        "--port", type=parse_port, default=0, metavar="N", help="serve on this port; default: any free port"
    )
    parser.add_argument("--no-open", action="store_true", help="only print the address; do not open a browser")
    add_place(parser)


COMMANDS = {
    "list": Command(
        "List stored outputs, newest first.",
        _add_list_options,
        list_outputs,
        ("spill list", "spill list --tool pytest --json"),
    ),
    "show": Command(
        "Show what is known about a stored output.",
        _add_show_options,
        show,
        ("spill show bash-7f3a9c2e41d05b86", "spill show --why last", "spill show last:cargo"),
    ),
    "path": Command(
        "Print the path of a stored output.",
        add_ref_options,
        path,
        ("spill path bash-7f3a9c2e41d05b86", 'less "$(spill path last)"'),
    ),
    "ui": Command(
        "Open a local web page that shows what the model saw.",
        _add_ui_options,
        ui,
        ("spill ui", "spill ui last", "spill ui --all-scopes --no-open"),
        intermixed=True,
    ),
}
