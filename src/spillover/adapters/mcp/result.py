"""What an MCP server answers, within the limits: texts clipped, data cut to its schema, all the rest as it came."""

from __future__ import annotations

import re
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from spillover.adapters.hooked import Call as HookedCall
from spillover.adapters.mcp.fields import (
    MEDIA,
    bound_data,
    bound_strings,
    fill,
    fits,
    lines_of,
    with_share,
)
from spillover.adapters.mcp.message import dumps, written
from spillover.adapters.mcp.structured import cut_data_to_fit, is_said, wraps
from spillover.blocks.texts import texts_of
from spillover.blocks.together import clip_blocks
from spillover.notice.sentences import cut_data
from spillover.pipeline import clip
from spillover.view.forged import may_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.choices import Choices
    from spillover.result import Clip

#: Resources that a host draws and no model reads (MCP Apps).
DRAWN = "ui://"
#: What stands in a result beside its texts, media and data costs no room up to so many characters.
BESIDE = 2_000
#: How much of an address, or of a kind of media, is left where it was too long to stay.
ADDRESS_CHARS = 200
#: How Claude Code lets a server say how much of a tool's result may stand in the conversation.
MAX_CHARS = "anthropic/maxResultSizeChars"
#: More texts than this in one result are not weighed against each other.
MANY = 32
#: Where what is clipped together stood.
_AT = "\0at"
#: Escapes in JSON behind which something may stand that is cleaned away; DEL.
_UNCLEAN = re.compile(rb'\\[^nt"\\/]|\x7f')


class Tool(Struct, frozen=True, kw_only=True):
    """What is known of a tool: how its results are clipped."""

    choices: Choices
    schema: dict[str, Any] | None = None  # what we let the server promise
    left_alone: bool = False
    both_shown: bool = False  # whether the client's model reads the data and the text that says the same


def surely_fits(line: bytes, choices: Choices) -> bool:
    """Return whether a message is so small and plain that nothing in it can be above a limit: no look inside is needed."""
    times = 2 if b"structuredContent" in line else 1  # hosts write data with spaces between
    if not is_small(line, choices, times) or not line.isascii() or _UNCLEAN.search(line.replace(rb"\\", b"")):
        return False
    return not may_hold(line.decode("ascii"))  # something in it may read like a notice


def is_small(line: bytes, choices: Choices, times: int = 1) -> bool:
    """Return whether a message is so small that nothing in it can be above a limit."""
    limits = choices.trigger or choices.limits
    tokens = limits.tokens if choices.byte_bound else (0 if limits.tokens else None)
    room = min((bound for bound in (limits.bytes, limits.chars, tokens) if bound is not None), default=len(line))
    if times * len(line) > room:
        return False
    return limits.lines is None or line.count(b"\\n") + line.count(b"{") <= limits.lines


def tool_result(result: Any, tool: Tool, call_id: str | None = None) -> Any:
    """Return the result of tools/call: its texts share one budget, its data has the same once more."""
    choices = tool.choices
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        if is_promise(result):
            return bound_strings(result, choices)
        if not isinstance(result, dict) or "structuredContent" not in result:
            return _unknown(result, choices, call_id)
    given = result.get("content") or []
    given = given if isinstance(given, list) else [_text(given)]  # no server should
    content, rest = _beside(result, ("content", "structuredContent"), given)
    blocks, clipped = _blocks(content, choices, call_id)
    new = {**rest, "content": blocks}
    data = result.get("structuredContent")
    if "structuredContent" in result:
        new["structuredContent"] = data
    if data is None or fits(written(data), choices):
        return new
    stored = clipped.ref is not None and is_said(data, content)
    kept = clipped if stored else clip(lines_of(data), choices, call_id=call_id)
    said = cut_data(choices.ways, kept.total.bytes, kept.ref, kept.reason)
    # In a text of its own, the string that is wrapped as {"result": …} has no pointer.
    value, noted = cut_data_to_fit(data, choices, tool.schema, said, pointers=not (stored and wraps(data, content)))
    if not stored and not noted:
        new["content"] = _with_note(content, said, choices, call_id)
    if tool.both_shown and stored and tool.schema is None:  # once is enough, and nobody was promised data
        return {key: part for key, part in new.items() if key != "structuredContent"}
    if value is not None:
        once = [{"type": "text", "text": said}] if tool.both_shown and stored else new["content"]
        return {**new, "content": once, "structuredContent": value}
    del new["structuredContent"]  # there is no such cut; whoever promised data has failed
    return {**new, "isError": True} if tool.schema is not None else new


def is_promise(result: Any) -> bool:
    """Return whether there is no result yet: the server has a question first, or works on it."""
    return isinstance(result, dict) and (result.get("resultType", "complete") != "complete" or "task" in result)


