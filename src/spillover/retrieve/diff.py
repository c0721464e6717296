"""Show the differences of two stored outputs: new lines, removed lines, and lines with other numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from spillover.document.clean import flatten
from spillover.document.document import Document
from spillover.errors import StoreError
from spillover.events import record_retrieval
from spillover.kinds.selection import largest
from spillover.notice.hints import next_call
from spillover.notice.render import since_line
from spillover.result import Clip
from spillover.retrieve.names import find_before, resolve
from spillover.retrieve.read import answer, fill, open_output
from spillover.settings.settings import Call
from spillover.since import LineRanges
from spillover.since.compare import compare
from spillover.store.record import Record

#: Characters of a line; with more, fewer lines fit.
LINE_CHARS = 300
#: Lines of each kind, and bytes of each range of lines, that are read to see what fits; more take more memory.
MAX_LINES = 4_000
MAX_RANGE_BYTES = 1 << 17
#: New lines for each removed line, and for each line with other numbers; with more, fewer of these are shown.
NEW_TO_GONE = 2
NEW_TO_NUMBERS = 4
#: Lines that the proposed call reads next; with more, its answer is longer.
PAGE = 100


class _Row(Struct, frozen=True):
    sign: str  # "+", "-" or "~"
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {self.number}: {self.text}\n"


def diff(call: Call, ref: str, since: str | None = None) -> Clip:
    """Compare a stored output with an earlier one, by default with the previous run of the same command."""
    start = time.monotonic()
    call = call.within_budget()
    target = resolve(ref, call.settings.outputs)
    record, document = open_output(call, target.ref)
    try:
        if since:
            earlier = resolve(since, call.settings.outputs)
            notes = [target.note, earlier.note]
            record_before, before = open_output(call, earlier.ref)
        else:
            notes = [target.note]
            record_before, before = open_output(call, find_before(call.settings.outputs, record))
        try:
            clip = _answer(call, notes, record, document, record_before, before)
        finally:
            before.blob.close()
    finally:
        document.blob.close()
    record_retrieval(call, "diff", clip.text, clip=clip, record=record, seconds=time.monotonic() - start)
    return clip


def _answer(
    call: Call,
    notes: list[str],
    record: Record,
    document: Document,
    record_before: Record,
    before: Document,
) -> Clip:
    """Return as many differences as fit."""
    compared = compare(document, before)
    head = "\n".join([*filter(None, notes), f"[{since_line(record.ref, record_before.ref, compared)}]"])
    additions = _rows("+", compared.new, document)
    removals = _rows("-", compared.removals, before)
    changes = _rows("~", compared.numbers, document)
    total = compared.new.lines + compared.removals.lines + compared.numbers.lines

    def rows(count: int) -> list[_Row]:
        return [*additions[:count], *removals[: -(-count // NEW_TO_GONE)], *changes[: -(-count // NEW_TO_NUMBERS)]]

    def text(count: int) -> str:
        page = rows(count)
        left = total - len(page)
        body = f"{head}\n" + "".join(map(str, page))
        if not left:
            return body
        rest = additions[count:] or additions[-1:]
        first = rest[0].number if rest else 1
        following = next_call(call.settings.hints, "lines", record.ref, first, first + PAGE - 1)
        return f"{body}[{left:,} more. {following}]\n"

    max_count = max(len(additions), NEW_TO_GONE * len(removals), NEW_TO_NUMBERS * len(changes))
    count = largest(max_count, lambda count: fill(text(count), call))
    page = rows(count)
    numbers = [row.number for row in page if row.sign != "-"]
    size = sum(len(row.text.encode("utf-8", "replace")) for row in page if row.sign != "-")
    ranges = tuple((number, number) for number in numbers)
    return answer(text(count), call, record, document, ranges=ranges, size=size, whole=len(page) == total)


def _rows(sign: str, lines: LineRanges, document: Document) -> list[_Row]:
    return [_Row(sign, number, text) for number, text in islice(_read_lines(lines, document), MAX_LINES)]


def _read_lines(lines: LineRanges, document: Document) -> Iterator[tuple[int, str]]:
    for first, last in lines.ranges:
        start = document.start(first)
        end = document.start(last + 1)
        data = document.blob.read(start, min(end, start + MAX_RANGE_BYTES))
        if not data and end > start:
            raise StoreError("the stored bytes no longer match their record; `spill verify` says more")
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n")[: last - first + 1], first):
            yield number, _clean(line, document)


def _clean(line: bytes, document: Document) -> str:
    text = flatten(line[: 4 * LINE_CHARS]).rstrip()  # indents and columns stay
    text = "".join(char if char.isprintable() or char == "\t" else " " for char in text)
    if len(text) > LINE_CHARS or len(line) > 4 * LINE_CHARS:
        text = text[: LINE_CHARS - 1] + "…"
    return text if document.guard is None else document.guard(text)
