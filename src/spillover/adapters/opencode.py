"""opencode's `tool.execute.after`, by way of the plugin: a tool's text or an MCP server's blocks in, the same within the limits out."""

from __future__ import annotations

import os
from itertools import chain

from spillover.adapters.going_back import is_command, is_stored, is_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip

#: What the model has here to go back with.
HINTS = ("cli", "files:read,grep")
#: Between these stands what opencode says of a command that did not end by itself.
SAID, SAID_END = "\n\n<shell_metadata>\n", "</shell_metadata>"
#: How the model goes back, what changes files, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"read", "edit", "write", "multiedit", "patch", "apply_patch", "todowrite", "todoread", "skill", "question"}
)


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """What the plugin puts back; None where nothing changes."""
    if not isinstance(event, dict) or not isinstance(event.get("tool"), str):
        return None
    name, given, call_id = event["tool"], event.get("args"), event.get("callID")
    given = given if isinstance(given, dict) else {}
    if name in LEFT_ALONE or is_tool(name) or is_command(given.get("command")):
        return None
    made = clipper()
    if made.leaves_alone(name) or is_stored(given.get("path"), getattr(made.store, "root", None)):
        return None
    call_id = call_id if isinstance(call_id, str) else None
    content, output = event.get("content"), event.get("output")
    if isinstance(content, list):
        blocks = made.clip_blocks(content, tool=name, call_id=call_id)
        return None if blocks.clip.outcome == "whole" else {"content": list(blocks)}
    if not isinstance(output, str):
        return None
    if event.get("truncated"):
        return _truncated(output, event.get("outputPath"), lambda source: made.clip(source, tool=name, call_id=call_id))
    clip = made.clip(output, tool=name, call_id=call_id)
    return None if clip.outcome == "whole" else {"output": clip.text}


def _truncated(output: str, path: object, clip: Callable[[Iterator[bytes]], Clip]) -> dict[str, Any] | None:
    """What opencode has cut already, from the file that has all of it; where we cannot do better, its own cut stays."""
    if not isinstance(path, str) or not os.path.isfile(path):
        return None
    # What opencode has to say of a command stands below its output, and not in the file.
    said = output[output.rfind(SAID) :] if output.endswith(SAID_END) else ""
    with open(path, "rb") as file:
        clipped = clip(chain(iter(lambda: file.read(1 << 16), b""), [said.encode("utf-8", "replace")]))
    return {"output": clipped.text} if clipped.outcome == "stored" else None
