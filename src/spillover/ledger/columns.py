"""Many lines of a journal at once, as arrays: ten million are added up in seconds, and in memory that does not grow with them."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from spillover.base.data import dataclass
from spillover.ledger.entry import HEAD, KEY, OPERATIONS, OUTCOMES, WIDTHS, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: So many different (scope, tool, host, command) are told apart; of those that come later the command is left out, and where
#: even that is too many, everything.
MOST_KEYS = 50_000
OTHERS = "(others)"

_AFTER = len(WORDS) - KEY  # words that stand behind the key


#: Where each number of the head begins.
_PLACES = tuple(3 + sum(1 + width for width in WIDTHS[:column]) for column in range(len(WIDTHS)))
_TABS = [place - 1 for place in (*_PLACES, HEAD)]
_OPERATIONS = np.zeros(256, bool)
_OPERATIONS[[ord(letter) for letter in OPERATIONS.values()]] = True
_OUTCOMES = np.zeros(256, bool)
_OUTCOMES[[ord(letter) for letter in OUTCOMES.values()]] = True

_NONE = np.zeros((HEAD, 0), np.uint8)


@dataclass(frozen=True, slots=True)
class Columns:
    """The good lines of a piece of a journal. Numbers are whole."""

    operation: Any  # letters, as bytes
    outcome: Any
    when: Any  # milliseconds
    produced: Any
    base: Any
    shown: Any
    notice: Any
    key: Any  # numbers in Keys
    damaged: int  # lines that are not among them


class Keys(dict):  # type: ignore[type-arg]  # bytes → number; a plain dict is what makes it quick
    """What figures are grouped by: (scope, tool, host, command) as they stand in a line → a number; -1 for what is no key."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[tuple[str, ...]] = []
        self._folded: dict[tuple[str, ...], int] = {}

    def __missing__(self, key: bytes) -> int:
        if key.count(b"\t") != KEY - 1:
            return -1
        words = tuple(word.decode("utf-8", "replace") for word in key.split(b"\t"))
        if len(self.words) < MOST_KEYS:
            return self._add(key, words)
        folded = (*words[: KEY - 1], OTHERS if words[KEY - 1] else "")
        number = self._folded.get(folded)
        if number is None and len(self._folded) >= MOST_KEYS // 10:
            folded = (OTHERS,) * KEY
            number = self._folded.get(folded)
        if number is None:
            number = self._folded[folded] = len(self.words)
            self.words.append(folded)
        return number

    def _add(self, key: bytes, words: tuple[str, ...]) -> int:
        number = self[key] = len(self.words)
        self.words.append(words)
        return number


def parse(block: bytes, keys: Keys) -> Columns:
    """Return the lines of a piece that ends with a newline as columns."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == 10)
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts
    long = sizes >= HEAD + _AFTER
    empty = int(np.count_nonzero(sizes == 0))
    # Each place of the head is a row: adding up digits then runs along memory.
    heads = np.ascontiguousarray(sliding_window_view(data, HEAD)[starts[long]].T) if long.any() else _NONE
    good = _OPERATIONS[heads[0]] & _OUTCOMES[heads[1]]
    for place in _TABS:
        good &= heads[place] == 9
    numbers = [_number(heads, place, width, good) for place, width in zip(_PLACES, WIDTHS, strict=True)]
    number = keys.__getitem__
    lines = block.split(b"\n")
    if not long.all():
        lines = [lines[at] for at in np.flatnonzero(long)]
    words = [number(line[HEAD:].rsplit(b"\t", _AFTER)[0]) for line in lines[: len(good)]]
    key = np.array(words, np.int64)
    good &= key >= 0
    when, produced, base, shown, notice, _ = (each[good] for each in numbers)
    return Columns(
        operation=heads[0][good],
        outcome=heads[1][good],
        when=when,
        produced=produced,
        base=base,
        shown=shown,
        notice=notice,
        key=key[good],
        damaged=len(ends) - empty - int(np.count_nonzero(good)),
    )


def _number(heads: Any, place: int, width: int, good: Any) -> Any:
    """Return a number of each line, and mark the lines in which it is none."""
    value = np.zeros(heads.shape[1], np.int64)
    for digit in heads[place : place + width] - 48:  # what is smaller wraps round, and is above 9 as well
        good &= digit <= 9
        value *= 10
        value += digit
    return value
