"""Figures of the journal: tokens that tools produced, that were shown and fetched back, and the net saving.

    net = produced - host_cut - shown - fetched - notices - schemas - reruns

`host_cut` are tokens that the host would have cut by itself. `reruns` are all tokens of a command that was run again
within ten minutes of its clip: perhaps because something was missing, so none of them counts as saved.

From the same entries come rules for the commands that leave most in the context, and the outputs that models went back
to.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from spillover.errors import UsageError, quote
from spillover.journal import Entry, shorten_scope
from spillover.settings.settings import commands_in, matches_command
from spillover.store.record import EVERY, covers

#: The fields that figures can be grouped by.
BY = ("project", "tool", "host", "command", "day")
#: A command that is run again so soon after its clip saved nothing; a longer time lowers the net.
RERUN_SECONDS = 600
#: Entries of one slot are on one day of local time: no time zone changes its offset within a quarter of an hour.
_SLOT_SECONDS = 900

#: The grouping of figures from which rules are suggested.
RULES_BY = ("command", "tool")
#: Rules suggested; more make a longer list.
MAX_RULES = 10
#: A rule halves the tokens of a call, within these bounds; with higher ones it saves less.
MIN_RULE_TOKENS = 300
MAX_RULE_TOKENS = 1_500
#: Calls with fewer tokens on average need no rule; with a higher number, fewer rules are suggested.
NOISY_TOKENS = 1_000
#: Programs whose first argument names a subcommand.
WITH_SUBCOMMAND = frozenset(
    "git cargo go docker kubectl npx uv uvx poetry sudo bundle dotnet gradle mvn terraform helm python python3".split()  # noqa: SIM905  a line is easier to read than a list
)

#: Fetched lines at most this far from a shown line count as near; with a higher number, more do.
NEAR_LINES = 20
#: Outputs listed, and retrievals of each; more take more memory. The figures count all.
MAX_MISSES = 1_000
MAX_RETRIEVALS = 100


class Sums(Struct, frozen=True):
    """Figures of some calls: numbers of calls, and tokens."""

    clips: int = 0  # calls, including those whose output fitted
    retrievals: int = 0
    produced: int = 0
    shown: int = 0
    fetched: int = 0
    notices: int = 0
    schemas: int = 0
    reruns: int = 0
    host_cut: int = 0
    cut: int = 0  # clips that did not fit

    @property
    def net(self) -> int:
        """Tokens that the model did not have to read; below 0 where it read more."""
        return self.produced - self.host_cut - self.shown - self.fetched - self.notices - self.schemas - self.reruns

    @property
    def received(self) -> int:
        """All tokens that reached the model."""
        return self.shown + self.fetched + self.notices + self.schemas


class Group(Struct, frozen=True):
    """The figures of one tool, command, host, day or project, or of a combination of them."""

    names: tuple[str, ...]
    sums: Sums


class Stats(Struct, frozen=True):
    """The figures of a journal."""

    total: Sums
    groups: tuple[Group, ...] = ()  # by day, otherwise by the tokens that the model received
    by: tuple[str, ...] = ()
    first: float | None = None  # seconds since 1970, of the oldest and the newest line
    last: float | None = None
    damaged: int = 0  # lines that could not be read


def add_up(
    entries: Iterable[Entry | None], *, by: str | Sequence[str] = (), since: float = 0.0, scope: str = EVERY
) -> Stats:
    """Add up all entries of a journal, as `journal.read_all` yields them, for a scope and a time."""
    by = (by,) if isinstance(by, str) else tuple(by)
    for name in by:
        if name not in BY:
            raise UsageError(f"by={quote(name)} is not valid; use {', '.join(BY)}.")
    scope = shorten_scope(scope)
    total = dict.fromkeys(Sums.__struct_fields__, 0)
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    cut_times: dict[tuple[str, ...], float] = {}  # by scope, tool, host and command
    first = float("inf")
    last = 0.0
    damaged = 0
    for entry in entries:
        if entry is None:
            damaged += 1
            continue
        figures = _figures(entry, cut_times)
        if entry.when < since or not covers(scope, entry.scope):
            continue
        first = min(first, entry.when)
        last = max(last, entry.when)
        group = groups.setdefault(tuple(_name(entry, name) for name in by), dict.fromkeys(total, 0))
        for name, figure in figures.items():
            group[name] += figure
            total[name] += figure
    rows = [Group(names, Sums(**figures)) for names, figures in groups.items()] if by else []
    if "day" in by:
        rows.sort(key=lambda row: (row.names[by.index("day")], -row.sums.received, row.names))
    else:
        rows.sort(key=lambda row: (-row.sums.received, -row.sums.produced, row.names))
    return Stats(Sums(**total), tuple(rows), by, first if groups else None, last if groups else None, damaged)


def _figures(entry: Entry, cut_times: dict[tuple[str, ...], float]) -> dict[str, int]:
    """Return the figures of one entry by their names in `Sums`."""
    if entry.operation == "schema":
        return {"schemas": entry.received}
    if entry.operation != "clip":
        return {"retrievals": 1, "fetched": entry.received}
    figures = {
        "clips": 1,
        "cut": int(entry.outcome != "whole"),
        "produced": entry.produced,
        "shown": entry.shown,
        "notices": entry.notice,
        "host_cut": entry.produced - entry.base,
    }
    if entry.command:
        key = (entry.scope, entry.tool, entry.host, entry.command)
        if 0 <= entry.when - cut_times.get(key, float("inf")) <= RERUN_SECONDS:
            figures["reruns"] = entry.base
        if figures["cut"]:
            cut_times[key] = entry.when
    return figures


def _name(entry: Entry, by: str) -> str:
    if by == "day":
        return _day(int(entry.when) // _SLOT_SECONDS)
    name: str = getattr(entry, "scope" if by == "project" else by)
    return name


@cache
def _day(slot: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(slot * _SLOT_SECONDS))


class NoisyCommand(Struct, frozen=True):
    """A command, or a tool, that leaves much in the context, and a rule for it."""

    command: str  # "" for a tool that runs none
    tool: str
    calls: int
    received: int  # tokens that reached the model
    pattern: str  # of the rule: `npm *` for a command, the name of a tool

    @property
    def tokens(self) -> int:
        """The limit of the rule."""
        return min(MAX_RULE_TOKENS, max(MIN_RULE_TOKENS, int(self.received / self.calls / 2) // 100 * 100))

    @property
    def rule(self) -> str:
        """The rule as TOML for spillover.toml."""
        key = self.pattern.replace("\\", "\\\\").replace('"', '\\"')
        return f'[tools."{key}"]\ntokens = {self.tokens}\n'

    @property
    def saves(self) -> int:
        """Tokens that the rule would have saved if all calls were of average size."""
        return max(0, self.received - self.calls * self.tokens)


def suggest_rules(stats: Stats) -> list[NoisyCommand]:
    """Return the commands that leave most in the context, one for each rule; `stats` are grouped by RULES_BY."""
    noisy: dict[str, NoisyCommand] = {}
    for group in stats.groups:
        command, tool = group.names
        calls = group.sums.clips
        if not calls or not (command or tool):
            continue
        received = group.sums.shown + group.sums.notices
        pattern = pattern_for(command) if command else tool
        previous = noisy.get(pattern)
        if previous is not None:
            if previous.received > received:
                command = previous.command
                tool = previous.tool
            calls += previous.calls
            received += previous.received
        noisy[pattern] = NoisyCommand(command, tool, calls, received, pattern)
    rows = (row for row in noisy.values() if row.saves and row.received >= row.calls * NOISY_TOKENS)
    return sorted(rows, key=lambda row: (-row.received, row.pattern))[:MAX_RULES]


def pattern_for(command: str) -> str:
    """Return the pattern of a rule for a command line: its program, with the subcommand if it has one."""
    pieces = commands_in(command)
    setup = ("cd", "export", "set", "source")
    words = next((piece for piece in pieces if piece.split(" ", 1)[0] not in setup), command).split()
    count = 1
    if words and words[0] in WITH_SUBCOMMAND:
        count = 3 if words[1:2] == ["-m"] else 2
    pattern = " ".join(_escape(word) for word in words[:count]) + " *"
    return pattern if matches_command(pattern, command) else _escape(command)


def _escape(word: str) -> str:
    """Return a pattern that matches this word only."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in word)


