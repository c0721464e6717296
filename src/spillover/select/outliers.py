"""Which rows of a table stand out: rare values, numbers far outside, words of failure, another number of cells.

One pass over the output, a block at a time. What is bounded: COLUMNS are looked into, of each at most MANY values are
counted and EXTREMES numbers held, these out of NUMBERS bytes; WITHIN rows of the end are known, and STAND_OUT rows are named.
"""

from __future__ import annotations

import stringzilla

from spillover.base.work import ARRAYS
from spillover.select.arrays import group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.base.work import Work
    from spillover.view.document import Document

    Row = tuple[int, int]  # from, to, with its newline

#: A small block comes first: it tells which columns hold few values, so that large ones are not sorted to find out.
FIRST_BLOCK = 1 << 16
BLOCK = 1 << 22
#: Of larger outputs numbers are compared in every second, third, … block only, so that it is about so much of them.
NUMBERS = 1 << 27
#: A row longer than this has a quote that was never closed: no table.
LONGEST_ROW = 1 << 24
#: More quotes than these in a block that open no cell, and it is not ours to say where rows end.
STRAY_QUOTES = 256
COLUMNS = 32
MANY = 200
EXTREMES = 3
STAND_OUT = 40
WITHIN = 2_000
#: A value is rare when it comes so much less often than the values of its column do in the mean.
RARE = 10
#: A number stands out when it is so many times the distance of the quartiles away from them.
FAR = 4
#: Rows with a word of failure stand out where not more than one in so many has it.
FEW = 50
FAILURES = (
    b"error",
    b"Error",
    b"ERROR",
    b"fail",
    b"Fail",
    b"FAIL",
    b"fatal",
    b"FATAL",
    b"xception",
    b"imeout",
    b"denied",
)


