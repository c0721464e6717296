"""Claude Code's PostToolUse hook: what a tool returned goes in, the same with text that fits comes out.

Every shape here is the tool's own: Claude Code drops a replacement of any other, without a word.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from spillover.api import Clipper
from spillover.hosts import ASIDE_CHARS, CLAUDE_CODE
from spillover.hosts.hook_plain import Plain
from spillover.hosts.hooked import COMMAND_CHARS, HookCall, bound_result, open_file, words_of

_log = logging.getLogger(__name__)

AnyCall = HookCall | Plain

EVENT = "PostToolUse"
#: What the model has here to go back with.
HINTS = ("cli", "files:Read,Grep")
#: A result with more characters than this is replaced by a path and its first 2 KB, after the hook (seen in 2.1.325).
SHOWN_CHARS = {"Bash": CLAUDE_CODE.shown["chars"] + ASIDE_CHARS, "Grep": 20_000}
SHOWN_CHARS_OF_OTHERS = 50_000
SHOWN_TOKENS_OF_MCP = 25_000
#: How a result of an MCP server begins that was too large (25,000 tokens) and is in a file now.
SAVED = re.compile(r"Output has been saved to (/[^\n]*?\.(?:txt|json))(?=[\s.,;]|$)")
SAVED_CHARS = 2_000
#: Where Bash names the file with all it printed, of which `stdout` then has only the start.
WHOLE_AT, WHOLE_SIZE = "persistedOutputPath", "persistedOutputSize"


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the hook answers; None where nothing changes. `clipper` is asked only where there is something to clip."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT:
        return None
    name = words_of(event, "tool_name") or ""
    take = _either if name.startswith("mcp__") else TAKERS.get(name)
    if take is None:
        _log.info("The hook left the result of %s alone: it does not know this tool.", name)
        return None
    response, arguments = event.get("tool_response"), event.get("tool_input")
    chars = SHOWN_CHARS.get(name, SHOWN_CHARS_OF_OTHERS)
    changed = bound_result(
        lambda call: take(response, call),
        clipper,
        name,
        host=CLAUDE_CODE.name,
        at_most={"chars": chars - ASIDE_CHARS},
        shown={"chars": chars, "tokens": SHOWN_TOKENS_OF_MCP} if name.startswith("mcp__") else {"chars": chars},
        arguments=arguments,
        command=words_of(arguments, "command", COMMAND_CHARS),
        call_id=words_of(event, "tool_use_id"),
        cwd=words_of(event, "cwd"),
        whole=response,
    )
    if changed is None:
        return None
    return {"hookSpecificOutput": {"hookEventName": EVENT, "updatedToolOutput": changed}}


def _saved(text: str, call: AnyCall) -> str | None:
    """Return what Claude Code has saved to a file instead of showing it, clipped from there; None where that cannot be done."""
    found = SAVED.search(text[:SAVED_CHARS])
    # The words may be anybody's: only a file that Claude Code keeps results in is read.
    file = open_file(found[1]) if found and _is_of_claude_code(found[1]) else None
    if file is None:
        return None
    with file:
        texts, outcome = call.clipped(output=file)
    return texts["output"] if outcome == "stored" else None


def _is_of_claude_code(path: str) -> bool:
    import os

    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    real = os.path.realpath(path)
    return real.startswith(os.path.join(os.path.realpath(home), "")) and f"{os.sep}tool-results{os.sep}" in real


def _streams(response: Any, call: AnyCall) -> Any:
    """Return both streams, each in its own place. What is shown as a picture, or as blocks, is left alone."""
    if not isinstance(response, dict) or response.get("isImage") or response.get("structuredContent"):
        return None
    stdout, stderr = response.get("stdout"), response.get("stderr")
    if not isinstance(stdout, str) or not isinstance(stderr, str):
        return None
    if response.get(WHOLE_AT) is not None:
        return _clip_file(response, stdout, stderr, call)
    texts = call.streams(stdout=stdout, stderr=stderr)
    return None if texts is None else {**response, **texts}


def _clip_file(response: dict[str, Any], stdout: str, stderr: str, call: AnyCall) -> Any:
    """Clip everything a command printed, from the file it is in; leave the response alone if that fails."""
    file = open_file(response[WHOLE_AT], response.get(WHOLE_SIZE, -1))
    if file is not None:
        with file:
            texts, outcome = call.clipped(stdout=file, stderr=stderr)
        if outcome == "stored":
            # With the path still in it, Claude Code would show the path and 2 KB of our text.
            return {key: value for key, value in response.items() if key not in (WHOLE_AT, WHOLE_SIZE)} | texts
    marked = {"stdout": call.marked(stdout), "stderr": call.marked(stderr)}
    return None if marked == {"stdout": stdout, "stderr": stderr} else {**response, **marked}


def _either(value: Any, call: AnyCall) -> Any:
    """Return a text or a list of blocks. An object, which is what MCP itself has, Claude Code would take for an error."""
    if isinstance(value, str):
        return _saved(value, call) or call.text(value)
    if not isinstance(value, list):
        return None
    if len(value) == 1 and isinstance(value[0], dict) and isinstance(value[0].get("text"), str):
        whole = _saved(value[0]["text"], call)
        if whole is not None:
            return [{**value[0], "text": whole}]
    return call.blocks(value)


def _under(*keys: str) -> Callable[[Any, AnyCall], Any]:
    """Return the same, further in."""

    def take(response: Any, call: AnyCall) -> Any:
        key, *further = keys
        if not isinstance(response, dict) or key not in response:
            return None
        changed = (_under(*further) if further else _either)(response[key], call)
        return None if changed is None else {**response, key: changed}

    return take


def _clip_found(response: Any, call: AnyCall) -> Any:
    """Return what Grep and Glob found: lines, or the names of files."""
    names = response.get("filenames") if isinstance(response, dict) else None
    if not isinstance(names, list) or response.get("content"):
        return _under("content")(response, call)
    if not all(isinstance(name, str) for name in names):
        return None
    text = call.text("\n".join(names))
    return None if text is None else {**response, "filenames": text.splitlines()}


def _resources(response: Any, call: AnyCall) -> Any:
    """Return what a resource of an MCP server holds."""
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
    "Grep": _clip_found,
    "Glob": _clip_found,
    "WebFetch": _under("result"),
    "WebSearch": _under("results"),
    "Agent": _under("content"),
    "Task": _under("content"),
    "TaskOutput": _under("task", "output"),
    "ReadMcpResourceTool": _resources,
}
#: The same as Claude Code wants it in its settings, so that the hook is not even started for other tools.
MATCHER = "|".join((*TAKERS, "mcp__.*"))
