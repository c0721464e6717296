"""Names for annotations, and the types that selectors, stores and wordings use."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Sequence
from os import PathLike
from typing import IO, Literal

from spillover.document.document import Document
from spillover.kinds.selection import Hidden, Span
from spillover.notice.wording import Wording
from spillover.source.blob import Blob
from spillover.store import BaseStore, Store, Writer
from spillover.store.record import Record

__all__ = [
    "AsyncSource",
    "BaseStore",
    "Blob",
    "Chunk",
    "Document",
    "Fill",
    "Hidden",
    "HintName",
    "Keep",
    "Outcome",
    "Record",
    "Redact",
    "Selector",
    "Source",
    "Span",
    "SpecStyle",
    "Store",
    "Wording",
    "Writer",
]

#: What happened to an output: it fitted; it was cut and stored; it was cut and could not be stored.
Outcome = Literal["whole", "stored", "lost"]
#: Which part survives a cut, as a word.
Keep = Literal["auto", "signal", "head", "ends", "tail"]
#: Where secrets are covered: nowhere, in what a model reads, or in what is stored as well.
Redact = Literal["off", "shown", "stored"]
#: The API that `tool_specs` writes schemas for: OpenAI chat completions, OpenAI responses, or Anthropic.
SpecStyle = Literal["openai", "openai-responses", "anthropic"]
#: The name of a hint. For hints that contain tool names, use `file_tools("Read", "Grep")` and `sub_agent("Task")`.
HintName = Literal["cli", "tools", "path", "files", "agent", "none"]
#: A piece of an output.
Chunk = str | bytes | bytearray | memoryview
#: What can be clipped: text, bytes, a path, a file, or an iterable of pieces.
Source = Chunk | PathLike[str] | IO[str] | IO[bytes] | Iterable[Chunk]
#: A Source, or an async iterable of pieces.
AsyncSource = Source | AsyncIterable[Chunk]
#: Measures how full the limits are with these spans, the notice and the gap markers around them; above 1 is too much.
Fill = Callable[[Sequence[Span]], float]
#: Your own `keep`: a function from an output and a measure of what fits to the spans to show.
Selector = Callable[[Document, Fill], Sequence[Span]]
