"""The way back as MCP tools: the functions of `Clipper.tools()` with their schemas, and `run_command` where allowed."""

from __future__ import annotations

import asyncio
import inspect

from spillover.adapters import going_back
from spillover.data import dataclass, replace
from spillover.errors import SpilloverError, UsageError
from spillover.fit import beginning
from spillover.notice import TOOLS, one_line
from spillover.retrieve.specs import about, checked, schema
from spillover.retrieve.tools import ERROR_CHARS, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.notice import Hint

#: What all of them are called, with `spill_` before each where a server has a tool of such a name.
NAMES = going_back.TOOLS
RUN = "run_command"
PREFIX = "spill_"
#: A command that nobody gave a time has this many seconds.
TIMEOUT = 600
#: The part of the limits that is left for the line with the exit code.
EXIT_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool of ours: how it is listed, and what is called."""

    listed: dict[str, Any]
    call: Callable[..., Any]


class Failed(Exception):  # noqa: N818  it carries an answer
    """What is wrong, in words for the model."""


def prefix_among(taken: Iterable[str]) -> str:
    """What stands before our names, so that none of them is taken."""
    names, prefix = set(taken), ""
    while any(prefix + name in names for name in (*NAMES, RUN)):
        prefix += PREFIX
    return prefix


def hint(prefix: str) -> Hint:
    """How a notice names the tools."""
    steps = {name: getattr(TOOLS, name) for name in ("search", "lines", "bytes", "columns", "grep")}
    return replace(TOOLS, **{name: prefix + step for name, step in steps.items()})


def offered(clipper: Clipper, prefix: str = "", *, allow_run: bool = False) -> dict[str, Offered]:
    """The tools by their names."""

    def failed(words: str) -> str:
        raise Failed(words.replace("`spill list`", f"{prefix}list_outputs"))  # whoever has tools may have no shell

    functions: list[Callable[..., Any]] = [*tools(clipper.for_answers(), hint(prefix), failed)]
    if allow_run:
        functions.append(_runner(clipper))
    return {
        prefix + function.__name__: Offered(listing(function, prefix + function.__name__), function)
        for function in functions
    }


def listing(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """A function as tools/list has it."""
    reads = {} if function.__name__ == RUN else {"annotations": {"readOnlyHint": True}}
    return {"name": name, "description": about(function), "inputSchema": schema(function), **reads}


async def called(tool: Offered, arguments: Any, clipper: Clipper) -> dict[str, Any]:
    """The result of a call: text that fits; what is wrong with it, as an error in words."""
    try:
        if not isinstance(arguments, dict | None):
            raise UsageError("the arguments are no object.")
        given = checked(tool.listed["inputSchema"], arguments or {})
        if inspect.iscoroutinefunction(tool.call):
            text = await tool.call(**given)
        else:
            text = await asyncio.to_thread(tool.call, **given)
    except Failed as failed:
        return _result(str(failed), is_error=True)
    except SpilloverError as error:
        said = f"[{one_line(str(error), ERROR_CHARS)}]"
        return _result(beginning(said, clipper.for_answers()), is_error=True)
    return _result(text)


def _result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _runner(clipper: Clipper) -> Callable[..., Any]:
    """Running commands, for hosts without a shell of their own."""
    choices = clipper.for_tool(RUN)
    choices = replace(choices, limits=choices.limits.share(1 - EXIT_SHARE), trigger=None)

    async def run_command(command: str, cwd: str | None = None, timeout: int = TIMEOUT) -> str:  # noqa: ASYNC109
        """Run a shell command. What it prints comes back within limits; all of it is stored.

        Args:
            command: For sh -c.
            cwd: The folder to run it in.
            timeout: Seconds after which it is ended.
        """
        run = await choices.arun(["sh", "-c", command], cwd=cwd, timeout=timeout, tool=RUN)
        ended = f"timed out after {timeout} s" if run.timed_out else f"exit code {run.exit_code}"
        return f"{run.clip.text.rstrip()}\n[{ended}]".lstrip()

    return run_command
