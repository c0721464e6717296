"""One JSON value stays one: keys and shape kept, long strings, arrays and objects shortened, what stands out kept."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.document.clean import flatten
from spillover.kinds.json.almost import goes_on
from spillover.kinds.json.gaps import FIRST, LAST, explain, find_room
from spillover.kinds.json.parse import BLOCK, BOM, OPENS, parse
from spillover.kinds.json.room import TEXT_SHARE
from spillover.kinds.query import Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import MAX_PARTS, Contents, Part
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("json",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document
    from spillover.kinds.json.gaps import Gaps
    from spillover.kinds.json.room import Tree
    from spillover.kinds.selection import Room, Span

#: A value larger than this is left to others: all of it is in memory while its parts are found.
CAP = 64 << 20
#: An outline looks into no larger value.
MAX_OUTLINE_BYTES = 16 << 20
#: What a value is by its first byte; anything else is a number.
TYPES = {b"{": "object", b"[": "array", b'"': "string", b"t": "true", b"f": "false", b"n": "null"}


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return spans with gaps between them that, once marked, leave one JSON value; nothing where that cannot be.

    A byte order mark stays before it.
    """
    if document.size > CAP:
        return []
    last = document.blob.read(max(0, document.size - BLOCK), document.size).rstrip(b" \t\r\n")[-1:]
    if last not in (b"}", b"]") or not OPENS.match(document.blob.read(0, BLOCK)):
        return []
    return show(document, room, call, document.blob.read(0, document.size))


def show(document: Document, room: Room, call: Call, data: bytes, base: int = 0) -> Sequence[Span]:
    """Return what is shown of an output with a value that begins at `base`; what stands around that is shown, too."""
    tree = parse(data, document.work, Query.of(call))
    if tree is None:
        return []
    most_bytes = 2 * document.reach
    high = min(document.size, most_bytes) * TEXT_SHARE

    def spans(gaps: Gaps) -> list[Span]:
        inner = gaps.spans(len(data), base)
        inner[0] = replace(inner[0], start=0)
        inner[-1] = replace(inner[-1], end=document.size)
        return inner

    size = find_room(lambda size: spans(tree.gaps(size)), high, most_bytes, room.fill)
    if size is None:
        return []
    gaps = tree.gaps(size)
    shown = spans(gaps)
    if _hides_all(tree, gaps.spans(len(data))):
        return []
    parts = [(base + start, base + end, why) for start, end, why in gaps.shown]
    return explain(shown, parts, (FIRST, LAST), document.work)


def _hides_all(tree: Tree, spans: Sequence[Span]) -> bool:
    """Return whether only the outermost brackets are left."""
    shown = b"".join(tree.data[span.start : span.end] for span in spans[:3])
    return len(spans) == 2 and len(shown.removeprefix(BOM).translate(None, b" \t\r\n")) == 2


def outline(document: Document) -> Contents | None:
    """List the keys of an object, or the items of a list, with what each holds; None if there are none."""
    data = document.blob.read(0, document.size) if document.size <= MAX_OUTLINE_BYTES else b""
    tree = parse(data)
    start = len(data) - len(data.lstrip(BOM + b" \t\r\n"))
    edges = None if tree is None else tree.members.inside(start, len(data), 1)
    if tree is None or edges is None:
        return None
    rows = []
    for child in tree.members.children(edges, MAX_PARTS):
        name = flatten(data[child.at : child.start].rstrip(b": \t\r\n"))
        title = TYPES.get(data[child.start : child.start + 1], "number")
        if title in ("object", "array"):
            inner = tree.members.inside(child.start, child.end, 2)
            count = 0 if inner is None else len(inner) - 1
            title += f", {count:,} {'keys' if title == 'object' else 'items'}"
        title = f"{name}: {title}" if name else title
        rows.append(Part(title, document.number(child.start), document.number(child.end - 1)))
    return Contents("Keys" if data[start] == ord("{") else "Items", rows, len(edges) - 1)


def recognise(sample: Sample) -> str:
    """Return "json" for one value: its beginning is valid, and its end closes it."""
    head = sample.head.removeprefix(b"\xef\xbb\xbf").strip()
    closing = {b"{": b"}", b"[": b"]"}.get(head[:1])
    if closing is None or not sample.pieces[-1].rstrip().endswith(closing):
        return ""
    return "json" if goes_on(head, whole=sample.is_whole) else ""
