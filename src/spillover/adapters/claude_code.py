"""Claude Code's PostToolUse hook: what a tool returned goes in, the same with text that fits comes out.

Every shape here is the tool's own: Claude Code drops a replacement of any other, without a word.
"""

from __future__ import annotations

import os

from spillover.adapters.going_back import is_command, is_stored, is_tool
from spillover.data import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from spillover.choices import Choices
    from spillover.clipper import Clipper

EVENT = "PostToolUse"
#: What the model has here to go back with.
HINTS = ("cli", "files:Read,Grep")
#: A result with more characters than this is replaced by a path and its first 2 KB, after the hook (seen in 2.1.325).
SHOWN_CHARS = {"Bash": 30_000, "Grep": 20_000}
SHOWN_CHARS_OF_OTHERS = 50_000
#: Room for what Claude Code itself writes below a result.
ASIDE_CHARS = 500
#: A record keeps no more of a command line.
COMMAND_CHARS = 1_000
#: Where Bash names the file with all it printed, of which `stdout` then has only the start.
WHOLE_AT, WHOLE_SIZE = "persistedOutputPath", "persistedOutputSize"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: how to clip its result, and what is known of it."""

    choices: Choices
    call_id: str | None
    command: str | None

    def fits(self, text: str) -> bool:
        """Whether a text can stay as it is; most do, and nothing that cuts is loaded for them."""
        choices = self.choices
        bounds = (choices.limits,) if choices.trigger is None else (choices.trigger, choices.limits)
        return any(each.hold(text, choices.count, byte_bound=choices.byte_bound) for each in bounds)

    def text(self, text: str) -> str | None:
        """The text within the limits; None where it was already."""
        if self.fits(text):
            return None
        from spillover import pipeline

        clip = pipeline.clip(text, self.choices, call_id=self.call_id, command=self.command)
        return None if clip.outcome == "whole" else clip.text

    def blocks(self, blocks: list[Any]) -> list[Any] | None:
        from spillover.blocks import clip_blocks

        clipped = clip_blocks(blocks, self.choices, call_id=self.call_id)
        return None if clipped.clip.outcome == "whole" else list(clipped)

    def streams(self, **streams: Any) -> tuple[dict[str, str], str]:
        """What is shown of each stream, and the outcome."""
        from spillover.blocks import clip_streams_apart

        texts, clip = clip_streams_apart(streams, self.choices, call_id=self.call_id, command=self.command)
        return texts, clip.outcome


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """What the hook answers; None where nothing changes. `clipper` is asked only where there is something to clip."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT:
        return None
    name, given = _text(event, "tool_name") or "", event.get("tool_input")
    take = _either if name.startswith("mcp__") else TAKERS.get(name)
    if take is None:
        return None
    given = given if isinstance(given, dict) else {}
    if is_tool(name) or is_command(given.get("command")):
        return None
    made = clipper()
    if made.leaves_alone(name) or is_stored(given.get("path"), getattr(made.store, "root", None)):
        return None
    command = _text(given, "command")
    call = Call(_choices(made, name), _text(event, "tool_use_id"), command and command[:COMMAND_CHARS])
    changed = take(event.get("tool_response"), call)
    if changed is None:
        return None
    return {"hookSpecificOutput": {"hookEventName": EVENT, "updatedToolOutput": changed}}


def _choices(made: Clipper, name: str) -> Choices:
    """The choices for a tool, within what Claude Code passes on as it is."""
    choices: Choices = made.for_tool(name)
    most = SHOWN_CHARS.get(name, SHOWN_CHARS_OF_OTHERS) - ASIDE_CHARS
    said = [bounds.chars for bounds in (choices.limits, choices.trigger) if bounds is not None and bounds.chars]
    return replace(choices, limits=replace(choices.limits, chars=min([most, *said])))


def _text(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) else None


def _streams(response: Any, call: Call) -> Any:
    """Both streams, each in its own place. What is shown as a picture, or as blocks, is left alone."""
    if not isinstance(response, dict) or response.get("isImage") or response.get("structuredContent"):
        return None
    stdout, stderr = response.get("stdout"), response.get("stderr")
    if not isinstance(stdout, str) or not isinstance(stderr, str):
        return None
    if response.get(WHOLE_AT) is not None:
        return _persisted(response, stderr, call)
    if call.fits("\n".join(filter(None, (stdout, stderr)))):
        return None
    texts, outcome = call.streams(stdout=stdout, stderr=stderr)
    return None if outcome == "whole" else {**response, **texts}


def _persisted(response: dict[str, Any], stderr: str, call: Call) -> Any:
    """All that a command printed, from the file it is in; where we cannot do better than that file, it stays."""
    path, size = response[WHOLE_AT], response.get(WHOLE_SIZE)
    if not isinstance(path, str) or not os.path.isfile(path) or os.path.getsize(path) != size:
        return None
    with open(path, "rb") as file:
        texts, outcome = call.streams(stdout=file, stderr=stderr)
    if outcome != "stored":
        return None
    # With the path still in it, Claude Code would show the path and 2 KB of our text.
    return {key: value for key, value in response.items() if key not in (WHOLE_AT, WHOLE_SIZE)} | texts


def _either(value: Any, call: Call) -> Any:
    """A text or a list of blocks. An object, which is what MCP itself has, Claude Code would take for an error."""
    if isinstance(value, str):
        return call.text(value)
    return call.blocks(value) if isinstance(value, list) else None


def _under(*keys: str) -> Callable[[Any, Call], Any]:
    """The same, further in."""

    def take(response: Any, call: Call) -> Any:
        key, *further = keys
        if not isinstance(response, dict) or key not in response:
            return None
        changed = (_under(*further) if further else _either)(response[key], call)
        return None if changed is None else {**response, key: changed}

    return take


def _found(response: Any, call: Call) -> Any:
    """What Grep and Glob found: lines, or the names of files."""
    names = response.get("filenames") if isinstance(response, dict) else None
    if not isinstance(names, list) or response.get("content"):
        return _under("content")(response, call)
    if not all(isinstance(name, str) for name in names):
        return None
    text = call.text("\n".join(names))
    return None if text is None else {**response, "filenames": text.splitlines()}


def _resources(response: Any, call: Call) -> Any:
    """What a resource of an MCP server holds."""
    contents = response.get("contents") if isinstance(response, dict) else None
    if not isinstance(contents, list):
        return None
    changed = call.blocks([{"type": "resource", "resource": content} for content in contents])
    return None if changed is None else {**response, "contents": [block["resource"] for block in changed]}


#: How text is taken out of a tool's result and put back. Read is not among them: it numbers its lines after the hook,
#: bounds itself, and is how the model goes back.
TAKERS = {
    "Bash": _streams,
    "PowerShell": _streams,
    "Grep": _found,
    "Glob": _found,
    "WebFetch": _under("result"),
    "WebSearch": _under("results"),
    "Agent": _under("content"),
    "Task": _under("content"),
    "TaskOutput": _under("task", "output"),
    "ReadMcpResourceTool": _resources,
}
#: The same as Claude Code wants it in its settings, so that the hook is not even started for other tools.
MATCHER = "|".join((*TAKERS, "mcp__.*"))
