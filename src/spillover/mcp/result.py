"""What an MCP server sends, within the limits: texts clipped together, every other string bounded, media as it came."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec.structs import replace

from spillover.document.forgery import may_imitate
from spillover.hosts.hook import Clipping
from spillover.mcp.message import dumps, loads, written
from spillover.notice.hints import cut_data
from spillover.pipeline import clip
from spillover.results.blocks import clip_blocks, clip_texts, list_texts, replace_texts
from spillover.settings.settings import Call

#: Media: a host shows it as what it is, and does not count it as text.
MEDIA = frozenset({"image", "audio"})
#: The part of a block, by its type, that is text or media.
PAYLOAD = {"text": ("text",), "image": ("data",), "audio": ("data",), "resource": ("text", "blob")}
#: What only a host reads, and gives back as it came.
OPAQUE = frozenset({"nextCursor", "requestState"})
#: Resources that a host draws and no model reads (MCP Apps).
DRAWN = "ui://"
#: Under this key, data that was cut says so.
SAID = "spillover"
#: Fields beside the texts, media and data of a result cost no room up to so many characters.
BESIDE = 2_000
#: How much of an address, or of a kind of media, is left where it was too long to stay.
ADDRESS_CHARS = 200
#: In lists, and in what a server says of itself, a string up to so many characters passes whatever the limits are:
#: without its description a tool cannot be used.
LISTED_CHARS = 20_000
#: A name longer than this is nobody's.
NAME_CHARS = 1_000
#: Values nested deeper than this are bounded as one text.
DEEP = 60
#: For data that does not fit: so many entries of each list and object, so many characters of each string; the first that fits.
CUTS = ((256, 1_000), (64, 500), (16, 200), (4, 50), (0, 20))
#: So many keys of an object are left in any case: without them a client could not read it.
LEAST_KEYS = 16
#: Escapes in JSON behind which something may stand that is cleaned away; DEL.
_UNCLEAN = re.compile(rb'\\[^nt"\\/]|\x7f')


def fits(text: str, call: Call) -> bool:
    limits = call.trigger or call.limits
    return limits.hold(text, call.settings.count)


def fill(text: str, call: Call) -> float:
    return call.limits.fill(text, call.settings.count)


def with_share(call: Call, part: float) -> Call:
    return replace(call, limits=call.limits.share(part), trigger=None)


def lines_of(data: Any) -> str:
    """Return data as it is stored: line by line, so that it can be read in part."""
    return json.dumps(data, indent=1, ensure_ascii=False)


def surely_fits(line: bytes, call: Call) -> bool:
    """Return whether a message is so small and plain that nothing in it can be above a limit: no look inside is needed."""
    times = 2 if b"structuredContent" in line else 1  # hosts write data with spaces between
    if not is_small(line, call, times) or not line.isascii() or _UNCLEAN.search(line.replace(rb"\\", b"")):
        return False
    return not may_imitate(line.decode("ascii"))  # something in it may read like a notice


def is_small(line: bytes, call: Call, times: int = 1) -> bool:
    """Return whether a message is so small that nothing in it can be above a limit."""
    limits = call.trigger or call.limits
    tokens = limits.tokens if call.settings.count.within_bytes else (0 if limits.tokens else None)
    room = min((bound for bound in (limits.bytes, limits.chars, tokens) if bound is not None), default=len(line))
    if times * len(line) > room:
        return False
    return limits.lines is None or line.count(b"\\n") + line.count(b"{") <= limits.lines


def is_promise(result: Any) -> bool:
    """Return whether there is no result yet: the server has a question first, or works on it."""
    return isinstance(result, dict) and (result.get("resultType", "complete") != "complete" or "task" in result)


# Results


def tool_result(result: Any, call: Call) -> Any:
    """Return the result of tools/call: its texts share one budget. Data that does not fit is one of these texts."""
    if not isinstance(result, dict) or not (isinstance(result.get("content"), list) or "structuredContent" in result):
        return bound_strings(result, call) if is_promise(result) else _unknown(result, call)
    content = result.get("content") or []
    content = content if isinstance(content, list) else [_text(dumps(content).decode())]  # no server should
    data = {key: value for key, value in result.items() if key == "structuredContent"}
    if any(value is not None and not fits(written(value), call) for value in data.values()):
        value = data.pop("structuredContent")
        if not _repeats(content, value):
            content = [*content, _text(lines_of(value))]
    rest = {key: value for key, value in result.items() if key not in ("content", "structuredContent")}
    blocks = _clip_together(content, rest, call)
    if blocks is None:
        kept = {key: rest[key] for key in ("isError", "resultType") if rest.get(key) in (True, False, "complete")}
        return {**kept, "content": _one_text(content, rest, call), **data}
    return {**rest, "content": [block for block in blocks if block is not None], **data}


def _repeats(content: list[Any], data: Any) -> bool:
    """Return whether the one text of a result is its data once more: as JSON, or as the string that `data` wraps."""
    texts = list_texts([block for block in content if isinstance(block, dict) and block.get("type") == "text"])
    if len(texts) != 1:
        return False
    if isinstance(data, dict) and [*data.values()] == texts:  # as servers wrap a string: {"result": …}, {"content": …}
        return True
    try:
        said = loads(texts[0].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return data in (said, {"result": said})


def resource_result(result: Any, call: Call) -> Any:
    """Return the result of resources/read: the texts of its contents share one budget."""
    contents = result.get("contents") if isinstance(result, dict) else None
    if not isinstance(contents, list) or not all(isinstance(part, dict) for part in contents):
        return bound_data(result, call)
    if any(str(part.get("uri", "")).startswith(DRAWN) for part in contents):
        return result
    content = [{"type": "resource", "resource": part} for part in contents]
    rest = {key: value for key, value in result.items() if key != "contents"}
    blocks = _clip_together(content, rest, call)
    if blocks is not None:
        return {**rest, "contents": [block["resource"] for block in blocks if block is not None]}
    uri = next((str(part["uri"])[:ADDRESS_CHARS] for part in contents if "uri" in part), "")
    text, *media = _one_text(content, rest, call)
    return {"contents": [{"uri": uri, "text": text["text"]}, *(block["resource"] for block in media)]}


def prompt_result(result: Any, call: Call) -> Any:
    """Return the result of prompts/get: its description and the texts of its messages share one budget."""
    messages = result.get("messages") if isinstance(result, dict) else None
    if not isinstance(messages, list) or not all(
        isinstance(message, dict) and isinstance(message.get("content"), dict) for message in messages
    ):
        return bound_data(result, call)
    about = [_text(result["description"])] if isinstance(result.get("description"), str) else []
    content = [*about, *(message["content"] for message in messages)]
    left = ("messages", "description") if about else ("messages",)
    rest = {key: value for key, value in result.items() if key not in left}
    shells = [{key: value for key, value in message.items() if key != "content"} for message in messages]
    blocks = _clip_together(content, {**rest, "messages": shells}, call)
    if blocks is None:
        texts = _one_text(content, {**rest, "messages": shells}, call)
        return {"messages": [{"role": "user", "content": block} for block in texts]}
    if about and (described := blocks.pop(0)) is not None:
        rest["description"] = described["text"]
    pairs = zip(shells, blocks, strict=True)
    return {**rest, "messages": [{**shell, "content": block} for shell, block in pairs if block is not None]}


def error(said: Any, call: Call) -> Any:
    """Return the error of any call; hosts show its words to the model. Data that does not fit is stored with the words."""
    if fits(written(said), call):
        return said
    plain = replace(call.for_retrieval(), trigger=None)
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


def _unknown(result: Any, call: Call) -> Any:
    """Return a result of no shape we know: as it is while it fits, as text where not."""
    text = dumps(result).decode()
    if fits(text, call):
        return result
    failed = isinstance(result, dict) and result.get("isError") is True
    return {"content": [_text(clip(text, call).text)], "isError": failed}


# Blocks


def _clip_together(content: list[Any], rest: dict[str, Any], call: Call) -> list[Any] | None:
    """Clip the texts of blocks within one budget; None if not all fits, and what stands beside them takes more than half.

    The blocks keep their places; one of which nothing is shown becomes None.
    """
    texts = list_texts(content)
    counted = "".join(written(block) for block in content if _is_other(block))
    beside = written([rest, *filter(None, map(_extras, content))])
    if len(beside) > BESIDE:
        counted += beside
    taken = fill(counted, call) if counted else 0.0
    if counted and taken <= 0.5:
        call = with_share(call, 1 - taken)
    elif counted and not fits("\n".join([counted, *texts]), call):
        return None
    guard = Clipping(call)
    marked = [_mark(block, guard) for block in content] if guard.fits("\n".join(texts)) else []
    if marked and guard.fits("\n".join(list_texts(marked))):
        # What fits passes byte for byte, line ends, control bytes and all, unless it reads like a notice of ours.
        passed = clip_blocks(marked, call.with_settings(raw=True))
        if passed.clip.outcome == "whole":
            return marked
    if taken > 0.5:
        return None
    shown, _ = clip_texts(texts, call)
    left = iter(shown)
    new = replace_texts(content, lambda _: next(left), keep_empty=True)
    return [None if _is_emptied(*pair) else pair[1] for pair in zip(content, new, strict=True)]


def _is_emptied(before: Any, after: Any) -> bool:
    """Return whether nothing is shown of a block that is a text; an embedded resource keeps its address."""
    is_text = isinstance(before, str) or (isinstance(before, dict) and before.get("type") == "text")
    return is_text and any(list_texts([before])) and not any(list_texts([after]))


def _one_text(content: list[Any], rest: dict[str, Any], call: Call) -> list[Any]:
    """Return a result with too much beside its texts: all of it as one text, and its media."""
    text = lines_of({**rest, "content": [_split_media(block)[0] for block in content]})
    media = [media for block in content if (media := _split_media(block)[1]) is not None]
    return [_text(clip(text, call).text), *media]


def _split_media(block: Any) -> tuple[Any, Any]:
    """Return a block without its media, and its media alone."""
    if _is_other(block) or isinstance(block, str):
        return block, None
    fields = block["resource"] if block["type"] == "resource" else block
    payload = {key: fields[key] for key in ("data", "blob") if key in PAYLOAD[block["type"]] and key in fields}
    if not all(isinstance(value, str) for value in payload.values()) or not payload:
        return block, None
    short = {key: str(fields[key])[:ADDRESS_CHARS] for key in ("uri", "mimeType") if key in fields}
    left = {key: value for key, value in fields.items() if key not in payload}
    if block["type"] == "resource":
        return {**block, "resource": left}, {"type": "resource", "resource": {**short, **payload}}
    return left, {"type": block["type"], **short, **payload}


def _mark(block: Any, guard: Clipping) -> Any:
    """Return a block as it came; cleaned and marked where a line of its text reads like a notice."""
    if isinstance(block, str):
        return guard.marked(block)
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return {**block, "text": guard.marked(block["text"])}
    if isinstance(block, dict) and isinstance(block.get("resource"), dict):
        return {**block, "resource": _mark(block["resource"], guard)}
    return block


def _extras(block: Any) -> dict[str, Any]:
    """Return what a block that is no `_is_other` has beside its text or its media."""
    if _is_other(block) or isinstance(block, str):
        return {}
    payload = PAYLOAD[block["type"]]
    if block["type"] != "resource":
        return _without(block, ("type",), payload)
    inside = _without(block["resource"], (), payload)
    outside = _without(block, ("type", "resource"), ())
    return {**outside, "resource": inside} if inside else outside


def _without(fields: dict[str, Any], keys: tuple[str, ...], payload: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields without some keys, and without texts and media."""
    return {
        key: value
        for key, value in fields.items()
        if key not in keys and not (key in payload and isinstance(value, str))
    }


