"""The records that stand out among many alike: a rare value, a key more or less, far longer, the word for a failure."""

from __future__ import annotations

import re

import stringzilla
from msgspec import Struct

from spillover.base.work import ARRAYS, OBJECT, UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillover.base.work import Work
    from spillover.select.json.scan import Bytes, Longs, Words

#: The number of records, spread over all of them, that say what is usual.
SAMPLE = 64
#: A longer record is ignored: reading it would take too long.
SAMPLE_BYTES = 1 << 14
#: Values of a key that is worth looking at: short, and few of them different.
VALUE_BYTES = 40
DISTINCT = 8
#: Rare means one in RARE.
RARE = 100
#: But of a few hundred records, this many are still rare.
SOME = 8
#: At most MOST records stand out, and at most EACH for one reason.
MOST = 24
EACH = 6
#: A key with more unusual values than this has no usual ones.
UNUSUAL = 64
#: Keys of a record are counted up to this number.
KEYS = 1 << 10

#: Words for failure: as searched for, and as shown.
WORDS = {
    b"error": "error",
    b"Error": "error",
    b"ERROR": "error",
    b"fail": "fail",
    b"Fail": "fail",
    b"FAIL": "fail",
    b"xception": "exception",
    b"EXCEPTION": "exception",
    b"fatal": "fatal",
    b"Fatal": "fatal",
    b"FATAL": "fatal",
    b"panic": "panic",
    b"raceback": "traceback",
}
_BLANK = b" \t\r\n"
#: A key and what stands around it; matched at one place, and no quantifier gives anything back.
_KEY = re.compile(rb'[ \t\r\n]*+("[^"\\]*+(?:\\.[^"\\]*+)*+")?+[ \t\r\n]*+:?+[ \t\r\n]*+', re.DOTALL)


class _Reason(Struct, frozen=True):
    """Why a record stands out: how many do for it, and the first of them."""

    count: int = 0
    first: tuple[int, ...] = ()
    words: str = ""

    def and_also(self, numbers: Longs, words: str) -> _Reason:
        more = tuple(int(number) for number in numbers[: EACH - len(self.first)])
        return _Reason(self.count + len(numbers), self.first + more, self.words or words)


