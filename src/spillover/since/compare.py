"""Compare two outputs by the shapes of their lines: new, removed and same lines, and lines with other numbers.

The shape of a line is what is left of it without everything that differs from one run to the next, as two keys of 64
bits. Its content key sees through times, durations, sizes, addresses, hashes, ids, counters, ports, process ids,
temporary paths and padding; its wording key sees through every other number as well. Lines with the same content key
say the same; lines that share only the wording key differ in numbers that mean something ("14 failed" and "13 failed").

Lines are compared as sets: neither their order nor how often one comes makes a difference, since parallel work prints
in any order. Three passes, a block at a time: over the earlier output for its shapes, over the new one, and over the
earlier one again for removed lines. The result does not depend on the pieces in which the outputs arrived.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from spillover.document.clean import flatten
from spillover.document.document import Document
from spillover.errors import SpilloverError
from spillover.since import Compared, LineRanges

Array: TypeAlias = Any  # of numpy, whose own types are too general to help

#: The marks of a line, compared with the earlier output.
SAME = 0
NUMBERS = 1
NEW = 2
#: Bytes read at once; more take more memory. A longer line is read a piece at a time.
BLOCK_BYTES = 1 << 20
#: Bytes whose keys are made at once; more leave the processor's cache. A longer line has a key for each piece.
PIECE_BYTES = 1 << 16
#: Bytes of a cell, for which new lines are counted; with larger cells, their places are less exact.
CELL_BYTES = 1 << 14
#: Ranges of lines that are returned; more take more memory. All lines are counted.
MAX_RANGES = 1_000
#: Different lines of an output that can be compared; more take more memory, 64 MiB for these.
MAX_KEYS = 1 << 22
#: New keys that wait, at least, before they are sorted in; with fewer, they are sorted more often.
WAITING_KEYS = 1 << 16


def compare(document: Document, before: Document) -> Compared:
    """Compare an output with an earlier one; SpilloverError where they have too many different lines."""
    earlier = Shapes()
    later = Shapes()
    for content, wording, _ in _read_all(before):
        earlier.add(content, wording)
    new = _Tally(document)
    numbers = _Tally(document)
    removals = _Tally(before)
    lines = 0
    lines_before = 0
    for content, wording, starts in _read_all(document):
        later.add(content, wording)
        marks = earlier.judge(content, wording)
        new.add(marks == NEW, starts)
        numbers.add(marks == NUMBERS, starts)
        lines += len(content)
    for content, wording, starts in _read_all(before):
        removals.add(later.judge(content, wording) == NEW, starts)
        lines_before += len(content)
    return Compared(new.ranges(), numbers.ranges(), removals.ranges(), lines, lines_before, earlier)


class Shapes:
    """The shapes of the lines of an output."""

    __slots__ = ("contents", "wordings")

    def __init__(self) -> None:
        self.contents = KeySet()
        self.wordings = KeySet()

    def add(self, content: Array, wording: Array) -> None:
        self.contents.add(content)
        self.wordings.add(wording)

    def judge(self, content: Array, wording: Array) -> Array:
        """Return the mark of each line, compared with the added lines; a blank line is always SAME."""
        marks = np.zeros(len(content), dtype=np.uint8)
        unknown = np.flatnonzero((content != 0) & ~self.contents.contain(content))
        marks[unknown] = np.where(self.wordings.contain(wording[unknown]), NUMBERS, NEW)
        return marks

    def mark(self, document: Document, start: int, end: int) -> tuple[Array, Array]:
        """Return the mark and the content key of each line in a range of whole lines."""
        marks = [np.zeros(0, np.uint8)]
        keys = [np.zeros(0, np.uint64)]
        for content, wording, _ in _read_shapes(document, start, end):
            marks.append(self.judge(content, wording))
            keys.append(content)
        return np.concatenate(marks), np.concatenate(keys)


class KeySet:
    """A set of keys that only grows."""

    __slots__ = ("_keys", "_waiting", "_waits")

    def __init__(self) -> None:
        self._keys: Array = np.zeros(0, np.uint64)
        self._waiting: list[Array] = []
        self._waits = 0

    def add(self, keys: Array) -> None:
        """Add keys, in any order and with repeats; SpilloverError for more than MAX_KEYS different ones."""
        self._waiting.append(keys)
        self._waits += len(keys)
        if self._waits >= max(WAITING_KEYS, len(self._keys)):
            self._sort()

    def contain(self, keys: Array) -> Array:
        """Return a boolean for each key: whether it was added."""
        self._sort()
        if not len(self._keys):
            return np.zeros(len(keys), dtype=bool)
        places = np.minimum(self._keys.searchsorted(keys), len(self._keys) - 1)
        return self._keys[places] == keys

    def _sort(self) -> None:
        if not self._waiting:
            return
        # numpy's `unique` hashes what it gets, which takes ten times as long and several times the memory.
        keys = np.concatenate([self._keys, *self._waiting])
        self._waiting = []
        self._waits = 0
        keys.sort()
        self._keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
        if len(self._keys) > MAX_KEYS:
            raise SpilloverError(f"there are too many different lines to compare (more than {MAX_KEYS:,})")


class _Tally:
    """Counts the lines with one mark: all of them, by range, and by cell."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._cells = np.zeros(-(-document.size // CELL_BYTES), dtype=np.int64)
        self._lines = 0
        self._ranges: list[tuple[int, int]] = []
        self._full = False

    def add(self, flags: Array, starts: Array) -> None:
        """Count the next lines that have a flag; `starts` are the offsets of all of them."""
        rows = np.flatnonzero(flags)
        if not len(rows):
            return
        self._lines += len(rows)
        self._cells += np.bincount(starts[rows] // CELL_BYTES, minlength=len(self._cells))
        if self._full:
            return
        first = self._document.number(int(starts[0]))
        edges = np.flatnonzero(np.diff(rows) > 1)
        openings = first + rows[np.concatenate(([0], edges + 1))]
        closings = first + rows[np.append(edges, len(rows) - 1)]
        for opening, closing in zip(openings.tolist(), closings.tolist(), strict=True):
            if self._ranges and self._ranges[-1][1] + 1 == opening:
                self._ranges[-1] = (self._ranges[-1][0], closing)
            elif len(self._ranges) < MAX_RANGES:
                self._ranges.append((opening, closing))
            else:
                self._full = True
                break

    def ranges(self) -> LineRanges:
        return LineRanges(self._lines, tuple(self._ranges), tuple(self._cells.tolist()))


def _read_all(document: Document) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the shapes of all lines; of both ends if the middle was not stored."""
    opens, closes = document.gap
    if opens >= closes:
        opens = closes = document.size
    yield from _read_shapes(document, 0, opens)
    yield from _read_shapes(document, closes, document.size)


def _read_shapes(document: Document, start: int, end: int) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the shapes of the lines in a range, many at a time: content keys, wording keys and offsets."""
    at = start
    while at < end:
        data = document.blob.read(at, min(end, at + BLOCK_BYTES))
        if not data:  # it cannot be read
            return
        whole = len(data) if at + len(data) >= end else data.rfind(b"\n") + 1
        if not whole or (len(data) >= BLOCK_BYTES and b"\n" not in data):
            long, stop = _read_long_line(document, at, end)
            yield (*long.keys(), np.array([at]))
            at = stop
            continue
        data = data[:whole]
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
        starts = np.concatenate(([0], ends))
        starts = at + (starts[:-1] if data.endswith(b"\n") else starts)
        view = flatten(data).encode("utf-8", "replace")
        content, wording = make_keys(view if data.endswith(b"\n") else view + b"\n")
        yield content, wording, starts
        at += whole


def _read_long_line(document: Document, at: int, end: int) -> tuple[LongLine, int]:
    """Read a line that is longer than a block; return its shape and its end."""
    long = LongLine()
    while at < end:
        data = document.blob.read(at, min(end, at + PIECE_BYTES))
        if not data:
            return long, end
        piece, newline, _ = data.partition(b"\n")
        long.add(flatten(piece).encode("utf-8", "replace"))
        at += len(piece) + len(newline)
        if newline:
            break
    return long, at


# The shape of a line. Pure and linear: bytes in, arrays out, and no pattern engine.


def _table(*members: str | range) -> bytes:
    codes = {ord(char) if isinstance(char, str) else char for member in members for char in member}
    return bytes(byte in codes for byte in range(256))


_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORD = _table(_DIGITS, _LOWER, _UPPER, "_", range(0x80, 0x100))
_DIGIT = _table(_DIGITS)
_HEX = _table(_DIGITS, "abcdefABCDEF")
#: A word of digits and these, a digit first, is a duration, a size or a part of a time: 12ms, 1m30s, 64KiB, 02T15, 59Z.
_UNITS = _table(_DIGITS, "hmsunKMGTkiBZ")
_BLANK = _table(" \t\r")
#: The bytes that end a path.
_ENDS_PATH = _table(" \t\n\"'<>|`,;()[]{}")
#: A number before one of these units, or after one of these names, varies from run to run.
UNITS_BEHIND = tuple(
    b"s ms us ns sec secs second seconds min mins minute minutes h hour hours B KB MB GB kB KiB MiB GiB bytes".split()
)
NAMES_BEFORE = tuple(b"pid PID port Port process Process thread Thread worker Worker localhost".split())
MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DAYS = b"Mon Tue Wed Thu Fri Sat Sun".split()
LONGEST_NAME = max(map(len, (*UNITS_BEHIND, *NAMES_BEFORE)))
#: Digits from which a whole number is an id, a process or a port; with fewer, more real changes are ignored.
MIN_ID_DIGITS = 5
#: Hexadecimal digits, letters among them, from which a word is a hash; with fewer, more words are ignored.
MIN_HASH_DIGITS = 7
#: Neighbours in a row that one part of a time or a hash makes variable too; with fewer, the end of a long time stays.
MAX_CHAIN_PARTS = 6
TEMPORARY = (b"/tmp/", b"/var/folders/", b"\\Temp\\")
_ANY = 1  # the byte for a masked range; no view has it


def _encode_names(names: Sequence[bytes]) -> Array:
    return np.array(sorted(int.from_bytes(name[:7], "little") ^ len(name) << 56 for name in names), dtype=np.uint64)


#: The bytes between the parts of a time, of a number or of a hash.
_JOINT = np.frombuffer(_table(".", ",", ":", "-", "+"), dtype=bool)
#: Masks for the first bytes of a word, by its length: of one of 7 bytes or less these are all of it.
_MASKS = np.array([(1 << 8 * min(size, 7)) - 1 for size in range(LONGEST_NAME + 1)], dtype=np.uint64)
_UNIT_CODES = _encode_names(UNITS_BEHIND)
_NAME_CODES = _encode_names((*NAMES_BEFORE, *MONTHS))


def make_keys(view: bytes) -> tuple[Array, Array]:
    """Return the content keys and the wording keys of the lines of a view; 0 for a blank line."""
    contents = [np.zeros(0, np.uint64)]
    wordings = [np.zeros(0, np.uint64)]
    at = 0
    while at < len(view):
        end = view.rfind(b"\n", at, at + PIECE_BYTES) + 1
        if end:
            content, wording = _make_keys(view[at:end])
        else:
            end = view.index(b"\n", at) + 1
            long = LongLine()
            long.add(view[at : end - 1])
            content, wording = long.keys()
        contents.append(content)
        wordings.append(wording)
        at = end
    return np.concatenate(contents), np.concatenate(wordings)


class LongLine:
    """The keys of a line that is never in memory as a whole, from the keys of its pieces."""

    __slots__ = ("content", "wording")

    def __init__(self) -> None:
        self.content = 0
        self.wording = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece, which has no newline in it."""
        for at in range(0, len(piece), PIECE_BYTES):
            content, wording = _make_keys(piece[at : at + PIECE_BYTES] + b"\n")
            self.content = hash((self.content, int(content[0])))
            self.wording = hash((self.wording, int(wording[0])))

    def keys(self) -> tuple[Array, Array]:
        keys = np.array([[self.content], [self.wording]], np.int64).view(np.uint64)
        return keys[0], keys[1]


def _make_keys(view: bytes) -> tuple[Array, Array]:
    data = np.frombuffer(view, dtype=np.uint8)
    edges = np.flatnonzero(np.diff(np.frombuffer(view.translate(_WORD), dtype=np.int8), prepend=np.int8(0)))
    begin = edges[::2]  # a view ends with a newline, so words come in pairs of edges
    end = edges[1::2]
    digits = _count_in(view, _DIGIT, begin, end)
    numeric = np.flatnonzero(digits)  # words with a digit in them: few others vary from run to run
    variable, number = _judge(view, data, begin, end, numeric, digits[numeric])
    mask = np.zeros(len(begin), dtype=bool)
    mask[numeric[variable]] = True
    _hide_dates(data, begin, end, mask)
    names = _find_temporary(view, begin, digits > 0, mask)
    blank = np.frombuffer(view.translate(_BLANK), dtype=bool)
    content = _hash(data, *_join(data, begin[mask], end[mask], names), blank)
    mask[numeric[number]] = True
    return content, _hash(data, *_join(data, begin[mask], end[mask], names), blank)


def _join(data: Array, begin: Array, end: Array, names: Array) -> tuple[Array, Array]:
    """Join masked words to ranges: a time, a number with its fraction, a temporary name."""
    if len(names):
        outside = ~_within(begin, names[:, 0], names[:, 1])
        begin = np.concatenate((begin[outside], names[:, 0]))
        end = np.concatenate((end[outside], names[:, 1]))
        order = begin.argsort()
        begin = begin[order]
        end = end[order]
    if len(begin) < 2:
        return begin, end
    apart = (end[:-1] + 1 != begin[1:]) | ~_JOINT[data[end[:-1]]]
    return begin[np.append(True, apart)], end[np.append(apart, True)]


def _judge(view: bytes, data: Array, begin: Array, end: Array, numeric: Array, digits: Array) -> tuple[Array, Array]:
    """Return two booleans for each word with digits: whether it varies from run to run, and whether it is a number."""
    first = begin[numeric]
    behind = end[numeric]
    size = behind - first
    padded = np.concatenate((np.full(3, 10, np.uint8), data, np.full(3, 10, np.uint8)))  # edges have neighbours, too

    def at(place: Array, step: int) -> Array:
        return padded[place + (3 + step)]

    number = digits == size
    before = at(first, -1)
    after = at(behind, 0)
    hexadecimal = _count_in(view, _HEX, first, behind) == size
    starts_with_digit = (at(first, 0) >= ord("0")) & (at(first, 0) <= ord("9"))
    variable = (number & (size >= MIN_ID_DIGITS)) | (~number & hexadecimal & (size >= MIN_HASH_DIGITS))
    variable |= (at(first, 0) == ord("0")) & (at(first, 1) == ord("x"))  # 0x…
    variable |= ~number & starts_with_digit & (_count_in(view, _UNITS, first, behind) == size)
    # gw3 is a worker of pytest
    variable |= (at(first, 0) == ord("g")) & (at(first, 1) == ord("w")) & (digits == size - 2)
    opening = (before == ord("[")) | (before == ord("("))
    ahead = at(first, -2)
    opening |= (before == ord(" ")) & ((ahead == ord("[")) | (ahead == ord("(")) | (ahead == ord(" ")))
    variable |= number & opening & (after == ord("%")) & (at(behind, 1) == ord("]"))  # [ 45%]
    variable |= number & (before == ord("[")) & (after == ord("]")) & (at(behind, 1) == ord(":"))  # sshd[123]:
    variable |= number & (before == ord("#")) & (at(first, -2) == ord("\n"))  # a step of docker build: #12
    variable |= number & _is_near(view, begin, end, numeric)
    if len(numeric) > 1:
        touching = behind[:-1] + 1 == first[1:]
        joint = np.where(touching, after[:-1], 0)
        short = size <= 2
        clock = number[:-1] & short[:-1] & (joint == ord(":")) & (before[:-1] != ord(":"))
        clock &= (size[1:] == 2) & (digits[1:] == 2)
        date = number[:-1] & (size[:-1] == 4) & ((joint == ord("-")) | (joint == ord("/")))
        date &= (digits[1:] >= 2) & (size[1:] <= 5)
        date &= size[1:] != 4  # 2024-01, and 2024-01T…, but not one year after the other
        counter = (joint == ord("/")) & number[:-1] & number[1:] & opening[:-1]  # [3/10]
        port = (joint == ord(":")) & number[1:] & (size[1:] == 4) & (before[:-1] == ord("."))  # 127.0.0.1:8080
        pair = clock | date | counter
        variable[:-1] |= pair
        variable[1:] |= pair | port
        # A neighbour of a part of a time, a duration or a hash is a part of it too, if it looks like one.
        part = number | (hexadecimal & (size == 4))
        in_chain = _JOINT[joint]
        for _ in range(MAX_CHAIN_PARTS):
            onward = in_chain & part[1:] & variable[:-1] & ~variable[1:]
            back = in_chain & part[:-1] & variable[1:] & ~variable[:-1]
            if not (onward.any() or back.any()):
                break
            variable[1:] |= onward
            variable[:-1] |= back
    return variable, number


def _is_near(view: bytes, begin: Array, end: Array, numeric: Array) -> Array:
    """Return a boolean for each word: whether it stands before a unit, or after a name in NAMES_BEFORE."""
    data = np.frombuffer(view, dtype=np.uint8)
    behind = np.minimum(numeric + 1, len(begin) - 1)
    ahead = np.maximum(numeric - 1, 0)
    words = np.ndarray((len(view),), dtype="<u8", buffer=view + bytes(8), strides=(1,))
    near = np.zeros(len(numeric), dtype=bool)
    for beside, gap, codes in (
        (behind, begin[behind] - end[numeric], _UNIT_CODES),
        (ahead, begin[numeric] - end[ahead], _NAME_CODES),
    ):
        size = end[beside] - begin[beside]
        close = np.flatnonzero((gap > 0) & (gap <= 2) & (size <= LONGEST_NAME))
        name = beside[close]
        size = size[close]
        apart = np.maximum(begin[name], begin[numeric[close]])
        opening = words[begin[name]] & _MASKS[size]
        opening ^= size.astype(np.uint64) << np.uint64(56)
        matches = codes[np.minimum(codes.searchsorted(opening), len(codes) - 1)] == opening
        matches &= (data[apart - 1] != ord("\n")) & (data[np.maximum(apart - 2, 0)] != ord("\n"))  # both on one line
        near[close[matches]] = True
    return near


def _hide_dates(data: Array, begin: Array, end: Array, mask: Array) -> None:
    """Mask the name of a month before a masked day, and the name of a weekday before that: Tue Nov 17."""
    short = np.flatnonzero((end - begin == 3) & (data[begin] < ord("a")) & (data[begin] >= ord("A")))  # and a capital
    for names in (MONTHS, DAYS):
        codes = (data[begin[short]].astype(np.uint32) << 16) | (data[begin[short] + 1].astype(np.uint32) << 8)
        words = short[np.isin(codes | data[begin[short] + 2], [int.from_bytes(name, "big") for name in names])]
        words = words[words + 1 < len(begin)]
        gap = begin[words + 1] - end[words]
        follow = mask[words + 1] & (gap <= 2) & (data[begin[words + 1] - 1] == ord(" "))
        mask[words[follow & ((gap == 1) | (data[end[words]] == ord(" ")) | (data[end[words]] == ord(",")))]] = True


def _find_temporary(view: bytes, begin: Array, numeric: Array, mask: Array) -> Array:
    """Return the ranges of names right below a temporary folder; mask words with digits in the rest of their paths."""
    names = [np.empty((0, 2), np.int64)]
    for folder in TEMPORARY:
        if folder not in view:
            continue
        data = np.frombuffer(view, dtype=np.uint8)
        places = np.flatnonzero(data[: len(data) - len(folder)] == folder[0])
        for step, byte in enumerate(folder):
            places = places[data[places + step] == byte]
        first = places + len(folder)
        stops = np.flatnonzero(np.frombuffer(view.translate(_ENDS_PATH), dtype=np.uint8))
        last = stops[np.searchsorted(stops, first)]
        slashes = np.append(np.flatnonzero((data == ord("/")) | (data == ord("\\"))), len(data))
        upto = np.minimum(slashes[np.searchsorted(slashes, first)], last)
        names.append(np.stack((first, upto), axis=1)[upto > first])
        mask |= numeric & _within(begin, first, last)
    if len(names) == 1:
        return names[0]
    return np.unique(np.concatenate(names), axis=0)


def _within(places: Array, first: Array, last: Array) -> Array:
    """Return a boolean for each place: whether it is in a range; ranges are sorted by start and may overlap."""
    reach = np.maximum.accumulate(last)
    at = np.searchsorted(first, places, side="right") - 1
    return (at >= 0) & (places < reach[np.maximum(at, 0)])


def _hash(data: Array, begin: Array, end: Array, blank: Array) -> Array:
    """Return a key for each line, without blanks and with one byte for each masked range; 0 for an empty line."""
    change = np.zeros(len(data) + 1, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    omitted = np.cumsum(change[:-1], dtype=np.int8).view(bool)
    omitted |= blank
    out = data.copy()
    out[begin] = _ANY
    lines = out[~omitted].tobytes().split(b"\n")[:-1]
    return np.array([hash(line) if line else 0 for line in lines], dtype=np.int64).view(np.uint64)


def _count_in(view: bytes, table: bytes, begin: Array, end: Array) -> Array:
    """Count the bytes of each word that are in a table."""
    upto = np.zeros(len(view) + 1, dtype=np.int32)
    np.cumsum(np.frombuffer(view.translate(table), dtype=np.uint8), dtype=np.int32, out=upto[1:])
    return upto[end] - upto[begin]
