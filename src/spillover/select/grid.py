"""Rows of a table as an array of two columns, from where to where each is: the first ones, their order, and runs of them."""

from __future__ import annotations

from spillover.select.span import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.select.outliers import Row

    Rows = Any  # of numpy; its own types say little about what is in one


def first_rows(data: bytes) -> Rows:
    """Return the rows of a piece that begins with one and has no quotes, so that each line is one; empty lines are none."""
    import numpy as np

    array = np.frombuffer(data, np.uint8)
    ends = (array == 0x0A).nonzero()[0] + 1
    if data and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    rows = np.empty((len(ends), 2), np.int64)
    rows[:, 1] = ends
    rows[1:, 0] = ends[:-1]
    rows[:1, 0] = 0
    begins = array[rows[:, 0]]
    bare = ((begins == 0x0A) | (begins == 0x0D)).nonzero()[0].tolist()  # or they begin with a blank
    empty = [number for number in bare if not data[slice(*rows[number].tolist())].strip(b"\r\n")]
    return np.delete(rows, empty, axis=0) if empty else rows


def put_in_order(first: Rows, last: Rows, others: Sequence[Row]) -> Rows:
    """Return rows in the order in which they are shown, each once: the header, some of both ends, others, more of both ends."""
    import numpy as np

    header, first, last = first[:1], first[1:], last[::-1]
    both = min(len(first), len(last))
    ends = np.concatenate((np.stack((first[:both], last[:both]), axis=1).reshape(-1, 2), first[both:], last[both:]))
    rows = np.concatenate((header, ends[:4], np.array(others, np.int64).reshape(-1, 2), ends[4:]))
    order = np.lexsort((rows[:, 1], rows[:, 0]))  # equal ones stay in the order in which they came
    again = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    return np.delete(rows, order[1:][again], axis=0) if again.any() else rows


def merge(rows: Rows, whys: Mapping[Row, str]) -> list[Span]:
    """Return rows as spans, those that touch as one, which has the reason of the first."""
    import numpy as np

    if not len(rows):
        return []
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    starts, ends = rows[order, 0], np.maximum.accumulate(rows[order, 1])
    begins = np.concatenate(([True], starts[1:] > ends[:-1])).nonzero()[0]
    firsts, upto = rows[order[begins]].tolist(), ends[[*(begins[1:] - 1).tolist(), -1]].tolist()
    return [Span(start, end, whys.get((start, own), "")) for (start, own), end in zip(firsts, upto, strict=True)]