class Odd:
    """Learns from a sample of records what is usual, is fed all of them in blocks, and says which are not."""

    def __init__(self, sizes: Sequence[int], sample: Sequence[tuple[Bytes, Longs]], work: Work = UNBOUNDED) -> None:
        """How long some records are; and of those that are containers, the bytes and where the marks are in them."""
        self._records = 0
        self._work = work
        self._counts: dict[int, _Reason] = {}
        self._values: dict[tuple[int, int, int], dict[int, _Reason] | None] = {}
        self._others: dict[str, _Reason] = {}
        self._words = dict.fromkeys(WORDS, _Reason())
        sizes = sorted(sizes) or [0]
        tenth = len(sizes) // 10 + 1 if len(sizes) > 1 else 0  # the sample itself may hold one that stands out
        self._long = 4 * sizes[-1 - tenth] + 64
        self._short = sizes[tenth] // 4 - 16
        shapes: dict[int, list[tuple[Bytes, Longs]]] = {}
        for row in sample:
            if len(row[0]) <= SAMPLE_BYTES and len(row[1]):
                shapes.setdefault(len(row[1]) - 1, []).append(row)
        for keys, rows in shapes.items():
            if len(rows) >= max(2, len(sample) // 16):
                for column in range(min(keys, KEYS)):
                    self._work.spend(OBJECT * len(rows))
                    if words := _category(rows, column):
                        self._values[keys, column, words] = {}
        self._shapes = {keys for keys, _, _ in self._values}

    def feed(self, data: bytes, starts: Longs, ends: Longs, inner: Longs | None) -> None:
        """Take in the next records: from where to where each is, and the marks of their outermost containers.

        Without marks, only the beginning of a long one is there.
        """
        import numpy as np

        first = self._records
        self._records += len(starts)
        sizes = ends - starts
        self._other("far longer than the others", first + np.flatnonzero(sizes > self._long))
        self._other("far shorter than the others", first + np.flatnonzero(sizes < self._short))
        self._find_words(data, starts, ends, first)
        if inner is None:
            return
        block = np.frombuffer(data, np.uint8)
        opens = inner.searchsorted(starts)
        keys = np.minimum(inner.searchsorted(ends) - opens - 1, KEYS)
        for count in np.flatnonzero(np.bincount(keys + 1)).tolist():
            self._work.spend(ARRAYS)
            rows = np.flatnonzero(keys == count - 1)
            reason = self._counts.get(count - 1, _Reason())
            self._counts[count - 1] = reason.and_also(first + rows, "")
            for (shape, column, words), known in self._values.items() if count - 1 in self._shapes else ():
                if shape == count - 1 and known is not None:
                    self._work.spend(ARRAYS)
                    at = opens[rows] + column
                    where = inner[at] + 1, inner[at + 1]
                    if not self._tally(known, block, where, _hashes(block, *where, words), first + rows):
                        self._values[shape, column, words] = None

    def _tally(
        self, known: dict[int, _Reason], block: Bytes, where: tuple[Longs, Longs], hashes: Words, rows: Longs
    ) -> bool:
        """Count one key's values; False when too many of them are different."""
        import numpy as np

        left = np.ones(len(rows), bool)
        for value in sorted(known, key=lambda value: -known[value].count):
            same = hashes == np.uint64(value)
            here = np.flatnonzero(same)
            if len(here):
                known[value] = known[value].and_also(rows[here], "")
                left &= ~same
            if not left.any():
                return True
        if len(known) > DISTINCT and np.count_nonzero(left) * 4 > len(rows):
            return False
        while True:
            new = np.flatnonzero(left)
            if not len(new):
                return True
            if len(known) >= UNUSUAL:
                return False
            same = left & (hashes == hashes[new[0]])
            words = _describe(block[where[0][new[0]] : where[1][new[0]]].tobytes())
            known[int(hashes[new[0]])] = _Reason().and_also(rows[np.flatnonzero(same)], f"{words} is rare")
            left &= ~same

    def _find_words(self, data: bytes, starts: Longs, ends: Longs, first: int) -> None:
        """Find records with a word for failure in them, while they are few."""
        if not len(starts):
            return
        import numpy as np

        view, since, upto = memoryview(data), int(starts[0]), int(ends[-1])
        for word in [word for word, reason in self._words.items() if reason.count <= UNUSUAL]:
            at = since
            while at < upto and self._words[word].count <= UNUSUAL:
                found = stringzilla.find(view[at:upto], word)
                if found < 0:
                    break
                row = int(starts.searchsorted(at + found, "right")) - 1
                said = f'"{WORDS[word]}" is rare'
                self._words[word] = self._words[word].and_also(np.array([first + max(0, row)]), said)
                at = max(at + found + 1, int(ends[max(0, row)]))

    def _other(self, words: str, rows: Longs) -> None:
        if len(rows):
            self._others[words] = self._others.get(words, _Reason()).and_also(rows, words)

    def found(self) -> list[tuple[int, str]]:
        """Return which records stand out and why, the rarest first."""
        rare = max(1, self._records // RARE, min(SOME, self._records // 16))
        usual = max(self._counts, key=lambda keys: self._counts[keys].count, default=0)
        reasons = [reason for known in self._values.values() for reason in (known or {}).values()]
        reasons += self._words.values()
        reasons += [
            _Reason(reason.count, reason.first, f"{max(0, keys)} keys, others have {usual}")
            for keys, reason in self._counts.items()
        ]
        reasons += self._others.values()
        reasons = sorted((reason for reason in reasons if 0 < reason.count <= rare), key=lambda reason: reason.count)
        odd: dict[int, str] = {}
        for turn in range(EACH):
            for reason in reasons:
                if turn < len(reason.first) and len(odd) < MOST:
                    number = reason.first[turn]
                    odd.setdefault(number, f"record {number + 1:,}: {reason.words}")
        return list(odd.items())


def _category(rows: Sequence[tuple[Bytes, Longs]], column: int) -> int:
    """Return how many words tell the values of a key apart, where the sample has few different ones and all are short; else 0."""
    texts = [record[marks[column] + 1 : marks[column + 1]].tobytes() for record, marks in rows]
    members = [_member(text) for text in texts]
    values = {value for _, value, _ in members}
    short = all(len(value) <= VALUE_BYTES for value in values)
    one_key = len({key for key, _, _ in members}) == 1
    if not short or not one_key or len(values) > max(1, min(DISTINCT, len(rows) // 4)):
        return 0
    behind = max(len(text) - at for text, (_, _, at) in zip(texts, members, strict=True))
    return min(behind // 8 + 1, 6)


def _member(text: bytes) -> tuple[bytes | None, bytes, int]:
    """Return the key of a member where it has one, its value, and where that begins."""
    key = _KEY.match(text)
    at = key.end() if key else 0
    return key[1] if key else None, text[at:].rstrip(_BLANK), at


def _hashes(block: Bytes, starts: Longs, ends: Longs, words: int) -> Words:
    """Return a number for each of these pieces: the same for the same length and the same last `words` times eight bytes."""
    import numpy as np

    size = ends - starts
    out: Words = size.astype(np.uint64)
    if len(block) < 8:
        return out
    every: Words = np.ndarray((len(block) - 7,), "<u8", block, strides=(1,))  # the eight bytes from any place on
    for number in range(min(words, int(size.max()) // 8 + 1)):
        at = ends - 8 * (number + 1)
        if (at >= starts).all():
            word = every[at]
        else:  # bytes before the piece are shifted out; near the beginning of the block they are not even there
            left = np.clip(size - 8 * number, 0, 8)
            missing = np.clip(-8 * at, 0, 63).astype(np.uint64)
            word = every[np.maximum(at, 0)] << missing >> np.minimum(64 - 8 * left, 63).astype(np.uint64)
            word[left == 0] = 0
        out = (out ^ word) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out


def _describe(member: bytes) -> str:
    """Put a key and its value on one short line."""
    parts = [part.decode("utf-8", "replace") for part in _member(member)[:2] if part]
    text = " ".join(": ".join(parts).split())
    return text if len(text) <= 60 else text[:59] + "…"


def spread(count: int) -> Iterable[int]:
    """Return the numbers of the sample among so many: all of a few, else evenly spread."""
    return range(count) if count <= SAMPLE else [number * (count - 1) // (SAMPLE - 1) for number in range(SAMPLE)]