def _is_other(block: Any) -> bool:
    """Return whether a block is neither text nor media nor an embedded resource."""
    if isinstance(block, str):
        return False
    if not isinstance(block, dict):
        return True
    kind = block.get("type")
    if kind == "resource":
        return not isinstance(block.get("resource"), dict)
    return not (kind in tuple(MEDIA) or (kind == "text" and isinstance(block.get("text"), str)))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# Everything else


def bound_strings(value: Any, call: Call, *, free: int = 0, depth: int = 0) -> Any:
    """Return the same value; a string above the limits, and above `free` characters, is its clip: stored, and saying so."""
    if isinstance(value, str):
        return value if len(value) <= free or fits(value, call) else clip(value, call).text
    if isinstance(value, list):
        if depth > DEEP:
            return _as_text(value, call, free)
        return [bound_strings(item, call, free=free, depth=depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if depth > DEEP or any(len(key) > NAME_CHARS for key in value):
        return _as_text(value, call, free)
    return {
        key: item if is_exact(value, key) else bound_strings(item, call, free=free, depth=depth + 1)
        for key, item in value.items()
    }


def _as_text(value: Any, call: Call, free: int) -> Any:
    """Return what is too deep, or has keys too long, to be bounded part by part: text, where it is too large."""
    text = written(value)
    return value if len(text) <= max(free, NAME_CHARS) else clip(text, call).text


def is_exact(parent: dict[str, Any], key: str) -> bool:
    """Return whether a part of an object is media, or opaque to everybody: it is passed as it came."""
    value = parent[key]
    if not isinstance(value, str):
        return False
    if key == "data":
        return parent.get("type") in tuple(MEDIA)  # of whatever kind: in a schema, "type" may be an object
    if key == "blob":
        return isinstance(parent.get("uri"), str)
    return key in OPAQUE or (key == "src" and value.startswith("data:image/"))


def bound_data(value: Any, call: Call) -> Any:
    """Return the same, all of it together within the limits: data above them has fewer entries, is stored, and says so."""
    if fits(written(value), call):
        return value
    smaller = bound_strings(value, with_share(call, 0.5))
    if fits(written(smaller), call):
        return smaller
    kept = clip(lines_of(value), call)
    if isinstance(value, str):
        return kept.text
    said = cut_data(call.settings.hints, kept.total.bytes, kept.ref, kept.reason)
    for entries, chars in CUTS:
        part = _shorten(value, entries, chars)
        part = {SAID: said, **part} if isinstance(part, dict) else part
        if fits(written(part), call):
            return part
    return {SAID: said} if isinstance(value, dict) else []


def _shorten(value: Any, entries: int, chars: int, depth: int = 0) -> Any:
    """Return data with so many entries of each list and object, and so many characters of each string."""
    if isinstance(value, str):
        return value if len(value) <= chars else value[:chars] + "…"
    if depth > DEEP:
        return "…"
    if isinstance(value, list):
        return [_shorten(item, entries, chars, depth + 1) for item in value[:entries]]
    if isinstance(value, dict):
        few = [*value.items()][: max(entries, LEAST_KEYS)]
        return {key: _shorten(item, entries, chars, depth + 1) for key, item in few}
    return value
