"""The shape of a line: what is left of it once everything is seen through that differs from one run to the next.

Each line gets two keys of 64 bits. `said` sees through times, durations, sizes, addresses, hashes, ids, counters, ports, process
ids, temporary paths and padding; `worded` sees through every other number as well. Lines that are equal in both say the same;
lines that are equal in `worded` only differ in numbers that mean something ("14 failed" and "13 failed").

Pure and linear: bytes in, arrays out, and no pattern engine.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: So many bytes are in hand at a time, which stay in the processor's cache; a line that is longer has a key for each piece.
STRETCH = 1 << 16
#: Any odd numbers would do, as long as they are always the same.
_SALT, _MIX, _POWER = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x5851F42D4C957F2D
_ALL = (1 << 64) - 1


def _table(*those: str | range) -> bytes:
    members = {ord(char) if isinstance(char, str) else char for some in those for char in some}
    return bytes(byte in members for byte in range(256))


_DIGITS, _LOWER, _UPPER = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORD = _table(_DIGITS, _LOWER, _UPPER, "_", range(0x80, 0x100))
_DIGIT = _table(_DIGITS)
_HEX = _table(_DIGITS, "abcdefABCDEF")
#: A word of digits and these, a digit first, is a duration, a size or a part of a time: 12ms, 1m30s, 64KiB, 02T15, 59Z.
_UNITS = _table(_DIGITS, "hmsunKMGTkiBZ")
_BLANK = _table(" \t\r")
#: What ends a path.
_ENDS_PATH = _table(" \t\n\"'<>|`,;()[]{}")
#: A number that is followed by one of these words, or that follows one of the others, is not what a line says.
UNITS_BEHIND = tuple(
    b"s ms us ns sec secs second seconds min mins minute minutes h hour hours B KB MB GB kB KiB MiB GiB bytes".split()
)
NAMES_BEFORE = tuple(b"pid PID port Port process Process thread Thread worker Worker localhost".split())
MONTHS, DAYS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), b"Mon Tue Wed Thu Fri Sat Sun".split()
LONGEST_NAME = max(map(len, (*UNITS_BEHIND, *NAMES_BEFORE)))
#: A whole number of this many digits is an id, a process or a port; with fewer it says something.
LONG_NUMBER = 5
#: A word of this many hexadecimal digits, letters among them, is a hash.
SHORTEST_HASH = 7
#: How far what makes a number a part of a time or a hash reaches to its neighbours: 2024-01-02T03:04:05.678+00:00.
CHAIN = 6
TEMPORARY = (b"/tmp/", b"/var/folders/", b"\\Temp\\")
#: What stands between the parts of a time, of a number or of a hash: . , : - + (in bytes).
_JOINTS = tuple(b".,:-+")
_ANY = 1  # stands for what is seen through; no view has this byte


def keys(view: bytes) -> tuple[Array, Array]:
    """Return the keys `said` and `worded` of each line of a view, which ends with a newline; 0 for a blank line."""
    import numpy as np

    parts, at = [], 0
    while at < len(view):
        end = view.rfind(b"\n", at, at + STRETCH) + 1
        if end:
            parts.append(_keys(view[at:end]))
        else:
            end = view.index(b"\n", at) + 1
            parts.append(_of_long_line(view[at:end]))
        at = end
    if not parts:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    said, worded = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return said, worded


class LongLine:
    """The keys of a line that is never held as a whole: made of those of its pieces."""

    __slots__ = ("said", "worded")

    def __init__(self) -> None:
        self.said = self.worded = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece, which has no newline in it."""
        for at in range(0, len(piece), STRETCH):
            said, worded = _keys(piece[at : at + STRETCH] + b"\n")
            self.said = (self.said * _POWER + int(said[0]) + 1) & _ALL
            self.worded = (self.worded * _POWER + int(worded[0]) + 1) & _ALL

    def keys(self) -> tuple[Array, Array]:
        import numpy as np

        return np.array([self.said], np.uint64), np.array([self.worded], np.uint64)


