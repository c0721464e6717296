"""Bound what an MCP server sends: texts are clipped together, every other string is bounded, media stay."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from spillover.document.document import cover_bytes, cover_text
from spillover.document.forgery import may_imitate
from spillover.events import has_line, record_result, together
from spillover.hosts import find_client
from spillover.hosts.hook import Clipping
from spillover.kinds.fit import trim
from spillover.mcp.message import INTERNAL_ERROR, Message, answer, dumps, loads, messages, refusal, to_json
from spillover.notice.hints import cut_data
from spillover.notice.wording import one_line
from spillover.pipeline import clip
from spillover.result import Clip
from spillover.results.blocks import clip_blocks, clip_texts, list_texts, replace_texts
from spillover.results.objects import cover_strings
from spillover.retrieve.tools import ERROR_CHARS
from spillover.settings.settings import Call, Settings

#: Media: a host shows it as what it is, and does not count it as text.
MEDIA = ("image", "audio")
#: The part of a block, by its type, that is text or media.
PAYLOAD = {"text": ("text",), "image": ("data",), "audio": ("data",), "resource": ("text", "blob")}
#: Strings that only a host reads, and gives back unchanged.
OPAQUE = ("nextCursor", "requestState")
#: Strings that only a client reads, at the top of a message, of its result, of its params or of a task: never covered.
EXACT = frozenset({"jsonrpc", "id", "method", "nextCursor", "requestState", "progressToken", "taskId"})
#: The start of the address of a resource that a host draws and no model reads (MCP Apps).
DRAWN = "ui://"
#: The key under which data that was cut says so.
NOTICE_KEY = "spillover"
#: Characters of the fields beside the texts, media and data of a result that count for nothing; more pass unbounded.
BESIDE_CHARS = 2_000
#: Characters that are left of an address, or of a kind of media, that was too long; more counts against no limit.
ADDRESS_CHARS = 200
#: Characters of a string that passes in lists, and in what a server says of itself, whatever the limits are: without
#: its description a tool cannot be used. A larger number lets longer ones into the context.
LISTED_CHARS = 20_000
#: Characters of a name; an object with a longer one becomes text, and a message with one is dropped.
NAME_CHARS = 1_000
#: Levels of a value that are bounded one by one; deeper values are bounded as one text. Well below the recursion limit.
MAX_DEPTH = 60
#: Tried in turn on data that does not fit: the most entries of each list and object, and characters of each string.
CUTS = ((256, 1_000), (64, 500), (16, 200), (4, 50), (0, 20))
#: An object keeps this many keys at least: without them a client could not read it.
LEAST_KEYS = 16
#: Characters of the name of a client that are recorded.
CLIENT_CHARS = 60
#: Escapes in JSON behind which something may stand that is cleaned away; DEL.
_UNCLEAN = re.compile(rb'\\[^nt"\\/]|\x7f')


# Measuring


def fits(text: str, call: Call) -> bool:
    """Return whether a text needs no cut."""
    return (call.trigger or call.limits).hold(text, call.settings.count)


def with_share(call: Call, part: float) -> Call:
    """Return the call with a part of its limits."""
    return replace(call, limits=call.limits.share(part), trigger=None)


def passes_unread(line: bytes, call: Call) -> bool:
    """Return whether a message is so small and plain that nothing in it can be above a limit."""
    times = 2 if b"structuredContent" in line else 1  # hosts write data with spaces between
    if not is_small(line, call, times) or not line.isascii() or _UNCLEAN.search(line.replace(rb"\\", b"")):
        return False
    return not may_imitate(line.decode("ascii"))


def is_small(line: bytes, call: Call, times: int = 1) -> bool:
    """Return whether no string in a message can be above a limit."""
    limits = call.trigger or call.limits
    tokens = limits.tokens if call.settings.count.within_bytes else (0 if limits.tokens else None)
    room = min((bound for bound in (limits.bytes, limits.chars, tokens) if bound is not None), default=len(line))
    if times * len(line) > room:
        return False
    return limits.lines is None or line.count(b"\\n") + line.count(b"{") <= limits.lines


def is_pending(result: Any) -> bool:
    """Return whether there is no result yet: the server has a question first, or works on it."""
    return isinstance(result, dict) and (result.get("resultType", "complete") != "complete" or "task" in result)


def lines_of(data: Any) -> str:
    """Return data as it is stored: line by line, so that it can be read in part."""
    return json.dumps(data, indent=1, ensure_ascii=False)


# Messages


def bound_answer(method: str, message: Message, call: Call) -> bytes:
    """Return an answer of the server within the limits."""
    result = message.result
    if result is None and message.error is not None:
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": bound_error(message.error, call)})
    if is_pending(result):
        new = bound_strings(result, call)
    elif method == "resources/read":
        new = resource_result(result, call)
    elif method == "prompts/get":
        new = prompt_result(result, call)
    elif method == "tools/call" or (isinstance(result, dict) and isinstance(result.get("content"), list)):
        new = tool_result(result, replace(call, id=str(message.id)))
    elif method == "completion/complete":
        new = bound_data(result, call)
    else:  # a list, or a method that we do not know: a host needs it unchanged, within reason
        new = bound_strings(result, call, free=LISTED_CHARS)
    return message.line if new == result and message.is_bare else answer(message.id, new)


def bound_message(message: Message, call: Call) -> Message:
    """Return a notification or a request of the server within the limits."""
    params = message.any_params
    new = bound_strings(params, call) if message.is_request else bound_data(params, call)
    if new == params and message.is_bare:
        return message
    return next(messages(message.with_params(new)), message)


def add_tools_capability(message: Message, call: Call) -> bytes:
    """Return a server's account of itself, within the limits, with tools among its capabilities."""
    if not isinstance(message.result, dict):
        return dumps({"jsonrpc": "2.0", "id": message.id, "error": bound_error(message.error, call)})
    result = bound_strings(message.result, call, free=LISTED_CHARS)
    capabilities = result.get("capabilities")
    capabilities = capabilities if isinstance(capabilities, dict) else {}
    if "tools" not in capabilities:
        result = {**result, "capabilities": {**capabilities, "tools": {}}}
    return message.line if result == message.result and message.is_bare else answer(message.id, result)


