"""opencode: the first (or last) 2,000 lines / 51,200 bytes, and a hint that depends on the agent's permissions."""

from __future__ import annotations

import os
import time

from spillover.base.data import replace
from spillover.errors import UsageError
from spillover.limits import Limits
from spillover.notice.form import Form, Told
from spillover.profiles.base import lost_words_without_path, make, mark_edge, mark_gap, store_for
from spillover.profiles.opencode.ids import SHAPE, ascending
from spillover.profiles.opencode.permission import Rules, may_delegate
from spillover.select.exact import first_lines, last_lines
from spillover.wrap.bound import bounds_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal, TypeVar

    from spillover.clipper import Clipper
    from spillover.notice.form import Words
    from spillover.result import Clip
    from spillover.store.base import Record, Store
    from spillover.types import Keep, Selector

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["clipper", "compact", "default_folder", "form", "limits", "output", "outputs", "result", "settle", "wrap"]

MAX_LINES, MAX_BYTES = 2_000, 50 * 1_024
#: How many characters of an old output stay when a session is compacted.
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
    keep: Keep | Selector = "head",
    folder: str | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    **given: Any,
) -> Clipper:
    """Make a Clipper that truncates as opencode does. `permission`: the agent's rules; None is no agent.

    `keep="tail"` is its other direction. Of `config`, its own file, `tool_output` is read: {"max_lines": …, "max_bytes": …}.
    """
    defaults = {"limits": limits(config), "keep": keep, "wording": form(permission), "store": outputs(folder, store)}
    return make(defaults, given)


def limits(
    config: Mapping[str, Any] | None = None, *, max_lines: int | None = None, max_bytes: int | None = None
) -> Limits:
    """Return what the call says, or else `tool_output` in the config, or else 2,000 lines and 51,200 bytes."""
    said = (config or {}).get("tool_output", {})
    if not isinstance(said, dict) or not set(said) <= {"max_lines", "max_bytes"}:
        raise UsageError(f"tool_output={said!r} cannot be used; it may set max_lines and max_bytes.")
    lines = max_lines if max_lines is not None else said.get("max_lines", MAX_LINES)
    size = max_bytes if max_bytes is not None else said.get("max_bytes", MAX_BYTES)
    return _limits(lines, size)


def outputs(folder: str | None = None, store: Store | str | os.PathLike[str] | None = None) -> Store:
    """Return the store of its outputs: `tool_…` files in its folder, for seven days by the age of the file."""
    return store_for(
        store,
        folder=folder or default_folder(),
        names=_name,
        shape=SHAPE,
        age_seconds=RETENTION_SECONDS,
        profile="opencode",
    )


def form(permission: Rules | None = None) -> Form:
    """Return its two messages, with the hint for an agent of these permissions."""
    step = DELEGATE if may_delegate(permission) else INSPECT

    def words(told: Told) -> Words:
        unit, removed = _count_removed(told)
        whole = told.place is not None and told.stored is None
        saved = SAVED.format(place=told.place) if whole else LOST.format(lost=lost_words_without_path(told))
        hint = f"{saved}\n{step}" if told.place else saved
        message = f"...{removed} {unit} truncated..."
        if told.keep == "tail":
            return f"{message}\n\n{hint}\n\n", mark_gap, ""
        newline = "\n" if told.one_end or not told.parts or not told.parts[-1].endswith("\n") else ""
        return mark_edge(told), mark_gap, f"{newline}\n{message}\n\n{hint}"

    return Form(words, {"head": first_lines, "tail": last_lines})


def result(clip: Clip) -> dict[str, object]:
    """Return a clip in the shape of its tools: `{content, truncated, outputPath}`, the last where there is a file."""
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
    direction: Literal["head", "tail"] | None = None,
) -> dict[str, object]:
    """Bound a text, in that shape. What the call says is stronger than what the Clipper says."""
    lines = clipper.limits.lines if max_lines is None else max_lines
    size = clipper.limits.bytes if max_bytes is None else max_bytes
    keep: Any = direction or clipper.keep
    here = replace(clipper, limits=_limits(lines, size), keep=keep)
    return result(here.clip(text))


def settle(given: Mapping[str, Any], clipper: Clipper, *, tool: str | None = None) -> Mapping[str, Any]:
    """Bound and mark the result of a tool, `{title, output, metadata}`; one that bounded itself is left alone."""
    if bounds_itself(given) or not isinstance(given.get("output"), str) or clipper.leaves_alone(tool):
        return given
    told = result(clipper.clip(given["output"], tool=tool))
    content = told.pop("content")
    return {**given, "output": content, "metadata": {**(given.get("metadata") or {}), **told}}


def wrap(tool: Function, clipper: Clipper) -> Function:
    """Wrap a tool, sync or async, so that its results are settled; one that returns a text returns a bounded text."""
    import functools  # only wrapping needs these
    import inspect
    from collections.abc import Mapping

    name = getattr(tool, "__name__", None)

    def bound(given: Any) -> Any:
        return settle(given, clipper, tool=name) if isinstance(given, Mapping) and "output" in given else given

    @functools.wraps(tool)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        import asyncio

        return await asyncio.to_thread(bound, await tool(*args, **kwargs))

    @functools.wraps(tool)
    def call_sync(*args: Any, **kwargs: Any) -> Any:
        return bound(tool(*args, **kwargs))

    return clipper.wrap(call_async if inspect.iscoroutinefunction(tool) else call_sync)  # type: ignore[return-value]


def compact(text: str, most: int = COMPACTED_CHARS, *, path: str | None = None) -> str:
    """Shorten an old output as a compacted session does; with `path`, the place of the whole stays in it."""
    if len(text) <= most:
        return text
    kept = f"{text[:most]}\n[Tool output truncated for compaction: omitted {len(text) - most} chars]"
    return f"{kept}\n[Full output saved to: {path}]" if path and path not in text[:most] else kept


def default_folder() -> str:
    """Return where it keeps outputs: in the user's data folder."""
    from spillover.config.place import data_folder

    return os.path.join(data_folder("opencode"), "tool-output")


def _limits(lines: int | None, size: int | None) -> Limits:
    for name, value in (("max_lines", lines), ("max_bytes", size)):
        if isinstance(value, int) and value < 1:
            raise UsageError(f"{name}={value} would show nothing of an output; use 1 or more.")
    return Limits(lines=lines, bytes=size)


def _count_removed(told: Told) -> tuple[str, int]:
    """Return the unit of the limit that was hit, and how many of it are not shown."""
    most = told.limits.lines
    if told.one_end:  # as the document counts: what stands between newlines, an empty line behind the last included
        kept = told.parts[0].count("\n") + 1
        removed = told.newlines + 1 - kept
    else:
        kept, removed = told.shown.lines, told.hidden.lines
    if told.whole_lines and most is not None and kept >= most and removed:
        return "lines", removed
    return "bytes", told.hidden.bytes


def _name(record: Record) -> str:
    return ascending(record.created or time.time(), record.sha256)
