"""opencode: the first (or last) 2,000 lines / 51,200 bytes, and a hint that depends on the agent's permissions.

`read` is its Read tool: numbered lines of a file, a page at a time; bounded, so never clipped again.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any, BinaryIO, Literal, TypeVar

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.kinds.ends import first_lines, last_lines
from spillover.notice.form import CutFacts, Form, Words
from spillover.profiles import has_whole_file, lost_words_without_path, make, mark_edge, mark_gap, open_outputs
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
    "read",
    "result",
    "settle",
    "wrap",
]

#: {"permission": "task", "pattern": "*", "action": "allow" | "ask" | "deny"}, in order.
Rules = Sequence[Mapping[str, str]]

MAX_LINES = 2_000
MAX_BYTES = 50 * 1_024
#: Characters of an old output that stay when a session is compacted.
COMPACTED_CHARS = 2_000
#: Characters of a command's output that a person sees while it runs.
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
#: Files of these names are removed by age. opencode removes every `tool_*`; one with a dot or a space is a person's.
FILE_SHAPE = r"tool_[0-9A-Za-z]+"
BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#: The limits of its Read tool: lines of a page, characters of a line, lines of the preview.
DEFAULT_READ_LIMIT = 2_000
MAX_LINE_LENGTH = 2_000
PREVIEW_LINES = 20
#: Bytes at the start of a file that are searched for a NUL byte.
SAMPLE_BYTES = 4_096
#: Bytes of a line that are decoded: enough for one character more than is shown.
LINE_BYTES = 4 * (MAX_LINE_LENGTH + 1)
#: Bytes that are read at once where lines are only counted; more costs memory.
CHUNK_BYTES = 1 << 18
_lock = Lock()
_last_id = 0


def clipper(
    *,
    permission: Rules | None = None,
    config: Mapping[str, Any] | None = None,
    keep: Keep | Selector = "head",
    folder: str | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    **options: Any,
) -> Clipper:
    """Make a Clipper that truncates as opencode does. `permission`: the agent's rules; None is no agent.

    `keep="tail"` is its other direction. `config` is its own file, of which `tool_output` is read:
    {"max_lines": …, "max_bytes": …}.
    """
    defaults = {"limits": limits(config), "keep": keep, "wording": form(permission), "store": outputs(folder, store)}
    return make(defaults, options)


def limits(
    config: Mapping[str, Any] | None = None, *, max_lines: int | None = None, max_bytes: int | None = None
) -> Limits:
    """Return the limits of the call, or else of `tool_output` in the config, or else 2,000 lines and 51,200 bytes."""
    configured = (config or {}).get("tool_output", {})
    if not isinstance(configured, dict) or not set(configured) <= {"max_lines", "max_bytes"}:
        raise UsageError(f"tool_output={configured!r} cannot be used; it may set max_lines and max_bytes.")
    lines = max_lines if max_lines is not None else configured.get("max_lines", MAX_LINES)
    size = max_bytes if max_bytes is not None else configured.get("max_bytes", MAX_BYTES)
    return _make_limits(lines, size)


def outputs(folder: str | None = None, store: Store | str | os.PathLike[str] | None = None) -> Store:
    """Return the store of its outputs: `tool_…` files in its folder, for seven days by the age of the file."""
    return open_outputs(
        store,
        folder=folder or default_folder(),
        names=_name,
        shape=FILE_SHAPE,
        age_seconds=RETENTION_SECONDS,
    )


def form(permission: Rules | None = None) -> Form:
    """Return its two messages, with the hint for an agent of these permissions."""
    step = DELEGATE if may_delegate(permission) else INSPECT

    def words(cut: CutFacts) -> Words:
        unit, count = _count_removed(cut)
        place = SAVED.format(place=cut.place) if has_whole_file(cut) else LOST.format(lost=lost_words_without_path(cut))
        hint = f"{place}\n{step}" if cut.place else place
        message = f"...{count} {unit} truncated..."
        if cut.keep == "tail":
            return f"{message}\n\n{hint}\n\n", mark_gap, ""
        newline = "\n" if cut.one_end or not cut.parts or not cut.parts[-1].endswith("\n") else ""
        return mark_edge(cut), mark_gap, f"{newline}\n{message}\n\n{hint}"

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
    return result(clipper.but(_make_limits(lines, size), keep=keep).clip(text))


def settle(tool_result: Mapping[str, Any], clipper: Clipper, *, tool: str | None = None) -> Mapping[str, Any]:
    """Bound and mark the result of a tool, `{title, output, metadata}`; one that bounded itself is left alone."""
    text = tool_result.get("output")
    if _bounds_itself(tool_result) or not isinstance(text, str) or clipper.settings.leaves_alone(tool or DEFAULT_TOOL):
        return tool_result
    facts = result(clipper.clip(text, tool=tool))
    content = facts.pop("content")
    return {**tool_result, "output": content, "metadata": {**(tool_result.get("metadata") or {}), **facts}}


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

    def pack(value: Any) -> Any:
        if isinstance(value, Mapping) and "output" in value:
            value = settle(value, clipper, tool=name)
            return _Settled(value) if _bounds_itself(value) else value
        return value

    def unpack(value: Any) -> Any:
        return value.result if isinstance(value, _Settled) else value

    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def settle_async(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(pack, await tool(*args, **kwargs))

        wrapped_async = clipper.wrap(settle_async, leave=_Settled)

        @functools.wraps(tool)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            return unpack(await wrapped_async(*args, **kwargs))

        return call_async  # type: ignore[return-value]

    @functools.wraps(tool)
    def settle_sync(*args: Any, **kwargs: Any) -> Any:
        return pack(tool(*args, **kwargs))

    wrapped_sync = clipper.wrap(settle_sync, leave=_Settled)

    @functools.wraps(tool)
    def call_sync(*args: Any, **kwargs: Any) -> Any:
        return unpack(wrapped_sync(*args, **kwargs))

    return call_sync  # type: ignore[return-value]


def read(
    path: str | os.PathLike[str], offset: int = 0, limit: int = DEFAULT_READ_LIMIT, *, root: str = ""
) -> dict[str, Any]:
    """Read up to `limit` lines of a file, starting at `offset`, which counts from 0; `{title, output, metadata}`.

    Lines are numbered from 1. A line of more than 2,000 characters ends in "...". A page has at most 50 KB.
    """
    for name, value, least in (("offset", offset, 0), ("limit", limit, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"{name} must be greater than or equal to {least}")
    full_path = os.path.abspath(os.path.join(root, path))
    with _open(full_path) as file:
        lines, count, capped = _read_page(file, offset, min(limit, DEFAULT_READ_LIMIT))
    if count <= offset and offset > 0:
        raise UsageError(f"Offset {offset} is out of range for this file ({count} lines)")
    end = offset + len(lines)
    if capped:
        footer = f"(Output capped at 50 KB. Showing lines {offset + 1}-{end}. Use offset={end} to continue.)"
    elif end < count:
        footer = f"(Showing lines {offset + 1}-{end} of {count}. Use offset={end} to continue.)"
    else:
        footer = f"(End of file - total {count} lines)"
    content = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, offset + 1))
    return {
        "title": os.path.relpath(full_path, root or None),
        "output": f"<path>{full_path}</path>\n<type>file</type>\n<content>\n{content}\n\n{footer}\n</content>",
        "metadata": {"preview": "\n".join(lines[:PREVIEW_LINES]), "truncated": capped or end < count},
    }


def _read_page(file: BinaryIO, offset: int, limit: int) -> tuple[list[str], int, bool]:
    """Return the lines of a page, how many lines the file has, and whether the page ended because of its bytes.

    Where it did, the file is not read further, and the count is that of the lines until there.
    """
    lines: list[str] = []
    count = 0
    room = MAX_BYTES
    for line in _read_lines(file):
        count += 1
        if count > offset + limit:
            return lines, count + _count_lines(file), False
        if count <= offset:
            continue
        text = line.decode("utf-8", "replace")
        if len(text) > MAX_LINE_LENGTH:
            text = text[:MAX_LINE_LENGTH] + "..."
        room -= len(text.encode()) + (1 if lines else 0)
        if room < 0:
            return lines, count, True
        lines.append(text)
    return lines, count, False


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the first LINE_BYTES of each line, without its newline; a carriage return before that stays."""
    while line := file.readline(LINE_BYTES):
        yield line.removesuffix(b"\n")
        while line and not line.endswith(b"\n"):
            line = file.readline(CHUNK_BYTES)


