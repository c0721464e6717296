"""Bound what a tool returned or raised: text, blocks, data, or any object, in its own shape where that is possible."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import partial
from typing import Any

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import cover_text
from spillover.events import has_line, record_result, together
from spillover.kinds.fit import trim
from spillover.notice.sentences import no_json, no_text
from spillover.result import Clip
from spillover.results.errors import spell_error
from spillover.results.shape import (
    BYTES,
    TooDeepError,
    change_texts,
    cover_value,
    encode,
    fields_of,
    find_opaque,
    is_media,
    write,
)
from spillover.results.shapes import SHORT_CHARS, TEXT_PATHS, TEXT_TYPES, places_of
from spillover.results.texts import texts_of
from spillover.results.together import clip_blocks, clip_texts, without_secrets
from spillover.settings.settings import Call

#: How much of the room that an object's own shape leaves is tried for its texts: JSON writes some characters as several.
SHARES = (1.0, 0.7, 0.4, 0.2)
#: Blocks as MCP, Anthropic and OpenAI have them.
BLOCK_TYPES = {
    *TEXT_TYPES,
    *TEXT_PATHS,
    *("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document"),
    *("resource", "resource_link"),
}
#: Where they have their media, which are left alone.
MEDIA_KEYS = frozenset(
    {"data", "base64", "blob", "source", "image_url", "input_audio", "file", "file_data", "file_id", "url", "resource"}
)


def bound(
    result: Any, call: Call, *, leave: tuple[type, ...] = (), declared: str = "", caller: object = None
) -> tuple[Any, Clip]:
    """Return a tool's result within the limits, and the Clip that says what became of it; note it as the model gets it."""
    if pipeline.is_program(caller):
        return _pass_on(result, call, leave)
    begun = time.monotonic()
    with together():
        value, clip = _bound(result, call, leave, declared)
    left_alone = value is result and not clip.text and not isinstance(value, str)
    if not left_alone and has_line(call.settings, whole=clip.outcome == "whole"):
        texts = _texts(value, leave)
        record_result(call, clip, texts=texts, framed=True, seconds=time.monotonic() - begun)
    return value, clip


def _pass_on(result: Any, call: Call, leave: tuple[type, ...]) -> tuple[Any, Clip]:
    """Return a result that a program reads as it is, and its Clip; it is stored where it overflows."""
    if isinstance(result, leave) or result is None:
        return result, Clip("", _limits=call.limits)
    if isinstance(result, BYTES) or _is_stream(result):
        clip = pipeline.keep_for_program(_as_source(result), call)
        return (clip.text if _is_stream(result) or call.settings.redact != "off" else result), clip
    try:
        texts = texts_of(result if isinstance(result, (list, tuple)) else [result]) or _forms(result, leave)[:1]
    except RecursionError:
        texts = []
    clip = pipeline.keep_for_program("\n".join(texts), call)
    return readable(result, call, leave), clip


def _as_source(result: Any) -> Any:
    """Return what a tool returned as a source to be clipped: the pieces of an iterator as text; a file is read in chunks."""
    return map(as_piece, result) if _is_stream(result) and not hasattr(result, "read") else result


def _texts(value: Any, leave: tuple[type, ...]) -> list[str]:
    """Return what a model reads of a result that fits."""
    if isinstance(value, str):
        return [value]
    blocks = value.get("content") if isinstance(value, Mapping) else value
    if isinstance(blocks, list) and blocks and all(map(_is_block, blocks)):
        return texts_of(blocks)
    return _forms(value, leave)[:1]


def _bound(result: Any, call: Call, leave: tuple[type, ...], declared: str) -> tuple[Any, Clip]:
    """Bound a result.

    A text is clipped. Blocks and messages are clipped together. An object that does not fit keeps its shape where that can be:
    its texts are clipped. Else it becomes text: its JSON, or what `str()` says, clipped. What is of a type that the
    caller wants to `leave` is left alone.
    """
    if isinstance(result, Clip):
        return cover_text(call.settings, result.text), result
    if isinstance(result, (str, *BYTES)) or _is_stream(result):
        if isinstance(result, leave):
            return result, Clip("", _limits=call.limits)
        clip = pipeline.clip(_as_source(result), call)
        return clip.text, clip
    if result is None or isinstance(result, (bool, float, *leave)):
        return result, Clip("", _limits=call.limits)
    try:
        bounded = _bound_blocks(result, call)
    except RecursionError:  # nested too deeply, or in itself
        bounded = None
    return bounded or _bound_object(result, call, leave, declared)


