"""One JSON value stays one, and a Python repr too: keys and shape stay, long strings, arrays and objects are shortened.

Few words may stand around it. A repr is read as JSON of the same length.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from spillover.document.clean import flatten
from spillover.document.document import Document
from spillover.kinds.json.marks import BOM, Marks, parse
from spillover.kinds.json.strings import find_embedded, is_embedded, is_json_prefix, spell_repr
from spillover.kinds.json.tree import FIRST, LAST, TEXT_SHARE, Gaps, Tree, explain, find_size
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import MAX_PARTS, Contents, Part, Room, Span
from spillover.settings.settings import Call
from spillover.source.blob import MemoryBlob

#: What `Clip.kind` may say.
NAMES = ("json", "repr")
#: A larger value is left to others: all of it is in memory while its parts are found.
MAX_BYTES = 64 << 20
#: A larger output is no repr, and no value with words around it: it is copied, token after token.
MAX_REPR_BYTES = 16 << 20
#: An outline looks into no larger value.
MAX_OUTLINE_BYTES = 16 << 20
#: What a value is by its first byte; anything else is a number.
TYPES = {b"{": "object", b"[": "array", b'"': "string", b"t": "true", b"f": "false", b"n": "null"}


def recognise(sample: Sample) -> str:
    """Return "json" for one value whose beginning is valid, "repr" for one with words around it, and for a repr."""
    if _is_json(sample):
        return "json"
    return "repr" if is_embedded(sample.head, sample.pieces[-1], whole=sample.is_whole) else ""


def _is_json(sample: Sample) -> bool:
    head = sample.head.removeprefix(BOM).strip()
    closing = {b"{": b"}", b"[": b"]"}.get(head[:1])
    return bool(
        closing and sample.pieces[-1].rstrip().endswith(closing) and is_json_prefix(head, whole=sample.is_whole)
    )


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return spans with gaps between them that, once marked, leave one value; nothing where that cannot be.

    A byte order mark stays before it, and so do words around it.
    """
    if _is_json(Sample.of(document)):
        data = document.blob.read(0, document.size) if document.size <= MAX_BYTES else b""
        return _select_in(document, room, call, data, 0)
    data = document.blob.read(0, document.size) if document.size <= MAX_REPR_BYTES else b""
    start, end = find_embedded(data)
    text = data[start:end]
    return _select_in(document, room, call, text, start) or _select_in(
        document, room, call, spell_repr(text) or b"", start
    )


def _select_in(document: Document, room: Room, call: Call, data: bytes, base: int) -> Sequence[Span]:
    """Return what is shown of an output with a value that begins at `base`; what stands around that is shown, too."""
    marks = parse(data, document.work)
    if marks is None:
        return []
    tree = Tree(marks, Query.of(call))
    max_bytes = 2 * document.reach

    def spans_of(gaps: Gaps) -> list[Span]:
        spans = gaps.spans(len(data), base)
        spans[0] = replace(spans[0], start=0)
        spans[-1] = replace(spans[-1], end=document.size)
        return spans

    high = min(document.size, max_bytes) * TEXT_SHARE
    size = find_size(lambda size: spans_of(tree.gaps(size)), high, max_bytes, room.fill)
    if size is None:
        return []
    gaps = tree.gaps(size)
    if _hides_all(data, gaps.spans(len(data))):
        return []
    parts = [(base + start, base + end, why) for start, end, why in gaps.parts]
    return explain(spans_of(gaps), parts, (FIRST, LAST), document.work)


def _hides_all(data: bytes, spans: Sequence[Span]) -> bool:
    """Return whether only the outermost brackets are left."""
    if len(spans) != 2:
        return False
    text = b"".join(data[span.start : span.end] for span in spans)
    return len(text.removeprefix(BOM).translate(None, b" \t\r\n")) == 2


def respell(document: Document) -> Document | None:
    """Return an output that is a repr as JSON of the same length, so that places in one are places in the other."""
    if document.size > MAX_REPR_BYTES:
        return None
    data = document.blob.read(0, document.size)
    document.work.spend(10 * len(data))
    spelled = spell_repr(data)
    return None if spelled is None else replace(document, blob=MemoryBlob(spelled))


def outline(document: Document) -> Contents | None:
    """List the keys of an object, or the items of a list, with what each holds; None if there are none."""
    data = document.blob.read(0, document.size) if document.size <= MAX_OUTLINE_BYTES else b""
    marks = parse(data)
    start = len(data) - len(data.lstrip(BOM + b" \t\r\n"))
    edges = None if marks is None else marks.inside(start, len(data), 1)
    if marks is None or edges is None:
        return None
    rows = []
    for member in marks.members(edges[: MAX_PARTS + 1]):
        name = flatten(data[member.at : member.start].rstrip(b": \t\r\n"))
        title = _describe(marks, member.start, member.end)
        title = f"{name}: {title}" if name else title
        rows.append(Part(title, document.number(member.start), document.number(member.end - 1)))
    return Contents("Keys" if data[start] == ord("{") else "Items", rows, len(edges) - 1)


def _describe(marks: Marks, start: int, end: int) -> str:
    """Return what a value is, and how many values it holds."""
    title = TYPES.get(marks.data[start : start + 1], "number")
    if title not in ("object", "array"):
        return title
    edges = marks.inside(start, end, 2)
    count = 0 if edges is None else len(edges) - 1
    return f"{title}, {count:,} {'keys' if title == 'object' else 'items'}"
