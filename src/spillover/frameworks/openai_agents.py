"""OpenAI Agents SDK: tools that run here, and MCP servers that are called from here."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Self, cast

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.frameworks import clip_parts, clip_value, missing_extra, store_for_program
from spillover.hosts.hook import query_from_arguments
from spillover.results.blocks import is_program
from spillover.results.objects import to_json
from spillover.results.wrap import bound_error
from spillover.settings.settings import Call

try:
    from agents import (
        CustomTool,
        FunctionTool,
        LocalShellTool,
        ShellResult,
        ShellTool,
        Tool,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        function_tool,
    )
    from agents.mcp import MCPServer
    from agents.tool import ValidToolOutputPydanticModelsTypeAdapter as Outputs
    from agents.tool import _FailureHandlingFunctionToolInvoker as Invoker
    from agents.tool_context import ToolContext
    from mcp.types import TextContent
    from pydantic import ValidationError
except ImportError as error:
    raise missing_extra("openai-agents") from error

__all__ = ["bound_server", "bound_tools", "output_tools"]


def bound_tools(tools: Iterable[Tool], clipper: Clipper) -> list[Tool]:
    """Bound the results of tools. Hosted tools, which OpenAI runs itself, are passed on as they are."""
    return [tool if clipper.settings.leaves_alone(tool.name) else _bound_tool(tool, clipper) for tool in tools]


def bound_server(server: MCPServer, clipper: Clipper) -> MCPServer:
    """Bound the results of an MCP server, for `Agent(mcp_servers=[...])`."""
    return cast("MCPServer", _Server(server, clipper))


def output_tools(clipper: Clipper) -> list[Tool]:
    """Return the tools for reading back as tools of the SDK."""
    return [function_tool(tool) for tool in clipper.tools()]


def _bound_tool(tool: Tool, clipper: Clipper) -> Tool:
    """Return a copy of a tool whose results are bounded."""
    call = clipper.call(tool.name)
    if isinstance(tool, FunctionTool):
        if tool.output_json_schema is not None and tool.allowed_callers != ["programmatic"]:
            raise UsageError(
                f"{tool.name} has a JSON schema for its output, which a clip would not match; "
                f'exclude it with a rule: rules={{"{tool.name}": {{"clip": False}}}}.'
            )
        twin = copy.copy(tool)
        twin.on_invoke_tool = _invoker(tool.on_invoke_tool, call)
        return twin
    if isinstance(tool, CustomTool):
        return dataclasses.replace(tool, on_invoke_tool=_invoker(tool.on_invoke_tool, call))
    if isinstance(tool, (ShellTool, LocalShellTool)) and tool.executor is not None:
        return dataclasses.replace(tool, executor=_bound_calls(tool.executor, call, _read_shell_call_id))
    return tool


def _invoker(invoke: Any, call: Call) -> Any:
    if not isinstance(invoke, Invoker):
        return _bound_calls(invoke, call, lambda context, _: context.tool_call_id)
    return _Invoker(invoke, call)


class _Invoker(Invoker):
    """The invoker that `function_tool` makes, with bounded results.

    A subclass, because before it asks for approval the SDK prepares the arguments only for its own invoker. With
    another one, an argument that is converted later ("1000" to 1000) passes a policy that stops the converted value.
    """

    def __init__(self, invoke: Invoker, call: Call) -> None:
        self.__dict__.update(invoke.__dict__)
        self.call = call

    def __agents_bind_function_tool__(self, function_tool: FunctionTool) -> Any:
        bound = super().__agents_bind_function_tool__(function_tool)
        return bound if bound is self else _invoker(bound, self.call)

    async def __call__(self, ctx: ToolContext[Any], input: str) -> Any:  # noqa: A002  its name there
        call = replace(self.call, id=ctx.tool_call_id, query=query_from_arguments(input))
        return await _finish(super().__call__(ctx, input), call, _caller_of(ctx))


def _bound_calls(function: Callable[..., Any], call: Call, call_id: Callable[..., str | None]) -> Callable[..., Any]:
    """Return an async function with bounded results; `call_id` reads the id of a call from its arguments."""

    @functools.wraps(function)
    async def call_tool(*args: Any) -> Any:
        async def work() -> Any:
            result = function(*args)
            return await result if inspect.isawaitable(result) else result

        return await _finish(work(), replace(call, id=call_id(*args), query=_read_query(args)), _caller_of(args[0]))

    return call_tool


def _caller_of(context: Any) -> Any:
    """Return the caller: the model, or a program of its own (`allowed_callers=["programmatic"]`)."""
    call = getattr(context, "tool_call", None) or getattr(getattr(context, "data", None), "raw", None)
    return call.get("caller") if isinstance(call, dict) else getattr(call, "caller", None)


def _read_query(args: tuple[Any, ...]) -> str:
    """Return the query of a call: a custom tool gets its input as text, behind the context."""
    return query_from_arguments(args[1]) if len(args) > 1 and isinstance(args[1], str) else ""


def _read_shell_call_id(request: Any) -> str | None:
    return getattr(request.data, "call_id", None)


async def _finish(work: Awaitable[Any], call: Call, caller: object) -> Any:
    try:
        result = await work
    except Exception as error:  # noqa: BLE001  whatever it is, it goes on
        raise bound_error(error, call)  # noqa: B904  it is the same exception
    if is_program(caller):
        return await asyncio.to_thread(store_for_program, result, call)
    return await asyncio.to_thread(_bound, result, call)


def _bound(output: Any, call: Call) -> Any:
    """Bound an output in its own shape: a text, the SDK's own outputs or a list of them, a shell result, or data."""
    if isinstance(output, ShellResult):
        return _shell_result(output, call)
    is_list = isinstance(output, (list, tuple)) and output and all(_is_output(part) for part in output)
    if not is_list and not _is_output(output):
        return clip_value(output, call, write=_write)
    parts = output if is_list else [output]
    new = [part for _, part in clip_parts(parts, call, get_text=_get_text, with_text=_with_text)]
    if is_list:
        return new
    return new[0] if new else ""


