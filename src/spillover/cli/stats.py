"""The command `stats`: what tools produced, what the model read of it, what floods, and what it went back for."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Sequence

from msgspec.structs import asdict

from spillover import journal
from spillover.api import Clipper
from spillover.cli.output import (
    EXIT_OK,
    count_of,
    escape_controls,
    fit_terminal,
    format_table,
    write,
    write_json,
)
from spillover.cli.parsing import Command, add_json, add_place, parse_duration
from spillover.cli.setup import make_clipper
from spillover.errors import UsageError
from spillover.notice.wording import one_line
from spillover.stats import (
    NEAR_LINES,
    RERUN_SECONDS,
    RULES_BY,
    Group,
    Miss,
    Misses,
    NoisyCommand,
    Stats,
    Sums,
    add_up,
    find_misses,
    suggest_rules,
)

#: Columns where there is no terminal, and at most.
WIDTH = 80
MAX_WIDTH = 120
#: Rows that are shown; `--json` has all of them.
MAX_ROWS = 20
#: The figures in the order in which they are subtracted from what was produced, and the title of each.
PARTS = (
    ("host_cut", "cut by the host"),
    ("shown", "shown"),
    ("notices", "notices"),
    ("fetched", "fetched back"),
    ("schemas", "tool schemas"),
    ("reruns", "run again"),
)
#: How parts of a line look on a terminal, by pattern.
STYLES = (
    (r"[█▏▎▍▌▋▊▉]+", "cyan"),
    (r"^#.*", "dim"),
    (r"^\[tools.*|^tokens = .*", "green"),
    (r"^net saved.*", "bold green"),
    (r"^net lost.*", "bold red"),
)


def stats(arguments: argparse.Namespace) -> int:
    """Print the sums of the journal."""
    clipper = make_clipper(arguments)
    folder = journal.folder_of(clipper.settings.store)
    if folder is None:
        raise UsageError("this store keeps no journal; `spill stats` needs a folder or a bucket as store.")
    since = 0.0 if arguments.within is None else time.time() - arguments.within
    scope = clipper.settings.outputs.scope
    if arguments.misses:
        entries = journal.read(folder, since=since, scope=scope, fitting=False)
        return _print_misses(arguments, find_misses(entries))
    by = (arguments.by,) if arguments.by else RULES_BY
    result = add_up(journal.read_all(folder), by=by, since=since, scope=scope)
    noisy = suggest_rules(result) if not arguments.by else []
    if arguments.json:
        write_json(_stats_facts(result, noisy, arguments.by))
    elif result.first is None:
        write(_describe_nothing(arguments, result, clipper))
    else:
        sections = [_format_head(result), _format_total(result.total)]
        sections.append(_format_groups(result.groups, arguments.by) if arguments.by else _format_rules(noisy))
        _write_styled("\n".join(filter(None, sections)))
    return EXIT_OK


def _describe_nothing(arguments: argparse.Namespace, result: Stats, clipper: Clipper) -> str:
    place = "" if arguments.all_scopes else " in this project"
    period = " in that time" if arguments.within is not None else ""
    elsewhere = "" if arguments.all_scopes else " --all-scopes looks in every project."
    off = " The journal is turned off (stats = false)." if clipper.settings.stats is False else ""
    damaged = f" {result.damaged:,} lines of the journal are damaged." if result.damaged else ""
    return f"Nothing was clipped{place}{period}.{elsewhere}{off}{damaged}\n"


def _format_head(result: Stats) -> str:
    total = result.total
    first, last = (time.strftime("%Y-%m-%d", time.localtime(moment)) for moment in (result.first, result.last))
    days = first if first == last else f"{first} to {last}"
    damaged = f", {result.damaged:,} damaged lines" if result.damaged else ""
    calls = f"{count_of(total.clips, 'output')}, {total.cut:,} of them cut; {count_of(total.retrievals, 'retrieval')}"
    return f"{days}: {calls}{damaged}\n"


def _format_total(total: Sums) -> str:
    """Return the sum, a row for each figure, with bars."""
    rows = [("produced", total.produced)]
    rows += [(title, -getattr(total, name)) for name, title in PARTS if getattr(total, name)]
    net = ("net saved" if total.net >= 0 else "net lost", total.net)
    largest = max(1, *(abs(tokens) for _, tokens in [*rows, net]))
    title_width = max(len(title) for title, _ in [*rows, net])
    digits = max(len(f"{tokens:,}") for _, tokens in [*rows, net])
    bar_width = max(10, _terminal_width() - title_width - digits - 4)
    lines = [
        f"{title:<{title_width}}  {tokens:>{digits},}  {_bar(abs(tokens) / largest, bar_width)}".rstrip()
        for title, tokens in rows
    ]
    share = ""
    if total.produced and total.net > 0:
        share = f"  {100 * total.net / total.produced:.0f} % of what was produced"
    lines.append(f"{net[0]:<{title_width}}  {total.net:>{digits},}{share}")
    if total.reruns:
        minutes = RERUN_SECONDS // 60
        lines.append(
            f"(run again: a command repeated within {minutes} minutes of a clip; nothing of it counts as saved)"
        )
    return "\n".join(lines) + "\n"


def _format_groups(groups: Sequence[Group], by: str) -> str:
    """Return a row for each group: what reached the model, as a bar, and the net."""
    rows = groups[-MAX_ROWS:] if by == "day" else groups[:MAX_ROWS]
    numbers = [(group.sums.produced, group.sums.received, group.sums.net) for group in rows]
    titles = ("produced", "read", "net")
    widths = [max(len(title), *(len(f"{row[column]:,}") for row in numbers)) for column, title in enumerate(titles)]
    name_width = max(12, _terminal_width() - sum(widths) - 20)
    name_width = min(name_width, max(len(by), *(len(_name(group)) for group in rows)))
    bar_width = max(6, _terminal_width() - sum(widths) - name_width - 8)
    largest = max(1, *(row[1] for row in numbers))
    head = [by.ljust(name_width), *(title.rjust(width) for title, width in zip(titles, widths, strict=True))]
    lines = ["  ".join(head)]
    for group, row in zip(rows, numbers, strict=True):
        cells = [one_line(_name(group), name_width).ljust(name_width)]
        cells += [f"{value:,}".rjust(width) for value, width in zip(row, widths, strict=True)]
        lines.append(f"{'  '.join(cells)}  {_bar(row[1] / largest, bar_width)}".rstrip())
    if len(groups) > len(rows):
        selection = "the last " if by == "day" else ""
        lines.append(f"{selection}{len(rows)} of {len(groups):,}; --json shows all.")
    return escape_controls("\n".join(lines)) + "\n"


def _format_rules(noisy: Sequence[NoisyCommand]) -> str:
    """Return the commands that leave most in the context, each with a rule that bounds it."""
    if not noisy:
        return ""
    lines = ["What floods most, and a rule for spillover.toml that would tame it:", ""]
    for command in noisy:
        calls = f" ({count_of(command.calls, 'call')} of {command.received // command.calls:,} tokens)"
        name = one_line(command.command or command.tool, max(20, _terminal_width() - 2 - len(calls)))
        table, tokens = command.rule.rstrip("\n").split("\n")
        lines += [f"# {name}{calls}", table, f"{tokens}  # saves {command.saves:,} or more", ""]
    return escape_controls("\n".join(lines[:-1])) + "\n"


def _print_misses(arguments: argparse.Namespace, misses: Misses) -> int:
    """Print what the model went back for."""
    if arguments.json:
        kinds = [asdict(kind) for kind in misses.kinds]
        write_json({"kinds": kinds, "outputs": [_miss_facts(miss) for miss in misses.outputs]})
        return EXIT_OK
    if not misses.outputs:
        elsewhere = "." if arguments.all_scopes else " of this project. --all-scopes looks in every project."
        write(f"Nobody went back to an output{elsewhere}\n")
        return EXIT_OK
    head = ("kind", "cut", "gone back to", "calls", "near", "far", "seen", "tokens")
    names = ("clips", "back", "retrievals", "near", "far", "seen", "tokens")
    rows = [(kind.kind, *(f"{getattr(kind, name):,}" for name in names)) for kind in misses.kinds]
    write(format_table(head, rows, range(1, len(head))))
    write(f"near: within {NEAR_LINES} lines of what was shown; far: elsewhere; seen: shown before\n\n")
    outputs = [_miss_row(miss) for miss in misses.outputs[:MAX_ROWS]]
    write(fit_terminal(format_table(("ref", "kind", "calls", "last lines", "", "command"), outputs, (2,))))
    if len(misses.outputs) > MAX_ROWS:
        write(f"{MAX_ROWS} of {len(misses.outputs):,} outputs; --json shows all.\n")
    return EXIT_OK


def _miss_row(miss: Miss) -> tuple[str, ...]:
    ranges = (pair for entry in reversed(miss.retrievals) for pair in entry.lines)
    lines = next((f"{first:,}-{last:,}" for first, last in ranges), "")
    distance = "" if miss.near is None else f"{count_of(miss.near, 'line')} off"
    entry = miss.last
    return (entry.ref, entry.kind, str(len(miss.retrievals)), lines, distance, one_line(entry.command, 40))


def _miss_facts(miss: Miss) -> dict[str, object]:
    entry = miss.last
    return {
        "ref": entry.ref,
        "scope": entry.scope,
        "tool": entry.tool,
        "command": entry.command,
        "kind": entry.kind,
        "when": entry.when,
        "near": miss.near,
        "retrievals": [
            {
                "operation": retrieval.operation,
                "when": retrieval.when,
                "tokens": retrieval.received,
                "lines": [list(pair) for pair in retrieval.lines],
                "near": retrieval.near,
            }
            for retrieval in miss.retrievals
        ],
    }


def _stats_facts(result: Stats, noisy: Sequence[NoisyCommand], by: str | None) -> dict[str, object]:
    facts: dict[str, object] = {
        "first": result.first,
        "last": result.last,
        "damaged": result.damaged,
        "total": _sums_facts(result.total),
    }
    if by:
        facts["by"] = by
        facts["groups"] = [{by: group.names[0], **_sums_facts(group.sums)} for group in result.groups]
    else:
        facts["floods"] = [
            {
                "command": command.command,
                "tool": command.tool,
                "calls": command.calls,
                "tokens_read": command.received,
                "pattern": command.pattern,
                "tokens": command.tokens,
                "rule": command.rule,
                "saves": command.saves,
            }
            for command in noisy
        ]
    return facts


def _sums_facts(sums: Sums) -> dict[str, int]:
    return {**asdict(sums), "net": sums.net}


def _name(group: Group) -> str:
    return group.names[0] or "(none)"


def _terminal_width() -> int:
    try:
        return min(MAX_WIDTH, os.get_terminal_size(1).columns) or WIDTH
    except OSError:
        return WIDTH


def _bar(share: float, width: int) -> str:
    """Return a bar; a share above zero is never drawn as nothing."""
    eighths = max(1, round(share * width * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _write_styled(text: str) -> None:
    """Print figures: in colour on a terminal, if rich is installed."""
    if not os.isatty(1):
        write(text)
        return
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        write(text)
        return
    styled = Text(escape_controls(text).rstrip("\n"))
    for pattern, style in STYLES:
        styled.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    Console(highlight=False, soft_wrap=True).print(styled)


def _add_stats_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(  # by another name than the setting `since`, which names a run
        "--since", dest="within", type=parse_duration, metavar="TIME", help="only calls newer than this, e.g. 7d or 12h"
    )
    parser.add_argument(
        "--by", choices=("tool", "command", "host", "day", "project"), help="print one row for each of these"
    )
    parser.add_argument(
        "--misses", action="store_true", help="show what the model went back for, and how far that was from what it saw"
    )
    add_place(parser)
    add_json(parser)


COMMANDS = {
    "stats": Command(
        "Show what was clipped, fetched back and saved, in tokens.",
        _add_stats_options,
        stats,
        (
            "spill stats",
            "spill stats --since 7d --by command",
            "spill stats --all-scopes --by day",
            "spill stats --misses",
        ),
    ),
}
