"""A record at every level, found in one pass: what of it is hidden, which of its texts are cut, and how long it is then."""

from __future__ import annotations

from spillover.base.work import OBJECT
from spillover.select.json.fields import ALL, LEVELS
from spillover.select.json.members import trim
from spillover.select.json.record import NESTED
from spillover.select.span import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.base.work import Work
    from spillover.select.json.fields import Field
    from spillover.select.json.record import Record

    #: What is hidden: from, to, and what it is.
    Gap = tuple[int, int, Hidden]
    #: A text that is cut: from, to, and its room.
    Cut = tuple[int, int, int]
    #: Values of a container, in order: the levels that show each, and where it begins and ends.
    Shown = list[tuple[int, int, int]]

#: A hidden run of members is worth its marker from so many bytes on.
LEAST = 40
#: How long a text may be at each level, and how many items of an array inside of a record are shown.
TEXTS = (1 << 30, 240, 160, 112, 96)
ITEMS = (1 << 30, 12, 6, 3, 2)
#: No shorter text is cut at any level.
LONG = min(TEXTS) + LEAST
#: A shorter text may come again; and of longer ones so many are remembered.
REPEATED, SAID = 8, 32
#: How `true`, `false` and `null` begin.
SWITCHES = b"tfn"


class Lean:
    """A record at each level, 0 to LEVELS: how long it is with its markers, what is hidden of it, which texts are cut."""

    __slots__ = ("cut", "hidden", "sizes")

    def __init__(self, record: Record, size: int, mark: int, known: Field, work: Work) -> None:
        self.sizes = [size] * (LEVELS + 1)
        self.hidden: list[list[Gap]] = [[] for _ in self.sizes]
        self.cut: list[list[Cut]] = [[] for _ in self.sizes]
        _Visit(self, record, mark, work).container(record.start, record.end, 0, known, ALL)


class _Visit:
    """One way through a record. Levels are bits, from level 1 on."""

    __slots__ = ("_lean", "_mark", "_record", "_said", "_work")

    def __init__(self, lean: Lean, record: Record, mark: int, work: Work) -> None:
        self._lean, self._record, self._mark, self._work = lean, record, mark, work
        self._said: dict[bytes, int] = {}  # the texts that are shown so far, and at which levels

    def container(self, start: int, end: int, deep: int, known: Field | None, levels: int) -> int:
        """Note what is hidden of a container; return the levels that show some of it."""
        record = self._record
        edges = record.edges(start, end, deep)
        if edges is None:
            return levels
        data = record.data
        count, is_array = len(edges) - 1, data[start] == 0x5B
        values: Shown = []
        some, left, room = 0, levels, list(ITEMS[1:])
        members = record.read(edges, known)
        for at, begins, ends, field in members:
            first = data[begins]
            common = field is not None and field.common is not None and record.value(begins, ends) == field.common
            if first in b"[{" and deep + 1 < NESTED:
                is_bare = ends - begins == 2 or (common and not is_array)
                shown = 0 if is_bare else self.container(begins, ends, deep + 1, field, left)
            elif common:
                shown = 0
            else:
                shown = left if field is None else left & (field.switches if first in SWITCHES else field.kept)
                if first == 0x22 and shown and ends - begins >= REPEATED + 2:
                    shown = self._text(begins, ends, shown)
            values.append((shown, at, ends))
            some |= shown
            if is_array and shown:
                left = _take(room, shown, left)
                if not left:
                    break
        self._work.spend(2 * OBJECT * len(values))
        if not some and deep:
            return 0
        if end - start >= LEAST + 2:  # or any marker would be as long
            rest = next(members, None) if len(values) < count else None
            if rest is not None:  # of which nothing is shown at any level
                values.append((0, rest[0], trim(data, rest[0], int(edges[-1]))))
            self._hide(values, count, some if deep else levels, "items" if is_array else "keys")
        return some if deep else levels

    def _hide(self, values: Shown, count: int, levels: int, kind: str) -> None:
        """Note the runs of values that are not shown at a level. The last value stands for all up to number `count`."""
        every, changes = levels, 0
        for shown, _, _ in values:
            every &= shown
            changes |= shown ^ shown >> 1
        if every == levels:
            return
        values = [*values, (ALL, 0, 0)]
        lean, before, saved = self._lean, 0, 0
        runs: list[Gap] = []
        for level in range(1, LEVELS + 1):
            bit = 1 << level - 1
            if not levels & bit:
                continue
            if not before or changes & bit - before:  # it is not the same as at the level before
                runs = _find_runs(values, bit, count, kind)
                saved = sum([end - start - self._mark for start, end, _ in runs])
            before = bit
            lean.hidden[level] += runs
            lean.sizes[level] -= saved

    def _text(self, start: int, end: int, levels: int) -> int:
        """Return which of these levels show a text; a long one is cut."""
        levels &= ~self._say(self._record.value(start, end).strip(b'"'), levels)
        if end - start > LONG:
            for level in range(1, LEVELS + 1):
                if levels & 1 << level - 1 and end - start > TEXTS[level] + LEAST:
                    self._lean.cut[level].append((start, end, TEXTS[level]))
                    self._lean.sizes[level] -= end - start - TEXTS[level]
        return levels

    def _say(self, text: bytes, levels: int) -> int:
        """Return the levels that said this before: the same text, or an address with an id in it that is shown."""
        if len(text) < REPEATED:
            return 0
        said = self._said
        if text.startswith(b"http"):
            before = 0
            for other, shown in said.items():
                if shown & ~before and (other in text or other.replace(b"-", b"") in text):
                    before |= shown
            return before
        before = said.get(text, 0)
        new = levels & ~before
        if len(said) >= SAID:
            for level in range(LEVELS):
                if sum([shown >> level & 1 for shown in said.values()]) >= SAID:
                    new &= ~(1 << level)
        if new:
            said[text] = before | new
        return before


def _take(room: list[int], shown: int, levels: int) -> int:
    """Take one item from the room that each level has for them; return the levels that have some left."""
    for level in range(LEVELS):
        if shown >> level & 1:
            room[level] -= 1
            if not room[level]:
                levels &= ~(1 << level)
    return levels


def _find_runs(values: Shown, bit: int, count: int, kind: str) -> list[Gap]:
    """Return the runs of values that a level does not show, where they are worth a marker."""
    runs: list[Gap] = []
    opens, closes, first = -1, 0, 0
    for number, (shown, at, end) in enumerate(values):
        if not shown & bit:
            if opens < 0:
                opens, first = at, number
            closes = end
        elif opens >= 0:
            if closes - opens >= LEAST:
                upto = count if number == len(values) - 1 else number
                runs.append((opens, closes, Hidden(kind, upto - first)))
            opens = -1
    return runs
