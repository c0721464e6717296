"""pi: its extension sends the blocks of a result, and puts the same within the limits back."""

from __future__ import annotations

import os
import re
from typing import Any

from msgspec.structs import replace

from spillover.hosts import opencode
from spillover.hosts.edits import Edit
from spillover.hosts.host import (
    CLIPPED,
    LONG_TEXT,
    Bounder,
    Event,
    Hook,
    Host,
    Place,
    ToolCall,
    get_text,
    open_file,
    open_temporary,
)
from spillover.hosts.install import plugin
from spillover.settings.limits import Limits

#: What pi says below an output: what it has cut and where all of it is, and how the command ended.
END = re.compile(
    r"(?:\n\n\[Showing [^\n]{1,200}\. Full output: (?P<path>/[^\n\]]{1,1000})\])?"
    r"(?P<status>(?:\n\n)?Command (?:exited with code (?P<code>\d{1,5})|timed out after \d{1,9} seconds|aborted))?\Z"
)
END_CHARS = 1_500
#: How pi names the files that hold whole outputs. For a failing command, the text is the only place that says where.
LOG_NAME = re.compile(r"pi-bash-[\w-]{1,100}\.log", re.ASCII)


def find_end(call: ToolCall) -> tuple[str, re.Match[str]] | None:
    """Return the text of a command, and what pi says below it; None if the result is anything else."""
    blocks = call.result["content"]
    if call.tool != "bash" or len(blocks) != 1 or get_text(blocks[0], "type") != "text":
        return None
    text = get_text(blocks[0], "text")
    match = None if text is None else END.search(text, max(0, len(text) - END_CHARS))
    return None if text is None or match is None else (text, match)


def read(event: Event) -> ToolCall | None:
    """Take the blocks of a result out of an event."""
    call = opencode.read(event) if get_text(event, "tool") not in opencode.EXACT else None
    if call is None or "content" not in call.result:
        return None
    end = find_end(call)
    if end is None:
        return call
    code = end[1]["code"]
    return replace(call, ending=end[1]["status"] or "", exit_code=int(code) if code else None)


def bound(call: ToolCall, within: Bounder) -> dict[str, Any] | None:
    """Bound blocks; the output of a command that pi has cut is read from its file."""
    end = find_end(call)
    if end is None:
        return opencode.bound(call, within)
    text, match = end
    path = get_text(call.event, "fullOutputPath")
    # The extension passes on pi's own path; any tool can print the one in the text.
    file = open_temporary(match["path"], LOG_NAME) if match["path"] and not path else open_file(path)
    new = within.file(file) or within.text(text.removesuffix(call.ending))
    return None if new is None else {"content": [{**call.result["content"][0], "text": new}]}


def files(place: Place) -> dict[str, Edit]:
    """Return our part of pi's files."""
    return {os.path.join(place.config, "extensions", "spillover.js"): plugin("pi.js")}


HOST = Host(
    name="pi",
    title="pi",
    seen_in="0.87.1",
    variable="PI_CODING_AGENT",
    shell_tool="bash",
    shows=Limits(lines=1_990, bytes=51_200 - 500),
    cut_mark=r"^\[Showing [^\n]{1,200}\. Full output: (/[^\n\]]{1,1000})\]$",
    hints=("cli", "files:read,grep"),
    program="pi",
    user_folders=("~/.pi/agent",),
    project_folder=".pi",
    files=files,
    works=f"{CLIPPED} Restart pi or type /reload to use it.",
    cannot="pi cuts at 50 KB before the extension sees it; the extension reads the rest from pi's own file. If the "
    "command failed, only pi's message names that file.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=opencode.reply,
        deadline_seconds=25,  # of 30
        exact=opencode.EXACT,
        sample={"tool": "bash", "args": {}, "content": [{"type": "text", "text": LONG_TEXT}]},
    ),
)
