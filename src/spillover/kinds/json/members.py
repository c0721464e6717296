"""The members of a JSON container: where each key and each value stands."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from spillover.document.document import OBJECT, UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.document.document import Work
    from spillover.kinds.json.scan import Ints, Marks

_BLANK = b" \t\r\n"
# Both are matched at one place, and no quantifier gives anything back.
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)


class Child(Struct, frozen=True):
    """A value in its container: `at` is where its key begins, or itself where it has none."""

    at: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.at


class Members(Struct, frozen=True):
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
        closes = int(marks[-1])
        return len(marks) == 2 and skip(self.data, int(marks[0]) + 1, closes) == closes

    def child(self, marks: Ints, number: int) -> Child:
        """Return a value of the container that has these marks."""
        data, closes = self.data, int(marks[number + 1])
        at = skip(data, int(marks[number]) + 1, closes)
        end = trim(data, at, closes, self.work)
        return Child(at, find_value(data, at, end) if data[marks[0]] == 0x7B else at, end)

    def children(self, marks: Ints, count: int) -> list[Child]:
        """Return the first values of a container, so many of them."""
        data, edges = self.data, marks[: count + 1].tolist()
        keyed = data[edges[0]] == 0x7B
        out = []
        for opens, closes in pairwise(edges):
            at = skip(data, opens + 1, closes)
            end = trim(data, at, closes, self.work)
            out.append(Child(at, find_value(data, at, end) if keyed else at, end))
        return out


def skip(data: bytes, at: int, end: int) -> int:
    """Return where the blanks end that begin here."""
    match = _BLANKS.match(data, at, end)
    return match.end() if match else at


def trim(data: bytes, start: int, end: int, work: Work = UNBOUNDED) -> int:
    """Return where a value ends that is followed by blanks up to `end`."""
    while data[end - 1] in _BLANK:
        some = data[max(start, end - 64) : end]
        end -= len(some) - len(some.rstrip(_BLANK))
        work.spend(OBJECT)
    return end


def find_value(data: bytes, at: int, end: int) -> int:
    """Return where the value of the member begins whose key begins here."""
    key = _KEY.match(data, at, end)
    return key.end() if key else at


def key_of(data: bytes, at: int, start: int) -> bytes:
    """Return the key that begins at `at`, of the value that begins at `start`."""
    return data[at:start].rstrip(b": \t\r\n").strip(b'"')
