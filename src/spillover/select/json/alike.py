"""Records alike, shown as rows: of each what tells it from the others; what all of them say alike is left out first.

An answer of an API is mostly an array of records of one shape, and most of each record is the same in all of them. What a
reader goes on with are the fields that differ: an id, a name, a kind, a text. So there are LEVELS of a record, each leaner
than the one before, and many records as rows come before few of them in full.
"""

from __future__ import annotations

import re
from functools import partial
from math import inf

from spillover.base.data import dataclass, field
from spillover.base.work import OBJECT
from spillover.select.span import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spillover.select.json.members import Child, Members
    from spillover.select.json.scan import Ints

    #: The keys that lead from a record to a value; "" for the items of an array.
    Path = tuple[bytes, ...]
    #: A value in a container, its key, and what of it is compared.
    Kid = tuple[Child, bytes, bytes]
    #: Members that are hidden together: the first, the one behind the last; from and to which byte.
    Run = tuple[int, int, int, int]

#: Level 0 is all of a record; 1 leaves out what all say alike, and cuts long texts; 2 keeps what tells one from another, 3 the
#: best of that, and 4 the very best.
LEVELS = 4
#: The number of records, spread over all of them, that say what is alike, and how much of each is looked at.
SAMPLE = 64
SAMPLE_BYTES = 1 << 14
#: Fewer records are not many alike.
FEWEST = 3
#: Values inside of a record are told apart down to this depth.
NESTED = 8
#: A value counts as said by all if so many of the records that have it say the same.
ALIKE = 0.8
#: Longer values are compared by their ends only.
COMPARED = 512
#: A hidden run of members is worth its marker from so many bytes on.
LEAST = 48
#: How long a text may be at each level, and how many items of an array inside of a record are shown.
TEXTS = (1 << 30, 240, 160, 112, 96)
ITEMS = (1 << 30, 12, 6, 3, 2)
#: A field that is worth less than this is left out at level 2; at levels 3 and 4 only the best are left.
KEPT = 0.5
BEST_KEYS, BEST = 4, 2
#: What fewer than one in so many records have, or say, stands out; and so many of these records do.
FEW = 8
ODD = 6
#: Of a container with fewer members what is in it is remembered, for so many in all.
FEW_KIDS = 64
REMEMBERED = 1 << 14

#: Keys that name a record, or say what is the matter with it.
NAMES = frozenset(
    b"id key name title type kind status state path file filename full_name tablename table table_name column column_name slug "
    b"label login email message msg error reason text content plain_text summary description subject number sha code value "
    b"severity level conclusion phase result results url link".split()
)
#: How `true`, `false` and `null` begin.
SWITCHES = (b"t", b"f", b"n")
_DATE = re.compile(rb'"\d{4}-\d\d-\d\d')


class Field:
    """What is known of one path of the records: how many have it, what they say, and what that is worth."""

    __slots__ = ("common", "count", "values", "worth")

    def __init__(self) -> None:
        self.count, self.worth = 0, 0.0
        self.values: dict[bytes, int] = {}
        self.common: bytes | None = None  # what nearly all of them say

    def add(self, value: bytes) -> None:
        self.count += 1
        self.values[value] = self.values.get(value, 0) + 1

    def settle(self, path: Path) -> None:
        """Find what nearly all say, and what it is worth."""
        value = max(self.values, key=lambda value: self.values[value])
        if self.count >= FEWEST and self.values[value] >= ALIKE * self.count:
            self.common = value
        self.worth = _worth(path, self)


@dataclass(frozen=True, slots=True)
class Lean:
    """A record at some level: how long it is with its markers, what is hidden of it, and which of its texts are cut."""

    size: int
    hidden: tuple[tuple[int, int, Hidden], ...] = ()
    cut: tuple[tuple[int, int, int], ...] = ()  # from, to, room


