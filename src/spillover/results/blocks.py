"""Blocks and messages: where each provider holds its text, and several texts clipped under one budget.

Media, ids and what is not known are left as they are. An object of an SDK is read as the dict with its fields.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import lcm
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import Section, cover_text, visible, visible_text
from spillover.errors import UsageError
from spillover.events import record_result, together
from spillover.kinds.selection import share_fairly
from spillover.notice.wording import no_json
from spillover.result import Blocks, Clip
from spillover.results.objects import (
    TooDeepError,
    copy_with,
    cover_strings,
    encode_json,
    fields_of,
    map_strings,
    to_json,
)
from spillover.settings.limits import SMALLEST, Limits, Size, count_lines
from spillover.settings.settings import Call
from spillover.source.intake import Intake, as_bytes, chunks
from spillover.types import Source

Key = TypeVar("Key")
Path: TypeAlias = tuple[str, ...]

#: Blocks that are text: MCP, Anthropic and OpenAI chat; OpenAI responses.
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
#: Where a block holds its text, or blocks with text, by its "type".
PLACES: dict[str, tuple[Path, ...]] = {
    **dict.fromkeys(TEXT_TYPES, (("text",),)),
    # MCP
    "resource": (("resource", "text"),),
    # Anthropic
    "tool_result": (("content",),),
    "search_result": (("content",),),
    "mcp_tool_result": (("content",),),
    "bash_code_execution_tool_result": (("content",),),
    "bash_code_execution_result": (("stdout",), ("stderr",)),
    "code_execution_tool_result": (("content",),),
    "code_execution_result": (("stdout",), ("stderr",)),
    "text_editor_code_execution_tool_result": (("content",),),
    "text_editor_code_execution_view_result": (("content",),),
    "web_fetch_tool_result": (("content",),),
    "web_fetch_result": (("content",),),
    # OpenAI responses
    "function_call_output": (("output",),),
    "custom_tool_call_output": (("output",),),
    "local_shell_call_output": (("output",),),
    "shell_call_output": (("output",),),
    "apply_patch_call_output": (("output",),),
    "mcp_call": (("output",), ("error",)),
    "code_interpreter_call": (("outputs",),),
    "logs": (("logs",),),
    "file_search_call": (("results",),),
    "program_output": (("result",),),
}
#: The same by "source" for a document of Anthropic: plain text, or blocks; a PDF is media.
DOCUMENT_PLACES: dict[str, tuple[Path, ...]] = {"text": (("source", "data"),), "content": (("source", "content"),)}
#: The same for blocks without a "type", the first that is there: Gemini, Bedrock, OpenAI's shell.
UNTYPED_PLACES: tuple[tuple[Path, ...], ...] = (
    (("text",),),
    (("toolResult", "content"),),
    (("stdout",), ("stderr",)),
    (("content",),),  # a whole result of MCP
)
#: Where blocks without a "type" hold data of any form, and where a text that replaces the data goes.
DATA_PLACES: tuple[tuple[Path, Path], ...] = (
    (("functionResponse", "response"), ("functionResponse", "response", "output")),
    (("function_response", "response"), ("function_response", "response", "output")),
    (("json",), ("text",)),  # Bedrock
    (("structuredContent",), ("content",)),  # MCP
    (("structured_content",), ("content",)),
)
#: What Gemini's functions call the text in their data.
RESPONSE_KEYS = ("output", "result", "error")
#: Blocks that are left out once they have no text. A result or a message answers a call, and stays.
DROPPED_TYPES = frozenset({*TEXT_TYPES, "resource", "document", "search_result"})
BLOCK_TYPES = frozenset(
    {*PLACES, "image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document",
     "resource_link"}
)  # fmt: skip
#: Where blocks hold media.
MEDIA_KEYS = frozenset(
    {"data", "base64", "blob", "source", "image_url", "input_audio", "file", "file_data", "file_id", "url", "resource"}
)
#: Characters beside text or media that count for nothing; a larger number lets more pass uncounted.
SHORT_CHARS = 200
#: When both streams overflow, stderr gets two parts of three.
STREAM_WEIGHTS = {"stdout": 1, "stderr": 2}
#: What APIs call the model as a caller. Anthropic's code execution tools and OpenAI's programs have other types.
MODEL_CALLERS = ("", "direct", "model")


class Place(Struct, frozen=True):
    """Where in a block a model reads something: a text, blocks, or data."""

    path: Path
    value: Any
    replacement: Path = ()  # of data: where a text goes that replaces it


def find_places(block: Any) -> list[Place]:
    """Return the places of a block or a message that hold its text, in order; none for media."""
    places = []
    for path in _paths_of(block):
        value = _get_at(block, path)
        if isinstance(value, (str, list, tuple)) or isinstance(_fields(value).get("type"), str):
            places.append(Place(path, value))
        elif isinstance(value, Mapping):  # data where a text is expected
            places.append(Place(path, value, path))
    if _fields(block).get("type") is not None:
        return places
    for path, replacement in DATA_PLACES:
        value = _get_at(block, path)
        if isinstance(value, (Mapping, list, tuple, str)):
            responses = _find_responses(path, value) if replacement[:-1] == path else []
            places += responses or [Place(path, value, replacement)]
    return places


def _find_responses(path: Path, data: Any) -> list[Place]:
    """Return the texts in data of Gemini, where there is little else."""
    names = [name for name in RESPONSE_KEYS if isinstance(_get_at(data, (name,)), (str, list))]
    if not names:
        return []
    rest = to_json({name: value for name, value in data.items() if name not in names})
    return [] if rest is None or len(rest) > SHORT_CHARS else [Place((*path, name), data[name]) for name in names]


def _paths_of(block: Any) -> tuple[Path, ...]:
    """Return the paths under which a block or a message of its type holds text."""
    fields = _fields(block)
    kind = fields.get("type")
    if kind is None or kind == "message":
        if isinstance(fields.get("role"), str):
            return (("content",),) if "content" in fields else (("parts",),)
        for paths in UNTYPED_PLACES:
            if any(isinstance(_get_at(block, path), (str, list, tuple)) for path in paths):
                return paths
        return ()
    if not isinstance(kind, str):
        return ()
    if kind == "document":
        return DOCUMENT_PLACES.get(_get_at(block, ("source", "type")), ())
    if kind in PLACES:
        return PLACES[kind]
    # The type of a message may say whose it is: LangChain's are "human", "ai" and "tool".
    is_message = not isinstance(block, Mapping) or "role" in fields or "tool_call_id" in fields
    return (("content",),) if is_message else ()


def _fields(block: Any) -> Mapping[str, Any]:
    return block if isinstance(block, Mapping) else fields_of(block) or {}


def _get_at(block: Any, path: Path) -> Any:
    """Return the value at a path; None where there is none."""
    for key in path:
        block = _fields(block).get(key)
    return block


def are_blocks(parts: Any) -> bool:
    """Return whether all of a list are blocks or messages, and there is one."""
    return isinstance(parts, (list, tuple)) and bool(parts) and all(map(_is_block, parts))


def _is_block(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    is_message = isinstance(part.get("role"), str) and isinstance(part.get("content"), (str, list))
    return is_message if kind is None else isinstance(kind, str) and kind in BLOCK_TYPES


def list_data_beside(block: Any) -> list[Any]:
    """Return the long data of a block beside its text and its media; of a block with neither, all of it."""
    if not isinstance(block, Mapping):
        return []
    places = find_places(block)
    text_keys = {place.path[0] for place in places}
    rest = {key: value for key, value in block.items() if key not in text_keys and _is_long(value)}
    media = MEDIA_KEYS & rest.keys() if block.get("type") not in TEXT_TYPES else frozenset()
    if not places and not media:
        return [block]
    rest = {key: value for key, value in rest.items() if key not in media}
    below = []
    for place in places:
        for inner in place.value if isinstance(place.value, list) else [place.value]:
            below += list_data_beside(inner)
    return [*([rest] if rest else []), *below]


def _is_long(value: Any) -> bool:
    return len(value if isinstance(value, str) else to_json(value) or "") > SHORT_CHARS


def list_texts(blocks: Sequence[Any], leave: Collection[int] = ()) -> list[str]:
    """Return all texts in blocks, in order, but of none whose `id` is to `leave`."""
    texts: list[str] = []

    def add(text: str) -> str:
        texts.append(text)
        return text

    replace_texts(blocks, add, keep_empty=True, leave=leave)
    return texts


def replace_texts(
    blocks: Sequence[Any], change: Callable[[str], str], *, keep_empty: bool, leave: Collection[int] = ()
) -> list[Any]:
    """Return the blocks with other texts, in order. One without text is left out, but never a message or a result.

    A block whose texts stay the same is the very same object, and so is one whose `id` is to `leave`.
    """
    result = []
    for block in blocks:
        if id(block) in leave:
            result.append(block)
            continue
        texts: list[str] = []

        def change_one(text: str, texts: list[str] = texts) -> str:
            texts.append(change(text))
            return texts[-1]

        new = _replace_in(block, change_one, keep_empty=keep_empty, leave=leave)
        if keep_empty or not texts or any(texts) or not (_may_be_dropped(block) or _may_be_dropped(new)):
            result.append(new)
    return result


def _may_be_dropped(block: Any) -> bool:
    return isinstance(block, str) or _fields(block).get("type") in DROPPED_TYPES or _paths_of(block) == (("text",),)


def _replace_in(block: Any, change: Callable[[str], str], *, keep_empty: bool, leave: Collection[int]) -> Any:
    """Return a block with its texts changed; the very same one where they stay."""
    if isinstance(block, str):
        return change(block)
    for place in find_places(block):
        value = place.value
        if isinstance(value, str):
            new: Any = change(value)
        elif place.replacement:
            block = _replace_data(block, place, change)
            continue
        elif isinstance(value, (list, tuple)):
            new = replace_texts(value, change, keep_empty=keep_empty, leave=leave)
            new = tuple(new) if isinstance(value, tuple) else new
        else:
            new = _replace_in(value, change, keep_empty=keep_empty, leave=leave)
        if new is not value and new != value:
            block = _set_at(block, place.path, new)
    return block


def _replace_data(block: Any, place: Place, change: Callable[[str], str]) -> Any:
    """Return a block with its data, or with the text that replaces it, behind what stands where the text goes."""
    try:
        json_text = encode_json(place.value)
    except (TooDeepError, RecursionError):
        json_text = None
    except Exception:  # noqa: BLE001  somebody else's code, which a host would meet as well
        return block
    text = change(no_json(type(place.value).__name__) if json_text is None else json_text)
    if text == json_text:
        return block
    try:
        rest = _remove_at(block, place.path)
        before = None if place.replacement[: len(place.path)] == place.path else _get_at(block, place.replacement)
        if place.replacement == ("content",) != place.path:
            new: Any = _add_text_block(before, text)
        else:
            new = f"{before}\n{text}" if isinstance(before, str) and before else text
        return _set_at(rest, place.replacement, new)
    except Exception:  # noqa: BLE001  somebody else's class, which a host could not write either
        return block


def _add_text_block(before: Any, text: str) -> list[Any]:
    """Return blocks with one more text block, of the class of the text blocks before it."""
    blocks = [{"type": "text", "text": before}] if isinstance(before, str) and before else list(before or ())
    if not text:
        return blocks
    kind: Any = next((type(block) for block in blocks if _fields(block).get("type") == "text"), dict)
    try:
        return [*blocks, kind(type="text", text=text)]
    except Exception:  # noqa: BLE001  somebody else's class, which wants more than that
        return [*blocks, {"type": "text", "text": text}]


def _set_at(block: Any, path: Sequence[str], value: Any) -> Any:
    """Return a copy of a block with another value at a path."""
    key, *below = path
    new = _set_at(_fields(block).get(key, {}), below, value) if below else value
    return {**block, key: new} if isinstance(block, Mapping) else copy_with(block, {key: new})


def _remove_at(block: Any, path: Sequence[str]) -> Any:
    key, *below = path
    if below:
        return _set_at(block, (key,), _remove_at(_fields(block)[key], below))
    if isinstance(block, Mapping):
        return {name: value for name, value in block.items() if name != key}
    return copy_with(block, {key: None})


def clip_blocks(blocks: Sequence[Any], call: Call, *, caller: object = None, messages: bool = False) -> Blocks:
    """Clip the texts of blocks, or of whole messages, within one budget; leave order, media and the rest as they are.

    Of a user's own `messages`, the model's turns name the calls of programs; what a tool returned can forge them.
    """
    if blocks is None or isinstance(blocks, (str, bytes, Mapping)) or fields_of(blocks) is not None:
        raise UsageError('clip_blocks takes a list of blocks, e.g. [{"type": "text", "text": "..."}].')
    blocks = blocks if isinstance(blocks, (list, tuple)) else list(blocks)  # an iterator gives them once
    if is_program(caller):
        clip = keep_for_program("\n".join(list_texts(blocks)), call)
        return Blocks(cover_blocks(blocks, call), clip)
    for_programs = _find_results_for_programs(blocks) if messages else []
    for result in for_programs:
        keep_for_program("\n".join(list_texts([result])), call)
    leave = {id(result) for result in for_programs}
    texts, clip = clip_texts(list_texts(blocks, leave), call)
    clipped = iter(texts)
    new = replace_texts(blocks, lambda _: next(clipped), keep_empty=clip.outcome == "whole", leave=leave)
    return Blocks(cover_blocks(new, call), clip)


def _find_results_for_programs(messages: Sequence[Any]) -> list[Any]:
    """Return the results of programs' calls in messages, or among items."""
    calls: list[Any] = []
    results = []
    for message in messages:
        role = _fields(message).get("role")
        content = _fields(message).get("content")
        for block in content if role and isinstance(content, (list, tuple)) else [message]:
            fields = _fields(block)
            call = fields.get("tool_use_id") or fields.get("call_id") or fields.get("id")
            if role in (None, "assistant") and is_program(fields.get("caller")):
                calls.append(call)
            if call and call in calls:
                results.append(block)
    return results


