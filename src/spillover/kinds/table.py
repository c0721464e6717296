"""Tables (CSV, TSV, also ; and |): the header, both ends and the rows that stand out, each with all its columns.

One pass over the rows, a block at a time, finds rows that stand out: another number of cells, a rare value of a column
that has few, a word of failure, a number far from the others of its column in a sample of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.lib.stride_tricks import sliding_window_view

from spillover.document.clean import flatten
from spillover.document.document import ARRAYS, OBJECT, Document
from spillover.kinds.ends import char_before
from spillover.kinds.log.classes import FAILURE_WORDS
from spillover.kinds.sample import PIECE_BYTES, Sample, are_most
from spillover.kinds.selection import MAX_TITLE_BYTES, Contents, Hidden, Part, Room, Span, join, largest
from spillover.settings.settings import Call

Array = Any  # of numpy; its own types say little about what is in one
Row = tuple[int, int]  # from, to, with its newline

#: What `Clip.kind` may say.
NAMES = ("csv", "tsv")
#: The bytes of the head that tell whether these are rows.
FIRST_BYTES = 1 << 14
#: Fewer rows than this are not a table, unless the name says so.
FEWEST_ROWS = 8
_TYPED = re.compile(
    rb'"?(?:[-+]?[$]?\d[\d,]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?%?|\d{4}-\d\d-\d\d(?:[T ][\d:.+-]++Z?)?'
    rb'|(?i:true|false|yes|no|null|nan|n/a))?"?'
)
SEPARATORS = b",\t;|"
#: Bytes of the beginning that tell how a table is written. More: a table with longer rows is recognised, more slowly.
HEAD_BYTES = 1 << 16
#: The share of rows that must have as many cells as the first. More: a table with some broken rows counts as a log.
STEADY = 0.8
#: Bytes of each cell that are shown where whole rows are too long; 0 shows all of it. More values: more attempts.
CELL_BYTES = (0, 240, 80, 24)
#: A cell is cut if that hides more bytes than this. Less: markers that take more room than they free.
MIN_HIDDEN_BYTES = 60
#: Characters of a name or a value in a reason. More: longer reasons.
REASON_CHARS = 40

#: The first block is small, and tells which columns have few values. More: more sorting of columns that have many.
FIRST_BLOCK_BYTES = 1 << 16
#: Bytes read at a time. More: more memory, up to forty times as much for rows of a few bytes.
BLOCK_BYTES = 1 << 20
#: A longer row has a quote that is never closed. More: more memory before a table with such a row is given up.
MAX_ROW_BYTES = 1 << 24
#: Columns that are looked into. More: wide tables take longer.
MAX_COLUMNS = 32
#: A column with more values has no usual ones. More: more memory, and values of long columns count as rare.
MAX_VALUES = 200
#: Bytes by which values are compared; a longer one is text, and equal to no other. More: slower.
VALUE_BYTES = 24
#: A value is rare when it occurs this many times less often than the average value of its column. More: fewer rows.
RARE = 10
#: A word of failure counts where at most one row in this many has it. More: fewer rows.
ROWS_PER_WORD = 50
#: Rows of a block whose numbers are read, until there are as many numbers. More: an extreme one is missed less often.
SAMPLE_ROWS = 4_000
#: The share of sampled cells that must be numbers. Less: columns of mixed content report outliers.
NUMERIC = 0.9
#: A number is far when its distance from the quartiles is this many times theirs. More: fewer rows.
FAR = 4
#: Rows shown for one reason: a rare value, a word, either end of the numbers. More: fewer reasons fit.
ROWS_PER_REASON = 3
#: Rows that stand out, in all. More: more work, where few of them fit.
MAX_OUTLIERS = 40
#: Rows that are known of each end. More: more memory.
END_ROWS = 2_000
_NEWLINE, _RETURN = b"\n\r"
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


class Shape(Struct, frozen=True):
    """How a table is written: its separator, the cells of a row, the end of the first row, the share of steady rows."""

    separator: bytes
    columns: int
    header: int
    steady: float

    def holds(self, lines: bytes) -> bool:
        """Return whether these lines, from anywhere in the output, are such rows; with quotes there is no telling."""
        if b'"' in lines:
            return True
        counts = [line.count(self.separator) + 1 for line in lines.splitlines() if line]
        return counts.count(self.columns) >= STEADY * len(counts)


def shape_of(head: bytes, *, whole: bool) -> Shape | None:
    """Return how the table that begins with `head` is written, or None if it is none. `whole`: nothing follows."""
    best = None
    for byte in SEPARATORS:
        separator = bytes([byte])
        if separator not in head[: head.find(b"\n") + 1 or None]:
            continue
        places = rows(head, separator)
        columns = [len(split(head[start:end], separator)) for start, end in places]
        columns = columns if whole else columns[:-1]
        if len(columns) < 3 or columns[0] < 2:
            continue
        steady = columns.count(columns[0]) / len(columns)
        if steady >= STEADY and (best is None or (columns[0], steady) > (best.columns, best.steady)):
            best = Shape(separator, columns[0], places[0][1], steady)
    return best


def split(row: bytes, separator: bytes) -> list[bytes]:
    """Return the cells of a row."""
    return (
        [row[start:end] for start, end in cells(row, separator)]
        if b'"' in row
        else row.rstrip(b"\r\n").split(separator)
    )


def cells(row: bytes, separator: bytes) -> list[Row]:
    """Return where each cell of a row begins and ends; the line end is part of none."""
    body = row.removesuffix(b"\n").removesuffix(b"\r")
    cell = _patterns(separator)[0]
    places = [cell.match(body, 0).span()]  # type: ignore[union-attr]  # an empty cell matches as well
    while places[-1][1] < len(body):
        places.append(cell.match(body, places[-1][1] + 1).span())  # type: ignore[union-attr]
    return places


def rows(data: bytes, separator: bytes) -> list[Row]:
    """Return the rows of a piece that begins with one; empty lines are none."""
    if b'"' not in data:
        lines = data.split(b"\n")
        ends = [*accumulate([len(line) + 1 for line in lines[:-1]]), len(data)]
        return [(start, end) for line, start, end in zip(lines, [0, *ends], ends, strict=False) if line.strip(b"\r")]
    return [match.span() for match in _patterns(separator)[1].finditer(data) if match[0].strip(b"\r\n")]


@cache
def _patterns(separator: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
    """Return patterns of a cell, a row, and a quoted part: only a quote at the beginning of a cell quotes."""
    between = re.escape(separator)
    inside = rb'"[^"]*+(?:""[^"]*+)*+'
    cell = rb'(?:%b(?:"|\Z))?[^%b\n]*+' % (inside, between)
    row = rb"%b(?:%b%b)*+(?:\n|\Z)" % (cell, between, cell)
    return re.compile(cell), re.compile(row), re.compile(rb'(?<![^%b\n])%b("|\Z)' % (between, inside))


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return the header, both ends and outlying rows; nothing if this is not a table, or there is no room for one."""
    head = document.blob.read(0, max(document.reach, HEAD_BYTES))
    is_whole = document.size <= len(head)
    shape = shape_of(head[:HEAD_BYTES], whole=document.size <= HEAD_BYTES) or shape_of(head, whole=is_whole)
    if shape is None:
        return []
    scan = Scan(document, shape)
    if not scan.run():
        return []
    first = rows(head, shape.separator)
    reasons = dict(scan.outliers())
    order = _order_rows((first if is_whole else first[:-1])[:END_ROWS], scan.last_rows(), list(reasons))
    document.work.spend(OBJECT * len(order))

    def spans(count: int, width: int) -> list[Span]:
        pieces = [cut_row(document, shape, row, reasons.get(row, ""), width) for row in order[:count]]
        return join([span for piece in pieces for span in piece])

    likely = min(len(order), 5 + min(8, len(reasons)))
    width = next((width for width in CELL_BYTES if room.fill(spans(likely, width)) <= 1), CELL_BYTES[-1])
    count = largest(len(order), lambda count: room.fill(spans(count, width)))
    return spans(count, width) if count >= min(3, len(order)) else []


