"""What of a JSON value is shown in so much room: gaps that leave it JSON, small siblings whole, keys before contents."""

from __future__ import annotations

import re

from spillover.data import dataclass
from spillover.select.json_gaps import FIRST, LAST, Gaps
from spillover.select.span import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.select.json_scan import Ints, Marks

    #: The records of an array that stand out, and why; the rarest first.
    Peculiar = Callable[[int, int, int], Sequence[tuple[int, str]]]

#: About what a marker takes for itself.
MARK = 48
#: A value is worth showing in part from so many bytes on, where others wait for room.
LEAST = 160
#: A string is shown in part from so many bytes on: the beginning, a marker, the end.
SHORT = 64
#: A long text gets this part of the room at most, but so many bytes: records and keys come first.
TEXT_SHARE = 16
TEXT = 2 * LEAST
#: With no more long ones than these among its values, a container shows all of them, however short.
LONG = {ord("{"): 32, ord("["): 8}
#: All of them, where they are not more than these.
ALL = 1_000
#: So many long values in a row are shown in part.
CUTS = 32
#: Records that stand out are looked for among so many or more.
MANY = 8

_BLANK = b" \t\r\n"
_BLANKS = re.compile(rb"[ \t\r\n]*")
_KEY = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89abAB]..\Z", re.DOTALL)
_OTHER_HALF = re.compile(rb"\\u[dD][c-fC-F]")


@dataclass(frozen=True, slots=True)
class Child:
    """A value in its container: `at` is where its key begins, or itself where it has none."""

    at: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.at


