"""Lines as spans: runs of those that were chosen, what is hidden between them, and how many fit."""

from __future__ import annotations

from itertools import repeat
from math import inf

from spillover.select.fold import LONGEST_BLOCK
from spillover.select.span import Hidden, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: The first room to try, in tokens; the next ones are interpolated between two measurements.
FIRST_TRY = 1_000
TRIES = 10
ENOUGH = 0.98
NO_LEADS: dict[int, str] = {}


def find_room(
    most: int, fill: Any, bare: float, *, upto: float = inf, most_above: Callable[[], int] | None = None
) -> int:
    """Return the largest room with which the limits are not above full, near enough, in few tries; 0 where none is.

    `most_above` says how much the most is after all, never less than `upto`; it is asked only before so much room is tried.
    """
    low, low_fill, high, high_fill = 0, bare, 0, 0.0
    room = FIRST_TRY
    for _ in range(TRIES):
        if room >= upto and most_above is not None:
            most, upto = most_above(), inf
        room = min(room, most)
        here = fill(room)
        if here <= 1:
            low, low_fill = room, here
            if here >= ENOUGH or room >= most:
                break
        else:
            high, high_fill = room, here
        if high:
            straight = low + (high - low) * (0.99 - low_fill) / max(high_fill - low_fill, 1e-9)
            room = int(min(max(straight, low + 1), high - 1))
        else:
            room = int(max(low * 1.25, low * (0.99 - bare) / max(low_fill - bare, 1e-3)))
        if high and high - low <= max(2, low // 100):
            break
    if not low:  # where the fill hardly grows with the room, interpolating comes down too slowly to meet one that fits
        while high - low > max(2, low // 8):
            room = (low + high) // 2
            low, high = (room, high) if fill(room) <= 1 else (low, room)
    return low


def spans_of(
    lines: Lines,
    kept: Array,
    width: float,
    reasons: Sequence[str] | None = None,
    known: dict[tuple[int, int], Hidden | None] | None = None,
    leads: Mapping[int, str] = NO_LEADS,
) -> list[Span]:
    """Return runs of kept lines, and what is known of the gaps between them; `known`: what is hidden, from one try to the next.

    `leads`: what stands above a line, by where it begins.
    """
    known = {} if known is None else known
    nexts = kept.copy()
    nexts[:-1], nexts[-1:] = kept[1:], len(lines)
    # Where each begins, where it ends, what it costs, which comes next, and where what is hidden before that ends.
    columns = (kept, lines.first[kept], lines.last[kept], lines.tokens[kept], nexts, lines.last[nexts - 1])
    out = []
    for number, start, end, cost, following, upto, why in zip(
        *(column.tolist() for column in columns), reasons or repeat(""), strict=False
    ):
        lead = leads.get(start, "")
        if cost > width:  # both ends of it; the middle is a gap like any other
            half = max(1, int((end - start) * width / cost / 2))
            out += [Span(start, start + half, why, None, lead), Span(end - half, end, why)]
            continue
        then = None
        if following > number + 1 and upto >= end:
            if (number, following) not in known:
                known[number, following] = what_is_hidden(lines, number, following)
            then = known[number, following]
        out.append(Span(start, end, why, then, lead))
    return out


def what_is_hidden(lines: Lines, shown: int, following: int) -> Hidden | None:
    """Return what is hidden between two shown lines, where all of it repeats what is shown before."""
    near = lines.template[max(0, shown + 1 - LONGEST_BLOCK) : shown + 2].tolist()
    if near[-1] not in near[:-1]:  # what comes first is like nothing above it
        return None
    hidden = slice(shown + 1, following)
    if (lines.first[hidden] != lines.last[shown : following - 1]).any():  # not all of it was looked at
        return None
    if following == len(lines) or lines.first[following] != lines.last[following - 1]:
        return None
    count = following - shown - 1
    if (lines.exact[hidden] == lines.exact[shown]).all():
        return Hidden("same", count)
    if (lines.template[hidden] == lines.template[shown]).all():
        return Hidden("like", count)
    for period in range(2, min(LONGEST_BLOCK + 1, shown + 2, count + 1)):
        if count % period:
            continue
        block = lines.template[shown + 1 - period : following]
        if (block[period:] == block[:-period]).all():
            return Hidden("block", count // period, str(period))
    return None
