"""Cline's `afterTool`, by way of the plugin: the result of a tool in, the same within the limits out."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from spillover.api import Clipper
from spillover.hosts import CLINE
from spillover.hosts.hook_plain import Plain
from spillover.hosts.hooked import HookCall, bound_result, read_number, words_of

_log = logging.getLogger(__name__)

#: What the model has here to go back with.
HINTS = ("cli",)
#: How the model goes back, what changes files, and what is there to be followed word for word.
LEFT_ALONE = frozenset({"read_files", "apply_patch", "ask_question", "skills"})
#: Where the text of one answer among several stands.
RESULT = "result"
#: What Cline says of a line that failed, under "error".
EXIT_CODE = re.compile(r"exited with code (\d{1,5})\b")


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the plugin puts back; None where nothing changes."""
    if not isinstance(event, dict) or "output" not in event:
        return None
    tool = words_of(event, "tool") or ""
    if tool in LEFT_ALONE:
        _log.info("The hook left the result of %s alone: the model needs it word for word.", tool)
        return None
    new = bound_result(
        lambda call: _bound(event["output"], call),
        clipper,
        tool,
        host=CLINE.name,
        at_most=CLINE.shown,
        arguments=event.get("args"),
        command=_command_of(event.get("args")),
        call_id=words_of(event, "callID"),
        cwd=words_of(event, "cwd"),
        exit_code=_code_of(event["output"]),
        whole=event["output"],
    )
    return None if new is None else {"output": new}


def _command_of(arguments: object) -> str | None:
    """Return the line that ran, where it was one."""
    lines = arguments.get("commands") if isinstance(arguments, dict) else None
    return lines[0] if isinstance(lines, list) and len(lines) == 1 and isinstance(lines[0], str) else None


def _code_of(output: object) -> int | None:
    """Return the exit code of the line that failed, where it was one."""
    answer = output[0] if isinstance(output, list) and len(output) == 1 else None
    return read_number(EXIT_CODE.search(words_of(answer, "error") or ""))


def _bound(output: Any, call: HookCall | Plain) -> Any:
    """Return a text, the answers to several lines, or the blocks of an MCP server, within the limits; None: as it was."""
    if isinstance(output, str):
        return call.text(output)
    if isinstance(output, dict) and isinstance(output.get("content"), list):
        blocks = call.blocks(output["content"])
        return None if blocks is None else {**output, "content": blocks}
    if not isinstance(output, list) or not all(isinstance(each, dict) for each in output):
        return None
    if not all(isinstance(each.get(RESULT), str) for each in output):
        return call.blocks(output)
    new = call.blocks([{"type": "text", "text": each[RESULT]} for each in output])
    if new is None:
        return None
    if len(new) == len(output):
        return [{**each, RESULT: block["text"]} for each, block in zip(output, new, strict=True)]
    return [
        {**output[0], RESULT: "\n".join(block["text"] for block in new)},
        *({**each, RESULT: ""} for each in output[1:]),
    ]