def _of_long_line(line: bytes) -> tuple[Array, Array]:
    long = LongLine()
    long.add(line[:-1])
    return long.keys()


def _keys(view: bytes) -> tuple[Array, Array]:
    import numpy as np

    data = np.frombuffer(view, dtype=np.uint8)
    edges = np.flatnonzero(np.diff(np.frombuffer(view.translate(_WORD), dtype=np.int8), prepend=np.int8(0)))
    begin, end = edges[::2], edges[1::2]  # a view ends with a newline, so words come in pairs of edges
    digits = _count_in(view, _DIGIT, begin, end)
    having = np.flatnonzero(digits)  # words with a digit in them: little else is ever seen through
    passing, number = _judge(view, data, begin, end, having, digits[having])
    seen_through = np.zeros(len(begin), dtype=bool)
    seen_through[having[passing]] = True
    _add_dates(data, begin, end, seen_through)
    names = _find_temporary(view, begin, digits > 0, seen_through)
    blank = np.frombuffer(view.translate(_BLANK), dtype=bool)
    said = _hash(data, *_join(data, begin[seen_through], end[seen_through], names), blank)
    seen_through[having[number]] = True
    return said, _hash(data, *_join(data, begin[seen_through], end[seen_through], names), blank)


def _join(data: Array, begin: Array, end: Array, names: Array) -> tuple[Array, Array]:
    """Return what is seen through as ranges: a time or a number with its fraction is one, and so is a temporary name."""
    import numpy as np

    if len(names):
        outside = ~_within(begin, names[:, 0], names[:, 1])
        begin, end = np.concatenate((begin[outside], names[:, 0])), np.concatenate((end[outside], names[:, 1]))
        order = begin.argsort()
        begin, end = begin[order], end[order]
    if len(begin) < 2:
        return begin, end
    apart = (end[:-1] + 1 != begin[1:]) | ~_numbers().joint[data[end[:-1]]]
    return begin[np.append(True, apart)], end[np.append(apart, True)]


def _judge(view: bytes, data: Array, begin: Array, end: Array, having: Array, digits: Array) -> tuple[Array, Array]:
    """Return which of the words with digits are seen through, and which are whole numbers: a boolean each."""
    import numpy as np

    first, behind = begin[having], end[having]
    size = behind - first
    padded = np.concatenate((np.full(3, 10, np.uint8), data, np.full(3, 10, np.uint8)))  # edges have neighbours, too

    def at(place: Array, step: int) -> Array:
        return padded[place + (3 + step)]

    number = digits == size
    before, after = at(first, -1), at(behind, 0)
    hexadecimal = _count_in(view, _HEX, first, behind) == size
    starts_with_digit = (at(first, 0) >= 48) & (at(first, 0) < 58)
    passing = (number & (size >= LONG_NUMBER)) | (~number & hexadecimal & (size >= SHORTEST_HASH))
    passing |= (at(first, 0) == 48) & (at(first, 1) == 120)  # 0x…
    passing |= ~number & starts_with_digit & (_count_in(view, _UNITS, first, behind) == size)
    passing |= (at(first, 0) == 103) & (at(first, 1) == 119) & (digits == size - 2)  # gw3, a worker of pytest
    opening = (before == 91) | (before == 40)  # [ (
    ahead = at(first, -2)
    opening |= (before == 32) & ((ahead == 91) | (ahead == 40) | (ahead == 32))
    passing |= number & opening & (after == 37) & (at(behind, 1) == 93)  # [ 45%]
    passing |= number & (before == 91) & (after == 93) & (at(behind, 1) == 58)  # sshd[123]:
    passing |= number & (before == 35) & (at(first, -2) == 10)  # a step of docker build: #12
    passing |= number & _is_near(view, begin, end, having)
    if len(having) > 1:
        touching = behind[:-1] + 1 == first[1:]
        joint = np.where(touching, after[:-1], 0)
        short = size <= 2
        clock = (joint == 58) & number[:-1] & short[:-1] & (size[1:] == 2) & (before[:-1] != 58) & (digits[1:] == 2)
        date = ((joint == 45) | (joint == 47)) & number[:-1] & (size[:-1] == 4) & (digits[1:] >= 2) & (size[1:] <= 5)
        date &= size[1:] != 4  # 2024-01, and 2024-01T…, but not one year after the other
        counter = (joint == 47) & number[:-1] & number[1:] & opening[:-1]  # [3/10]
        port = (joint == 58) & number[1:] & (size[1:] == 4) & (before[:-1] == 46)  # 127.0.0.1:8080
        pair = clock | date | counter
        passing[:-1] |= pair
        passing[1:] |= pair | port
        # What stands beside a part of a time, of a duration or of a hash, and looks like another part of it, is one.
        part = number | (hexadecimal & (size == 4))
        joined = _numbers().joint[joint]
        for _ in range(CHAIN):
            onward = joined & part[1:] & passing[:-1] & ~passing[1:]
            back = joined & part[:-1] & passing[1:] & ~passing[:-1]
            if not (onward.any() or back.any()):
                break
            passing[1:] |= onward
            passing[:-1] |= back
    return passing, number