class Alike:
    """The records of one container: an array of objects, or an object of objects."""

    def __init__(self, members: Members, marks: Ints, depth: int, mark: int) -> None:
        self._members = members
        self._depth = depth + 1
        self._mark = mark
        self._fields: dict[Path, Field] = {}
        self._keys: dict[
            bytes, Field
        ] = {}  # by the last key alone: where records are of several kinds, each path is rare
        self._known: dict[tuple[int, int], Lean] = {}
        self._kids: dict[int, list[Kid]] = {}  # by where their container begins
        self._room = REMEMBERED
        count = len(marks) - 1
        numbers = range(count) if count <= SAMPLE else [n * (count - 1) // (SAMPLE - 1) for n in range(SAMPLE)]
        objects = 0
        for number in numbers:
            child = members.child(marks, number)
            objects += members.data[child.start] == 0x7B
            if child.end - child.start <= SAMPLE_BYTES:
                self._learn(child)
        self._sampled = max(1, len(numbers))
        self.many = count >= FEWEST and objects >= ALIKE * len(numbers)
        self._weigh()

    def _learn(self, record: Child) -> None:
        for path, _, value in self._walk(record, self._depth, ()):
            self._members.work.spend(2 * OBJECT)
            self._fields.setdefault(path, Field()).add(value)
            if path[-1]:
                self._keys.setdefault(path[-1], Field()).add(value)

    def _walk(self, parent: Child, depth: int, path: Path) -> Iterator[tuple[Path, Child, bytes]]:
        """Yield all values inside of one, and the keys that lead to each."""
        for child, key, value in self.kids(parent, depth) or () if len(path) < NESTED else ():
            here = (*path, key)
            yield here, child, value
            if value[0] in b"[{":
                yield from self._walk(child, depth + 1, here)

    def kids(self, parent: Child, depth: int) -> Iterable[Kid] | None:
        """Return what is in a container; None where that is not known. Small ones are remembered: they come up at every level."""
        if parent.start in self._kids:
            return self._kids[parent.start]
        marks = self._members.inside(parent.start, parent.end, depth)
        if marks is None:
            return None
        if len(marks) > FEW_KIDS or len(marks) > self._room:
            children = map(partial(self._members.child, marks), range(len(marks) - 1))
            return ((child, self.key(child), self.value(child)) for child in children)
        self._room -= len(marks)
        kids = [(child, self.key(child), self.value(child)) for child in self._members.children(marks)]
        self._kids[parent.start] = kids
        return kids

    def key(self, child: Child) -> bytes:
        return (
            self._members.data[child.at : child.start].rstrip(b": \t\r\n").strip(b'"')
            if child.start > child.at
            else b""
        )

    def value(self, child: Child) -> bytes:
        data = self._members.data
        if child.end - child.start <= COMPARED:
            return data[child.start : child.end]
        half = COMPARED // 2
        return (
            data[child.start : child.start + half]
            + b"%d" % (child.end - child.start)
            + data[child.end - half : child.end]
        )

    def _weigh(self) -> None:
        for path, known in self._fields.items():
            known.settle(path)
        for key, known in self._keys.items():
            known.settle((key,))
        leaves = [path for path, known in self._fields.items() if known.common is None and _first(known) not in b"[{"]
        keys = {path[-1] for path in leaves if path[-1]}
        self._best_keys = frozenset(sorted(keys, key=lambda key: (-self._share(self._keys[key]), key))[:BEST_KEYS])
        self._best = frozenset(sorted(leaves, key=lambda path: (-self._share(self._fields[path]), path))[:BEST])
        self.many = self.many and any(self._fields[path].worth >= KEPT for path in leaves)

    def odd(self, records: dict[int, Child]) -> dict[int, str]:
        """Return the records that differ from all others, however deep inside, and where; most of all first."""
        found: dict[int, list[bytes]] = {}
        for number, record in records.items():
            for path, child, value in self._walk(record, self._depth, ()):
                self._members.work.spend(2 * OBJECT)
                known = self._fields.get(path)
                rare = known is None or known.count * FEW * 2 <= self._sampled
                differs = rare or (known is not None and known.count > 2 * FEW and self._differs(known, value))
                if differs and value[0] not in b"[{":
                    member = self._members.data[child.at : child.end]
                    found.setdefault(number, []).insert(0 if rare else len(found[number]), member)
        if not found or len(found) > max(1, len(records) // FEW):
            return {}
        most = sorted(found, key=lambda number: (-len(found[number]), number))[:ODD]
        return {number: f"record {number + 1:,}: {_describe(found[number])}" for number in most}

    def _differs(self, known: Field, value: bytes) -> bool:
        """Return whether nearly all others say the same here, and this one does not."""
        if known.common is None or known.values[known.common] < (1 - 1 / FEW) * known.count:
            return False
        return value != known.common

    def _share(self, known: Field) -> float:
        """Return what a field is worth for all records: what few of them have tells few apart."""
        return known.worth * min(1.0, known.count / self._sampled)

    def lean(self, record: Child, level: int) -> Lean:
        """Return a record at some level."""
        key = (record.at, level)
        if key not in self._known:
            part = _Leaner(self, self._members, level).visit(record, self._depth, ()) if level else None
            part = part or _Part()
            saved = sum(end - start - self._mark for start, end, _ in part.hidden)
            saved += sum(end - start - room for start, end, room in part.cut)
            self._known[key] = Lean(record.size - saved, tuple(part.hidden), tuple(part.cut))
        return self._known[key]

    def keeps(self, path: Path, value: bytes, level: int) -> bool:
        """Return whether a value is shown at some level."""
        known = self._fields.get(path)
        if known is None:  # no record of the sample has it, so it stands out
            return True
        key = self._keys[path[-1]] if path[-1] and known.count < FEWEST else known
        if key.common is not None:
            # What differs stands out; but far inside of a record, and where little is shown, it must be more than a switch.
            return value != key.common and (level < 3 or len(path) <= 2 or value[:1] not in SWITCHES)
        if known.count * FEW * 2 <= self._sampled:  # few have it at all
            return level < 3 or value[:1] not in SWITCHES
        if level == LEVELS:
            return path in self._best
        return level == 1 or (known.worth >= KEPT and (level == 2 or path[-1] in self._best_keys))


@dataclass(frozen=True, slots=True)
class _Part:
    """What is hidden and cut of a value that is shown."""

    hidden: list[tuple[int, int, Hidden]] = field(default_factory=list)
    cut: list[tuple[int, int, int]] = field(default_factory=list)


#: Of which nothing is.
NO_PART = _Part()


class _Leaner:
    """Goes through one record, and notes what is hidden at some level."""

    def __init__(self, alike: Alike, members: Members, level: int) -> None:
        self._alike = alike
        self._members = members
        self._level = level
        self._said: list[bytes] = []  # what the record says already, once

    def visit(self, parent: Child, depth: int, path: Path) -> _Part | None:
        """Return what is hidden in a container; None where nothing of it is left."""
        kids = self._alike.kids(parent, depth)
        if kids is None:
            return NO_PART
        is_array = self._members.data[parent.start] == 0x5B
        out, shown = _Part(), 0
        runs: list[Run] = []
        most, spend = ITEMS[self._level] if is_array else inf, self._members.work.spend
        for number, (child, key, value) in enumerate(kids):
            spend(4 * OBJECT)
            full = shown >= most
            part = None if full else self._part(child, value, depth, (*path, key), is_array=is_array)
            if part is not None:
                shown += 1
                if part is not NO_PART:
                    out.hidden.extend(part.hidden)
                    out.cut.extend(part.cut)
                continue
            upto, closes = (number + 1, child.end) if not full else self._members.rest(parent, depth)
            if runs and runs[-1][1] == number:
                runs[-1] = (runs[-1][0], upto, runs[-1][2], closes)
            else:
                runs.append((number, upto, child.at, closes))
            if full:
                break
        if not shown and path:
            return None
        for one, two, opens, closes in runs:
            if closes - opens >= LEAST:  # or its marker would be as long
                out.hidden.append((opens, closes, Hidden("items" if is_array else "keys", two - one)))
        return out

    def _part(self, child: Child, value: bytes, depth: int, path: Path, *, is_array: bool) -> _Part | None:
        """Return what is hidden of a value; None where all of it is."""
        if value[0] in b"[{" and len(path) < NESTED:
            same = not is_array and not self._alike.keeps(path, value, 1)
            return None if same or child.end - child.start == 2 else self.visit(child, depth + 1, path)
        if not self._alike.keeps(path, value, self._level):
            return None
        if value[0] == 0x22:
            if self._repeats(value):
                return None
            if child.end - child.start > TEXTS[self._level] + LEAST:
                return _Part([], [(child.start, child.end, TEXTS[self._level])])
        return NO_PART

    def _repeats(self, value: bytes) -> bool:
        """Return whether the record said this before: the same text, or an address with an id in it that is shown."""
        bare = value.strip(b'"')
        if len(bare) < 8:
            return False
        for said in self._said:
            if bare == said or (bare.startswith(b"http") and (said in bare or said.replace(b"-", b"") in bare)):
                return True
        if len(self._said) < 32 and not bare.startswith(b"http"):
            self._said.append(bare)
        return False


def _first(known: Field) -> bytes:
    return next(iter(known.values))[:1]


def _describe(members: Sequence[bytes]) -> str:
    """Return what a record says that others do not, on one short line: a text before a number or a switch."""
    member = next((member for member in members if member.endswith(b'"')), members[0])
    text = " ".join(member.decode("utf-8", "replace").split())
    return text if len(text) <= 60 else text[:59] + "…"


def _worth(path: Path, known: Field) -> float:
    """Return what a field is worth: by how well it tells records apart, what its values look like, and its name."""
    values = list(known.values)
    apart = min(1.0, len(values) / known.count)
    texts = [value for value in values if value[:1] == b'"']
    name = path[-1].lower() if path[-1] else path[-2].lower() if len(path) > 1 else b""
    last = re.split(rb"[_.\-]", name)[-1]
    if not texts:
        worth = 0.3 * apart
    elif sum(_DATE.match(value) is not None for value in texts) * 2 > len(texts):
        worth = 0.1
    elif texts[0][1:5] == b"http":
        worth = 0.35
    else:
        worth = 0.4 + 0.2 * apart
    return worth + (0.3 if name in NAMES else 0.15 if last in NAMES else 0.0) - 0.05 * (len(path) - 1)
