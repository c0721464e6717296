"""What lines look like and what they cost: sums and hashes of their bytes."""

from __future__ import annotations

from functools import cache

from spillover.tokens import ASKED, LEFT_OPEN, PER_BIT, PER_BYTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

_NEWLINE = 0x0A
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


def costs(view: bytes) -> Array:
    """Return the tokens of each line, as the estimate counts them. The view ends with a newline."""
    import numpy as np

    opens = np.frombuffer(view.translate(LEFT_OPEN), dtype=np.uint8)
    asks = np.frombuffer(view.translate(ASKED), dtype=np.uint8)
    bits = np.zeros(len(view), dtype=np.uint8)
    bits[1:] = np.bitwise_count(opens[:-1] & asks[1:])
    ends = (np.frombuffer(view, dtype=np.uint8) == _NEWLINE).nonzero()[0] + 1
    starts = np.concatenate(([0], ends[:-1]))
    return np.maximum(1.0, PER_BIT * np.add.reduceat(bits, starts, dtype=np.int32) + PER_BYTE * (ends - starts))


@cache
def _salt() -> Array:
    """Return a number for each byte; none for blanks."""
    import numpy as np

    salt = np.arange(1, 257, dtype=np.uint64) * np.uint64(_SALT)
    salt ^= salt >> np.uint64(29)
    salt *= np.uint64(_MIX)
    salt[[9, 32, 95]] = 0  # columns are padded, and so are titles: `____ test_a[9] ____`
    return salt


def shapes(view: bytes, starts: Array, ends: Array) -> tuple[Array, ...]:
    """Return four numbers for each line: of its template, of its subject, of how it begins; and its indentation.

    The template is a sum over the bytes of a line without the words that hold digits, the subject one over its long words.
    """
    import numpy as np

    data = np.frombuffer(view, dtype=np.uint8)
    upto = _upto(_salt()[data], np.uint64)
    flags = np.frombuffer(view.translate(_FLAGS), dtype=np.uint8)
    word = (flags & _WORD).view(bool)
    changes = np.empty(len(word), dtype=bool)
    changes[0] = word[0]
    np.not_equal(word[1:], word[:-1], out=changes[1:])
    edges = changes.nonzero()[0]  # a view ends with a newline, so words come in pairs of edges
    begin, end = edges[::2], edges[1::2]
    sums = upto[end] - upto[begin]
    digits = _upto(flags & _DIGIT, np.int32)
    wild = digits[end] > digits[begin]
    # A word with a digit in it counts as one, whatever it says, so that a line of three numbers is not a line of one.
    instead = _upto(np.where(wild, np.uint64(_SALT) - sums, np.uint64(0)), np.uint64)
    first, behind = np.searchsorted(begin, starts), np.searchsorted(begin, ends)
    template = upto[ends] - upto[starts] + instead[behind] - instead[first]
    mixed = sums * np.uint64(_MIX)
    names = np.where((end - begin >= LONG_WORD) & ~wild, mixed ^ (mixed >> np.uint64(31)), np.uint64(0))
    named = _upto(names, np.uint64)
    indent = np.zeros(len(starts), dtype=np.int64)
    rows = (flags[starts] == _SPACE).nonzero()[0]
    if len(rows):  # only few lines begin with a blank
        filled = (flags != _SPACE).nonzero()[0]
        indent[rows] = np.minimum(filled[filled.searchsorted(starts[rows])] - starts[rows], 64)
    return template, named[behind] - named[first], _prefixes(data, starts, ends), indent


def _upto(values: Array, kind: Any) -> Array:
    """Return sums of all before each place, and of all."""
    import numpy as np

    out = np.zeros(len(values) + 1, dtype=kind)
    np.cumsum(values, dtype=kind, out=out[1:])
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
