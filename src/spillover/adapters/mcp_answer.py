"""An answer on its way to the client: within the limits, and in the protocol of the request. Pure."""

from __future__ import annotations

from spillover.adapters import mcp_result
from spillover.adapters.mcp_message import INTERNAL_ERROR, VERSION_KEY, Message, answer, dumps, refusal
from spillover.notice import one_line
from spillover.retrieve.tools import ERROR_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def finished(method: str, message: Message, tool: mcp_result.Tool) -> bytes:
    """An answer within the limits."""
    result = message.result
    if result is None and message.error is not None:
        new = mcp_result.error(message.error, tool.choices)
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": new})
    if method == "resources/read":
        new = mcp_result.resource_result(result, tool.choices)
    elif method == "prompts/get":
        new = mcp_result.prompt_result(result, tool.choices)
    elif method == "tools/call" or (isinstance(result, dict) and isinstance(result.get("content"), list)):
        new = mcp_result.tool_result(result, tool, str(message.id))
    else:  # a list, a completion: no output of a tool
        return message.line
    return message.line if new == result else answer(message.id, new)


def with_tools(message: Message) -> bytes:
    """What a server says of itself: that it has tools is true now."""
    result = message.result
    if not isinstance(result, dict):
        return message.line
    can = result.get("capabilities")
    can = can if isinstance(can, dict) else {}
    return message.line if "tools" in can else answer(message.id, {**result, "capabilities": {**can, "tools": {}}})


def is_modern(message: Message) -> bool:
    """Whether a request is one of the stateless protocol: it says so itself."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def asking(message: Message) -> dict[str, Any]:
    """The parameters of a request of our own on behalf of the client's: who it is, in the stateless protocol."""
    if not is_modern(message):
        return {}
    return {"_meta": {key: value for key, value in message.params["_meta"].items() if key != "progressToken"}}


def completed(result: dict[str, Any], message: Message) -> dict[str, Any]:
    """A result of our own in the protocol of the request."""
    return {"resultType": "complete", **result} if is_modern(message) else result


def survived(finish: Callable[[], bytes], message: Message) -> bytes:
    """The answer, whatever is wrong with it: a call is never left open."""
    try:
        return finish()
    except Exception as error:  # noqa: BLE001  whatever it is, the client waits for an answer
        said = one_line(f"{type(error).__name__}: {error}", ERROR_CHARS)
        return refusal(message.id, INTERNAL_ERROR, f"The result could not be brought within the limits: {said}")
