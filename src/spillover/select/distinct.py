"""Lines that say the same but for digits are looked at once: what is distinct among them, and what each line is in.

No class asks which digit there is, but for one: whether a number begins with a zero (`exited with code 0`). So digits can be
made equal before lines are compared. Most of what a line looks like can be said of a distinct line, and holds for each line
that is equal to it.
"""

from __future__ import annotations

from functools import cache
from itertools import count

from spillover.select.arrays import steps
from spillover.select.classes import PLACES, classify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

_ZERO, _ONE, _NEWLINE = b"01\n"
_ONES = bytes(_ONE if chr(c) in "123456789" else c for c in range(256))
#: A line that stands between two lines which have nothing to do with each other: no pattern reaches it, or over it.
_BETWEEN = b" \0\n"
BARRIER = b"\n" + _BETWEEN
#: What the first or the last byte of a line is, one bit each.
_BLANK, _SIGN, _OPEN, _DOT, _CAPITAL = 1, 2, 4, 8, 16
_EDGES = bytes(
    _BLANK * (c in b" \t\n\v\f\r")
    | _SIGN * (c in b"!:=")
    | _OPEN * (c in b":=")
    | _DOT * (c in b".")
    | _CAPITAL * (c in b"FE")
    for c in range(256)
)
#: Classes with a pattern that ends in `\s*$`: blank lines behind such a line may be in them, too.
_TRAILING = ("verdict", "title", "caret", "code")


def same_digits(view: bytes) -> bytes:
    """Return the same with every digit a one, but for a zero that a number begins with."""
    import numpy as np

    ones = bytearray(view.translate(_ONES))
    data = np.frombuffer(ones, dtype=np.uint8)
    zeros = (data == _ZERO).nonzero()[0]
    before = data[zeros - 1]  # a view ends with a newline, which stands before the first byte as well
    data[zeros[(before == _ZERO) | (before == _ONE)]] = _ONE
    return bytes(ones)


def number(rows: Sequence[bytes]) -> tuple[list[bytes], Array]:
    """Return the distinct ones, and for each row which of them it is."""
    import numpy as np

    numbers = dict(zip(dict.fromkeys(rows), count()))
    return list(numbers), np.fromiter(map(numbers.__getitem__, rows), np.intp, len(rows))


def classify_each(text: bytes, starts: Array, ends: Array, which: Array) -> Array:
    r"""Return which classes each line is in, given distinct messages, which are the lines of `text` with barriers between them.

    Some patterns reach over a line end, as `\s` is a newline, too. Lines that one may reach into are looked at in their place.
    """
    table, reached = _spread(classify(text, starts), text, starts, ends, which)
    if reached is not None:
        _look_in_place(table, text, starts, ends, which, reached)
    return table.T


def _spread(alone: Array, text: bytes, starts: Array, ends: Array, which: Array) -> tuple[Array, Array | None]:
    """Return a row for each class, given a column of them, and which lines a pattern may reach from the line before, if any."""
    import numpy as np

    trailing = [PLACES[name] for name in _TRAILING]
    data, edges = np.frombuffer(text, dtype=np.uint8), _edges()
    head, tail = edges[data[starts]], edges[data[ends - 1]]  # of an empty line, a newline
    blank = (head & tail & _BLANK).view(bool)
    goes_on = alone[:, trailing].any(axis=1) | blank
    before, line = which[:-1], which[1:]
    first, last = head[line], tail[before]
    reached = np.zeros(len(which), dtype=bool)
    reached[1:] = (
        ((first & _SIGN) != 0)  # `error\s?:`, `\w\s?=`
        | ((last & _OPEN != 0) & (first & _BLANK == 0))  # `\w:\s?\S+$`
        | ((last & _DOT != 0) & (first & _CAPITAL != 0))  # `\.\.\.\s?FAIL`
        | (blank[line] & goes_on[before])
    )
    return alone.T.take(which, axis=1), reached if reached.any() else None


def _look_in_place(table: Array, text: bytes, starts: Array, ends: Array, which: Array, reached: Array) -> None:
    """Add the classes of lines that a pattern may have reached from the line before, and of that line."""
    import numpy as np

    rows = (reached | np.concatenate((reached[1:], [False]))).nonzero()[0]
    lines = [
        text[start:end] for start, end in zip(starts[which[rows]].tolist(), ends[which[rows]].tolist(), strict=True)
    ]
    # A group begins where none reaches. Equal ones are looked at once, but for the last, which may end the view.
    cuts = (~reached[rows]).nonzero()[0]
    sizes = steps(cuts, after=[len(rows)])
    *groups, last = [
        b"\n".join(lines[cut : cut + size]) for cut, size in zip(cuts.tolist(), sizes.tolist(), strict=True)
    ]
    groups, place = number(groups)
    place, groups = np.concatenate((place, [len(groups)])), [*groups, last]
    # A barrier stands before each, and behind the last, if there are lines behind it.
    together = _BETWEEN + BARRIER.join(groups) + (b"\n" if rows[-1] == len(which) - 1 else BARRIER)
    counts = np.fromiter((group.count(b"\n") + 1 for group in groups), np.intp, len(groups))
    upto = counts.cumsum()
    newlines = (np.frombuffer(together, dtype=np.uint8) == _NEWLINE).nonzero()[0]
    begins = (
        newlines[np.arange(upto[-1]) + np.arange(len(groups)).repeat(counts)] + 1
    )  # behind a barrier for each group
    column = ((upto - counts)[place] - cuts).repeat(sizes) + np.arange(len(rows))
    table[:, rows] |= classify(together, begins).T[:, column]


@cache
def _edges() -> Array:
    import numpy as np

    return np.frombuffer(_EDGES, dtype=np.uint8)
