"""What an output is decides how it is cut: JSON stays JSON, a table keeps its header, and of a log what matters is kept."""

from __future__ import annotations

from importlib import import_module

from spillover.select.kind import guess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.span import Fill, Span
    from spillover.view.document import Document

#: The module whose `select` knows a kind. It gives None where the output is something else after all.
MODULES = {
    "json": "json_tree",
    "ndjson": "ndjson",
    "csv": "table",
    "tsv": "table",
    "diff": "diff",
    "html": "markup",
    "xml": "markup",
    "blob": "blob",
    "log": "signal",
}


def auto(document: Document, fill: Fill, name: str = "") -> tuple[str, Sequence[Span]]:
    """What the output turned out to be, and what is shown of it. `name`: a file, a tool or a command, where known."""
    for kind in guess(document, name):
        spans = import_module(f"spillover.select.{MODULES[kind]}").select(document, fill)
        if spans:
            return kind, spans
    return "log", []
