"""How lines of a large output begin: counted by a hash of what follows the clock, digits made equal.

Memory is a few numbers for each of PLACES, whatever the output prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # of numpy; its own types say little about what is in one

#: Beginnings of lines are compared by two words of eight bytes, hashed into this many places.
PLACES = 1 << 16
#: The number of lines of a block that are looked at.
MOST_BEGINNINGS = 1 << 15
#: Where lines are so short that there are more, newlines are looked for in so many bytes at a time.
PIECE = 1 << 17
#: A beginning is rare if at most RARE lines have it; with more than MANY_RARE rare ones, it means nothing.
RARE, MANY_RARE = 2, 256


class Beginnings:
    """How often lines begin alike, and where first, in blocks that are added in their order. `skip`: how wide the clock is."""

    def __init__(self, skip: int) -> None:
        self.lines = 0
        self.first = np.full(PLACES, np.iinfo(np.int64).max)
        self._skip = skip
        self._piece = 0  # 0: a block as a whole
        self.counts = np.zeros(PLACES, dtype=np.int64)

    def add(self, data: bytes, start: int) -> None:
        """Add the lines of a block that stands behind all that were added before."""
        whole = len(data) - 16 - self._skip
        if whole <= 0:
            return
        starts = _newlines(data, self._piece or len(data))
        self._piece = PIECE if len(starts) >= MOST_BEGINNINGS else 0
        starts += 1
        starts = starts[: min(int(starts.searchsorted(whole)), MOST_BEGINNINGS)]
        every = np.ndarray((whole,), dtype="V16", buffer=data, offset=self._skip, strides=(1,))
        words = _without_digits(every[starts].view("<u8"))
        total = _mix(words[::2])
        total ^= words[1::2]
        total = _mix(total)
        total &= np.uint64(PLACES - 1)
        places = total.view(np.int64)
        self.lines += len(places)
        new = (self.counts[places] == 0).nonzero()[0][::-1]
        self.first[places[new]] = starts[new] + start  # the first of each stays
        np.add.at(self.counts, places, 1)


def _newlines(data: bytes, piece: int) -> Array:
    """Return where newlines are, so many bytes at a time until there are enough of them."""
    array, count = np.frombuffer(data, dtype=np.uint8), 0
    found = []
    for start in range(0, len(array), piece):
        some = _newlines_of(array[start : start + piece])
        some += start
        found.append(some)
        count += len(some)
        if count >= MOST_BEGINNINGS:
            break
    return np.concatenate(found)


def _newlines_of(array: Array) -> Array:
    """Return where newlines are: eight bytes at a time first, of which few have one."""
    found = array == 10
    whole = len(found) & ~7
    eights = found[:whole].view(np.uint64)
    some = (eights != 0).nonzero()[0]
    places = eights[some].view(bool).nonzero()[0]
    rest = whole + found[whole:].nonzero()[0]
    return np.concatenate(((some[places >> 3] << 3) + (places & 7), rest))


def rare(parts: Sequence[Beginnings]) -> list[int]:
    """Return where lines begin that begin like no others, as long as these are few."""
    counts = sum(part.counts for part in parts)
    first = np.minimum.reduce([part.first for part in parts])
    lines = sum(part.lines for part in parts)
    few = np.sort(first[(counts > 0) & (counts <= RARE)])
    return few.tolist() if 0 < len(few) <= MANY_RARE and lines > 16 * len(few) else []


def _mix(words: Array) -> Array:
    mixed = words * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _without_digits(words: Array) -> Array:
    """Replace bytes from 0x30 to 0x3f by 0x30, eight bytes at a time."""
    other = words ^ np.uint64(0x3030303030303030)
    other >>= np.uint64(4)
    other &= np.uint64(0x0F0F0F0F0F0F0F0F)  # 0 for those bytes
    other += np.uint64(0x0F0F0F0F0F0F0F0F)
    other &= np.uint64(0x1010101010101010)  # a bit for each of the others,
    other -= other >> np.uint64(4)  # which becomes four: their lower halves stay
    other |= np.uint64(0xF0F0F0F0F0F0F0F0)
    other &= words
    return other
