"""The lines of an output as a set of keys, in memory that does not grow with the output.

Up to MOST different keys are held as they are. Beyond that they are marked in a table of bits, which never forgets one and
takes about one in a thousand that was never there for known, in an output of ten million different lines.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: So many different keys are held exactly: 8 MiB of them.
MOST = 1 << 20
#: The bytes of the table of bits, a power of 2; and the bits that are marked for each key.
TABLE = 1 << 25
MARKS = 4
#: Keys wait until there are so many, or as many as are held, before they are sorted in.
WAITING = 1 << 16


class Known:
    """A set of keys that only grows."""

    __slots__ = ("_keys", "_table", "_waiting", "_waits")

    def __init__(self) -> None:
        self._keys: Array = None
        self._table: Array = None
        self._waiting: list[Array] = []
        self._waits = 0

    @property
    def exact(self) -> bool:
        """Whether no key is ever taken for another."""
        return self._table is None

    def add(self, keys: Array) -> None:
        """Add keys, in any order and as often as they come."""
        self._waiting.append(keys)
        self._waits += len(keys)
        if self._waits >= max(WAITING, 0 if self._keys is None else len(self._keys)):
            self._settle()

    def has(self, keys: Array) -> Array:
        """Return which of these keys were added: a boolean each."""
        import numpy as np

        self._settle()
        if self._table is not None:
            found = np.ones(len(keys), dtype=bool)
            for place, bit in _marks(keys):
                found &= (self._table[place] & bit) != 0
            return found
        if self._keys is None or not len(self._keys):
            return np.zeros(len(keys), dtype=bool)
        at = np.minimum(self._keys.searchsorted(keys), len(self._keys) - 1)
        return self._keys[at] == keys

    def _settle(self) -> None:
        import numpy as np

        if not self._waiting:
            return
        if self._table is not None:
            self._mark(np.concatenate(self._waiting))
            self._waiting, self._waits = [], 0
            return
        # numpy's `unique` hashes what it gets, which takes ten times as long and several times the memory.
        both = np.concatenate(self._waiting if self._keys is None else [self._keys, *self._waiting])
        self._waiting, self._waits = [], 0
        both.sort()
        self._keys = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
        if len(self._keys) > MOST:
            self._table = np.zeros(TABLE, dtype=np.uint8)
            self._mark(self._keys)
            self._keys = None

    def _mark(self, keys: Array) -> None:
        for at in range(0, len(keys), WAITING):
            for marks in _marks(keys[at : at + WAITING]):
                place, bit = marks
                while len(place):  # of keys that share a byte, one is marked at a time; there are few
                    self._table[place] |= bit
                    left = (self._table[place] & bit) == 0
                    place, bit = place[left], bit[left]


def _marks(keys: Array) -> Iterator[tuple[Array, Array]]:
    """Yield where the marks of each key are: a byte of the table, and a bit of it."""
    import numpy as np

    for mark in range(MARKS):
        keys = (keys ^ (keys >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15 + 2 * mark)
        place = keys >> np.uint64(64 - 28)  # so many bits has a table of 2 ** 25 bytes
        yield place >> np.uint64(3), np.uint8(1) << (place & np.uint64(7)).astype(np.uint8)