def _count_lines(file: BinaryIO) -> int:
    count = 0
    last = b"\n"
    while chunk := file.read(CHUNK_BYTES):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    """Open a text file. A pipe or a device is refused: it might never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UsageError(f"File not found: {path}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UsageError(f"Path is not a file: {path}")
    with open(fd, "rb") as file:
        if b"\0" in file.read(SAMPLE_BYTES):
            raise UsageError(f"Cannot read binary file: {path}")
        file.seek(0)
        yield file


def live(text: str) -> str:
    """Return the part of a command's output that a person sees while it runs: its first 30,000 characters."""
    return text if len(text) <= MAX_METADATA_LENGTH else text[:MAX_METADATA_LENGTH] + "\n\n..."


def compact(text: str, max_chars: int = COMPACTED_CHARS, *, path: str | None = None) -> str:
    """Shorten an old output as a compacted session does; with `path`, the place of the whole stays in it."""
    if len(text) <= max_chars:
        return text
    compacted = f"{text[:max_chars]}\n[Tool output truncated for compaction: omitted {len(text) - max_chars} chars]"
    return f"{compacted}\n[Full output saved to: {path}]" if path and path not in text[:max_chars] else compacted


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
    """Return the rules with permission to read the folder of outputs, unless one denies exactly this folder.

    Without it a hint could name a file that the agent may not open.
    """
    for_folder = {"permission": "external_directory", "pattern": f"{folder}/*"}
    exact = [rule for rule in rules if {**rule, **for_folder} == dict(rule)]
    if exact and exact[-1].get("action") == "deny":
        return rules
    return [*rules, {**for_folder, "action": "allow"}]


