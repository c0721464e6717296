"""Bytes as a JSON value that can be shown in part, with the records of its arrays that stand out."""

from __future__ import annotations

import re

from spillover.base.work import UNBOUNDED
from spillover.select.json.room import NOTHING_ASKED, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.base.work import Work
    from spillover.select.json.scan import Ints, Marks
    from spillover.select.query import Query

#: UTF-8 is checked in blocks of this many bytes.
BLOCK = 1 << 20
#: With more values than this, each is shorter than a word, and nothing stands out.
TOO_MANY = 4 << 20
#: The number of records looked at together.
RECORDS = 1 << 14

BOM = b"\xef\xbb\xbf"
#: How a value that can be shown in part begins; what follows the blanks is not one, so nothing is tried twice.
OPENS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+(?=[\[{])")


def parse(data: bytes, work: Work = UNBOUNDED, asked: Query = NOTHING_ASKED) -> Tree | None:
    """Return a JSON object or array that can be shown in part; None where the bytes are neither, or are not shown as they are."""
    if not is_container(data):
        return None
    from spillover.select.json.scan import marks

    found = marks(data)
    return Tree(data, found, _Peculiar(data, found, work).of, work, asked)


def is_container(data: bytes) -> bool:
    """Return whether this is an object or an array, which is shown as it is."""
    if not OPENS.match(data) or not _valid(data):
        return False
    # A carriage return that ends no line makes what stands before it invisible.
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def _valid(data: bytes) -> bool:
    """Return whether it is one JSON value in UTF-8. Decoding to `Raw` checks everything else, and builds nothing."""
    import msgspec

    try:
        msgspec.json.decode(memoryview(data)[len(BOM) if data.startswith(BOM) else 0 :], type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if data.isascii():
        return True
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), BLOCK):
            decoder.decode(data[at : at + BLOCK], final=at + BLOCK >= len(data))
    except UnicodeDecodeError:
        return False
    return True


class _Peculiar:
    """The records of each array that stand out, looked for once."""

    def __init__(self, data: bytes, marks: Marks, work: Work) -> None:
        self._data = data
        self._work = work
        self._marks = marks
        self._known: dict[int, Sequence[tuple[int, str]]] = {}

    def of(self, start: int, end: int, depth: int) -> Sequence[tuple[int, str]]:
        if start not in self._known:
            marks, inner = self._marks.inside(depth, start, end), self._marks.inside(depth + 1, start, end)
            self._known[start] = () if marks is None or len(marks) > TOO_MANY else self._look_for(marks, inner)
        return self._known[start]

    def _look_for(self, marks: Ints, inner: Ints | None) -> Sequence[tuple[int, str]]:
        import numpy as np

        from spillover.select.json.odd import Odd, spread

        count = len(marks) - 1
        inner = marks[:0] if inner is None else inner
        sizes, sample = [], []
        for number in spread(count):
            start, end = int(marks[number]) + 1, int(marks[number + 1])
            within = inner[inner.searchsorted(marks[number]) : inner.searchsorted(marks[number + 1])].astype(np.int64)
            sizes.append(end - start)
            sample.append((np.frombuffer(self._data, np.uint8, end - start, start), within - start))
        odd = Odd(sizes, sample, self._work)
        for first in range(0, count, RECORDS):
            edges = marks[first : first + RECORDS + 1]
            within = inner[inner.searchsorted(edges[0]) : inner.searchsorted(edges[-1])].astype(np.int64)
            odd.feed(self._data, edges[:-1].astype(np.int64) + 1, edges[1:].astype(np.int64), within)
        return odd.found()
