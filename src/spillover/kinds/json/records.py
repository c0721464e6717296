"""Records alike, shown as rows: what tells each from the others, how lean it can be, and which stand out.

An answer of an API is mostly an array of records of one shape, and most of each record is the same in all of them. What
a reader goes on with are the fields that differ: an id, a name, a kind, a text. Many lean records come before few in
full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import stringzilla
from msgspec import Struct, field

from spillover.document.document import OBJECT, UNBOUNDED, Work
from spillover.kinds.json.marks import Marks, Member, find_value, skip, trim
from spillover.kinds.log.classes import FAILURE_WORDS
from spillover.kinds.selection import Hidden

Array = Any  # of numpy; its own types say little about what is in one
#: The keys that lead from a record to a value; b"" for the items of an array.
Path = tuple[bytes, ...]

#: Fewer records are not many alike.
MIN_RECORDS = 3
#: The share of records that must have a value for it to count as common to all. Larger: lean records are longer.
SAME_SHARE = 0.8
#: Longer values are compared by their ends only. Larger: more is copied.
COMPARED_BYTES = 512
#: Records are rows if a field is worth this much. Larger: fewer arrays are shown as rows.
MIN_WORTH = 0.5
#: Fields shown in a lean record, of those that differ. Larger: longer rows, and fewer.
BEST_FIELDS = 2
#: A key or value is rare if fewer than one in this number of records has it. Larger: less stands out.
FEW = 8
#: Records, spread over all of them, that say what is alike. Larger: slower, and surer.
SAMPLE_RECORDS = 64
#: A longer record is left out of the sample. Larger: slower.
SAMPLE_RECORD_BYTES = 1 << 14
#: Depth to which values inside a record are compared. Larger: slower.
MAX_NESTED = 8

#: What a marker takes: the first one, and another one. Larger: what is shown is less than what fits.
MARKER_BYTES = 48
NEXT_MARKER_BYTES = 20
#: Between two records stands a comma, and often a blank.
COMMA_BYTES = 2
#: A hidden run of members is worth its marker from this number of bytes on. Larger: fewer markers in a lean record.
MIN_RUN_BYTES = 40
#: How long a text in a lean record may be. Larger: longer rows, and fewer.
ROW_TEXT_BYTES = 96
#: Items of an array that a lean record shows. Larger: longer rows, and fewer.
ROW_ITEMS = 2
#: A shorter text may be repeated in a lean record.
MIN_REPEATED_BYTES = 8
#: Texts of a lean record remembered, to show none twice. Larger: slower.
MAX_TEXTS = 32
#: How `true`, `false` and `null` begin.
SWITCHES = b"tfn"

#: Rare means one record in RARE; of a few hundred, RARE_AT_LEAST are still rare. Larger: less, or more, stands out.
RARE, RARE_AT_LEAST = 100, 8
#: Records that stand out in all, and for one reason. Larger: they leave less room to others.
MAX_RARE, MAX_RARE_PER_REASON = 24, 6
#: Records decoded, and bytes of them. Larger: slower. Words for failure are looked for in all.
MAX_DECODED, MAX_DECODED_BYTES = 1 << 15, 2 << 20
#: A longer record is not decoded.
MAX_DECODED_RECORD_BYTES = 1 << 14
#: Characters of a key and its value in a reason.
REASON_CHARS = 60
#: A field with more values has no usual ones. Larger: more memory.
MAX_VALUES = 12
#: Longer texts are no values to compare.
MAX_VALUE_CHARS = 40
#: Bytes searched for words of failure together. Larger: more is copied in lower case.
SEARCHED_BYTES = 1 << 20

#: Records that are looked at; of more, the first, and the ones that stand out. Larger: slower.
MAX_ROWS = 256

#: Keys that name a record, or say what is the matter with it.
NAMES = frozenset(
    b"id key name title type kind status state path file filename full_name tablename table table_name column "
    b"column_name slug label login email message msg error reason text content plain_text summary description subject "
    b"number sha code value severity level conclusion phase result results url link".split()
)
_DATE = re.compile(rb'"\d{4}-\d\d-\d\d')


class Field:
    """What is known of one path of the records, and of those that go on from it."""

    __slots__ = ("count", "inside", "is_shown", "same", "shows_switches", "values", "worth")

    def __init__(self) -> None:
        self.count = 0
        self.worth = 0.0
        self.values: dict[bytes, int] = {}
        self.same: bytes | None = None  # what nearly all say that have it
        self.inside: dict[bytes, Field] = {}
        # What follows once the sample is read: whether a lean record shows other values.
        self.is_shown = True
        self.shows_switches = True

    def enter(self, key: bytes, *, learn: bool) -> Field | None:
        """Return the field that a key leads to; `learn` adds one that is not known."""
        inner = self.inside.get(key)
        if inner is None and learn:
            inner = self.inside[key] = Field()
        return inner

    def add(self, value: bytes) -> None:
        """Count a value."""
        self.count += 1
        self.values[value] = self.values.get(value, 0) + 1

    def weigh(self, path: Path) -> None:
        """Find what nearly all say, and what it is worth."""
        value = max(self.values, key=lambda value: self.values[value])
        if self.count >= MIN_RECORDS and self.values[value] >= SAME_SHARE * self.count:
            self.same = value
        self.worth = _worth(path, self)

    def stands_out(self, value: bytes) -> bool:
        """Return whether few records have this value, of few that there are."""
        return len(self.values) <= FEW and self.count > 2 * FEW and 2 * FEW * self.values.get(value, 0) <= self.count

    def is_leaf(self) -> bool:
        """Return whether its values differ, and are no containers."""
        return self.same is None and next(iter(self.values))[:1] not in b"[{"


class Fields:
    """The fields of a sample of records, a tree: `root` has those of a record."""

    def __init__(self, marks: Marks, records: Sequence[Member], depth: int) -> None:
        self.root = Field()
        self._marks = marks
        self._sampled = max(1, len(records))
        for record in records:
            if record.end - record.start <= SAMPLE_RECORD_BYTES:
                self._learn(record.start, record.end, depth, depth + MAX_NESTED, self.root)

    def _learn(self, start: int, end: int, depth: int, bottom: int, node: Field) -> None:
        """Count all values inside of one."""
        edges = self._marks.inside(start, end, depth) if depth < bottom else None
        if edges is None:
            return
        self._marks.work.spend(2 * OBJECT * (len(edges) - 1))
        for member, inner in read_members(self._marks, edges, node, learn=True):
            if inner is None:
                continue
            value = compared(self._marks.data, member.start, member.end)
            inner.add(value)
            if value[:1] in (b"[", b"{"):
                self._learn(member.start, member.end, depth + 1, bottom, inner)

    def weigh(self) -> bool:
        """Rate each field; return whether any tells the records apart."""
        fields = list(_walk(self.root, ()))
        for path, node in fields:
            node.weigh(path)
        leaves = [(path, node) for path, node in fields if node.is_leaf()]
        # What few of the records have tells few apart.
        leaves.sort(key=lambda leaf: (-leaf[1].worth * min(1.0, leaf[1].count / self._sampled), leaf[0]))
        best = frozenset(path for path, _ in leaves[:BEST_FIELDS])
        for path, node in fields:
            self._decide(path, node, is_best=path in best)
        return any(node.worth >= MIN_WORTH for _, node in leaves)

    def _decide(self, path: Path, node: Field, *, is_best: bool) -> None:
        """Note whether a lean record shows a value; one that no record of the sample has is always shown."""
        if node.same is not None:
            # What differs stands out; but far inside of a record it must be more than a switch.
            node.shows_switches = len(path) <= 2
        elif node.count * FEW * 2 <= self._sampled:
            node.shows_switches = False
        else:
            node.is_shown = node.shows_switches = is_best


def _walk(node: Field, path: Path) -> Iterator[tuple[Path, Field]]:
    for key, inner in node.inside.items():
        yield (*path, key), inner
        yield from _walk(inner, (*path, key))


def _worth(path: Path, node: Field) -> float:
    """Return what a field is worth: by how well it tells records apart, what its values look like, and its name."""
    values = list(node.values)
    apart = min(1.0, len(values) / node.count)
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


def read_members(
    marks: Marks, edges: Array, node: Field | None, *, learn: bool = False
) -> Iterator[tuple[Member, Field | None]]:
    """Yield the values of a container, each with its field; None where no record of the sample has it."""
    is_object = marks.data[edges[0]] == 0x7B
    for member in marks.members(edges):
        key = marks.data[member.at : member.start].rstrip(b": \t\r\n").strip(b'"') if is_object else b""
        yield member, None if node is None else node.enter(key, learn=learn)


def compared(data: bytes, start: int, end: int) -> bytes:
    """Return what of a value is compared."""
    if end - start <= COMPARED_BYTES:
        return data[start:end]
    half = COMPARED_BYTES // 2
    return data[start : start + half] + b"%d" % (end - start) + data[end - half : end]


class Lean:
    """A lean record: its size with its markers, what is hidden of it, which of its texts are cut."""

    __slots__ = ("_bottom", "_marks", "_texts", "cuts", "gaps", "size")

    def __init__(self, marks: Marks, record: Member, depth: int, root: Field) -> None:
        self.size = record.size
        self.gaps: list[tuple[int, int, Hidden]] = []
        self.cuts: list[tuple[int, int]] = []
        self._marks = marks
        self._bottom = depth + MAX_NESTED
        self._texts: set[bytes] = set()
        self._visit(record.start, record.end, depth, root, is_inner=False)

    def _visit(self, start: int, end: int, depth: int, node: Field | None, *, is_inner: bool = True) -> bool:
        """Note what is hidden of a container; return whether some of it is shown."""
        data = self._marks.data
        edges = self._marks.inside(start, end, depth)
        if edges is None:
            return True
        count = len(edges) - 1
        is_array = data[start] == 0x5B
        values: list[tuple[bool, Member]] = []  # each with whether it is shown
        shown_count = 0
        members = read_members(self._marks, edges, node)
        for member, inner in members:
            is_shown = self._shows(member.start, member.end, depth, inner, in_array=is_array)
            values.append((is_shown, member))
            shown_count += is_shown
            if is_array and shown_count == ROW_ITEMS:
                break
        self._marks.work.spend(2 * OBJECT * len(values))
        if not shown_count and is_inner:
            return False
        if end - start >= MIN_RUN_BYTES + 2:  # or any marker would be as long
            if rest := next(members, None):
                at = rest[0].at
                values.append((False, Member(at, at, trim(data, at, int(edges[-1])))))
            self._hide(values, count, "items" if is_array else "keys")
        return True

    def _shows(self, start: int, end: int, depth: int, node: Field | None, *, in_array: bool) -> bool:
        """Return whether a value is shown, at least in part."""
        value = compared(self._marks.data, start, end)
        is_common = node is not None and value == node.same
        if value[:1] in (b"[", b"{") and depth + 1 < self._bottom:
            is_bare = end - start == 2 or (is_common and not in_array)
            return not is_bare and self._visit(start, end, depth + 1, node)
        if is_common:
            return False
        is_kept = node is None or (node.shows_switches if value[0] in SWITCHES else node.is_shown)
        if node is not None and not is_kept and not node.stands_out(value):
            return False
        return value[0] != 0x22 or end - start < MIN_REPEATED_BYTES + 2 or self._show_text(start, end)

    def _show_text(self, start: int, end: int) -> bool:
        """Return whether a text is shown: one that was shown before is not. A long one is cut."""
        text = compared(self._marks.data, start, end).strip(b'"')
        if self._is_repeated(text):
            return False
        if end - start > ROW_TEXT_BYTES + MIN_RUN_BYTES:
            self.cuts.append((start, end))
            self.size -= end - start - ROW_TEXT_BYTES
        return True

    def _is_repeated(self, text: bytes) -> bool:
        """Return whether this was shown before: the same text, or an address with an id in it that is shown."""
        if len(text) < MIN_REPEATED_BYTES:
            return False
        if text.startswith(b"http"):
            return any(part in text or part.replace(b"-", b"") in text for part in self._texts)
        if text in self._texts:
            return True
        if len(self._texts) < MAX_TEXTS:
            self._texts.add(text)
        return False

    def _hide(self, values: Sequence[tuple[bool, Member]], count: int, kind: str) -> None:
        """Note the hidden runs that are worth a marker; a hidden last value stands for all up to number `count`."""
        run: list[int] = []
        for number in range(len(values) + 1):
            if number < len(values) and not values[number][0]:
                run.append(number)
                continue
            if run:
                opens, closes = values[run[0]][1].at, values[run[-1]][1].end
                if closes - opens >= MIN_RUN_BYTES:
                    upto = count if number == len(values) else number
                    self.gaps.append((opens, closes, Hidden(kind, upto - run[0])))
                    self.size -= closes - opens - NEXT_MARKER_BYTES
            run = []


class Rows:
    """The records of one container: an array of objects, or an object of objects."""

    def __init__(self, marks: Marks, edges: Array, depth: int) -> None:
        self._marks = marks
        self._edges = edges
        self._depth = depth + 1
        self._records: dict[int, Member] = {}
        self._lean: dict[int, Lean] = {}
        self.count = len(edges) - 1
        numbers: Sequence[int] = range(self.count)
        if self.count > SAMPLE_RECORDS:
            numbers = [n * (self.count - 1) // (SAMPLE_RECORDS - 1) for n in range(SAMPLE_RECORDS)]
        sample = [self.record(number) for number in numbers]
        objects = sum(marks.data[record.start] == 0x7B for record in sample)
        self._fields = Fields(marks, sample, self._depth)
        differ = self._fields.weigh()
        self.are_alike = self.count >= MIN_RECORDS and objects >= SAME_SHARE * len(sample) and differ

    def record(self, number: int) -> Member:
        """Return where a record stands."""
        if number not in self._records:
            self._records[number] = self._marks.member(self._edges, number)
        return self._records[number]

    def lean(self, number: int) -> Lean:
        """Return a lean record."""
        if number not in self._lean:
            self._lean[number] = Lean(self._marks, self.record(number), self._depth, self._fields.root)
        return self._lean[number]

    def plan(self, room: int, first: Sequence[int]) -> dict[int, bool]:
        """Return which records are shown, and whether each is in full.

        Those in `first` are looked at before others, and leave some room to them.
        """
        last = self.count - 1
        numbers = range(min(self.count, MAX_ROWS))
        if len(numbers) == self.count:
            left = room - sum(self.lean(number).size + COMMA_BYTES for number in numbers)
            if left >= 0:
                return self._fill(numbers, left, first)
        left = room - MARKER_BYTES
        standing_out = frozenset(first)
        rows: dict[int, None] = {}
        for number in dict.fromkeys((0, last, *first, *numbers)):
            is_alone = number - 1 not in rows and number + 1 not in rows and number not in (0, last)
            cost = self.lean(number).size + COMMA_BYTES + (MARKER_BYTES if is_alone else 0)
            reserve = room // (4 if number == first[0] else 2) if is_alone and number in standing_out else 0
            if cost <= left - reserve:
                rows[number] = None
                left -= cost
            elif number > 1 and number not in standing_out and number != last:
                break
        return self._fill(tuple(rows), left, first) if 0 in rows else {}

    def _fill(self, rows: Sequence[int], left: int, first: Sequence[int]) -> dict[int, bool]:
        """Show records in full while there is room: what stands out, and then from the first one on."""
        in_full = dict.fromkeys(rows, False)
        for number in dict.fromkeys((*(number for number in first if number in in_full), *rows)):
            more = self.record(number).size - self.lean(number).size
            if more <= left:
                in_full[number] = True
                left -= more
        return in_full


class Rare(Struct):
    """The records that stand out among many: by a rare value, another number of keys, a word for failure, or length.

    All of them are fed to it in blocks.
    """

    work: Work = UNBOUNDED
    _count: int = 0
    _bytes: int = 0
    _sizes: list[int] = field(default_factory=list)
    _broken: list[int] = field(default_factory=list)
    _by_word: dict[bytes, list[int]] = field(default_factory=lambda: {word: [] for word in FAILURE_WORDS})
    _by_keys: dict[int, list[int]] = field(default_factory=dict)
    _by_value: dict[tuple[str, ...], dict[Any, list[int]] | None] = field(default_factory=dict)

    def feed(self, data: bytes, starts: Array, ends: Array, *, is_object: bool = False) -> None:
        """Read the next records, the values of an object or other pieces: from where to where each is."""
        self._find_words(data, starts, ends)
        decoded = MAX_DECODED - len(self._sizes)
        for start, end in zip(starts[:decoded].tolist(), ends[:decoded].tolist(), strict=True):
            if self._bytes > MAX_DECODED_BYTES:
                break
            self._sizes.append(end - start)
            if end - start <= MAX_DECODED_RECORD_BYTES:
                self._bytes += end - start
                value = find_value(data, skip(data, start, end), end) if is_object else start
                self._read(len(self._sizes) - 1, data[value:end])
        self._count += len(starts)

    def _find_words(self, data: bytes, starts: Array, ends: Array) -> None:
        """Find records with a word for failure in them, while they are few."""
        limit = max(RARE_AT_LEAST, (self._count + len(starts)) // RARE)
        overlap = max(map(len, FAILURE_WORDS))
        for base in range(int(starts[0]), int(ends[-1]), SEARCHED_BYTES):
            folded = data[base : base + SEARCHED_BYTES + overlap].lower()
            for word, numbers in self._by_word.items():
                at = stringzilla.find(folded, word)
                while at >= 0 and len(numbers) <= limit:
                    row = max(0, int(starts.searchsorted(starts.dtype.type(base + at), "right")) - 1)
                    if self._count + row not in numbers[-1:]:
                        numbers.append(self._count + row)
                    after = max(at + 1, int(ends[row]) - base)
                    at = stringzilla.find(folded, word, after) if after < len(folded) else -1

    def _read(self, number: int, text: bytes) -> None:
        """Note the values of one record."""
        try:
            record = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            if text.strip():
                self._broken.append(number)
            return
        if isinstance(record, dict):
            self._by_keys.setdefault(len(record), []).append(number)
            self._note(number, record, ())

    def _note(self, number: int, value: Any, path: tuple[str, ...]) -> None:
        """Note a value, and those inside of it."""
        if isinstance(value, dict | list):
            if len(path) < MAX_NESTED:
                self.work.spend(OBJECT * len(value))
                for key, inner in value.items() if isinstance(value, dict) else (("", item) for item in value):
                    self._note(number, inner, (*path, key))
            return
        values = self._by_value.setdefault(path, {})
        if values is None:
            return
        if isinstance(value, float) or (isinstance(value, str) and len(value) > MAX_VALUE_CHARS):
            self._by_value[path] = None
            return
        numbers = values.setdefault((type(value), value), [])
        if not numbers or numbers[-1] != number:
            numbers.append(number)
        if len(values) > MAX_VALUES:
            self._by_value[path] = None

    def explain(self) -> dict[int, str]:
        """Return which records stand out and why, the rarest first."""
        rare = max(1, self._count // RARE, min(RARE_AT_LEAST, self._count // 16))
        reasons, nested = self._explain_values(rare)
        reasons += [(numbers, f'"{word.decode()}" is rare') for word, numbers in self._by_word.items()]
        usual = max(self._by_keys, key=lambda keys: len(self._by_keys[keys]), default=0)
        reasons += [(numbers, f"{keys} keys, others have {usual}") for keys, numbers in self._by_keys.items()]
        usual_size = sorted(self._sizes)[len(self._sizes) // 2] if self._sizes else 0
        long = [number for number, size in enumerate(self._sizes) if size > 4 * usual_size + 64]
        reasons += [(self._broken, "not JSON"), (long, "far longer than the others")]
        reasons = [(numbers, reason) for numbers, reason in reasons if 0 < len(numbers) <= rare]
        reasons.sort(key=lambda group: len(group[0]))
        records: dict[int, str] = {}
        for turn in range(MAX_RARE_PER_REASON):
            for numbers, reason in reasons:
                if turn < len(numbers) and len(records) < MAX_RARE:
                    records.setdefault(numbers[turn], reason)
        for number, reason in list(nested.items())[:MAX_RARE_PER_REASON]:
            records.setdefault(number, reason)
        return {number: f"record {number + 1:,}: {reason}" for number, reason in records.items()}

    def _explain_values(self, rare: int) -> tuple[list[tuple[list[int], str]], dict[int, str]]:
        """Return rare values of records, with the records that have them; and records with rare values further in."""
        read = sum(map(len, self._by_keys.values()))
        reasons = []
        nested: dict[int, str] = {}
        for path, values in self._by_value.items():
            if not values or len(values) * 4 > read:
                continue
            key = msgspec.json.encode(next((key for key in reversed(path) if key), ""))
            is_usual = 2 * sum(map(len, values.values())) > read
            for (_, value), numbers in values.items():
                member = (key + b": " + msgspec.json.encode(value)).decode()[:REASON_CHARS]
                if len(path) > 1 and len(numbers) <= rare:
                    nested = dict.fromkeys(numbers, member) | nested
                elif len(path) == 1 and is_usual:  # a key that few have shows in the number of keys
                    reasons.append((numbers, f"{member} is rare"))
        if len(nested) > max(1, self._count // FEW):  # records of several kinds
            nested = {}
        return reasons, nested
