"""Lines within a budget of tokens: what they cost with their gap markers, which holes are filled, and how many of an order fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # of numpy; its own types say little about what is in one

#: What a gap marker costs, in tokens. With more, fewer and larger gaps.
MARKER = 9.0


def take(
    base: Array, order: Array, room: float, *, close: Callable[[Array], Array], price: Callable[[Array], float]
) -> Array:
    """Add to the lines in `base` as many from the beginning of `order` as fit into the room, told by halving.

    `close` adds what cannot be left out next to the lines that were chosen; a line more never costs less.
    """
    low, high, best = 0, len(order), base
    while low < high:
        middle = (low + high + 1) // 2
        keep = base.copy()
        keep[order[:middle]] = True
        keep = close(keep)
        if price(keep) <= room:
            low, best = middle, keep
        else:
            high = middle - 1
    return best


def fill_holes(keep: Array, cost: Array, hole: float) -> Array:
    """Return the same with holes filled that cost no more than `hole`: once or twice a marker."""
    kept = np.flatnonzero(keep)
    upto = np.concatenate(([0.0], np.cumsum(cost)))
    before, after = np.concatenate(([-1], kept)), np.concatenate((kept, [len(keep)]))
    small = (after - before > 1) & (upto[after] - upto[before + 1] <= hole)
    edges = np.zeros(len(keep) + 1, dtype=np.int64)
    edges[before[small] + 1] += 1
    edges[after[small]] -= 1
    return keep | (np.cumsum(edges[:-1]) > 0)


def price(keep: Array, cost: Array) -> float:
    """Return what these lines cost, with a marker for each gap."""
    shown = cost[keep].cumsum()  # not `sum`, which adds in an order that depends on the processor
    return float(shown[-1]) + MARKER * count_gaps(keep) if len(shown) else 0.0


def count_gaps(keep: Array) -> int:
    """Return how many markers these lines need."""
    return int(np.count_nonzero(keep[:-1] > keep[1:])) + int(not keep[0])
