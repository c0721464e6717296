"""What weights were made of: a short hash of the features and of the logs, so that a change without a fit is noticed.

The hash of features is of what they say of some generated outputs and of the table of classes. So it changes with patterns, the view,
templates and estimates, and not with code that was only moved.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
from scripts.fit.logs import lines_in
from scripts.samples import SAMPLES

from spillover.kinds.log.classes import CLASSES
from spillover.kinds.log.score import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.fit.logs import Log

#: Why the shipped weights are kept although features changed since they were fitted, and what bench/recall.py says of it; "" after
#: a fit. Whoever narrows a pattern may not have the logs.
CHANGED = ""
#: So many bytes of each sample.
SIZE = 40_000
DIGITS = 8


def of_features() -> str:
    """Return the hash of all features."""
    every = hashlib.sha256(repr([*CLASSES.items()]).encode())
    for make in SAMPLES.values():
        lines, _ = lines_in(make(SIZE))
        for name, column in columns(lines).items():
            every.update(name.encode() + np.round(np.asarray(column, float) * 64).astype("<i8").tobytes())
    return every.hexdigest()[:DIGITS]


def of_logs(logs: Sequence[Log]) -> str:
    """Return how many logs there are, and the hash of what each is called, its size and what is needed of it."""
    every = hashlib.sha256()
    for log in logs:
        needed = np.flatnonzero(log.needed).tolist()
        every.update(json.dumps([log.project, log.name, int(log.lines.last[-1]), needed]).encode())
    return f"{len(logs)} logs {every.hexdigest()[:DIGITS]}"
