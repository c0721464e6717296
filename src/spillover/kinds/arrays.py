"""Equal values brought together, values in order, and the steps between them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one


def group(values: Array) -> tuple[Array, Array, Array]:
    """Return the order that brings equal values together, earlier ones first; where each group begins in it; and its size."""
    import numpy as np

    order = values.argsort(kind="stable")
    ordered = values[order]
    starts = np.concatenate(([True], ordered[1:] != ordered[:-1])).nonzero()[0] if len(values) else order
    return order, starts, steps(starts, after=[len(values)])


def count_alike(values: Array) -> tuple[Array, Array]:
    """Return how often each value occurs, and how often it did before."""
    import numpy as np

    counts, index = np.empty(len(values), dtype=np.int64), np.empty(len(values), dtype=np.int64)
    order, starts, sizes = group(values)
    counts[order] = sizes.repeat(sizes)
    index[order] = np.arange(len(values)) - starts.repeat(sizes)
    return counts, index


def sort_down(values: Array) -> Array:
    """Return the order that brings the largest values to the front; equal ones stay in theirs."""
    import numpy as np

    return np.negative(values).argsort(kind="stable")


def steps(values: Array, before: Sequence[int] | Array = (), after: Sequence[int] | Array = ()) -> Array:
    """Return how much each value is above the one before it, as `np.diff` does, with other values at the ends."""
    import numpy as np

    whole = np.concatenate((np.asarray(before, values.dtype), values, np.asarray(after, values.dtype)))
    return whole[1:] - whole[:-1]
