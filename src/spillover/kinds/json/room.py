"""What of a JSON value is shown in a given room: gaps that leave it JSON, small siblings whole, keys before contents."""

from __future__ import annotations

from msgspec import Struct, field

from spillover.document.document import OBJECT, PIECE, UNBOUNDED
from spillover.kinds.json.alike import Alike, plan
from spillover.kinds.json.fields import FEWEST
from spillover.kinds.json.gaps import FIRST, LAST, Gaps
from spillover.kinds.json.lean import TEXT as LEAN_TEXT
from spillover.kinds.json.members import Child, Members
from spillover.kinds.json.rare import Rare
from spillover.kinds.json.strings import safe_cut
from spillover.kinds.query import ANSWERS, Query
from spillover.kinds.selection import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Work
    from spillover.kinds.json.scan import Ints, Marks

#: About how many bytes a marker takes, one inside of a text, and one of members that is not the first.
MARK = 48
TINY = 24
SHORTEST = 20
#: A value is worth showing in part if it gets at least this many bytes.
LEAST = 160
#: A longer string can be shown in part: the beginning, a marker, the end.
SHORT = 64
#: A long text gets at most 1/TEXT_SHARE of the room, but at least TEXT bytes: records and keys come first.
TEXT_SHARE = 16
TEXT = 2 * LEAST
#: A container with at most this many long values shows all of them, each as short as needed.
LONG = {ord("{"): 32, ord("["): 8}
#: And at most this many values in all.
ALL = 1_000
#: At most this many long values in a row are shown in part.
CUTS = 32
#: Records that stand out are looked for if there are at least this many.
MANY = 8
#: Of more records than this, the first are looked at, and those that stand out.
ROWS = 256
#: Why a record is shown that neither is at an end nor stands out.
ROW = "as a row"
#: With more items than this nothing answers a query; an item does with so many points, and so many of them stand out.
ANSWERABLE = 1 << 16
ANSWERED = 0.3
ANSWERS_SHOWN = 6
NOTHING_ASKED = Query()


class _Run(Struct, frozen=True):
    """Values of a container that are shown: up to which number, from and to which byte, and why."""

    upto: int
    at: int
    end: int
    why: str