def cover_blocks(blocks: Sequence[Any], call: Call) -> Sequence[Any]:
    """Return the blocks without the secrets that stand beside their texts."""
    if call.settings.redact == "off":
        return blocks
    cover = partial(cover_text, call.settings)
    return [cover_strings(map_strings(block, partial(cover_strings, cover=cover)), cover) for block in blocks]


def clip_texts(texts: Sequence[str], call: Call) -> tuple[list[str], Clip]:
    """Clip texts within one budget. Each keeps its place; one of which nothing is shown becomes empty."""
    intake, sections = _read_sources({f"block {number}": text for number, text in enumerate(texts, 1)}, call)
    unlabelled = [replace(section, label=None) for section in sections]
    started = time.monotonic()
    with together():
        clipped = pipeline.finish(intake, call, unlabelled)
    clip = clipped.clip
    if clip.outcome == "whole":
        clipped_texts = [visible_text(call.settings, bytes(as_bytes(text))) for text in texts]
    else:  # without texts of its own, the clip is what was left to show after a failure
        clipped_texts = list(clipped.texts) or [clip.text, *[""] * (len(texts) - 1)]
    record_result(call, clip, texts=clipped_texts, seconds=time.monotonic() - started)
    return clipped_texts, clip


def _read_sources(sources: Mapping[str, Source], call: Call) -> tuple[Intake, list[Section]]:
    """Read sources as one output with a section for each; a newline goes between where one does not end its line."""
    intake = pipeline.open_intake(call)
    sections = []
    last = b"\n"
    try:
        for name, source in sources.items():
            start = None
            for chunk in filter(len, chunks(source)):
                if start is None and last != b"\n":
                    intake.write(b"\n", "separator")
                start = intake.bytes if start is None else start
                intake.write(chunk, name)
                last = bytes(chunk[-1:])
            section_start = intake.bytes if start is None else start
            sections.append(Section(section_start, intake.bytes, name, STREAM_WEIGHTS.get(name, 1)))
    except BaseException:
        intake.abandon()
        raise
    return intake, sections


