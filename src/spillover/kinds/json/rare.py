"""The records that stand out among many: a rare value of a field that has few, another number of keys, a word for failure, far longer."""

from __future__ import annotations

import stringzilla

from spillover.document.document import OBJECT, UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.document.document import Work
    from spillover.kinds.json.scan import Ints, Longs

#: Rare means one record in RARE, but of a few hundred, SOME are still rare.
RARE, SOME = 100, 8
#: At most MOST records stand out, and at most EACH for one reason.
MOST, EACH = 24, 6
#: So many records are decoded, and so many bytes of them, none that is longer; words for failure are looked for in all.
RECORDS, DECODED, LONGEST = 1 << 15, 2 << 20, 1 << 14
#: How much of a key and its value stands in a reason.
SAID = 60
#: A field with more values has no usual ones; longer texts are no values to compare.
VALUES, VALUE_CHARS = 12, 40
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


class Rare:
    """Is fed all records in blocks, and says which stand out."""

    def __init__(self, work: Work = UNBOUNDED) -> None:
        self._work = work
        self._count = self._decoded = 0
        self._sizes: list[int] = []
        self._with_word: dict[bytes, list[int]] = {word: [] for word in WORDS}
        self._with_keys: dict[int, list[int]] = {}
        self._with_value: dict[str, dict[Any, list[int]] | None] = {}

    def feed(self, data: bytes, starts: Ints | Longs, ends: Ints | Longs) -> None:
        """Take in the next records: from where to where each is."""
        self._find_words(data, starts, ends)
        some = RECORDS - len(self._sizes)
        for start, end in zip(starts[:some].tolist(), ends[:some].tolist(), strict=True):
            if self._decoded > DECODED:
                break
            self._sizes.append(end - start)
            if end - start <= LONGEST:
                self._decoded += end - start
                self._read(len(self._sizes) - 1, data[start:end])
        self._count += len(starts)

    def _find_words(self, data: bytes, starts: Ints | Longs, ends: Ints | Longs) -> None:
        """Find records with a word for failure in them, while they are few."""
        view, upto = memoryview(data), int(ends[-1])
        for word, numbers in self._with_word.items():
            at = int(starts[0])
            while at < upto and len(numbers) <= max(SOME, (self._count + len(starts)) // RARE):
                found = stringzilla.find(view[at:upto], word)
                if found < 0:
                    break
                row = max(0, int(starts.searchsorted(at + found, "right")) - 1)
                numbers.append(self._count + row)
                at = max(at + found + 1, int(ends[row]))

    def _read(self, number: int, text: bytes) -> None:
        """Note the values of one record."""
        import msgspec

        try:
            record = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return
        if not isinstance(record, dict):
            return
        self._work.spend(OBJECT * len(record))
        self._with_keys.setdefault(len(record), []).append(number)
        for key, value in record.items():
            known = self._with_value.setdefault(key, {})
            if known is None:
                continue
            if isinstance(value, float | list | dict) or (isinstance(value, str) and len(value) > VALUE_CHARS):
                self._with_value[key] = None
                continue
            known.setdefault((type(value), value), []).append(number)
            if len(known) > VALUES:
                self._with_value[key] = None

    def found(self) -> dict[int, str]:
        """Return which records stand out and why, the rarest first."""
        import msgspec

        rare = max(1, self._count // RARE, min(SOME, self._count // 16))
        usual = max(self._with_keys, key=lambda keys: len(self._with_keys[keys]), default=0)
        read = sum(map(len, self._with_keys.values()))
        usual_size = sorted(self._sizes)[len(self._sizes) // 2] if self._sizes else 0
        long = [number for number, size in enumerate(self._sizes) if size > 4 * usual_size + 64]
        reasons = []
        for key, known in self._with_value.items():
            if not known or len(known) * 4 > read:
                continue
            if 2 * sum(map(len, known.values())) > read:  # a key that few have is told by the number of keys
                for (_, value), numbers in known.items():
                    said = b"%b: %b" % (msgspec.json.encode(key), msgspec.json.encode(value))
                    reasons.append((numbers, f"{said.decode()[:SAID]} is rare"))
        reasons += [(numbers, f'"{WORDS[word]}" is rare') for word, numbers in self._with_word.items()]
        reasons += [(numbers, f"{keys} keys, others have {usual}") for keys, numbers in self._with_keys.items()]
        reasons.append((long, "far longer than the others"))
        reasons = sorted((each for each in reasons if 0 < len(each[0]) <= rare), key=lambda each: len(each[0]))
        out: dict[int, str] = {}
        for turn in range(EACH):
            for numbers, words in reasons:
                if turn < len(numbers) and len(out) < MOST:
                    out.setdefault(numbers[turn], f"record {numbers[turn] + 1:,}: {words}")
        return out