def _matches(text: str, wildcard: str) -> bool:
    """Match `*` with anything, `?` with one character, and everything else literally."""
    return fnmatchcase(text, wildcard.replace("[", "[[]"))


def cleanup(folder: str | None = None) -> int:
    """Remove the outputs that are older than seven days, and return how many; a new output does it once per process."""
    store = NamedStore(folder or default_folder(), names=_name, shape=FILE_SHAPE, age_seconds=RETENTION_SECONDS)
    try:
        return store.sweep_names()
    except OSError:  # no folder yet, or none that can be listed
        return 0


def default_folders() -> list[str]:
    return [default_folder()]


def default_folder() -> str:
    """Return the folder of its outputs, in the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else expand("~/.local/share", os.environ), "opencode", "tool-output"
    )


def _make_limits(lines: int | None, size: int | None) -> Limits:
    for name, value in (("max_lines", lines), ("max_bytes", size)):
        if isinstance(value, int) and value < 1:
            raise UsageError(f"{name}={value} would show nothing of an output; use 1 or more.")
    return Limits(lines=lines, bytes=size)


def _count_removed(cut: CutFacts) -> tuple[str, int]:
    """Return the unit of the limit that was hit, and how many of it are not shown."""
    if cut.one_end:  # as the document counts: what stands between newlines, an empty line behind the last included
        part = cut.parts[0]
        shown_lines = part.count("\n") + (cut.keep == "tail" or cut.behind.at_line_end or not part.endswith("\n"))
        hidden_lines = cut.newlines - part.count("\n")
    else:
        shown_lines = cut.shown.lines
        hidden_lines = cut.hidden.lines
    limit = cut.limits.lines
    if cut.whole_lines and limit is not None and shown_lines >= limit and hidden_lines:
        return "lines", hidden_lines
    return "bytes", cut.hidden.bytes


def _name(record: Record) -> str:
    return _make_id(record.created or time.time(), record.sha256)


def _make_id(seconds: float, sha256: str) -> str:
    """Return `tool_`, the time in twelve hexadecimal digits, and fourteen characters of the hash, in ascending order.

    The end is of the hash so that no output can hold its own name. The time has six bytes, so it starts again every 795
    days: age is read from the file, never from the name.
    """
    global _last_id  # noqa: PLW0603  names have to ascend
    with _lock:
        _last_id = max(_last_id + 1, int(seconds * 1_000) * 4_096)
        moment = _last_id
    number = int(sha256, 16)
    end = ""
    for _ in range(14):
        number, digit = divmod(number, len(BASE_62))
        end += BASE_62[digit]
    return f"tool_{moment & 0xFFFFFFFFFFFF:012x}{end}"