class Scan:
    """One pass over all rows behind the header."""

    def __init__(self, separator: bytes, columns: int, header: int) -> None:
        self.rows = 0
        self._separator = separator[0]
        self._width = columns
        self._header = header
        self._ragged: list[tuple[Row, int]] = []
        self._raggeds = 0
        self._columns = [_Column() for _ in range(min(columns, COLUMNS))]
        self._words: dict[bytes, tuple[int, list[Row]]] = {}
        self.last: Any = None  # the last rows, as many as are known
        self._every = 1

    def run(self, document: Document) -> bool:
        """Look at every row; False when they are no rows."""
        import numpy as np

        self.last = np.empty((0, 2), np.int64)
        self._every = -(-document.size // NUMBERS)
        header = document.blob.read(0, self._header)
        self._words = {word: (0, []) for word in FAILURES if word not in header}
        at, carry = self._header, b""
        while at < document.size:
            more = max(BLOCK if self.rows else FIRST_BLOCK, len(carry))  # a long row is not looked at again and again
            data = carry + document.blob.read(at, at + more)
            base, at = at - len(carry), at - len(carry) + len(data)
            used = self._block(data, base, document.work, last=at == document.size)
            carry = data[used:]
            if used < 0 or len(carry) > LONGEST_ROW:
                return False
        return not carry and self._raggeds * 4 <= self.rows

    def standing_out(self, value: Callable[[Row, int], str], names: list[str]) -> list[tuple[Row, str]]:
        """Return the rows that stand out and why, the rarest first, one of each reason before the second of any."""
        groups = [[(row, f"{count} cells, not {self._width}") for row, count in self._ragged]]
        rare = []
        for number, column in enumerate(self._columns):
            for count, where in column.rare(self.rows):
                said = f"{names[number]}={value(where[0], number)} is rare, {count:,} of {self.rows:,} rows"
                rare.append((count * len(column.values or ()), number, [(row, said) for row in where]))
        groups += [group for *_, group in sorted(rare)]
        for word, (count, where) in self._words.items():
            said = f"“{word.decode()}” is in {count:,} of {self.rows:,} rows"
            groups += [[(row, said) for row in where]] if count * FEW <= self.rows else []
        for number, column in enumerate(self._columns):
            groups.append([(row, f"{names[number]}={value(row, number)} is far outside") for _, row in column.far()])
        turns = max(map(len, groups))
        whys = [group[turn] for turn in range(turns) for group in groups if turn < len(group)]
        return list(dict(reversed(whys)).items())[::-1][:STAND_OUT]

    def _block(self, data: bytes, base: int, work: Work, *, last: bool) -> int:
        """Look at the complete rows of a block; how many bytes they take, or -1 when there is no telling."""
        import numpy as np

        array = np.frombuffer(data, np.uint8)
        marks = np.flatnonzero((array == 10) | (array == self._separator) | (array == 34))
        kinds = array[marks]
        quotes = marks[kinds == 34]
        if quotes.size:
            turning = kinds == 34
            some = _quoting(array, quotes, self._separator, work)
            if some is None or (last and some.size % 2):
                return -1
            if some.size < quotes.size:
                turning[np.searchsorted(marks, np.setdiff1d(quotes, some, assume_unique=True))] = False
            inside = np.cumsum(turning, dtype=np.uint8) & 1
            outside = (inside == 0) & (kinds != 34)
            marks, kinds = marks[outside], kinds[outside]
        if last and data[-1:] != b"\n":
            marks, kinds = np.append(marks, len(data)), np.append(kinds, np.uint8(10))
        closing = np.flatnonzero(kinds == 10)
        newlines, separators = marks[closing], marks[kinds != 10]
        if not newlines.size:
            return 0
        used = min(int(newlines[-1]) + 1, len(data))
        starts = np.concatenate((np.zeros(1, newlines.dtype), newlines[:-1] + 1))
        ends = newlines - (array[np.maximum(newlines - 1, 0)] == 13)
        opened = np.concatenate((np.zeros(1, closing.dtype), closing[:-1] + 1)) - np.arange(closing.size)
        counts = np.diff(closing, prepend=-1)  # a row has one cell more than separators
        full = ends > starts  # an empty line is no row
        if not full.all():
            starts, ends, newlines, opened, counts = (x[full] for x in (starts, ends, newlines, opened, counts))
        if not starts.size:
            return used
        rows = np.stack((starts, np.minimum(newlines + 1, len(data))), axis=1) + base
        self.last = rows[-WITHIN:] if len(rows) >= WITHIN else np.concatenate((self.last, rows))[-WITHIN:]
        self._failures(data[:used], rows, base)
        even = counts == self._width
        self._raggeds += int(even.size - np.count_nonzero(even))
        for place in np.flatnonzero(~even)[: STAND_OUT - len(self._ragged)].tolist():
            self._ragged.append(((int(rows[place, 0]), int(rows[place, 1])), int(counts[place])))
        if not even.all():
            starts, ends, opened, rows = starts[even], ends[even], opened[even], rows[even]
        data += bytes(8)
        words = np.ndarray((len(data) - 7,), np.dtype("<u8"), data, 0, (1,))  # the eight bytes from each place on
        numbers = (base // BLOCK) % self._every == 0
        for number, column in enumerate(self._columns):
            if not starts.size or column.done(numbers):
                continue
            work.spend(ARRAYS)
            opens = starts if number == 0 else separators[opened + (number - 1)] + 1
            closes = ends if number == self._width - 1 else separators[opened + number]
            column.look(data, words, rows, opens, closes, numbers)
        self.rows += int(even.size)
        return used

    def _failures(self, data: bytes, rows: Any, base: int) -> None:
        """Count the rows with words of failure; a word that many rows have says nothing, and is dropped."""
        import numpy as np

        bound = max((self.rows + len(rows)) // FEW, 20)
        view, starts = memoryview(data), np.ascontiguousarray(rows[:, 0])  # or each search would copy them first
        for word, (count, where) in list(self._words.items()):
            at = int(stringzilla.find(view, word))
            while at >= 0 and count <= bound:
                number = int(np.searchsorted(starts, base + at, side="right")) - 1
                row = int(rows[number, 0]), int(rows[number, 1])
                count += 1  # noqa: PLW2901  kept below
                if len(where) < EXTREMES:
                    where.append(row)
                found = int(stringzilla.find(view[row[1] - base :], word)) if row[1] - base < len(data) else -1
                at = row[1] - base + found if found >= 0 else -1
            self._words[word] = count, where
            if count > bound:
                del self._words[word]


class _Column:
    """What is known of one column: how often each value comes while they are few, and the farthest numbers."""

    def __init__(self) -> None:
        self.values: dict[int, tuple[int, list[Row]]] | None = {}  # by a key: how often, and the first rows
        self._numeric: bool | None = None
        self._sample: list[tuple[float, float]] = []  # numbers, and for how many rows each stands
        self._ends: list[tuple[float, Row]] = []

    def done(self, numbers: bool) -> bool:
        """Return whether nothing in it can stand out: many values, and no numbers that are asked for."""
        return self.values is None and (self._numeric is False or not numbers)

    def look(self, data: bytes, words: Any, rows: Any, opens: Any, closes: Any, numbers: bool) -> None:
        """Look at the cells of a block, which reach from `opens` to `closes`."""
        import numpy as np

        length = np.maximum(closes - opens, 0)
        opening = words[opens] & _MASKS()[np.minimum(length, 8)]
        if self.values is not None:
            keys = opening * np.uint64(0x9E3779B97F4A7C15) + length.astype(np.uint64)
            if (length > 8).any():
                closing = words[np.maximum(closes - 8, 0)] * (length > 8)
                middle = words[opens + np.maximum(length // 2 - 4, 0)] * (length > 8)
                keys ^= closing * np.uint64(0xC2B2AE3D27D4EB4F) ^ middle * np.uint64(0x165667B19E3779F9)
                keys += (rows[:, 0] * (length > 24)).astype(np.uint64)  # longer ones are each their own: text, no value
            self._count(keys, rows)
        if numbers and self._numeric is not False:
            if not length.all():
                some = np.flatnonzero(length)
                rows, opens, closes, opening, length = (x[some] for x in (rows, opens, closes, opening, length))
            self._measure(data, rows, opens, closes, opening, length)

    def _count(self, keys: Any, rows: Any) -> None:
        """Count values: known ones by their place among the known, the others by sorting what is left."""
        import numpy as np

        assert self.values is not None
        known = np.array(sorted(self.values), np.uint64)
        new = np.arange(keys.size)
        if known.size:
            places = np.minimum(np.searchsorted(known, keys), known.size - 1)
            same = known[places] == keys
            again = np.bincount(places[same], minlength=known.size)
            for key, more in zip(known.tolist(), again.tolist(), strict=True):
                count, where = self.values[key]
                if more and len(where) < EXTREMES:
                    first = np.flatnonzero(keys == np.uint64(key))[: EXTREMES - len(where)]
                    where = [*where, *_rows_at(rows, first)]
                self.values[key] = count + more, where
            new = np.flatnonzero(~same)
        if new.size:
            order, starts, counts = group(keys[new])
            if starts.size + known.size > MANY:
                self.values = None
                return
            order = new[order]
            for key, start, more in zip(keys[order[starts]].tolist(), starts.tolist(), counts.tolist(), strict=True):
                self.values[key] = more, _rows_at(rows, order[start : start + min(EXTREMES, more)])

    def _measure(self, data: bytes, rows: Any, opens: Any, closes: Any, opening: Any, length: Any) -> None:
        """Keep the largest and smallest numbers."""
        import numpy as np

        size = int(length.size)
        some = list(range(0, size, max(1, size // (64 if self._sample else 256))))
        misses = len(some) // 10 if self._numeric is None else len(some)
        good = _numbers(data, opens, closes, some, misses)
        if self._numeric is None:
            self._numeric = len(good) >= 0.9 * len(some) and len(good) >= 3
        if not self._numeric:
            return
        self._sample += [(number, size / len(some)) for number, _ in good]
        places = list(range(min(size, 2 * EXTREMES)))
        if size > len(places):
            order = _order(opening, length)
            parted = np.argpartition(order, (EXTREMES, size - EXTREMES - 1))
            places = [*parted[:EXTREMES].tolist(), *parted[-EXTREMES:].tolist()]
        good = _numbers(data, opens, closes, places, len(places))
        where = _rows_at(rows, [place for _, place in good])
        self._ends += [(number, row) for (number, _), row in zip(good, where, strict=True)]
        ends = sorted(set(self._ends))
        self._ends = ends if len(ends) <= 2 * EXTREMES else [*ends[:EXTREMES], *ends[-EXTREMES:]]

    def rare(self, rows: int) -> list[tuple[int, list[Row]]]:
        """Return values that occur much less often than the others: how often, and where first."""
        bound = rows / len(self.values) / RARE if self.values else 0
        return [about for about in (self.values or {}).values() if about[0] <= bound]

    def far(self) -> list[tuple[float, Row]]:
        """Return numbers far outside of where most are, the farthest first."""
        if not self._numeric or len(self._sample) < 20:
            return []
        half, passed = sum(weight for _, weight in self._sample) / 2, 0.0
        quartiles: list[float] = []
        for value, weight in sorted(self._sample):
            passed += weight
            if passed >= (len(quartiles) + 0.5) * half and len(quartiles) < 2:
                quartiles.append(value)
        low, high = quartiles
        wide = (high - low) or abs(high) / 2 or 1.0
        below = sum(1 for value, _ in self._ends if value < 0)
        odd = low > 0 and below < EXTREMES  # among numbers above zero, one or two below it are far whatever they are
        distance = [
            (max(low - value, value - high) / wide + FAR * (odd and value < 0), row) for value, row in self._ends
        ]
        return sorted((-far, row) for far, row in distance if far > FAR)


def _quoting(array: Any, quotes: Any, separator: int, work: Work) -> Any:
    """Return the quotes that open or close a cell: one opens only at the very beginning of it. None: there is no telling."""
    import numpy as np

    before = np.where(quotes == 0, 10, array[np.maximum(quotes - 1, 0)])
    begins = (before == separator) | (before == 10)
    if not begins.any():
        return quotes[:0]
    for _ in range(STRAY_QUOTES):
        work.spend(int(quotes.size))
        good = begins[::2].copy()
        pairs = min(good.size - 1, quotes[1::2].size)
        good[1 : pairs + 1] |= quotes[2::2][:pairs] - 1 == quotes[1::2][:pairs]  # two of them are one in a quoted cell
        stray = np.flatnonzero(~good)
        if not stray.size:
            return quotes
        quotes, begins = np.delete(quotes, 2 * stray[0]), np.delete(begins, 2 * stray[0])
    return None


def _order(opening: Any, length: Any) -> Any:
    """Return integers that sort like the numbers that cells begin with, to eight digits; those bytes are `opening`."""
    import numpy as np

    negative = (opening & np.uint64(0xFF)) == 0x2D
    opening = np.where(negative, opening >> np.uint64(8), opening)
    dots = opening ^ np.uint64(0x2E2E2E2E2E2E2E2E)
    dots = (dots - np.uint64(0x0101010101010101)) & ~dots & np.uint64(0x8080808080808080)
    lowest = dots & (~dots + np.uint64(1))
    ones = np.uint64(0x0101010101010101)
    point = (((lowest - np.uint64(1)) & ones) * ones >> np.uint64(56)).astype(np.int64) - 1
    digits = np.where(dots, point, length - negative)
    order = (np.minimum(digits, 127) << 56) | (opening.byteswap() >> np.uint64(8)).astype(np.int64)
    return np.where(negative, -order, order)


def _MASKS() -> Any:  # noqa: N802  a constant, but for the import
    import numpy as np

    return np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


def _rows_at(rows: Any, places: Any) -> list[Row]:
    return [(start, end) for start, end in rows[places].tolist()]


def _numbers(data: bytes, opens: Any, closes: Any, places: list[int], misses: int) -> list[tuple[float, int]]:
    """Return the numbers in these cells, and the place of each; up to where more are none than there may be."""
    out = []
    for place, start, end in zip(places, opens[places].tolist(), closes[places].tolist(), strict=True):
        number = _number(data[start:end])
        if number is not None:
            out.append((number, place))
        elif misses:
            misses -= 1
        else:
            break
    return out


def _number(text: bytes) -> float | None:
    try:
        number = float(text.strip(b'" '))
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None
