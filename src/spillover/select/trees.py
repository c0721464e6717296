"""Small decision trees, evaluated for all lines at once: each condition is asked once, and every tree is a few operations on bytes.

A tree is a number, or [feature, threshold, tree up to it, tree above it]. Its leaves are bits, the first on the left. Each
condition that does not hold rules out the leaves on its left; the lowest bit that is left says what the tree is worth.
"""

from __future__ import annotations

from itertools import count

from spillover.select.scratch import borrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.select.scratch import Scratch

    Array = Any  # of numpy; its own types say little about what is in one
    Table = tuple[dict[str, list[float]], int, bytes, bytes, bytes]

#: A tree with more leaves than bits in a byte is walked from its root instead.
MOST_LEAVES = 8
#: So many lines at a time: what is in hand then stays in the processor's cache.
STRETCH = 4_096
#: And so many trees that there is one leaf in hand for each of them and each line, up to this many.
LEAVES = 1 << 17


class Forest:
    """Trees whose values are added up."""

    def __init__(self, trees: Sequence[Any], table: Table | None = None) -> None:
        """`table`: what another forest of the same trees said was its own; then no trees are needed."""
        self._trees, self._table = trees, table
        self._small = bool(table) or 1 < max(map(_leaves, trees), default=0) <= MOST_LEAVES
        self._laid_out: tuple[Any, ...] = ()

    @property
    def table(self) -> Table | None:
        """The trees in a form that is quickly read back; None where they are walked."""
        if self._small and not self._table:
            self._table = _tabulate(self._trees)
        return self._table

    def add_up(self, columns: Mapping[str, Array]) -> Array:
        """Return the sum of what the trees say of each line, added in their order."""
        import numpy as np

        lines = len(next(iter(columns.values())))
        total = np.zeros(lines)
        if not self._small:
            for tree in self._trees:
                total += _walk(tree, columns)
            return total
        self._laid_out = self._laid_out or self._lay_out()
        for at in range(0, lines, STRETCH):
            with borrow() as scratch:
                self._add(total[at : at + STRETCH], columns, slice(at, at + STRETCH), scratch)
        return total

    def _add(self, total: Array, columns: Mapping[str, Array], some: slice, scratch: Scratch) -> None:
        """Add what the trees say of some lines."""
        import numpy as np

        features, conditions, otherwise, values = self._laid_out
        lines = len(total)
        batch = max(1, min(LEAVES // lines, len(values)))
        holds = scratch.array((sum(len(bounds) for _, bounds, _ in features), lines), np.uint8)
        row = 0
        for name, bounds, is_not in features:
            column, answers = columns[name][some], holds[row : row + len(bounds)].view(bool)
            if is_not and column.dtype == bool:
                np.logical_not(column, out=answers[0])
            else:
                np.less_equal(column, bounds, out=answers)
            row += len(bounds)
        np.negative(holds, out=holds)  # all bits or none
        bits, left = (scratch.array((batch, lines), np.uint8) for _ in range(2))
        places, worth = scratch.array((batch, lines), np.intp), scratch.array(lines, np.float64)
        for first in range(0, len(values), batch):
            trees = slice(first, first + batch)
            size = min(batch, len(values) - first)
            here, leaves, where = bits[:size], left[:size], places[:size]
            leaves[:] = 0xFF
            for asked, right in zip(conditions, otherwise, strict=True):
                # No place is outside, here and below: nothing needs to be checked.
                holds.take(asked[trees], axis=0, out=here, mode="clip")
                here |= right[trees]
                leaves &= here
            where[:] = leaves  # all at once, or each look-up would do it for itself
            for tree, leaf in zip(values[trees], where, strict=True):
                tree.take(leaf, out=worth, mode="clip")
                total += worth

    def _lay_out(self) -> tuple[Any, ...]:
        """Return the table as arrays: thresholds by feature, for each place in a tree its conditions and the leaves on the right."""
        import numpy as np

        assert self.table is not None
        asked, places, conditions, rights, worths = self.table
        lowest = [(leaves & -leaves).bit_length() - 1 for leaves in range(1 << MOST_LEAVES)]
        return (
            # Of a class, which is 0 or 1, there is one question: whether a line is not in it.
            [
                (name, np.array(bounds, dtype=np.float32)[:, None], len(bounds) == 1 and 0 <= min(bounds) < 1)
                for name, bounds in asked.items()
            ],
            np.frombuffer(conditions, np.uint16).reshape(places, -1).astype(np.intp),
            np.frombuffer(rights, np.uint8).reshape(places, -1, 1),
            np.frombuffer(worths, np.float64).reshape(-1, MOST_LEAVES)[:, lowest],
        )


def _tabulate(trees: Sequence[Any]) -> Table:
    """Return the thresholds of each feature; for each place in a tree, its conditions and the leaves on the right; and all leaves."""
    import numpy as np

    asked: dict[str, dict[float, int]] = {}  # by feature and threshold, which condition it is
    nodes, worths = [], []
    for tree in trees:
        inner: list[tuple[str, float, int]] = []
        worth: list[float] = []
        _number_leaves(tree, inner, worth)
        nodes.append(inner)
        worths.append(worth + worth[-1:] * (MOST_LEAVES - len(worth)))
        for feature, bound, _ in inner:
            asked.setdefault(feature, {})[bound] = 0
    number = count()
    for bounds in asked.values():
        for bound in bounds:
            bounds[bound] = next(number)
    places = max((1, *map(len, nodes)))
    # Where a tree has fewer conditions than others, one that rules out nothing.
    conditions = [[asked[name][bound] for name, bound, _ in inner] + [0] * (places - len(inner)) for inner in nodes]
    rights = [[0xFF & ~left for _, _, left in inner] + [0xFF] * (places - len(inner)) for inner in nodes]
    return (
        {name: list(bounds) for name, bounds in asked.items()},
        places,
        np.array(conditions, np.uint16).T.tobytes(),
        np.array(rights, np.uint8).T.tobytes(),
        np.array(worths).tobytes(),
    )


def _leaves(tree: Any) -> int:
    return 1 if isinstance(tree, float) else _leaves(tree[2]) + _leaves(tree[3])


def _number_leaves(tree: Any, inner: list[tuple[str, float, int]], worth: list[float]) -> int:
    """Note the conditions of a tree, each with the leaves on its left as bits, and what each leaf is worth; return its leaves."""
    if isinstance(tree, float):
        worth.append(tree)
        return 1 << len(worth) - 1
    feature, bound, *sides = tree
    place = len(inner)
    inner.append((feature, bound, 0))
    below = _number_leaves(sides[0], inner, worth)
    inner[place] = (feature, bound, below)
    return below | _number_leaves(sides[1], inner, worth)


def _walk(node: Any, columns: Mapping[str, Array]) -> Any:
    """Return what a tree says of each line, from its root."""
    import numpy as np

    if isinstance(node, float):
        return node
    feature, threshold, below, above = node
    return np.where(columns[feature] <= threshold, _walk(below, columns), _walk(above, columns))