class Tree(Struct, frozen=True):
    """A JSON value that can be shown in any room."""

    data: bytes
    marks: Marks
    work: Work = UNBOUNDED
    asked: Query = NOTHING_ASKED
    _alike: dict[int, Alike] = field(default_factory=dict)
    _deep: dict[int, dict[int, str]] = field(default_factory=dict)
    _stands_out: dict[int, Sequence[tuple[int, str]]] = field(default_factory=dict)

    @property
    def members(self) -> Members:
        return Members(self.data, self.marks, self.work)

    def gaps(self, room: int) -> Gaps:
        """Return what is hidden when the whole of it gets about so many bytes."""
        out = Gaps(max(TEXT, room // TEXT_SHARE))
        outermost = self.marks.levels[0]
        self.fit(int(outermost[0]), int(outermost[-1]) + 1, room, out)
        return out

    def fit(self, start: int, end: int, room: int, out: Gaps, depth: int = 1) -> None:
        """Add the gaps that bring a value down to about `room` bytes, as far as it can be."""
        if end - start <= room:
            return
        if self.data[start] == 0x22:
            self._string(start, end, room, out)
        else:
            marks = self.members.inside(start, end, depth)
            if marks is None or self._rows(marks, depth, room, out) or self._all(marks, depth, room, out):
                return
            self._some(marks, depth, room, out)

    def _rows(self, marks: Ints, depth: int, room: int, out: Gaps) -> bool:
        """Show records alike as rows, each as lean as needed; False where they are not alike, or not one fits."""
        count, start = len(marks) - 1, int(marks[0])
        if count < FEWEST or room < LEAST:
            return False
        if start not in self._alike:
            self._alike[start] = Alike(self.members, marks, depth, SHORTEST)
        alike = self._alike[start]
        if not alike.many:
            return False
        odd = dict(self._odd(marks))
        if start not in self._deep:
            first = dict(enumerate(self.members.children(marks, min(count, ROWS))))
            others = sorted({*odd, count - 1} - first.keys())
            alike.take(first | {number: self.members.child(marks, number) for number in others})
            self._deep[start] = alike.odd() if count >= MANY else {}
        self.work.spend(5 * OBJECT * len(alike.children))
        odd |= {number: why for number, why in self._deep[start].items() if number not in odd}
        rows = plan(alike, count, room - 2, tuple(odd), MARK)
        lead = next(number for number in range(count + 1) if number not in rows)  # so many from the first one on
        shown = {}
        for number, full in rows.items():
            record = alike.children[number]
            if not full:
                lean = alike.lean(number)
                out.hidden.extend(lean.hidden)
                for opens, closes in lean.cut:
                    self._string(opens, closes, LEAN_TEXT, out)
            why = ROW if lead == count else FIRST if number < lead else LAST
            shown[number] = _Run(number + 1, record.at, record.end, odd.get(number, why))
        if rows and len(rows) < count:
            self._hide(marks, shown, out)
        out.shown.extend((run.at, run.end, run.why) for run in shown.values())
        return bool(rows)

    def _odd(self, marks: Ints) -> Sequence[tuple[int, str]]:
        """Return the items of a container that stand out, and why; what answers the query first."""
        count, start = len(marks) - 1, int(marks[0])
        if start not in self._stands_out:
            found = self._answers(marks) if self.asked and count >= FEWEST else {}
            if count >= MANY and self.data[start] == 0x5B:
                rare = Rare(self.work)
                rare.feed(self.data, marks[:-1] + 1, marks[1:])
                found |= {number: why for number, why in rare.found().items() if number not in found}
            self._stands_out[start] = tuple(found.items())
        return self._stands_out[start]

    def _answers(self, marks: Ints) -> dict[int, str]:
        """Return the items that answer the query, the best first."""
        if len(marks) > ANSWERABLE:
            return {}
        points = self.asked.score_in(self.data[int(marks[0]) : int(marks[-1])], marks[:-1] - marks[0]).tolist()
        best = sorted(
            (number for number, point in enumerate(points) if point >= ANSWERED), key=lambda n: (-points[n], n)
        )
        return dict.fromkeys(best[:ANSWERS_SHOWN], ANSWERS)

    def _string(self, start: int, end: int, room: int, out: Gaps) -> None:
        """Hide the middle of a string; the beginning gets more of the room than the end."""
        if end - start <= SHORT:
            return
        left = max(min(room, out.text), SHORT) - TINY
        opens = safe_cut(self.data, start + 1, start + 1 + left * 2 // 3)
        closes = safe_cut(self.data, start + 1, end - 1 - left // 3)
        if opens < closes:
            out.hidden.append((opens, closes, Hidden("chars")))

    def _all(self, marks: Ints, depth: int, room: int, out: Gaps) -> bool:
        """Show all values of a container, long ones in part; False where they are too many."""
        count = len(marks) - 1
        if count > min(ALL, room // 2):
            return False
        self.work.spend(5 * OBJECT * count)
        children = [self.members.child(marks, number) for number in range(count)]
        sizes = [child.size for child in children]
        leasts = [self._least(child, depth) for child in children]
        between_them = int(marks[-1]) + 1 - int(marks[0]) - sum(sizes)
        if sum(size > LEAST for size in sizes) > LONG[self.data[marks[0]]] or sum(leasts) + between_them > room:
            return False
        for child, given in zip(children, share_out(sizes, leasts, room - between_them), strict=True):
            self._shorten(child, depth, given, out)
        return True

    def _shorten(self, child: Child, depth: int, room: int, out: Gaps) -> int:
        """Bring a value down to so many bytes; how many it takes then: a long text may leave some to others."""
        gaps = len(out.hidden)
        if child.size > room:
            self.fit(child.start, child.end, room - (child.start - child.at), out, depth + 1)
        return child.size - sum(end - start - MARK for start, end, _ in out.hidden[gaps:])

    def _some(self, marks: Ints, depth: int, room: int, out: Gaps) -> None:
        """Show some values of a container: the first, the last, those that stand out, then more from both ends."""
        count = len(marks) - 1
        self.work.spend(PIECE)
        is_array = self.data[marks[0]] == 0x5B
        # An object hides one run only: a second marker would have the same key.
        odd = self._odd(marks) if is_array else ()
        chosen: dict[int, Child] = {}
        left, half = room - MARK, room // 2
        for number in dict.fromkeys((0, count - 1, *(number for number, _ in odd))):
            child = self.members.child(marks, number)
            needed = max(self._least(child, depth), min(child.size, LEAST)) + MARK * (len(chosen) >= 2)
            if needed <= left and (left - needed >= half or number in (0, count - 1)):
                chosen[number] = child
                left -= needed
            elif number in (0, count - 1) and self._least(child, depth) <= left:
                chosen[number] = child
                left -= self._least(child, depth)
        why = {0: FIRST, count - 1: LAST} | dict(odd)
        shown = {number: _Run(number + 1, child.at, child.end, why[number]) for number, child in chosen.items()}
        room -= MARK * (1 + max(0, len(chosen) - 2))
        sizes = [child.size for child in chosen.values()]
        leasts = [self._least(child, depth) for child in chosen.values()]
        for child, given in zip(chosen.values(), share_out(sizes, leasts, room), strict=True):
            room -= self._shorten(child, depth, given, out)
        if room > 0 and 0 in chosen:
            self._from_start(marks, depth, room * 2 // 3 if count - 1 in chosen else room, shown, out)
        if room > 0 and count - 1 in chosen:
            self._from_end(marks, room // 3 if 0 in chosen else room, shown)
        self._hide(marks, shown, out)
        out.shown.extend((run.at, run.end, run.why) for run in shown.values())

    def _from_start(self, marks: Ints, depth: int, room: int, shown: dict[int, _Run], out: Gaps) -> None:
        """Show more of the first values: whole ones, and long ones in part."""
        upto, cuts = 1, 0
        while upto < len(marks) - 1 and upto not in shown:
            whole = int(marks.searchsorted(marks.dtype.type(min(marks[upto] + room, marks[-1])), "right")) - 1
            if whole > upto:
                room -= int(marks[whole] - marks[upto])
                upto = whole
                continue
            child = self.members.child(marks, upto)
            if cuts == CUTS or room < LEAST + MARK or self._least(child, depth) > room:
                break
            room -= self._shorten(child, depth, min(room, out.text), out)
            upto, cuts = upto + 1, cuts + 1
        shown[0] = _Run(upto, shown[0].at, self.members.child(marks, upto - 1).end, shown[0].why)

    def _from_end(self, marks: Ints, room: int, shown: dict[int, _Run]) -> None:
        """Show more of the last values, whole ones."""
        last = len(marks) - 2
        since = min(last, int(marks.searchsorted(marks.dtype.type(max(0, marks[last] - room)))))
        if since < last:
            run = shown.pop(last)
            shown[since] = _Run(last + 1, self.members.child(marks, since).at, run.end, run.why)

    def _hide(self, marks: Ints, shown: dict[int, _Run], out: Gaps) -> None:
        """Add a gap for each run of values of which none is shown, unless they are hardly longer than their marker."""
        kind = "items" if self.data[marks[0]] == 0x5B else "keys"
        done = 0
        last = _Run(0, 0, 0, "")
        for number, run in [*sorted(shown.items()), (len(marks) - 1, last)]:
            if number > done:
                opens, closes = self.members.child(marks, done).at, self.members.child(marks, number - 1).end
                if closes - opens > 2 * MARK or not shown:
                    out.hidden.append((opens, closes, Hidden(kind, number - done)))
            done = max(done, run.upto)

    def _least(self, child: Child, depth: int) -> int:
        """Return about the fewest bytes that can stand for a value; its key is never cut, and no number is."""
        first, size = self.data[child.start], child.end - child.start
        if first == 0x22:
            size = min(size, SHORT)
        elif first in b"[{" and depth < len(self.marks.levels):
            size = min(size, MARK + 2)
        return child.start - child.at + size


def share_out(sizes: Sequence[int], leasts: Sequence[int], room: int) -> list[int]:
    """Give everybody what they need if there is room; otherwise equal shares, and nobody less than their least."""
    low, high = 0, max(sizes, default=0)
    if sum(sizes) <= room:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, max(least, middle)) for size, least in zip(sizes, leasts, strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return [min(size, max(least, low)) for size, least in zip(sizes, leasts, strict=True)]
