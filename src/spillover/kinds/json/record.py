"""One record of many alike, read member by member, each with what is known of its field."""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, pairwise

from spillover.kinds.json.fields import COMPARED, Field
from spillover.kinds.json.members import find_value, key_of, skip, trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.kinds.json.members import Child, Members
    from spillover.kinds.json.scan import Ints

    #: A value: where its key begins, where it begins and ends; its field, None where no record of the sample has it.
    Value = tuple[int, int, int, Field | None]

#: Values inside of a record are told apart down to this depth.
NESTED = 8
#: Marks of one depth are a list up to this number; far more of them would take far more memory than they do in an array.
LISTED = 1 << 12
#: All blanks are up to this, and all that a value begins or ends with is above.
BLANK = 0x20


class Record:
    """The bytes of a record, and the marks in it by depth."""

    __slots__ = ("_levels", "_members", "data", "end", "start")

    def __init__(self, members: Members, start: int, end: int, levels: list[list[int] | Ints]) -> None:
        self.data, self.start, self.end = members.data, start, end
        self._members, self._levels = members, levels

    def edges(self, start: int, end: int, deep: int) -> list[int] | Ints | None:
        """Return the marks of a container so deep in the record; None where it is none, is empty, or nothing is known of it."""
        if self.data[start] not in b"[{" or deep >= len(self._levels):
            return None
        level = self._levels[deep]
        first = bisect_left(level, start)
        edges = level[first : bisect_left(level, end, first)]
        is_empty = len(edges) == 2 and skip(self.data, start + 1, end - 1) == end - 1
        return None if is_empty else edges

    def read(self, edges: list[int] | Ints, known: Field | None, *, learn: bool = False) -> Iterator[Value]:
        """Yield the values of a container. `learn`: a field that is not known yet is made."""
        data, work = self.data, self._members.work
        if data[edges[0]] != 0x7B:
            field = None if known is None else known.go(b"", learn=learn)
            for opens, closes in _pairs(edges):
                at = opens + 1 if data[opens + 1] > BLANK else skip(data, opens + 1, closes)
                yield at, at, closes if data[closes - 1] > BLANK else trim(data, at, closes, work), field
            return
        for opens, closes in _pairs(edges):
            at = skip(data, opens + 1, closes)
            start = find_value(data, at, closes)
            field = None if known is None else known.go(key_of(data, at, start), learn=learn)
            yield at, start, trim(data, start, closes, work), field

    def value(self, start: int, end: int) -> bytes:
        """Return what of a value is compared."""
        if end - start <= COMPARED:
            return self.data[start:end]
        half = COMPARED // 2
        return self.data[start : start + half] + b"%d" % (end - start) + self.data[end - half : end]


def _pairs(edges: list[int] | Ints) -> Iterator[tuple[int, int]]:
    """Return neighbours among marks; of a long array, a list at a time."""
    if isinstance(edges, list):
        return pairwise(edges)
    parts = (edges[at : at + LISTED + 1].tolist() for at in range(0, len(edges) - 1, LISTED))
    return chain.from_iterable(map(pairwise, parts))


class Records:
    """Some values of a container as records, by their number; `depth` is that of the marks in them."""

    def __init__(self, members: Members, children: dict[int, Child], depth: int) -> None:
        import numpy as np

        self._members, self._children = members, children
        starts = np.array([child.start for child in children.values()], np.int32)
        ends = np.array([child.end for child in children.values()], np.int32)
        levels = members.marks.levels[depth - 1 : depth - 1 + NESTED]
        places = [(level, level.searchsorted(starts).tolist(), level.searchsorted(ends).tolist()) for level in levels]
        self._places = [(level, dict(zip(children, zip(*edges, strict=True), strict=True))) for level, *edges in places]

    def __getitem__(self, number: int) -> Record:
        child = self._children[number]
        found: list[list[int] | Ints] = []
        for level, places in self._places:
            first, last = places[number]
            if first == last:
                break
            found.append(level[first:last].tolist() if last - first <= LISTED else level[first:last])
        return Record(self._members, child.start, child.end, found)
