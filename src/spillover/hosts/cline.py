"""Cline: its plugin sends the result of a tool, and puts the same within the limits back."""

from __future__ import annotations

import os
import re
from typing import Any

from spillover.hosts.edits import Edit
from spillover.hosts.host import (
    CLIPPED_AS_SEEN,
    LONG_TEXT,
    Bounder,
    Event,
    Hook,
    Host,
    Place,
    ToolCall,
    get_number,
    get_text,
)
from spillover.hosts.install import plugin
from spillover.settings.limits import Limits

NAME = "cline"
EXACT = frozenset({"read_files", "apply_patch", "ask_question", "skills"})
#: The key of the text in each of several answers.
RESULT = "result"
#: What Cline says of a line that failed, under "error".
EXIT_CODE = re.compile(r"exited with code (\d{1,5})\b")


def read(event: Event) -> ToolCall | None:
    """Take a result out of an event."""
    tool = get_text(event, "tool") or ""
    if "output" not in event or tool in EXACT:
        return None
    output = event["output"]
    arguments = event.get("args")
    lines = arguments.get("commands") if isinstance(arguments, dict) else None
    only_line = lines[0] if isinstance(lines, list) and len(lines) == 1 else None
    only_answer = output[0] if isinstance(output, list) and len(output) == 1 else None
    return ToolCall(
        tool=tool,
        result=output,
        event=event,
        command=only_line if isinstance(only_line, str) else None,
        arguments=arguments,
        call_id=get_text(event, "callID"),
        cwd=get_text(event, "cwd"),
        exit_code=get_number(EXIT_CODE.search(get_text(only_answer, "error") or "")),
    )


def bound(call: ToolCall, within: Bounder) -> Any:
    """Bound a text, the answers to several lines, or the blocks of an MCP server."""
    output = call.result
    if isinstance(output, str):
        return within.text(output)
    if isinstance(output, dict) and isinstance(output.get("content"), list):
        blocks = within.blocks(output["content"])
        return None if blocks is None else {**output, "content": blocks}
    if not isinstance(output, list) or not all(isinstance(answer, dict) for answer in output):
        return None
    if not all(isinstance(answer.get(RESULT), str) for answer in output):
        return within.blocks(output)
    blocks = within.blocks([{"type": "text", "text": answer[RESULT]} for answer in output])
    if blocks is None:
        return None
    texts = [block["text"] for block in blocks]
    if len(texts) < len(output):
        texts = ["\n".join(texts), *[""] * (len(output) - 1)]
    return [{**answer, RESULT: text} for answer, text in zip(output, texts, strict=True)]


def reply(_: ToolCall, result: Any) -> dict[str, Any]:
    """Answer with what the plugin puts back."""
    return {"output": result}


def files(place: Place) -> dict[str, Edit]:
    """Return our part of Cline's files."""
    return {os.path.join(place.config, "plugins", "spillover.js"): plugin("cline.js")}


HOST = Host(
    name=NAME,
    title="Cline",
    seen_in="3.0.65",
    variable="CLINE_CONNECTOR_CLI_LAUNCH",
    shell_tool="run_commands",
    shows=Limits(chars=8_000 - 500),
    cut_mark=r"^\[\.\.\. (?:search )?output truncated: \d{1,15} chars total\. [^\n]{1,200} \.\.\.\]$",
    program="cline",
    user_folders=("~/.cline",),
    project_folder=".cline",
    files=files,
    works=f"{CLIPPED_AS_SEEN} New sessions use it.",
    cannot="Cline cuts a command's output at 48,000 characters before the plugin sees it, and stores the rest nowhere: "
    "the notice calls it a preview. All of it is stored only if the command ran in `spill run` or `spill sh`. If "
    "clipping takes more than 2 s, nothing changes. The editor extension was not tried.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=2,  # of 3, behind which its session ends
        exact=EXACT,
        sample={
            "tool": "run_commands",
            "args": {"commands": ["seq 5000"]},
            "output": [{"query": "seq 5000", "result": LONG_TEXT}],
        },
    ),
)
