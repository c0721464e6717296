"""From points to the probability that a line is needed: a curve that never falls, fitted on points out of fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = Any  # of numpy; its own types say little about what is in one

#: Lines are put together into so many groups of equal weight, so that the curve has few points.
GROUPS = 64


def curve(points: Array, needed: Array, weight: Array) -> list[tuple[float, float]]:
    """Return [points, probability] pairs, both rising; between two of them the probability is on a straight line."""
    order = np.argsort(points, kind="stable")
    upto = np.cumsum(weight[order])
    group = np.minimum((upto / upto[-1] * GROUPS).astype(np.int64), GROUPS - 1)
    # The strongest lines are few and matter most: the last group is divided further.
    last = np.flatnonzero(group == GROUPS - 1)
    group[last] += np.arange(len(last)) * 8 // max(1, len(last))
    mass = np.bincount(group, weight[order])
    some = mass > 0
    mean_points = np.bincount(group, weight[order] * points[order])[some] / mass[some]
    share = np.bincount(group, weight[order] * needed[order])[some] / mass[some]
    blocks: list[list[float]] = []  # points, share, mass
    for here, probability, heavy in zip(mean_points.tolist(), share.tolist(), mass[some].tolist(), strict=True):
        blocks.append([here, probability, heavy])
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (a, p, m), (b, q, n) = blocks[-2:]
            blocks[-2:] = [[(a * m + b * n) / (m + n), (p * m + q * n) / (m + n), m + n]]
    return [(round(here, 3), round(probability, 5)) for here, probability, _ in blocks]
