"""LangChain and LangGraph: middleware around tool calls."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.frameworks import clip_parts, clip_value, missing_extra, store_for_program
from spillover.hosts.hook import query_from_arguments
from spillover.notice.hints import TOOLS
from spillover.results.blocks import TEXT_TYPES, is_program
from spillover.results.objects import to_json
from spillover.results.wrap import bound_error
from spillover.settings.settings import Call

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command
except ImportError as error:
    raise missing_extra("langchain") from error

__all__ = ["SpilloverMiddleware", "output_tools"]

#: Blocks that hold text elsewhere than in "text": models get the JSON of them, or the text inside.
JSON_TYPES = frozenset({"json", "search_result", "custom_tool_call_output", "text-plain"})


class SpilloverMiddleware(AgentMiddleware[Any, Any, Any]):
    """What tools return, or raise, fits. With `hints="tools"` it brings the tools along that the notice speaks of.

    For `create_agent(middleware=[...])`. A `ToolNode` of your own takes its two methods, by their names, as arguments.
    """

    def __init__(self, clipper: Clipper) -> None:
        super().__init__()
        self.clipper = clipper
        self.tools = output_tools(clipper) if TOOLS in clipper.settings.hints else []

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Call the tool, and bound what comes of it."""
        call = self._make_call(request)
        if call is None:
            return handler(request)
        try:
            result = handler(request)
        except GraphBubbleUp:  # an interrupt is no error
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise bound_error(error, call)  # noqa: B904  it is the same exception
        return self._finish(request, result, call)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Call the tool from async code, and bound the result."""
        call = self._make_call(request)
        if call is None:
            return await handler(request)
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001  as above
            raise bound_error(error, call)  # noqa: B904  as above
        return await asyncio.to_thread(self._finish, request, result, call)

    def _finish(self, request: ToolCallRequest, result: Any, call: Call) -> Any:
        return store_for_program(result, call) if is_program(_caller_of(request)) else _bound(result, call)

    def _make_call(self, request: ToolCallRequest) -> Call | None:
        """Return the call for this tool; None if a rule leaves it alone, or if it is one of our own tools."""
        name = request.tool_call["name"]
        is_ours = any(request.tool is tool for tool in self.tools)
        if is_ours or self.clipper.settings.leaves_alone(name):
            return None
        query = query_from_arguments(request.tool_call.get("args"))
        return self.clipper.call(name, call_id=request.tool_call["id"], query=query)


def _caller_of(request: ToolCallRequest) -> Any:
    """Return the caller from the model's last message: the block of the call has it, or its extras."""
    messages = getattr(request, "state", None)
    if isinstance(messages, Mapping):
        messages = messages.get("messages")
    if not isinstance(messages, (list, tuple)):
        return None
    content = next((message.content for message in reversed(messages) if isinstance(message, AIMessage)), ())
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("id") == request.tool_call["id"]:
            return block.get("caller") or (block.get("extras") or {}).get("caller")
    return None


def _bound(result: Any, call: Call) -> Any:
    """Bound the messages of this call, alone, in a Command or in a list; the same object if nothing changes."""
    if isinstance(result, ToolMessage):
        return _bound_message(result, call)
    if isinstance(result, Command):
        update: Any = result.update
        if isinstance(update, dict):
            new: Any = {key: _bound_update(value, call) for key, value in update.items()}
        else:
            new = _bound_update(update, call)
        return dataclasses.replace(result, update=new)
    return [_bound(part, call) for part in result] if isinstance(result, list) else result


def _bound_update(update: Any, call: Call) -> Any:
    """Bound the messages of this call in an update; messages of other calls, as after a handoff, stay."""
    if isinstance(update, ToolMessage):
        return _bound_message(update, call) if update.tool_call_id == call.id else update
    return type(update)(_bound_update(part, call) for part in update) if type(update) in (list, tuple) else update


def _bound_message(message: ToolMessage, call: Call) -> ToolMessage:
    """Bound the content of a message; its ids, name, artifact, status and the rest stay."""
    content: Any = message.content
    call = replace(call, id=message.tool_call_id)
    if isinstance(content, str):
        new: Any = clip_value(content, call)
    else:
        new = [part for _, part in clip_parts(content, call, get_text=_get_text, with_text=_with_text)]
    return message if new == content else message.model_copy(update={"content": new})


def _get_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    if part.get("type") in TEXT_TYPES and isinstance(part.get("text"), str):
        return str(part["text"])
    source = part.get("source")
    in_words = (
        part.get("type") == "document" and isinstance(source, Mapping) and source.get("type") in ("text", "content")
    )
    return to_json(part) if in_words or part.get("type") in JSON_TYPES else None


def _with_text(part: Any, text: str) -> Any:
    if isinstance(part, str):
        return text
    return {**part, "text": text} if part.get("type") in TEXT_TYPES else {"type": "text", "text": text}


def output_tools(clipper: Clipper) -> list[BaseTool]:
    """Return the tools for reading back as LangChain tools, for an agent without the middleware."""
    return [StructuredTool.from_function(tool, parse_docstring=True) for tool in clipper.tools()]
