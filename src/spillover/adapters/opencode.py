"""opencode's `tool.execute.after`, by way of the plugin: a tool's text or an MCP server's blocks in, the same within the limits out."""

from __future__ import annotations

import logging
from itertools import chain

from spillover.adapters.hooked import COMMAND_CHARS, bound_result, open_file, words_of
from spillover.hosts import OPENCODE

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.adapters.hook_plain import Plain
    from spillover.adapters.hooked import Call
    from spillover.clipper import Clipper
    from spillover.hosts import Host

#: What the model has here to go back with.
HINTS = ("cli", "files:read,grep")
#: Between these stands what opencode says of a command that did not end by itself.
SAID, SAID_END = "\n\n<shell_metadata>\n", "</shell_metadata>"
#: How the model goes back, what changes files, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"read", "edit", "write", "multiedit", "patch", "apply_patch", "todowrite", "todoread", "skill", "question"}
)


def reply(event: object, clipper: Callable[[], Clipper], host: Host = OPENCODE) -> dict[str, Any] | None:
    """Return what the plugin puts back; None where nothing changes."""
    if not isinstance(event, dict) or not isinstance(event.get("tool"), str):
        return None
    if event["tool"] in LEFT_ALONE and not isinstance(event.get("content"), list):  # blocks are an MCP server's
        _log.info("The hook left the result of %s alone: the model needs it word for word.", event["tool"])
        return None
    changed: dict[str, Any] | None = bound_result(
        lambda call: _bound_event(event, call),
        clipper,
        event["tool"],
        host=host.name,
        at_most=host.shown,
        arguments=event.get("args"),
        command=words_of(event.get("args"), "command", COMMAND_CHARS),
        call_id=words_of(event, "callID"),
        cwd=words_of(event, "cwd"),
    )
    return changed


def _bound_event(event: dict[str, Any], call: Call | Plain) -> dict[str, Any] | None:
    """Return the blocks of an MCP server, or the text of any other tool."""
    content, output = event.get("content"), event.get("output")
    if isinstance(content, list):
        blocks = call.blocks(content)
        return None if blocks is None else {"content": blocks}
    if not isinstance(output, str):
        return None
    text = _restore_cut(output, event, call) if event.get("truncated") else None
    text = text or call.text(output)
    return None if text is None else {"output": text}


def _restore_cut(output: str, event: dict[str, Any], call: Call | Plain) -> str | None:
    """Return what the host has cut already, from the file that has all of it; None where that cannot be used."""
    file = open_file(event.get("outputPath"))
    if file is None:
        return None
    # What the host has to say of a command stands below its output, and not in the file.
    said = words_of(event, "said") or (output[output.rfind(SAID) :] if output.endswith(SAID_END) else "")
    with file:
        parts = chain(iter(lambda: file.read(1 << 16), b""), [said.encode("utf-8", "replace")])
        texts, outcome = call.clipped(output=parts)
    return texts["output"] if outcome == "stored" else None
