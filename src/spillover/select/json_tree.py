"""One JSON value stays one: keys and shape kept, long strings, arrays and objects shortened, what stands out kept."""

from __future__ import annotations

import re

from spillover.select.json_gaps import FIRST, LAST, explained, fullest
from spillover.select.json_room import TEXT_SHARE, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.json_scan import Ints, Marks
    from spillover.select.span import Fill, Span
    from spillover.view.document import Document

#: A value larger than this is left to others: all of it is in memory while its parts are found.
CAP = 64 << 20
#: UTF-8 is checked in blocks of so many bytes.
BLOCK = 1 << 20

#: Among more values than these, none of which is longer than a word, nothing stands out.
TOO_MANY = 4 << 20
#: So many records are looked at together.
RECORDS = 1 << 14

_BOM = b"\xef\xbb\xbf"
_OPENS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(?=[\[{])")


def select(document: Document, fill: Fill) -> list[Span] | None:
    """Spans with gaps between them that, once marked, leave one JSON value; None where the output is none, or cannot be.

    A byte order mark stays before it, as it came.
    """
    if document.size > CAP or len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    last = document.blob.read(max(0, document.size - BLOCK), document.size).rstrip(b" \t\r\n")[-1:]
    if last not in (b"}", b"]") or not _OPENS.match(document.blob.read(0, BLOCK)):
        return None
    data = document.blob.read(0, document.size)
    tree = parsed(data)
    if tree is None:
        return None
    most_bytes = 2 * document.reach
    high = min(document.size, most_bytes) * TEXT_SHARE
    room = fullest(lambda room: tree.gaps(room).spans(document.size), high, most_bytes, fill)
    if room is None:
        return None
    gaps = tree.gaps(room)
    spans = gaps.spans(document.size)
    return None if _hides_all(tree, spans) else explained(spans, gaps.shown, (FIRST, LAST))


def _hides_all(tree: Tree, spans: Sequence[Span]) -> bool:
    """Whether only the outermost brackets are left."""
    shown = b"".join(tree.data[span.start : span.end] for span in spans[:3])
    return len(spans) == 2 and len(shown.removeprefix(_BOM).translate(None, b" \t\r\n")) == 2


def parsed(data: bytes) -> Tree | None:
    """A JSON object or array that can be shown in part; None where the bytes are no such thing, or not shown as they are."""
    if not _OPENS.match(data) or not _valid(data):
        return None
    # A carriage return that ends no line makes what stands before it invisible.
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    from spillover.select.json_scan import marks

    found = marks(data)
    return Tree(data, found, _Peculiar(data, found).of)


def _valid(data: bytes) -> bool:
    """Whether it is one JSON value in UTF-8. A `Raw` is checked in all but that, without being made."""
    import msgspec

    try:
        msgspec.json.decode(memoryview(data)[len(_BOM) if data.startswith(_BOM) else 0 :], type=msgspec.Raw)
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

    def __init__(self, data: bytes, marks: Marks) -> None:
        self._data = data
        self._marks = marks
        self._known: dict[int, Sequence[tuple[int, str]]] = {}

    def of(self, start: int, end: int, depth: int) -> Sequence[tuple[int, str]]:
        if start not in self._known:
            marks, inner = self._marks.inside(depth, start, end), self._marks.inside(depth + 1, start, end)
            self._known[start] = () if marks is None or len(marks) > TOO_MANY else self._looked_for(marks, inner)
        return self._known[start]

    def _looked_for(self, marks: Ints, inner: Ints | None) -> Sequence[tuple[int, str]]:
        import numpy as np

        from spillover.select.json_odd import Odd, spread

        count = len(marks) - 1
        inner = marks[:0] if inner is None else inner
        sizes, sample = [], []
        for number in spread(count):
            start, end = int(marks[number]) + 1, int(marks[number + 1])
            within = inner[inner.searchsorted(marks[number]) : inner.searchsorted(marks[number + 1])].astype(np.int64)
            sizes.append(end - start)
            sample.append((np.frombuffer(self._data, np.uint8, end - start, start), within - start))
        odd = Odd(sizes, sample)
        for first in range(0, count, RECORDS):
            edges = marks[first : first + RECORDS + 1]
            within = inner[inner.searchsorted(edges[0]) : inner.searchsorted(edges[-1])].astype(np.int64)
            odd.feed(self._data, edges[:-1].astype(np.int64) + 1, edges[1:].astype(np.int64), within)
        return odd.found()
