"""Lines that are JSON records: line N stays record N, each line shown is JSON, records that stand out are kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from msgspec import Struct, field

from spillover.document.document import Document
from spillover.kinds.json.marks import parse
from spillover.kinds.json.records import MARKER_BYTES, Rare
from spillover.kinds.json.tree import (
    MAX_CUTS,
    MIN_PART_BYTES,
    MIN_TEXT_BYTES,
    TEXT_SHARE,
    Part,
    Tree,
    explain,
    find_size,
    share_above,
)  # fmt: skip
from spillover.kinds.log.lines import read_lines
from spillover.kinds.log.scan import CLOSE_BYTES
from spillover.kinds.pack import group
from spillover.kinds.sample import SURE, Sample
from spillover.kinds.selection import Room, Span, join
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("ndjson",)
#: Why records at either end are shown.
FIRST, LAST = "first records", "last records"
#: Bytes read together; of a longer line only the beginning is looked at. Larger: more memory.
BLOCK_BYTES = 1 << 20
#: Among lines shorter than this nothing stands out, and there may be billions.
MIN_LINE_BYTES = 8
#: A longer line is shown whole or not at all.
MAX_LINE_BYTES = 8 << 20
#: Bytes of cut lines in memory together; beyond that a line is shown whole or not at all, too.
MAX_CUT_BYTES = 32 << 20
#: Records that may be like no other, at most one in MIN_PER_UNIQUE; if there are more, it means nothing.
MAX_UNIQUE, MIN_PER_UNIQUE = 16, 12


def recognise(sample: Sample) -> str:
    """Return "ndjson" if each line is an object or an array."""
    if sample.first_line.lstrip()[:1] not in (b"{", b"["):
        return ""
    good = sum(map(_is_record, sample.lines))
    return "ndjson" if good >= 2 and good >= SURE * len(sample.lines) else ""


def _is_record(line: bytes) -> bool:
    if line.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return whole records, and long ones in part; nothing if the first line is no record, or not one of them fits."""
    if document.lines < 2 or parse(document.blob.read(0, min(document.start(2), MAX_LINE_BYTES))) is None:
        return []
    records = _Records(document, _find_lines(document))
    max_bytes = 2 * document.reach
    size = find_size(records.spans, min(document.size, max_bytes) * TEXT_SHARE, max_bytes, room.fill)
    spans = [] if size is None else records.spans(size)
    return explain(spans, records.parts(spans), (FIRST, LAST), document.work) if spans else []


class _Line(Struct, frozen=True):
    """A record that is shown first: where it is, and why."""

    start: int
    end: int
    why: str

    @property
    def size(self) -> int:
        return self.end - self.start


def _find_lines(document: Document) -> list[_Line]:
    """Return the first record, the last, and those that stand out."""
    numbers = {1: FIRST, document.lines: LAST}
    for reasons in (_find_rare(document), _find_unique(document)):
        numbers |= {number: why for number, why in reasons.items() if number not in numbers}
    return [_Line(document.start(number), document.start(number + 1), why) for number, why in numbers.items()]


def _find_rare(document: Document) -> dict[int, str]:
    """Return the records that stand out: the number of the line, and why. One pass, a block at a time."""
    if document.size < MIN_LINE_BYTES * document.lines:
        return {}
    rare = Rare(document.work)
    at = 0
    while at < document.size:
        data = document.blob.read(at, at + BLOCK_BYTES)
        is_last = at + len(data) >= document.size
        block = data if is_last else data[: data.rfind(b"\n") + 1]
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 0x0A) + 1
        if not block.endswith(b"\n"):  # of a long line, the beginning
            block = data
            ends = np.append(ends, len(data))
        rare.feed(block, np.concatenate((ends[:0], [0], ends[:-1])), ends)
        at = at + len(block) if is_last or block.endswith(b"\n") else document.start(document.number(at) + 1)
    return {number + 1: why for number, why in rare.explain().items()}


