"""How much a line is worth showing: points from two tables of small decision trees, first by itself, then in context.

The tables are data, `weights.json`; where they come from and how far they hold is in docs/decisions/010-signal.md.
"""

from __future__ import annotations

from pathlib import Path

from spillover.select.features import CONTEXT, OWN, near, own, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

WEIGHTS = Path(__file__).with_name("weights.json")
_tables: dict[str, list[Any]] = {}


def score(lines: Lines) -> tuple[Array, Array]:
    """The points of each line: by itself, and in its context."""
    import numpy as np

    if not len(lines):
        return np.zeros(0), np.zeros(0)
    alone = own(lines)
    first = _points("own", OWN, alone)
    context = np.concatenate((alone, place(lines), near(lines, first)), axis=1)
    return first, _points("context", CONTEXT, context)


def _points(table: str, names: tuple[str, ...], rows: Array) -> Array:
    import numpy as np

    if not _tables:
        import json

        _tables.update(json.loads(WEIGHTS.read_text()))
    columns = {name: np.ascontiguousarray(rows[:, number]) for number, name in enumerate(names)}
    total = np.zeros(len(rows))
    for tree in _tables[table]:
        total += _branch(tree, columns)
    return total


def _branch(node: Any, columns: dict[str, Array]) -> Any:
    """A tree is a number, or [feature, threshold, tree up to it, tree above it]."""
    import numpy as np

    if isinstance(node, float):
        return node
    feature, threshold, below, above = node
    return np.where(columns[feature] <= threshold, _branch(below, columns), _branch(above, columns))
