"""What tools produced, what was shown and fetched back, and the net of it. Pure: lines in, sums out.

    net = produced - host_cut - shown - fetched - notices - schemas - reruns

`host_cut` is what the host would have cut by itself: that was never a saving. `reruns` is all that was produced by a command
which was run again within ten minutes of a clip of it: perhaps because something was missing, so nothing of it counts as saved.
"""

from __future__ import annotations

import time

from spillover.base.data import dataclass
from spillover.errors import UsageError
from spillover.ledger.entry import OPERATIONS, OUTCOMES, RETRIEVALS, shorten_scope
from spillover.store.scope import EVERY, covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from spillover.ledger.columns import Columns, Keys

#: What figures can be grouped by → its place among the words of a key; a day is in none of them.
BY = {"project": 0, "tool": 1, "host": 2, "command": 3, "day": None}
#: A command that is run again within this of a clip of it saved nothing.
RERUN_SECONDS = 600
#: Days are told apart by where the clock on the wall stands, which no time zone changes within this.
_SLOT_MS = 900_000
#: More days than there will be.
_DAYS = 1 << 20


@dataclass(frozen=True, slots=True)
class Sums:
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


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of one tool, command, host, day or project, or of a combination of them."""

    names: tuple[str, ...]
    sums: Sums


@dataclass(frozen=True, slots=True)
class Stats:
    """What a journal adds up to."""

    total: Sums
    groups: tuple[Group, ...] = ()  # by day: in that order; else what the model read most of comes first
    by: tuple[str, ...] = ()
    first: float | None = None  # seconds since 1970, of the oldest and the newest line
    last: float | None = None
    damaged: int = 0  # lines that could not be read


def add_up(
    lines: Iterable[bytes],
    *,
    by: Sequence[str] = (),
    since: float = 0.0,
    until: float = float("inf"),
    scope: str = EVERY,
) -> Stats:
    """Add up the lines of a journal, as `journal.blocks` yields them, for a scope and a time."""
    by = (by,) if isinstance(by, str) else tuple(by)
    for name in by:
        if name not in BY:
            raise UsageError(f"by={name!r} is not valid; use {', '.join(BY)}.")
    from spillover.ledger.columns import Keys, parse  # numpy, only for those who look

    keys, sums = Keys(), _Sums(by, since * 1000, until * 1000, shorten_scope(scope))
    for block in lines:
        sums.add(parse(block, keys), keys)
    return sums.made()


_FIGURES = ("clips", "retrievals", "produced", "shown", "fetched", "notices", "schemas", "reruns", "host_cut", "cut")


class _Sums:
    """The figures so far, by group."""

    def __init__(self, by: tuple[str, ...], since: float, until: float, own: str) -> None:
        import numpy as np

        self.np, self.by, self.since, self.until, self.own = np, by, since, until, own
        self.groups: dict[tuple[str, ...], int] = {}  # by the words of keys
        self.cells: dict[int, int] = {}  # group and day as one number → row of the figures
        self.figures = np.zeros((0, len(_FIGURES)))  # exact: no sum is above 2**53
        self.group_of = np.zeros(0, np.int64)  # by key
        self.mine = np.zeros(0, bool)
        self.has_command = np.zeros(0, bool)
        self.last_cut = np.zeros(0)  # when, by key
        self.days: dict[str, int] = {}
        self.day_of: dict[int, int] = {}  # slot → day
        self.first, self.last, self.damaged = float("inf"), 0.0, 0

    def add(self, found: Columns, keys: Keys) -> None:
        np = self.np
        self._learn(keys)
        self.damaged += found.damaged
        rerun = self._reruns(found)
        wanted = self.mine[found.key] & (found.when >= self.since) & (found.when <= self.until)
        if not wanted.any():
            return
        when, key, operation = found.when[wanted], found.key[wanted], found.operation[wanted]
        self.first, self.last = min(self.first, float(when.min())), max(self.last, float(when.max()))
        clips = operation == ord(OPERATIONS["clip"])
        schemas = operation == ord(OPERATIONS["schema"])
        back = np.isin(operation, [ord(OPERATIONS[name]) for name in RETRIEVALS])
        produced, base, shown, notice = (
            column[wanted] for column in (found.produced, found.base, found.shown, found.notice)
        )
        columns = (
            clips,
            back,
            produced * clips,
            shown * clips,
            (shown + notice) * back,
            notice * clips,
            (shown + notice) * schemas,
            base * rerun[wanted],
            (produced - base) * clips,
            clips & (found.outcome[wanted] != ord(OUTCOMES["whole"])),
        )
        group, day = self.group_of[key], self._day(when)
        cells, cell = np.unique(group * _DAYS + day, return_inverse=True)
        sums = np.stack([np.bincount(cell, weights=column, minlength=len(cells)) for column in columns], axis=1)
        rows = [self.cells.setdefault(number, len(self.cells)) for number in cells.tolist()]
        if len(self.cells) > len(self.figures):
            more = np.zeros((2 * len(self.cells) - len(self.figures), len(_FIGURES)))
            self.figures = np.concatenate((self.figures, more))
        self.figures[rows] += sums

    def _learn(self, keys: Keys) -> None:
        """Look at the keys that are new: whose they are, and the group each is in."""
        np, known = self.np, len(self.group_of)
        new = keys.words[known:]
        if not new:
            return
        places = [place for name in self.by if (place := BY[name]) is not None]
        groups = [self.groups.setdefault(tuple(words[place] for place in places), len(self.groups)) for words in new]
        self.group_of = np.concatenate((self.group_of, np.array(groups, np.int64)))
        self.mine = np.concatenate((self.mine, np.array([covers(self.own, words[0]) for words in new], bool)))
        self.has_command = np.concatenate((self.has_command, np.array([bool(words[3]) for words in new], bool)))
        self.last_cut = np.concatenate((self.last_cut, np.full(len(new), -np.inf)))

    def _reruns(self, found: Columns) -> Any:
        """Return for each line whether it is a command that was cut shortly before."""
        np = self.np
        out = np.zeros(len(found.key), bool)
        at = np.flatnonzero((found.operation == ord(OPERATIONS["clip"])) & self.has_command[found.key])
        if not len(at):
            return out
        at = at[np.argsort(found.key[at], kind="stable")]
        key, when = found.key[at], found.when[at]
        cut = found.outcome[at] != ord(OUTCOMES["whole"])
        order = np.arange(len(at))
        begins = np.concatenate(([True], key[1:] != key[:-1]))
        begin = np.maximum.accumulate(np.where(begins, order, 0))  # where the lines of the same key begin
        latest = np.maximum.accumulate(np.where(cut, order, -1))
        before = np.concatenate(([-1], latest[:-1]))
        earlier = np.where(before >= begin, when[np.maximum(before, 0)], self.last_cut[key])
        passed = when - earlier
        out[at] = (passed >= 0) & (passed <= RERUN_SECONDS * 1000)
        np.maximum.at(self.last_cut, key[cut], when[cut])
        return out

    def _day(self, when: Any) -> Any:
        """Return the number of each moment's day; 0 where nobody asks for days."""
        np = self.np
        if "day" not in self.by:
            return np.zeros(len(when), np.int64)
        slots, slot = np.unique((when // _SLOT_MS).astype(np.int64), return_inverse=True)
        for number in slots.tolist():
            if number not in self.day_of:
                day = time.strftime("%Y-%m-%d", time.localtime(number * _SLOT_MS // 1000))
                self.day_of[number] = self.days.setdefault(day, len(self.days))
        return np.array([self.day_of[number] for number in slots.tolist()], np.int64)[slot]

    def made(self) -> Stats:
        groups, days = list(self.groups), list(self.days)
        made = [
            Group(self._names(groups[cell // _DAYS], days, cell % _DAYS), _sums(self.figures[row]))
            for cell, row in self.cells.items()
        ]
        if "day" in self.by:
            made.sort(key=lambda each: (each.names[self.by.index("day")], -each.sums.received, each.names))
        else:
            made.sort(key=lambda each: (-each.sums.received, -each.sums.produced, each.names))
        return Stats(
            _sums(self.figures.sum(axis=0)),
            tuple(made) if self.by else (),
            self.by,
            self.first / 1000 if self.cells else None,
            self.last / 1000 if self.cells else None,
            self.damaged,
        )

    def _names(self, words: tuple[str, ...], days: list[str], day: int) -> tuple[str, ...]:
        rest = iter(words)
        return tuple(days[day] if name == "day" else next(rest) for name in self.by)


def _sums(row: Any) -> Sums:
    return Sums(**{name: int(value) for name, value in zip(_FIGURES, row, strict=True)})
