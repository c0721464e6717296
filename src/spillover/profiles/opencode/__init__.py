"""opencode: the first (or last) 2,000 lines / 51,200 bytes, and a hint that depends on the agent's permissions.

Its Read tool is in `spillover.profiles.opencode.read`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any, Literal, TypeVar

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.kinds.exact import first_lines, last_lines
from spillover.notice.form import Form, Told, Words
from spillover.profiles.base import lost_words_without_path, make, mark_edge, mark_gap, store_for
from spillover.result import Clip
from spillover.settings.limits import Limits
from spillover.settings.settings import DEFAULT_TOOL
from spillover.store import Store
from spillover.store.folder import expand
from spillover.store.named import NamedStore
from spillover.store.record import Record
from spillover.types import Keep, Selector

Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = [
    "MAX_BYTES",
    "MAX_LINES",
    "allow_reading",
    "cleanup",
    "clipper",
    "compact",
    "default_folder",
    "evaluate",
    "form",
    "limits",
    "live",
    "may_delegate",
    "output",
    "outputs",
    "result",
    "settle",
    "wrap",
]

#: {"permission": "task", "pattern": "*", "action": "allow" | "ask" | "deny"}, in order.
Rules = Sequence[Mapping[str, str]]

MAX_LINES, MAX_BYTES = 2_000, 50 * 1_024
#: How many characters of an old output stay when a session is compacted.
COMPACTED_CHARS = 2_000
#: How many characters a person sees of a command's output while it runs.
MAX_METADATA_LENGTH = 30_000
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
#: Files with names like these are removed by age. opencode removes every `tool_*`; one with a dot or a space is a person's.
SHAPE = r"tool_[0-9A-Za-z]+"
BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_lock = Lock()
_last_id = 0


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
    lines = clipper.settings.limits.lines if max_lines is None else max_lines
    size = clipper.settings.limits.bytes if max_bytes is None else max_bytes
    keep: Any = direction or clipper.settings.keep
    here = clipper.but(_limits(lines, size), keep=keep)
    return result(here.clip(text))


def settle(given: Mapping[str, Any], clipper: Clipper, *, tool: str | None = None) -> Mapping[str, Any]:
    """Bound and mark the result of a tool, `{title, output, metadata}`; one that bounded itself is left alone."""
    if (
        _bounds_itself(given)
        or not isinstance(given.get("output"), str)
        or clipper.settings.leaves_alone(tool or DEFAULT_TOOL)
    ):
        return given
    facts = result(clipper.clip(given["output"], tool=tool))
    content = facts.pop("content")
    return {**given, "output": content, "metadata": {**(given.get("metadata") or {}), **facts}}


def _bounds_itself(result: Mapping[str, Any]) -> bool:
    """Return whether the tool has bounded its result, or chose not to: `metadata.truncated` is there."""
    metadata = result.get("metadata")
    return isinstance(metadata, Mapping) and metadata.get("truncated") is not None


class _Settled:
    """A bounded result on its way through `Clipper.wrap`, which leaves it alone."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result