def _bound_blocks(result: Any, call: Call) -> tuple[Any, Clip] | None:
    """Bound a list of blocks, or a message that holds one; return None for anything else."""
    if _are_blocks(result, lambda text: _fill(text, call)):
        blocks = clip_blocks(result, call)
        return list(blocks), blocks.clip
    if isinstance(result, Mapping):
        content = result.get("content")
        if isinstance(content, list) and _are_blocks(content, lambda text: _fill(text, call)):
            beside = write({key: value for key, value in result.items() if key != "content"})
            if beside is not None and _fill(beside, call) <= 1:
                blocks = clip_blocks(content, call)
                return without_secrets([{**result, "content": list(blocks)}], call)[0], blocks.clip
    return None


def _is_stream(result: Any) -> bool:
    """Return whether it is a generator or another iterator, or a file."""
    return hasattr(result, "__next__")


def as_piece(piece: Any) -> str | bytes:
    """Return what an iterator gave as text: a piece of text as it is, anything else as JSON on a line of its own."""
    if isinstance(piece, (str, bytes)):
        return piece
    if isinstance(piece, (bytearray, memoryview)):
        return bytes(piece)
    return f"{next(iter(_forms(piece, ())), None) or no_json(type(piece).__name__)}\n"


def _bound_object(result: Any, call: Call, leave: tuple[type, ...], declared: str) -> tuple[Any, Clip]:
    forms = _forms(result, leave)
    if not forms:  # no host can write it
        clip = Clip(trim(no_json(type(result).__name__), call.within_budget()))
        call.spend(clip.text)
        return clip.text, clip
    if call.settings.redact != "off":
        covered = _cover(result, call, leave)
        if covered is None:
            clip = pipeline.clip(forms[0], call)
            return clip.text, clip
        result, forms = covered, _forms(covered, leave)
    if all(pipeline.fits(form, call) for form in forms) and call.budget is None:
        return result, Clip(forms[0], _count=call.settings.count, _limits=call.limits)
    within = replace(call.within_budget(), budget=None)
    if all(pipeline.fits(form, within) for form in forms):
        call.spend(forms[0])
        return result, Clip(forms[0], _count=call.settings.count, _limits=call.limits)
    within = replace(within, trigger=None)
    if opaque := find_opaque(result, leave):
        clip = Clip(trim(no_text(opaque), within))
        kept: tuple[Any, Clip] | None = (clip.text, clip)
    elif declared or not _is_collection(result):
        kept = _keep_shape(result, within, leave) or _keep_type(result, forms[0], within)
    else:
        kept = None
    if kept is None:
        if _is_collection(result) or isinstance(result, Enum) or fields_of(result) is not None:
            text = next(
                (form for form in forms if _fill(form, within) > 1), forms[0]
            )  # the JSON, where that is too large
        else:
            text = forms[-1]  # what str() says, line by line
        clip = pipeline.clip(text, within)
        kept = clip.text, clip
    call.spend(kept[0] if isinstance(kept[0], str) else write(kept[0], leave) or kept[1].text)
    return kept


def readable(value: Any, call: Call, leave: tuple[type, ...] = ()) -> Any:
    """Return what a model may read of anything: the same object without its secrets, or its JSON where they cannot be taken out."""
    if call.settings.redact == "off" or value is None or isinstance(value, (bool, float, *leave)):
        return value
    if isinstance(value, str):
        return cover_text(call.settings, value)
    covered = _cover(value, call, leave)
    if covered is not None:
        return covered
    return cover_text(call.settings, next(iter(_forms(value, leave)), None) or no_json(type(value).__name__))


def _cover(result: Any, call: Call, leave: tuple[type, ...]) -> Any:
    """Return the same object without its secrets; None where that cannot be: one is a key, is in a set, or cannot be replaced."""
    try:
        cover = partial(cover_text, call.settings)
        covered = change_texts(result, lambda text: cover_value(text, cover), leave)
        if type(covered) in (dict, list):
            covered = cover_value(covered, cover, keys=False) if _shows_secrets(covered, call, leave) else covered
        return None if _shows_secrets(covered, call, leave) else covered
    except Exception:  # noqa: BLE001  it contains itself, or is of a class that cannot be copied
        return None


