"""Texts clipped within one budget: those of blocks and messages, and the streams of a command."""

from __future__ import annotations

import time
from collections.abc import Mapping

from msgspec.structs import replace

from spillover import pipeline
from spillover.blocks.shapes import fields_in
from spillover.blocks.texts import swap_texts, texts_of
from spillover.errors import UsageError
from spillover.events import record_result, together
from spillover.source.intake import as_bytes, chunks
from spillover.view.document import Section
from spillover.wrap.shape import change_texts, cover_value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.choices import Choices
    from spillover.result import Clip
    from spillover.source.intake import Intake, Source

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
    caller: object = None,
    messages: bool = False,
) -> Blocks:
    """Clip the texts of blocks, or of whole messages, within one budget; leave order, media and the rest as they are.

    Of a user's own `messages`, the model's turns say which calls a program made; what a tool returned can forge them.
    """
    if blocks is None or isinstance(blocks, (str, bytes, Mapping)) or fields_of(blocks) is not None:
        raise UsageError('clip_blocks takes a list of blocks, e.g. [{"type": "text", "text": "..."}].')
    blocks = blocks if isinstance(blocks, (list, tuple)) else list(blocks)  # an iterator gives them once
    if pipeline.is_program(caller):
        return Blocks(
            without_secrets(blocks, choices),
            pipeline.keep_for_program("\n".join(texts_of(blocks)), choices, call_id=call_id),
        )
    programs = _find_results_for_programs(blocks) if messages else []
    for text in ("\n".join(texts_of([result])) for result in programs):
        pipeline.keep_for_program(text, choices)
    leave = {id(result) for result in programs}
    texts, clip = clip_texts(texts_of(blocks, leave), choices, call_id=call_id, command=command, cwd=cwd)
    shown = iter(texts)
    kept = swap_texts(blocks, lambda _: next(shown), keep_empty=clip.outcome == "whole", leave=leave)
    return Blocks(without_secrets(kept, choices), clip)


def _find_results_for_programs(messages: Sequence[Any]) -> list[Any]:
    """Return the results in messages, or among items, of the calls that a program made."""
    calls: list[Any] = []
    results = []
    for message in messages:
        role, content = map(fields_in(message).get, ("role", "content"))
        for block in content if role and isinstance(content, (list, tuple)) else [message]:
            facts = fields_in(block)
            call = facts.get("tool_use_id") or facts.get("call_id") or facts.get("id")
            if role in (None, "assistant") and pipeline.is_program(facts.get("caller")):
                calls.append(call)
            if call and call in calls:
                results.append(block)
    return results


def without_secrets(blocks: Sequence[Any], choices: Choices) -> Sequence[Any]:
    """Return the blocks without the secrets that stand beside their texts."""
    if choices.redact == "off":
        return blocks
    cover = choices.cover_text
    return [cover_value(change_texts(block, lambda text: cover_value(text, cover)), cover) for block in blocks]


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
    intake, sections = join(named, choices)
    unlabelled = [replace(section, label=None) for section in sections]
    begun = time.monotonic()
    with together():
        shown, clip = pipeline.settle_parts(
            intake, choices, sections=unlabelled, call_id=call_id, command=command, cwd=cwd
        )
    if shown is None or clip.outcome == "whole":
        seen = [choices.seen(bytes(as_bytes(text))) for text in texts]
    else:
        seen = list(shown.texts)
    record_result(choices, clip, texts=seen, seconds=time.monotonic() - begun)
    return seen, clip


def join(named: Sequence[tuple[str, Source, int]], choices: Choices) -> tuple[Intake, list[Section]]:
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
    intake, sections = join(named, choices)
    used = [section.label for section in sections if section.size]
    several = sections if len(used) > 1 else []
    shown, clip = pipeline.settle_parts(intake, choices, sections=several, call_id=call_id, command=command, cwd=cwd)
    texts = dict.fromkeys(streams, "")
    if several and shown is not None:
        texts.update(zip(streams, shown.parts if clip.outcome == "whole" else shown.texts, strict=True))
    elif used:
        texts[str(used[0])] = clip.text
    return texts, clip
