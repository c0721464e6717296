"""What distinct lines look like and what they cost: sums and hashes of their bytes."""

from __future__ import annotations

from functools import cache

from spillover.select.arrays import steps
from spillover.select.scratch import borrow
from spillover.tokens import ASKED, LEFT_OPEN, PER_BIT, PER_BYTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.select.scratch import Scratch

    Array = Any  # of numpy; its own types say little about what is in one

_NEWLINE = 0x0A
#: So many bytes at a time are summed up.
STRETCH = 1 << 16
#: What a byte is, one bit each: a part of a word, a digit, a blank.
_WORD, _DIGIT, _SPACE = 1, 2, 4
_FLAGS = bytes(
    _WORD * (c in b"_" or chr(c).isalnum() or c >= 0x80) | _DIGIT * (48 <= c < 58) | _SPACE * (c in b" \t")
    for c in range(256)
)
#: Any odd numbers would do, as long as they are always the same: hashes are made with them.
_SALT, _MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
_POWER = 0x100000001B3
_DIGITS = b"0123456789"
PREFIX = 12
#: A word of this many letters is likely a name.
LONG_WORD = 6


def costs(rows: bytes, row_of: Array) -> Array:
    """Return tokens of each line, as the estimate has it, given distinct rows with a newline behind each.

    What a digit costs does not depend on which it is.
    """
    import numpy as np

    text = b"\n" + rows  # a line is counted behind the end of another
    opens = np.frombuffer(text.translate(LEFT_OPEN), dtype=np.uint8)
    asks = np.frombuffer(text.translate(ASKED), dtype=np.uint8)
    bits = np.bitwise_count(opens[:-1] & asks[1:])
    ends = (np.frombuffer(text, dtype=np.uint8) == _NEWLINE).nonzero()[0]
    sums = np.add.reduceat(bits, ends[:-1], dtype=np.int32)
    widths = steps(ends)
    tokens = np.maximum(1.0, PER_BIT * sums + PER_BYTE * widths)[row_of]
    # But for the first, which is behind none.
    tokens[0] = max(1.0, PER_BIT * int(sums[row_of[0]] - bits[ends[row_of[0]]]) + PER_BYTE * int(widths[row_of[0]]))
    return tokens


def shapes(text: bytes, starts: Array, ends: Array) -> tuple[Array, ...]:
    """Return four numbers for each line: of its template, of its subject, of how it begins; and its indentation."""
    import numpy as np

    salt = _salt()
    template, subject, indent = _shapes_of_all(text, starts, ends, salt)
    return template, subject, _prefixes(np.frombuffer(text, dtype=np.uint8), starts, ends), indent


def _shapes_of_all(view: bytes, starts: Array, ends: Array, salt: Array) -> tuple[Array, ...]:
    """Return the shapes of all lines, some at a time: what is in hand then stays in the processor's cache."""
    import numpy as np

    cuts = np.searchsorted(ends, np.arange(STRETCH, len(view), STRETCH), side="right")
    parts, before = [], 0
    for upto in (*cuts.tolist(), len(starts)):
        if upto > before:
            at = int(starts[before])
            part = view[at : int(ends[upto - 1]) + 1]
            with borrow() as scratch:
                parts.append(_shapes(part, starts[before:upto] - at, ends[before:upto] - at, salt, scratch))
            before = upto
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


@cache
def _salt() -> Array:
    """Return a number for each byte; none for blanks."""
    import numpy as np

    salt = np.arange(1, 257, dtype=np.uint64) * np.uint64(_SALT)
    salt ^= salt >> np.uint64(29)
    salt *= np.uint64(_MIX)
    salt[[9, 32, 95]] = 0  # columns are padded, and so are titles: `____ test_a[9] ____`
    return salt


def _shapes(view: bytes, starts: Array, ends: Array, salt: Array, scratch: Scratch) -> tuple[Array, Array, Array]:
    """Return sums over the bytes of each line: without the words that hold digits, and of long words only; and its indentation."""
    import numpy as np

    salted = scratch.array(len(view), np.uint64)
    salt.take(np.frombuffer(view, dtype=np.uint8), out=salted, mode="clip")  # no byte is outside
    upto = _upto(salted, np.uint64, scratch)
    flags = np.frombuffer(view.translate(_FLAGS), dtype=np.uint8)
    word = (flags & _WORD).view(bool)
    changes = np.empty(len(word), dtype=bool)
    changes[0] = word[0]
    np.not_equal(word[1:], word[:-1], out=changes[1:])
    edges = changes.nonzero()[0]  # a view ends with a newline, so words come in pairs of edges
    begin, end = edges[::2], edges[1::2]
    sums = upto[end] - upto[begin]
    digits = _upto(flags & _DIGIT, np.int32, scratch)
    wild = digits[end] > digits[begin]
    # A word with a digit in it counts as one, whatever it says, so that a line of three numbers is not a line of one.
    instead = _upto(np.where(wild, np.uint64(_SALT) - sums, np.uint64(0)), np.uint64, scratch)
    first, behind = np.searchsorted(begin, starts), np.searchsorted(begin, ends)
    template = upto[ends] - upto[starts] + instead[behind] - instead[first]
    mixed = sums * np.uint64(_MIX)
    names = np.where((end - begin >= LONG_WORD) & ~wild, mixed ^ (mixed >> np.uint64(31)), np.uint64(0))
    named = _upto(names, np.uint64, scratch)
    indent = np.zeros(len(starts), dtype=np.int64)
    rows = (flags[starts] == _SPACE).nonzero()[0]
    if len(rows):  # only few lines begin with a blank
        filled = (flags != _SPACE).nonzero()[0]
        indent[rows] = np.minimum(filled[filled.searchsorted(starts[rows])] - starts[rows], 64)
    return template, named[behind] - named[first], indent


def _upto(values: Array, kind: Any, scratch: Scratch) -> Array:
    """Return sums of all before each place, and of all."""
    import numpy as np

    out = scratch.array(len(values) + 1, kind)
    out[0] = 0
    np.cumsum(values, dtype=out.dtype, out=out[1:])
    return out


def _prefixes(data: Array, starts: Array, ends: Array) -> Array:
    """Return how each message begins: some bytes of it, digits aside, as a hash."""
    import numpy as np

    places = starts[:, None] + np.arange(PREFIX)
    begins = data.take(places, mode="clip")
    begins[(begins >= _DIGITS[0]) & (begins <= _DIGITS[-1])] = _DIGITS[0]
    begins[places >= ends[:, None]] = 0
    return (begins + np.uint64(1)) @ _powers()


@cache
def _powers() -> Array:
    import numpy as np

    return np.uint64(_POWER) ** np.arange(PREFIX - 1, -1, -1, dtype=np.uint64)
