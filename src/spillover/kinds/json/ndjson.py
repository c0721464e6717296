"""Lines that are JSON records: line N stays record N, each line shown is JSON, and the records that stand out are kept."""

from __future__ import annotations

import json
from itertools import pairwise

from msgspec import Struct, field

from spillover.kinds.json.gaps import explain, find_room
from spillover.kinds.json.parse import is_container, parse
from spillover.kinds.json.rare import Rare
from spillover.kinds.json.room import CUTS, LEAST, MARK, TEXT, TEXT_SHARE, share_out
from spillover.kinds.pack import group
from spillover.kinds.sample import SURE, Sample
from spillover.kinds.selection import Room, Span, join
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("ndjson",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document
    from spillover.kinds.json.gaps import Part
    from spillover.kinds.json.room import Tree

#: Why records at either end are shown.
FIRST, LAST = "first records", "last records"
#: The bytes read at a time; of a longer line only the beginning is looked at.
BLOCK = 1 << 20
#: The number of lines, spread over all of them, that say whether the output is JSON.
SAMPLE = 64
#: A longer line is not taken into the sample.
SAMPLE_LINE = 1 << 16
#: The share of the sample's lines that must be JSON.
MOSTLY = 0.8
#: Among lines shorter than this nothing stands out, and there may be billions.
TINY = 8
#: A longer line is shown whole or not at all.
LINE_CAP = 8 << 20
#: At most UNLIKE records may be like no other, and one in FEW; with more of them it means nothing.
UNLIKE, FEW = 16, 12
#: The bytes of cut lines held in memory together; beyond that a line is shown whole or not at all, too.
HELD = 32 << 20


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return whole records, and long ones in part; nothing if most lines are not JSON, or not one of them fits."""
    if document.lines < 2 or not _is_mostly_json(document):
        return []
    odd = _find_rare(document)
    records = _Records(document, [*odd.items(), *(each for each in _unlike(document) if each[0] not in odd)])
    most_bytes = 2 * document.reach
    size = find_room(records.spans, min(document.size, most_bytes) * TEXT_SHARE, most_bytes, room.fill)
    spans = [] if size is None else records.spans(size)
    return explain(spans, records.parts(spans), (FIRST, LAST), document.work) if spans else []


def _unlike(document: Document) -> list[tuple[int, str]]:
    """Return records like no other, in an output that is small enough to look at every line."""
    from spillover.kinds.log.lines import read_lines  # loads numpy
    from spillover.kinds.log.scan import CLOSE_BYTES

    if document.size > CLOSE_BYTES:
        return []
    import numpy as np

    lines = read_lines(document, [(0, document.size)])
    order, starts, sizes = group(lines.template)
    alone = np.sort(order[starts[sizes == 1]])
    few = len(alone) <= min(UNLIKE, len(lines) // FEW)
    return [(number + 1, f"record {number + 1:,}: like no other") for number in alone.tolist()] if few else []


def _is_mostly_json(document: Document) -> bool:
    """Return whether most of some lines from all over the output are JSON objects or arrays."""
    lines: dict[int, bytes] = {}
    for number in range(SAMPLE):
        at = document.size * number // SAMPLE
        some = document.blob.read(at, at + SAMPLE_LINE)
        start = some.find(b"\n") + 1 if at else 0
        end = some.find(b"\n", start) + 1 or (len(some) if at + len(some) == document.size else 0)
        if (start or not at) and end > start:
            lines[at + start] = some[start:end]
    if len(lines) < 2:  # few, and long: the first must do
        first = document.blob.read(0, min(document.size, LINE_CAP))
        lines = {0: first[: first.find(b"\n") + 1]}
    filled = [line for line in lines.values() if line.strip()]
    good = [line for line in filled if is_container(line)]
    return bool(good) and len(good) >= MOSTLY * len(filled)


def _find_rare(document: Document) -> dict[int, str]:
    """Return the records that stand out: the number of the line, and why. One pass, a block at a time."""
    if document.size < TINY * document.lines:
        return {}
    import numpy as np

    rare = Rare(document.work)
    at = 0
    while at < document.size:
        data = document.blob.read(at, at + BLOCK)
        last = at + len(data) >= document.size
        whole = data if last else data[: data.rfind(b"\n") + 1]
        ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == 0x0A) + 1
        if not whole.endswith(b"\n"):  # of a long line, the beginning
            whole = data
            ends = np.append(ends, len(data))
        rare.feed(whole, np.concatenate((ends[:0], [0], ends[:-1])), ends)
        at = at + len(whole) if last or whole.endswith(b"\n") else document.start(document.number(at) + 1)
    return {number + 1: why for number, why in rare.found().items()}


class _Line(Struct, frozen=True):
    """A record that is kept in any case: where it is, and why."""

    start: int
    end: int
    why: str

    @property
    def size(self) -> int:
        return self.end - self.start


class _Records(Struct, frozen=True):
    """What is shown of records in so much room."""

    document: Document
    odd: list[tuple[int, str]]
    _lines: list[_Line] = field(default_factory=list)
    _trees: dict[int, Tree | None] = field(default_factory=dict)

    def spans(self, room: int) -> list[Span]:
        """Return the first, the last and those that stand out; then more from the beginning, the end, and around them."""
        chosen, left, half = [], room, room // 2
        for number, line in enumerate(self._kept()):
            needed = min(line.size, LEAST) + MARK if self._tree(line, LEAST) else line.size + MARK
            if needed <= (left if number < 2 else left - half):
                chosen.append(line)
                left -= needed
        room -= MARK * len(chosen)
        sizes = [line.size for line in chosen]
        leasts = [min(line.size, LEAST) if self._tree(line, LEAST) else line.size for line in chosen]
        spans = []
        for line, given in zip(chosen, share_out(sizes, leasts, room), strict=True):
            parts = self._line(line, given)
            room -= sum(part.end - part.start + MARK for part in parts) - MARK
            spans += parts
        if room > 0:
            spans += self._around(chosen, room)
        return join(_fill(join(spans)))

    def _kept(self) -> list[_Line]:
        if not self._lines:
            document = self.document
            numbers = {1: FIRST, document.lines: LAST} | {
                number: why for number, why in self.odd if number not in (1, document.lines)
            }
            for number, why in numbers.items():
                line = _Line(document.start(number), document.start(number + 1), why)
                if why in (FIRST, LAST) or document.blob.read(line.start, min(line.end, line.start + BLOCK)).strip():
                    self._lines.append(line)  # an empty line stands out, but for nothing
        return self._lines

    def parts(self, spans: Sequence[Span]) -> list[Part]:
        """Return why each record of these is shown: a reason of its own, or that of the nearest one that has one."""
        kept = sorted(self._kept(), key=lambda line: line.start)
        shown = [line for line in kept if any(span.start <= line.start < span.end for span in spans)]
        parts = [(line.start, line.end, line.why) for line in shown]
        for one, two in pairwise(shown):
            middle = self.document.start(self.document.number((one.end + two.start) // 2))
            parts += [(one.end, middle, one.why), (middle, two.start, two.why)]
        return parts

    def _line(self, line: _Line, room: int) -> list[Span]:
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
            held = line.size + sum(len(tree.data) for tree in self._trees.values() if tree)
            small = line.size <= LINE_CAP and held <= HELD
            self._trees[line.start] = (
                parse(self.document.blob.read(line.start, line.end), self.document.work) if small else None
            )
        return self._trees[line.start]

    def _around(self, chosen: list[_Line], room: int) -> list[Span]:
        """Return more records behind the first, before the last, and on both sides of each that stands out."""
        size = self.document.size
        behind = [line for line in chosen if line.end < size]
        before = [line for line in chosen if line.start > 0]
        ends = sum(line.start == 0 or line.end == size for line in chosen)
        others = len(behind) + len(before) - ends
        end_room = room // (3 if others else 1) // max(1, ends)
        other_room = (room - room // 3) // max(1, others)
        spans = []
        for line in behind:
            spans += self._behind(
                line, end_room if line.start == 0 else other_room, max(TEXT, room // TEXT_SHARE), chosen
            )
        left = room - sum(span.end - span.start for span in spans)
        for line in before:
            spans += self._before(line, end_room if line.end == size else other_room, left // 2)
            left -= spans[-1].end - spans[-1].start
        return spans

    def _behind(self, line: _Line, room: int, each: int, chosen: Sequence[_Line]) -> list[Span]:
        """Return the records that follow one: whole ones, and after the first also long ones in part."""
        spans, at = [], line.end
        cuttable = 0 if line.start else CUTS
        while at < self.document.size:
            some = self.document.blob.read(at, at + min(room, self.document.reach))
            whole = len(some) if at + len(some) == self.document.size else some.rfind(b"\n") + 1
            parts = [Span(at, at + whole)]
            if not whole:
                if not cuttable or room < LEAST + MARK or any(other.start == at for other in chosen):
                    break
                following = _Line(at, self.document.start(self.document.number(at) + 1), line.why)
                if not self._tree(following, each):
                    break
                parts = self._line(following, each)
                room -= MARK * len(parts)
                cuttable -= 1
            spans += parts
            room -= sum(part.end - part.start for part in parts)
            at = parts[-1].end
        return spans

    def _before(self, line: _Line, room: int, most: int) -> list[Span]:
        """Return the records before one, whole; one at least, where it is no longer than `most`."""
        some = self.document.blob.read(max(0, line.start - min(room, self.document.reach)), line.start)
        whole = 0 if len(some) == line.start else some.find(b"\n") + 1 or len(some)
        if whole == len(some):
            previous = self.document.start(self.document.number(line.start) - 1)
            if line.start - previous <= most:
                return [Span(previous, line.start)]
        return [Span(line.start - len(some) + whole, line.start)]


def _fill(spans: list[Span]) -> list[Span]:
    """Fill the gaps that are shorter than a marker."""
    more = [
        Span(one.end, two.start) for one, two in pairwise(spans) if one.then is None and two.start - one.end <= MARK
    ]
    return [*spans, *more]


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
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
