"""Pieces of an output as lines, in arrays: what each looks like, what it would cost, how it repeats itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from spillover.document.clean import flatten
from spillover.document.document import Document
from spillover.kinds.log.classes import DISMISSED, EVIDENCE, PLACES, Array, classify
from spillover.kinds.pack import group, steps
from spillover.tokens import MASKS_AFTER, MASKS_BEFORE, PER_BIT, PER_BYTE

# What a logger puts before its message: clock, level, thread. The message is what tells one line from another.
_STAMP = (
    rb"[ \t]*+(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
    rb"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?)?"
    rb"[ \t]*(?:(?:\[?(?:INFO|DEBUG|TRACE|info|debug)\]?)[ \t]*[-:|]?[ \t]*)?"
)
STAMP = re.compile(_STAMP)
#: The message of each line, one behind the other; what is left of a line always matches, so nothing is tried twice.
_MESSAGES = re.compile(_STAMP + rb"([^\n]*+)\n")
_CLOCK = re.compile(rb"\d\d:\d\d:\d\d")
_LEVELS = (b"INFO", b"DEBUG", b"TRACE", b"info", b"debug")
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
_SALTS = np.arange(1, 257, dtype=np.uint64) * np.uint64(_SALT)
_SALTS = (_SALTS ^ (_SALTS >> np.uint64(29))) * np.uint64(_MIX)
_SALTS[list(b"\t _")] = 0  # columns are padded, and so are titles: `____ test_a[9] ____`
_PREFIX = 12
_POWERS = np.uint64(_POWER) ** np.arange(_PREFIX - 1, -1, -1, dtype=np.uint64)
#: Families differ in this many bytes of what their lines have in common. Larger: more families, each smaller.
FAMILY_BYTES = 200
#: The fewest lines or blocks of a run, and the most lines of a block. Larger: blocks are recognised that are longer,
#: more slowly.
SHORTEST_RUN, LONGEST_BLOCK = 4, 16
#: Names, places and numbers are written with these; one with a digit, a slash or two colons in it, behind a quote, or
#: cut off by dots, tells lines apart that are alike. Such a name is replaced by a byte that no view has.
_NAME = bytes(c < 0x80 and (chr(c).isalnum() or chr(c) in "_/.:@+~-\\%") for c in range(256))
_NAME_MARKS = bytes(c < 0x80 and (chr(c).isdigit() or chr(c) in "/\\") for c in range(256))
_QUOTES = (0x27, 0x60, 0x98)  # the last one ends an opening quote in UTF-8
_COLON, _DOT = b":."
_ANY = 1
#: A word of this many letters is likely a name.
LONG_WORD = 6
#: Bytes that show whether lines begin with a clock or a level.
SAMPLE_BYTES = 1 << 14
#: Lines that are like no other are rare if there is at most one in this many. Larger: fewer count as rare.
LINES_PER_RARE = 100


class Lines(Struct, frozen=True):
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
    family: Array  # the same for failures that are alike, see `templates`; 0 for lines that are none

    def __len__(self) -> int:
        return len(self.first)

    def of_class(self, name: str) -> Array:
        """Return which lines are in a class: a boolean each."""
        return self.classes[:, PLACES[name]]

    def of_classes(self, names: Sequence[str]) -> Array:
        """Return a column for each of these classes."""
        return self.classes.T[[PLACES[name] for name in names]].T

    def runs(self) -> list[tuple[int, int]]:
        """Return the rows between which nothing of the output lies: where each run begins, and where it ends."""
        edges = [0, *(np.flatnonzero(self.first[1:] != self.last[:-1]) + 1).tolist(), len(self)]
        return [(begin, end) for begin, end in pairwise(edges) if begin < end]

    @property
    def evident(self) -> Array:
        """The lines that say that something failed, and do not take it back."""
        return self.of_classes(EVIDENCE).any(axis=1) & ~self.dismissed

    @property
    def dismissed(self) -> Array:
        """The lines on which words for failure mean nothing."""
        return self.of_classes(DISMISSED).any(axis=1)


def read_lines(document: Document, pieces: Sequence[tuple[int, int]]) -> Lines:
    """Return the lines of some pieces of an output, which begin and end at line ends."""
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


def find_rare_starts(lines: Lines) -> list[int]:
    """Return where lines begin that begin like no others, if the others are alike: few of many."""
    order, starts, sizes = group(lines.prefix)
    rare = np.sort(order[starts[sizes == 1]])
    inner = rare[(rare > 0) & (rare < len(lines) - 1)]  # at an edge, a line may be the rest of one
    rare = inner[(lines.first[inner] == lines.last[inner - 1]) & (lines.last[inner] == lines.first[inner + 1])]
    return lines.first[rare].tolist() if 0 < len(rare) <= len(lines) // LINES_PER_RARE else []


def _view(data: bytes) -> bytes:
    view = flatten(data).encode("utf-8", "replace")
    return view if data.endswith(b"\n") or not data else view + b"\n"


def _measure(view: bytes, first: Array, last: Array, number: Array) -> Lines:
    """Return all that is known of the lines of a view."""
    tokens = costs(view)
    sample = view[:SAMPLE_BYTES]
    if any(level in sample for level in _LEVELS) or _CLOCK.search(sample):
        messages = _MESSAGES.findall(view)
        view = b"\n".join(messages) + b"\n"
    else:
        messages = view[:-1].split(b"\n")
    ends = (np.frombuffer(view, dtype=np.uint8) == _NEWLINE).nonzero()[0]
    starts = np.concatenate(([0], ends[:-1] + 1))
    template, subject, prefix, indent = shapes(view, starts, ends)
    classes = classify(view, starts)
    numbers = dict(zip(dict.fromkeys(messages), count()))
    return Lines(
        first=first,
        last=last,
        tokens=tokens,
        classes=classes,
        template=template,
        prefix=prefix,
        # Below 0: these are compared with templates and subjects, too.
        exact=-1 - np.fromiter(map(numbers.__getitem__, messages), np.int64, len(messages)),
        subject=subject,
        indent=indent,
        width=ends - starts,
        number=number,
        family=_families(view, starts, ends, classes),
    )


def _families(view: bytes, starts: Array, ends: Array, classes: Array) -> Array:
    """Return for each line that says that something failed what it has in common with others that say the same."""
    evident = classes.T[[PLACES[name] for name in EVIDENCE]].any(axis=0)
    evident &= ~classes.T[[PLACES[name] for name in DISMISSED]].any(axis=0)
    rows = (evident & (ends > starts)).nonzero()[0]
    text = b"".join(
        [view[start : end + 1] for start, end in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)]
    )
    family = np.zeros(len(starts), dtype=np.int64)
    family[rows] = [hash(key[:FAMILY_BYTES].strip()) or 1 for key in templates(text)]  # only ever compared
    return family


def costs(view: bytes) -> Array:
    """Return the tokens of each line, as the estimate counts them. The view ends with a newline."""
    opens = np.frombuffer(view.translate(MASKS_BEFORE), dtype=np.uint8)
    asks = np.frombuffer(view.translate(MASKS_AFTER), dtype=np.uint8)
    bits = np.zeros(len(view), dtype=np.uint8)
    bits[1:] = np.bitwise_count(opens[:-1] & asks[1:])
    ends = (np.frombuffer(view, dtype=np.uint8) == _NEWLINE).nonzero()[0] + 1
    starts = np.concatenate(([0], ends[:-1]))
    return np.maximum(1.0, PER_BIT * np.add.reduceat(bits, starts, dtype=np.int32) + PER_BYTE * (ends - starts))


def shapes(view: bytes, starts: Array, ends: Array) -> tuple[Array, ...]:
    """Return four numbers for each line: of its template, of its subject, of how it begins; and its indentation.

    The template is a sum over the bytes of a line without words that hold digits, the subject one over its long words.
    """
    data = np.frombuffer(view, dtype=np.uint8)
    upto = _upto(_SALTS[data], np.uint64)
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
    name_sums = _upto(names, np.uint64)
    indent = np.zeros(len(starts), dtype=np.int64)
    rows = (flags[starts] == _SPACE).nonzero()[0]
    if len(rows):  # only few lines begin with a blank
        letters = (flags != _SPACE).nonzero()[0]
        indent[rows] = np.minimum(letters[letters.searchsorted(starts[rows])] - starts[rows], 64)
    return template, name_sums[behind] - name_sums[first], _prefixes(data, starts, ends), indent


def _upto(values: Array, kind: Any) -> Array:
    """Return sums of all before each place, and of all."""
    out = np.zeros(len(values) + 1, dtype=kind)
    np.cumsum(values, dtype=kind, out=out[1:])
    return out


def _prefixes(data: Array, starts: Array, ends: Array) -> Array:
    """Return how each message begins: some bytes of it, digits aside, as a hash."""
    places = starts[:, None] + np.arange(_PREFIX)
    begins = data.take(places, mode="clip")
    begins[(begins >= ord("0")) & (begins <= ord("9"))] = ord("0")
    begins[places >= ends[:, None]] = 0
    return (begins + np.uint64(1)) @ _POWERS


def templates(view: bytes) -> list[bytes]:
    """Return each line without what tells it from lines that are alike."""
    if not view:
        return []
    data = np.frombuffer(view, dtype=np.uint8)
    edges = np.flatnonzero(steps(np.frombuffer(view.translate(_NAME), dtype=np.int8), [0], [0]))
    begin, end = edges[::2], edges[1::2]
    marks = np.frombuffer(view.translate(_NAME_MARKS), dtype=np.uint8).copy()
    doubled = data[:-1] == data[1:]
    marks[1:] |= doubled & ((data[1:] == _COLON) | (data[1:] == _DOT))  # `a.py::test_b`, and a word that was cut off
    upto = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(marks, dtype=np.int32)))
    before = data[np.maximum(begin, 1) - 1]
    left_out = upto[end] > upto[begin]
    for quote in _QUOTES:
        left_out |= before == quote
    begin, end = begin[left_out], end[left_out]
    change = np.zeros(len(data) + 1, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    inside = np.cumsum(change[:-1], dtype=np.int8).view(bool)
    inside |= data == 32  # columns are padded
    out = data.copy()
    out[begin] = _ANY
    text: bytes = out[~inside].tobytes()
    return text.removesuffix(b"\n").split(b"\n")


def inside_runs(values: Array) -> Array:
    """Return which places are inside a run of equal values or blocks: in none of its first and its last."""
    inside = np.zeros(len(values), dtype=bool)
    for period in range(1, LONGEST_BLOCK + 1):
        least = (SHORTEST_RUN - 1) * period
        repeats = values[period:] == values[:-period]
        if b"\1" * least not in repeats.tobytes():
            continue
        edges = np.flatnonzero(steps(np.concatenate((np.zeros(period, dtype=bool), repeats)).astype(np.int8), [0], [0]))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - start >= least:
                inside[start : end - period] = True
    return inside