def _shows_secrets(value: Any, call: Call, leave: tuple[type, ...]) -> bool:
    value = change_texts(value, lambda text: "" if is_media(text) else text, leave)
    return any(cover_text(call.settings, form) != form for form in _forms(value, leave))


def _is_collection(result: Any) -> bool:
    return isinstance(result, (Mapping, list, tuple, set, frozenset)) and not hasattr(result, "_fields")


def _forms(result: Any, leave: tuple[type, ...]) -> list[str]:
    """Return how hosts may write an object: as JSON, and by `str()` where that may say more; nothing if both would fail, or never end."""
    written: str | None = None
    try:
        written = encode(result, leave)
    except (TooDeepError, RecursionError):
        return []
    except Exception:  # noqa: BLE001  somebody else's `__repr__`, inside of it
        written = None
    forms = [] if written is None else [written]
    if written is None or not _is_collection(result):
        try:
            forms.append(str(result))
        except RecursionError:
            pass
        except Exception as error:  # noqa: BLE001  somebody else's code; a host would meet the same
            forms.append(f"{type(result).__name__}: {spell_error(error)}")
    return forms


def _keep_shape(result: Any, call: Call, leave: tuple[type, ...]) -> tuple[Any, Clip] | None:
    """Return the same object with its long texts clipped together; None where that does not make it fit."""
    long: list[str] = []

    def empty(text: str) -> str:
        if len(text) <= SHORT_CHARS:
            return text
        long.append(text)
        return ""

    def put(texts: Iterator[str]) -> Any:
        return change_texts(result, lambda text: text if len(text) <= SHORT_CHARS else next(texts), leave)

    try:
        frame = change_texts(result, empty, leave)
        room = 1 - max(_fill(form, call) for form in _forms(frame, leave))
        for share in SHARES if long and room > 0 else ():
            texts, clip = clip_texts(long, replace(call, limits=call.limits.share(room * share)))
            new = put(iter(texts))
            if all(_fill(form, call) <= 1 for form in _forms(new, leave)):
                return new, clip
    except Exception:  # noqa: BLE001  a class of somebody else's that cannot be copied becomes text
        return None
    return None


def _keep_type(result: Any, text: str, call: Call) -> tuple[Any, Clip] | None:
    """Return a dict or a list with the clipped JSON in it; None if a notice has no room there."""
    if isinstance(result, dict):
        return _keep_shape({"output": text}, call, ())
    if not isinstance(result, list):
        return None
    # A framework may check that the items are objects.
    objects = all(isinstance(item, dict) for item in result)
    return _keep_shape([{"output": text}] if objects else [text], call, ())


def as_json(data: Any) -> str | None:
    """Return data as a text with lines, so that parts of it can be named; None when JSON cannot hold it."""
    try:
        return json.dumps(data, ensure_ascii=False, indent=1)
    except (TypeError, ValueError, RecursionError):
        return None


def _fill(text: str, call: Call) -> float:
    return call.limits.fill(text, call.settings.count)


def _are_blocks(parts: Any, fill: Callable[[str], float]) -> bool:
    """Return whether these are blocks, or messages, that fit once their texts are clipped. `fill` says how full a text makes the limits."""
    if not isinstance(parts, (list, tuple)) or not parts or not all(map(_is_block, parts)):
        return False
    rest = [one for part in parts for one in _beside(part)]
    written = write(rest)
    return not rest or (written is not None and fill(written) <= 1)


def _is_block(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    is_message = isinstance(part.get("role"), str) and isinstance(part.get("content"), (str, list))
    return is_message if kind is None else isinstance(kind, str) and kind in BLOCK_TYPES


def _beside(block: Any) -> list[Any]:
    """Return what a block has beside its text and its media: all that is long, and all of a block that has neither."""
    if not isinstance(block, Mapping):
        return []
    places = places_of(block)
    text = {place.path[0] for place in places}
    long = {key: value for key, value in block.items() if key not in text and _is_long(value)}
    media = MEDIA_KEYS & long.keys() if block.get("type") not in TEXT_TYPES else frozenset()
    if not places and not media:
        return [block]
    long = {key: value for key, value in long.items() if key not in media}
    inner = [each for place in places for each in (place.inner if isinstance(place.inner, list) else [place.inner])]
    below = [one for each in inner for one in _beside(each)]
    return [*([long] if long else []), *below]


def _is_long(value: Any) -> bool:
    return len(value if isinstance(value, str) else write(value) or "") > SHORT_CHARS