def outline(document: Document) -> Contents:
    """Show the first row, which mostly names the columns."""
    first = document.blob.read(0, min(document.start(2), MAX_TITLE_BYTES))
    return Contents("Table", [Part(flatten(first), 1, 1)])


def _order_rows(first: Sequence[Row], last: Sequence[Row], outliers: Sequence[Row]) -> list[Row]:
    """Return rows in the order in which they get room: the header, some of both ends, outliers, more of both ends."""
    header, *first = first
    last = last[::-1]
    shorter = min(len(first), len(last))
    ends = [row for pair in zip(first, last, strict=False) for row in pair]
    ends += [*first[shorter:], *last[shorter:]]
    return list(dict.fromkeys((header, *ends[:4], *outliers, *ends[4:])))


def cut_row(document: Document, shape: Shape, row: Row, reason: str, width: int) -> list[Span]:
    """Return a row whole (`width` 0), or with `width` bytes of each longer cell: column N is still column N."""
    start, end = row
    if not width or end - start <= width + MIN_HIDDEN_BYTES:
        return [Span(start, end, reason)]
    data = document.blob.read(start, end)
    document.work.spend(OBJECT * data.count(shape.separator))
    spans = []
    at = 0
    for opens, closes in cells(data, shape.separator):
        is_quoted = data[opens : opens + 1] == b'"'
        # Numbers in a marker have commas: outside of quotes it would be more than one cell.
        if closes - opens <= width + MIN_HIDDEN_BYTES or (shape.separator == b"," and not is_quoted):
            continue
        cut = char_before(data, opens + width, opens + 1)
        while cut > opens + 1 and data[cut - 1 : cut] == b'"':
            cut -= 1  # not between the two of a doubled quote
        spans.append(Span(start + at, start + cut, reason, Hidden("chars")))
        at = closes - 1 if is_quoted else closes
    return [*spans, Span(start + at, end, reason)]