def wrap(tool: Function, clipper: Clipper) -> Function:
    """Wrap a tool, sync or async, so that its results are settled; one that returns a text returns a bounded text."""
    name = getattr(tool, "__name__", None)
    if clipper.settings.leaves_alone(name or DEFAULT_TOOL):
        return tool

    def close(given: Any) -> Any:
        if isinstance(given, Mapping) and "output" in given:
            given = settle(given, clipper, tool=name)
            return _Settled(given) if _bounds_itself(given) else given
        return given

    def unpack(given: Any) -> Any:
        return given.result if isinstance(given, _Settled) else given

    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def settle_async(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(close, await tool(*args, **kwargs))

        wrapped_async = clipper.wrap(settle_async, leave=_Settled)

        @functools.wraps(tool)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            return unpack(await wrapped_async(*args, **kwargs))

        return call_async  # type: ignore[return-value]

    @functools.wraps(tool)
    def settle_sync(*args: Any, **kwargs: Any) -> Any:
        return close(tool(*args, **kwargs))

    wrapped_sync = clipper.wrap(settle_sync, leave=_Settled)

    @functools.wraps(tool)
    def call_sync(*args: Any, **kwargs: Any) -> Any:
        return unpack(wrapped_sync(*args, **kwargs))

    return call_sync  # type: ignore[return-value]


def live(text: str) -> str:
    """Return what a person sees of a command's output while it runs: its first 30,000 characters, and dots if there are more."""
    return text if len(text) <= MAX_METADATA_LENGTH else text[:MAX_METADATA_LENGTH] + "\n\n..."


def compact(text: str, most: int = COMPACTED_CHARS, *, path: str | None = None) -> str:
    """Shorten an old output as a compacted session does; with `path`, the place of the whole stays in it."""
    if len(text) <= most:
        return text
    kept = f"{text[:most]}\n[Tool output truncated for compaction: omitted {len(text) - most} chars]"
    return f"{kept}\n[Full output saved to: {path}]" if path and path not in text[:most] else kept


def evaluate(permission: str, pattern: str, rules: Rules) -> str:
    """Return "allow", "ask" or "deny" by the last rule that matches; "ask" where none does."""
    for rule in reversed(rules):
        if _matches(permission, rule.get("permission", "*")) and _matches(pattern, rule.get("pattern", "*")):
            return rule.get("action", "ask")
    return "ask"


def may_delegate(rules: Rules | None) -> bool:
    """Return whether an agent with these rules may use the tool `task`; None is no agent, which may not."""
    return rules is not None and evaluate("task", "*", rules) != "deny"


def allow_reading(rules: Rules, folder: str) -> Rules:
    """Return the rules with permission to read the folder of outputs; only a rule that denies exactly this folder is stronger.

    Without it a hint could name a file that the agent may not open.
    """
    here = {"permission": "external_directory", "pattern": f"{folder}/*"}
    exact = [rule for rule in rules if {**rule, **here} == dict(rule)]
    if exact and exact[-1].get("action") == "deny":
        return rules
    return [*rules, {**here, "action": "allow"}]


def _matches(text: str, wildcard: str) -> bool:
    """Match `*` with anything, `?` with one character, and everything else literally."""
    return fnmatchcase(text, wildcard.replace("[", "[[]"))


def cleanup(folder: str | None = None) -> int:
    """Remove the outputs that are older than seven days, and return how many; a new output does it once per process."""
    store = NamedStore(folder or default_folder(), names=_name, shape=SHAPE, age_seconds=RETENTION_SECONDS)
    try:
        return store.sweep_names()
    except OSError:  # no folder yet, or none that can be listed
        return 0


def default_folders() -> list[str]:
    return [default_folder()]


def default_folder() -> str:
    """Return where it keeps outputs: in the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else expand("~/.local/share", os.environ), "opencode", "tool-output"
    )


def _limits(lines: int | None, size: int | None) -> Limits:
    for name, value in (("max_lines", lines), ("max_bytes", size)):
        if isinstance(value, int) and value < 1:
            raise UsageError(f"{name}={value} would show nothing of an output; use 1 or more.")
    return Limits(lines=lines, bytes=size)


def _count_removed(told: Told) -> tuple[str, int]:
    """Return the unit of the limit that was hit, and how many of it are not shown."""
    most = told.limits.lines
    if told.one_end:  # as the document counts: what stands between newlines, an empty line behind the last included
        part = told.parts[0]
        kept = part.count("\n") + (told.keep == "tail" or told.behind.at_line_end or not part.endswith("\n"))
        removed = told.newlines - part.count("\n")
    else:
        kept, removed = told.shown.lines, told.hidden.lines
    if told.whole_lines and most is not None and kept >= most and removed:
        return "lines", removed
    return "bytes", told.hidden.bytes


def _name(record: Record) -> str:
    return _make_id(record.created or time.time(), record.sha256)


def _make_id(seconds: float, sha256: str) -> str:
    """Return `tool_`, the time in twelve hexadecimal digits, and fourteen characters of the hash; later names sort later.

    The end is of the hash so that no output can hold its own name. The time has six bytes, so it starts again every 795
    days: age is read from the file, never from the name.
    """
    global _last_id  # noqa: PLW0603  names have to ascend
    with _lock:
        _last_id = max(_last_id + 1, int(seconds * 1_000) * 4_096)
        moment = _last_id
    number, end = int(sha256, 16), ""
    for _ in range(14):
        number, digit = divmod(number, len(BASE_62))
        end += BASE_62[digit]
    return f"tool_{moment & 0xFFFFFFFFFFFF:012x}{end}"
