"""An answer on its way to the client: within the limits, and in the protocol of the request. Pure."""

from __future__ import annotations

from contextlib import suppress

from spillover.adapters.mcp.fields import LISTED_CHARS, bound_data, bound_strings
from spillover.adapters.mcp.message import INTERNAL_ERROR, VERSION_KEY, Message, answer, dumps, messages, refusal
from spillover.adapters.mcp.result import (
    Tool,
    error,
    is_promise,
    prompt_result,
    resource_result,
    sampling_params,
    tool_result,
)
from spillover.base.data import replace
from spillover.notice.words import one_line
from spillover.pipeline import clip
from spillover.retrieve.tools import ERROR_CHARS
from spillover.show.fit import trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.choices import Choices


def finished(method: str, message: Message, tool: Tool) -> bytes:
    """Return an answer within the limits."""
    result, choices = message.result, tool.choices
    if result is None and message.error is not None:
        new = error(message.error, choices)
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": new})
    if is_promise(result):
        new = bound_strings(result, choices)
    elif method == "resources/read":
        new = resource_result(result, choices)
    elif method == "prompts/get":
        new = prompt_result(result, choices)
    elif method == "tools/call" or (isinstance(result, dict) and isinstance(result.get("content"), list)):
        new = tool_result(result, tool, str(message.id))
    elif method == "completion/complete":
        new = bound_data(result, choices)
    else:  # a list, or what nobody here knows: a host needs it as it is, within reason
        new = bound_strings(result, choices, free=LISTED_CHARS)
    return message.line if new == result and message.is_bare else answer(message.id, new)


def within(message: Message, choices: Choices) -> Message:
    """Return a notification or a request of a server's, within the limits."""
    params = message.any_params
    if message.method == "sampling/createMessage" and isinstance(params, dict):
        new = sampling_params(params, choices)
    elif message.is_request:
        new = bound_strings(params, choices)
    else:
        new = bound_data(params, choices)
    if new == params and message.is_bare:
        return message
    return next(messages(message.with_params(new)), message)


def with_tools(message: Message, choices: Choices) -> bytes:
    """Return what a server says of itself; that it has tools is true now."""
    if not isinstance(message.result, dict):
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": error(message.error, choices)})
    result = bound_strings(message.result, choices, free=LISTED_CHARS)
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


def survived(finish: Callable[[], bytes], message: Message, choices: Choices) -> bytes:
    """Return the answer, whatever is wrong with it: a call is never left open, and what came is kept if that can be done."""
    try:
        return finish()
    except Exception as failed:  # noqa: BLE001  whatever it is, the client waits for an answer
        said = one_line(f"{type(failed).__name__}: {failed}", ERROR_CHARS)
        words = f"The result could not be brought within the limits: {said}"
        with suppress(Exception):
            plain = replace(choices.for_answers(), keep="ends", trigger=None)
            kept = clip(message.line, plain)
            words += f" Full output: {kept.ref}" if kept.ref else f" {one_line(kept.text, ERROR_CHARS)}"
            words = trim(words, plain)
        return refusal(message.id, INTERNAL_ERROR, words)
