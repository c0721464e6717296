"""A lean record: what of it is hidden, which of its texts are cut, and how long it is then."""

from __future__ import annotations

from spillover.document.document import OBJECT
from spillover.kinds.json.members import trim
from spillover.kinds.json.record import NESTED
from spillover.kinds.selection import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.document.document import Work
    from spillover.kinds.json.fields import Field
    from spillover.kinds.json.record import Record

    #: What is hidden: from, to, and what it is.
    Gap = tuple[int, int, Hidden]
    #: Values of a container, in order: whether each is shown, and where it begins and ends.
    Values = list[tuple[bool, int, int]]

#: A hidden run of members is worth its marker from so many bytes on.
LEAST = 40
#: How long a text may be, and how many items of an array inside of a record are shown.
TEXT = 96
ITEMS = 2
#: A shorter text may come again; and of longer ones so many are remembered.
REPEATED, SAID = 8, 32
#: How `true`, `false` and `null` begin.
SWITCHES = b"tfn"


class Lean:
    """A lean record: how long it is with its markers, what is hidden of it, which texts are cut."""

    __slots__ = ("_mark", "_record", "_said", "_work", "cut", "hidden", "size")

    def __init__(self, record: Record, size: int, mark: int, known: Field, work: Work) -> None:
        self.size = size
        self.hidden: list[Gap] = []
        self.cut: list[tuple[int, int]] = []
        self._record, self._mark, self._work = record, mark, work
        self._said: set[bytes] = set()  # the texts that are shown so far
        self._visit(record.start, record.end, 0, known)

    def _visit(self, start: int, end: int, deep: int, known: Field | None) -> bool:
        """Note what is hidden of a container; return whether some of it is shown."""
        record = self._record
        edges = record.edges(start, end, deep)
        if edges is None:
            return True
        data = record.data
        count, is_array = len(edges) - 1, data[start] == 0x5B
        values: Values = []
        shown_items = 0
        members = record.read(edges, known)
        for at, begins, ends, field in members:
            shown = self._shows(begins, ends, deep, field, is_array=is_array)
            values.append((shown, at, ends))
            shown_items += shown
            if is_array and shown_items == ITEMS:
                break
        self._work.spend(2 * OBJECT * len(values))
        if not shown_items and deep:
            return False
        if end - start >= LEAST + 2:  # or any marker would be as long
            rest = next(members, None) if len(values) < count else None
            if rest is not None:
                values.append((False, rest[0], trim(data, rest[0], int(edges[-1]))))
            self._hide(values, count, "items" if is_array else "keys")
        return True

    def _shows(self, start: int, end: int, deep: int, field: Field | None, *, is_array: bool) -> bool:
        """Return whether a value is shown, at least in part."""
        record = self._record
        first = record.data[start]
        common = field is not None and field.common is not None and record.value(start, end) == field.common
        if first in b"[{" and deep + 1 < NESTED:
            is_bare = end - start == 2 or (common and not is_array)
            return not is_bare and self._visit(start, end, deep + 1, field)
        if common:
            return False
        shown = field is None or (field.switches if first in SWITCHES else field.kept)
        if not shown and field is not None and not field.stands_out(record.value(start, end)):
            return False
        return first != 0x22 or end - start < REPEATED + 2 or self._show_text(start, end)

    def _show_text(self, start: int, end: int) -> bool:
        """Return whether a text is shown: one that was said before is not. A long one is cut."""
        text = self._record.value(start, end).strip(b'"')
        if self._was_said(text):
            return False
        if end - start > TEXT + LEAST:
            self.cut.append((start, end))
            self.size -= end - start - TEXT
        return True

    def _was_said(self, text: bytes) -> bool:
        """Return whether this was said before: the same text, or an address with an id in it that is shown."""
        if len(text) < REPEATED:
            return False
        said = self._said
        if text.startswith(b"http"):
            return any(other in text or other.replace(b"-", b"") in text for other in said)
        if text in said:
            return True
        if len(said) < SAID:
            said.add(text)
        return False

    def _hide(self, values: Values, count: int, kind: str) -> None:
        """Note the runs of values that are not shown, where they are worth a marker. The last value stands for all up to number `count`."""
        opens, closes, first = -1, 0, 0
        for number, (shown, at, end) in enumerate([*values, (True, 0, 0)]):
            if not shown:
                if opens < 0:
                    opens, first = at, number
                closes = end
            elif opens >= 0:
                if closes - opens >= LEAST:
                    upto = count if number == len(values) else number
                    self.hidden.append((opens, closes, Hidden(kind, upto - first)))
                    self.size -= closes - opens - self._mark
                opens = -1
