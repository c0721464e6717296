"""Pieces of an output as lines, in arrays: what each looks like, what it would cost, how it repeats itself."""

from __future__ import annotations

import re

from spillover.data import dataclass
from spillover.select.classes import classes
from spillover.tokens import PER_BIT, PER_BYTE, tables
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

# What a logger puts before its message: clock, level, thread. The message is what tells one line from another.
STAMP = re.compile(
    rb"^[ \t]*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?)?"
    rb"[ \t]*(?:(?:\[?(?:INFO|DEBUG|TRACE|info|debug)\]?)[ \t]*[-:|]?[ \t]*)?",
    re.MULTILINE,
)
_STAMPED = re.compile(rb"\d\d:\d\d:\d\d|INFO|DEBUG|TRACE|info|debug")
#: A line is looked at up to here; what decides stands before that.
WIDTH = 2_000
_WORD = bytes(c in b"_" or chr(c).isalnum() or c >= 0x80 for c in range(256))
_DIGIT = bytes(48 <= c < 58 for c in range(256))
_SPACE = bytes(c in b" \t" for c in range(256))
#: Any numbers will do, the same every time: bytes are told apart by them.
_SALT, _MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
PREFIX = 12
#: One line in so many is few.
FEW = 100
#: A word of so many letters is likely a name.
LONG_WORD = 6


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of an output, each in one place of every array."""

    first: Array  # where each begins in the output, in bytes
    last: Array  # where it ends, its newline included
    tokens: Array  # about how many it would cost
    classes: Array  # a row of booleans each, see classes.NAMES
    template: Array  # the same for lines that differ in words with digits only
    prefix: Array  # the same for messages that begin alike
    exact: Array  # the same for equal messages
    subject: Array  # the same for lines about the same things: their long words, in any order
    indent: Array
    width: Array
    number: Array  # which line of the output it is, from 1

    def __len__(self) -> int:
        return len(self.first)


def lines_of(document: Document, pieces: Sequence[tuple[int, int]]) -> Lines:
    """The lines of some pieces of an output, which begin and end at line ends."""
    import numpy as np

    raw = [document.blob.read(start, end) for start, end in pieces]
    firsts, lasts, numbers = [], [], []
    for (start, _), data in zip(pieces, raw, strict=True):
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1
        if len(data) and (not len(ends) or ends[-1] < len(data)):
            ends = np.append(ends, len(data))
        lasts.append(start + ends)
        firsts.append(start + np.concatenate(([0], ends[:-1])))
        numbers.append(document.number(start) + np.arange(len(ends)))
    view = b"".join(_viewed(data) for data in raw)
    return _measured(view, np.concatenate(firsts), np.concatenate(lasts), np.concatenate(numbers))


def rare_of(lines: Lines) -> list[int]:
    """Where lines begin that begin like no others, if the others are alike: few of many."""
    import numpy as np

    _, first, counts = np.unique(lines.prefix, return_index=True, return_counts=True)
    rare = np.sort(first[counts == 1])
    inner = rare[(rare > 0) & (rare < len(lines) - 1)]  # at an edge, a line may be the rest of one
    rare = inner[(lines.first[inner] == lines.last[inner - 1]) & (lines.last[inner] == lines.first[inner + 1])]
    few = 0 < len(rare) <= len(lines) // FEW
    return lines.first[rare].tolist() if few else []


def _viewed(data: bytes) -> bytes:
    view = clean(data).encode("utf-8", "replace")
    return view if data.endswith(b"\n") or not data else view + b"\n"


def _measured(view: bytes, first: Array, last: Array, number: Array) -> Lines:
    import numpy as np

    tokens = _costs(view)
    if _STAMPED.search(view[: 1 << 14]):
        view = STAMP.sub(b"", view)
    data = np.frombuffer(view, dtype=np.uint8)
    ends = np.flatnonzero(data == 10)
    starts = np.concatenate(([0], ends[:-1] + 1))
    template, subject, indent = _shapes(view, data, starts, ends)
    return Lines(
        first=first,
        last=last,
        tokens=tokens,
        classes=classes(view, starts),
        template=template,
        prefix=_prefixes(data, starts, ends),
        exact=np.array([hash(line) for line in view.split(b"\n")[:-1]], dtype=np.int64),  # only ever compared
        subject=subject,
        indent=indent,
        width=ends - starts,
        number=number,
    )


def _costs(view: bytes) -> Array:
    """Tokens of each line, as the estimate has it."""
    import numpy as np

    left_open, asked = tables()
    opens = np.frombuffer(view.translate(left_open), dtype=np.uint8)
    asks = np.frombuffer(view.translate(asked), dtype=np.uint8)
    bits = np.empty(len(view), dtype=np.uint8)
    bits[0] = 0
    np.bitwise_count(opens[:-1] & asks[1:], out=bits[1:])
    ends = np.flatnonzero(np.frombuffer(view, dtype=np.uint8) == 10) + 1
    upto = np.concatenate(([0], np.cumsum(bits, dtype=np.int64)[ends - 1]))
    sizes = np.diff(np.concatenate(([0], ends)))
    return np.maximum(1.0, PER_BIT * np.diff(upto) + PER_BYTE * sizes)


def _shapes(view: bytes, data: Array, starts: Array, ends: Array) -> tuple[Array, Array, Array]:
    """Sums over the bytes of each line: without the words that hold digits, and of long words only; and its indentation."""
    import numpy as np

    salt = np.arange(1, 257, dtype=np.uint64) * np.uint64(_SALT)
    salt ^= salt >> np.uint64(29)
    salt *= np.uint64(_MIX)
    salt[[9, 32]] = 0  # columns are padded
    upto = _upto(salt[data])
    word = np.frombuffer(view.translate(_WORD), dtype=np.int8)
    edges = np.flatnonzero(
        np.diff(word, prepend=np.int8(0))
    )  # a view ends with a newline, so words come in pairs of edges
    begin, end = edges[::2], edges[1::2]
    sums = upto[end] - upto[begin]
    digits = _upto(np.frombuffer(view.translate(_DIGIT), dtype=np.uint8), np.int32)
    wild = digits[end] > digits[begin]
    # A word with a digit in it counts as one, whatever it says, so that a line of three numbers is not a line of one.
    instead = _upto(np.where(wild, np.uint64(_SALT) - sums, np.uint64(0)))
    first, behind = np.searchsorted(begin, starts), np.searchsorted(begin, ends)
    template = upto[ends] - upto[starts] + instead[behind] - instead[first]
    mixed = sums * np.uint64(_MIX)
    named = _upto(np.where((end - begin >= LONG_WORD) & ~wild, mixed ^ (mixed >> np.uint64(31)), np.uint64(0)))
    filled = np.flatnonzero(np.frombuffer(view.translate(_SPACE), dtype=np.uint8) == 0)
    indent = np.minimum(filled[np.searchsorted(filled, starts)] - starts, 64)
    return template, named[behind] - named[first], indent


def _upto(values: Array, kind: Any = None) -> Array:
    """Sums of all before each place, and of all."""
    import numpy as np

    out = np.empty(len(values) + 1, dtype=kind or values.dtype)
    out[0] = 0
    np.cumsum(values, dtype=out.dtype, out=out[1:])
    return out


def _prefixes(data: Array, starts: Array, ends: Array) -> Array:
    """How each message begins: some bytes of it, digits aside."""
    import numpy as np

    padded = np.concatenate((data, np.full(PREFIX, 10, dtype=np.uint8)))
    total = np.zeros(len(starts), dtype=np.uint64)
    alive = np.ones(len(starts), dtype=bool)
    for column in range(PREFIX):
        byte = padded[starts + column]
        alive &= starts + column < ends
        byte = np.where((byte >= 48) & (byte < 58), 48, byte)
        total = total * np.uint64(0x100000001B3) + np.where(alive, byte, 0).astype(np.uint64) + np.uint64(1)
    return total