def finish_or_refuse(finish: Callable[[], bytes], message: Message, call: Call) -> bytes:
    """Call `finish`; return an error if it fails: no call is left open, and its bytes are stored if possible."""
    try:
        return finish()
    except Exception as failure:  # noqa: BLE001  whatever it is, the client waits for an answer
        reason = one_line(f"{type(failure).__name__}: {failure}", ERROR_CHARS)
        words = f"The result could not be brought within the limits: {reason}"
        with suppress(Exception):
            plain = replace(call.for_retrieval().with_settings(keep="ends"), trigger=None)
            whole = clip(message.line, plain)
            words += f" Full output: {whole.ref}" if whole.ref else f" {one_line(whole.text, ERROR_CHARS)}"
            words = trim(words, plain)
        return refusal(message.id, INTERNAL_ERROR, words)


def cover_line(line: bytes, settings: Settings) -> bytes:
    """Return a message without the secrets in it, from either side."""
    if cover_bytes(settings, line) == line:
        return line
    try:
        message = loads(line)
    except (ValueError, RecursionError):
        return cover_bytes(settings, line)
    return dumps(_cover_part(message, partial(cover_text, settings)))


def _cover_part(part: Any, cover: Callable[[str], str]) -> Any:
    """Return a part of a message without the secrets in it; EXACT strings stay."""
    if not isinstance(part, dict):
        return cover_strings(part, cover)
    entries = {}
    for key, inner in part.items():
        if key in ("params", "result", "task"):
            entries[cover(key)] = _cover_part(inner, cover)
        else:
            is_exact = key in EXACT and not isinstance(inner, (dict, list))
            entries[cover(key)] = inner if is_exact else cover_strings(inner, cover, key)
    return entries


# The journal


def finish_and_record(finish: Callable[[], bytes], message: Message, call: Call, client: str) -> bytes:
    """Call `finish`, record the answer that it returns, and return it."""
    start = time.monotonic()
    with together() as clips:
        line = finish()
    record_answer(message, line, call, client, clips, seconds=time.monotonic() - start)
    return line


