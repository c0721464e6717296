"""Pydantic AI: a toolset around another one, MCP toolsets included."""

from __future__ import annotations

import asyncio
import dataclasses
from dataclasses import dataclass
from typing import Any

from spillover.api import Clipper
from spillover.frameworks import clip_parts, clip_value, missing_extra
from spillover.hosts.hook import query_from_arguments
from spillover.result import Clip
from spillover.results.objects import to_json
from spillover.results.wrap import bound_error
from spillover.settings.settings import Call

try:
    from pydantic import ValidationError
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry
    from pydantic_ai.messages import (
        CachePoint,
        TextContent,
        ToolReturn,
        is_multi_modal_content,
        tool_return_ta,
    )
    from pydantic_ai.tools import AgentDepsT, RunContext
    from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset
    from pydantic_core import PydanticSerializationError
except ImportError as error:
    raise missing_extra("pydantic-ai") from error

__all__ = ["SpilloverToolset", "output_tools"]


@dataclass
class SpilloverToolset(WrapperToolset[AgentDepsT]):
    """The same tools; what they return, or raise, fits: `Agent(toolsets=[SpilloverToolset(toolset, clipper)])`."""

    clipper: Clipper

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Call the tool, and bound what comes of it."""
        if self.clipper.settings.leaves_alone(name):
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        call = self.clipper.call(name, call_id=ctx.tool_call_id, query=query_from_arguments(tool_args))
        try:
            result = await self.wrapped.call_tool(name, tool_args, ctx, tool)
        except (CallDeferred, ApprovalRequired):  # no errors, but a call that goes on elsewhere
            raise
        except ValidationError as error:  # the model gets all errors, to correct its call
            message = clip_value([error], call, write=_list_errors)
            if isinstance(message, str):
                raise ModelRetry(message) from error
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise bound_error(error, call)  # noqa: B904  it is the same exception
        return await asyncio.to_thread(_bound, result, call)


def output_tools(clipper: Clipper) -> AbstractToolset[Any]:
    """Return the tools for reading back as one more toolset."""
    return FunctionToolset(clipper.tools())


def _bound(result: Any, call: Call) -> Any:
    if isinstance(result, ToolReturn):
        return _bound_return(result, call)
    if not _has_media(result):
        return clip_value(result, call, write=_write)
    return [part for _, part in clip_parts(result, call, get_text=_get_text, with_text=_with_text)]


def _bound_return(result: ToolReturn[Any], call: Call) -> ToolReturn[Any]:
    """Bound the value and the content beside it, which both reach the model, within one budget; the rest stays."""
    value: Any = result.return_value
    is_list = _has_media(value)
    values = list(value) if is_list else [value]
    content: Any = result.content
    is_one = content is None or isinstance(content, str)
    contents = [part for part in [content] if part is not None] if is_one else list(content)
    parts = clip_parts([*values, *contents], call, get_text=_get_text, with_text=_with_text)
    new_values: Any = [part for at, part in parts if at < len(values)]
    new_contents: Any = [part for at, part in parts if at >= len(values)]
    return dataclasses.replace(
        result,
        return_value=new_values if is_list else next(iter(new_values), ""),
        content=next(iter(new_contents), None) if is_one else new_contents,
    )


def _has_media(value: Any) -> bool:
    """Return whether it is a list that the host takes apart; any other list is data."""
    return isinstance(value, list) and any(is_multi_modal_content(part) for part in value)


def _get_text(part: Any) -> str | None:
    if isinstance(part, TextContent):
        return str(part.content)
    if part is None or isinstance(part, (bool, int, float, CachePoint)) or is_multi_modal_content(part):
        return None
    return _write(part.text if isinstance(part, Clip) else part)


def _with_text(part: Any, text: str) -> Any:
    # One with a structured value would still show the value to a model that takes it.
    return TextContent(text, metadata=part.metadata) if isinstance(part, TextContent) else text


def _list_errors(errors: list[ValidationError]) -> str:
    return errors[0].json(indent=1, include_url=False, include_context=False)


def _write(value: Any) -> str | None:
    """Write data as the host would, with lines, so that parts of it can be named; None for media."""
    if is_multi_modal_content(value):
        return None
    try:
        data = tool_return_ta.dump_python(value, mode="json", by_alias=True)
    except PydanticSerializationError:  # the host will say so
        return None
    return data if isinstance(data, str) else to_json(data)