def clip_streams(streams: Mapping[str, Source], call: Call) -> Clip:
    """Clip the streams of a command together, each under a label; room that one leaves goes to the other."""
    return clip_each_stream(streams, call)[1]


def clip_each_stream(streams: Mapping[str, Source], call: Call) -> tuple[dict[str, str], Clip]:
    """Clip streams together, and return what is shown of each by itself, for a host that has a place for each."""
    intake, sections = _read_sources(streams, call)
    labels = [section.label for section in sections if section.size]
    labelled = sections if len(labels) > 1 else []
    clipped = pipeline.finish(intake, call, labelled)
    texts = dict.fromkeys(streams, "")
    if labelled and clipped.texts:
        texts.update(zip(streams, clipped.texts, strict=True))
    elif labels:
        texts[str(labels[0])] = clipped.clip.text
    return texts, clipped.clip


def clip_many(outputs: Mapping[Key, Source], call: Call, calls: Mapping[Key, Call]) -> dict[Key, Clip]:
    """Clip the results of a turn within the limits of `call`: small ones stay whole, the others share the rest evenly.

    `calls` has what holds for the outputs whose tool is named.
    """
    for key in calls:
        if key not in outputs:
            raise UsageError(f"tools names {key!r:.80}, and there is no such output.")
    call = call.within_budget()
    lowered = {}
    for key in outputs:  # no limit is above the one that all of them share
        key_call = calls.get(key, call)
        lowered[key] = replace(key_call, limits=key_call.limits.lower(call.limits), trigger=None)
    intakes: dict[Key, Intake] = {}
    try:
        for key, source in outputs.items():
            intakes[key] = pipeline.open_intake(lowered[key])
            for chunk in chunks(source):
                intakes[key].write(chunk)
            intakes[key].finish()
        needs = [_measure_need(intake, call) for intake in intakes.values()]
        shares = _divide(call.limits, needs)
        clips = {}
        for (key, intake), need, share in zip(intakes.items(), needs, shares, strict=True):
            shared = lowered[key] if need <= share else _lower_to_share(lowered[key], call.limits, share)
            clips[key] = (
                _clip_without_room(intake, lowered[key]) if shared is None else pipeline.finish(intake, shared).clip
            )
    except BaseException:
        for intake in intakes.values():
            intake.abandon()
        raise
    return clips


