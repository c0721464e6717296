"""What an output is decides how it is cut: JSON stays JSON, a table keeps its header, and of a log what matters is kept."""

from __future__ import annotations

from importlib import import_module

from spillover.select.json import literal
from spillover.select.kind import guesses
from spillover.select.told import kind_told
from spillover.select.wanted import NOTHING
from spillover.select.worth import thrifty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.span import Fill, Span
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

#: The module whose `select` handles a kind. It returns None if the output turns out to be something else.
MODULES = {
    "json": "json.value",
    "ndjson": "json.ndjson",
    "repr": "json.near",
    "csv": "table",
    "tsv": "table",
    "diff": "diff",
    "html": "markup",
    "xml": "markup",
    "page": "page",
    "prose": "prose",
    "blob": "blob",
    "search": "search",
    "source": "source",
    "log": "signal",
}


def auto(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> tuple[str, Sequence[Span]]:
    """Return what the output turned out to be, and what is shown of it."""
    for kind in guesses(document, wanted.name, kind_told(wanted)):
        if kind == "log" and (found := literal.select(document, fill, wanted)):
            return "repr", _refine(*found, fill, wanted)
        # A blob in a string of JSON is cut there, and the JSON stays JSON.
        for each in ("json", "blob") if kind == "blob" else (kind,):
            # A log tells by itself what it is worth; of anything else no line is known to be needed more than others.
            measure = fill if each == "log" else thrifty(document, fill, wanted.worth)
            spans = import_module(f"spillover.select.{MODULES[each]}").select(document, measure, wanted)
            whole = literal.respell(document) if each == "repr" else document
            if spans and each in ("json", "ndjson", "repr") and whole is not None:
                spans = _refine(whole, spans, measure, wanted)
            if spans:
                return each, spans
    return "log", []


def _refine(document: Document, spans: Sequence[Span], fill: Fill, wanted: Wanted) -> Sequence[Span]:
    from spillover.select.json.texts import refine  # most outputs are no JSON

    return refine(document, spans, fill, auto, wanted)
