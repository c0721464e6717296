"""Working memory that is used again: to map it anew for every output takes longer than much of what is computed in it.

    with borrow() as scratch:
        sums = scratch.array(len(view) + 1, np.uint64)

An array is as long as the loan: whatever outlives it is copied. A few pieces are kept, of bounded size, for all threads.
"""

from __future__ import annotations

from math import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    Array = Any  # of numpy; its own types say little about what is in one

#: So many pieces are kept, each of so many bytes at most.
KEPT, MOST = 2, 1 << 22
#: Arrays begin where a line of the processor's cache does.
_LINE = 64


class Scratch:
    """A piece of memory that arrays are cut from, one behind the other."""

    __slots__ = ("_at", "_data", "_needed")

    def __init__(self) -> None:
        self._data: Array = None
        self._at = self._needed = 0

    def array(self, shape: int | tuple[int, ...], kind: Any) -> Array:
        """Return an array with anything in it; where there is no room left for it, one of its own."""
        import numpy as np

        size = prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(kind).itemsize
        start, self._at = self._at, self._at + size + -size % _LINE
        self._needed = max(self._needed, self._at)
        if self._data is None or self._at > len(self._data):
            return np.empty(shape, kind)
        return self._data[start : start + size].view(kind).reshape(shape)

    def __enter__(self) -> Self:
        import numpy as np

        if self._data is None or self._needed > len(self._data):
            self._data = np.empty(min(self._needed, MOST), np.uint8)
        self._at = self._needed = 0
        return self

    def __exit__(self, *_: object) -> None:
        if len(_free) < KEPT:
            _free.append(self)


#: Those that nobody uses. Taking one and giving it back are one step each, so no lock is needed.
_free: list[Scratch] = []


def borrow() -> Scratch:
    """Return a piece for a `with` statement."""
    try:
        return _free.pop()
    except IndexError:
        return Scratch()
