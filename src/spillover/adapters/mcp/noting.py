"""What passed through the proxy, in the journal: the texts of a result as the server sent them, and as the client got them."""

from __future__ import annotations

import time

from spillover.adapters.mcp.message import messages, written
from spillover.blocks.texts import texts_of
from spillover.hosts import CLAUDE_CODE
from spillover.ledger.note import gather, is_wanted, note_clip
from spillover.result import Clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from spillover.adapters.mcp.message import Message
    from spillover.choices import Choices

#: What a model gets to read; lists and the rest of the protocol are the host's own business.
NOTED = ("tools/call", "resources/read", "prompts/get")
#: Hosts, by the names they give themselves, and how much of an MCP result each shows by itself, where that is known.
CLIENTS: Mapping[str, tuple[str, Mapping[str, int]]] = {"claude-code": (CLAUDE_CODE.name, {"tokens": 25_000})}
NAME_CHARS = 60


def finish_and_note(finish: Callable[[], bytes], message: Message, choices: Choices, client: str) -> bytes:
    """Return an answer within the limits, and note what the client gets."""
    begun = time.monotonic()
    with gather() as clips:
        line = finish()
    note_answer(message, line, choices, client, clips, seconds=time.monotonic() - begun)
    return line


def note_answer(
    message: Message,
    line: bytes,
    choices: Choices,
    client: str,
    clips: Sequence[Clip] = (),
    *,
    seconds: float = 0.0,
) -> None:
    """Note an answer: `message` as it came, `line` as it went on, and the clips that were made for it."""
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if not is_wanted(choices, whole=cut is None):
        return
    sent = message if line is message.line else next(messages(line), None)
    texts = [] if sent is None else _texts(sent)
    host, bounds = CLIENTS.get(client, (client[:NAME_CHARS], {}))
    clip = cut or Clip("", _count=choices.count)
    note_clip(choices, clip, texts=texts, host=host or None, cut=bounds, framed=cut is not None, seconds=seconds)


def client_of(message: Message) -> str:
    """Return what the client calls itself when it says hello; "" where it does not."""
    said = message.params.get("clientInfo")
    name = said.get("name") if isinstance(said, dict) else None
    return name[:NAME_CHARS] if isinstance(name, str) else ""


def _texts(message: Message) -> list[str]:
    """Return the texts of an answer that a model reads: of an error its words, of data without words its JSON."""
    if message.error is not None:
        said = message.error.get("message") if isinstance(message.error, dict) else None
        return [said] if isinstance(said, str) else []
    result: Any = message.result
    if not isinstance(result, dict):
        return []
    content = result.get("content")
    if isinstance(content, list):
        texts = texts_of(content)
        return texts if texts or "structuredContent" not in result else [written(result["structuredContent"])]
    if isinstance(result.get("contents"), list):
        return [
            part["text"] for part in result["contents"] if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    if isinstance(result.get("messages"), list):
        parts = [one.get("content") for one in result["messages"] if isinstance(one, dict)]
        return texts_of([part for part in parts if isinstance(part, dict)])
    return [written(result["structuredContent"])] if "structuredContent" in result else []
