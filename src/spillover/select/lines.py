"""Pieces of an output as lines, in arrays: what each looks like, what it would cost, how it repeats itself."""

from __future__ import annotations

import re
from functools import cache

from spillover.base.data import dataclass
from spillover.select import distinct
from spillover.select.arrays import group, load, number_alike, steps
from spillover.select.classes import DISMISSED, EVIDENCE, PLACES
from spillover.select.families import KEY, templates
from spillover.select.scratch import borrow
from spillover.tokens import ASKED, LEFT_OPEN, PER_BIT, PER_BYTE
from spillover.view.clean import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.scratch import Scratch
    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

# What a logger puts before its message: clock, level, thread. The message is what tells one line from another.
_STAMP = (
    rb"[ \t]*+(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?)?"
    rb"[ \t]*(?:(?:\[?(?:INFO|DEBUG|TRACE|info|debug)\]?)[ \t]*[-:|]?[ \t]*)?"
)
STAMP = re.compile(_STAMP)
#: The message of each line, one behind the other; what is left of a line always matches, so nothing is tried twice.
_MESSAGES = re.compile(_STAMP + rb"([^\n]*+)\n")
_STAMPED = re.compile(rb"\d\d:\d\d:\d\d|INFO|DEBUG|TRACE|info|debug")
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
#: Few means one line in FEW.
FEW = 100
#: A word of this many letters is likely a name.
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
    family: Array  # the same for failures that are alike, see families.py; 0 for lines that are none

    def __len__(self) -> int:
        return len(self.first)

    def of_class(self, name: str) -> Array:
        """Return which lines are in a class: a boolean each."""
        return self.classes[:, PLACES[name]]

    def of_classes(self, names: Sequence[str]) -> Array:
        """Return a column for each of these classes."""
        return self.classes.T[[PLACES[name] for name in names]].T

    @property
    def dismissed(self) -> Array:
        """The lines on which words for failure mean nothing."""
        return self.of_classes(DISMISSED).any(axis=1)


def lines_of(document: Document, pieces: Sequence[tuple[int, int]]) -> Lines:
    """Return the lines of some pieces of an output, which begin and end at line ends."""
    load()
    import numpy as np

    raw = [document.blob.read(start, end) for start, end in pieces]
    firsts, lasts, numbers = [], [], []
    for (start, _), data in zip(pieces, raw, strict=True):
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1
        if len(data) and (not len(ends) or ends[-1] < len(data)):
            ends = np.concatenate((ends, [len(data)]))
        lasts.append(start + ends)
        firsts.append(start + np.concatenate(([0], ends[:-1])))
        numbers.append(document.number(start) + np.arange(len(ends)))
    view = b"".join(_view(data) for data in raw)
    return _measure(view, np.concatenate(firsts), np.concatenate(lasts), np.concatenate(numbers))


def rare_of(lines: Lines) -> list[int]:
    """Return where lines begin that begin like no others, if the others are alike: few of many."""
    import numpy as np

    order, starts, sizes = group(lines.prefix)
    rare = np.sort(order[starts[sizes == 1]])
    inner = rare[(rare > 0) & (rare < len(lines) - 1)]  # at an edge, a line may be the rest of one
    rare = inner[(lines.first[inner] == lines.last[inner - 1]) & (lines.last[inner] == lines.first[inner + 1])]
    few = 0 < len(rare) <= len(lines) // FEW
    return lines.first[rare].tolist() if few else []


def _view(data: bytes) -> bytes:
    view = flat(data).encode("utf-8", "replace")
    return view if data.endswith(b"\n") or not data else view + b"\n"


def _measure(view: bytes, first: Array, last: Array, number: Array) -> Lines:
    """Return all that is known of the lines of a view. What is alike but for digits is looked at once (`distinct`)."""
    import numpy as np

    rows, row_of = distinct.number(distinct.same_digits(view)[:-1].split(b"\n"))
    stamp: Array | int = 0  # how long it is, in bytes
    if _STAMPED.search(view[: 1 << 14]):
        messages = _MESSAGES.findall(b"\n".join(rows) + b"\n")
        stamps = np.fromiter(map(len, rows), np.intp, len(rows)) - np.fromiter(map(len, messages), np.intp, len(rows))
        messages, message_of = distinct.number(messages)
        which, stamp = message_of[row_of], stamps[row_of]
    else:
        messages, which = rows, row_of
    text = distinct.BARRIER.join(messages) + b"\n"
    data = np.frombuffer(text, dtype=np.uint8)
    ends = (data == _NEWLINE).nonzero()[0][::2]
    starts = np.concatenate(([0], ends[:-1] + len(distinct.BARRIER)))
    template, subject, indent = _shapes_of_all(text, starts, ends)
    classes = distinct.classify_each(messages, text, starts, ends, which)
    return Lines(
        first=first,
        last=last,
        tokens=_costs(rows, row_of),
        classes=classes,
        template=number_alike(template)[which],
        prefix=number_alike(_prefixes(data, starts, ends))[which],
        exact=_equal(view, stamp, data, starts, which),
        subject=number_alike(subject)[which],
        indent=indent[which],
        width=(ends - starts)[which],
        number=number,
        family=_families(messages, which, classes),
    )


def _equal(view: bytes, stamp: Array | int, data: Array, starts: Array, which: Array) -> Array:
    """Return a number for each line, the same for equal messages, which stand behind a stamp; only ever compared.

    Without digits, messages that are alike are equal. Only where several have some do the bytes have to be looked at.
    """
    import numpy as np

    digits = np.logical_or.reduceat((data >= _DIGITS[0]) & (data <= _DIGITS[-1]), starts)
    unsure = (digits & (np.bincount(which, minlength=len(starts)) > 1))[which].nonzero()[0]
    ends = (np.frombuffer(view, dtype=np.uint8) == _NEWLINE).nonzero()[0]
    begins = np.concatenate(([0], ends[:-1] + 1)) + stamp
    numbers = -1 - which.astype(
        np.int64
    )  # below 0, as they are compared with the numbers of templates and subjects, too
    numbers[unsure] = [
        hash(view[start:end]) for start, end in zip(begins[unsure].tolist(), ends[unsure].tolist(), strict=True)
    ]
    return numbers


def _families(messages: Sequence[bytes], which: Array, classes: Array) -> Array:
    """Return for each line that says that something failed what it has in common with others that say the same."""
    import numpy as np

    said = classes.T[[PLACES[name] for name in EVIDENCE]].any(axis=0)
    said &= ~classes.T[[PLACES[name] for name in DISMISSED]].any(axis=0)
    rows = said.nonzero()[0]
    wanted = [place for place in dict.fromkeys(which[rows].tolist()) if messages[place]]
    keys = np.zeros(len(messages), dtype=np.int64)
    # Only ever compared.
    keys[wanted] = [
        hash(key[:KEY].strip()) or 1 for key in templates(b"".join([messages[place] + b"\n" for place in wanted]))
    ]
    family = np.zeros(len(which), dtype=np.int64)
    family[rows] = keys[which[rows]]
    return family


def _costs(rows: Sequence[bytes], row_of: Array) -> Array:
    """Return tokens of each line, as the estimate has it; what a digit costs does not depend on which it is."""
    import numpy as np

    text = b"\n".join((b"", *rows, b""))  # a line is counted behind the end of another
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


def _shapes_of_all(view: bytes, starts: Array, ends: Array) -> tuple[Array, ...]:
    """Return the shapes of all lines, some at a time: what is in hand then stays in the processor's cache."""
    import numpy as np

    salt = _salt()
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
