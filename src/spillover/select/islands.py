"""Many small holes become one: a few lines between two gaps cost a marker more, and stay only where they are worth that too."""

from __future__ import annotations

from spillover.select.arrays import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one


def weak_islands(keep: Array, held: Array, strength: Array, cost: Array, *, least: float, marker: float) -> Array:
    """Return which of the lines to show are not worth the marker that they add: a boolean each; none of those in `held`.

    Strength is a logarithm. Some lines between two gaps cost a marker on top, so each of their tokens is worth as much less;
    they are weak where it is less than `least`, the strength of the line that would be shown in their place.
    """
    import numpy as np

    kept = np.flatnonzero(keep)
    starts = np.flatnonzero(steps(kept, [-2]) > 1)
    out = np.zeros(len(keep), dtype=bool)
    if len(starts):
        sizes = steps(starts, after=[len(kept)])
        costs = np.add.reduceat(cost[kept], starts)
        best = np.maximum.reduceat(strength[kept], starts)
        fixed = np.logical_or.reduceat(held[kept], starts)
        weak = ~fixed & (best - np.log1p(marker / costs) < least)
        out[kept[weak.repeat(sizes)]] = True
    return out
