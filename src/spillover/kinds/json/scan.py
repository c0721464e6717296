"""Where the values of JSON stand: brackets and commas outside of strings, by depth, found in blocks at memory speed."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    Flags = np.ndarray[Any, np.dtype[np.bool]]
    Depths = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
    Ints = np.ndarray[Any, np.dtype[np.int32]]
    Longs = np.ndarray[Any, np.dtype[np.int64]]
    Words = np.ndarray[Any, np.dtype[np.uint64]]

#: A block's arrays stay in the cache, and all of them together small.
BLOCK = 1 << 20
#: Brackets below this depth are ignored: what they hold is shown whole or not at all.
DEPTH = 32
#: At most this many brackets and commas are remembered, 4 bytes each; the deepest are forgotten first.
MOST = 24 << 20


class Marks(Struct, frozen=True):
    """Opening brackets, commas and closing brackets: for each depth from 1, where they are, in order."""

    levels: tuple[Ints, ...]

    def inside(self, depth: int, start: int, end: int) -> Ints | None:
        """Return those of the container from `start` to `end` at this depth, both brackets included; None where forgotten."""
        if depth > len(self.levels):
            return None
        level = self.levels[depth - 1]
        # The same type, or all of it would be converted first.
        first, last = level.searchsorted(level.dtype.type(start)), level.searchsorted(level.dtype.type(end))
        return level[first:last]


def marks(data: bytes) -> Marks:
    """Return the marks of one JSON value, known to be valid."""
    import numpy as np

    levels: list[bytearray] = []  # it grows in place, where pieces of an array would be held twice
    at = quoted = depth = 0
    deepest = DEPTH
    while at < len(data):
        block = np.frombuffer(data, np.uint8, min(BLOCK, len(data) - at), at)
        where, quoted = outside(block, quoted)
        level, depth = depths(block[where], depth)
        places = where.astype(np.int32)
        places += np.int32(at)
        top = min(int(level.max()), deepest) if len(level) else 0
        levels += [bytearray() for _ in range(len(levels), top)]
        for number in range(int(level.min()) if top else 1, top + 1):
            levels[number - 1] += places[level == number].data
        while len(levels) > 1 and sum(map(len, levels)) > MOST * places.itemsize:
            levels.pop()
            deepest = len(levels)
        at += len(block) + odd_tail(data, at, at + len(block))
    return Marks(tuple(np.frombuffer(level, np.int32) for level in levels))


def outside(block: Bytes, quoted: int) -> tuple[Longs, int]:
    """Return where brackets and commas outside of strings are, in a block that begins in a string or not; and how it ends."""
    import numpy as np

    quotes = block == 0x22
    escapes = np.flatnonzero(block == 0x5C)
    if len(escapes):
        quotes[_escaped(escapes, len(block))] = False
    folded = block | 0x20
    seen = (block == 0x2C) | (folded == 0x7B) | (folded == 0x7D)
    strings, quoted = _between(quotes, quoted)
    words = _words(seen)
    words &= ~strings
    found: Longs = np.flatnonzero(np.unpackbits(words.view(np.uint8), count=len(block), bitorder="little").view(bool))
    return found, quoted


def _escaped(escapes: Longs, size: int) -> Longs:
    """Return what stands behind an odd number of backslashes."""
    import numpy as np

    last = np.flatnonzero(np.diff(escapes, append=size + 2) != 1)  # of each run of them
    length = np.diff(last, prepend=-1)
    behind: Longs = escapes[last[length & 1 == 1]] + 1
    return behind[:-1] if len(behind) and behind[-1] == size else behind


def _words(flags: Flags) -> Words:
    """Pack flags into bits, the first one lowest."""
    import numpy as np

    packed = np.packbits(flags, bitorder="little")
    words = np.zeros((len(packed) + 7) // 8, np.uint64)
    words.view(np.uint8)[: len(packed)] = packed
    return words


def _between(quotes: Flags, quoted: int) -> tuple[Words, int]:
    """Set the bits from an opening quote up to its closing one."""
    import numpy as np

    words = _words(quotes)
    for shift in (1, 2, 4, 8, 16, 32):  # each bit becomes the parity of all up to it
        words ^= words << np.uint64(shift)
    odd = (words >> np.uint64(63)).astype(np.uint8)
    carried = np.bitwise_xor.accumulate(odd) ^ np.uint8(quoted)
    words[1:][carried[:-1] == 1] ^= np.uint64(0xFFFFFFFFFFFFFFFF)
    if quoted:
        words[0] ^= np.uint64(0xFFFFFFFFFFFFFFFF)
    return words, int(carried[-1])


def depths(kinds: Bytes, depth: int) -> tuple[Depths, int]:
    """Return the depth of the container that each mark belongs to, where `depth` is before the first; and behind the last."""
    import numpy as np

    folded = kinds | 0x20
    closes = (folded == 0x7D).view(np.int8)
    step = (folded == 0x7B).view(np.int8) - closes
    after: Depths = np.cumsum(step, dtype=np.int16)  # what is valid is never so deep that this overflows
    after += after.dtype.type(depth)
    return after + closes, int(after[-1]) if len(after) else depth


def odd_tail(data: bytes, start: int, end: int) -> int:
    """Return 1 if the byte behind these is escaped by the last of them."""
    if data[end - 1] != 0x5C:
        return 0
    return (end - start - len(data[start:end].rstrip(b"\\"))) & 1
