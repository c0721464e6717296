"""What changed between two stored outputs: new lines, gone lines, and lines with other numbers, as many as fit."""

from __future__ import annotations

from msgspec import Struct

from spillover.errors import StoreError
from spillover.notice.calls import next_call
from spillover.notice.since import since_line
from spillover.retrieve.answer import answer, fill
from spillover.retrieve.names import resolve
from spillover.retrieve.opening import opened
from spillover.select.ends import most
from spillover.since.compare import compare
from spillover.since.earlier import find_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.choices import Choices
    from spillover.result import Clip
    from spillover.since.compare import LineRanges
    from spillover.store.base import Record
    from spillover.view.document import Document

#: So much of a line is shown.
LINE_CHARS = 300
#: So many lines of each kind are read, and so many bytes of each range of lines, before it is known what fits.
MOST_LINES, MOST_BYTES = 4_000, 1 << 17
#: For so many new lines, one that is gone, and one that has other numbers.
NEW_TO_GONE, NEW_TO_NUMBERS = 2, 4


class _Row(Struct, frozen=True):
    sign: str  # "+", "-" or "~"
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {self.number}: {self.text}\n"


def diff(choices: Choices, ref: str, since: str | None = None) -> tuple[Record, Clip]:
    """Return the record of an output and what is new in it against an earlier one; without one, against the run before it."""
    choices = choices.within_budget()
    named = resolve(ref, choices.outputs)
    record, document = opened(choices, named.ref)
    try:
        earlier = resolve(since, choices.outputs) if since else None
        before_ref = earlier.ref if earlier else find_before(choices.outputs, record)
        before_record, before = opened(choices, before_ref)
        try:
            compared = compare(document, before)
            said = [line for line in (named.note, earlier.note if earlier else "") if line]
            head = "\n".join((*said, f"[{since_line(record.ref, before_record.ref, compared)}]"))
            new = _rows("+", compared.new, document)
            gone = _rows("-", compared.gone, before)
            numbers = _rows("~", compared.numbers, document)
        finally:
            before.blob.close()
        total = compared.new.lines + compared.gone.lines + compared.numbers.lines

        def rows(count: int) -> list[_Row]:
            return [*new[:count], *gone[: -(-count // NEW_TO_GONE)], *numbers[: -(-count // NEW_TO_NUMBERS)]]

        def text(count: int) -> str:
            shown = rows(count)
            left = total - len(shown)
            more = f"[{left:,} more. {_go_on(choices, record.ref, new[count:] or new[-1:])}]\n" if left else ""
            return f"{head}\n" + "".join(map(str, shown)) + more

        count = most(
            max(len(new), NEW_TO_GONE * len(gone), NEW_TO_NUMBERS * len(numbers)),
            lambda count: fill(text(count), choices),
        )
        shown = [row for row in rows(count) if row.sign != "-"]
        ranges = tuple((row.number, row.number) for row in shown)
        size = sum(len(row.text.encode("utf-8", "replace")) for row in shown)
        whole = len(rows(count)) == total
        return record, answer(text(count), choices, record, document, ranges=ranges, size=size, whole=whole)
    finally:
        document.blob.close()


def _go_on(choices: Choices, ref: str, rest: Sequence[_Row]) -> str:
    """Return the call that reads on where new lines are left out."""
    first = rest[0].number if rest else 1
    return next_call(choices.ways, "lines", ref, first, first + 99)


def _rows(sign: str, lines: LineRanges, document: Document) -> list[_Row]:
    rows: list[_Row] = []
    for row in _read(sign, lines, document):
        rows.append(row)
        if len(rows) >= MOST_LINES:
            break
    return rows


def _read(sign: str, lines: LineRanges, document: Document) -> Iterator[_Row]:
    for first, last in lines.ranges:
        start = document.start(first)
        end = document.start(last + 1)
        data = document.blob.read(start, min(end, start + MOST_BYTES))
        if not data and end > start:
            raise StoreError("the stored bytes no longer match their record; `spill verify` says more")
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n")[: last - first + 1], first):
            yield _Row(sign, number, _clean(line, document))


def _clean(line: bytes, document: Document) -> str:
    from spillover.view.clean import flat

    text = flat(line[: 4 * LINE_CHARS]).rstrip()  # its indent and its columns say something
    text = "".join(char if char.isprintable() or char == "\t" else " " for char in text)
    if len(text) > LINE_CHARS or len(line) > 4 * LINE_CHARS:
        text = text[: LINE_CHARS - 1] + "…"
    return text if document.guard is None else document.guard(text)
