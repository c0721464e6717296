"""How much a line is worth showing: the sum of one number for each of its features, from `weights.json`.

Points are log-odds: 0 is as likely needed as not if needed lines were half of all, and 0.7 more doubles the odds. `make fit` writes
the numbers; docs/decisions/010-which-lines-of-a-log.md says how far they hold.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from spillover.select.log.features import Columns, columns
from spillover.select.log.lines import Lines

Array = Any  # of numpy; its own types say little about what is in one

WEIGHTS = Path(__file__).with_name("weights.json")


class Weights(Struct, frozen=True):
    """Points for each feature, in the order of the features, and what they add up from; and the curve from them to probability."""

    start: float
    points: dict[str, float]
    curve: list[tuple[float, float]] = []

    def score(self, features: Columns) -> Array:
        """Return the points of each line. Added one feature after the other: a matrix product rounds as the processor likes."""
        total = np.full(len(next(iter(features.values()))), self.start)
        for name, column in features.items():
            total += self.points[name] * column
        return np.round(total, 3)

    def least(self, worth: float) -> float:
        """Return the points from which on a line is likelier needed than `worth`."""
        points, likely = zip(*self.curve, strict=True)
        return float(np.interp(worth, likely, points))


def score(lines: Lines) -> Array:
    """Return the points of each line by the weights of this version."""
    return shipped().score(columns(lines)) if len(lines) else np.zeros(0)


@cache
def shipped() -> Weights:
    """Return the weights of this version."""
    table = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Weights(table["start"], table["points"], table["curve"])