class Value(Struct):
    """A value or a word: how many rows have it, and the first of them."""

    count: int = 0
    rows: list[Row] = []


class Column(Struct):
    """The values of a column, None once they are many; and its numbers in a sample of rows, None once it holds text."""

    values: dict[int, Value] | None = {}
    numbers: list[tuple[float, Row]] | None = []

    def count_values(self, keys: Array, places: Array) -> None:
        """Count the values of a block, given a hash of each."""
        if self.values is None:
            return
        unique, counts = np.unique(keys, return_counts=True)
        if len(self.values.keys() | set(unique.tolist())) > MAX_VALUES:
            self.values = None
            return
        for key, count in zip(unique, counts.tolist(), strict=True):
            value = self.values.setdefault(int(key), Value())
            value.count += count
            if len(value.rows) < ROWS_PER_REASON:
                first = np.flatnonzero(keys == key)[: ROWS_PER_REASON - len(value.rows)]
                value.rows += map(tuple, places[first].tolist())

    def add_numbers(self, texts: Sequence[bytes], places: Sequence[Row]) -> None:
        """Add the numbers in some cells of a block."""
        if self.numbers is None or len(self.numbers) >= SAMPLE_ROWS:
            return
        pairs = [(_read_number(text), row) for text, row in zip(texts, places, strict=True) if text]
        numbers = [(number, row) for number, row in pairs if number is not None]
        self.numbers = None if len(numbers) < NUMERIC * len(pairs) else self.numbers + numbers

    def rare(self, total: int) -> list[Value]:
        """Return the values that occur much less often than the others."""
        values = list((self.values or {}).values())
        return [value for value in values if value.count * RARE * len(values) <= total]

    def far(self) -> list[Row]:
        """Return the rows with numbers far from where most are, the farthest first."""
        numbers = sorted(self.numbers or ())
        if len(numbers) < 20:
            return []
        low, high = numbers[len(numbers) // 4][0], numbers[len(numbers) * 3 // 4][0]
        spread = (high - low) or abs(high) / 2 or 1.0
        ends = [*numbers[:ROWS_PER_REASON], *numbers[-ROWS_PER_REASON:]]
        # Among numbers above zero, one or two below it are far whatever they are.
        is_odd = low > 0 and sum(number < 0 for number, _ in ends) < ROWS_PER_REASON
        distances = [
            (max(low - number, number - high) / spread + FAR * (is_odd and number < 0), row) for number, row in ends
        ]
        return [row for distance, row in sorted(distances, key=lambda pair: (-pair[0], pair[1])) if distance > FAR]


class Scan:
    """One pass over all rows below the header: how many there are, the last ones, and outliers."""

    def __init__(self, document: Document, shape: Shape) -> None:
        self.rows = 0
        self._document = document
        self._shape = shape
        self._ragged_rows = 0
        self._ragged: list[tuple[Row, int]] = []
        self._last: Array = np.empty((0, 2), np.int64)
        self._columns = [Column() for _ in range(min(shape.columns, MAX_COLUMNS))]
        header = document.blob.read(0, shape.header).lower()
        self._words = {word: Value() for word in FAILURE_WORDS if word not in header}

    def run(self) -> bool:
        """Look at every row; return False if they are no rows of a table."""
        blob, at, carry = self._document.blob, self._shape.header, b""
        while at < blob.size:
            size = max(
                BLOCK_BYTES if self.rows else FIRST_BLOCK_BYTES, len(carry)
            )  # a long row is not read in small steps
            data = carry + blob.read(at, at + size)
            base = at - len(carry)
            at = base + len(data)
            carry = data[self._read_block(data, base, is_last=at == blob.size) :]
            if len(carry) > MAX_ROW_BYTES:
                return False
        return not carry and self._ragged_rows * 4 <= self.rows

    def last_rows(self) -> list[Row]:
        """Return the last rows, in order."""
        return [(start, end) for start, end in self._last.tolist()]

    def outliers(self) -> Iterator[tuple[Row, str]]:
        """Yield the rows that stand out and why: the rarest reason first, one row of each before the second of any."""
        names = [self._cell((0, self._shape.header), number) for number in range(len(self._columns))]
        names = [name if name and not name[0].isdigit() else f"column {at}" for at, name in enumerate(names, 1)]
        groups = [[(row, f"{count} cells, not {self._shape.columns}") for row, count in self._ragged]]
        rare = []
        for number, column in enumerate(self._columns):
            for value in column.rare(self.rows):
                text = self._cell(value.rows[0], number)
                reason = f"{names[number]}={text} is rare, {value.count:,} of {self.rows:,} rows"
                rare.append((value.count * len(column.values or ()), number, [(row, reason) for row in value.rows]))
        groups += [group for *_, group in sorted(rare)]
        for word, value in self._words.items():
            reason = f"“{word.decode()}” is in {value.count:,} of {self.rows:,} rows"
            groups.append([(row, reason) for row in value.rows if value.count * ROWS_PER_WORD <= self.rows])
        for number, column in enumerate(self._columns):
            groups.append([(row, f"{names[number]}={self._cell(row, number)} is far outside") for row in column.far()])
        turns = max(map(len, groups))
        reasons = [group[turn] for turn in range(turns) for group in groups if turn < len(group)]
        first = dict(reversed(reasons))  # the first reason of each row
        yield from [(row, first[row]) for row in dict.fromkeys(row for row, _ in reasons)][:MAX_OUTLIERS]

    def _cell(self, row: Row, number: int) -> str:
        """Return one cell of a row as it stands in a reason."""
        data = self._document.blob.read(row[0], min(row[1], row[0] + HEAD_BYTES))
        texts = split(data, self._shape.separator)
        text = " ".join(texts[number].decode("utf-8", "replace").strip('" ').split()) if number < len(texts) else ""
        return text if len(text) <= REASON_CHARS else text[: REASON_CHARS - 1] + "…"

    def _read_block(self, data: bytes, base: int, *, is_last: bool) -> int:
        """Look at the complete rows of a block; return how many bytes they take."""
        masked, is_open = self._mask(data)
        if is_last and is_open:
            return 0
        array = np.frombuffer(masked, np.uint8)
        newlines = np.flatnonzero(array == _NEWLINE)
        separators = np.flatnonzero(array == self._shape.separator[0])
        if is_last and not data.endswith(b"\n"):
            newlines = np.append(newlines, len(data))
        if not newlines.size:
            return 0
        length = min(int(newlines[-1]) + 1, len(data))
        starts = np.concatenate(([0], newlines[:-1] + 1))
        ends = newlines - (array[np.maximum(newlines - 1, 0)] == _RETURN)
        is_row = ends > starts  # an empty line is none
        starts, ends = starts[is_row], ends[is_row]
        places = np.stack((starts, np.minimum(newlines[is_row] + 1, len(data))), axis=1) + base
        if not len(places):
            return length
        self.rows += len(places)
        self._last = np.concatenate((self._last, places))[-END_ROWS:]
        self._count_words(data[:length].lower(), places - base, base)
        before = np.searchsorted(separators, starts)
        counts = np.searchsorted(separators, ends) - before + 1
        is_even = counts == self._shape.columns
        self._ragged_rows += int(np.count_nonzero(~is_even))
        for place in np.flatnonzero(~is_even)[: MAX_OUTLIERS - len(self._ragged)].tolist():
            self._ragged.append(((int(places[place, 0]), int(places[place, 1])), int(counts[place])))
        self._read_columns(data, starts[is_even], ends[is_even], separators, before[is_even], places[is_even])
        return length

    def _mask(self, data: bytes) -> tuple[bytes, bool]:
        """Return a block with what is quoted blanked out, and whether the last quote stays open."""
        if b'"' not in data:
            return data, False
        masked = bytearray(data)
        is_open = False
        self._document.work.spend(OBJECT * data.count(b'"') // 2)
        for match in _patterns(self._shape.separator)[2].finditer(data):
            start, end = match.span()
            masked[start:end] = bytes(end - start)
            is_open = not match[1]
        return bytes(masked), is_open

    def _read_columns(
        self, data: bytes, starts: Array, ends: Array, separators: Array, before: Array, places: Array
    ) -> None:
        """Look at the cells of a block, column by column; `before` counts the separators before each row."""
        windows = sliding_window_view(np.frombuffer(data + bytes(VALUE_BYTES), np.uint8), VALUE_BYTES)
        step = -(-len(starts) // SAMPLE_ROWS) or 1
        sample = [(start, end) for start, end in places[::step].tolist()]
        for number, column in enumerate(self._columns):
            if not len(starts) or (column.values is None and column.numbers is None):
                continue
            self._document.work.spend(ARRAYS)
            opens = starts if number == 0 else separators[before + number - 1] + 1
            closes = ends if number == self._shape.columns - 1 else separators[before + number]
            if column.values is not None:
                column.count_values(_hash_cells(windows, opens, closes), places)
            edges = zip(opens[::step].tolist(), closes[::step].tolist(), strict=True)
            column.add_numbers([data[start:end] for start, end in edges], sample)

    def _count_words(self, folded: bytes, places: Array, base: int) -> None:
        """Count the rows with words of failure; a word that many rows have says nothing, and is dropped."""
        limit = max(self.rows // ROWS_PER_WORD, 20)
        for word, value in list(self._words.items()):
            at = folded.find(word)
            while at >= 0 and value.count <= limit:
                start, end = places[np.searchsorted(places[:, 0], at, side="right") - 1].tolist()
                value.count += 1
                if len(value.rows) < ROWS_PER_REASON:
                    value.rows.append((base + start, base + end))
                at = folded.find(word, end)
            if value.count > limit:
                del self._words[word]


def _hash_cells(windows: Array, opens: Array, closes: Array) -> Array:
    """Return a number for each cell, the same for equal ones; a long cell is equal to no other."""
    lengths = closes - opens
    texts = windows[opens]
    texts[np.arange(VALUE_BYTES) >= lengths[:, None]] = 0
    keys = (texts.view("<u8") * _MIX).sum(axis=1, dtype=np.uint64) + lengths.astype(np.uint64)
    return keys + np.where(lengths > VALUE_BYTES, opens, 0).astype(np.uint64)


def _read_number(text: bytes) -> float | None:
    try:
        number = float(text.strip(b'" '))
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None


def recognise(sample: Sample) -> str:
    """Return "csv" or "tsv" for rows of equally many cells with a header or columns of numbers, not for prose."""
    shape = shape_of(sample.head[:FIRST_BYTES], whole=sample.size <= FIRST_BYTES)
    shape = shape or shape_of(sample.head, whole=sample.is_whole)  # rows may be long
    if shape is None or not _is_table(sample, shape):
        return ""
    return "tsv" if shape.separator == b"\t" else "csv"


def _is_table(sample: Sample, shape: Shape) -> bool:
    is_hinted = sample.hint in NAMES
    if shape.steady < (0.9 if is_hinted else 0.95):
        return False
    head = sample.head[:FIRST_BYTES]
    places = rows(head, shape.separator)
    if len(places) <= FEWEST_ROWS:
        head = sample.head
        places = rows(head, shape.separator)
    if not is_hinted and re.search(rb"\n[ \t]*+\n[ \t]*+\S", head[:PIECE_BYTES]):
        return False
    header, *lines = [split(head[start:end], shape.separator) for start, end in places]
    body = [row for row in lines if len(row) == shape.columns]
    spaces = len([cell for row in body for cell in row[1:] if cell[:1] == b" "])
    is_prose = shape.separator == b"," and spaces * 4 > len(body) * (shape.columns - 1)
    has_names = len(set(header)) == len(header) and all(
        re.match(rb'"?[^\W\d]', cell) and len(cell) < 64 for cell in header
    )
    if not body or not all(map(shape.holds, sample.inner_pieces())):
        return False
    if is_hinted:
        return has_names or not is_prose
    has_quotes = b'"' in head and sum(any(map(_is_quoted, row)) for row in body) * 10 >= len(body)
    if is_prose or len(body) < (2 if has_names and has_quotes and not sample.is_whole else FEWEST_ROWS):
        return False
    columns = list(zip(*body, strict=True))
    is_typed = (are_most(0.9, column, _TYPED.fullmatch) for column in columns)
    if not has_names:
        return sum(is_typed) * 2 > shape.columns > 2
    is_repeated = (
        len(set(column)) * 4 <= len(body) and cell not in column for cell, column in zip(header, columns, strict=True)
    )
    return has_quotes or any(is_typed) or any(is_repeated)


def _is_quoted(cell: bytes) -> bool:
    return len(cell) > 2 and cell[:1] == b'"' != cell[1:2] and cell.endswith(b'"')