def record_answer(
    message: Message, line: bytes, call: Call, client: str, clips: Sequence[Clip] = (), *, seconds: float = 0.0
) -> None:
    """Record an answer: the server's `message`, the `line` that the client gets, and its clips."""
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if not has_line(call.settings, whole=cut is None):
        return
    reply = message if line is message.line else next(messages(line), None)
    texts = [] if reply is None else _texts_of_answer(reply)
    agent = find_client(client)
    record_result(
        call,
        cut or Clip("", _count=call.settings.count),
        texts=texts,
        host=agent.title if agent else client[:CLIENT_CHARS] or None,
        cut=dict(agent.shows_mcp.given()) if agent and agent.shows_mcp else {},
        framed=cut is not None,
        seconds=seconds,
    )


def client_of(message: Message) -> str:
    """Return the name of the client in its handshake; "" if there is none."""
    info = message.params.get("clientInfo")
    name = info.get("name") if isinstance(info, dict) else None
    return name[:CLIENT_CHARS] if isinstance(name, str) else ""


def _texts_of_answer(message: Message) -> list[str]:
    """Return the texts that a model reads: of an error its words, of data without words its JSON."""
    if message.error is not None:
        words = message.error.get("message") if isinstance(message.error, dict) else None
        return [words] if isinstance(words, str) else []
    result: Any = message.result
    if not isinstance(result, dict):
        return []
    match result:
        case {"content": list(content)} if texts := list_texts(content):
            return texts
        case {"contents": list(contents)}:
            return [part["text"] for part in contents if isinstance(part, dict) and isinstance(part.get("text"), str)]
        case {"messages": list(entries)}:
            parts = [entry.get("content") for entry in entries if isinstance(entry, dict)]
            return list_texts([part for part in parts if isinstance(part, dict)])
        case {"structuredContent": data}:
            return [to_json(data)]
    return []


# Results


def tool_result(result: Any, call: Call) -> Any:
    """Bound the result of tools/call: its texts share one budget. Data that does not fit is one of these texts."""
    if not isinstance(result, dict) or not (isinstance(result.get("content"), list) or "structuredContent" in result):
        return bound_strings(result, call) if is_pending(result) else _bound_unknown(result, call)
    content = result.get("content") or []
    content = content if isinstance(content, list) else [_text_block(dumps(content).decode())]  # no server should
    data = {key: value for key, value in result.items() if key == "structuredContent"}
    if any(value is not None and not fits(to_json(value), call) for value in data.values()):
        value = data.pop("structuredContent")
        if not _repeats_data(content, value):
            content = [*content, _text_block(lines_of(value))]
    rest = {key: value for key, value in result.items() if key not in ("content", "structuredContent")}
    blocks = _clip_together(content, rest, call)
    if blocks is None:
        flags = {key: rest[key] for key in ("isError", "resultType") if rest.get(key) in (True, False, "complete")}
        return {**flags, "content": _as_one_text(content, rest, call), **data}
    return {**rest, "content": [block for block in blocks if block is not None], **data}


def _repeats_data(content: list[Any], data: Any) -> bool:
    """Return whether the one text of a result is its data once more: as JSON, or as the string that `data` wraps."""
    texts = list_texts([block for block in content if isinstance(block, dict) and block.get("type") == "text"])
    if len(texts) != 1:
        return False
    if isinstance(data, dict) and [*data.values()] == texts:  # as servers wrap a string: {"result": …}, {"content": …}
        return True
    try:
        value = loads(texts[0].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return data in (value, {"result": value})


def resource_result(result: Any, call: Call) -> Any:
    """Bound the result of resources/read: the texts of its contents share one budget."""
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
    text, *media = _as_one_text(content, rest, call)
    return {"contents": [{"uri": uri, "text": text["text"]}, *(block["resource"] for block in media)]}


def prompt_result(result: Any, call: Call) -> Any:
    """Bound the result of prompts/get: its description and the texts of its messages share one budget."""
    entries = result.get("messages") if isinstance(result, dict) else None
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("content"), dict) for entry in entries
    ):
        return bound_data(result, call)
    rest = {key: value for key, value in result.items() if key != "messages"}
    about = [_text_block(rest.pop("description"))] if isinstance(rest.get("description"), str) else []
    content = [*about, *(entry["content"] for entry in entries)]
    shells = [{key: value for key, value in entry.items() if key != "content"} for entry in entries]
    blocks = _clip_together(content, {**rest, "messages": shells}, call)
    if blocks is None:
        texts = _as_one_text(content, {**rest, "messages": shells}, call)
        return {"messages": [{"role": "user", "content": block} for block in texts]}
    if about and (described := blocks.pop(0)) is not None:
        rest["description"] = described["text"]
    pairs = zip(shells, blocks, strict=True)
    return {**rest, "messages": [{**shell, "content": block} for shell, block in pairs if block is not None]}


