"""The pieces of markup that is written by the rules: their edges and ranks in arrays, as `markup.py` finds them tag by tag."""

from __future__ import annotations

import sys

from spillover.base import process
from spillover.base.data import dataclass
from spillover.base.work import TAG
from spillover.select.arrays import find_byte
from spillover.select.elements import (
    FAILED,
    FRAME,
    LAST,
    NAMED,
    PLAIN,
    RAW,
    SMALL,
    UNCLOSED,
    VOID,
    cut_pieces,
    find_failures,
    rank_elements,
)
from spillover.select.tags import CLOSES, OPENS, read_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.base.work import Work
    from spillover.select.elements import Unit
    from spillover.select.tags import Elements, Tags

    Array = Any  # of numpy; its own types say little about what is in one

#: In a process that clips once, numpy is loaded for markup of this size; for less, reading tag by tag is quicker.
LARGE = 1 << 19
#: Why a piece is shown, where it is not an element: twice the number of its name, and one more where it failed.
NO_REASON, AROUND_FAILURE = -1, -2

_BLANK = bytes(c in b" \t\n\r\x0b\x0c" for c in range(256))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Pieces in order, in one place of each array. Between `opened` and `inner`, one may be cut; the others may not."""

    rank: Array
    start: Array
    end: Array
    why: Array
    opened: Array
    inner: Array

    def take(self, those: Array) -> _Pieces:
        return _Pieces(
            self.rank[those],
            self.start[those],
            self.end[those],
            self.why[those],
            self.opened[those],
            self.inner[those],
        )


def read_pieces(data: bytes, work: Work) -> list[Unit] | None:
    """Return the pieces of some markup, each shown whole or not at all; None where it is not written by the rules."""
    if process.ours and "numpy" not in sys.modules and len(data) < LARGE:
        return None  # loading it would take longer
    needed = TAG * data.count(b"<")
    if work.left is not None and work.left < needed:
        return None  # too much work is found to be so one by one, before there are arrays of it
    found = read_tags(data, VOID, RAW, UNCLOSED)
    if found is None:
        return None
    work.spend(needed)
    tags, elements = found
    pieces = _cut_long(data, _pieces(data, tags, elements))
    start, end = _add_space(data, pieces.start, pieces.end)
    names = [name.decode("utf-8", "replace") for name in elements.names]
    said = [
        *(why for name in names for why in (name, f"{name} failed")),
        "encloses what failed",
        "",
    ]  # the last two: -2, -1
    whys = [said[why] for why in pieces.why.tolist()]
    return list(zip(pieces.rank.tolist(), start.tolist(), end.tolist(), whys, strict=True))


def _pieces(data: bytes, tags: Tags, elements: Elements) -> _Pieces:
    """Return elements that are shown whole, the tags around them, and the text between both."""
    import numpy as np

    text = np.frombuffer(data, dtype=np.uint8)
    failed, encloses = find_failures(data, elements)
    rank = rank_elements(elements, failed)
    whole = _find_whole(text, elements)
    seen = _find_seen(tags, elements, whole)
    start, kind, element, owner = tags.start[seen], tags.kind[seen], tags.element[seen], tags.owner[seen]
    opens = kind == OPENS
    one = opens & whole[element]
    end = np.where(one, elements.end[element], tags.end[seen])
    about = np.where(opens, element, owner)
    around = np.where(opens, NAMED, FAILED)  # which tests failed comes before how
    of_tags = np.where(encloses[about], around, rank[about])
    of_tags[(about < 0) | (elements.parent[about] < 0)] = FRAME
    of_tags[_are_comments(text, start)] = LAST
    of_tags = np.where(one, rank[element], of_tags)
    reason = np.where(of_tags == NAMED, AROUND_FAILURE, NO_REASON)
    reason = np.where(one, 2 * elements.name[element] + failed[element], reason)
    # Before each tag stands text, or nothing; and behind the last.
    size = len(data)
    edge = np.concatenate(([0], end))
    upto = np.concatenate((start, [size]))
    inside = np.concatenate((np.where(owner >= 0, rank[owner], PLAIN), [PLAIN]))
    count = 2 * len(start) + 1
    columns: list[Array] = [np.empty(count, dtype=np.int64) for _ in range(6)]
    for column, texts, others in zip(
        columns,
        (inside, edge, upto, NO_REASON, edge, upto),
        (
            of_tags,
            start,
            end,
            reason,
            np.where(one, tags.end[seen], end),
            np.where(one, elements.inner[element], start),
        ),
        strict=True,
    ):
        column[::2], column[1::2] = texts, others
    filled = np.ones(count, dtype=bool)
    filled[::2] = _has_text(data, text, edge, upto)
    return _Pieces(*columns).take(filled)


def _find_whole(text: Array, elements: Elements) -> Array:
    """Return which elements are a piece of their own, as `is_one` has it."""
    import numpy as np

    size, paired = elements.end - elements.start, elements.end > elements.opened
    slashed = text[elements.opened - 2] == 0x2F
    one = np.where(paired | slashed, (size <= SMALL) | elements.empty, elements.named(VOID))
    return one & (elements.parent >= 0)


def _find_seen(tags: Tags, elements: Elements, whole: Array) -> Array:
    """Return the tags that are not inside of what is shown whole; of that, the first."""
    import numpy as np

    paired = elements.end > elements.opened
    within = np.zeros(len(tags.start) + 1, dtype=np.int32)
    first, last = (tags.kind == OPENS).nonzero()[0], (tags.kind == CLOSES).nonzero()[0]
    within[first[whole] + 1] += 1
    within[last[whole[tags.element[last]]] + 1] -= 1
    within[first[whole & ~paired] + 1] -= 1
    return (within[:-1].cumsum() == 0).nonzero()[0]


def _are_comments(text: Array, start: Array) -> Array:
    import numpy as np

    second, third, fourth = (text[np.minimum(start + place, len(text) - 1)] for place in (1, 2, 3))
    return (second == 0x21) & (third == 0x2D) & (fourth == 0x2D)


def _has_text(data: bytes, text: Array, start: Array, end: Array) -> Array:
    """Return which of these stretches, which are in order, hold more than blanks."""
    import numpy as np

    filled = (end > start) & ~np.frombuffer(_BLANK, dtype=bool)[text[np.minimum(start, len(text) - 1)]]
    unknown = (~filled & (end > start + 1)).nonzero()[0]
    if len(unknown):
        blank = np.frombuffer(
            data.translate(_BLANK) + b"\1", dtype=bool
        )  # there may be a stretch that ends where it does
        edges = np.stack((start[unknown], end[unknown]), axis=1).ravel()
        filled[unknown] = ~np.logical_and.reduceat(blank, edges)[::2]
    return filled


def _cut_long(data: bytes, pieces: _Pieces) -> _Pieces:
    """Return the same with what is long cut into pieces."""
    import numpy as np

    long = ((pieces.end - pieces.start > SMALL + SMALL // 2) & (pieces.opened < pieces.inner)).nonzero()[0]
    if not len(long):
        return pieces
    cuts: list[tuple[int, ...]] = []
    for rank, start, end, why, opened, inner in zip(
        *(column.tolist() for column in _columns(pieces.take(long))), strict=True
    ):
        for each, one, two, _ in cut_pieces(data, (start, opened, inner, end), rank, ""):
            cuts.append((each, one, two, why if one == start else NO_REASON))
    rest = np.ones(len(pieces.rank), dtype=bool)
    rest[long] = False
    table = np.array(cuts, dtype=np.int64).T
    merged = [
        np.concatenate((column[rest], more))
        for column, more in zip(_columns(pieces), (*table, table[1], table[2]), strict=True)
    ]
    return _Pieces(*merged).take(merged[1].argsort(kind="stable"))


def _columns(pieces: _Pieces) -> tuple[Array, ...]:
    return pieces.rank, pieces.start, pieces.end, pieces.why, pieces.opened, pieces.inner


def _add_space(data: bytes, start: Array, end: Array) -> tuple[Array, Array]:
    """Return the edges of pieces with the space between them: a line's end goes to what stands before, an indent to what follows."""
    import numpy as np

    size = len(data)
    newline = np.concatenate(([-1], find_byte(np.frombuffer(data, dtype=np.uint8), 0x0A)))
    after = np.concatenate((start[1:], [size]))
    last = newline[newline.searchsorted(after) - 1]
    upto = np.where(last >= end, last + 1, np.where(after == size, size, end))
    return np.concatenate(([0], upto[:-1])), upto
