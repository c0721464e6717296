"""What an output is decides how it is cut: JSON stays JSON, a table keeps its header, and of a log what matters is kept."""

from __future__ import annotations

from importlib import import_module

from spillover.kinds.kind import guesses
from spillover.kinds.told import kind_told
from spillover.kinds.wanted import NOTHING
from spillover.tokens import estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill, Span
    from spillover.kinds.wanted import Wanted

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
    "log": "log.signal",
}

#: Where no line is known to be needed more than others, about a screenful of them is, in tokens; with more, `worth` cuts less.
SCREEN = 600
#: So many bytes of the beginning tell how many bytes a token has here.
SAMPLE = 1 << 13


def auto(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> tuple[str, Sequence[Span]]:
    """Return what the output turned out to be, and what is shown of it."""
    for kind in guesses(document, wanted.name, kind_told(wanted)):
        # A blob in a string of JSON is cut there, and the JSON stays JSON.
        for each in ("json", "blob") if kind == "blob" else (kind,):
            # A log tells by itself what it is worth; of anything else no line is known to be needed more than others.
            measure = fill if each == "log" else thrifty(document, fill, wanted.worth)
            spans = import_module(f"spillover.kinds.{MODULES[each]}").select(document, measure, wanted)
            if spans and each in ("json", "ndjson", "repr"):
                spans = _refine(document, each, spans, measure, wanted)
            if spans:
                return each, spans
    return "log", []


def thrifty(document: Document, fill: Fill, worth: float) -> Fill:
    """Return the measure of what fits for an output of which no line is known to be needed more than others."""
    data = document.blob.read(0, SAMPLE) if worth else b""
    if not data:
        return fill
    room = SCREEN / worth * len(data) / max(1, estimate(data.decode("utf-8", "replace")))

    def fill_thriftily(spans: Sequence[Span]) -> float:
        return max(fill(spans), sum(span.end - span.start for span in spans) / room)

    return fill_thriftily


def _refine(document: Document, kind: str, spans: Sequence[Span], fill: Fill, wanted: Wanted) -> Sequence[Span]:
    """Return the same with texts inside of JSON cut by what they are."""
    from spillover.kinds.json.near import respell  # most outputs are no JSON
    from spillover.kinds.json.texts import refine

    whole = respell(document) if kind == "repr" else document
    return spans if whole is None else refine(whole, spans, fill, auto, wanted)