def _is_near(view: bytes, begin: Array, end: Array, having: Array) -> Array:
    """Return which words stand before a unit, or behind a name that is followed by a number of no meaning."""
    import numpy as np

    data = np.frombuffer(view, dtype=np.uint8)
    behind = np.minimum(having + 1, len(begin) - 1)
    ahead = np.maximum(having - 1, 0)
    words = np.ndarray((len(view),), dtype="<u8", buffer=view + bytes(8), strides=(1,))
    numbers = _numbers()
    near = np.zeros(len(having), dtype=bool)
    for beside, gap, codes in (
        (behind, begin[behind] - end[having], numbers.units),
        (ahead, begin[having] - end[ahead], numbers.names),
    ):
        size = end[beside] - begin[beside]
        close = np.flatnonzero((gap > 0) & (gap <= 2) & (size <= LONGEST_NAME))
        other, size = beside[close], size[close]
        apart = np.maximum(begin[other], begin[having[close]])
        opening = words[begin[other]] & numbers.mask[size]
        opening ^= size.astype(np.uint64) << np.uint64(56)
        found = codes[np.minimum(codes.searchsorted(opening), len(codes) - 1)] == opening
        found &= (data[apart - 1] != 10) & (data[np.maximum(apart - 2, 0)] != 10)  # both on one line
        near[close[found]] = True
    return near


def _add_dates(data: Array, begin: Array, end: Array, seen_through: Array) -> None:
    """See through the name of a month before a day, and through the name of a day before that: Tue Nov 17."""
    import numpy as np

    short = np.flatnonzero((end - begin == 3) & (data[begin] < 97) & (data[begin] >= 65))  # and a capital
    for names in (MONTHS, DAYS):
        codes = (data[begin[short]].astype(np.uint32) << 16) | (data[begin[short] + 1].astype(np.uint32) << 8)
        those = short[np.isin(codes | data[begin[short] + 2], [int.from_bytes(name, "big") for name in names])]
        those = those[those + 1 < len(begin)]
        gap = begin[those + 1] - end[those]
        follow = seen_through[those + 1] & (gap <= 2) & (data[begin[those + 1] - 1] == 32)
        seen_through[those[follow & ((gap == 1) | (data[end[those]] == 32) | (data[end[those]] == 44))]] = True


