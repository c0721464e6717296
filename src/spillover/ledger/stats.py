"""What tools produced, what was shown and fetched back, and the net of it. Pure: lines in, sums out.

    net = produced - host_cut - shown - fetched - notices - schemas - reruns

`host_cut` is what the host would have cut by itself: that was never a saving. `reruns` is all that was produced by a command
which was run again within ten minutes of a clip of it: perhaps because something was missing, so nothing of it counts as saved.
"""

from __future__ import annotations

import time
from functools import cache

from msgspec import Struct

from spillover.errors import UsageError
from spillover.ledger.entry import decode, shorten_scope
from spillover.store.scope import EVERY, covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillover.ledger.entry import Entry

#: What figures can be grouped by.
BY = ("project", "tool", "host", "command", "day")
#: A command that is run again within this of a clip of it saved nothing.
RERUN_SECONDS = 600
#: Days are told apart by where the clock on the wall stands, which no time zone changes within this.
_SLOT_SECONDS = 900


class Sums(Struct, frozen=True):
    """Figures of some calls; all but the first two are tokens."""

    clips: int = 0  # calls whose output went through here, also what fitted
    retrievals: int = 0
    produced: int = 0
    shown: int = 0
    fetched: int = 0
    notices: int = 0
    schemas: int = 0
    reruns: int = 0
    host_cut: int = 0
    cut: int = 0  # clips, too: those that were cut

    @property
    def net(self) -> int:
        """Tokens that the model did not have to read; below 0 where it read more."""
        return self.produced - self.host_cut - self.shown - self.fetched - self.notices - self.schemas - self.reruns

    @property
    def received(self) -> int:
        """All tokens that reached the model through here."""
        return self.shown + self.fetched + self.notices + self.schemas


class Group(Struct, frozen=True):
    """The figures of one tool, command, host, day or project, or of a combination of them."""

    names: tuple[str, ...]
    sums: Sums


class Stats(Struct, frozen=True):
    """What a journal adds up to."""

    total: Sums
    groups: tuple[Group, ...] = ()  # by day: in that order; else what the model read most of comes first
    by: tuple[str, ...] = ()
    first: float | None = None  # seconds since 1970, of the oldest and the newest line
    last: float | None = None
    damaged: int = 0  # lines that could not be read


_FIGURE_COUNT = 10  # fields of Sums


def add_up(
    blocks: Iterable[bytes],
    *,
    by: Sequence[str] = (),
    since: float = 0.0,
    scope: str = EVERY,
) -> Stats:
    """Add up the lines of a journal, as `journal.blocks` yields them, for a scope and a time."""
    by = (by,) if isinstance(by, str) else tuple(by)
    for name in by:
        if name not in BY:
            raise UsageError(f"by={name!r} is not valid; use {', '.join(BY)}.")
    own = shorten_scope(scope)
    total = [0] * _FIGURE_COUNT
    groups: dict[tuple[str, ...], list[int]] = {}
    last_cut: dict[tuple[str, ...], float] = {}  # by scope, tool, host and command
    first, last, damaged = float("inf"), 0.0, 0
    for block in blocks:
        for line in filter(None, block.split(b"\n")):
            entry = decode(line)
            if entry is None:
                damaged += 1
                continue
            figures = _figures(entry, last_cut)
            if entry.when < since or not covers(own, entry.scope):
                continue
            first, last = min(first, entry.when), max(last, entry.when)
            group = groups.setdefault(tuple(_name(entry, name) for name in by), [0] * _FIGURE_COUNT)
            for place, figure in enumerate(figures):
                group[place] += figure
                total[place] += figure
    found = [Group(names, Sums(*figures)) for names, figures in groups.items()] if by else []
    if "day" in by:
        found.sort(key=lambda each: (each.names[by.index("day")], -each.sums.received, each.names))
    else:
        found.sort(key=lambda each: (-each.sums.received, -each.sums.produced, each.names))
    return Stats(Sums(*total), tuple(found), by, first if groups else None, last if groups else None, damaged)


def _figures(entry: Entry, last_cut: dict[tuple[str, ...], float]) -> tuple[int, ...]:
    """Return the figures of one entry, in the order of `Sums`."""
    if entry.operation == "schema":
        return (0, 0, 0, 0, 0, 0, entry.received, 0, 0, 0)
    if entry.operation != "clip":
        return (0, 1, 0, 0, entry.received, 0, 0, 0, 0, 0)
    cut = entry.outcome != "whole"
    reruns = 0
    if entry.command:
        key = (entry.scope, entry.tool, entry.host, entry.command)
        if key in last_cut and 0 <= entry.when - last_cut[key] <= RERUN_SECONDS:
            reruns = entry.base
        if cut:
            last_cut[key] = entry.when
    return (1, 0, entry.produced, entry.shown, 0, entry.notice, 0, reruns, entry.produced - entry.base, int(cut))


def _name(entry: Entry, by: str) -> str:
    if by == "day":
        return _day(int(entry.when) // _SLOT_SECONDS)
    name: str = getattr(entry, "scope" if by == "project" else by)
    return name


@cache
def _day(slot: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(slot * _SLOT_SECONDS))
