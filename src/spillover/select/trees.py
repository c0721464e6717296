"""Small decision trees, evaluated for all lines at once: each condition is asked once, and every tree is a few operations on bytes.

A tree is a number, or [feature, threshold, tree up to it, tree above it]. A line is in exactly one leaf of a tree, so each
condition rules leaves out, one bit each, and the bit that is left says what the tree is worth.
"""

from __future__ import annotations

from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: A tree with more leaves than bits in a byte is walked from its root instead.
MOST_LEAVES = 8
#: So many lines at a time: what is in hand then stays in the processor's cache.
STRETCH = 4_096
#: And so many trees.
BATCH = 32
_BITS = [1 << leaf for leaf in range(MOST_LEAVES)]


class Forest:
    """Trees whose values are added up."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self._trees = trees
        self._small = 1 < max(map(_leaves, trees), default=0) <= MOST_LEAVES
        self._laid_out: tuple[Any, ...] = ()

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
        features, conditions, true, false, values = self._laid_out
        for at in range(0, lines, STRETCH):
            some = slice(at, at + STRETCH)
            part = total[some]
            holds = np.empty((sum(len(bounds) for _, bounds in features), len(part)), dtype=np.uint8)
            row = 0
            for name, bounds in features:
                np.less_equal(columns[name][some], bounds, out=holds[row : row + len(bounds)].view(bool))
                row += len(bounds)
            np.negative(holds, out=holds)  # all bits or none
            bits = np.empty((min(BATCH, len(values)), len(part)), dtype=np.uint8)
            left, worth = np.empty_like(bits), np.empty(len(part))
            for first in range(0, len(values), BATCH):
                trees = slice(first, first + BATCH)
                here, leaves = bits[: len(values) - first], left[: len(values) - first]
                leaves[:] = 0xFF
                for asked, differ, otherwise in zip(conditions, true, false, strict=True):
                    # No place is outside, here and below: nothing needs to be checked.
                    holds.take(asked[trees], axis=0, out=here, mode="clip")
                    here &= differ[trees]
                    here ^= otherwise[trees]
                    leaves &= here
                for tree, leaf in zip(values[trees], leaves, strict=True):
                    tree.take(leaf, out=worth, mode="clip")
                    part += worth
        return total

    def _lay_out(self) -> tuple[Any, ...]:
        """Return the trees as arrays: thresholds by feature, and for each place in a tree its conditions and their bits."""
        import numpy as np

        asked: dict[str, dict[float, int]] = {}  # by feature and threshold, which condition it is
        nodes, worths = [], []
        for tree in self._trees:
            inner: list[tuple[str, float, int, int]] = []
            worth: list[float] = []
            _number_leaves(tree, inner, worth)
            nodes.append(inner)
            worths.append(worth)
            for feature, bound, _, _ in inner:
                asked.setdefault(feature, {})[bound] = 0
        number = count()
        for bounds in asked.values():
            for bound in bounds:
                bounds[bound] = next(number)
        places = range(max((1, *map(len, nodes))))
        laid = np.array([[self._place(inner, place, asked) for inner in nodes] for place in places]).reshape(
            -1, len(nodes), 3
        )
        values = np.zeros((len(nodes), 1 << MOST_LEAVES))
        for row, worth in zip(values, worths, strict=True):
            row[_BITS[: len(worth)]] = worth
        return (
            [(name, np.array(list(bounds), dtype=np.float32)[:, None]) for name, bounds in asked.items()],
            laid[:, :, 0].astype(np.intp),
            laid[:, :, 1:2].astype(np.uint8),
            laid[:, :, 2:3].astype(np.uint8),
            values,
        )

    @staticmethod
    def _place(inner: list[tuple[str, float, int, int]], place: int, asked: Any) -> tuple[int, int, int]:
        """Return the condition at one place of a tree, the bits in which both answers differ, and the bits that "no" leaves."""
        unused = 0xFF << len(inner) + 1  # no leaf of this tree has them
        if place >= len(inner):
            return 0, 0, 0xFF & ~unused
        feature, bound, below, above = inner[place]
        return asked[feature][bound], below | above, 0xFF & ~below & ~unused


def _leaves(tree: Any) -> int:
    return 1 if isinstance(tree, float) else _leaves(tree[2]) + _leaves(tree[3])


def _number_leaves(tree: Any, inner: list[tuple[str, float, int, int]], worth: list[float]) -> int:
    """Note the conditions of a tree, each with the leaves on either side of it as bits, and what each leaf is worth."""
    if isinstance(tree, float):
        worth.append(tree)
        return 1 << len(worth) - 1
    feature, bound, *sides = tree
    place = len(inner)
    inner.append((feature, bound, 0, 0))
    below = _number_leaves(sides[0], inner, worth)
    above = _number_leaves(sides[1], inner, worth)
    inner[place] = (feature, bound, below, above)
    return below | above


def _walk(node: Any, columns: Mapping[str, Array]) -> Any:
    """Return what a tree says of each line, from its root."""
    import numpy as np

    if isinstance(node, float):
        return node
    feature, threshold, below, above = node
    return np.where(columns[feature] <= threshold, _walk(below, columns), _walk(above, columns))
