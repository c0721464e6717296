"""What an MCP server answers, within the limits: texts clipped, data cut to its schema, all the rest as it came."""

from __future__ import annotations

import re
from itertools import groupby

from spillover.adapters import mcp_schema
from spillover.adapters.mcp_message import dumps, loads, written
from spillover.blocks import clip_blocks
from spillover.data import dataclass, replace
from spillover.limits import SMALLEST, Limits
from spillover.notice import cut_data
from spillover.pipeline import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.choices import Choices
    from spillover.result import Clip

#: Media: a host shows it as what it is, and does not count it as text.
MEDIA = frozenset({"image", "audio"})
#: Resources that a host draws and no model reads (MCP Apps).
DRAWN = "ui://"
#: Under this key, where a schema leaves room for it, data that was cut says so.
SAID = "spillover"
#: How Claude Code lets a server say how much of a tool's result may stand in the conversation.
MAX_CHARS = "anthropic/maxResultSizeChars"
#: More texts than this in one result are not weighed against each other.
MANY = 32
#: Where what is clipped together stood.
_AT = "\0at"
#: Escapes in JSON behind which something may stand that is cleaned away; DEL.
_UNCLEAN = re.compile(rb'\\[^nt"\\/]|\x7f')


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What is known of a tool: how its results are clipped."""

    choices: Choices
    schema: dict[str, Any] | None = None  # what we let the server promise
    left_alone: bool = False


def bounded_by(choices: Choices, chars: Any) -> Choices:
    """The choices with the size a tool declares for itself as an upper bound."""
    if not isinstance(chars, int) or isinstance(chars, bool) or chars < 1:
        return choices
    most = max(chars, SMALLEST["chars"])

    def lower(limits: Limits) -> Limits:
        return limits if limits.chars is not None and limits.chars <= most else replace(limits, chars=most)

    return replace(choices, limits=lower(choices.limits), trigger=choices.trigger and lower(choices.trigger))


def surely_fits(line: bytes, choices: Choices) -> bool:
    """Whether a message is so small and plain that nothing in it can be above a limit: no look inside is needed."""
    limits = choices.trigger or choices.limits
    tokens = limits.tokens if choices.byte_bound else (0 if limits.tokens else None)
    room = min((bound for bound in (limits.bytes, limits.chars, tokens) if bound is not None), default=len(line))
    size = 2 * len(line) if b"structuredContent" in line else len(line)  # hosts write data with spaces between
    if size > room or not line.isascii() or _UNCLEAN.search(line.replace(rb"\\", b"")):
        return False
    return limits.lines is None or line.count(b"\\n") + line.count(b"{") <= limits.lines


def tool_result(result: Any, tool: Tool, call_id: str | None = None) -> Any:
    """The result of tools/call: its texts share one budget, its data has the same once more."""
    choices = tool.choices
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        if isinstance(result, dict) and (result.get("resultType", "complete") != "complete" or "task" in result):
            return result  # no result yet: a question, or a promise
        if not isinstance(result, dict) or "structuredContent" not in result:
            return _unknown(result, choices, call_id)
    content = result.get("content", [])
    blocks, clipped = _blocks(content, choices, call_id)
    new = {**result, "content": blocks}
    data = result.get("structuredContent")
    if data is None or _fits(written(data), choices):
        return new
    stored = clipped.ref is not None and _is_said(data, content)
    kept = clipped if stored else clip(_lines(data), choices, call_id=call_id)
    said = cut_data(choices.ways, kept.total.bytes, kept.ref, kept.reason)
    value, noted = _cut(data, tool, said)
    if not stored and not noted:
        new["content"] = _with_note(content, said, choices, call_id)
    if value is not None:
        return {**new, "structuredContent": value}
    del new["structuredContent"]  # there is no such cut; whoever promised data has failed
    return {**new, "isError": True} if tool.schema is not None else new


def _cut(data: Any, tool: Tool, said: str) -> tuple[Any, bool]:
    """The data, cut; and whether it has a word about it, where the schema has a place for one."""
    choices, schema = tool.choices, tool.schema or True
    if isinstance(data, dict) and SAID not in data:
        words = written({SAID: said})
        value = mcp_schema.cut(data, schema, lambda text: _fill(text + words, choices))
        if value is not None and (tool.schema is None or mcp_schema.is_of({SAID: said, **value}, schema)):
            return {SAID: said, **value}, True
    value = mcp_schema.cut(data, schema, lambda text: _fill(text, choices))
    return (value if tool.schema is None or mcp_schema.is_of(value, schema) else None), False


def _with_note(content: list[Any], said: str, choices: Choices, call_id: str | None) -> list[Any]:
    """The blocks, and before them what is to be said of the data, all within the limits."""
    rest = max(0.0, 1 - _fill(said + "\n", choices))
    return [{"type": "text", "text": said}, *_blocks(content, _with_share(choices, rest), call_id)[0]]


def _with_share(choices: Choices, part: float) -> Choices:
    return replace(choices, limits=choices.limits.share(part), trigger=None)


def _is_said(data: Any, content: list[Any]) -> bool:
    """Whether the one text of a result is the data once more, so that it is stored already."""
    texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str):
        return False
    if isinstance(data, dict) and [*data.values()] == texts:  # as servers wrap a string: {"result": …}, {"content": …}
        return True
    try:
        said = loads(texts[0].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return data in (said, {"result": said})


def _lines(data: Any) -> str:
    """Data as it is stored: line by line, so that it can be read in part."""
    import json

    return json.dumps(data, indent=1, ensure_ascii=False)


def resource_result(result: Any, choices: Choices, call_id: str | None = None) -> Any:
    """The result of resources/read: the texts of its contents share one budget."""
    contents = result.get("contents") if isinstance(result, dict) else None
    if not isinstance(contents, list) or not all(isinstance(part, dict) for part in contents):
        return _bounded(result, choices, call_id)
    if any(str(part.get("uri", "")).startswith(DRAWN) for part in contents):
        return result
    wrapped = [{"type": "resource", "resource": part} for part in contents]
    clipped = clip_blocks(wrapped, choices, call_id=call_id)
    return {**result, "contents": [block["resource"] for block in clipped]}


def prompt_result(result: Any, choices: Choices, call_id: str | None = None) -> Any:
    """The result of prompts/get: the texts of its messages share one budget."""
    messages = result.get("messages") if isinstance(result, dict) else None
    if not isinstance(messages, list) or not all(
        isinstance(message, dict) and isinstance(message.get("content"), dict) for message in messages
    ):
        return _bounded(result, choices, call_id)
    placed = [{**message["content"], _AT: at} for at, message in enumerate(messages)]
    clipped = clip_blocks(placed, choices, call_id=call_id)
    return {**result, "messages": [{**messages[block.pop(_AT)], "content": block} for block in map(dict, clipped)]}


def error(said: Any, choices: Choices) -> Any:
    """The error of any call; hosts show its words to the model."""
    if _fits(written(said), choices):
        return said
    plain = replace(choices.for_answers(), trigger=None)
    if not isinstance(said, dict):
        return {"code": 0, "message": clip(dumps(said), plain).text}
    message, data = said.get("message", ""), said.get("data")
    words = message if isinstance(message, str) else dumps(message).decode()
    short = {"code": said.get("code", 0), "message": clip(words, plain).text}
    together = {**short, "data": data}
    return together if data is not None and _fits(written(together), choices) else short


def _blocks(content: list[Any], choices: Choices, call_id: str | None) -> tuple[list[Any], Clip]:
    """Blocks that fit together, in their order. What is neither text nor media takes its room from the texts."""
    others = "".join(written(block) for block in content if _is_other(block))
    if others:
        taken = _fill(others, choices)
        if taken > 0.5:  # too much to leave as it is: it is text like any other
            content = [_as_text(block) if _is_other(block) else block for block in content]
        else:
            choices = _with_share(choices, 1 - taken)
    clipped = clip_blocks(_joined(content, choices), choices, call_id=call_id)
    return list(clipped), clipped.clip


def _joined(content: list[Any], choices: Choices) -> list[Any]:
    """Where there are very many texts, too many to weigh each, those that stand together are one."""
    texts = [block["text"] for block in content if _is_plain(block)]
    if len(texts) <= MANY or _fits("\n".join(texts), choices):
        return content
    joined: list[Any] = []
    for plain, together in groupby(content, _is_plain):
        blocks = list(together)
        joined += [{"type": "text", "text": "\n".join(block["text"] for block in blocks)}] if plain else blocks
    return joined


def _is_plain(block: Any) -> bool:
    return isinstance(block, dict) and block.keys() == {"type", "text"} and isinstance(block["text"], str)


def _is_other(block: Any) -> bool:
    if isinstance(block, str):
        return False
    if not isinstance(block, dict):
        return True
    kind = block.get("type")
    if kind == "resource":
        return not isinstance(block.get("resource"), dict)
    return not (kind in MEDIA or (kind == "text" and isinstance(block.get("text"), str)))


def _as_text(block: Any) -> dict[str, str]:
    return {"type": "text", "text": dumps(block).decode()}


def _unknown(result: Any, choices: Choices, call_id: str | None) -> Any:
    """A result of no shape we know: as it is while it fits, as text where not."""
    text = dumps(result).decode()
    if _fits(text, choices):
        return result
    failed = isinstance(result, dict) and result.get("isError") is True
    return {"content": [{"type": "text", "text": clip(text, choices, call_id=call_id).text}], "isError": failed}


def _bounded(result: Any, choices: Choices, call_id: str | None) -> Any:
    """The same for a call that is none of a tool: cut as data is, stored as a whole."""
    if _fits(written(result), choices):
        return result
    clip(_lines(result), choices, call_id=call_id)
    return mcp_schema.cut(result, True, lambda text: _fill(text, choices)) or {}


def _fits(text: str, choices: Choices) -> bool:
    limits = choices.trigger or choices.limits
    return limits.hold(text, choices.count, byte_bound=choices.byte_bound)


def _fill(text: str, choices: Choices) -> float:
    return choices.limits.fill(text, choices.count, byte_bound=choices.byte_bound)
