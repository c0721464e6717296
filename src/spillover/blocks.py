"""Several texts, one budget: the blocks of a result, the two streams of a command, the results of a turn."""

from __future__ import annotations

import time
from collections.abc import Mapping

from spillover import pipeline
from spillover.base.data import replace
from spillover.errors import UsageError
from spillover.intake.sources import as_bytes, chunks
from spillover.ledger.note import note_clip
from spillover.limits import SMALLEST, Limits, Size, count_lines
from spillover.result import Clip
from spillover.select.ends import fair
from spillover.view.document import Section
from spillover.wrap.shape import copy_object, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    from spillover.choices import Choices
    from spillover.intake.sources import Source
    from spillover.intake.take import Intake

    Key = TypeVar("Key")

#: Block types whose "text" is text: MCP and Anthropic and OpenAI chat; OpenAI responses.
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
#: Where other blocks have their text, or blocks with text: MCP; Anthropic; OpenAI responses.
TEXT_PATHS: dict[str, tuple[str, ...]] = {
    "resource": ("resource", "text"),
    "tool_result": ("content",),
    "search_result": ("content",),
    "function_call_output": ("output",),
    "custom_tool_call_output": ("output",),
    "local_shell_call_output": ("output",),
    "apply_patch_call_output": ("output",),
    "mcp_call": ("output",),
    "mcp_tool_result": ("content",),
}
#: The same for blocks without a "type": Gemini and Bedrock, as both write them.
UNTYPED_PATHS: tuple[tuple[str, ...], ...] = (
    ("text",),
    ("toolResult", "content"),
    *(
        (name, "response", key)
        for name in ("functionResponse", "function_response")
        for key in ("output", "result", "error")
    ),
    ("content",),  # a whole result of MCP
)
#: When both streams overflow, stderr gets two parts of three.
STREAM_WEIGHTS = {"stdout": 1, "stderr": 2}


class Blocks(list):  # type: ignore[type-arg]  # blocks are of any shape
    """Clipped blocks: a list like the one that came in, with the facts in `clip`."""

    def __init__(self, blocks: Sequence[Any], clip: Clip) -> None:
        super().__init__(blocks)
        self.clip = clip


def clip_blocks(
    blocks: Sequence[Any],
    choices: Choices,
    *,
    call_id: str | None = None,
    command: str | None = None,
    cwd: str | None = None,
) -> Blocks:
    """Clip the texts of blocks, or of whole messages, within one budget; leave order, media and the rest as they are."""
    if blocks is None or isinstance(blocks, (str, bytes, Mapping)) or fields_of(blocks) is not None:
        raise UsageError('clip_blocks takes a list of blocks, e.g. [{"type": "text", "text": "..."}].')
    texts, clip = clip_texts(texts_of(blocks), choices, call_id=call_id, command=command, cwd=cwd)
    return Blocks(_put_all(blocks, iter(texts), keep_empty=clip.outcome == "whole"), clip)


def clip_texts(
    texts: Sequence[str],
    choices: Choices,
    *,
    call_id: str | None = None,
    command: str | None = None,
    cwd: str | None = None,
) -> tuple[list[str], Clip]:
    """Clip texts within one budget. Each keeps its place; one of which nothing is shown becomes empty."""
    named = [(f"block {number}", text, 1) for number, text in enumerate(texts, 1)]
    intake, sections = _join(named, choices)
    unlabelled = [replace(section, label=None) for section in sections]
    begun = time.monotonic()
    shown, clip = pipeline.settle_parts(
        intake, choices, sections=unlabelled, call_id=call_id, command=command, cwd=cwd, note=False
    )
    if shown is None or clip.outcome == "whole":
        seen = [choices.seen(bytes(as_bytes(text))) for text in texts]
    else:
        seen = list(shown.texts)
    note_clip(choices, clip, texts=seen, seconds=time.monotonic() - begun)
    return seen, clip


def texts_of(blocks: Sequence[Any]) -> list[str]:
    """Return all texts in blocks, in order."""
    return [text for block in blocks for text in _texts(block)]


def find_inner(block: Any) -> tuple[tuple[str, ...], str | list[Any] | None]:
    """Return the keys under which a block has its text, or more blocks, and what is there; None where there is nothing like that."""
    path = _path_of(block)
    inner = _get(block, path)
    return path, inner if isinstance(inner, (str, list)) else None