def _write(data: Any) -> str:
    """Write data with lines, and anything else as the SDK does."""
    return (to_json(data) if isinstance(data, (dict, list, tuple)) else None) or str(data)


def _is_output(part: Any) -> bool:
    """Return whether the SDK takes it for a text, an image or a file; it sends anything else as `str(...)`."""
    if isinstance(part, (ToolOutputText, ToolOutputImage, ToolOutputFileContent)):
        return True
    try:
        return isinstance(part, dict) and "type" in part and bool(Outputs.validate_python(part))
    except ValidationError:
        return False


def _get_text(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, dict) else getattr(part, "text", None)
    return text if isinstance(text, str) else None


def _with_text(part: Any, text: str) -> Any:
    return {**part, "text": text} if isinstance(part, dict) else ToolOutputText(text=text)


def _shell_result(result: ShellResult, call: Call) -> ShellResult:
    """Bound both streams of each command in their places, with one budget for all of them."""
    streams = [text for output in result.output for text in (output.stdout, output.stderr)]
    texts = dict(clip_parts(streams, call, get_text=str, with_text=lambda _, text: text))
    output = [
        dataclasses.replace(output, stdout=texts.get(2 * at, ""), stderr=texts.get(2 * at + 1, ""))
        for at, output in enumerate(result.output)
    ]
    return dataclasses.replace(result, output=output)


class _Server:
    """A server in front of a server: everything is that of the one behind, and results fit."""

    def __init__(self, server: Any, clipper: Clipper) -> None:
        self._server = server
        self._clipper = clipper

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    async def __aenter__(self) -> Self:
        await self._server.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.cleanup()

    async def call_tool(self, tool_name: str, *args: Any, **kwargs: Any) -> Any:
        if self._clipper.settings.leaves_alone(tool_name):
            return await self._server.call_tool(tool_name, *args, **kwargs)
        call = self._clipper.call(tool_name, query=query_from_arguments(args[0] if args else kwargs.get("arguments")))
        try:
            result = await self._server.call_tool(tool_name, *args, **kwargs)
        except Exception as error:  # noqa: BLE001
            raise bound_error(error, call)  # noqa: B904
        return await asyncio.to_thread(_mcp_result, result, call, structured=self._server.use_structured_content)


def _mcp_result(result: Any, call: Call, *, structured: bool) -> Any:
    """Bound what the SDK shows: the structured content if the server sends it, else the blocks."""
    is_old = "structuredContent" in type(result).model_fields  # before mcp 2
    name = "structuredContent" if is_old else "structured_content"
    data = getattr(result, name)
    if structured and data and not getattr(result, "isError" if is_old else "is_error"):
        clipped = clip_value(data, call)
        if clipped is data:
            return result
        if not isinstance(clipped, str):  # its secrets are covered
            return result.model_copy(update={name: clipped, "content": []})
        return result.model_copy(update={name: None, "content": [TextContent(type="text", text=clipped)]})

    def get_text(block: Any) -> str | None:
        """Return the text of a block; None for an image. Anything else, sound included, is written as JSON."""
        if block.type == "text":
            return str(block.text)
        return None if block.type == "image" else str(block.model_dump_json())

    def with_text(block: Any, text: str) -> Any:
        return block.model_copy(update={"text": text}) if block.type == "text" else TextContent(type="text", text=text)

    blocks = [block for _, block in clip_parts(result.content, call, get_text=get_text, with_text=with_text)]
    return result.model_copy(update={"content": blocks})
