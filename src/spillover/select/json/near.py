"""An output that is nearly JSON, and shown like it: a Python repr on one line, or one value with some words around it."""

from __future__ import annotations

from spillover.select.json.almost import find, read_repr
from spillover.select.json.value import show
from spillover.select.wanted import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.select.span import Fill, Span
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

#: A longer output is left to others.
CAP = 8 << 20


def select(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> list[Span] | None:
    """Return what a value that is nearly JSON shows, and the words around it; None where there is none."""
    if document.size > CAP or len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    data = document.blob.read(0, document.size)
    start, end = find(data)
    if start == end:
        return None
    return show(document, fill, wanted, data[start:end], start) or show(
        document, fill, wanted, read_repr(data[start:end]), start
    )
