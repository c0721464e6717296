"""The public types that are words or shapes rather than classes: what a checker holds a call against."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Sequence
from os import PathLike
from typing import IO, Literal

from spillover.select.span import Span
from spillover.view.document import Document

#: What became of an output: it fitted; it was cut and kept; it was cut and could not be kept.
Outcome = Literal["whole", "stored", "lost"]
#: Which part survives a cut, as a word.
Keep = Literal["auto", "signal", "head", "ends", "tail"]
#: Where the notice stands: inside the limits, or on top of them (for the forms of profiles).
NoticePlace = Literal["inside", "outside"]
#: Whether secrets are covered: not at all, in what a model reads, or in what is stored as well.
Redact = Literal["off", "shown", "stored"]
#: How `tool_specs` lists tools: for OpenAI's chat completions, for its responses, or for Anthropic.
SpecStyle = Literal["openai", "openai-responses", "anthropic"]
#: A hint by its name. Those with names of tools in them are `file_tools("Read", "Grep")` and `sub_agent("Task")`.
HintName = Literal["cli", "tools", "path", "files", "agent", "none"]
#: A piece of an output.
Chunk = str | bytes | bytearray | memoryview
#: What can be clipped: text, bytes, a path, a file, or an iterable of pieces.
Source = Chunk | PathLike[str] | IO[str] | IO[bytes] | Iterable[Chunk]
#: The same, or an async iterable of pieces.
AsyncSource = Source | AsyncIterable[Chunk]
#: How full the limits are with these spans, the notice and the gap markers around them; above 1 they do not fit.
Fill = Callable[[Sequence[Span]], float]
#: A `keep` of your own: an output and the measure of what fits in, spans out.
Selector = Callable[[Document, Fill], Sequence[Span]]