def _distance(lines: int | None) -> Literal["seen", "near", "far"]:
    if lines is None:
        return "seen"
    return "near" if lines <= NEAR_LINES else "far"


class KindMisses(Struct, frozen=True):
    """How often models went back to the clips of one kind of output."""

    kind: str
    clips: int = 0  # clips that did not fit
    back: int = 0  # outputs that a model went back to
    retrievals: int = 0
    near: int = 0  # retrievals of lines within NEAR_LINES of a shown line
    far: int = 0  # retrievals of lines farther away
    seen: int = 0  # retrievals of shown lines
    tokens: int = 0  # fetched by all retrievals


class Miss(Struct, frozen=True):
    """An output that a model went back to, with its retrievals."""

    retrievals: tuple[Entry, ...]  # at most MAX_RETRIEVALS, the oldest first

    @property
    def last(self) -> Entry:
        return self.retrievals[-1]

    @property
    def near(self) -> int | None:
        """The distance in lines from the hidden lines that were fetched to the nearest shown line."""
        return min((entry.near for entry in self.retrievals if entry.near is not None), default=None)


class Misses(Struct, frozen=True):
    """The retrievals of a journal, by kind and by output."""

    kinds: tuple[KindMisses, ...]  # the kind with the most retrievals first
    outputs: tuple[Miss, ...]  # the newest first


def find_misses(entries: Iterable[Entry]) -> Misses:
    """Count the retrievals in the entries of a journal, the oldest first, by kind and by output."""
    kinds: dict[str, dict[str, int]] = {}
    refs: dict[str, set[str]] = {}
    outputs: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        kind = entry.kind or "other"
        figures = kinds.setdefault(kind, dict.fromkeys(KindMisses.__struct_fields__[1:], 0))
        if entry.operation == "clip":
            figures["clips"] += entry.outcome != "whole"
            continue
        if entry.operation not in ("read", "grep", "outline") or not entry.ref:
            continue
        figures["retrievals"] += 1
        figures["tokens"] += entry.received
        if entry.lines:
            figures[_distance(entry.near)] += 1
        if len(refs.setdefault(kind, set())) < MAX_RETRIEVALS * MAX_MISSES:
            refs[kind].add(entry.ref)
        key = (entry.scope, entry.ref)
        retrievals = outputs.pop(key, [])  # the newest output stands last
        outputs[key] = [*retrievals, entry] if len(retrievals) < MAX_RETRIEVALS else retrievals
        if len(outputs) > MAX_MISSES:
            del outputs[next(iter(outputs))]
    for kind, members in refs.items():
        kinds[kind]["back"] = len(members)
    rows = [KindMisses(kind, **figures) for kind, figures in kinds.items() if figures["clips"] or figures["retrievals"]]
    rows.sort(key=lambda row: (-row.retrievals, -row.clips, row.kind))
    return Misses(tuple(rows), tuple(Miss(tuple(retrievals)) for retrievals in reversed(outputs.values())))
