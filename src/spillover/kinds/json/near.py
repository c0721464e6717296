"""An output that is nearly JSON, and shown like it: a Python repr on one line, or one value with some words around it."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.kinds.json import value
from spillover.kinds.json.almost import find, is_almost, spell
from spillover.kinds.sample import Sample
from spillover.settings.settings import Call
from spillover.source.blob import MemoryBlob

#: What `Clip.kind` may say.
NAMES = ("repr",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Room, Span

#: A longer output is left to others.
CAP = 16 << 20


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return what a value that is nearly JSON shows, and the words around it; nothing where there is none."""
    if document.size > CAP:
        return []
    data = document.blob.read(0, document.size)
    start, end = find(data)
    if start == end:
        return []
    text = data[start:end]
    return value.show(document, room, call, text, start) or value.show(document, room, call, spell(text) or b"", start)


def respell(document: Document) -> Document | None:
    """Return an output that is a repr as JSON of the same length, so that places in one are places in the other."""
    if document.size > CAP or document.gap[0] != document.gap[1]:
        return None
    data = document.blob.read(0, document.size)
    document.work.spend(10 * len(data))
    spelled = spell(data)
    return None if spelled is None else replace(document, blob=MemoryBlob(spelled))


def recognise(sample: Sample) -> str:
    """Return "repr" for a Python repr, and for one JSON value with a few words around it."""
    if value.recognise(sample):
        return ""
    return "repr" if is_almost(sample.head, sample.pieces[-1], whole=sample.is_whole) else ""
