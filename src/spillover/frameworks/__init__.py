"""What the adapters share: results in the classes of a framework, and the error for a missing package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spillover import pipeline
from spillover.document.document import cover_text
from spillover.errors import MissingExtraError
from spillover.result import Clip
from spillover.results.blocks import clip_blocks
from spillover.results.objects import to_json
from spillover.results.wrap import bound, cover_secrets
from spillover.settings.settings import Call

#: The extra, which is named like the adapter → the package, and the oldest version that the tests pass with.
OLDEST_VERSIONS = {
    "langchain": ("langchain", "1.2"),
    "openai-agents": ("openai-agents", "0.23"),
    "pydantic-ai": ("pydantic-ai-slim", "2.62"),
}


def clip_parts(
    parts: Sequence[Any],
    call: Call,
    *,
    get_text: Callable[[Any], str | None],
    with_text: Callable[[Any, str], Any],
) -> list[tuple[int, Any]]:
    """Clip the texts of parts within one budget, and return each part with its place; one without text left is dropped.

    A part without text (`get_text` gives None), and one whose text stays as it is, is the very same object.
    """
    texts = [get_text(part) for part in parts]
    blocks = [
        {"type": "other", "at": at} if text is None else {"type": "text", "text": text, "at": at}
        for at, text in enumerate(texts)
    ]
    clipped: list[tuple[int, Any]] = []
    for block in clip_blocks(blocks, call):
        at = block["at"]
        text = block.get("text")
        part = cover_secrets(parts[at], call)  # there may be a secret beside the text
        clipped.append((at, part if text == texts[at] else with_text(part, text)))
    return clipped


def clip_value(value: Any, call: Call, *, write: Callable[[Any], str | None] = to_json) -> Any:
    """Clip a text, or data as the framework would `write` it; data that fits stays as it is."""
    if isinstance(value, Clip):
        return cover_text(call.settings, value.text)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return pipeline.clip(value, call).text
    text = write(value)
    if text is None:
        return value
    clip = pipeline.clip(text, call)
    return cover_secrets(value, call) if clip.outcome == "whole" else clip.text


def store_for_program(result: Any, call: Call) -> Any:
    """Return a result that a program reads as it is; it is stored where it overflows."""
    return bound(result, call, caller="program")[0]


def missing_extra(extra: str) -> MissingExtraError:
    """Return the error for a framework that is not installed, or too old."""
    package, oldest = OLDEST_VERSIONS[extra]
    return MissingExtraError(f"this adapter needs {package} {oldest} or newer: pip install 'spillover[{extra}]'")
