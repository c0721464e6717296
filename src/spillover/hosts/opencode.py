"""opencode: its plugin sends a tool's text, or an MCP server's blocks, and puts the same within the limits back."""

from __future__ import annotations

import os
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
from spillover.hosts.install import plugin
from spillover.settings.limits import Limits

NAME = "opencode"
#: Between these, opencode says how a command ended that did not end by itself.
ENDING_START = "\n\n<shell_metadata>\n"
ENDING_END = "</shell_metadata>"
EXACT = frozenset(
    {"read", "edit", "write", "multiedit", "patch", "apply_patch", "todowrite", "todoread", "skill", "question"}
)


def read(event: Event) -> ToolCall | None:
    """Take the blocks of an MCP server, or the text of any other tool, out of an event."""
    tool = get_text(event, "tool")
    content = event.get("content")
    is_mcp = isinstance(content, list)
    output = "" if is_mcp else get_text(event, "output")
    if tool is None or output is None or (tool in EXACT and not is_mcp):
        return None
    exit_code = event.get("exit")
    return ToolCall(
        tool=tool,
        result={"content": content} if is_mcp else {"output": output},
        event=event,
        command=get_text(event.get("args"), "command", COMMAND_CHARS),
        arguments=event.get("args"),
        call_id=get_text(event, "callID"),
        cwd=get_text(event, "cwd"),
        exit_code=exit_code if type(exit_code) is int else None,
        ending=output[output.rfind(ENDING_START) :] if output.endswith(ENDING_END) else "",
    )


def bound(call: ToolCall, within: Bounder) -> dict[str, Any] | None:
    """Bound blocks or a text; a text that opencode has cut is read from its file."""
    if "content" in call.result:
        blocks = within.blocks(call.result["content"])
        return None if blocks is None else {"content": blocks}
    file = open_file(call.event.get("outputPath")) if call.event.get("truncated") else None
    text = within.file(file) or within.text(call.result["output"].removesuffix(call.ending))
    return None if text is None else {"output": text}


def reply(_: ToolCall, result: dict[str, Any]) -> dict[str, Any]:
    """Answer with what the plugin puts back."""
    return result


def files(place: Place) -> dict[str, Edit]:
    """Return our part of opencode's files."""
    return {os.path.join(place.config, "plugins", "spillover.js"): plugin("opencode.js")}


HOST = Host(
    name=NAME,
    title="opencode",
    seen_in="1.18.33",
    variable="OPENCODE",
    shell_tool="bash",
    shows=Limits(lines=1_990, bytes=51_200 - 500),
    cut_mark=r"^\.\.\.output truncated\.\.\.\n\nFull output saved to: (/[^\n]{1,1000})$",
    hints=("cli", "files:read,grep"),
    program="opencode",
    user_folders=("$XDG_CONFIG_HOME/opencode", "~/.config/opencode"),
    project_folder=".opencode",
    files=files,
    works=f"{CLIPPED} Restart opencode to use it.",
    cannot="opencode cuts a command's output at 50 KB before the plugin sees it; the plugin reads the rest from "
    "opencode's own file. Without a network, opencode waits for npm for a minute when it starts, as with any plugin.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=25,  # of 30
        exact=EXACT,
        sample={"tool": "bash", "args": {"command": "seq 5000"}, "output": LONG_TEXT},
    ),
)
