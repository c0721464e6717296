"""What records alike say at each of their paths: how many have it, which values there are, and what showing it is worth.

A path is the keys that lead from a record to a value. The fields are a tree, and whoever reads a record goes down both at once.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    #: The keys that lead from a record to a value; b"" for the items of an array.
    Path = tuple[bytes, ...]

#: Fewer records are not many alike.
FEWEST = 3
#: A value counts as said by all if so many of the records that have it say the same.
ALIKE = 0.8
#: Longer values are compared by their ends only.
COMPARED = 512
#: Records can be told apart by a field that is worth this much; of those that differ, the best are shown in a lean record.
KEPT = 0.5
BEST = 2
#: What fewer than one in so many records have, or say, stands out.
FEW = 8

#: Keys that name a record, or say what is the matter with it.
NAMES = frozenset(
    b"id key name title type kind status state path file filename full_name tablename table table_name column column_name slug "
    b"label login email message msg error reason text content plain_text summary description subject number sha code value "
    b"severity level conclusion phase result results url link".split()
)
_DATE = re.compile(rb'"\d{4}-\d\d-\d\d')


class Field:
    """What is known of one path of the records, and of those that go on from it."""

    __slots__ = (
        "alike",
        "common",
        "count",
        "inside",
        "kept",
        "key",
        "rare",
        "switches",
        "usual",
        "values",
        "worth",
    )

    def __init__(self, key: bytes = b"") -> None:
        self.key, self.count, self.worth = key, 0, 0.0
        self.values: dict[bytes, int] = {}
        self.alike: bytes | None = None  # what nearly all say that have it
        self.inside: dict[bytes, Field] = {}
        # What follows from that, once all of the sample is known: what says nothing, and whether a lean record shows anything else.
        self.common: bytes | None = None
        self.kept = self.switches = True
        self.rare = False  # few have it at all
        self.usual: bytes | None = None  # what all but very few say

    def go(self, key: bytes, *, learn: bool) -> Field | None:
        """Return the field that a key leads to. `learn`: one that is not known yet is made."""
        field = self.inside.get(key)
        if field is None and learn:
            field = self.inside[key] = Field(key)
        return field

    def add(self, value: bytes) -> None:
        self.count += 1
        self.values[value] = self.values.get(value, 0) + 1

    def settle(self, path: Path) -> None:
        """Find what nearly all say, and what it is worth."""
        value = max(self.values, key=lambda value: self.values[value])
        if self.count >= FEWEST and self.values[value] >= ALIKE * self.count:
            self.alike = value
        self.worth = _worth(path, self)

    def stands_out(self, value: bytes) -> bool:
        """Return whether few records have this value, of few that there are."""
        return len(self.values) <= FEW and self.count > 2 * FEW and 2 * FEW * self.values.get(value, 0) <= self.count

    def is_leaf(self) -> bool:
        """Return whether its values differ, and are no containers."""
        return self.alike is None and next(iter(self.values))[:1] not in b"[{"


class Fields:
    """The fields of a sample of records."""

    def __init__(self) -> None:
        self.root = Field()
        self.sampled = 0
        #: By the last key alone: where records are of several kinds, each path is rare.
        self._keys: dict[bytes, Field] = {}

    def add(self, field: Field, value: bytes) -> None:
        """Take in what a record says there."""
        field.add(value)
        if field.key:
            self._keys.setdefault(field.key, Field()).add(value)

    def weigh(self) -> bool:
        """Find out what each is worth; return whether the records can be told apart by any."""
        everything = list(_walk(self.root, ()))
        for path, known in everything:
            known.settle(path)
        for key, known in self._keys.items():
            known.settle((key,))
        leaves = [(path, known) for path, known in everything if known.is_leaf()]
        in_order = sorted(leaves, key=lambda leaf: (-self._share(leaf[1]), leaf[0]))
        best = frozenset(path for path, _ in in_order[:BEST])
        for path, known in everything:
            self._decide(path, known, is_best=path in best)
        return any(known.worth >= KEPT for _, known in leaves)

    def _share(self, known: Field) -> float:
        """Return what a field is worth for all records: what few of them have tells few apart."""
        return known.worth * min(1.0, known.count / self.sampled)

    def _decide(self, path: Path, known: Field, *, is_best: bool) -> None:
        """Note whether a lean record shows a value; one that no record of the sample has is always shown."""
        known.rare = known.count * FEW * 2 <= self.sampled
        most = known.alike
        if most is not None and known.count > 2 * FEW and known.values[most] >= (1 - 1 / FEW) * known.count:
            known.usual = most
        known.common = (self._keys[path[-1]] if path[-1] and known.count < FEWEST else known).alike
        if known.common is not None:
            # What differs stands out; but far inside of a record it must be more than a switch.
            known.switches = len(path) <= 2
        elif known.rare:
            known.switches = False
        else:
            known.kept = known.switches = is_best


def _walk(field: Field, path: Path) -> Iterator[tuple[Path, Field]]:
    for key, inner in field.inside.items():
        yield (*path, key), inner
        yield from _walk(inner, (*path, key))


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
