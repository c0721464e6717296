"""How much a line is worth showing: points from two tables of small decision trees, first by itself, then in context.

A tree is a number, or [feature, threshold, tree up to it, tree above it]. The tables are data: `scripts/fit` writes
`weights.json`, and docs/decisions/010-signal.md says how far they hold.
"""

from __future__ import annotations

import os
from functools import cache

from spillover.select.features import in_context, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.features import Columns
    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

WEIGHTS = os.path.join(os.path.dirname(__file__), "weights.json")


def score(lines: Lines) -> tuple[Array, Array]:
    """Return the points of each line: by itself, and in its context."""
    import numpy as np

    if not len(lines):
        return np.zeros(0), np.zeros(0)
    alone = own(lines)
    first = add_up(_weights()["own"], alone)
    return first, add_up(_weights()["context"], in_context(lines, alone, first))


def likely(points: Array) -> Array:
    """Return how likely a line with these points in context is needed, as calibrated on logs that were left out of the fit."""
    import numpy as np

    at, share = zip(*_weights()["calibration"], strict=True)
    return np.interp(points, at, share)


def add_up(trees: Sequence[Any], columns: Columns) -> Array:
    """Return the sum of what the trees say of each line, added in their order."""
    import numpy as np

    answers: dict[tuple[str, float], Array] = {}  # trees ask many questions more than once

    def walk(tree: Any) -> Any:
        if isinstance(tree, float):
            return tree
        feature, threshold, below, above = tree
        question = feature, threshold
        if question not in answers:
            answers[question] = columns[feature] <= threshold
        return np.where(answers[question], walk(below), walk(above))

    total = np.zeros(len(next(iter(columns.values()))))
    for tree in trees:
        total += walk(tree)
    return total


@cache
def _weights() -> Any:
    import json

    with open(WEIGHTS, "rb") as file:
        return json.load(file)
