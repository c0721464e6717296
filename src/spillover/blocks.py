"""Several texts, one budget: the blocks of a result, the two streams of a command, the results of a turn."""

from __future__ import annotations

from collections.abc import Mapping

from spillover import pipeline
from spillover.data import replace
from spillover.errors import UsageError
from spillover.intake.sources import as_bytes, chunks
from spillover.limits import SMALLEST, Limits, Size, count_lines
from spillover.result import Clip
from spillover.select.ends import fair
from spillover.view.document import Section

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
#: When both streams overflow, stderr gets two parts of three.
STREAM_WEIGHTS = {"stdout": 1, "stderr": 2}


class Blocks(list):  # type: ignore[type-arg]  # blocks are of any shape
    """The blocks, clipped: a list like the one that came in, with the facts in `clip`."""

    def __init__(self, blocks: Sequence[Any], clip: Clip) -> None:
        super().__init__(blocks)
        self.clip = clip


def clip_blocks(blocks: Sequence[Any], choices: Choices, *, call_id: str | None = None) -> Blocks:
    """Text blocks share one budget; order is kept; media and what we do not know is untouched."""
    if isinstance(blocks, (str, bytes, Mapping)):
        raise UsageError('clip_blocks takes a list of blocks, e.g. [{"type": "text", "text": "..."}].')
    texts = [text for block in blocks for text in _texts(block)]
    named = [(f"block {number}", text, 1) for number, text in enumerate(texts, 1)]
    intake, sections = _together(named, choices)
    unlabelled = [replace(section, label=None) for section in sections]
    shown, clip = pipeline.settle_parts(intake, choices, sections=unlabelled, call_id=call_id)
    if shown is None or clip.outcome == "whole":
        cleaned = [choices.seen(bytes(as_bytes(text))) for text in texts]
        return Blocks([_with_texts(block, iter(part)) for block, part in _deal(blocks, cleaned)], clip)
    dealt = [_with_texts(block, iter(part)) for block, part in _deal(blocks, shown.texts) if not part or any(part)]
    return Blocks(dealt, clip)


def _deal(blocks: Sequence[Any], texts: Sequence[str]) -> Iterator[tuple[Any, list[str]]]:
    """Each block with the texts that are its own."""
    left = iter(texts)
    for block in blocks:
        yield block, [next(left) for _ in _texts(block)]


def _texts(block: Any) -> list[str]:
    """The texts inside a block."""
    if isinstance(block, str):
        return [block]
    if not isinstance(block, Mapping):
        return []
    if block.get("type") in TEXT_TYPES and isinstance(block.get("text"), str):
        return [block["text"]]
    if block.get("type") == "resource" and isinstance(block.get("resource"), Mapping):
        text = block["resource"].get("text")
        return [text] if isinstance(text, str) else []
    if block.get("type") == "tool_result":
        content = block.get("content")
        return [content] if isinstance(content, str) else [text for inner in content or () for text in _texts(inner)]
    return []


def _with_texts(block: Any, texts: Iterator[str]) -> Any:
    """The same block with other texts; the very same when they are the same."""
    old = _texts(block)
    if not old:
        return block
    if isinstance(block, str):
        return next(texts)
    if block["type"] == "resource":
        new = {**block, "resource": {**block["resource"], "text": next(texts)}}
    elif block["type"] == "tool_result":
        content = block["content"]
        inner = next(texts) if isinstance(content, str) else [_with_texts(part, texts) for part in content]
        new = {**block, "content": inner}
    else:
        new = {**block, "text": next(texts)}
    return block if new == block else new


def clip_streams(streams: Mapping[str, Source], choices: Choices, *, call_id: str | None = None) -> Clip:
    """Both streams represented and labelled; the room one leaves goes to the other; stderr first when room is short."""
    return clip_streams_apart(streams, choices, call_id=call_id)[1]


def clip_streams_apart(
    streams: Mapping[str, Source], choices: Choices, *, call_id: str | None = None, command: str | None = None
) -> tuple[dict[str, str], Clip]:
    """The same, with what is shown of each stream apart, for a host that has a place for each."""
    named = [(name, source, STREAM_WEIGHTS.get(name, 1)) for name, source in streams.items()]
    intake, sections = _together(named, choices)
    used = [section.label for section in sections if section.size]
    several = sections if len(used) > 1 else []
    shown, clip = pipeline.settle_parts(intake, choices, sections=several, call_id=call_id, command=command)
    texts = dict.fromkeys(streams, "")
    if several and shown is not None:
        texts.update(zip(streams, shown.parts if clip.outcome == "whole" else shown.texts, strict=True))
    elif used:
        texts[str(used[0])] = clip.text
    return texts, clip


def _together(named: Sequence[tuple[str, Source, int]], choices: Choices) -> tuple[Intake, list[Section]]:
    """All of them one behind the other as one output; where one does not end its line, a newline is put between."""
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


def clip_many(outputs: Mapping[Key, Source], choices: Choices) -> dict[Key, Clip]:
    """One budget for the results of a turn: small ones stay whole, the others share what is left evenly."""
    intakes: dict[Key, Intake] = {}
    try:
        for key, source in outputs.items():
            intakes[key] = pipeline.begin(choices)
            for chunk in chunks(source):
                intakes[key].write(chunk)
            intakes[key].finish()
        needs = [_need(intake, choices) for intake in intakes.values()]
        shares = fair(_whole(choices), needs, [1] * len(needs))
        clips = {}
        for (key, intake), need, share in zip(intakes.items(), needs, shares, strict=True):
            clips[key] = _with_share(intake, choices, share, whole=need <= share)
    except BaseException:
        for intake in intakes.values():
            intake.abandon()
        raise
    return clips


def _whole(choices: Choices) -> int:
    """Shares of a budget are counted in parts of this: each unit of each limit is so many, none of them broken."""
    from math import lcm  # only a turn of several calls needs it

    return lcm(*(value for _, value in choices.limits.given()))


def _need(intake: Intake, choices: Choices) -> int:
    """How much of the limits an output needs to stay whole."""
    whole = _whole(choices)
    if intake.spilled:
        return whole * 2
    data = intake.held
    text = choices.seen(data)
    size = {
        "lines": count_lines(text),
        "bytes": max(len(data), len(text.encode())),
        "chars": len(text),
        "tokens": choices.count(text) if choices.limits.tokens else 0,
    }
    limits = {name: getattr(choices.limits, name) for name in size}
    return max(size[name] * whole // int(limit) for name, limit in limits.items() if limit is not None)


def _with_share(intake: Intake, choices: Choices, share: int, *, whole: bool) -> Clip:
    if whole:
        return pipeline.settle(intake, replace(choices, trigger=None))
    shared = _shared(choices, share)
    if shared is not None:
        return pipeline.settle(intake, shared)
    # Too many for too little: it is stored, and its clip says where, but there is no room to say so to the model.
    if not intake.spilled:
        intake.spill()
    clip = pipeline.settle(intake, replace(choices, trigger=None))
    return replace(clip, text="", _ranges=(), _shown=Size())


def _shared(choices: Choices, share: int) -> Choices | None:
    """The choices with a part of the limits; None when that leaves no room for a notice."""
    limits = {name: value * share // _whole(choices) for name, value in choices.limits.given()}
    if any(value < SMALLEST[name] for name, value in limits.items()):
        return None
    try:
        return replace(choices, limits=Limits(**limits), trigger=None)
    except UsageError:  # by a counter of your own
        return None
