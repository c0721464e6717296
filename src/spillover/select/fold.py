"""Lines that say again what was said: runs of equal or like lines, and of blocks of them, of which the middle may be folded."""

from __future__ import annotations

from spillover.select.arrays import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: A run has at least LEAST lines or blocks; blocks have at most LONGEST_BLOCK lines.
LEAST = 4
LONGEST_BLOCK = 16


def runs(lines: Lines, alike: Array = None) -> Array:
    """Return for each line in the middle of a run what the middle costs in tokens; 0 for all others, the first and the last too.

    `alike` says which lines are the same; without it, those that differ in numbers only. But two frames of a stack that differ
    in the number of a line are two places: of a recursion, every place is worth showing once.
    """
    import numpy as np

    if alike is None:
        frame, place, first, warning = map(lines.of_class, ("frame", "place", "place first", "warning"))
        alike = np.where(frame & place & ~first & ~warning, lines.exact, lines.template.astype(np.int64))
    cost = np.zeros(len(lines))
    upto = np.concatenate(([0.0], np.cumsum(lines.tokens)))
    for period in range(1, LONGEST_BLOCK + 1):
        if len(lines) <= LEAST * period:
            break
        same = alike[period:] == alike[:-period]
        if b"\1" * ((LEAST - 1) * period) not in same.tobytes():
            continue  # no run is long enough
        again = np.concatenate((np.zeros(period, dtype=bool), same))
        edges = np.flatnonzero(steps(again.astype(np.int8), [0], [0]))
        starts, ends = edges[::2], edges[1::2]  # the first block stands before, the last one stays too
        long = ends - starts >= (LEAST - 1) * period
        for start, end in zip(starts[long].tolist(), (ends[long] - period).tolist(), strict=True):
            cost[start:end] = np.maximum(cost[start:end], upto[end] - upto[start])
    return cost