def _divide(limits: Limits, needs: Sequence[int]) -> list[int]:
    """Return the share of each output: equal ones, or where these are too small for a notice, as many notices as fit.

    Small outputs that stay whole come first then; for the last ones there is nothing left.
    """
    room = _count_parts(limits)
    shares = share_fairly(room, needs, [1] * len(needs))
    smallest = max(-(-SMALLEST[name] * room // value) for name, value in limits.given())
    if all(share >= min(need, smallest) for share, need in zip(shares, needs, strict=True)):
        return shares
    for number in sorted(range(len(needs)), key=needs.__getitem__):
        shares[number] = next((size for size in (needs[number], smallest) if size <= room), 0)
        room -= shares[number]
    return shares


def _count_parts(limits: Limits) -> int:
    """Return the number of parts of the limits that makes a unit of each limit a whole number of parts."""
    return lcm(*(value for _, value in limits.given()))


def _measure_need(intake: Intake, call: Call) -> int:
    """Return the number of parts of the limits that an output needs to stay whole."""
    parts = _count_parts(call.limits)
    if intake.overflowed:
        return parts * 2
    text, frames = visible(call.settings, intake.buffer)
    if frames:  # its notice comes on top: it is cut to its share, as what overflows is
        return parts * 2
    size = {
        "lines": count_lines(text),
        "bytes": max(len(intake.buffer), len(text.encode())),
        "chars": len(text),
        "tokens": call.settings.count(text) if call.limits.tokens else 0,
    }
    return max(size[name] * parts // limit for name, limit in call.limits.given())


def _clip_without_room(intake: Intake, call: Call) -> Clip:
    """Store an output that has no room for a notice; its clip says where it is, and has no text."""
    intake.overflow()
    with together():
        clip = pipeline.finish(intake, call).clip
    record_result(call, replace(clip, _shown_size=Size()), texts=())
    return replace(clip, text="", _ranges=(), _shown_size=Size())


def _lower_to_share(call: Call, limits: Limits, share: int) -> Call | None:
    """Return the call with a part of the limits that all share; None when that leaves no room for a notice."""
    values = {name: value * share // _count_parts(limits) for name, value in limits.given()}
    if any(value < SMALLEST[name] for name, value in values.items()):
        return None
    lowered = call.limits.lower(Limits(**values))
    try:
        call.settings.check_room(lowered)
    except UsageError:  # as the user's own tokenizer counts
        return None
    return replace(call, limits=lowered)


def is_program(caller: object) -> bool:
    """Return whether a program reads the result of a call. `caller` is what an API reports of the call, or its type."""
    kind = caller.get("type") if isinstance(caller, Mapping) else getattr(caller, "type", caller)
    return isinstance(kind, str) and kind not in MODEL_CALLERS


def keep_for_program(source: Source, call: Call) -> Clip:
    """Return the Clip of an output that a program reads: its text is whole, and it is stored if it overflows.

    No model has read it, so it costs no budget and has no line in the journal.
    """
    whole = source if isinstance(source, str) else b"".join(chunks(source))
    call = replace(call, budget=None, since="off")
    intake = pipeline.open_intake(call)
    for chunk in chunks(whole):
        intake.write(chunk)
    with together():
        clip = pipeline.finish(intake, call).clip
    text = cover_text(call.settings, whole if isinstance(whole, str) else whole.decode("utf-8", "replace"))
    return replace(clip, text=text, why=(), _shown_size=None, _ranges=None)