def bound_error(error: Any, call: Call) -> Any:
    """Bound the error of a call; hosts show its words to the model. Data that does not fit is stored with the words."""
    if fits(to_json(error), call):
        return error
    plain = replace(call.for_retrieval(), trigger=None)
    if not isinstance(error, dict):
        return {"code": 0, "message": clip(dumps(error), plain).text}
    code = error.get("code", 0)
    code = code if isinstance(code, int) else 0
    message = error.get("message", "")
    words = message if isinstance(message, str) else dumps(message).decode()
    rest = {key: value for key, value in error.items() if key not in ("code", "message")}
    share = plain.limits.fill(to_json(rest), plain.settings.count) if rest else 0.0
    if share > 0.5:  # the data is text like any other, after the words
        return {"code": code, "message": clip(f"{words}\n{lines_of(rest)}", plain).text}
    return {"code": code, "message": clip(words, with_share(plain, 1 - share)).text, **rest}


def _bound_unknown(result: Any, call: Call) -> Any:
    """Bound a result of no shape that we know: it becomes text if it does not fit."""
    text = dumps(result).decode()
    if fits(text, call):
        return result
    is_error = isinstance(result, dict) and result.get("isError") is True
    return {"content": [_text_block(clip(text, call).text)], "isError": is_error}


# Blocks


def _clip_together(content: list[Any], rest: dict[str, Any], call: Call) -> list[Any] | None:
    """Clip the texts of blocks within one budget; None if all is too much and half of it stands beside the texts.

    The blocks keep their places; one of which nothing is shown becomes None.
    """
    texts = list_texts(content)
    other_text = "".join(to_json(block) for block in content if _is_data(block))
    beside = to_json([rest, *filter(None, map(_fields_beside, content))])
    if len(beside) > BESIDE_CHARS:
        other_text += beside
    share = call.limits.fill(other_text, call.settings.count) if other_text else 0.0
    if other_text and share <= 0.5:
        call = with_share(call, 1 - share)
    elif other_text and not fits("\n".join([other_text, *texts]), call):
        return None
    within = Clipping(call)
    safe_blocks = [_mark(block, within) for block in content] if within.fits("\n".join(texts)) else []
    is_marked = bool(safe_blocks) and within.fits("\n".join(list_texts(safe_blocks)))
    # What fits passes byte for byte, line ends, control bytes and all, unless it reads like a notice of ours.
    if is_marked and clip_blocks(safe_blocks, call.with_settings(raw=True)).clip.outcome == "whole":
        return safe_blocks
    if share > 0.5:
        return None
    clipped, _ = clip_texts(texts, call)
    remaining = iter(clipped)
    new = replace_texts(content, lambda _: next(remaining), keep_empty=True)
    return [None if _is_emptied(*pair) else pair[1] for pair in zip(content, new, strict=True)]


def _is_emptied(before: Any, after: Any) -> bool:
    """Return whether nothing is shown of a block that is a text; an embedded resource keeps its address."""
    is_text = isinstance(before, str) or (isinstance(before, dict) and before.get("type") == "text")
    return is_text and any(list_texts([before])) and not any(list_texts([after]))


def _as_one_text(content: list[Any], rest: dict[str, Any], call: Call) -> list[Any]:
    """Return a result with too much beside its texts: all of it as one text, and its media."""
    text = lines_of({**rest, "content": [_split_media(block)[0] for block in content]})
    media = [media for block in content if (media := _split_media(block)[1]) is not None]
    return [_text_block(clip(text, call).text), *media]


def _split_media(block: Any) -> tuple[Any, Any]:
    """Return a block without its media, and its media alone."""
    if _is_data(block) or isinstance(block, str):
        return block, None
    fields = block["resource"] if block["type"] == "resource" else block
    payload = {key: fields[key] for key in ("data", "blob") if key in PAYLOAD[block["type"]] and key in fields}
    if not all(isinstance(value, str) for value in payload.values()) or not payload:
        return block, None
    media = {key: str(fields[key])[:ADDRESS_CHARS] for key in ("uri", "mimeType") if key in fields} | payload
    rest = {key: value for key, value in fields.items() if key not in payload}
    if block["type"] == "resource":
        return {**block, "resource": rest}, {"type": "resource", "resource": media}
    return rest, {"type": block["type"], **media}


