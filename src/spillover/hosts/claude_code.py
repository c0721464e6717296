"""Claude Code: its PostToolUse hook replaces a result by one in the tool's own shape.

It drops a replacement of any other shape without a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from spillover.hosts.edits import Edit
from spillover.hosts.host import (
    CLIPPED,
    COMMAND_CHARS,
    LONG_TEXT,
    Bounder,
    Event,
    Hook,
    Host,
    Place,
    ToolCall,
    get_text,
    open_file,
)
from spillover.hosts.install import hook_entry, instructions
from spillover.settings.limits import Limits

NAME = "claude-code"
EVENT = "PostToolUse"
#: Room for what Claude Code itself writes below a result.
ASIDE_CHARS = 500
#: A result with more characters is replaced by a path and its first 2 KB, after the hook (seen in 2.1.325).
BASH_CHARS = 30_000
SHOWN_CHARS = {"Bash": BASH_CHARS, "Grep": 20_000}
SHOWN_CHARS_OF_OTHERS = 50_000
SHOWN_TOKENS_OF_MCP = 25_000
#: In place of a result of an MCP server that was too large (25,000 tokens).
SAVED = re.compile(r"Output has been saved to (/[^\n]*?\.(?:txt|json))(?=[\s.,;]|$)")
SAVED_CHARS = 2_000
#: The file with all that Bash printed, of which `stdout` then has only the start.
FULL_OUTPUT_PATH = "persistedOutputPath"
FULL_OUTPUT_SIZE = "persistedOutputSize"


def read(event: Event) -> ToolCall | None:
    """Take the result of a tool that we know out of an event."""
    name = get_text(event, "tool_name") or ""
    if event.get("hook_event_name") != EVENT or (name not in RESULT_SHAPES and not name.startswith("mcp__")):
        return None
    chars = SHOWN_CHARS.get(name, SHOWN_CHARS_OF_OTHERS)
    arguments = event.get("tool_input")
    return ToolCall(
        tool=name,
        result=event.get("tool_response"),
        event=event,
        command=get_text(arguments, "command", COMMAND_CHARS),
        arguments=arguments,
        call_id=get_text(event, "tool_use_id"),
        cwd=get_text(event, "cwd"),
        shows=Limits(chars=chars - ASIDE_CHARS),
        cut_at=Limits(chars=chars, tokens=SHOWN_TOKENS_OF_MCP if name.startswith("mcp__") else None),
    )


def bound(call: ToolCall, within: Bounder) -> Any:
    """Bound a result in the tool's own shape."""
    return RESULT_SHAPES.get(call.tool, text_or_blocks)(call.result, within)


def reply(_: ToolCall, result: Any) -> dict[str, Any]:
    """Answer with a result in place of the tool's."""
    return {"hookSpecificOutput": {"hookEventName": EVENT, "updatedToolOutput": result}}


def streams(response: Any, within: Bounder) -> Any:
    """Bound both streams of a command, each in its own place; a picture or blocks stay."""
    if not isinstance(response, dict) or response.get("isImage") or response.get("structuredContent"):
        return None
    stdout = response.get("stdout")
    stderr = response.get("stderr")
    if not isinstance(stdout, str) or not isinstance(stderr, str):
        return None
    if response.get(FULL_OUTPUT_PATH) is None:
        texts = within.streams(stdout, stderr)
        return None if texts is None else {**response, **texts}
    file = open_file(response[FULL_OUTPUT_PATH], response.get(FULL_OUTPUT_SIZE, -1))
    texts = None if file is None else within.streams(file, stderr)
    if texts is not None:
        # With the path still in it, Claude Code would show the path and 2 KB of our text.
        rest = {key: value for key, value in response.items() if key not in (FULL_OUTPUT_PATH, FULL_OUTPUT_SIZE)}
        return {**rest, **texts}
    preview = {**response, "stdout": within.mark(stdout), "stderr": within.mark(stderr)}
    return None if preview == response else preview


def text_or_blocks(value: Any, within: Bounder) -> Any:
    """Bound a text or a list of blocks. Claude Code would take an object, as MCP has it, for an error."""
    if isinstance(value, str):
        return within.file(open_saved(value)) or within.text(value)
    if not isinstance(value, list):
        return None
    text = get_text(value[0], "text") if len(value) == 1 else None
    whole = None if text is None else within.file(open_saved(text))
    return within.blocks(value) if whole is None else [{**value[0], "text": whole}]