def _texts(block: Any) -> list[str]:
    inner = block if isinstance(block, str) else find_inner(block)[1]
    return [inner] if isinstance(inner, str) else texts_of(inner) if isinstance(inner, list) else []


def _path_of(block: Any) -> tuple[str, ...]:
    """Return the keys under which a block or a message has its text, or more blocks; nothing for media.

    An object of an SDK has the same as fields.
    """
    fields = _fields(block)
    kind = fields.get("type")
    if kind is None or kind == "message":
        if isinstance(fields.get("role"), str):
            return ("content",) if "content" in fields else ("parts",)
        return next((path for path in UNTYPED_PATHS if isinstance(_get(block, path), (str, list))), ())
    if not isinstance(kind, str):
        return ()
    if kind == "document":  # of Anthropic: plain text, or blocks; a PDF is media
        form = _get(block, ("source", "type"))
        return ("source", "data") if form == "text" else ("source", "content") if form == "content" else ()
    if kind in TEXT_TYPES:
        return ("text",)
    # The type of a message may say whose it is: LangChain's are "human", "ai" and "tool".
    return TEXT_PATHS.get(kind, () if isinstance(block, Mapping) else ("content",))


def _fields(block: Any) -> Mapping[str, Any]:
    return block if isinstance(block, Mapping) else fields_of(block) or {}


def _get(block: Any, path: Sequence[str]) -> Any:
    for key in path:
        block = _fields(block).get(key)
    return block if path else None


def _put_all(blocks: Sequence[Any], texts: Iterator[str], *, keep_empty: bool) -> list[Any]:
    """Return the blocks with other texts. A block that has lost all of them is left out, but never a message or a result."""
    out = []
    for block in blocks:
        own = [next(texts) for _ in _texts(block)]
        if keep_empty or not own or any(own) or not _is_text(block):
            out.append(_put(block, iter(own), keep_empty=keep_empty))
    return out


def _is_text(block: Any) -> bool:
    """Return whether a block is nothing but text. A result or a message answers a call, and has to stay."""
    kinds = (*TEXT_TYPES, "resource", "document", "search_result")
    return isinstance(block, str) or _fields(block).get("type") in kinds or _path_of(block) == ("text",)


def _put(block: Any, texts: Iterator[str], *, keep_empty: bool) -> Any:
    """Return the same block with other texts; the very same object when they are the same."""
    if isinstance(block, str):
        return next(texts)
    path, inner = find_inner(block)
    if inner is None:
        return block
    new = next(texts) if isinstance(inner, str) else _put_all(inner, texts, keep_empty=keep_empty)
    return block if new == inner else _with(block, path, new)


def _with(block: Any, path: Sequence[str], value: Any) -> Any:
    key, *below = path
    new = _with(_fields(block)[key], below, value) if below else value
    return {**block, key: new} if isinstance(block, Mapping) else copy_object(block, {key: new})


def clip_streams(streams: Mapping[str, Source], choices: Choices, *, call_id: str | None = None) -> Clip:
    """Clip the streams of a command together, each under a label. Room that one leaves goes to the other; stderr comes first."""
    return clip_streams_apart(streams, choices, call_id=call_id)[1]


def clip_streams_apart(
    streams: Mapping[str, Source],
    choices: Choices,
    *,
    call_id: str | None = None,
    command: str | None = None,
    cwd: str | None = None,
) -> tuple[dict[str, str], Clip]:
    """Clip streams together, and return what is shown of each by itself, for a host that has a place for each."""
    named = [(name, source, STREAM_WEIGHTS.get(name, 1)) for name, source in streams.items()]
    intake, sections = _join(named, choices)
    used = [section.label for section in sections if section.size]
    several = sections if len(used) > 1 else []
    shown, clip = pipeline.settle_parts(intake, choices, sections=several, call_id=call_id, command=command, cwd=cwd)
    texts = dict.fromkeys(streams, "")
    if several and shown is not None:
        texts.update(zip(streams, shown.parts if clip.outcome == "whole" else shown.texts, strict=True))
    elif used:
        texts[str(used[0])] = clip.text
    return texts, clip


