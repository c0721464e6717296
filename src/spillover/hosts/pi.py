"""pi's `tool_result`, by way of the extension: the blocks of a result in, the same within the limits out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from spillover.api import Clipper
from spillover.hosts import PI, opencode
from spillover.hosts.hooked import open_file, open_temporary, words_of

#: What the model has here to go back with.
HINTS = ("cli", "files:read,grep")
#: What pi says below an output: what it has cut and where all of it is, and how the command ended.
ENDED = re.compile(
    r"(?:\n\n\[Showing [^\n]{1,200}\. Full output: (?P<path>/[^\n\]]{1,1000})\])?"
    r"(?P<status>(?:\n\n)?Command (?:exited with code (?P<code>\d{1,5})|timed out after \d{1,9} seconds|aborted))?\Z"
)
ENDED_CHARS = 1_500
#: How pi names the files that hold whole outputs. For a failing command, the text is the only place that says where.
KEPT = re.compile(r"pi-bash-[\w-]{1,100}\.log", re.ASCII)


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the extension puts back; None where nothing changes."""
    content = event.get("content") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(content, list) or event.get("tool") in opencode.LEFT_ALONE:
        return None
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    text = words_of(blocks[0], "text") if len(blocks) == 1 == len(content) else None
    if text is None or event.get("tool") != "bash":
        return opencode.reply(event, clipper, PI)
    ended = ENDED.search(text, max(0, len(text) - ENDED_CHARS))
    assert ended is not None  # all of it may be empty
    status, path = ended["status"] or "", words_of(event, "fullOutputPath")
    asked = {
        **event,
        "content": None,
        "output": text.removesuffix(status),
        "ending": status,
        "exit": int(ended["code"]) if ended["code"] else None,
    }
    # What the extension names is pi's own word; what stands in the text may be anybody's.
    file = open_temporary(ended["path"], KEPT) if ended["path"] and not path else open_file(path)
    answer = opencode.reply(asked, clipper, PI, file)
    return None if answer is None else {"content": [{**blocks[0], "text": answer["output"]}]}
