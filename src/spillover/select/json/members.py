"""The members of a JSON container: where each key and each value stands."""

from __future__ import annotations

import re
from itertools import pairwise

from spillover.base.data import dataclass
from spillover.base.work import OBJECT, UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.base.work import Work
    from spillover.select.json.scan import Ints, Marks

_BLANK = b" \t\r\n"
# Both are matched at one place, and no quantifier gives anything back.
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Child:
    """A value in its container: `at` is where its key begins, or itself where it has none."""

    at: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.at


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON value, and where the values in it are."""

    data: bytes
    marks: Marks
    work: Work = UNBOUNDED

    def inside(self, start: int, end: int, depth: int) -> Ints | None:
        """Return the marks of a container that has members; None where it is none, is empty, or is too deep."""
        if self.data[start] not in b"[{":
            return None
        marks = self.marks.inside(depth, start, end)
        return None if marks is None or self.empty(marks) else marks

    def empty(self, marks: Ints) -> bool:
        """Return whether there is nothing between two brackets."""
        opens, closes = int(marks[0]) + 1, int(marks[-1])
        match = _BLANKS.match(self.data, opens, closes) if len(marks) == 2 else None
        return match is not None and match.end() == closes

    def child(self, marks: Ints, number: int) -> Child:
        """Return a value of the container that has these marks."""
        data, end = self.data, int(marks[number + 1])
        blanks = _BLANKS.match(data, int(marks[number]) + 1, end)
        at = blanks.end() if blanks else 0
        while data[end - 1] in _BLANK:
            some = data[max(at, end - 64) : end]
            end -= len(some) - len(some.rstrip(_BLANK))
            self.work.spend(OBJECT)
        key = _KEY.match(data, at, end) if data[marks[0]] == 0x7B else None
        return Child(at, key.end() if key else at, end)

    def rest(self, parent: Child, depth: int) -> tuple[int, int]:
        """Return how many values a container has, and where the last one ends."""
        marks = self.inside(parent.start, parent.end, depth)
        assert marks is not None  # it has members
        return len(marks) - 1, self.child(marks, len(marks) - 2).end

    def children(self, marks: Ints) -> list[Child]:
        """Return all values of a container that has few."""
        data, edges = self.data, marks.tolist()
        keyed = data[edges[0]] == 0x7B
        out = []
        for number, (opens, closes) in enumerate(pairwise(edges)):
            if data[closes - 1] in _BLANK:
                out.append(self.child(marks, number))
                continue
            at = start = opens + 1 if data[opens + 1] not in _BLANK else _BLANKS.match(data, opens + 1, closes).end()  # type: ignore[union-attr]  # it always matches
            if keyed and (key := _KEY.match(data, at, closes)):
                start = key.end()
            out.append(Child(at, start, closes))
        return out