def _find_temporary(view: bytes, begin: Array, having: Array, seen_through: Array) -> Array:
    """Return where the names right below a temporary folder stand, and see through words with digits that follow in the path."""
    import numpy as np

    names = [np.empty((0, 2), np.int64)]
    for folder in TEMPORARY:
        if folder not in view:
            continue
        data = np.frombuffer(view, dtype=np.uint8)
        found = np.flatnonzero(data[: len(data) - len(folder)] == folder[0])
        for step, byte in enumerate(folder):
            found = found[data[found + step] == byte]
        first = found + len(folder)
        stops = np.flatnonzero(np.frombuffer(view.translate(_ENDS_PATH), dtype=np.uint8))
        last = stops[np.searchsorted(stops, first)]
        slashes = np.append(np.flatnonzero((data == 47) | (data == 92)), len(data))
        upto = np.minimum(slashes[np.searchsorted(slashes, first)], last)
        names.append(np.stack((first, upto), axis=1)[upto > first])
        seen_through |= having & _within(begin, first, last)
    if len(names) == 1:
        return names[0]
    return np.unique(np.concatenate(names), axis=0)


def _within(places: Array, first: Array, last: Array) -> Array:
    """Return which places are in one of these ranges, which are in order of where they begin and may overlap."""
    import numpy as np

    reach = np.maximum.accumulate(last)
    at = np.searchsorted(first, places, side="right") - 1
    return (at >= 0) & (places < reach[np.maximum(at, 0)])


def _hash(data: Array, begin: Array, end: Array, blank: Array) -> Array:
    """Return a key for each line, without blanks, and with one byte for each word that is seen through."""
    import numpy as np

    change = np.zeros(len(data) + 1, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    left_out = np.cumsum(change[:-1], dtype=np.int8).view(bool)
    left_out |= blank
    out = data.copy()
    out[begin] = _ANY
    out = out[~left_out]
    ends = np.flatnonzero(out == 10)
    starts = np.concatenate((np.zeros(1, ends.dtype), ends[:-1] + 1))
    numbers = _numbers()
    terms = numbers.salt[out]
    terms *= numbers.power[: len(out)]
    sums = np.add.reduceat(terms, starts) * numbers.inverse[starts]
    sums ^= sums >> np.uint64(29)
    sums *= np.uint64(_MIX)
    sums[starts == ends] = 0
    return sums


def _count_in(view: bytes, table: bytes, begin: Array, end: Array) -> Array:
    """Return how many bytes of each word are in a table."""
    import numpy as np

    upto = np.zeros(len(view) + 1, dtype=np.int32)
    np.cumsum(np.frombuffer(view.translate(table), dtype=np.uint8), dtype=np.int32, out=upto[1:])
    return upto[end] - upto[begin]


class _Numbers:
    """What is made once and looked up in: `power` and `inverse` make the key of a line independent of where it stands."""

    __slots__ = ("inverse", "joint", "mask", "names", "power", "salt", "units")

    def __init__(self) -> None:
        import numpy as np

        salt = np.arange(1, 257, dtype=np.uint64) * np.uint64(_SALT)
        salt ^= salt >> np.uint64(29)
        salt *= np.uint64(_MIX)
        salt ^= salt >> np.uint64(32)
        salt[10] = 0  # a line that ends has the key of one that does not
        self.salt = salt
        self.power, self.inverse = (
            np.cumprod(np.append(np.uint64(1), np.full(STRETCH + 1, each, dtype=np.uint64)))
            for each in (_POWER, pow(_POWER, -1, 1 << 64))
        )
        self.joint = np.zeros(256, dtype=bool)
        self.joint[list(_JOINTS)] = True
        # The first bytes of a word, and how many it has: of one of 7 bytes or less these are all of it.
        self.mask = np.array([(1 << 8 * min(size, 7)) - 1 for size in range(LONGEST_NAME + 1)], dtype=np.uint64)
        self.units, self.names = (
            np.array(sorted(int.from_bytes(name[:7], "little") ^ len(name) << 56 for name in names), dtype=np.uint64)
            for names in (UNITS_BEHIND, (*NAMES_BEFORE, *MONTHS))
        )


_made: list[_Numbers] = []


def _numbers() -> _Numbers:
    """Return the tables, made by the first who asks."""
    if not _made:
        _made.append(_Numbers())
    return _made[0]
