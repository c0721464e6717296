"""What an outline remembers, however much there is: groups of lines that are alike, and sections. Both have a cap.

Beyond the cap the least counted groups and the shortest sections are forgotten, the later before the earlier, so that
the same output always has the same outline. How many there were in all is still known.
"""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]

#: So many are remembered after each block.
MOST = 4_096
#: So much of a line is kept to be shown.
HELD = 400


class Group(Struct, frozen=True):
    """Lines that are alike: how many, the first and the last of them, and the first as it stands."""

    count: int
    first: int
    last: int
    line: bytes
    exact: bool = True  # False: some of them may have been forgotten before
    weak: bool = False  # what it says may mean something else


class Groups:
    """Groups by what their lines have in common."""

    def __init__(self) -> None:
        self.lines = 0
        self.forgot = False
        self._groups: dict[bytes, Group] = {}

    def add(
        self, keys: Sequence[bytes], numbers: Sequence[int], line_of: Callable[[int], bytes], weak: Sequence[bool] = ()
    ) -> None:
        """Lines of one block, in order, each with its key and its number; `line_of` gives one by its number."""
        if not keys:
            return
        from collections import Counter
        from heapq import nsmallest

        self.lines += len(keys)
        counts = Counter(keys)
        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        last = dict(zip(keys, range(len(keys)), strict=True))
        strong = {key for key, one in zip(keys, weak, strict=True) if not one} if weak else counts.keys()
        known = self._groups.keys() & counts.keys()
        for key in known:  # one that was remembered all along misses none, whatever else was forgotten
            one = self._groups[key]
            count, end, unsure = one.count + counts[key], numbers[last[key]], one.weak and key not in strong
            self._groups[key] = Group(count, one.first, end, one.line, one.exact, unsure)
        # Most of ten million lines of which no two are alike are never looked at more closely than this.
        new = [(-count, first[key], key) for key, count in counts.items() if key not in known and key.strip()]
        exact = not self.forgot
        for count, at, key in nsmallest(MOST, new) if len(new) > MOST else new:
            begin = numbers[at]
            line = line_of(begin)[:HELD]
            self._groups[key] = Group(-count, begin, numbers[last[key]], line, exact, key not in strong)
        if len(new) > MOST or len(self._groups) > MOST:
            self.forgot = True
            kept = sorted(self._groups.items(), key=lambda item: (-item[1].count, item[1].first))
            self._groups = dict(kept[:MOST])

    def ranked(self, least: int = 1) -> list[Group]:
        """Return those of so many lines at least: what is sure first, then the largest, then the earliest."""
        found = (group for group in self._groups.values() if group.count >= least)
        return sorted(found, key=lambda group: (group.weak, -group.count, group.first))


class Part(Struct, frozen=True):
    """A section: its lines, its first line as it stands, how many failures it has."""

    first: int
    last: int
    line: bytes
    failures: int = 0

    @property
    def lines(self) -> int:
        return self.last - self.first + 1

    def until(self, last: int, failures: int) -> Part:
        return Part(self.first, last, self.line, self.failures + failures)


class Parts:
    """Sections one behind the other, each up to the next; what stands before the first of them is one without a title."""

    def __init__(self) -> None:
        self.titled = 0
        self.begin = 0  # where the first one with a title begins
        self._open = Part(1, 0, b"")
        self._closed: list[Part] = []

    def add(self, heads: Array, failures: Array, last: int, line_of: Callable[[int], bytes]) -> None:
        """The heads and the failures in one block, by number of line; `last` is its last line."""
        import numpy as np

        inside = np.bincount(np.searchsorted(heads, failures, side="right"), minlength=len(heads) + 1)
        if not len(heads):
            self._open = self._open.until(last, int(inside[0]))
            return
        self.titled += len(heads)
        self.begin = self.begin or int(heads[0])
        self._close(self._open.until(int(heads[0]) - 1, int(inside[0])))
        lasts = np.append(heads[1:] - 1, last)
        chosen = np.arange(len(heads))
        if len(heads) > MOST:  # the last one is still open
            order = np.lexsort((heads, heads - lasts, inside[1:] == 0))[:MOST]
            chosen = np.union1d(order, [len(heads) - 1])
        for at in chosen.tolist():
            part = Part(int(heads[at]), int(lasts[at]), line_of(int(heads[at]))[:HELD], int(inside[at + 1]))
            if at == len(heads) - 1:
                self._open = part
            else:
                self._close(part)
        if len(self._closed) > MOST:
            self._closed = _ranked(self._closed)[:MOST]

    def ranked(self) -> list[Part]:
        """Return those with failures first, then the longest, then the earliest."""
        return _ranked([*self._closed, self._open] if self._open.lines else self._closed)

    def _close(self, part: Part) -> None:
        if part.lines:
            self._closed.append(part)


def _ranked(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: (part.failures == 0, -part.lines, part.first))