def _mark(block: Any, within: Clipping) -> Any:
    """Return a block; cleaned and marked if a line of its text reads like a notice."""
    if isinstance(block, str):
        return within.mark(block)
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return {**block, "text": within.mark(block["text"])}
    if isinstance(block, dict) and isinstance(block.get("resource"), dict):
        return {**block, "resource": _mark(block["resource"], within)}
    return block


def _fields_beside(block: Any) -> dict[str, Any]:
    """Return the fields of a text, a medium or a resource beside its payload."""
    if _is_data(block) or isinstance(block, str):
        return {}

    def without_payload(fields: dict[str, Any], *keys: str) -> dict[str, Any]:
        payload = PAYLOAD[block["type"]] if "resource" not in keys else ()
        return {
            key: value
            for key, value in fields.items()
            if key not in keys and not (key in payload and isinstance(value, str))
        }

    if block["type"] != "resource":
        return without_payload(block, "type")
    inside = without_payload(block["resource"])
    return {**without_payload(block, "type", "resource"), **({"resource": inside} if inside else {})}


def _is_data(block: Any) -> bool:
    """Return whether a block is neither text nor media nor an embedded resource."""
    if isinstance(block, str):
        return False
    if not isinstance(block, dict):
        return True
    kind = block.get("type")
    if kind == "resource":
        return not isinstance(block.get("resource"), dict)
    return not (kind in MEDIA or (kind == "text" and isinstance(block.get("text"), str)))


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# Everything else


def bound_strings(value: Any, call: Call, *, free: int = 0, depth: int = 0) -> Any:
    """Return a value in which each string above the limits, and above `free` characters, is its clip."""
    if isinstance(value, str):
        return value if len(value) <= free or fits(value, call) else clip(value, call).text
    is_object = isinstance(value, dict)
    if not is_object and not isinstance(value, list):
        return value
    if depth > MAX_DEPTH or (is_object and any(len(key) > NAME_CHARS for key in value)):
        text = to_json(value)
        return value if len(text) <= max(free, NAME_CHARS) else clip(text, call).text
    if not is_object:
        return [bound_strings(item, call, free=free, depth=depth + 1) for item in value]
    return {
        key: item if is_exact(value, key) else bound_strings(item, call, free=free, depth=depth + 1)
        for key, item in value.items()
    }


def is_exact(parent: dict[str, Any], key: str) -> bool:
    """Return whether a part of an object is media, or opaque to everybody."""
    value = parent[key]
    if not isinstance(value, str):
        return False
    if key == "data":
        return parent.get("type") in MEDIA  # in a schema, "type" may be an object
    if key == "blob":
        return isinstance(parent.get("uri"), str)
    return key in OPAQUE or (key == "src" and value.startswith("data:image/"))


def bound_data(value: Any, call: Call) -> Any:
    """Return data that is within the limits as a whole: above them it has fewer entries, is stored, and says so."""
    if fits(to_json(value), call):
        return value
    smaller = bound_strings(value, with_share(call, 0.5))
    if fits(to_json(smaller), call):
        return smaller
    whole = clip(lines_of(value), call)
    if isinstance(value, str):
        return whole.text
    notice = cut_data(call.settings.hints, whole.total.bytes, whole.ref, whole.reason)
    for entries, chars in CUTS:
        part = _shorten(value, entries, chars)
        part = {NOTICE_KEY: notice, **part} if isinstance(part, dict) else part
        if fits(to_json(part), call):
            return part
    return {NOTICE_KEY: notice} if isinstance(value, dict) else []


def _shorten(value: Any, entries: int, chars: int, depth: int = 0) -> Any:
    """Return data with the first entries of each list and object, and the first characters of each string."""
    if isinstance(value, str):
        return value if len(value) <= chars else value[:chars] + "…"
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, list):
        return [_shorten(item, entries, chars, depth + 1) for item in value[:entries]]
    if isinstance(value, dict):
        items = [*value.items()][: max(entries, LEAST_KEYS)]
        return {key: _shorten(item, entries, chars, depth + 1) for key, item in items}
    return value
