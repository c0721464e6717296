"""Which lines of a log to show in a given room: one ranking by points, reach and price, and as much of it as fits.

There are no quotas: all lines compete, and only the end, which says how it ended, has a share of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from spillover.kinds import pack
from spillover.kinds.log.classes import Array
from spillover.kinds.log.lines import Lines, inside_runs
from spillover.kinds.pack import count_alike

#: The share of the room for the last lines. More: the end is shown at length, and causes further up are lost.
TAIL = 0.05
#: The first line of what a command printed is shown if it takes at most this share of the room. More: a long one, too.
OPENING = 0.03
#: What each doubling of the number of lines above that are alike takes off a line, for each doubling of how many are
#: alike in all. Alike are lines that differ in numbers only, and failures that differ in names. More: more kinds, fewer
#: of each.
ALIKE = 0.2
#: How much of a line's rank is what stands around it. More: whole blocks instead of single lines, and fewer of them.
AROUND = 0.7
#: What a token of distance takes off what a line gets from a stronger one. More: smaller blocks.
PER_TOKEN = 0.0025
#: And what each point does that a line on the way is below 0. More: blocks end at lines that say nothing.
PER_DULL = 0.2
#: What each doubling of a line's price takes off. More: short lines first.
PRICE = 0.2
#: A hole that costs this many markers is filled. More: fewer gaps, and lines nobody needs between two.
HOLE = 2.0
#: Whatever `worth` is, this many tokens are shown. More: less is saved, and fewer causes are lost that look like
#: nothing.
FLOOR = 1_000
#: Where nothing failed, lines like no other take at most this share of the room, and so do answers. More: less of both
#: ends.
LEADING = 0.25
#: A line takes at most this share of the room, but may always have this many tokens. More: fewer long lines are cut.
WIDEST, NARROWEST = 0.25, 60


def max_width(room: float, count: int = 0) -> float:
    """Return how many tokens of one line are shown at most; a few lines, given their `count`, share the room."""
    return max(NARROWEST, WIDEST * room, room / count if count else 0)


def rank(lines: Lines, points: Array) -> Array:
    """Return how early each line is shown: by its points and those nearby, how often it occurs above, and its price."""
    alike = np.where(lines.family != 0, lines.family, lines.template.astype(np.int64))
    worth = (1 - AROUND) * points + AROUND * reach(points, lines.tokens)
    count, before = count_alike(alike)
    worth = worth - ALIKE * np.log2(1 + before) * np.log2(1 + count) - PRICE * np.log2(1 + lines.tokens)
    return np.round(worth, 6)  # other processors round the last bits of a logarithm otherwise


def reach(points: Array, cost: Array) -> Array:
    """Return each line's points, or those of a better one nearby less what lies between them; the larger."""
    step = PER_TOKEN * cost + PER_DULL * np.maximum(0.0, -points)
    down, up = np.cumsum(step), np.cumsum(step[::-1])
    below = np.maximum.accumulate(points + down) - down
    above = (np.maximum.accumulate(points[::-1] + up) - up)[::-1]
    return np.maximum(below, above)


def choose_lines(
    lines: Lines,
    points: Array,
    room: float,
    *,
    opening: bool = False,
    able: Array | None = None,
    first: Array | None = None,
    width: float = 0,
) -> Array:
    """Return which lines to show in `room` tokens, markers included: a boolean each.

    `opening`: a command printed this, so its first line says something. Where the caller knows them: `able`, the lines
    that may be shown; `first`, those that come before all others; `width`, how many tokens of a line are shown at most.
    """
    able = new_lines(lines) if able is None else able
    cost = np.minimum(lines.tokens, width or max_width(room, int(np.count_nonzero(able))))
    rows = np.flatnonzero(able)
    worth = rank(lines, points)
    able_cost = np.where(able, cost, 0.0)
    lead = able & (able_cost[::-1].cumsum()[::-1] - able_cost < TAIL * room)
    for row in rows[: int(opening)]:
        lead[row] |= cost[row] <= OPENING * room
    if first is not None:
        lead = able & first
    order = rows[np.lexsort((-worth[rows], ~lead[rows]))]
    return _pack(lines, order, cost, room)


def choose_ends(lines: Lines, leads: Sequence[Array], share: float, room: float) -> Array:
    """Return which lines to show where no line has points: these, one of each subject where all fit, and both ends.

    `leads`: rows, the best first, each of these groups in LEADING of the room; `share`: of the room for the beginning.
    """
    able = new_lines(lines)
    cost = np.minimum(lines.tokens, max_width(room, int(np.count_nonzero(able))))
    rank = np.full(len(lines), 3)
    _, before = count_alike(np.where(lines.subject != 0, lines.subject.astype(np.int64), lines.exact))
    first_of_subject = able & (before == 0)
    if pack.price(pack.fill_holes(first_of_subject, cost, HOLE * pack.MARKER), cost) <= room:
        rank[first_of_subject] = 2
    for rows in leads:
        rank[rows[np.cumsum(cost[rows] + 2 * pack.MARKER) <= LEADING * room]] = 1
    upto, since = np.cumsum(cost), np.cumsum(cost[::-1])[::-1]
    rows = np.flatnonzero(able)
    order = rows[np.lexsort((np.minimum(upto / share, since / (1 - share))[rows], rank[rows]))]
    return _pack(lines, order, cost, room)


def new_lines(lines: Lines) -> Array:
    """Return which lines are not blank, and equal to no line above them: a boolean each."""
    return (count_alike(lines.exact)[1] == 0) & (lines.width > 0)


def room_worth(lines: Lines, points: Array, least: float) -> float:
    """Return the room that the lines from `least` points on need, with their markers and the end."""
    worth = pack.fill_holes(new_lines(lines) & (rank(lines, points) >= least), lines.tokens, HOLE * pack.MARKER)
    return max(FLOOR, pack.price(worth, lines.tokens) / (1 - TAIL))


def _pack(lines: Lines, order: Array, cost: Array, room: float) -> Array:
    """Return as many lines of an order as fit; what room is left goes to repetitions."""
    take = partial(
        pack.take,
        room=room,
        close=lambda keep: pack.fill_holes(keep, cost, HOLE * pack.MARKER),
        price=lambda keep: pack.price(keep, cost),
    )
    keep = take(np.zeros(len(lines), dtype=bool), order)
    # From the end, and not to the middles of what repeats itself over and over.
    return take(keep, np.flatnonzero(~keep & ~inside_runs(lines.exact))[::-1])
