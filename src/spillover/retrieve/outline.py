"""Outline a stored output: its format, its parts, clusters of failures, repeated lines, and where to read next."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from spillover.document.clean import clean, flatten
from spillover.document.document import Document
from spillover.kinds import diff, table
from spillover.kinds.json import value
from spillover.kinds.kind import describe
from spillover.kinds.log.outline import Families, Family, Survey, survey
from spillover.kinds.sample import read_hint
from spillover.kinds.selection import Contents, Part, largest
from spillover.notice.hints import next_call
from spillover.notice.wording import lines_of, one_line, stored_part
from spillover.result import Clip
from spillover.retrieve.names import resolve
from spillover.retrieve.read import answer, answer_from, fill, format_range
from spillover.settings.settings import Call
from spillover.store.record import Record
from spillover.tokens import scale

TIMES = "\N{MULTIPLICATION SIGN}"
#: The kinds that list parts of their own; a log lists its sections.
OUTLINES = {"json": value.outline, "csv": table.outline, "tsv": table.outline, "diff": diff.outline}
#: Characters of a line and of a command; with more, fewer rows fit.
LINE_CHARS = 100
COMMAND_CHARS = 80
#: Rows of each list; with more, the outline of a large output is longer.
MAX_ROWS = {
    "Streams": 4,
    "Keys": 30,
    "Items": 3,
    "Table": 2,
    "Sections": 30,
    "Failures": 20,
    "Warnings": 8,
    "Most frequent": 12,
}
#: Rows that a list gets for one of the others when there is little room; with more, the others get fewer.
WEIGHTS = {"Failures": 3, "Sections": 2, "Keys": 2, "Streams": 2}
#: Lists whose rows name no line of the output.
WITHOUT_LINES = ("Streams", "Keys", "Items")
#: Ranges of a stream in its row; more make the row longer.
MAX_RANGES = 4
#: Lines before the first failure where the proposed call begins; with more, less of the failure follows.
LINES_BEFORE = 10
#: Lines, or bytes, of the proposed call; with more, its answer is longer.
PAGE_LINES = 50
PAGE_BYTES = 4_000
#: Bytes sampled from each end to estimate the token count; more take longer to count.
SAMPLE_BYTES = 1 << 14

#: The same sign four times or more.
_RULE = re.compile(r"([^\w\s]|_)\1{3,}")
_WORD = re.compile(rb"[\w\x80-\xff]")


def outline(call: Call, ref: str) -> Clip:
    """Return a map of a stored output."""

    def make(call: Call, record: Record, document: Document) -> Clip:
        return Outline(document, record, call).answer()

    return answer_from(call, resolve(ref, call.settings.outputs, part="value"), "outline", make)


class _Row(Struct, frozen=True):
    """One line of the outline."""

    text: str
    line: int = 0  # the line of the output in the row; 0 for none
    place: int = 0  # the order of rows; rows of one place stay in order of rank


class _List(Struct, frozen=True):
    """Rows under a title, the most important first."""

    name: str
    rows: Sequence[_Row]
    facts: str = ""  # after the name
    total: int = 0  # the number of items, if not all are rows

    def text(self, count: int) -> str:
        """Return the title with the first of the rows."""
        more = f"{count:,} shown" if count < max(self.total, len(self.rows)) else ""
        facts = "; ".join(filter(None, (self.facts, more)))
        title = f"{self.name}: {facts}" if facts else self.name
        rows = sorted(self.rows[:count], key=lambda row: row.place)
        return "".join([f"{title}\n", *(f"  {row.text}\n" for row in rows)])


class Outline(Struct, frozen=True):
    """The map of one stored output."""

    document: Document
    record: Record
    call: Call

    def answer(self) -> Clip:
        """Return as much of the map as fits."""
        kind = describe(self.document, read_hint(self.record.command or self.record.tool))
        scan = None if kind in ("blob", "diff") else survey(self.document.blob)
        lists = list(self._lists(kind, scan))
        turns = _take_turns(lists)
        step = self._next(kind, scan)

        def text(count: int, head: str) -> str:
            counts = Counter(turns[:count])
            body = "".join(lists[nth].text(count) for nth, count in sorted(counts.items()))
            return f"[{head}]\n{body}[{step}]" if body else f"[{head} {step}]"

        heads = [self._head(kind, tier) for tier in range(3)]
        head = next((head for head in heads if fill(text(0, head), self.call) <= 1), heads[-1])
        count = largest(len(turns), lambda count: fill(text(count, head), self.call))
        rows = [row for nth, size in Counter(turns[:count]).items() for row in lists[nth].rows[:size]]
        ranges = tuple((line, line) for line in sorted({row.line for row in rows if row.line}))
        words = text(count, head)
        return answer(
            words,
            self.call,
            self.record,
            self.document,
            ranges=ranges,
            size=len(words.encode()),
            whole=count == len(turns),
        )

    def _head(self, kind: str, tier: int) -> str:
        record = self.record
        size = f"{lines_of(record.lines)}, {record.bytes:,} bytes"
        part = stored_part(record)
        if tier == 2:
            return f"{record.ref}: {size}.{part}"
        command = f"; command: {one_line(record.command, COMMAND_CHARS)}" if record.command and tier == 0 else ""
        return f"Outline of {record.ref}: {kind}, {size}, ~{self._tokens():,} tokens{command}.{part}"

    def _tokens(self) -> int:
        size = self.document.size
        head = self.document.blob.read(0, min(SAMPLE_BYTES, size))
        tail = self.document.blob.read(max(len(head), size - SAMPLE_BYTES), size)
        tokens = self.call.settings.count(clean(head)) + self.call.settings.count(clean(tail))
        return scale(tokens, len(head) + len(tail), size)

    def _lists(self, kind: str, scan: Survey | None) -> Iterator[_List]:
        if any(stream != "stdout" for stream, _ in self.record.segments):
            yield self._streams()
        if kind in OUTLINES:
            contents = OUTLINES[kind](self.document)
        else:
            contents = scan.sections if scan is not None and kind == "log" else None
        if contents is not None:
            yield _list_parts(contents)
        if scan is None:
            return  # in a diff, words for failure are part of the changed text
        yield _list_families("Failures", scan.failures)
        yield _list_families("Warnings", scan.warnings)
        failures = {family.first for families in (scan.failures, scan.warnings) for family in families.ranked()}
        alike = [
            family
            for family in scan.alike.ranked(least=2)
            if family.first not in failures and _WORD.search(family.line)
        ]
        in_all = scan.sampled_bytes >= self.document.size
        part = "" if in_all else f"counted in {scan.sampled_bytes:,} of {self.document.size:,} bytes"
        yield _List("Most frequent", _family_rows(alike[: MAX_ROWS["Most frequent"]], in_all=in_all), part)

    def _streams(self) -> _List:
        """Return each stream with its bytes and its lines."""
        ranges: dict[str, list[tuple[int, int]]] = {}
        at = 0
        for stream, size in self.record.segments:
            ranges.setdefault(stream, []).append((at, at + size))
            at += size
        rows = []
        for stream, places in ranges.items():
            size = sum(end - start for start, end in places)
            rows.append(_Row(f"{one_line(stream, 20)}: {size:,} bytes in {self._name_ranges(places)}"))
        return _List("Streams", rows[: MAX_ROWS["Streams"]], total=len(rows))

    def _name_ranges(self, ranges: Sequence[tuple[int, int]]) -> str:
        number = self.document.number
        lines = [(number(start), number(max(start, end - 1))) for start, end in ranges[:MAX_RANGES]]
        if len(lines) == 1:
            return format_range("line", *lines[0])
        spans = [f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in lines]
        more = f" and {len(ranges) - MAX_RANGES:,} more places" if len(ranges) > MAX_RANGES else ""
        return f"lines {', '.join(spans)}{more}"

    def _next(self, kind: str, scan: Survey | None) -> str:
        """Return the call that reads around the first failure, or the end of a log; otherwise the beginning."""
        total = self.document.lines
        hints = self.call.settings.hints
        ref = self.record.ref
        if not total:
            return "There is nothing to read."
        if kind == "blob":
            return next_call(hints, "bytes", ref, 1, min(self.document.size, PAGE_BYTES))
        if scan and scan.longest_bytes > max(PAGE_BYTES, self.document.size // 2):  # one line is most of it
            return next_call(hints, "columns", ref, 1, PAGE_BYTES, line=scan.longest_line)
        first = 1
        if scan and scan.first_failure:
            first = max(1, scan.first_failure - LINES_BEFORE)
        elif kind == "log":
            first = max(1, total - PAGE_LINES + 1)
        return next_call(hints, "lines", ref, first, min(total, first + PAGE_LINES - 1))


def _list_parts(contents: Contents) -> _List:
    facts = f"{contents.total:,}" if contents.total else ""
    rows = [_part_row(part, contents.name) for part in contents.parts[: MAX_ROWS[contents.name]]]
    return _List(contents.name, rows, facts, contents.total)


def _part_row(part: Part, name: str) -> _Row:
    title = _shorten(_RULE.sub(r"\1\1\1", part.title)) or "before the first"
    failures = f" ({part.failures:,} failure{'s' * (part.failures != 1)})" if part.failures else ""
    line = part.first_line if part.title and name not in WITHOUT_LINES else 0
    return _Row(f"{format_range('line', part.first_line, part.last_line)}: {title}{failures}", line, part.first_line)


def _list_families(name: str, families: Families) -> _List:
    ranked = families.ranked()
    count = f"{'at least ' if families.forgot else ''}{len(ranked):,} {'family' if len(ranked) == 1 else 'families'}"
    return _List(name, _family_rows(ranked[: MAX_ROWS[name]]), f"{lines_of(families.lines)}, {count}", len(ranked))


def _family_rows(families: Sequence[Family], *, in_all: bool = True) -> list[_Row]:
    rows = []
    for family in families:
        least = "" if family.exact and in_all else "at least "
        lines = format_range("line", family.first, family.last)
        rows.append(_Row(f"{least}{family.count:,} {TIMES} {lines}: {_shorten(flatten(family.line))}", family.first))
    return rows


def _take_turns(lists: Sequence[_List]) -> list[int]:
    """Return the number of the list for each row, in the order in which rows get room: in turns, by weight."""
    turns = []
    for nth, listing in enumerate(lists):
        weight = WEIGHTS.get(listing.name, 1)
        turns += [((at + 1) / weight, nth) for at in range(len(listing.rows))]
    return [nth for _, nth in sorted(turns)]


def _shorten(text: str) -> str:
    """Return a line with single spaces, cut at LINE_CHARS."""
    text = " ".join(text.split())
    return text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"
