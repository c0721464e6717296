"""A JSON value in a given room: gaps that leave it JSON, small siblings whole, keys before contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from spillover.document.document import OBJECT, PIECE, UNBOUNDED, Work
from spillover.kinds.json.marks import Marks, Member
from spillover.kinds.json.records import MARKER_BYTES, MAX_ROWS, MIN_RECORDS, ROW_TEXT_BYTES, Rare, Rows
from spillover.kinds.json.strings import safe_cut
from spillover.kinds.query import ANSWERS, Query
from spillover.kinds.selection import Fill, Hidden, Span, largest, share_fairly

Array = Any  # of numpy; its own types say little about what is in one
#: A part that is shown: from, to, and why.
Part = tuple[int, int, str]

#: Why values at either end of a container are shown, and a record that neither is at an end nor stands out.
FIRST, LAST, ROW = "first items", "last items", "as a row"
#: Why keys and brackets around them are shown; up to COMMA_BYTES of them go with what is beside them.
SHAPE = "shape"
COMMA_BYTES = 16
#: With more gaps than this there is no shape left, and marking them is slow.
MAX_GAPS = 400
#: The search begins with about as many bytes as the usual limits hold.
FIRST_ROOM_BYTES = 1 << 16

#: A marker inside of a text.
TEXT_MARKER_BYTES = 24
#: A value is worth showing in part if it gets at least this many bytes. Larger: fewer values, and more of each.
MIN_PART_BYTES = 160
#: A longer string can be shown in part: the beginning, a marker, the end.
SHORT_TEXT_BYTES = 64
#: A long text gets at most 1/TEXT_SHARE of the room, but at least MIN_TEXT_BYTES: records and keys come first.
TEXT_SHARE = 16
MIN_TEXT_BYTES = 2 * MIN_PART_BYTES
#: A container with at most this many long values shows all of them. Larger: less of each.
MAX_LONG_VALUES = {ord("{"): 32, ord("["): 8}
#: And at most this many values in all.
MAX_VALUES = 1_000
#: At most this many long values in a row are shown in part.
MAX_CUTS = 32
#: Records that stand out are looked for if there are at least this many.
MIN_FOR_RARE = 8
#: With more items than this nothing answers a query. Larger: slower.
MAX_ANSWERABLE = 1 << 16
#: Points from which an item answers a query, and items that do. Larger: fewer, or more, answers.
MIN_POINTS = 0.3
MAX_ANSWERS = 6


class Gaps(Struct, frozen=True):
    """What is hidden of a value, and why some parts are not; no text that must be cut is longer than `max_text`."""

    max_text: int
    holes: list[tuple[int, int, Hidden]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def spans(self, end: int, base: int = 0) -> list[Span]:
        """Return what is left of the first `end` bytes, as spans of the output in which they begin at `base`."""
        spans = []
        at = 0
        for opens, closes, gap in sorted(self.holes, key=lambda gap: gap[0]):
            spans.append(Span(base + at, base + opens, then=gap))
            at = closes
        return [*spans, Span(base + at, base + end)]


class _Run(Struct, frozen=True):
    """Values of a container that are shown: up to which number, from and to which byte, and why."""

    upto: int
    at: int
    end: int
    why: str


class Tree(Struct, frozen=True):
    """A JSON value that can be shown in any room."""

    marks: Marks
    query: Query = Query()
    _rows: dict[int, Rows] = field(default_factory=dict)
    _reasons: dict[int, dict[int, str]] = field(default_factory=dict)

    def gaps(self, room: int) -> Gaps:
        """Return the gaps that leave a number of bytes of the whole."""
        gaps = Gaps(max(MIN_TEXT_BYTES, room // TEXT_SHARE))
        outermost = self.marks.levels[0]
        self._fit(int(outermost[0]), int(outermost[-1]) + 1, room, gaps, 1)
        return gaps

    def _fit(self, start: int, end: int, room: int, gaps: Gaps, depth: int) -> None:
        """Add the gaps that bring a value down to about `room` bytes, as far as it can be."""
        if end - start <= room:
            return
        if self.marks.data[start] == 0x22:
            self._cut_string(start, end, room, gaps)
            return
        edges = self.marks.inside(start, end, depth)
        if edges is None or self._show_rows(edges, depth, room, gaps) or self._show_all(edges, depth, room, gaps):
            return
        self._show_ends(edges, depth, room, gaps)

    def _cut_string(self, start: int, end: int, room: int, gaps: Gaps) -> None:
        """Hide the middle of a string; the beginning gets more of the room than the end."""
        if end - start <= SHORT_TEXT_BYTES:
            return
        left = max(min(room, gaps.max_text), SHORT_TEXT_BYTES) - TEXT_MARKER_BYTES
        opens = safe_cut(self.marks.data, start + 1, start + 1 + left * 2 // 3)
        closes = safe_cut(self.marks.data, start + 1, end - 1 - left // 3)
        if opens < closes:
            gaps.holes.append((opens, closes, Hidden("chars")))

    def _show_rows(self, edges: Array, depth: int, room: int, gaps: Gaps) -> bool:
        """Show records alike as rows, each as lean as cost; False where they are not alike, or not one fits."""
        count = len(edges) - 1
        start = int(edges[0])
        if count < MIN_RECORDS or room < MIN_PART_BYTES:
            return False
        if start not in self._rows:
            self._rows[start] = Rows(self.marks, edges, depth)
        table = self._rows[start]
        if not table.are_alike:
            return False
        reasons = self._standing_out(edges)
        self.marks.work.spend(5 * OBJECT * min(count, MAX_ROWS))
        rows = table.plan(room - 2, tuple(reasons))
        lead = next(number for number in range(count + 1) if number not in rows)  # items from the first one on
        runs = {}
        for number, in_full in rows.items():
            record = table.record(number)
            if not in_full:
                gaps.holes.extend(table.lean(number).gaps)
                for opens, closes in table.lean(number).cuts:
                    self._cut_string(opens, closes, ROW_TEXT_BYTES, gaps)
            why = ROW if lead == count else FIRST if number < lead else LAST
            runs[number] = _Run(number + 1, record.at, record.end, reasons.get(number, why))
        if rows and len(rows) < count:
            self._hide(edges, runs, gaps)
        gaps.parts.extend((run.at, run.end, run.why) for run in runs.values())
        return bool(rows)

    def _standing_out(self, edges: Array) -> dict[int, str]:
        """Return the values of a container that stand out, and why; what answers the query first."""
        count = len(edges) - 1
        start = int(edges[0])
        if start not in self._reasons:
            reasons = self._answers(edges) if self.query and count >= MIN_RECORDS else {}
            if count >= MIN_FOR_RARE:
                rare = Rare(self.marks.work)
                rare.feed(self.marks.data, edges[:-1] + 1, edges[1:], is_object=self.marks.data[start] == 0x7B)
                reasons |= {number: why for number, why in rare.explain().items() if number not in reasons}
            self._reasons[start] = reasons
        return self._reasons[start]

    def _answers(self, edges: Array) -> dict[int, str]:
        """Return the values of a container that answer the query, the best first."""
        if len(edges) > MAX_ANSWERABLE:
            return {}
        points = self.query.score_in(self.marks.data[int(edges[0]) : int(edges[-1])], edges[:-1] - edges[0]).tolist()
        answers = [number for number, point in enumerate(points) if point >= MIN_POINTS]
        answers.sort(key=lambda number: (-points[number], number))
        return dict.fromkeys(answers[:MAX_ANSWERS], ANSWERS)

    def _show_all(self, edges: Array, depth: int, room: int, gaps: Gaps) -> bool:
        """Show all values of a container, long ones in part; False where they are too many."""
        count = len(edges) - 1
        if count > min(MAX_VALUES, room // 2):
            return False
        self.marks.work.spend(5 * OBJECT * count)
        members = list(self.marks.members(edges))
        sizes = [member.size for member in members]
        room -= int(edges[-1]) + 1 - int(edges[0]) - sum(sizes)  # what stands between them
        if sum(size > MIN_PART_BYTES for size in sizes) > MAX_LONG_VALUES[self.marks.data[edges[0]]]:
            return False
        if sum(self._least(member, depth) for member in members) > room:
            return False
        for member, share in zip(members, self._share(members, depth, room), strict=True):
            self._shorten(member, depth, share, gaps)
        return True

    def _share(self, members: Sequence[Member], depth: int, room: int) -> list[int]:
        """Divide the room fairly between values, of which none gets less than its least."""
        return share_above([m.size for m in members], [self._least(m, depth) for m in members], room)

    def _shorten(self, member: Member, depth: int, room: int, gaps: Gaps) -> int:
        """Bring a value down to a number of bytes; return the bytes it takes: a long text may leave some to others."""
        count = len(gaps.holes)
        if member.size > room:
            self._fit(member.start, member.end, room - (member.start - member.at), gaps, depth + 1)
        return member.size - sum(end - start - MARKER_BYTES for start, end, _ in gaps.holes[count:])

    def _show_ends(self, edges: Array, depth: int, room: int, gaps: Gaps) -> None:
        """Show the first value of a container, the last, those that stand out, then more from both ends."""
        count = len(edges) - 1
        self.marks.work.spend(PIECE)
        # An object hides one run only: a second marker would have the same key.
        reasons = self._standing_out(edges) if self.marks.data[edges[0]] == 0x5B else {}
        members: dict[int, Member] = {}
        left = room - MARKER_BYTES
        for number in dict.fromkeys((0, count - 1, *reasons)):
            is_end = number in (0, count - 1)
            member = self.marks.member(edges, number)
            least = self._least(member, depth)
            cost = max(least, min(member.size, MIN_PART_BYTES)) + MARKER_BYTES * (len(members) >= 2)
            if is_end and cost > left:
                cost = least
            if cost <= (left if is_end else left - room // 2):
                members[number] = member
                left -= cost
        why = {0: FIRST, count - 1: LAST} | reasons
        runs = {number: _Run(number + 1, member.at, member.end, why[number]) for number, member in members.items()}
        room -= MARKER_BYTES * (1 + max(0, len(members) - 2))
        shares = self._share(list(members.values()), depth, room)
        for member, share in zip(members.values(), shares, strict=True):
            room -= self._shorten(member, depth, share, gaps)
        if room > 0 and 0 in members:
            self._add_first(edges, depth, room * 2 // 3 if count - 1 in members else room, runs, gaps)
        if room > 0 and count - 1 in members:
            self._add_last(edges, room // 3 if 0 in members else room, runs)
        self._hide(edges, runs, gaps)
        gaps.parts.extend((run.at, run.end, run.why) for run in runs.values())

    def _add_first(self, edges: Array, depth: int, room: int, runs: dict[int, _Run], gaps: Gaps) -> None:
        """Show more of the first values: whole ones, and long ones in part."""
        upto = 1
        cuts = 0
        while upto < len(edges) - 1 and upto not in runs:
            whole = int(edges.searchsorted(edges.dtype.type(min(edges[upto] + room, edges[-1])), "right")) - 1
            if whole > upto:
                room -= int(edges[whole] - edges[upto])
                upto = whole
                continue
            member = self.marks.member(edges, upto)
            too_small = room < MIN_PART_BYTES + MARKER_BYTES or self._least(member, depth) > room
            if cuts == MAX_CUTS or too_small:
                break
            room -= self._shorten(member, depth, min(room, gaps.max_text), gaps)
            upto += 1
            cuts += 1
        runs[0] = _Run(upto, runs[0].at, self.marks.member(edges, upto - 1).end, runs[0].why)

    def _add_last(self, edges: Array, room: int, runs: dict[int, _Run]) -> None:
        """Show more of the last values, whole ones."""
        last = len(edges) - 2
        since = min(last, int(edges.searchsorted(edges.dtype.type(max(0, edges[last] - room)))))
        if since < last:
            run = runs.pop(last)
            runs[since] = _Run(last + 1, self.marks.member(edges, since).at, run.end, run.why)

    def _hide(self, edges: Array, runs: dict[int, _Run], gaps: Gaps) -> None:
        """Add a gap for each run of values of which none is shown, unless they are hardly longer than their marker."""
        kind = "items" if self.marks.data[edges[0]] == 0x5B else "keys"
        upto = 0
        last = _Run(0, 0, 0, "")
        for number, run in [*sorted(runs.items()), (len(edges) - 1, last)]:
            if number > upto:
                opens, closes = self.marks.member(edges, upto).at, self.marks.member(edges, number - 1).end
                if closes - opens > 2 * MARKER_BYTES or not runs:
                    gaps.holes.append((opens, closes, Hidden(kind, number - upto)))
            upto = max(upto, run.upto)

    def _least(self, member: Member, depth: int) -> int:
        """Return about the fewest bytes that can stand for a value; its key is never cut, and no number is."""
        first = self.marks.data[member.start]
        size = member.end - member.start
        if first == 0x22:
            size = min(size, SHORT_TEXT_BYTES)
        elif first in b"[{" and depth < len(self.marks.levels):
            size = min(size, MARKER_BYTES + 2)
        return member.start - member.at + size


def share_above(sizes: Sequence[int], leasts: Sequence[int], room: int) -> list[int]:
    """Give each its least, and divide the rest of the room fairly."""
    wishes = [max(0, size - least) for size, least in zip(sizes, leasts, strict=True)]
    shares = share_fairly(room - sum(leasts), wishes, [1] * len(wishes))
    return [least + share for least, share in zip(leasts, shares, strict=True)]


def find_size(build: Callable[[int], Sequence[Span]], high: int, max_bytes: int, fill: Fill) -> int | None:
    """Return the largest size up to `high` with which the spans fit; None where they never do.

    Above `max_bytes` none can.
    """

    @cache
    def measure(size: int) -> float:
        spans = build(size)
        total = sum(span.end - span.start for span in spans)
        if total > max_bytes:  # and would take long to look at
            return 2 * total / max_bytes
        return fill(spans) if len(spans) <= MAX_GAPS else 2.0

    size = largest(high, measure, start=FIRST_ROOM_BYTES)
    return size if measure(size) <= 1 else None


def explain(spans: Sequence[Span], parts: Sequence[Part], usual: Sequence[str], work: Work = UNBOUNDED) -> list[Span]:
    """Return the same spans, divided where the reason changes: that of the smallest part, `usual` ones last."""
    return [piece for span in spans for piece in _divide(span, parts, usual, work)]


def _divide(span: Span, parts: Sequence[Part], usual: Sequence[str], work: Work) -> list[Span]:
    near = [part for part in parts if part[0] < span.end and part[1] > span.start]
    work.spend(10 * len(parts) + 50 * len(near) ** 2)
    edges = {span.start, span.end, *(edge for part in near for edge in part[:2] if span.start < edge < span.end)}
    pieces: list[Part] = []
    for start, end in pairwise(sorted(edges)):
        reasons = [(why in usual, upto - since, why) for since, upto, why in near if since <= start and end <= upto]
        why = min(reasons)[2] if reasons else SHAPE
        if pieces and (why in (pieces[-1][2], SHAPE if end - start <= COMMA_BYTES else None)):
            pieces[-1] = (pieces[-1][0], end, pieces[-1][2])
        elif pieces and pieces[-1][2] == SHAPE and pieces[-1][1] - pieces[-1][0] <= COMMA_BYTES:
            pieces[-1] = (pieces[-1][0], end, why)
        else:
            pieces.append((start, end, why))
    return [Span(start, end, why, span.then if end == span.end else None) for start, end, why in pieces]
