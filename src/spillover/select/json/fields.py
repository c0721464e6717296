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
    #: How a member begins: all bytes before its value, how many of them are blanks, and its field.
    Guess = tuple[bytes, int, "Field | None"]

#: Level 0 is all of a record; 1 leaves out what all say alike, and cuts long texts; 2 keeps what tells one from another, 3 the
#: best of that, and 4 the very best.
LEVELS = 4
#: Levels as bits, from level 1 on: all of them, and those where enough is shown for a switch that differs far inside.
ALL, ROOMY = (1 << LEVELS) - 1, 0b0011
#: Fewer records are not many alike.
FEWEST = 3
#: A value counts as said by all if so many of the records that have it say the same.
ALIKE = 0.8
#: Longer values are compared by their ends only.
COMPARED = 512
#: A field that is worth less than this is left out at level 2; at levels 3 and 4 only the best are left.
KEPT = 0.5
BEST_KEYS, BEST = 4, 2
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
        "guesses",
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
        self.guesses: list[Guess] = []  # how the members in it began in the last record, by their number
        # What follows from that, once all of the sample is known: what says nothing, and the levels that show anything else.
        self.common: bytes | None = None
        self.kept = self.switches = ALL
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
        keys = {path[-1] for path, _ in leaves if path[-1]}
        best_keys = frozenset(sorted(keys, key=lambda key: (-self._share(self._keys[key]), key))[:BEST_KEYS])
        in_order = sorted(leaves, key=lambda leaf: (-self._share(leaf[1]), leaf[0]))
        best = frozenset(path for path, _ in in_order[:BEST])
        for path, known in everything:
            self._decide(path, known, path in best, path[-1] in best_keys)
        return any(known.worth >= KEPT for _, known in leaves)

    def _share(self, known: Field) -> float:
        """Return what a field is worth for all records: what few of them have tells few apart."""
        return known.worth * min(1.0, known.count / self.sampled)

    def _decide(self, path: Path, known: Field, is_best: bool, has_best_key: bool) -> None:
        """Note at which levels a value is shown, by what it is; one that no record of the sample has is shown at all."""
        known.rare = known.count * FEW * 2 <= self.sampled
        most = known.alike
        if most is not None and known.count > 2 * FEW and known.values[most] >= (1 - 1 / FEW) * known.count:
            known.usual = most
        known.common = (self._keys[path[-1]] if path[-1] and known.count < FEWEST else known).alike
        if known.common is not None:
            # What differs stands out; but far inside of a record, and where little is shown, it must be more than a switch.
            known.switches = ALL if len(path) <= 2 else ROOMY
        elif known.rare:
            known.switches = ROOMY
        else:
            worthy = known.worth >= KEPT
            known.kept = known.switches = 1 | worthy << 1 | (worthy and has_best_key) << 2 | is_best << 3


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
