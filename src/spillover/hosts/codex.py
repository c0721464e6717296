"""Codex: its PostToolUse hook replaces the result of a shell command or an MCP tool.

An answer with `continue: false` replaces the result by its `stopReason`, and the turn goes on (seen in 0.169). That
replaces the exit code too, so the text ends with it.
"""

from __future__ import annotations

import json
import logging
import os
from typing import Any

from spillover.hosts.edits import Edit
from spillover.hosts.host import (
    CLIPPED_AS_SEEN,
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
from spillover.hosts.install import hook_entry, instructions, server_table
from spillover.settings.limits import Limits

_log = logging.getLogger(__name__)

NAME = "codex"
VARIABLE = "CODEX_THREAD_ID"
EVENT = "PostToolUse"
#: The tool for commands, and the start of the names of MCP tools, in an event.
SHELL = "Bash"
MCP = "mcp__"
#: The same for its hooks.json, so that no other tool starts the hook.
MATCHER = f"^({SHELL}|{MCP}.*)$"
#: The start of the id of a call from a script that the model wrote.
SCRIPT_ID = "exec-"
#: The start of an output that Codex has cut. Its transcript has more of it: 65,536 characters.
CUT = "Warning: truncated output (original token count: "
#: Bytes at the end of a transcript that are read: the event of this call, and of some beside it. More takes longer.
TRANSCRIPT_BYTES = 4 << 20
TIMEOUT_SECONDS = 30


def read(event: Event) -> ToolCall | None:
    """Take the text of a command or of an MCP result out of an event."""
    tool = get_text(event, "tool_name") or ""
    call_id = get_text(event, "tool_use_id") or ""
    response = event.get("tool_response")
    exit_code = None
    if event.get("hook_event_name") != EVENT or not (tool == SHELL or tool.startswith(MCP)):
        return None
    if tool == SHELL:
        text = response if isinstance(response, str) else None
        command = read_command(event.get("transcript_path"), call_id)
        exit_code = command.get("exit_code")
        if not isinstance(exit_code, int):
            _log.info("The exit code of a command is in no transcript.")
            return None
        if text is not None and text.startswith(CUT):
            text = get_text(command, "aggregated_output") or text
    else:
        text = read_mcp(response)
    if text is None:
        return None
    return ToolCall(
        tool=tool,
        result=text,
        event=event,
        command=get_text(event.get("tool_input"), "command", COMMAND_CHARS),
        arguments=event.get("tool_input"),
        call_id=call_id,
        cwd=get_text(event, "cwd"),
        exit_code=exit_code,
        caller="script" if call_id.startswith(SCRIPT_ID) else None,
    )


def bound(call: ToolCall, within: Bounder) -> str | None:
    """Bound the text of a result."""
    return within.text(call.result)


def reply(call: ToolCall, text: str) -> dict[str, Any]:
    """Answer with a text in place of the result, and with the exit code, which would be lost."""
    if call.exit_code is not None:
        text = text.removesuffix("\n") + f"\nProcess exited with code {call.exit_code}"
    return {"continue": False, "stopReason": text}


def read_mcp(response: object) -> str | None:
    """Return the text of an MCP result as Codex shows it: its data as JSON, or its blocks; None if one is no text."""
    if not isinstance(response, dict):
        return None
    if response.get("structuredContent") is not None:
        return json.dumps(response["structuredContent"], ensure_ascii=False)
    blocks = response.get("content")
    texts = [get_text(block, "text") for block in blocks] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if text is not None) if texts and None not in texts else None


def read_command(path: object, call_id: str) -> dict[str, Any]:
    """Return the entry of the transcript for a command that has ended; empty if it is not there."""
    file = open_file(path) if call_id else None
    if file is None:
        return {}
    with file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TRANSCRIPT_BYTES))
        lines = (file.read(TRANSCRIPT_BYTES) or b"").split(b"\n")
    name = json.dumps(call_id).encode()
    for line in reversed(lines):
        if name not in line or b'"item_completed"' not in line:
            continue
        try:
            payload = json.loads(line)["payload"]
            item = payload["item"]
            if payload["type"] == "item_completed" and item["id"] == call_id and "exit_code" in item:
                return dict(item)
        except (ValueError, TypeError, KeyError, RecursionError):  # half a line, or something else
            continue
    return {}


def files(place: Place) -> dict[str, Edit]:
    """Return our part of Codex's files."""
    return {
        # Codex starts servers without its own variables; by this one ours knows how much Codex shows of an answer.
        os.path.join(place.config, "config.toml"): server_table(NAME, VARIABLE),
        os.path.join(place.config, "hooks.json"): hook_entry(NAME, EVENT, MATCHER, timeout=TIMEOUT_SECONDS),
        os.path.join(place.root, "AGENTS.md"): instructions(),
    }


HOST = Host(
    name=NAME,
    title="Codex",
    seen_in="0.169",
    variable=VARIABLE,
    shell_tool="shell",
    # 10,000 bytes of a command's output, and 9,000 of a hook's answer, in which the exit code is a line.
    shows=Limits(bytes=9_000 - 100),
    cut_mark=r"\AWarning: truncated output \(original token count: \d{1,15}\)$"
    r"|^\.\.\. command output truncated for persistence \.\.\.$",
    program="codex",
    user_folders=("$CODEX_HOME", "~/.codex"),
    project_folder=".codex",
    files=files,
    works=f"{CLIPPED_AS_SEEN} Codex runs the hook only after you have trusted it: start `codex` and choose to trust "
    "it, there or under /hooks. Until then, `codex exec` skips it without a word.",
    cannot="Codex cuts a command's output before it calls the hook, and keeps at most 64 KB of it; the rest is stored "
    "only if the command ran in `spill run` or `spill sh`. No hook can replace what a script of the model reads (code "
    "mode), nor MCP results that are errors.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=25,  # of TIMEOUT_SECONDS
        sample={
            "hook_event_name": EVENT,
            "tool_name": "mcp__doctor__count",
            "tool_response": {"content": [{"type": "text", "text": LONG_TEXT}]},
        },
    ),
)
