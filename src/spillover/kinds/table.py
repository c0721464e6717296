"""Tables (CSV, TSV, also ; and |): the header, the first and last rows and those that stand out, with all their columns."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate

from msgspec import Struct

from spillover.document.work import OBJECT
from spillover.kinds.outliers import COLUMNS, WITHIN, Scan
from spillover.kinds.selection import Hidden, Span, join, largest
from spillover.kinds.wanted import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document
    from spillover.kinds.outliers import Row
    from spillover.kinds.selection import Fill
    from spillover.kinds.wanted import Wanted

SEPARATORS = b",\t;|"
SAMPLE = 1 << 16
#: The share of rows that must have as many cells as the first, or it is not a table.
STEADY = 0.8
#: How much of a cell is left when whole rows are too long.
CELLS = (0, 240, 80, 24)
#: A cell is shortened if that hides more than the marker takes.
WORTH = 60
#: How much of a name or a value stands in a reason.
SAID = 40


class Shape(Struct, frozen=True):
    """How a table is written: what stands between two cells, how many cells a row has, where the first row ends."""

    separator: bytes
    columns: int
    header: int
    steady: float  # the part of the rows that have as many cells as the first

    def holds(self, lines: bytes) -> bool:
        """Return whether these lines, from anywhere in the output, are such rows; with quotes there is no telling."""
        if b'"' in lines:
            return True
        counts = [line.count(self.separator) + 1 for line in lines.splitlines() if line]
        return counts.count(self.columns) >= STEADY * len(counts)


def shape_of(head: bytes, *, whole: bool) -> Shape | None:
    """Return how the table that begins like this is written; None when it is none. `whole`: that is all of it."""
    best = None
    for byte in SEPARATORS:
        separator = bytes([byte])
        if separator not in head[: head.find(b"\n") + 1 or None]:
            continue
        columns, header = _widths(head, separator)
        columns = columns if whole else columns[:-1]
        if len(columns) < 3 or columns[0] < 2:
            continue
        steady = columns.count(columns[0]) / len(columns)
        shape = Shape(separator, columns[0], header, steady)
        if steady >= STEADY and (best is None or (columns[0], steady) > (best.columns, best.steady)):
            best = shape
    return best


def _widths(head: bytes, separator: bytes) -> tuple[list[int], int]:
    """Return how many cells each row of a piece has that begins with one, and where the first ends; empty lines are none."""
    if b'"' in head:
        found = rows(head, separator)
        return [len(split(head[start:end], separator)) for start, end in found], found[0][1] if found else 0
    lines = [line for line in head.split(b"\n") if line.strip(b"\r")]
    header = head.find(b"\n", head.find(lines[0])) + 1 if lines else 0
    return [line.count(separator) + 1 for line in lines], header or len(head)


def split(row: bytes, separator: bytes) -> list[bytes]:
    """Return the cells of a row."""
    body = row.removesuffix(b"\n").removesuffix(b"\r")
    if b'"' not in body:  # then each separator is one
        return body.split(separator)
    return [row[start:end] for start, end in cells(row, separator)]


def cells(row: bytes, separator: bytes, most: int | None = None) -> list[Row]:
    """Return from where to where each cell of a row reaches, or the first `most` of them; the line end is part of none."""
    body = row.removesuffix(b"\n").removesuffix(b"\r")
    if b'"' not in body and b"\n" not in body:  # then each separator is one
        ends = [*accumulate([len(cell) + 1 for cell in body.split(separator)])][:most]
        return [(start, end - 1) for start, end in zip([0, *ends], ends, strict=False)]
    pattern = _patterns(separator)[0]
    out: list[Row] = []
    at = 0
    while at <= len(body) and len(out) != most:
        match = pattern.match(body, at)
        assert match is not None  # nothing at all is a cell
        out.append(match.span())
        at = match.end() + 1
    return out


def rows(data: bytes, separator: bytes) -> list[Row]:
    """Return the rows of a piece that begins with one; empty lines are none."""
    if b'"' not in data:  # then each line is one
        lines = data.split(b"\n")
        ends = [*accumulate([len(line) + 1 for line in lines[:-1]]), len(data)]
        return [(start, end) for line, start, end in zip(lines, [0, *ends], ends, strict=False) if line.strip(b"\r")]
    return [match.span() for match in _patterns(separator)[1].finditer(data) if match[0].strip(b"\r\n")]


@cache
def _patterns(separator: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return a cell and a row. Only a quote at the very beginning quotes, and what is quoted may hold separators and newlines."""
    between = re.escape(separator)
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+(?:"|\Z))?[^%b\n]*+' % between
    return re.compile(cell), re.compile(rb"%b(?:%b%b)*+(?:\n|\Z)" % (cell, between, cell))


def select(document: Document, fill: Fill, _wanted: Wanted = NOTHING) -> list[Span] | None:
    """Return header, first, last and outlying rows; None if this is not a table, or there is no room for one."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    head = document.blob.read(0, max(document.reach, SAMPLE))
    shape = shape_of(head[:SAMPLE], whole=document.size <= SAMPLE) or shape_of(head, whole=document.size <= len(head))
    if shape is None:
        return None
    scan = Scan(shape.separator, shape.columns, shape.header)
    if not scan.run(document):
        return None
    first = rows(head, shape.separator)
    if document.size > len(head):
        first = first[:-1]
    last = [(start, end) for start, end in scan.last.tolist()]
    whys = _whys(document, shape, scan)
    order = _put_in_order(first[:WITHIN], last, list(whys))
    least, good = min(3, len(order)), min(len(order), 5 + min(8, len(whys)))
    cut: list[list[Span]] = []
    document.work.spend(OBJECT * len(order))

    def spans(count: int, cell: int) -> list[Span]:
        """Return the first so many rows, whole or with so many bytes of each cell."""
        if not cell:
            return join([Span(*row, whys.get(row, "")) for row in order[:count]])
        cut.extend(_shown(document, shape, row, whys.get(row, ""), cell) for row in order[len(cut) : count])
        return join([span for piece in cut[:count] for span in piece])

    for cell in CELLS:
        cut.clear()
        if fill(spans(good, cell)) <= 1:
            break
    count = largest(len(order), lambda count: fill(spans(count, cell)))
    return spans(count, cell) if count >= least else None


def _put_in_order(first: Sequence[Row], last: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """Return rows in the order in which they are shown, each once: the header, some of both ends, others, more of both ends."""
    header, *first = first
    last = last[::-1]
    both = min(len(first), len(last))
    ends = [row for pair in zip(first, last, strict=False) for row in pair]
    ends += [*first[both:], *last[both:]]
    return list(dict.fromkeys((header, *ends[:4], *others, *ends[4:])))


def _whys(document: Document, shape: Shape, scan: Scan) -> dict[Row, str]:
    """Return the rows that stand out, and why."""

    def said(row: Row, number: int) -> str:
        data = document.blob.read(row[0], min(row[1], row[0] + SAMPLE))
        found = cells(data, shape.separator, number + 1)
        cell = data[slice(*found[number])] if number < len(found) else b""
        text = " ".join(cell.decode("utf-8", "replace").strip('" ').split())
        return text if len(text) <= SAID else text[: SAID - 1] + "…"

    named = [said((0, shape.header), number) for number in range(min(shape.columns, COLUMNS))]
    names = [name if name and not name[0].isdigit() else f"column {at}" for at, name in enumerate(named, 1)]
    return dict(scan.standing_out(said, names))


def _shown(document: Document, shape: Shape, row: Row, why: str, most_of_cell: int) -> list[Span]:
    """Return a row whole, or with so many bytes of each longer cell: column N is still column N."""
    start, end = row
    if not most_of_cell or end - start <= most_of_cell + WORTH:
        return [Span(start, end, why)]
    data = document.blob.read(start, end)
    document.work.spend(OBJECT * data.count(shape.separator))
    spans, at = [], 0
    for opens, closes in cells(data, shape.separator):
        quoted = data[opens : opens + 1] == b'"'
        # Numbers in a marker have commas: outside of quotes it would be more than one cell.
        if closes - opens <= most_of_cell + WORTH or (shape.separator == b"," and not quoted):
            continue
        cut = opens + most_of_cell
        while cut > opens + 1 and (0x80 <= data[cut] < 0xC0 or data[cut - 1] == 0x22):
            cut -= 1  # neither half a character nor half of a doubled quote
        spans.append(Span(start + at, start + cut, why, Hidden("chars")))
        at = closes - 1 if quoted else closes
    return [*spans, Span(start + at, end, why)]