def _beside(result: dict[str, Any], payload: tuple[str, ...], content: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return what stands beside the payload of a result: a little stays where it is, much is text like any other."""
    rest = {key: value for key, value in result.items() if key not in payload}
    if len(written(rest)) <= BESIDE:
        return content, rest
    short = {key: value for key, value in rest.items() if isinstance(value, bool) or key == "resultType"}
    return [_text(rest), *content], {key: value for key, value in short.items() if len(written(value)) < ADDRESS_CHARS}


def _with_note(content: list[Any], said: str, choices: Choices, call_id: str | None) -> list[Any]:
    """Return the blocks, and before them what is to be said of the data, all within the limits."""
    rest = max(0.0, 1 - fill(said + "\n", choices))
    return [{"type": "text", "text": said}, *_blocks(content, with_share(choices, rest), call_id)[0]]


def resource_result(result: Any, choices: Choices, call_id: str | None = None) -> Any:
    """Return the result of resources/read: the texts of its contents share one budget."""
    contents = result.get("contents") if isinstance(result, dict) else None
    if not isinstance(contents, list) or not all(isinstance(part, dict) for part in contents):
        return bound_data(result, choices)
    if any(str(part.get("uri", "")).startswith(DRAWN) for part in contents):
        return result
    wrapped = [{"type": "resource", "resource": part} for part in contents]
    content, rest = _beside(result, ("contents",), wrapped)
    clipped, _ = _blocks(content, choices, call_id)
    uri = next((str(part["uri"])[:ADDRESS_CHARS] for part in contents if "uri" in part), "")
    return {
        **rest,
        "contents": [
            block["resource"] if "resource" in block else {"uri": uri, "text": block["text"]} for block in clipped
        ],
    }


def prompt_result(result: Any, choices: Choices, call_id: str | None = None) -> Any:
    """Return the result of prompts/get: its description and the texts of its messages share one budget."""
    messages = result.get("messages") if isinstance(result, dict) else None
    if not isinstance(messages, list) or not all(
        isinstance(message, dict) and isinstance(message.get("content"), dict) for message in messages
    ):
        return bound_data(result, choices)
    words = "systemPrompt" if "systemPrompt" in result else "description"
    first = {words: result[words]} if isinstance(result.get(words), str) else {}
    placed: list[Any] = [{"type": "text", "text": text} for text in first.values()]
    shells = []
    for at, message in enumerate(messages):
        own, shell = _beside(message, ("content",), [])
        placed += [{**block, _AT: at} for block in (*own, message["content"])]
        shells.append(shell if "role" in shell else {"role": "user", **shell})
    content, rest = _beside(result, ("messages", *first), placed)
    new: dict[str, Any] = {**rest, "messages": []}
    for block in map(dict, _blocks(content, choices, call_id)[0]):
        if _AT in block:
            new["messages"].append({**shells[block.pop(_AT)], "content": block})
        else:
            new[words] = new[words] + "\n" + block["text"] if words in new else block["text"]
    return new


def sampling_params(params: dict[str, Any], choices: Choices) -> Any:
    """Return a server's request for a model's words: its own words and the texts of its messages share one budget."""
    words = ("messages", "systemPrompt")
    found = params.get("messages")
    if not isinstance(found, list) or not all(isinstance(message, dict) and _is_block(message) for message in found):
        return bound_strings(params, choices)  # calls of tools and their results belong together
    rest = bound_strings({key: value for key, value in params.items() if key not in words}, with_share(choices, 0.5))
    texts = prompt_result({key: params[key] for key in words if key in params}, choices)
    return {**rest, **(texts if isinstance(texts, dict) else {"messages": texts})}


def _is_block(message: dict[str, Any]) -> bool:
    """Return whether the content of a message is one block that we know."""
    block = message.get("content")
    return isinstance(block, dict) and block.get("type") in tuple(_PAYLOAD)  # of whatever kind "type" is


def error(said: Any, choices: Choices) -> Any:
    """Return the error of any call; hosts show its words to the model. Data that does not fit is stored with the words."""
    if fits(written(said), choices):
        return said
    plain = replace(choices.for_answers(), trigger=None)
    if not isinstance(said, dict):
        return {"code": 0, "message": clip(dumps(said), plain).text}
    code, message = said.get("code", 0), said.get("message", "")
    code = code if isinstance(code, int) else 0
    rest = {key: value for key, value in said.items() if key not in ("code", "message")}
    words = message if isinstance(message, str) else dumps(message).decode()
    taken = fill(written(rest), plain) if rest else 0.0
    if taken > 0.5:  # the data is text like any other, after the words
        return {"code": code, "message": clip(f"{words}\n{lines_of(rest)}", plain).text}
    return {"code": code, "message": clip(words, with_share(plain, 1 - taken)).text, **rest}


def _blocks(content: list[Any], choices: Choices, call_id: str | None) -> tuple[list[Any], Clip]:
    """Blocks that fit together, in their order. What is neither text nor media takes its room from the texts."""
    others = "".join(written(block) for block in content if _is_other(block))
    beside = "".join(written(extras) for extras in map(_extras, content) if extras)
    if len(beside) > BESIDE:
        others += beside
    if others:
        taken = fill(others, choices)
        if taken > 0.5:  # too much to leave as it is: it is text like any other
            content = [part for block in content for part in _apart(block)]
        else:
            choices = with_share(choices, 1 - taken)
    guard = HookedCall(choices)
    marked = [_mark(block, guard) for block in content] if guard.fits("\n".join(texts_of(content))) else []
    if marked and guard.fits("\n".join(texts_of(marked))):
        # What fits passes byte for byte, line ends, control bytes and all, unless it reads like a notice of ours.
        passed = clip_blocks(marked, replace(choices, raw=True), call_id=call_id)
        if passed.clip.outcome == "whole":
            return marked, passed.clip
    clipped = clip_blocks(_joined(content, choices), choices, call_id=call_id)
    return list(clipped), clipped.clip


def _mark(block: Any, guard: HookedCall) -> Any:
    """Return a block as it came; cleaned and marked where a line of its text reads like a notice."""
    if isinstance(block, str):
        return guard.marked(block)
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return {**block, "text": guard.marked(block["text"])}
    if isinstance(block, dict) and isinstance(block.get("resource"), dict):
        return {**block, "resource": _mark(block["resource"], guard)}
    return block


#: The part of a block, by its type, that is text or media.
_PAYLOAD = {"text": ("text",), "image": ("data",), "audio": ("data",), "resource": ("text", "blob")}


def _extras(block: Any) -> dict[str, Any]:
    """Return what a block that is no `_is_other` has beside its text or its media."""
    if _is_other(block) or isinstance(block, str):
        return {}
    kind = block["type"]
    if kind != "resource":
        return _without_payload(block, kind)
    address = _without_payload(block["resource"], kind)
    return _without_payload(block, "") | ({"resource": address} if address else {})


def _without_payload(fields: dict[str, Any], kind: str) -> dict[str, Any]:
    payload = _payload(fields, kind)
    left_out = {"type", _AT} | ({"resource"} if not kind else set())
    return {key: value for key, value in fields.items() if key not in left_out and key not in payload}


def _payload(fields: dict[str, Any], kind: str) -> dict[str, str]:
    """Return the text, or the media, among the fields of a block; what is no string is neither."""
    return {key: fields[key] for key in _PAYLOAD.get(kind, ()) if isinstance(fields.get(key), str)}


def _apart(block: Any) -> list[Any]:
    """Return a block as blocks that can be clipped: what is beside its text or its media becomes text."""
    at = {_AT: block[_AT]} if isinstance(block, dict) and _AT in block else {}
    if _is_other(block):
        return [{**_text({key: value for key, value in block.items() if key != _AT} if at else block), **at}]
    extras = _extras(block)
    if not extras:
        return [block]
    said, kind = {**_text(extras), **at}, block["type"]
    fields = block["resource"] if kind == "resource" else block
    names = {"resource": ("uri", "mimeType"), "text": ()}.get(kind, ("mimeType",))
    short = {key: str(fields[key])[:ADDRESS_CHARS] for key in names if key in fields}
    slim = {**short, **_payload(fields, kind)}
    return [said, {"type": kind, **({"resource": slim} if kind == "resource" else slim), **at}]


def _joined(content: list[Any], choices: Choices) -> list[Any]:
    """Return where there are very many texts, too many to weigh each, those that stand together are one."""
    texts = [block["text"] for block in content if _is_plain(block)]
    if len(texts) <= MANY or fits("\n".join(texts), choices):
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
    if not isinstance(kind, str):
        return True
    if kind == "resource":
        return not isinstance(block.get("resource"), dict)
    return not (kind in MEDIA or (kind == "text" and isinstance(block.get("text"), str)))


def _text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": dumps(value).decode()}


def _unknown(result: Any, choices: Choices, call_id: str | None) -> Any:
    """Return a result of no shape we know: as it is while it fits, as text where not."""
    text = dumps(result).decode()
    if fits(text, choices):
        return result
    failed = isinstance(result, dict) and result.get("isError") is True
    return {"content": [{"type": "text", "text": clip(text, choices, call_id=call_id).text}], "isError": failed}
