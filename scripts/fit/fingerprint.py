"""What weights were made of: a short hash of each feature, of the settings and of the logs, so that a change without a fit is noticed.

The hash of a feature is of what it says of some generated outputs; that of a class, of its row in the table, too. So it
changes with patterns, the view, templates and estimates, and not with code that was only moved.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.fit.logs import lines_in
from scripts.samples import SAMPLES

from spillover.select.classes import CLASSES
from spillover.select.features import in_context, own

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scripts.fit.logs import Log

#: What was changed since the shipped weights were fitted, and why they were kept: feature to reason. Whoever changes a
#: feature runs `make fit` and leaves this empty, or names the feature here (docs/decisions/050-fingerprints.md).
CHANGED: dict[str, str] = {}
#: So many bytes of each sample.
SIZE = 40_000
#: A column is compared in steps of 1 / STEPS: other processors round the last bits of a logarithm otherwise.
STEPS = 64
DIGITS = 8


def of_features() -> dict[str, str]:
    """Return the hash of each feature by its name."""
    every: dict[str, Any] = {name: hashlib.sha256(repr(row).encode()) for name, row in CLASSES.items()}
    for make in SAMPLES.values():
        lines, _ = lines_in(make(SIZE))
        alone = own(lines)
        # Points come from trees, which come later: for what is around a line, its width will do.
        for name, column in in_context(lines, alone, alone["width"].astype(float)).items():
            steps = np.round(column.astype(float) * STEPS).astype("<i8")
            every.setdefault(name, hashlib.sha256()).update(steps.tobytes())
    return {name: each.hexdigest()[:DIGITS] for name, each in every.items()}


def of_settings(settings: Mapping[str, object]) -> str:
    """Return the hash of what a fit is told."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:DIGITS]


def of_logs(logs: Sequence[Log]) -> str:
    """Return how many logs there are, and the hash of what each is called, its size and what is needed of it."""
    every = hashlib.sha256()
    for log in logs:
        needed = np.flatnonzero(log.needed).tolist()
        every.update(json.dumps([log.project, log.name, int(log.lines.last[-1]), needed]).encode())
    return f"{len(logs)} logs {every.hexdigest()[:DIGITS]}"


def compare(fitted: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of features that are not what they were when the weights were fitted."""
    return sorted(name for name in {*fitted, *now} if fitted.get(name) != now.get(name))
