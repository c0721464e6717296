"""Choosing lines from an order of preference: as many as fit with their markers, no hole smaller than its marker."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one


def take(
    base: Array, order: Array, close: Callable[[Array], Array], price: Callable[[Array], float], room: float
) -> Array:
    """Add to the lines in `base` as many from the beginning of `order` as fit into the room."""
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


def fill_holes(keep: Array, cost: Array, marker: float) -> Array:
    """Return the same with holes filled that cost less than a marker for them."""
    import numpy as np

    kept = np.flatnonzero(keep)
    upto = np.concatenate(([0.0], np.cumsum(cost)))
    before, after = np.concatenate(([-1], kept)), np.concatenate((kept, [len(keep)]))
    small = (after - before > 1) & (upto[after] - upto[before + 1] <= marker)
    edges = np.zeros(len(keep) + 1, dtype=np.int64)
    np.add.at(edges, before[small] + 1, 1)
    np.add.at(edges, after[small], -1)
    return keep | (np.cumsum(edges[:-1]) > 0)


def count_gaps(keep: Array) -> int:
    """Return how many markers these lines need."""
    return int((keep[:-1] & ~keep[1:]).sum()) + int(not keep[0])
