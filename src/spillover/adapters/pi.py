"""pi's `tool_result`, by way of the extension: the blocks of a result in, the same within the limits out."""

from __future__ import annotations

from spillover.adapters import opencode
from spillover.adapters.hooked import open_file, words_of
from spillover.hosts import PI

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.clipper import Clipper

#: What the model has here to go back with.
HINTS = ("cli", "files:read,grep")
#: How pi names the file with all that a command printed, below what it shows of it.
WHOLE_AT = "Full output: "
#: What pi says of a command's end is no longer.
MOST_ENDED = 200


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the extension puts back; None where nothing changes."""
    content = event.get("content") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(content, list):
        return None
    texts = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    text = words_of(texts[0], "text") if len(texts) == 1 == len(content) else None
    path = words_of(event, "fullOutputPath") or (_path_in(text) if text else None)
    if text is None or path is None or (file := open_file(path)) is None:
        return opencode.reply(event, clipper, PI) if event.get("tool") not in opencode.LEFT_ALONE else None
    file.close()
    # How a command ended stands behind the path: "Command exited with code 2".
    ended = text.rpartition(WHOLE_AT)[2].partition("]")[2][:MOST_ENDED]
    asked = {**event, "content": None, "output": text, "truncated": True, "outputPath": path, "said": ended}
    said = opencode.reply(asked, clipper, PI)
    return None if said is None else {"content": [{**texts[0], "text": said["output"]}]}


def _path_in(text: str) -> str | None:
    """Return the path in the last line that pi adds: for a failing command there is no other place for it."""
    found = text.rpartition(WHOLE_AT)
    path = found[2].partition("]")[0].strip()
    return path if found[1] and path.startswith("/") and "\n" not in path else None
