"""Lines within a budget of tokens: what they cost with their gap markers, and how many of an order fit. Pure arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # of numpy; its own types say little about what is in one

#: What a gap marker costs, in tokens. Larger: fewer and larger gaps.
MARKER = 9.0


def take(
    base: Array, order: Array, room: float, *, close: Callable[[Array], Array], price: Callable[[Array], float]
) -> Array:
    """Add to the lines in `base` as many from the beginning of `order` as fit into the room, found by halving.

    `close` adds what cannot be left out next to the lines that were chosen; a line more never costs less.
    """
    low = 0
    high = len(order)
    best = base
    while low < high:
        middle = (low + high + 1) // 2
        keep = base.copy()
        keep[order[:middle]] = True
        keep = close(keep)
        if price(keep) <= room:
            low = middle
            best = keep
        else:
            high = middle - 1
    return best


def fill_holes(keep: Array, cost: Array, hole: float) -> Array:
    """Return `keep` with the holes filled that cost at most `hole`."""
    rows = np.flatnonzero(keep)
    upto = np.concatenate(([0.0], np.cumsum(cost)))
    before, after = np.concatenate(([-1], rows)), np.concatenate((rows, [len(keep)]))
    small = (after - before > 1) & (upto[after] - upto[before + 1] <= hole)
    edges = np.zeros(len(keep) + 1, dtype=np.int64)
    edges[before[small] + 1] += 1
    edges[after[small]] -= 1
    return keep | (np.cumsum(edges[:-1]) > 0)


def price(keep: Array, cost: Array) -> float:
    """Return what these lines cost, with a marker for each gap."""
    costs = cost[keep].cumsum()  # not `sum`, which adds in an order that depends on the processor
    return float(costs[-1]) + MARKER * count_gaps(keep) if len(costs) else 0.0


def count_gaps(keep: Array) -> int:
    """Return how many markers these lines need."""
    return int(np.count_nonzero(keep[:-1] > keep[1:])) + int(not keep[0])


def group(values: Array) -> tuple[Array, Array, Array]:
    """Return the stable order that brings equal values together, where each group begins in it, and its size."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    starts = np.concatenate(([True], ordered[1:] != ordered[:-1])).nonzero()[0] if len(values) else order
    return order, starts, steps(starts, after=[len(values)])


def count_alike(values: Array) -> tuple[Array, Array]:
    """Return how often each value occurs, and how often before each place."""
    counts, index = np.empty(len(values), dtype=np.int64), np.empty(len(values), dtype=np.int64)
    order, starts, sizes = group(values)
    counts[order] = sizes.repeat(sizes)
    index[order] = np.arange(len(values)) - starts.repeat(sizes)
    return counts, index


def steps(values: Array, before: Sequence[int] | Array = (), after: Sequence[int] | Array = ()) -> Array:
    """Return how much each value is above the one before it, as `np.diff` does, with other values at the ends."""
    whole = np.concatenate((np.asarray(before, values.dtype), values, np.asarray(after, values.dtype)))
    return whole[1:] - whole[:-1]
