"""Lines that are JSON records: line N stays record N, each line shown is JSON, and the records that stand out are kept."""

from __future__ import annotations

from itertools import pairwise

from spillover.data import dataclass, field
from spillover.select.json_gaps import explained, fullest
from spillover.select.json_room import CUTS, LEAST, MARK, TEXT, TEXT_SHARE, shared
from spillover.select.json_tree import parsed
from spillover.select.lines import lines_of
from spillover.select.scan import CLOSE
from spillover.select.span import Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.json_gaps import Part
    from spillover.select.json_room import Tree
    from spillover.select.span import Fill
    from spillover.view.document import Document

#: Why records at either end are shown.
FIRST, LAST = "first records", "last records"
#: So much is read at a time; of a longer line only the beginning is looked at.
BLOCK = 1 << 20
#: A line of the sample that is longer is not taken.
SAMPLE_LINE = 1 << 16
#: So many of the sample's lines are JSON, or the output is none.
MOSTLY = 0.8
#: Among lines shorter than this nothing stands out, and there may be billions.
TINY = 8
#: A longer line is shown whole or not at all.
LINE_CAP = 8 << 20
#: So many records may be like no other, and one in so many; with more of them it means nothing.
UNLIKE, FEW = 16, 12
#: And so it is with all that would not be in memory together with those before.
HELD = 32 << 20


def select(document: Document, fill: Fill) -> list[Span] | None:
    """Whole records, and long ones in part; None where most lines are none, or not one of them fits."""
    if document.lines < 2 or len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    sample = _sample(document)
    if sample is None:
        return None
    odd = _peculiar(document, sample)
    known = {number for number, _ in odd}
    records = _Records(document, odd + [each for each in _unlike(document) if each[0] not in known])
    most_bytes = 2 * document.reach
    room = fullest(records.spans, min(document.size, most_bytes) * TEXT_SHARE, most_bytes, fill)
    spans = [] if room is None else records.spans(room)
    return explained(spans, records.parts(spans), (FIRST, LAST)) if spans else None


def _unlike(document: Document) -> list[tuple[int, str]]:
    """Records like no other, in an output that is small enough to look at every line."""
    if document.size > CLOSE:
        return []
    import numpy as np

    lines = lines_of(document, [(0, document.size)])
    _, first, counts = np.unique(lines.template, return_index=True, return_counts=True)
    alone = np.sort(first[counts == 1])
    few = len(alone) <= min(UNLIKE, len(lines) // FEW)
    return [(number + 1, f"record {number + 1:,}: like no other") for number in alone.tolist()] if few else []


def _sample(document: Document) -> list[Tree] | None:
    """Some lines from all over the output, where most of them are JSON objects or arrays."""
    from spillover.select.json_odd import SAMPLE

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
    trees = [parsed(line) for line in lines.values() if line.strip()]
    good = [tree for tree in trees if tree is not None]
    return good if good and len(good) >= MOSTLY * len(trees) else None


def _peculiar(document: Document, sample: list[Tree]) -> list[tuple[int, str]]:
    """The records that stand out: the number of the line, and why. One pass, a block at a time."""
    if document.size < TINY * document.lines:
        return []
    import numpy as np

    from spillover.select.json_odd import Odd
    from spillover.select.json_scan import lines_marks

    rows = [(np.frombuffer(tree.data, np.uint8), tree.marks.levels[0].astype(np.int64)) for tree in sample]
    odd = Odd([len(tree.data) for tree in sample], rows)
    at = 0
    while at < document.size:
        data = document.blob.read(at, at + BLOCK)
        last = at + len(data) >= document.size
        data = data if last else data[: data.rfind(b"\n") + 1] or data
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 0x0A)
        inner = lines_marks(data, ends) if last or len(ends) else None
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        odd.feed(data, np.concatenate((ends[:0], [0], ends[:-1] + 1)), ends, inner)
        at = document.start(document.number(at) + 1) if inner is None else at + len(data)
    return [(number + 1, why) for number, why in odd.found()]


@dataclass(frozen=True, slots=True)
class _Line:
    """A record that is kept in any case: where it is, and why."""

    start: int
    end: int
    why: str

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class _Records:
    """What is shown of records in so much room."""

    document: Document
    odd: list[tuple[int, str]]
    _lines: list[_Line] = field(default_factory=list)
    _trees: dict[int, Tree | None] = field(default_factory=dict)

    def spans(self, room: int) -> list[Span]:
        """The first, the last and those that stand out; then more from the beginning, the end, and around them."""
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
        for line, given in zip(chosen, shared(sizes, leasts, room), strict=True):
            parts = self._line(line, given)
            room -= sum(part.end - part.start + MARK for part in parts) - MARK
            spans += parts
        if room > 0:
            spans += self._around(chosen, room)
        return joined(_filled(joined(spans)))

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
        """Why each record of these is shown: a reason of its own, or that of the nearest one that has one."""
        kept = sorted(self._kept(), key=lambda line: line.start)
        shown = [line for line in kept if any(span.start <= line.start < span.end for span in spans)]
        parts = [(line.start, line.end, line.why) for line in shown]
        for one, two in pairwise(shown):
            middle = self.document.start(self.document.number((one.end + two.start) // 2))
            parts += [(one.end, middle, one.why), (middle, two.start, two.why)]
        return parts

    def _line(self, line: _Line, room: int) -> list[Span]:
        """A record in so much room."""
        tree = self._tree(line, room)
        if tree is None:
            return [Span(line.start, line.end)]
        return tree.gaps(room).spans(line.size, line.start)

    def _tree(self, line: _Line, room: int) -> Tree | None:
        """The values of a record that must be cut; None where it need not be, or cannot."""
        if line.size <= room:
            return None
        if line.start not in self._trees:
            held = line.size + sum(len(tree.data) for tree in self._trees.values() if tree)
            small = line.size <= LINE_CAP and held <= HELD
            self._trees[line.start] = parsed(self.document.blob.read(line.start, line.end)) if small else None
        return self._trees[line.start]

    def _around(self, chosen: list[_Line], room: int) -> list[Span]:
        """More records behind the first, before the last, and on both sides of each that stands out."""
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
        """The records that follow one: whole ones, and after the first also long ones in part."""
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
        """The records before one, whole; one at least, where it is no longer than `most`."""
        some = self.document.blob.read(max(0, line.start - min(room, self.document.reach)), line.start)
        whole = 0 if len(some) == line.start else some.find(b"\n") + 1 or len(some)
        if whole == len(some):
            previous = self.document.start(self.document.number(line.start) - 1)
            if line.start - previous <= most:
                return [Span(previous, line.start)]
        return [Span(line.start - len(some) + whole, line.start)]


def _filled(spans: list[Span]) -> list[Span]:
    """With gaps that are shorter than a marker shown."""
    more = [
        Span(one.end, two.start) for one, two in pairwise(spans) if one.then is None and two.start - one.end <= MARK
    ]
    return [*spans, *more]
