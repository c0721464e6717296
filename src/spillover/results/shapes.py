"""Where blocks and messages hold their text: tables, by provider. Media, ids and what we do not know are left alone."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from spillover.results.shape import fields_of, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Path: TypeAlias = tuple[str, ...]

#: Block types whose "text" is text: MCP and Anthropic and OpenAI chat; OpenAI responses.
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
#: Where other blocks have their text, or blocks with text.
TEXT_PATHS: dict[str, tuple[Path, ...]] = {
    # MCP
    "resource": (("resource", "text"),),
    # Anthropic
    "tool_result": (("content",),),
    "search_result": (("content",),),
    "mcp_tool_result": (("content",),),
    "bash_code_execution_tool_result": (("content",),),
    "bash_code_execution_result": (("stdout",), ("stderr",)),
    "code_execution_tool_result": (("content",),),
    "code_execution_result": (("stdout",), ("stderr",)),
    "text_editor_code_execution_tool_result": (("content",),),
    "text_editor_code_execution_view_result": (("content",),),
    "web_fetch_tool_result": (("content",),),
    "web_fetch_result": (("content",),),
    # OpenAI responses
    "function_call_output": (("output",),),
    "custom_tool_call_output": (("output",),),
    "local_shell_call_output": (("output",),),
    "shell_call_output": (("output",),),
    "apply_patch_call_output": (("output",),),
    "mcp_call": (("output",), ("error",)),
    "code_interpreter_call": (("outputs",),),
    "logs": (("logs",),),
    "file_search_call": (("results",),),
    "program_output": (("result",),),
}
#: The same for blocks without a "type", the first that is there: Gemini and Bedrock, as both write them; OpenAI's shell.
UNTYPED_PATHS: tuple[tuple[Path, ...], ...] = (
    (("text",),),
    (("toolResult", "content"),),
    (("stdout",), ("stderr",)),
    (("content",),),  # a whole result of MCP
)
#: Where data of any form may stand, and what a text that stands for it is called there.
DATA_PATHS: tuple[tuple[Path, Path], ...] = (
    (("functionResponse", "response"), ("functionResponse", "response", "output")),
    (("function_response", "response"), ("function_response", "response", "output")),
    (("json",), ("text",)),  # Bedrock
    (("structuredContent",), ("content",)),  # MCP
    (("structured_content",), ("content",)),
)
#: What Gemini's functions call their text.
ANSWERS = ("output", "result", "error")
#: What is not longer than this, beside text or media, is not looked at, and is no media.
SHORT_CHARS = 200


class Place(Struct, frozen=True):
    """Where in a block something stands that a model reads: a text, blocks, or data."""

    path: tuple[str, ...]
    inner: Any
    #: Of data: where a text stands that takes its place.
    instead: tuple[str, ...] = ()

    @property
    def adds(self) -> bool:
        """Whether that is one more block."""
        return self.instead == ("content",) != self.path


def places_of(block: Any) -> list[Place]:
    """Return the places of a block or a message that hold its text, in order; nothing for media.

    An object of an SDK has the same as fields.
    """
    found = [_place(path, get(block, path)) for path in _paths_of(block)]
    return [*filter(None, found), *_data_of(block)]


def _place(path: Path, inner: Any) -> Place | None:
    """Return where a text, blocks or one block stands, or data in their place; None where there is nothing to read."""
    if isinstance(inner, (str, list, tuple)) or isinstance(fields_in(inner).get("type"), str):
        return Place(path, inner)
    return Place(path, inner, path) if isinstance(inner, Mapping) else None


def fields_in(block: Any) -> Mapping[str, Any]:
    return block if isinstance(block, Mapping) else fields_of(block) or {}


def get(block: Any, path: Sequence[str]) -> Any:
    """Return what stands at the end of a path into a block; None where it leads nowhere."""
    for key in path:
        block = fields_in(block).get(key)
    return block if path else None


def is_text(block: Any) -> bool:
    """Return whether a block is nothing but text. A result or a message answers a call, and has to stay."""
    kinds = (*TEXT_TYPES, "resource", "document", "search_result")
    return isinstance(block, str) or fields_in(block).get("type") in kinds or _paths_of(block) == (("text",),)


def _paths_of(block: Any) -> tuple[Path, ...]:
    fields = fields_in(block)
    kind = fields.get("type")
    if kind is None or kind == "message":
        if isinstance(fields.get("role"), str):
            return (("content",),) if "content" in fields else (("parts",),)
        return next((paths for paths in UNTYPED_PATHS if any(map(_holds(block), paths))), ())
    if not isinstance(kind, str):
        return ()
    if kind == "document":  # of Anthropic: plain text, or blocks; a PDF is media
        form = get(block, ("source", "type"))
        return (("source", "data"),) if form == "text" else (("source", "content"),) if form == "content" else ()
    if kind in TEXT_TYPES:
        return (("text",),)
    if kind in TEXT_PATHS:
        return TEXT_PATHS[kind]
    # The type of a message may say whose it is: LangChain's are "human", "ai" and "tool".
    is_message = not isinstance(block, Mapping) or "role" in fields or "tool_call_id" in fields
    return (("content",),) if is_message else ()


def _holds(block: Any) -> Any:
    return lambda path: isinstance(get(block, path), (str, list, tuple))


def _data_of(block: Any) -> list[Place]:
    """Return the data in a block without a type. Where a text is in it and little else, that is the place."""
    if fields_in(block).get("type") is not None:
        return []
    found = [Place(path, get(block, path), instead) for path, instead in DATA_PATHS]
    held = [place for place in found if isinstance(place.inner, (Mapping, list, tuple, str))]
    return [one for place in held for one in (_texts_in(place) or [place])]


def _texts_in(place: Place) -> list[Place]:
    names = [name for name in ANSWERS if isinstance(get(place.inner, (name,)), (str, list))]
    if place.instead[:-1] != place.path or not names:
        return []
    rest = write({name: value for name, value in place.inner.items() if name not in names})
    if rest is None or len(rest) > SHORT_CHARS:
        return []
    return [Place((*place.path, name), place.inner[name]) for name in names]
