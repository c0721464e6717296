"""An answer on its way to the client: within the limits, in the protocol of the request, and noted in the journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from spillover.document.document import cover_bytes, cover_text
from spillover.events import has_line, record_result, together
from spillover.hosts import find_client
from spillover.kinds.fit import trim
from spillover.mcp.message import (
    INTERNAL_ERROR,
    VERSION_KEY,
    Message,
    answer,
    dumps,
    loads,
    messages,
    refusal,
    written,
)
from spillover.mcp.result import (
    LISTED_CHARS,
    bound_data,
    bound_strings,
    error,
    is_promise,
    prompt_result,
    resource_result,
    tool_result,
)
from spillover.notice.wording import one_line
from spillover.pipeline import clip
from spillover.result import Clip
from spillover.results.blocks import list_texts
from spillover.results.objects import cover_strings
from spillover.retrieve.tools import ERROR_CHARS
from spillover.settings.settings import Call, Settings

#: What a model gets to read; lists and the rest of the protocol are the host's own business.
NOTED = ("tools/call", "resources/read", "prompts/get")
#: What only a client reads, and gives back as it came, at the top of a message, of its result, of its params or of a task.
EXACT = frozenset({"jsonrpc", "id", "method", "nextCursor", "requestState", "progressToken", "taskId"})
#: How much of a client's name is noted.
HOST_CHARS = 60


def finished(method: str, message: Message, call: Call) -> bytes:
    """Return an answer within the limits."""
    result = message.result
    if result is None and message.error is not None:
        new = error(message.error, call)
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": new})
    if is_promise(result):
        new = bound_strings(result, call)
    elif method == "resources/read":
        new = resource_result(result, call)
    elif method == "prompts/get":
        new = prompt_result(result, call)
    elif method == "tools/call" or (isinstance(result, dict) and isinstance(result.get("content"), list)):
        new = tool_result(result, replace(call, id=str(message.id)))
    elif method == "completion/complete":
        new = bound_data(result, call)
    else:  # a list, or what nobody here knows: a host needs it as it is, within reason
        new = bound_strings(result, call, free=LISTED_CHARS)
    return message.line if new == result and message.is_bare else answer(message.id, new)


def readable(line: bytes, settings: Settings) -> bytes:
    """Return a message as a model may read it: without the secrets in it, whatever it is and whoever it is from."""
    if cover_bytes(settings, line) == line:
        return line
    try:
        message = loads(line)
    except (ValueError, RecursionError):
        return cover_bytes(settings, line)
    return dumps(_cover_message(message, partial(cover_text, settings)))


def _cover_message(part: Any, cover: Callable[[str], str]) -> Any:
    if not isinstance(part, dict):
        return cover_strings(part, cover)
    covered = {}
    for key, inner in part.items():
        if key in ("params", "result", "task"):
            covered[cover(key)] = _cover_message(inner, cover)
        else:
            is_exact = key in EXACT and not isinstance(inner, (dict, list))
            covered[cover(key)] = inner if is_exact else cover_strings(inner, cover, key)
    return covered


def within(message: Message, call: Call) -> Message:
    """Return a notification or a request of a server's, within the limits."""
    params = message.any_params
    new = bound_strings(params, call) if message.is_request else bound_data(params, call)
    if new == params and message.is_bare:
        return message
    return next(messages(message.with_params(new)), message)


def with_tools(message: Message, call: Call) -> bytes:
    """Return what a server says of itself; that it has tools is true now."""
    if not isinstance(message.result, dict):
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": error(message.error, call)})
    result = bound_strings(message.result, call, free=LISTED_CHARS)
    can = result.get("capabilities")
    can = can if isinstance(can, dict) else {}
    if "tools" not in can:
        result = {**result, "capabilities": {**can, "tools": {}}}
    return message.line if result == message.result and message.is_bare else answer(message.id, result)


def is_modern(message: Message) -> bool:
    """Return whether a request is one of the stateless protocol: it says so itself."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def asking(message: Message) -> dict[str, Any]:
    """Return the parameters of a request of our own on behalf of the client's: who it is, in the stateless protocol."""
    if not is_modern(message):
        return {}
    return {"_meta": {key: value for key, value in message.params["_meta"].items() if key != "progressToken"}}


def completed(result: dict[str, Any], message: Message) -> dict[str, Any]:
    """Return a result of our own in the protocol of the request."""
    return {"resultType": "complete", **result} if is_modern(message) else result


def survived(finish: Callable[[], bytes], message: Message, call: Call) -> bytes:
    """Return the answer, whatever is wrong with it: a call is never left open, and what came is kept if that can be done."""
    try:
        return finish()
    except Exception as failed:  # noqa: BLE001  whatever it is, the client waits for an answer
        said = one_line(f"{type(failed).__name__}: {failed}", ERROR_CHARS)
        words = f"The result could not be brought within the limits: {said}"
        with suppress(Exception):
            plain = replace(call.for_retrieval().with_settings(keep="ends"), trigger=None)
            kept = clip(message.line, plain)
            words += f" Full output: {kept.ref}" if kept.ref else f" {one_line(kept.text, ERROR_CHARS)}"
            words = trim(words, plain)
        return refusal(message.id, INTERNAL_ERROR, words)


def finish_and_note(finish: Callable[[], bytes], message: Message, call: Call, client: str) -> bytes:
    """Return an answer within the limits, and note what the client gets."""
    begun = time.monotonic()
    with together() as clips:
        line = finish()
    note_answer(message, line, call, client, clips, seconds=time.monotonic() - begun)
    return line


def note_answer(
    message: Message,
    line: bytes,
    call: Call,
    client: str,
    clips: Sequence[Clip] = (),
    *,
    seconds: float = 0.0,
) -> None:
    """Note an answer: `message` as it came, `line` as it went on, and the clips that were made for it."""
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if not has_line(call.settings, whole=cut is None):
        return
    sent = message if line is message.line else next(messages(line), None)
    texts = [] if sent is None else _texts(sent)
    agent = find_client(client)
    host = agent.title if agent else client[:HOST_CHARS]
    bounds = dict(agent.shows_mcp.given()) if agent and agent.shows_mcp else {}
    clip = cut or Clip("", _count=call.settings.count)
    record_result(call, clip, texts=texts, host=host or None, cut=bounds, framed=cut is not None, seconds=seconds)


def client_of(message: Message) -> str:
    """Return what the client calls itself when it says hello; "" where it does not."""
    said = message.params.get("clientInfo")
    name = said.get("name") if isinstance(said, dict) else None
    return name[:HOST_CHARS] if isinstance(name, str) else ""


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
        texts = list_texts(content)
        return texts if texts or "structuredContent" not in result else [written(result["structuredContent"])]
    if isinstance(result.get("contents"), list):
        return [
            part["text"] for part in result["contents"] if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    if isinstance(result.get("messages"), list):
        parts = [one.get("content") for one in result["messages"] if isinstance(one, dict)]
        return list_texts([part for part in parts if isinstance(part, dict)])
    return [written(result["structuredContent"])] if "structuredContent" in result else []
