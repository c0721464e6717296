"""`spill stats`: what tools produced, what the model read of it, what floods, and what the model went back for."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from msgspec.structs import asdict

from spillover import journal
from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.keeping import lay_out
from spillover.cli.output import fit_terminal, make_harmless, put, put_json
from spillover.cli.setup import clipper
from spillover.cli.units import count_of
from spillover.errors import UsageError
from spillover.notice.wording import one_line
from spillover.stats import (
    NEAR_LINES,
    RERUN_SECONDS,
    RULES_BY,
    Group,
    Misses,
    NoisyCommand,
    Stats,
    Sums,
    add_up,
    find_misses,
    suggest_rules,
)

WIDTH = 80
#: So many rows are shown; `--json` has all of them.
ROWS = 20
#: The figures in the order they are taken away from what was produced, and what each is.
PARTS = (
    ("host_cut", "cut by the host"),
    ("shown", "shown"),
    ("notices", "notices"),
    ("fetched", "fetched back"),
    ("schemas", "tool schemas"),
    ("reruns", "run again"),
)


def stats(arguments: argparse.Namespace) -> int:
    made = clipper(arguments)
    folder = journal.folder_of(made.settings.store)
    if folder is None:
        raise UsageError("this store keeps no journal; `spill stats` needs a folder or a bucket as store.")
    since = 0.0 if arguments.within is None else time.time() - arguments.within
    scope = made.settings.outputs.scope
    if arguments.misses:
        return _print_misses(arguments, find_misses(journal.read(folder, since=since, scope=scope, fitting=False)))
    by = (arguments.by,) if arguments.by else RULES_BY
    found = add_up(journal.read_all(folder), by=by, since=since, scope=scope)
    noisy = suggest_rules(found) if not arguments.by else []
    if arguments.json:
        put_json(_facts(found, noisy, arguments.by))
        return exits.OK
    if found.first is None:
        put(_tell_nothing(arguments, found, made))
        return exits.OK
    sections = [_head(found), _totals(found.total)]
    sections += [_groups(found.groups, arguments.by)] if arguments.by else [_rules(noisy)]
    _show("\n".join(section for section in sections if section))
    return exits.OK


def _print_misses(arguments: argparse.Namespace, found: Misses) -> int:
    """Print what the model went back for."""
    if arguments.json:
        put_json(
            {
                "kinds": [asdict(kind) for kind in found.kinds],
                "outputs": [
                    {
                        "ref": miss.last.ref,
                        "scope": miss.last.scope,
                        "tool": miss.last.tool,
                        "command": miss.last.command,
                        "kind": miss.last.kind,
                        "when": miss.last.when,
                        "near": miss.near,
                        "retrievals": [
                            {
                                "operation": entry.operation,
                                "when": entry.when,
                                "tokens": entry.received,
                                "lines": [list(part) for part in entry.lines],
                                "near": entry.near,
                            }
                            for entry in miss.retrievals
                        ],
                    }
                    for miss in found.outputs
                ],
            }
        )
        return exits.OK
    if not found.outputs:
        put(
            "Nobody went back to an output"
            + (".\n" if arguments.all_scopes else " of this project. --all-scopes looks in every project.\n")
        )
        return exits.OK
    rows = [
        (
            kind.kind,
            *(
                f"{value:,}"
                for value in (kind.clips, kind.back, kind.retrievals, kind.near, kind.far, kind.seen, kind.tokens)
            ),
        )
        for kind in found.kinds
    ]
    head = ("kind", "cut", "gone back to", "calls", "near", "far", "seen", "tokens")
    put(lay_out(head, rows, range(1, len(head))))
    put(f"near: within {NEAR_LINES} lines of what was shown; far: elsewhere; seen: shown before\n\n")
    outputs = []
    for miss in found.outputs[:ROWS]:
        near = "" if miss.near is None else f"{count_of(miss.near, 'line')} off"
        lines = next((f"{first:,}-{last:,}" for entry in reversed(miss.retrievals) for first, last in entry.lines), "")
        last = miss.last
        outputs.append((last.ref, last.kind, str(len(miss.retrievals)), lines, near, one_line(last.command, 40)))
    put(fit_terminal(lay_out(("ref", "kind", "calls", "last lines", "", "command"), outputs, (2,))))
    if len(found.outputs) > ROWS:
        put(f"{ROWS} of {len(found.outputs):,} outputs; --json shows all.\n")
    return exits.OK


def _tell_nothing(arguments: argparse.Namespace, found: Stats, made: Clipper) -> str:
    where = "" if arguments.all_scopes else " in this project"
    elsewhere = "" if arguments.all_scopes else " --all-scopes looks in every project."
    off = " The journal is turned off (stats = false)." if made.settings.stats is False else ""
    damaged = f" {found.damaged:,} lines of the journal are damaged." if found.damaged else ""
    return f"Nothing was clipped{where}{' in that time' if arguments.within is not None else ''}.{elsewhere}{off}{damaged}\n"


def _head(found: Stats) -> str:
    total = found.total
    begun, ended = (time.strftime("%Y-%m-%d", time.localtime(moment)) for moment in (found.first, found.last))
    when = begun if begun == ended else f"{begun} to {ended}"
    damaged = f", {found.damaged:,} damaged lines" if found.damaged else ""
    calls = f"{count_of(total.clips, 'output')}, {total.cut:,} of them cut; {count_of(total.retrievals, 'retrieval')}"
    return f"{when}: {calls}{damaged}\n"


def _totals(total: Sums) -> str:
    """Return the sum, a row for each figure, with bars."""
    rows = [("produced", total.produced)]
    rows += [(said, -getattr(total, name)) for name, said in PARTS if getattr(total, name)]
    rows += [("net saved" if total.net >= 0 else "net lost", total.net)]
    most = max(1, *(abs(tokens) for _, tokens in rows))
    share = (
        f"  {100 * total.net / total.produced:.0f} % of what was produced" if total.produced and total.net > 0 else ""
    )
    width = max(len(said) for said, _ in rows)
    digits = max(len(f"{tokens:,}") for _, tokens in rows)
    room = max(10, _width() - width - digits - 4)
    lines = [
        f"{said:<{width}}  {tokens:>{digits},}  {_bar(abs(tokens) / most, room)}".rstrip() for said, tokens in rows[:-1]
    ]
    said, tokens = rows[-1]
    lines.append(f"{said:<{width}}  {tokens:>{digits},}{share}")
    if total.reruns:
        lines.append(
            f"(run again: a command repeated within {RERUN_SECONDS // 60} minutes of a clip; nothing of it counts as saved)"
        )
    return "\n".join(lines) + "\n"


def _groups(groups: Sequence[Group], by: str) -> str:
    """Return a row for each group: what reached the model, as a bar, and the net."""
    shown = groups[-ROWS:] if by == "day" else groups[:ROWS]
    numbers = [(group.sums.produced, group.sums.received, group.sums.net) for group in shown]
    widths = [max(len(f"{row[column]:,}") for row in [*numbers, (0, 0, 0)]) for column in range(3)]
    widths = [max(width, len(head)) for width, head in zip(widths, ("produced", "read", "net"), strict=True)]
    room = max(12, _width() - sum(widths) - 8 - 12)
    name = min(room, max(len(by), *(len(_name(group)) for group in shown)))
    bars = max(6, _width() - sum(widths) - name - 8)
    most = max(1, *(row[1] for row in numbers))
    head = "  ".join(
        [by.ljust(name), *(word.rjust(w) for word, w in zip(("produced", "read", "net"), widths, strict=True))]
    )
    lines = [head]
    for group, row in zip(shown, numbers, strict=True):
        cells = [
            one_line(_name(group), name).ljust(name),
            *(f"{value:,}".rjust(width) for value, width in zip(row, widths, strict=True)),
        ]
        lines.append(f"{'  '.join(cells)}  {_bar(row[1] / most, bars)}".rstrip())
    if len(groups) > len(shown):
        which = "the last " if by == "day" else ""
        lines.append(f"{which}{len(shown)} of {len(groups):,}; --json shows all.")
    return make_harmless("\n".join(lines)) + "\n"


def _rules(noisy: Sequence[NoisyCommand]) -> str:
    """Return the commands that leave most in the context, each with the rule that would tame it."""
    if not noisy:
        return ""
    lines = ["What floods most, and a rule for spillover.toml that would tame it:", ""]
    for command in noisy:
        calls = f" ({count_of(command.calls, 'call')} of {command.received // command.calls:,} tokens)"
        name = one_line(command.command or command.tool, max(20, _width() - 2 - len(calls)))
        table, tokens = command.rule.rstrip("\n").split("\n")
        lines += [f"# {name}{calls}", table, f"{tokens}  # saves {command.saves:,} or more", ""]
    return make_harmless("\n".join(lines[:-1])) + "\n"


def _facts(found: Stats, noisy: Sequence[NoisyCommand], by: str | None) -> dict[str, object]:
    facts: dict[str, object] = {
        "first": found.first,
        "last": found.last,
        "damaged": found.damaged,
        "total": _figures(found.total),
    }
    if by:
        facts["by"] = by
        facts["groups"] = [{by: group.names[0], **_figures(group.sums)} for group in found.groups]
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


def _figures(sums: Sums) -> dict[str, int]:
    return {**asdict(sums), "net": sums.net}


def _name(group: Group) -> str:
    return group.names[0] or "(none)"


def _width() -> int:
    try:
        return min(120, os.get_terminal_size(1).columns) or WIDTH
    except OSError:
        return WIDTH


def _bar(share: float, room: int) -> str:
    """Return a bar; what is not nothing is never drawn as nothing."""
    eighths = max(1, round(share * room * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


#: How parts of a line look to a person: what it has, and its style.
STYLES = (
    (r"[█▏▎▍▌▋▊▉]+", "cyan"),
    (r"^#.*", "dim"),
    (r"^\[tools.*|^tokens = .*", "green"),
    (r"^net saved.*", "bold green"),
    (r"^net lost.*", "bold red"),
)


def _show(text: str) -> None:
    """Print figures: in colour on a terminal, where rich is there to do it."""
    if not os.isatty(1):
        put(text)
        return
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        put(text)
        return
    import re

    drawn = Text(make_harmless(text).rstrip("\n"))
    for pattern, style in STYLES:
        drawn.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    Console(highlight=False, soft_wrap=True).print(drawn)
