"""Loops in C, where a compiler was there when spillover was installed; `loops()` is None elsewhere.

Each loop stands in for steps of numpy or Python that remain beside it and give the same result, bit for bit: tests/compiled
compares them. So nothing depends on this, and whoever changes one side changes the other.

    loops.h       what all of them share: arrays taken from Python, and checked
    texts.h       texts numbered in the order in which they are first seen
    tally.c       newlines and characters (intake/meter.py)
    beginnings.c  how lines begin (select/beginnings.py)
    words.c       which words each cell has (select/words.py); filter.h finds where one may begin
    trees.c       decision trees for many lines (select/trees.py)
    take.c        how many lines fit, and how far strength reaches (select/take.py)
    features.c    how often values recur, and what stands around a line (select/arrays.py, features.py)
    distinct.c    lines that say the same but for digits (select/lines.py)
    shapes.c      what distinct lines look like and what they cost (select/shapes.py)
    matches.c     matches marked line by line (select/classes.py)
    spread.c      classes of distinct messages, told of each line (select/distinct.py)
    order.c       equal values brought together, and numbers sorted (select/arrays.py)
    families.c    lines without what tells them apart (select/families.py)
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: "0" turns the loops off, to compare or to rule them out.
VARIABLE = "SPILLOVER_COMPILED"
#: What a library must say of itself: one that was built for other code is as good as none.
VERSION = 4
_found: list[Any] = []  # the library, or None, once it was looked for


def loops() -> Any:
    """Return the compiled loops, or None where there are none."""
    if not _found:
        _found.append(_load())
    return _found[0]


def _load() -> Any:
    if os.environ.get(VARIABLE) == "0":
        return None
    from importlib import import_module

    try:
        library = import_module("._loops", __name__)
    except ImportError:
        return None
    return library if library.VERSION == VERSION else None