def _join(named: Sequence[tuple[str, Source, int]], choices: Choices) -> tuple[Intake, list[Section]]:
    """Take in all of them as one output, one after the other; a newline goes between where one does not end its line."""
    intake = pipeline.begin(choices)
    sections = []
    last = b"\n"
    try:
        for name, source, weight in named:
            start = None
            for chunk in filter(len, chunks(source)):
                if start is None and last != b"\n":
                    intake.write(b"\n", "separator")
                start = intake.bytes if start is None else start
                intake.write(chunk, name)
                last = bytes(chunk[-1:])
            sections.append(Section(intake.bytes if start is None else start, intake.bytes, name, weight))
    except BaseException:
        intake.abandon()
        raise
    return intake, sections


def clip_many(
    outputs: Mapping[Key, Source], choices: Choices, tools: Mapping[Key, str] | str | None = None
) -> dict[Key, Clip]:
    """Clip the results of a turn within one budget: small ones stay whole, the others share what is left evenly."""
    ruled = _choices_for(outputs, choices, tools)
    intakes: dict[Key, Intake] = {}
    try:
        for key, source in outputs.items():
            intakes[key] = pipeline.begin(ruled[key])
            for chunk in chunks(source):
                intakes[key].write(chunk)
            intakes[key].finish()
        needs = [_need(intake, choices) for intake in intakes.values()]
        shares = fair(_whole(choices.limits), needs, [1] * len(needs))
        clips = {}
        for (key, intake), need, share in zip(intakes.items(), needs, shares, strict=True):
            clips[key] = _clip_with_share(intake, ruled[key], choices.limits, share, whole=need <= share)
    except BaseException:
        for intake in intakes.values():
            intake.abandon()
        raise
    return clips


def _whole(limits: Limits) -> int:
    """Return in how many parts shares of limits are counted: each unit of each limit is so many, none of them broken."""
    from math import lcm  # only a turn of several calls needs it

    return lcm(*(value for _, value in limits.given()))


def _need(intake: Intake, choices: Choices) -> int:
    """Return how much of the limits an output needs to stay whole."""
    whole = _whole(choices.limits)
    if intake.spilled:
        return whole * 2
    data = intake.held
    text, frames = choices.look(data)
    if frames:  # its notice comes on top: it is cut to its share, as what overflows is
        return whole * 2
    size = {
        "lines": count_lines(text),
        "bytes": max(len(data), len(text.encode())),
        "chars": len(text),
        "tokens": choices.count(text) if choices.limits.tokens else 0,
    }
    limits = {name: getattr(choices.limits, name) for name in size}
    return max(size[name] * whole // int(limit) for name, limit in limits.items() if limit is not None)


def _choices_for(
    outputs: Mapping[Key, Source], choices: Choices, tools: Mapping[Key, str] | str | None
) -> dict[Key, Choices]:
    """Return the choices for each output: those of its tool, with no limit above the one that all of them share."""
    names = dict.fromkeys(outputs, tools) if isinstance(tools, str) else tools or {}
    for key in names:
        if key not in outputs:
            raise UsageError(f"tools names {key!r:.80}, and there is no such output.")
    ruled = {key: choices.for_tool(names.get(key)) for key in outputs}
    return {key: replace(each, limits=each.limits.lower(choices.limits), trigger=None) for key, each in ruled.items()}


def _clip_with_share(intake: Intake, choices: Choices, limits: Limits, share: int, *, whole: bool) -> Clip:
    if whole:
        return pipeline.settle(intake, choices)
    shared = _share(choices, limits, share)
    if shared is not None:
        return pipeline.settle(intake, shared)
    # Too many for too little: it is stored, and its clip says where, but there is no room to say so to the model.
    if not intake.spilled:
        intake.spill()
    clip = pipeline.settle_parts(intake, choices, note=False)[1]
    note_clip(choices, replace(clip, _shown=Size()), texts=())
    return replace(clip, text="", _ranges=(), _shown=Size())


def _share(choices: Choices, limits: Limits, share: int) -> Choices | None:
    """Return the choices with a part of the limits that all share; None when that leaves no room for a notice."""
    part = {name: value * share // _whole(limits) for name, value in limits.given()}
    if any(value < SMALLEST[name] for name, value in part.items()):
        return None
    try:
        return replace(choices, limits=choices.limits.lower(Limits(**part)))
    except UsageError:  # by a counter of your own
        return None
