"""Records alike, shown as rows: of each what tells it from the others; what all of them say alike is left out first.

An answer of an API is mostly an array of records of one shape, and most of each record is the same in all of them. What a
reader goes on with are the fields that differ: an id, a name, a kind, a text. So many lean records as rows come before few of
them in full.
"""

from __future__ import annotations

from spillover.document.document import OBJECT
from spillover.kinds.json.fields import ALIKE, FEW, FEWEST, Fields
from spillover.kinds.json.lean import Lean
from spillover.kinds.json.record import NESTED, Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.kinds.json.fields import Field
    from spillover.kinds.json.members import Child, Members
    from spillover.kinds.json.record import Record
    from spillover.kinds.json.scan import Ints

#: The number of records, spread over all of them, that say what is alike, and how much of each is looked at.
SAMPLE = 64
SAMPLE_BYTES = 1 << 14
#: Between two records stands a comma, and often a blank.
COMMA = 2
#: So many records tell whether all of them may fit; with DOUBT times the room they do not.
SOME = 24
DOUBT = 1.5
#: So many of the records that stand out are named.
ODD = 6


class Alike:
    """The records of one container: an array of objects, or an object of objects."""

    def __init__(self, members: Members, marks: Ints, depth: int, mark: int) -> None:
        self._members = members
        self._depth = depth + 1
        self._mark = mark
        self._fields = Fields()
        self._known: dict[int, Lean] = {}
        self.children: dict[int, Child] = {}
        count = len(marks) - 1
        numbers = range(count) if count <= SAMPLE else [n * (count - 1) // (SAMPLE - 1) for n in range(SAMPLE)]
        sample = {number: members.child(marks, number) for number in numbers}
        objects = sum(members.data[child.start] == 0x7B for child in sample.values())
        self._fields.sampled = max(1, len(sample))
        records = Records(members, sample, self._depth)
        for number, child in sample.items():
            if child.end - child.start <= SAMPLE_BYTES:
                self._learn(records[number], child.start, child.end, 0, self._fields.root)
        can_be_told = self._fields.weigh()
        self.many = count >= FEWEST and objects >= ALIKE * len(sample) and can_be_told

    def _learn(self, record: Record, start: int, end: int, deep: int, known: Field) -> None:
        """Take in all values inside of one."""
        edges = record.edges(start, end, deep) if deep < NESTED else None
        if edges is None:
            return
        self._members.work.spend(2 * OBJECT * (len(edges) - 1))
        for _, begins, ends, field in record.read(edges, known, learn=True):
            assert field is not None  # or it was made
            self._fields.add(field, record.value(begins, ends))
            if record.data[begins] in b"[{":
                self._learn(record, begins, ends, deep + 1, field)

    def take(self, children: dict[int, Child]) -> None:
        """Take the records that may be shown, by their number."""
        self.children, self._records = children, Records(self._members, children, self._depth)

    def odd(self) -> dict[int, str]:
        """Return the records that differ from all others, however deep inside, and where; most of all first."""
        found: dict[int, list[bytes]] = {}
        for number, child in self.children.items():
            members: list[bytes] = []
            self._compare(self._records[number], child.start, child.end, 0, self._fields.root, members)
            if members:
                found[number] = members
        if not found or len(found) > max(1, len(self.children) // FEW):
            return {}
        most = sorted(found, key=lambda number: (-len(found[number]), number))[:ODD]
        return {number: f"record {number + 1:,}: {_describe(found[number])}" for number in most}

    def _compare(self, record: Record, start: int, end: int, deep: int, known: Field | None, out: list[bytes]) -> None:
        """Add the members inside of a value that others do not have, first, and those that differ from others."""
        edges = record.edges(start, end, deep) if deep < NESTED else None
        if edges is None:
            return
        self._members.work.spend(2 * OBJECT * (len(edges) - 1))
        data = record.data
        for at, begins, ends, field in record.read(edges, known):
            if data[begins] in b"[{":
                self._compare(record, begins, ends, deep + 1, field, out)
            elif field is None or field.rare:
                out.insert(0, data[at:ends])
            elif field.usual is not None and record.value(begins, ends) != field.usual:
                out.append(data[at:ends])

    def lean(self, number: int) -> Lean:
        """Return a lean record."""
        lean = self._known.get(number)
        if lean is None:
            child, work = self.children[number], self._members.work
            lean = Lean(self._records[number], child.size, self._mark, self._fields.root, work)
            self._known[number] = lean
        return lean


def _describe(members: Sequence[bytes]) -> str:
    """Return what a record says that others do not, on one short line: a text before a number or a switch."""
    member = next((member for member in members if member.endswith(b'"')), members[0])
    text = " ".join(member.decode("utf-8", "replace").split())
    return text if len(text) <= 60 else text[:59] + "…"


def plan(alike: Alike, count: int, room: int, first: Sequence[int], mark: int) -> dict[int, bool]:
    """Return which records are shown, and whether each is in full.

    `first` are looked at before others. There are `count` in all; where some are not given, they are never shown.
    """
    records = alike.children
    order = tuple(dict.fromkeys((0, count - 1, *first, *sorted(records))))
    if len(records) < count and _all_fit(records, order, len({0, count - 1, *first}), room, mark):
        return dict.fromkeys(order, True)

    def size(number: int) -> int:
        return alike.lean(number).size + COMMA

    if len(records) == count:
        some = list(records)[:: len(records) // SOME + 1]
        if sum(map(size, some)) * len(records) <= DOUBT * room * len(some):  # or it is by far too much
            left = room - sum(map(size, records))
            if left >= 0:
                return _fill(alike, list(records), left, first)
    chosen: list[int] = []
    left, standing_out = room - mark, frozenset(first)  # those leave some room to others
    for number in order:
        alone = number - 1 not in chosen and number + 1 not in chosen and number not in (0, count - 1)
        around = mark if alone else 0
        most = left if not alone or number not in standing_out else left - room // (4 if number == first[0] else 2)
        if (needed := size(number) + around) <= most:
            chosen.append(number)
            left -= needed
        elif number in records and number > 1 and number not in standing_out and number != count - 1:
            break
    return _fill(alike, chosen, left, first) if 0 in chosen else {}


def _all_fit(records: dict[int, Child], order: Sequence[int], early: int, room: int, mark: int) -> bool:
    """Return whether all of them surely fit in full, so that none needs to be looked at; the first `early` leave half of the room."""
    sizes = [records[number].size + COMMA + mark for number in order]
    return sum(sizes) + mark <= room and sum(sizes[:early]) + mark <= room - room // 2


def _fill(alike: Alike, chosen: Sequence[int], left: int, first: Sequence[int]) -> dict[int, bool]:
    """Show records in full while there is room: what stands out, and then from the first one on."""
    rows = dict.fromkeys(chosen, False)
    for number in dict.fromkeys((*(number for number in first if number in rows), *chosen)):
        more = alike.children[number].size - alike.lean(number).size
        if more <= left:
            rows[number] = True
            left -= more
    return rows
