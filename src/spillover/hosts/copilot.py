"""Copilot CLI: its `postToolUse` hook replaces the result of a tool."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from spillover.hosts.edits import Edit, OwnFile
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
    get_number,
    get_text,
    open_temporary,
)
from spillover.hosts.install import COMMAND
from spillover.settings.limits import Limits

NAME = "copilot"
TEXT = "textResultForLlm"
EXACT = frozenset(
    {"view", "edit", "create", "str_replace_editor", "apply_patch", "update_todo", "ask_user", "report_intent"}
)
#: The last line of a command's output: how it ended, and in which shell.
LAST_LINE = re.compile(r"\n?<shellId: [^\n>]{1,200}? exit code (\d{1,5})>\s{0,9}\Z")
LAST_LINE_CHARS = 300
#: How Copilot CLI names the files that hold whole results, until the session ends.
OUTPUT_NAME = re.compile(r"\d{1,20}-copilot-tool-output-[\w-]{1,100}\.txt", re.ASCII)
#: By this our file of hooks is recognised; JSON has no place for a comment.
KEY = f'"spillover": "written by `{COMMAND} init {NAME}`"'
TIMEOUT_SECONDS = 60


def read(event: Event) -> ToolCall | None:
    """Take the text of a result out of an event."""
    tool = get_text(event, "toolName") or ""
    text = get_text(event.get("toolResult"), TEXT)
    if text is None or tool in EXACT:
        return None
    last_line = LAST_LINE.search(text, max(0, len(text) - LAST_LINE_CHARS))
    return ToolCall(
        tool=tool,
        result=event["toolResult"],
        event=event,
        command=get_text(read_arguments(event.get("toolArgs")), "command", COMMAND_CHARS),
        call_id=get_text(event, "toolCallId"),
        cwd=get_text(event, "cwd"),
        exit_code=get_number(last_line),
        ending=last_line[0] if last_line else "",
    )


def read_arguments(arguments: object) -> Any:
    """Return the arguments of a call, which may come as JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def bound(call: ToolCall, within: Bounder) -> dict[str, Any] | None:
    """Bound a text; one that Copilot CLI has saved to a file, of which it shows 500 characters, is read from there."""
    output = call.result[TEXT].removesuffix(call.ending)
    cut = HOST.find_cut(output)
    text = within.file(open_temporary(cut[1], OUTPUT_NAME) if cut else None) or within.text(output)
    return None if text is None else {**call.result, TEXT: text}


def reply(_: ToolCall, result: dict[str, Any]) -> dict[str, Any]:
    """Answer with a result in place of the tool's."""
    return {"modifiedResult": result}


def files(place: Place) -> dict[str, Edit]:
    """Return our part of Copilot CLI's files."""
    command = f"{COMMAND} hook {NAME}"
    hook = {"type": "command", "bash": command, "powershell": command, "timeoutSec": TIMEOUT_SECONDS}
    settings = {"version": 1, "hooks": {"postToolUse": [hook]}}
    text = "{\n  " + KEY + ",\n" + json.dumps(settings, indent=2)[2:] + "\n"
    return {os.path.join(place.config, "hooks", "spillover.json"): OwnFile(text, word=KEY)}


HOST = Host(
    name=NAME,
    title="Copilot CLI",
    seen_in="1.0.102",
    variable="COPILOT_CLI",
    shell_tool="bash",
    shows=Limits(bytes=18_000),  # it cuts at about 20 KB
    cut_mark=r"\AOutput too large to read at once \([^\n)]{1,40}\)\. Saved to: (/[^\n]{1,1000})$",
    program="copilot",
    user_folders=("$COPILOT_HOME", "~/.copilot"),
    project_folder=".github",
    files=files,
    works=f"{CLIPPED} New sessions use it.",
    cannot="Copilot CLI cuts at 20 KB before it calls the hook. The hook copies the whole output from Copilot's own "
    "file, which is gone after the session; if it cannot, the notice says that there is only a preview. MCP results "
    "that are errors cannot be replaced.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=25,  # of TIMEOUT_SECONDS; of 30 in an entry that says nothing
        exact=EXACT,
        sample={
            "toolName": "bash",
            "toolArgs": "{}",
            "toolResult": {"resultType": "success", TEXT: LONG_TEXT},
        },
    ),
)