@dataclass(frozen=True, slots=True)
class _Run:
    """Values of a container that are shown: up to which number, from and to which byte, and why."""

    upto: int
    at: int
    end: int
    why: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A JSON value that can be shown in any room."""

    data: bytes
    marks: Marks
    peculiar: Peculiar

    def gaps(self, room: int) -> Gaps:
        """What is hidden when the whole of it gets about so many bytes."""
        out = Gaps(max(TEXT, room // TEXT_SHARE))
        outermost = self.marks.levels[0]
        self.fitted(int(outermost[0]), int(outermost[-1]) + 1, room, out)
        return out

    def fitted(self, start: int, end: int, room: int, out: Gaps, depth: int = 1) -> None:
        """Add the gaps that bring a value down to about `room` bytes, as far as it can be."""
        if end - start <= room:
            return
        if self.data[start] == 0x22:
            self._string(start, end, room, out)
        elif self.data[start] in b"[{":
            marks = self.marks.inside(depth, start, end)
            if marks is not None and not self._empty(marks) and not self._all(marks, depth, room, out):
                self._some(marks, depth, room, out)

    def _string(self, start: int, end: int, room: int, out: Gaps) -> None:
        """The middle of a string is hidden, the beginning gets more of the room than the end."""
        if end - start <= SHORT:
            return
        left = max(min(room, out.text), SHORT) - MARK
        opens = between(self.data, start + 1, start + 1 + left * 2 // 3)
        closes = between(self.data, start + 1, end - 1 - left // 3)
        if opens < closes:
            out.hidden.append((opens, closes, Hidden("chars")))

    def _all(self, marks: Ints, depth: int, room: int, out: Gaps) -> bool:
        """Show all values of a container, long ones in part; False where they are too many."""
        count = len(marks) - 1
        if count > min(ALL, room // 2):
            return False
        children = [self._child(marks, number) for number in range(count)]
        sizes = [child.size for child in children]
        leasts = [self._least(child, depth) for child in children]
        between_them = int(marks[-1]) + 1 - int(marks[0]) - sum(sizes)
        if sum(size > LEAST for size in sizes) > LONG[self.data[marks[0]]] or sum(leasts) + between_them > room:
            return False
        for child, given in zip(children, shared(sizes, leasts, room - between_them), strict=True):
            self._shorten(child, depth, given, out)
        return True

    def _shorten(self, child: Child, depth: int, room: int, out: Gaps) -> int:
        """Bring a value down to so many bytes; how many it takes then: a long text may leave some to others."""
        gaps = len(out.hidden)
        if child.size > room:
            self.fitted(child.start, child.end, room - (child.start - child.at), out, depth + 1)
        return child.size - sum(end - start - MARK for start, end, _ in out.hidden[gaps:])

    def _some(self, marks: Ints, depth: int, room: int, out: Gaps) -> None:
        """Show some values of a container: the first, the last, those that stand out, then more from both ends."""
        count = len(marks) - 1
        is_array = self.data[marks[0]] == 0x5B
        start, end = int(marks[0]), int(marks[-1]) + 1
        # An object hides one run only: a second marker would have the same key.
        odd = self.peculiar(start, end, depth) if is_array and count >= MANY else ()
        chosen: dict[int, Child] = {}
        left, half = room - MARK, room // 2
        for number in dict.fromkeys((0, count - 1, *(number for number, _ in odd))):
            child = self._child(marks, number)
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
        for child, given in zip(chosen.values(), shared(sizes, leasts, room), strict=True):
            room -= self._shorten(child, depth, given, out)
        if room > 0 and 0 in chosen:
            self._from_start(marks, depth, room * 2 // 3 if count - 1 in chosen else room, shown, out)
        if room > 0 and count - 1 in chosen:
            self._from_end(marks, room // 3 if 0 in chosen else room, shown)
        self._hide(marks, shown, out)
        out.shown.extend((run.at, run.end, run.why) for run in shown.values())

    def _from_start(self, marks: Ints, depth: int, room: int, shown: dict[int, _Run], out: Gaps) -> None:
        """More of the first values: whole ones, and long ones in part."""
        upto, cuts = 1, 0
        while upto < len(marks) - 1 and upto not in shown:
            whole = int(marks.searchsorted(marks.dtype.type(min(marks[upto] + room, marks[-1])), "right")) - 1
            if whole > upto:
                room -= int(marks[whole] - marks[upto])
                upto = whole
                continue
            child = self._child(marks, upto)
            if cuts == CUTS or room < LEAST + MARK or self._least(child, depth) > room:
                break
            room -= self._shorten(child, depth, min(room, out.text), out)
            upto, cuts = upto + 1, cuts + 1
        shown[0] = _Run(upto, shown[0].at, self._child(marks, upto - 1).end, shown[0].why)

    def _from_end(self, marks: Ints, room: int, shown: dict[int, _Run]) -> None:
        """More of the last values, whole ones."""
        last = len(marks) - 2
        since = min(last, int(marks.searchsorted(marks.dtype.type(max(0, marks[last] - room)))))
        if since < last:
            run = shown.pop(last)
            shown[since] = _Run(last + 1, self._child(marks, since).at, run.end, run.why)

    def _hide(self, marks: Ints, shown: dict[int, _Run], out: Gaps) -> None:
        """One gap for each run of values of which none is shown, unless they are hardly longer than their marker."""
        kind = "items" if self.data[marks[0]] == 0x5B else "keys"
        done = 0
        last = _Run(0, 0, 0, "")
        for number, run in [*sorted(shown.items()), (len(marks) - 1, last)]:
            if number > done:
                opens, closes = self._child(marks, done).at, self._child(marks, number - 1).end
                if closes - opens > 2 * MARK or not shown:
                    out.hidden.append((opens, closes, Hidden(kind, number - done)))
            done = max(done, run.upto)

    def _empty(self, marks: Ints) -> bool:
        opens, closes = int(marks[0]) + 1, int(marks[-1])
        match = _BLANKS.match(self.data, opens, closes) if len(marks) == 2 else None
        return match is not None and match.end() == closes

    def _child(self, marks: Ints, number: int) -> Child:
        """A value of the container that has these marks."""
        data, end = self.data, int(marks[number + 1])
        blanks = _BLANKS.match(data, int(marks[number]) + 1, end)
        at = blanks.end() if blanks else 0
        while data[end - 1] in _BLANK:
            some = data[max(at, end - 64) : end]
            end -= len(some) - len(some.rstrip(_BLANK))
        key = _KEY.match(data, at, end) if data[marks[0]] == 0x7B else None
        return Child(at, key.end() if key else at, end)

    def _least(self, child: Child, depth: int) -> int:
        """About the fewest bytes that can stand for a value; its key is never cut, and no number is."""
        first, size = self.data[child.start], child.end - child.start
        if first == 0x22:
            size = min(size, SHORT)
        elif first in b"[{" and depth < len(self.marks.levels):
            size = min(size, MARK + 2)
        return child.start - child.at + size


def shared(sizes: Sequence[int], leasts: Sequence[int], room: int) -> list[int]:
    """Who needs less than the others gets what they need, the rest is shared evenly; nobody gets less than their least."""
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


def between(data: bytes, start: int, at: int) -> int:
    """The last place up to `at`, in a string whose text begins at `start`, where nothing is cut in two.

    No character, no escape, and no pair of escapes that is one character.
    """
    while at > start and 0x80 <= data[at] < 0xC0:
        at -= 1
    for back in range(1, 6):  # an escape has at most six bytes
        here = at - back
        if here >= start and data[here] == 0x5C and _escapes(data, start, here):
            size = 6 if data[here + 1] == 0x75 else 2
            at = here if back < size else at
            break
    half = at - 6
    if half >= start and _HALF.match(data, half, at) and _escapes(data, start, half) and _OTHER_HALF.match(data, at):
        return half
    return at


def _escapes(data: bytes, start: int, at: int) -> bool:
    """Whether the backslash here begins an escape: an even number of them stand before it."""
    before = data[max(start, at - 64) : at]
    if before.count(b"\\") == 64:
        before = data[start:at]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
