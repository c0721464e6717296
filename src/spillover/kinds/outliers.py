"""Which rows of a table stand out: rare values, numbers far outside, words of failure, another number of cells.

One pass over the output, a block at a time. What is bounded: COLUMNS are looked into, of each at most MANY values are
counted and SAMPLE numbers read; WITHIN rows of the end are known, and STAND_OUT rows are named.
"""

from __future__ import annotations

import stringzilla

from spillover.document.work import ARRAYS
from spillover.kinds.arrays import group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.document.document import Document
    from spillover.document.work import Work

    Row = tuple[int, int]  # from, to, with its newline

#: A small block comes first: it tells which columns hold few values, so that large ones are not sorted to find out.
FIRST_BLOCK = 1 << 16
BLOCK = 1 << 22
#: Numbers are compared in so many rows of a block, spread over it, and in so many in all.
SAMPLE_OF_BLOCK, SAMPLE = 4_000, 16_000
#: So many cells tell whether a column holds numbers, and so much of them must be.
PROBE, NUMERIC = 64, 0.9
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

    def run(self, document: Document) -> bool:
        """Look at every row; False when they are no rows."""
        import numpy as np

        self.last = np.empty((0, 2), np.int64)
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
            groups.append([(row, f"{names[number]}={value(row, number)} is far outside") for row in column.far()])
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
        for number, column in enumerate(self._columns):
            if not starts.size or column.is_done():
                continue
            work.spend(ARRAYS)
            opens = starts if number == 0 else separators[opened + (number - 1)] + 1
            closes = ends if number == self._width - 1 else separators[opened + number]
            column.look(data, words, rows, opens, closes)
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
    """What is known of one column: how often each value comes while they are few, and some of its numbers."""

    def __init__(self) -> None:
        self.values: dict[int, tuple[int, list[Row]]] | None = {}  # by a key: how often, and the first rows
        self._is_numeric: bool | None = None
        self._numbers: list[tuple[float, Row]] = []

    @property
    def _is_measured(self) -> bool:
        return self._is_numeric is False or len(self._numbers) >= SAMPLE

    def is_done(self) -> bool:
        """Return whether nothing more in it can stand out: many values, and no more numbers are asked for."""
        return self.values is None and self._is_measured

    def look(self, data: bytes, words: Any, rows: Any, opens: Any, closes: Any) -> None:
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
        if not self._is_measured:
            self._measure(data, rows, opens, closes)

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

    def _measure(self, data: bytes, rows: Any, opens: Any, closes: Any) -> None:
        """Read the numbers of some cells."""
        step = -(-len(rows) // SAMPLE_OF_BLOCK)
        edges = zip(opens[::step].tolist(), closes[::step].tolist(), rows[::step].tolist(), strict=True)
        cells = [(data[start:end], (first, last)) for start, end, (first, last) in edges if end > start]
        if self._is_numeric is None:
            some = cells[:: -(-len(cells) // PROBE) or 1]
            good = sum(_number(cell) is not None for cell, _ in some)
            self._is_numeric = good >= NUMERIC * len(some) and good >= EXTREMES
        if self._is_numeric:
            self._numbers += [(number, row) for cell, row in cells if (number := _number(cell)) is not None]

    def rare(self, rows: int) -> list[tuple[int, list[Row]]]:
        """Return values that occur much less often than the others: how often, and where first."""
        bound = rows / len(self.values) / RARE if self.values else 0
        return [about for about in (self.values or {}).values() if about[0] <= bound]

    def far(self) -> list[Row]:
        """Return the rows with numbers far outside of where most are, the farthest first; EXTREMES on either side at most."""
        numbers = sorted(self._numbers)
        if len(numbers) < 20:
            return []
        low, high = numbers[len(numbers) // 4][0], numbers[len(numbers) * 3 // 4][0]
        wide = (high - low) or abs(high) / 2 or 1.0
        ends = [*numbers[:EXTREMES], *numbers[-EXTREMES:]]
        # Among numbers above zero, one or two below it are far whatever they are.
        odd = low > 0 and sum(value < 0 for value, _ in ends) < EXTREMES
        distance = [(max(low - value, value - high) / wide + FAR * (odd and value < 0), row) for value, row in ends]
        return [row for far, row in sorted(distance, key=lambda each: (-each[0], each[1])) if far > FAR]


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


def _MASKS() -> Any:  # noqa: N802  a constant, but for the import
    import numpy as np

    return np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


def _rows_at(rows: Any, places: Any) -> list[Row]:
    return [(start, end) for start, end in rows[places].tolist()]


def _number(text: bytes) -> float | None:
    try:
        number = float(text.strip(b'" '))
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None