def open_saved(text: str) -> Any:
    """Open the file in which Claude Code has saved a result instead of showing it."""
    match = SAVED.search(text[:SAVED_CHARS])
    if match is None:
        return None
    # Any tool can print these words: only a file that Claude Code keeps results in is read.
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    path = os.path.realpath(match[1])
    is_own = path.startswith(os.path.join(os.path.realpath(home), "")) and f"{os.sep}tool-results{os.sep}" in path
    return open_file(match[1]) if is_own else None


def at_key(*keys: str) -> Callable[[Any, Bounder], Any]:
    """Return a function that bounds the text or the blocks under keys of a result."""

    def bound_inside(response: Any, within: Bounder) -> Any:
        key, *inner_keys = keys
        if not isinstance(response, dict) or key not in response:
            return None
        new = (at_key(*inner_keys) if inner_keys else text_or_blocks)(response[key], within)
        return None if new is None else {**response, key: new}

    return bound_inside


def lines_or_names(response: Any, within: Bounder) -> Any:
    """Bound the lines, or the names of files, of a search."""
    names = response.get("filenames") if isinstance(response, dict) else None
    if not isinstance(names, list) or response.get("content"):
        return at_key("content")(response, within)
    if not all(isinstance(name, str) for name in names):
        return None
    text = within.text("\n".join(names))
    return None if text is None else {**response, "filenames": text.splitlines()}


def resources(response: Any, within: Bounder) -> Any:
    """Bound the contents of a resource of an MCP server."""
    contents = response.get("contents") if isinstance(response, dict) else None
    if not isinstance(contents, list):
        return None
    new = within.blocks([{"type": "resource", "resource": content} for content in contents])
    return None if new is None else {**response, "contents": [block["resource"] for block in new]}


#: How each tool's result holds its text. Read is not among them: it numbers its lines after the hook, bounds itself,
#: and is how the model goes back.
RESULT_SHAPES = {
    "Bash": streams,
    "PowerShell": streams,
    "Grep": lines_or_names,
    "Glob": lines_or_names,
    "WebFetch": at_key("result"),
    "WebSearch": at_key("results"),
    "Agent": at_key("content"),
    "Task": at_key("content"),
    "TaskOutput": at_key("task", "output"),
    "ReadMcpResourceTool": resources,
}
#: The same as Claude Code wants it in its settings, so that the hook is not even started for other tools.
MATCHER = "|".join((*RESULT_SHAPES, "mcp__.*"))


def files(place: Place) -> dict[str, Edit]:
    """Return our part of Claude Code's files."""
    return {
        os.path.join(place.config, "settings.json"): hook_entry(NAME, EVENT, MATCHER),
        os.path.join(place.root, "CLAUDE.md"): instructions(),
    }


HOST = Host(
    name=NAME,
    title="Claude Code",
    seen_in="2.1.327",
    variable="CLAUDECODE",
    shell_tool="Bash",
    shows=Limits(chars=BASH_CHARS - ASIDE_CHARS),
    shows_failing=Limits(chars=10_000 - ASIDE_CHARS),
    cut_mark=r"^Error: result \([^\n]{1,200} Output has been saved to (/[^\n]{1,1000}?\.(?:txt|json))(?=[\s.,;]|$)",
    mcp_client=NAME,
    shows_mcp=Limits(tokens=SHOWN_TOKENS_OF_MCP),
    hints=("cli", "files:Read,Grep"),
    project_variable="CLAUDE_PROJECT_DIR",
    program="claude",
    user_folders=("$CLAUDE_CONFIG_DIR", "~/.claude"),
    project_folder=".claude",
    server_file=".claude.json",
    files=files,
    works=f"{CLIPPED} CLAUDE.md tells the model to run noisy commands as `spill run -- COMMAND`, and permission rules "
    "see that line as it is. New sessions use it.",
    cannot="Claude Code cuts the output of a failing command to 10,000 characters, stores the rest nowhere, and no "
    "hook can replace it. All of it is stored only if the command ran in `spill run` or `spill sh`.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=50,  # of 60
        complaint_key="systemMessage",
        sample={
            "hook_event_name": EVENT,
            "tool_name": "Bash",
            "tool_input": {"command": "seq 5000"},
            "tool_response": {"stdout": LONG_TEXT, "stderr": "", "interrupted": False},
        },
    ),
)
