"""Going back by map: what a stored output is, its sections, where failures cluster, what repeats, and where to read next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct

from spillover.document.clean import clean, flat
from spillover.document.document import Document
from spillover.kinds.json.scan import Marks, marks
from spillover.kinds.kind import describe
from spillover.kinds.selection import largest
from spillover.notice.calls import next_call
from spillover.notice.sentences import stored_part
from spillover.notice.words import lines_of, one_line
from spillover.result import Clip
from spillover.retrieve.names import resolve
from spillover.retrieve.outline_scan import Families, Family, OutlineSection, Sections, Survey, scan
from spillover.retrieve.read import answer, answer_from, fill, tell_range
from spillover.settings.settings import Call
from spillover.store.record import Record
from spillover.tokens import scale

TIMES = "\N{MULTIPLICATION SIGN}"
#: Characters that are shown of a line, and of a command.
LINE_CHARS = 100
COMMAND_CHARS = 80
#: Rows of each list, at most, and its share of the room when there is little.
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
WEIGHTS = {"Failures": 3, "Sections": 2, "Keys": 2, "Streams": 2}
#: A section without failures is shown where there are few, or where it has at least one in so many lines.
FEW_SECTIONS = 12
SMALL_SECTION = 100
#: Headings that make sections; a line or two may begin with # for other reasons.
MIN_HEADINGS = 3
#: Ranges of a stream that are named.
MAX_PLACES = 4
#: Lines before the first failure where reading begins, and lines, or bytes, that are proposed.
LINES_BEFORE = 10
PAGE = 50
PAGE_BYTES = 4_000
#: Bytes of each end that are counted to estimate the tokens of the whole, as for a notice.
SAMPLE_BYTES = 1 << 14

_RULE = re.compile(r"([^\w\s]|_)\1{3,}")
_WORD = re.compile(rb"[\w\x80-\xff]")
#: JSON is looked into up to this size: all of it is in memory then.
MAX_JSON_BYTES = 16 << 20
#: Members that are looked at.
MAX_MEMBERS = 200
#: A value is of the kind that its first byte says.
KINDS = {b"{": "object", b"[": "array", b'"': "string", b"t": "true", b"f": "false", b"n": "null"}
#: What the members of a value are called.
INSIDE = {"object": "keys", "array": "items"}

_KEY = re.compile(rb'\s*+("(?:[^"\\]|\\.)*+")\s*+:')


def outline(call: Call, ref: str) -> Clip:
    """Return a map of a stored output."""

    def make(call: Call, record: Record, document: Document) -> Clip:
        return Outline(document, record, call).answer()

    return answer_from(call, resolve(ref, call.settings.outputs, part="value"), "outline", make)


class _Row(Struct, frozen=True):
    """One line of the outline; `line` is the line of the output that it shows, 0 for none."""

    text: str
    line: int = 0
    place: int = 0  # where it stands in its list


class _List(Struct, frozen=True):
    """Rows under a title, the most telling first."""

    name: str
    rows: Sequence[_Row]
    facts: str = ""  # behind the name
    total: int = 0  # how many there are, where not all are rows

    def title(self, shown: int) -> str:
        more = f"{shown:,} shown" if shown < max(self.total, len(self.rows)) else ""
        facts = "; ".join(filter(None, (self.facts, more)))
        return f"{self.name}: {facts}" if facts else self.name


class Outline(Struct, frozen=True):
    """The map of one stored output."""

    document: Document
    record: Record
    call: Call

    def answer(self) -> Clip:
        """Return as much of the map as fits."""
        kind = describe(self.document, self.record.command or self.record.tool)
        survey = scan(self.document.blob) if kind != "blob" else None
        lists = list(self._lists(kind, survey)) if survey else []
        order = _order_rows(lists)
        step = self._next(kind, survey)
        heads = [self._head(kind, tier) for tier in range(3)]

        def text(count: int, head: str) -> str:
            chosen = set(order[:count])
            body = "".join(
                f"{each.title(len(shown))}\n" + "".join(f"  {row.text}\n" for row in sorted(shown, key=_place))
                for nth, each in enumerate(lists)
                if (shown := [row for at, row in enumerate(each.rows) if (nth, at) in chosen])
            )
            return f"[{head}]\n{body}[{step}]" if body else f"[{head} {step}]"

        head = next((head for head in heads if fill(text(0, head), self.call) <= 1), heads[-1])
        count = largest(len(order), lambda count: fill(text(count, head), self.call))
        shown = [lists[nth].rows[at].line for nth, at in order[:count]]
        ranges = tuple((line, line) for line in sorted({line for line in shown if line}))
        words = text(count, head)
        size = len(words.encode())
        whole = count == len(order)
        return answer(words, self.call, self.record, self.document, ranges=ranges, size=size, whole=whole)

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
        counted = self.call.settings.count(clean(head)) + self.call.settings.count(clean(tail))
        return scale(counted, len(head) + len(tail), size)

    def _lists(self, kind: str, survey: Survey) -> Iterator[_List]:
        if any(stream != "stdout" for stream, _ in self.record.segments):
            yield self._streams()
        if kind == "json":
            yield from self._members()
        if kind in ("csv", "tsv"):
            first = self.document.blob.read(0, min(self.document.start(2), 4 * LINE_CHARS))
            yield _List("Table", [_Row(f"line 1: {_shorten_line(first)}", 1)])
        parts = _sections(kind, survey)
        if parts:
            yield self._sections(parts)
        if kind == "diff":
            return  # what it says that failed is the text that was changed
        yield _list_families("Failures", survey.failures)
        yield _list_families("Warnings", survey.warnings)
        listed = {family.first for families in (survey.failures, survey.warnings) for family in families.ranked()}
        alike = [
            family
            for family in survey.alike.ranked(least=2)
            if family.first not in listed and _WORD.search(family.line)
        ]
        in_all = survey.sampled >= self.document.size
        part = "" if in_all else f"counted in {survey.sampled:,} of {self.document.size:,} bytes"
        yield _List("Most frequent", _family_rows(alike[: MAX_ROWS["Most frequent"]], in_all=in_all), part)

    def _streams(self) -> _List:
        """Return each stream with its bytes and its lines."""
        places: dict[str, list[tuple[int, int]]] = {}
        sizes: dict[str, int] = {}
        at = 0
        for stream, size in self.record.segments:
            sizes[stream] = sizes.get(stream, 0) + size
            places.setdefault(stream, []).append((at, at + size))
            at += size
        rows = [
            _Row(f"{one_line(name, 20)}: {sizes[name]:,} bytes in {self._ranges(where)}")
            for name, where in places.items()
        ]
        return _List("Streams", rows[: MAX_ROWS["Streams"]], total=len(rows))

    def _ranges(self, places: Sequence[tuple[int, int]]) -> str:
        number = self.document.number
        ranges = [(number(start), number(max(start, end - 1))) for start, end in places[:MAX_PLACES]]
        more = f" and {len(places) - MAX_PLACES:,} more places" if len(places) > MAX_PLACES else ""
        if len(places) == 1:
            return tell_range("line", *ranges[0])
        spans = [f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in ranges]
        return f"lines {', '.join(spans)}{more}"

    def _members(self) -> Iterator[_List]:
        if self.document.size > MAX_JSON_BYTES:
            return
        total, found = members(self.document.blob.read(0, self.document.size))
        name = "Keys" if found and found[0].name else "Items"
        number = self.document.number
        lines = [(number(member.start), number(member.end - 1)) for member in found[: MAX_ROWS[name]]]
        rows = [
            _Row(f"{tell_range('line', *where)}: {_shorten(str(member))}", place=nth)
            for nth, (where, member) in enumerate(zip(lines, found, strict=False))
        ]
        yield _List(name, rows, f"{total:,}", total)

    def _sections(self, parts: Sections) -> _List:
        every = parts.ranked()
        telling = [
            part
            for part in every
            if len(every) <= FEW_SECTIONS or part.failures or part.lines * SMALL_SECTION >= self.document.lines
        ]
        rows = [_section_row(part) for part in (telling or every)[: MAX_ROWS["Sections"]]]
        total = parts.titled + (len(every) > 0 and any(not part.line for part in every))
        return _List("Sections", rows, f"{total:,}", total)

    def _next(self, kind: str, survey: Survey | None) -> str:
        """Return the call that reads around the first failure, or the end of a log; otherwise the beginning."""
        total, ways, ref = self.document.lines, self.call.settings.hints, self.record.ref
        if not total:
            return "There is nothing to read."
        if survey is None:
            return next_call(ways, "bytes", ref, 1, min(self.document.size, PAGE_BYTES))
        line, size = survey.longest
        if 2 * size > self.document.size and size > PAGE_BYTES:  # it is all that there is
            return next_call(ways, "columns", ref, 1, PAGE_BYTES, line=line)
        first = 1
        if survey.first_failure and kind != "diff":
            first = max(1, survey.first_failure - LINES_BEFORE)
        elif kind == "log":
            first = max(1, total - PAGE + 1)
        return next_call(ways, "lines", ref, first, min(total, first + PAGE - 1))


def _sections(kind: str, survey: Survey) -> Sections | None:
    """Return the sections that this kind of output has, if any."""
    parts = survey.parts
    if kind == "diff":
        return parts["files"] if parts["files"].titled else parts["names"]
    if kind != "log":
        return None
    headings, commands = parts["headings"], parts["commands"]
    if headings.titled >= MIN_HEADINGS and (not commands.titled or headings.begin < commands.begin):
        return headings  # commands in it are examples
    return commands if commands.titled else None


def _section_row(part: OutlineSection) -> _Row:
    failures = "" if not part.failures else " (1 failure)" if part.failures == 1 else f" ({part.failures:,} failures)"
    if not part.line:
        return _Row(f"{tell_range('line', part.first, part.last)}: before the first{failures}", 0, part.first)
    title = _RULE.sub(r"\1\1\1", flat(part.line))
    return _Row(f"{tell_range('line', part.first, part.last)}: {_shorten(title)}{failures}", part.first, part.first)


def _list_families(name: str, families: Families) -> _List:
    ranked = families.ranked()
    count = f"{'at least ' if families.forgot else ''}{len(ranked):,} {'family' if len(ranked) == 1 else 'families'}"
    return _List(name, _family_rows(ranked[: MAX_ROWS[name]]), f"{lines_of(families.lines)}, {count}", len(ranked))


def _family_rows(families: Sequence[Family], *, in_all: bool = True) -> list[_Row]:
    rows = []
    for nth, family in enumerate(families):
        least = "" if family.exact and in_all else "at least "
        where = tell_range("line", family.first, family.last)
        text = f"{least}{family.count:,} {TIMES} {where}: {_shorten_line(family.line)}"
        rows.append(_Row(text, family.first, nth))
    return rows


def _order_rows(lists: Sequence[_List]) -> list[tuple[int, int]]:
    """Return all rows, by list and place in it, in the order in which they get room: the lists take turns, by weight."""
    turns = [
        ((at + 1) / WEIGHTS.get(each.name, 1), nth, at)
        for nth, each in enumerate(lists)
        for at in range(len(each.rows))
    ]
    return [(nth, at) for _, nth, at in sorted(turns)]


def _place(row: _Row) -> int:
    return row.place


def _shorten_line(line: bytes) -> str:
    return _shorten(flat(line))


def _shorten(text: str) -> str:
    """Return a line with single spaces, cut at LINE_CHARS."""
    text = " ".join(text.split())
    return text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"


class Member(Struct, frozen=True):
    """A key with its value, or an item: bytes `start` to `end`."""

    name: str  # as it is written; "" for an item
    kind: str
    count: int  # of what is inside
    start: int
    end: int

    def __str__(self) -> str:
        inside = f", {self.count:,} {INSIDE[self.kind]}" if self.kind in INSIDE else ""
        return f"{self.name}: {self.kind}{inside}" if self.name else f"{self.kind}{inside}"


def members(data: bytes) -> tuple[int, list[Member]]:
    """Return how many members a JSON value has at its top, and the first of them."""
    try:
        msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return 0, []
    found = marks(data)
    if not found.levels:  # a string or a number
        return 0, []
    places = found.levels[0][: MAX_MEMBERS + 1].tolist()

    def member(start: int, end: int) -> Member:
        name, at = b"", start
        if data[places[0] : places[0] + 1] == b"{":
            key = _KEY.match(data, start)
            assert key is not None, "it is valid"
            name, at = key[1], key.end()
        value = data[at:end].strip()
        at = data.index(value, at)
        end = at + len(value)
        kind = KINDS.get(data[at : at + 1], "number")
        return Member(name.decode("utf-8", "replace"), kind, _inside(data, found, at, end), at, end)

    if not data[places[0] + 1 : places[1]].strip():  # nothing inside
        return 0, []
    return len(found.levels[0]) - 1, [member(start + 1, end) for start, end in pairwise(places)]


def _inside(data: bytes, found: Marks, start: int, end: int) -> int:
    """Return how many members a value has, 0 if it is no container."""
    within = found.inside(2, start, end) if data[start : start + 1] in (b"{", b"[") else None
    if within is None or len(within) < 2:
        return 0
    return len(within) - 1 if data[within[0] + 1 : within[1]].strip() else 0
