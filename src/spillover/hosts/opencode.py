"""opencode's `tool.execute.after`, by way of the plugin: a tool's text or an MCP server's blocks in, the same within the limits out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import FileIO
from typing import Any

from spillover.api import Clipper
from spillover.hosts import OPENCODE, Host
from spillover.hosts.hook_plain import Plain
from spillover.hosts.hooked import COMMAND_CHARS, HookCall, bound_result, clip_file, open_file, words_of

_log = logging.getLogger(__name__)

#: What the model has here to go back with.
HINTS = ("cli", "files:read,grep")
#: Between these stands what opencode says of a command that did not end by itself.
SAID, SAID_END = "\n\n<shell_metadata>\n", "</shell_metadata>"
#: How the model goes back, what changes files, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"read", "edit", "write", "multiedit", "patch", "apply_patch", "todowrite", "todoread", "skill", "question"}
)


def reply(
    event: object, clipper: Callable[[], Clipper], host: Host = OPENCODE, file: FileIO | None = None
) -> dict[str, Any] | None:
    """Return what the plugin puts back; None where nothing changes. `file` has all of an output, where the host names one."""
    if not isinstance(event, dict) or not isinstance(event.get("tool"), str):
        return None
    if event["tool"] in LEFT_ALONE and not isinstance(event.get("content"), list):  # blocks are an MCP server's
        _log.info("The hook left the result of %s alone: the model needs it word for word.", event["tool"])
        return None
    ending, code, output = words_of(event, "ending"), event.get("exit"), words_of(event, "output") or ""
    blocks = event.get("content")
    whole = {"content": blocks} if isinstance(blocks, list) else {"output": output + (ending or "")}
    if ending is None:
        ending = output[output.rfind(SAID) :] if output.endswith(SAID_END) else ""
        event = {**event, "output": output.removesuffix(ending)} if ending else event
    changed: dict[str, Any] | None = bound_result(
        lambda call: _bound_event(event, call, file),
        clipper,
        event["tool"],
        host=host.name,
        at_most=host.shown,
        arguments=event.get("args"),
        command=words_of(event.get("args"), "command", COMMAND_CHARS),
        call_id=words_of(event, "callID"),
        cwd=words_of(event, "cwd"),
        exit_code=code if type(code) is int else None,
        ending=ending,
        whole=whole,
    )
    return changed


def _bound_event(event: dict[str, Any], call: HookCall | Plain, file: FileIO | None) -> dict[str, Any] | None:
    """Return the blocks of an MCP server, or the text of any other tool."""
    content, output = event.get("content"), event.get("output")
    if isinstance(content, list):
        blocks = call.blocks(content)
        return None if blocks is None else {"content": blocks}
    if not isinstance(output, str):
        return None
    file = open_file(event.get("outputPath")) if event.get("truncated") else file
    text = (file and clip_file(file, call)) or call.text(output)
    return None if text is None else {"output": text}
