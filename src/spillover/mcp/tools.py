"""The tools that a client is offered: those of the server behind us, and `read_output`, `grep_output`, … of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from spillover.api import Clipper
from spillover.errors import SpilloverError, UsageError
from spillover.events import record_retrieval
from spillover.kinds.fit import trim
from spillover.mcp.result import NAME_CHARS
from spillover.notice.hints import TOOLS, Hint
from spillover.notice.wording import one_line
from spillover.retrieve.tools import ERROR_CHARS, about, check_arguments, operation_of, schema, tools
from spillover.settings.limits import SMALLEST, Limits
from spillover.settings.settings import Call

#: What all of them are called, with `spill_` before each where a server has a tool of such a name.
NAMES = ("read_output", "grep_output", "outline_output", "list_outputs")
PREFIX = "spill_"
#: The most characters of an answer, whatever the limits are: a host that bounds MCP results itself, as Claude Code with
#: our hook does at 49,500, leaves it alone.
ANSWER_CHARS = 48_000


#: So many tools and methods are remembered with their call; a server can make up any number of names.
REMEMBERED = 2_000
#: How Claude Code lets a server say how much of a tool's result may stand in the conversation.
MAX_CHARS = "anthropic/maxResultSizeChars"


class Offered(Struct, frozen=True):
    """A tool of ours: how it is listed, and what is called."""

    listed: dict[str, Any]
    call: Callable[..., Any]


class Failed(Exception):  # noqa: N818  it carries an answer
    """What is wrong, in words for the model."""


def bounded_by(call: Call, chars: Any) -> Call:
    """Return the call with the size a tool declares for itself as an upper bound."""
    if not isinstance(chars, int) or isinstance(chars, bool) or chars < 1:
        return call
    most = max(chars, SMALLEST["chars"])

    def lower(limits: Limits) -> Limits:
        return limits if limits.chars is not None and limits.chars <= most else replace(limits, chars=most)

    return replace(call, limits=lower(call.limits), trigger=call.trigger and lower(call.trigger))


def prefix_among(taken: Iterable[str]) -> str:
    """Return what stands before our names, so that none of them is taken."""
    names, prefix = set(taken), ""
    while any(prefix + name in names for name in NAMES):
        prefix += PREFIX
    return prefix


def hint(prefix: str) -> Hint:
    """Return how a notice names the tools."""
    steps = {name: getattr(TOOLS, name) for name in ("search", "lines", "bytes", "columns", "grep", "outline")}
    return replace(TOOLS, **{name: prefix + step for name, step in steps.items()})


def offered(clipper: Clipper, prefix: str = "") -> dict[str, Offered]:
    """Return the tools by their names."""

    def failed(words: str) -> str:
        raise Failed(words)

    functions = tools(bounded_by(clipper.call().for_retrieval(), ANSWER_CHARS), hint(prefix), failed)
    return {
        prefix + function.__name__: Offered(listing(function, prefix + function.__name__), function)
        for function in functions
    }


def listing(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return a function as tools/list has it."""
    return {
        "name": name,
        "description": about(function),
        "inputSchema": schema(function),
        "annotations": {"readOnlyHint": True},
    }


async def called(tool: Offered, arguments: Any, clipper: Clipper) -> dict[str, Any]:
    """Return the result of a call: text that fits; what is wrong with it, as an error in words."""
    try:
        if not isinstance(arguments, dict | None):
            raise UsageError('the arguments are not an object; send one such as {"ref": "last"}.')
        given = check_arguments(tool.listed["inputSchema"], arguments or {}, tool.listed["name"])
        text = await asyncio.to_thread(tool.call, **given)
    except Failed as failed:
        return _result(str(failed), is_error=True)
    except SpilloverError as error:
        said = trim(f"[{one_line(str(error), ERROR_CHARS)}]", clipper.call().for_retrieval())
        record_retrieval(clipper.call(), operation_of(tool.listed["name"]), said)
        return _result(said, is_error=True)
    return _result(text)


def _result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


class Tool(Struct, frozen=True):
    """How the results of a tool, or of a method, are clipped."""

    call: Call
    left_alone: bool


class Catalog:
    """The tools of the server and our own; `page` is the answer to tools/list, None while it is not known."""

    def __init__(self, clipper: Clipper, *, offer: bool = True) -> None:
        self.clipper, self.offer = clipper, offer
        self.page: dict[str, Any] | None = None
        self.theirs: dict[str, dict[str, Any]] = {}
        self.ours: dict[str, Offered] = {}
        self._tools: dict[str, Tool] = {}

    def read(self, page: dict[str, Any], *, modern: bool = False) -> dict[str, Any]:
        """Return the server's list, in its order, with ours at the end; an empty page if there is no such list."""
        # No host would take a longer name.
        self.theirs = {
            str(tool.get("name")): tool
            for tool in page.get("tools", ())
            if isinstance(tool, dict) and len(str(tool.get("name"))) <= NAME_CHARS
        }
        prefix = prefix_among(self.theirs)
        self.ours = offered(self.clipper, prefix) if self.offer else {}
        self._tools = {}
        self._hint = hint(prefix)
        if modern and not page:
            page = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        listed = [self._listing(name) for name in self.theirs]
        self.page = {**page, "tools": [*listed, *(tool.listed for tool in self.ours.values())]}
        return self.page

    def _listing(self, name: str) -> dict[str, Any]:
        """Return a tool as its server has it, without its schema for data: data that does not fit becomes text."""
        listed = self.theirs[name]
        if self.clipper.settings.leaves_alone(name):
            return listed
        return {key: value for key, value in listed.items() if key != "outputSchema"}

    def tool(self, name: str) -> Tool:
        """Return how the results of a tool, or of a method, are clipped."""
        if name not in self._tools:
            if len(self._tools) >= REMEMBERED:
                self._tools.clear()
            call = self.clipper.call(name)
            if self.page is not None and TOOLS in call.settings.hints:
                call = call.with_settings(hints=[self._hint if each == TOOLS else each for each in call.settings.hints])
            meta = self.theirs.get(name, {}).get("_meta")
            bounded = bounded_by(call, meta.get(MAX_CHARS) if isinstance(meta, dict) else None)
            self._tools[name] = Tool(bounded, self.clipper.settings.leaves_alone(name))
        return self._tools[name]
