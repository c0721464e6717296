"""opencode: the first (or last) 2,000 lines / 51,200 bytes, and a hint by what the agent may do."""

from __future__ import annotations

import os
import time

from spillover.data import replace
from spillover.errors import UsageError
from spillover.form import Form, Told, lost_words
from spillover.limits import Limits
from spillover.profiles.base import made, store_for
from spillover.profiles.opencode_ids import SHAPE, ascending
from spillover.profiles.opencode_permission import Rules, may_delegate
from spillover.select.exact import first_lines, last_lines
from spillover.wrap import bounds_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from spillover.clipper import Clipper
    from spillover.result import Clip
    from spillover.store.base import Record, Store

    Function = TypeVar("Function", bound=Callable[..., Any])

MAX_LINES, MAX_BYTES = 2_000, 50 * 1_024
#: Of an old output, so many characters stay when a session is compacted.
COMPACTED_CHARS = 2_000
#: The same as settings, for `profile = "opencode"`.
SETTINGS = {"lines": MAX_LINES, "bytes": MAX_BYTES, "keep": "head"}
RETENTION_SECONDS = 7 * 24 * 60 * 60
SAVED = "The tool call succeeded but the output was truncated. Full output saved to: {place}"
LOST = "The tool call succeeded but the output was truncated. {lost}"
DELEGATE = (
    "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). "
    "Do NOT read the full file yourself - delegate to save context."
)
INSPECT = "Use Grep to search the full content or Read with offset/limit to view specific sections."


def clipper(
    *,
    permission: Rules | None = None,
    config: Mapping[str, Any] | None = None,
    keep: str = "head",
    folder: str | None = None,
    store: Store | None = None,
    **given: Any,
) -> Clipper:
    """Its truncation. `permission`: the agent's rules; None is no agent. `keep="tail"` is its other direction.

    `config` is what its own file says, of which `tool_output` is read: {"max_lines": …, "max_bytes": …}.
    """
    defaults = {"limits": limits(config), "keep": keep, "wording": form(permission), "store": outputs(folder, store)}
    return made(defaults, given)


def limits(
    config: Mapping[str, Any] | None = None, *, max_lines: int | None = None, max_bytes: int | None = None
) -> Limits:
    """2,000 lines and 51,200 bytes; what `tool_output` says in the config instead; what the call says instead of that."""
    said = (config or {}).get("tool_output", {})
    if not isinstance(said, dict) or not set(said) <= {"max_lines", "max_bytes"}:
        raise UsageError(f"tool_output={said!r} is none of opencode's; it may set max_lines and max_bytes.")
    lines = max_lines if max_lines is not None else said.get("max_lines", MAX_LINES)
    size = max_bytes if max_bytes is not None else said.get("max_bytes", MAX_BYTES)
    return Limits(lines=lines, bytes=size)


def outputs(folder: str | None = None, store: Store | None = None) -> Store:
    """Where it keeps outputs: `tool_…` files in its folder, for seven days by the age of the file."""
    return store_for(
        store,
        folder=folder or default_folder(),
        names=_name,
        shape=SHAPE,
        age_seconds=RETENTION_SECONDS,
        profile="opencode",
    )


def form(permission: Rules | None = None) -> Form:
    """Its two messages, with the hint for an agent of these permissions."""
    step = DELEGATE if may_delegate(permission) else INSPECT

    def words(told: Told) -> tuple[str, str, str]:
        unit, removed = _removed(told)
        saved = (
            SAVED.format(place=told.place) if told.place and told.stored is None else LOST.format(lost=lost_words(told))
        )
        hint = f"{saved}\n{step}" if told.place else saved
        message = f"...{removed} {unit} truncated..."
        if told.keep == "tail":
            return f"{message}\n\n{hint}\n\n", "\n...\n", ""
        return "", "\n...\n", f"\n\n{message}\n\n{hint}"

    return Form(words, {"head": first_lines, "tail": last_lines})


def result(clip: Clip) -> dict[str, object]:
    """The shape its tools give back."""
    if clip.outcome == "whole":
        return {"content": clip.text, "truncated": False}
    path = {"outputPath": clip.path} if clip.path else {}
    return {"content": clip.text, "truncated": True, **path}


def output(
    text: str,
    clipper: Clipper,
    *,
    max_lines: int | None = None,
    max_bytes: int | None = None,
    direction: str | None = None,
) -> dict[str, object]:
    """A text bounded, in that shape. What the call says is stronger than what the Clipper says."""
    lines = clipper.limits.lines if max_lines is None else max_lines
    size = clipper.limits.bytes if max_bytes is None else max_bytes
    here = replace(clipper, limits=Limits(lines=lines, bytes=size), keep=direction or clipper.keep)
    return result(here.clip(text))


def settle(given: Mapping[str, Any], clipper: Clipper, *, tool: str | None = None) -> Mapping[str, Any]:
    """What a tool gives back, `{title, output, metadata}`, bounded and marked; left alone if it bounded itself."""
    if bounds_itself(given) or not isinstance(given.get("output"), str) or clipper.leaves_alone(tool):
        return given
    told = result(clipper.clip(given["output"], tool=tool))
    content = told.pop("content")
    return {**given, "output": content, "metadata": {**(given.get("metadata") or {}), **told}}


def wrap(tool: Function, clipper: Clipper) -> Function:
    """A tool of its shape, sync or async, whose results are settled. One that gives a text gives a bounded text."""
    import functools  # only those who wrap pay for these
    import inspect
    from collections.abc import Mapping

    name = getattr(tool, "__name__", None)

    def settled(given: Any) -> Any:
        return settle(given, clipper, tool=name) if isinstance(given, Mapping) and "output" in given else given

    @functools.wraps(tool)
    async def settled_async(*args: Any, **kwargs: Any) -> Any:
        import asyncio

        return await asyncio.to_thread(settled, await tool(*args, **kwargs))

    @functools.wraps(tool)
    def settled_sync(*args: Any, **kwargs: Any) -> Any:
        return settled(tool(*args, **kwargs))

    return clipper.wrap(settled_async if inspect.iscoroutinefunction(tool) else settled_sync)  # type: ignore[return-value]


def compacted(text: str, most: int = COMPACTED_CHARS, *, path: str | None = None) -> str:
    """An old output as it stays in a compacted session; with `path`, where the whole is stays too."""
    if len(text) <= most:
        return text
    kept = f"{text[:most]}\n[Tool output truncated for compaction: omitted {len(text) - most} chars]"
    return f"{kept}\n[Full output saved to: {path}]" if path and path not in text[:most] else kept


def default_folder() -> str:
    """Where it keeps outputs: in the user's data folder."""
    from spillover.config.place import data_folder

    return os.path.join(data_folder("opencode"), "tool-output")


def _removed(told: Told) -> tuple[str, int]:
    """By the limit that was hit: how many lines, or bytes, are not shown."""
    kept = sum(part.count("\n") + 1 for part in told.parts)
    if told.whole_lines and told.limits.lines is not None and kept >= told.limits.lines:
        return "lines", told.newlines + 1 - kept
    return "bytes", told.total.bytes - told.shown.bytes


def _name(record: Record) -> str:
    return ascending(record.created or time.time(), record.sha256)
