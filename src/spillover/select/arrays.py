"""What we do in place of functions of numpy that take more steps, or are not in its core."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: So many bytes at a time stay in the cache of a processor.
BLOCK = 1 << 16


def find_byte(text: Array, byte: int) -> Array:
    """Return where a byte stands in an array of bytes. Looked at in blocks: what is compared needs no fresh memory each time."""
    import numpy as np

    found = [(text[at : at + BLOCK] == byte).nonzero()[0] + at for at in range(0, len(text), BLOCK)]
    return found[0] if len(found) == 1 else np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


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


def between(values: Array, at: Sequence[float], known: Sequence[float]) -> Array:
    """Return what stands between the known values, on straight lines: `np.interp`."""
    import numpy as np

    try:
        from numpy._core.multiarray import interp  # what that is made of, in the core
    except ImportError:
        return np.interp(values, at, known)
    return interp(values, at, known, None, None)


def among(values: Array, those: Sequence[int]) -> Array:
    """Return which of the values, which are in order and never twice the same, are among those: a boolean each."""
    import numpy as np

    out = np.zeros(len(values), dtype=bool)
    if len(values) and len(those):
        wanted = np.array(those, dtype=np.int64)
        at = np.minimum(values.searchsorted(wanted), len(values) - 1)
        out[at[values[at] == wanted]] = True
    return out
