"""Codex's PostToolUse hook: the result of a shell command or an MCP tool in, the same within the limits out.

A reply with `continue: false` replaces the result by its `stopReason`, and the turn goes on (seen in 0.169). That replaces the
exit code too, so the text ends with it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from typing import Any

from spillover.api import Clipper
from spillover.hosts import CODEX
from spillover.hosts.hooked import COMMAND_CHARS, bound_result, open_file, words_of

_log = logging.getLogger(__name__)

EVENT = "PostToolUse"
#: What Codex calls its shell in an event, and how the names of MCP tools begin.
SHELL, MCP = "Bash", "mcp__"
#: The same for its hooks.json, so that no other tool starts the hook.
MATCHER = f"^({SHELL}|{MCP}.*)$"
#: What the model has here to go back with.
HINTS = ("cli",)
#: A call with such an id comes from a script that the model wrote.
SCRIPT_ID = "exec-"
#: How Codex begins an output that it has cut. Its transcript has more of it: 65,536 characters.
CUT = "Warning: truncated output (original token count: "
#: The end of a transcript that is read: the event of this call, and those of some calls beside it.
TRANSCRIPT_BYTES = 4 << 20


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return the hook's reply; None if nothing changes."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT:
        return None
    tool, call_id = words_of(event, "tool_name") or "", words_of(event, "tool_use_id") or ""
    response, tail, exit_code = event.get("tool_response"), "", None
    if tool == SHELL:
        text = response if isinstance(response, str) else None
        command = read_command(event.get("transcript_path"), call_id)
        exit_code = command.get("exit_code")
        if not isinstance(exit_code, int):
            _log.info("The hook left the result of %s alone: its exit code is in no transcript.", tool)
            return None
        tail = f"\nProcess exited with code {exit_code}"
        if text is not None and text.startswith(CUT):
            text = words_of(command, "aggregated_output") or text
    else:
        text = read_mcp(response) if tool.startswith(MCP) else None
    if text is None:
        _log.info("The hook left the result of %s alone: it is not only text.", tool)
        return None
    new = bound_result(
        lambda call: call.text(text),
        clipper,
        tool,
        host=CODEX.name,
        at_most=CODEX.shown,
        arguments=event.get("tool_input"),
        command=words_of(event.get("tool_input"), "command", COMMAND_CHARS),
        call_id=call_id,
        cwd=words_of(event, "cwd"),
        exit_code=exit_code,
        caller="script" if call_id.startswith(SCRIPT_ID) else None,
        whole=text,
    )
    if new is None:
        return None
    return {"continue": False, "stopReason": new.removesuffix("\n") + tail if tail else new}


def read_mcp(response: object) -> str | None:
    """Return the text of an MCP result as Codex shows it: its data as JSON, else its blocks. None if one is not text."""
    if not isinstance(response, dict):
        return None
    if response.get("structuredContent") is not None:
        return json.dumps(response["structuredContent"], ensure_ascii=False)
    blocks = response.get("content")
    texts = [words_of(block, "text") for block in blocks] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if text is not None) if texts and None not in texts else None


def read_command(path: object, call_id: str) -> dict[str, Any]:
    """Return what the transcript says of a command that has ended; empty if it is not there."""
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
