"""How much a line is worth showing: points from two tables of small decision trees, first by itself, then in context.

The tables are data: `scripts/fit` writes `weights.json`, and docs/decisions/010-signal.md says how far they hold.
"""

from __future__ import annotations

import os
import sys

from spillover.base import cache
from spillover.select.arrays import between
from spillover.select.features import in_context, own
from spillover.select.trees import MOST_LEAVES, Forest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.features import Columns
    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

WEIGHTS = os.path.join(os.path.dirname(__file__), "weights.json")
#: Changes with what is cached of it.
FORMAT = 1
_tables: dict[str, Forest] = {}
_calibration: list[Sequence[float]] = []  # points, and the probability that a line with so many is needed


def score(lines: Lines) -> tuple[Array, Array]:
    """Return the points of each line: by itself, and in its context."""
    import numpy as np

    if not len(lines):
        return np.zeros(0), np.zeros(0)
    alone = own(lines)
    first = _forest("own").add_up(alone)
    return first, _forest("context").add_up(in_context(lines, alone, first))


def likely(points: Array) -> Array:
    """Return how likely a line with these points in context is needed, as calibrated on logs that were left out of the fit."""
    _forest("own")  # loaded with the trees
    at, share = _calibration
    return between(points, at, share)


def add_up(trees: Sequence[Any], columns: Columns) -> Array:
    """Return the sum of what the trees say of each line."""
    return Forest(trees).add_up(columns)


def _forest(table: str) -> Forest:
    if table not in _tables:
        calibration, forests = _read()
        _calibration[:] = calibration
        _tables.update(forests)
    return _tables[table]


def _read() -> tuple[list[Sequence[float]], dict[str, Forest]]:
    """Return the weights. To parse them and to lay out their trees takes 3 ms, so the result is cached on disk."""
    import marshal
    from hashlib import sha256

    with open(WEIGHTS, "rb") as file:
        text = file.read()
    made_of = repr((FORMAT, MOST_LEAVES, marshal.version, sys.byteorder)).encode() + text
    name = f"trees-{sha256(made_of).hexdigest()[:32]}"
    if (kept := cache.load(name)) is not None:  # private, and what we have written
        calibration, tables = marshal.loads(kept)  # noqa: S302
        return calibration, {each: Forest((), table) for each, table in tables.items()}
    import json

    weights = json.loads(text)
    calibration = list(zip(*weights["calibration"], strict=True))
    forests = {each: Forest(weights[each]) for each in ("own", "context")}
    tables = {each: forest.table for each, forest in forests.items()}
    if None not in tables.values():
        cache.save(name, marshal.dumps((calibration, tables)))
    return calibration, forests
