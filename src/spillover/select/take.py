"""What lines cost to show, with markers and small holes; how many of them fit; and how far strength reaches. Pure arrays."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: What a gap marker costs, in tokens. A hole that costs up to twice that is filled: one frame in the middle of a stack.
MARKER = 9
HOLE = 18
#: How many lines fit is guessed so often before it is found by halving.
GUESSES = 6
#: More than sums of costs can be off by, in tokens.
ROUNDING = 1e-3
#: What distance costs: per token downwards and upwards, and for each point a line is below 0.
DOWN, UP, DULL = 0.003, 0.002, 0.15


def sum_upto(cost: Array) -> Array:
    """Return what all lines before each cost, and all of them."""
    import numpy as np

    upto = np.zeros(len(cost) + 1)
    cost.cumsum(out=upto[1:])
    return upto


def _add_up(costs: Array) -> float:
    """Return the sum, added one after the other: in which order `sum` does it depends on the version of numpy."""
    return float(costs.cumsum()[-1]) if len(costs) else 0.0


def price(keep: Array, cost: Array) -> float:
    """Return what these lines cost, with a marker for each gap."""
    import numpy as np

    if not len(keep):
        return 0.0
    gaps = int(np.count_nonzero(keep[:-1] > keep[1:])) + int(not keep[0])
    return _add_up(cost[keep.nonzero()[0]]) + MARKER * gaps


def fill_holes(keep: Array, upto: Array) -> Array:
    """Fill the holes that cost less than a marker for them; `upto`: what all lines before each cost."""
    import numpy as np

    kept = keep.nonzero()[0]
    before, after = np.concatenate(([-1], kept)), np.concatenate((kept, [len(keep)]))
    small = (after - before > 1) & (upto[after] - upto[before + 1] <= HOLE)
    first, sizes = before[small] + 1, (after - before)[small] - 1
    ends = sizes.cumsum()
    keep[(first - ends + sizes).repeat(sizes) + np.arange(ends[-1] if len(ends) else 0)] = True
    return keep


def take(base: Array, order: Array, count: int, cost: Array, upto: Array, room: float) -> Array:
    """Add lines to those already chosen: as many from the beginning of `order` as fit. `count`: how many it has in all.

    A line more never costs less, as a hole that is filled costs more than its marker did. So how many fit is guessed from
    what each has cost by now, and only what is chosen in the end is made.
    """
    new, held = order[~base[order]], base.nonzero()[0]
    added = cost[new].cumsum()
    # Without markers, the lines up to each place in the order cost so much, and every line behind it only adds to that.
    low, high = 0, min(count, int(added.searchsorted(room + ROUNDING - _add_up(cost[held]))))
    below = _price_filled(held, cost, upto, room)
    each = float(added[high - 1]) / high + MARKER if high else 0.0
    guesses = 0
    while low < high:
        guesses += 1
        middle = low + int((room - below) / each) if guesses <= GUESSES else (low + high + 1) // 2
        middle = min(max(middle, low + 1), high)
        keep = base.copy()
        keep[new[:middle]] = True
        here = _price_filled(keep.nonzero()[0], cost, upto, room)
        each = max((here - below) / (middle - low), 1.0)
        if here <= room:
            low, below = middle, here
        else:
            high = middle - 1
    if not low and not (len(order) and base[order[0]] and below <= room):
        return base
    keep = base.copy()
    keep[new[:low]] = True
    return fill_holes(keep, upto)


def _price_filled(kept: Array, cost: Array, upto: Array, room: float) -> float:
    """Return what these lines cost once small holes are filled, with a marker for each other gap; exact where it is near `room`."""
    import numpy as np

    holes = np.empty(len(kept) + 1)
    holes[:-1] = upto[kept]
    holes[-1] = upto[-1]
    holes[1:] -= upto[kept + 1]
    large = holes[holes > HOLE]
    about = float(upto[-1]) - _add_up(large) + MARKER * len(large)
    if abs(about - room) > ROUNDING:
        return about
    keep = np.zeros(len(cost), dtype=bool)
    keep[kept] = True
    return price(fill_holes(keep, upto), cost)


def grow(points: Array, cost: Array, scale: float) -> Array:
    """Return each line's points, or those of a better one nearby less what lies between them; the larger."""
    import numpy as np

    dull = DULL * np.maximum(0.0, -points)
    down = np.cumsum((DOWN * cost + dull) * scale)
    up = np.cumsum(((UP * cost + dull) * scale)[::-1])
    below = np.maximum.accumulate(points + down) - down
    above = (np.maximum.accumulate(points[::-1] + up) - up)[::-1]
    return np.maximum(below, above)