def _find_unique(document: Document) -> dict[int, str]:
    """Return records like no other, in an output that is small enough to look at every line."""
    if document.size > CLOSE_BYTES:
        return {}
    lines = read_lines(document, [(0, document.size)])
    order, starts, sizes = group(lines.template)
    unique = sorted(order[starts[sizes == 1]].tolist())
    if len(unique) > min(MAX_UNIQUE, len(lines) // MIN_PER_UNIQUE):
        return {}
    texts = {number: document.blob.read(document.start(number + 1), document.start(number + 2)) for number in unique}
    return {number + 1: f"record {number + 1:,}: like no other" for number in unique if texts[number].strip()}


class _Records(Struct, frozen=True):
    """The records of an output in any room; `lines` come first."""

    document: Document
    lines: Sequence[_Line]
    _trees: dict[int, Tree | None] = field(default_factory=dict)

    def spans(self, room: int) -> list[Span]:
        """Return the first, the last and those that stand out; then more behind the first and before the others."""
        lines: list[_Line] = []
        left = room
        for number, line in enumerate(self.lines):
            cost = self._least(line) + MARKER_BYTES
            if cost <= (left if number < 2 else left - room // 2):
                lines.append(line)
                left -= cost
        room -= MARKER_BYTES * len(lines)
        spans = []
        shares = share_above([line.size for line in lines], [self._least(line) for line in lines], room)
        for line, share in zip(lines, shares, strict=True):
            parts = self._show(line, share)
            room -= sum(part.end - part.start + MARKER_BYTES for part in parts) - MARKER_BYTES
            spans += parts
        if room > 0:
            spans += self._add_neighbours(lines, room)
        return join(_fill_gaps(join(spans)))

    def parts(self, spans: Sequence[Span]) -> list[Part]:
        """Return why each record of these is shown: its own reason, or that of the nearest line that has one."""
        lines = sorted(self.lines, key=lambda line: line.start)
        lines = [line for line in lines if any(span.start <= line.start < span.end for span in spans)]
        parts = [(line.start, line.end, line.why) for line in lines]
        for line, after in pairwise(lines):
            middle = self.document.start(self.document.number((line.end + after.start) // 2))
            parts += [(line.end, middle, line.why), (middle, after.start, after.why)]
        return parts

    def _least(self, line: _Line) -> int:
        """Return the fewest bytes that can stand for a record."""
        return MIN_PART_BYTES if self._tree(line, MIN_PART_BYTES) else line.size

    def _show(self, line: _Line, room: int) -> list[Span]:
        """Return a record in a given room."""
        tree = self._tree(line, room)
        if tree is None:
            return [Span(line.start, line.end)]
        return tree.gaps(room).spans(line.size, line.start)

    def _tree(self, line: _Line, room: int) -> Tree | None:
        """Return the values of a record that must be cut; None where it need not be, or cannot."""
        if line.size <= room:
            return None
        if line.start not in self._trees:
            cut_bytes = line.size + sum(len(tree.marks.data) for tree in self._trees.values() if tree)
            is_small = line.size <= MAX_LINE_BYTES and cut_bytes <= MAX_CUT_BYTES
            marks = parse(self.document.blob.read(line.start, line.end), self.document.work) if is_small else None
            self._trees[line.start] = None if marks is None else Tree(marks)
        return self._trees[line.start]

    def _add_neighbours(self, lines: Sequence[_Line], room: int) -> list[Span]:
        """Return more records behind the first, before the last, and on both sides of each that stands out."""
        size = self.document.size
        behind = [line for line in lines if line.end < size]
        before = [line for line in lines if line.start > 0]
        ends = sum(line.start == 0 or line.end == size for line in lines)
        inner_sides = len(behind) + len(before) - ends
        end_share = room // (3 if inner_sides else 1) // max(1, ends)
        share = (room - room // 3) // max(1, inner_sides)
        spans = []
        starts = {line.start for line in lines}
        for line in behind:
            is_first = line.start == 0
            record_room = max(MIN_TEXT_BYTES, room // TEXT_SHARE)
            spans += self._add_behind(line, end_share if is_first else share, record_room, starts)
        left = room - sum(span.end - span.start for span in spans)
        for line in before:
            spans.append(self._add_before(line, end_share if line.end == size else share, left // 2))
            left -= spans[-1].end - spans[-1].start
        return spans

    def _add_behind(self, line: _Line, room: int, record_room: int, starts: set[int]) -> list[Span]:
        """Return the records that follow one: whole ones, and after the first also long ones in part."""
        spans: list[Span] = []
        at = line.end
        cuts = 0 if line.start else MAX_CUTS
        while at < self.document.size:
            data = self.document.blob.read(at, at + min(room, self.document.reach))
            whole = len(data) if at + len(data) == self.document.size else data.rfind(b"\n") + 1
            parts = [Span(at, at + whole)]
            if not whole:
                following = _Line(at, self.document.start(self.document.number(at) + 1), line.why)
                too_small = room < MIN_PART_BYTES + MARKER_BYTES
                if not cuts or too_small or at in starts or not self._tree(following, record_room):
                    break
                parts = self._show(following, record_room)
                room -= MARKER_BYTES * len(parts)
                cuts -= 1
            spans += parts
            room -= sum(part.end - part.start for part in parts)
            at = parts[-1].end
        return spans

    def _add_before(self, line: _Line, room: int, max_bytes: int) -> Span:
        """Return the records before one, whole; at least one, where it is no longer than `max_bytes`."""
        data = self.document.blob.read(max(0, line.start - min(room, self.document.reach)), line.start)
        whole = 0 if len(data) == line.start else data.find(b"\n") + 1 or len(data)
        if whole == len(data):
            previous = self.document.start(self.document.number(line.start) - 1)
            if line.start - previous <= max_bytes:
                return Span(previous, line.start)
        return Span(line.start - len(data) + whole, line.start)


def _fill_gaps(spans: Sequence[Span]) -> list[Span]:
    """Fill the gaps that are shorter than a marker."""
    gaps = [
        Span(span.end, after.start)
        for span, after in pairwise(spans)
        if span.then is None and after.start - span.end <= MARKER_BYTES
    ]
    return [*spans, *gaps]
