"""Texts clipped within one budget: those of blocks and messages, and the streams of a command."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import Section, cover_text, visible_text
from spillover.errors import UsageError
from spillover.events import record_result, together
from spillover.result import Blocks, Clip
from spillover.results.shape import change_texts, cover_value, fields_of
from spillover.results.shapes import fields_in
from spillover.results.texts import swap_texts, texts_of
from spillover.settings.settings import Call
from spillover.source.intake import Intake, as_bytes, chunks
from spillover.types import Source

#: When both streams overflow, stderr gets two parts of three.
STREAM_WEIGHTS = {"stdout": 1, "stderr": 2}


def clip_blocks(
    blocks: Sequence[Any],
    call: Call,
    *,
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
            without_secrets(blocks, call),
            pipeline.keep_for_program("\n".join(texts_of(blocks)), call),
        )
    programs = _find_results_for_programs(blocks) if messages else []
    for text in ("\n".join(texts_of([result])) for result in programs):
        pipeline.keep_for_program(text, call)
    leave = {id(result) for result in programs}
    texts, clip = clip_texts(texts_of(blocks, leave), call)
    shown = iter(texts)
    kept = swap_texts(blocks, lambda _: next(shown), keep_empty=clip.outcome == "whole", leave=leave)
    return Blocks(without_secrets(kept, call), clip)


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


def without_secrets(blocks: Sequence[Any], call: Call) -> Sequence[Any]:
    """Return the blocks without the secrets that stand beside their texts."""
    if call.settings.redact == "off":
        return blocks
    cover = partial(cover_text, call.settings)
    return [cover_value(change_texts(block, lambda text: cover_value(text, cover)), cover) for block in blocks]


def clip_texts(texts: Sequence[str], call: Call) -> tuple[list[str], Clip]:
    """Clip texts within one budget. Each keeps its place; one of which nothing is shown becomes empty."""
    named = [(f"block {number}", text, 1) for number, text in enumerate(texts, 1)]
    intake, sections = join(named, call)
    unlabelled = [replace(section, label=None) for section in sections]
    begun = time.monotonic()
    with together():
        clipped = pipeline.finish(intake, call, unlabelled)
    clip = clipped.clip
    if clip.outcome == "whole":
        seen = [visible_text(call.settings, bytes(as_bytes(text))) for text in texts]
    else:  # without texts of its own, the clip is what was left to show after a failure
        seen = list(clipped.texts) or [clip.text, *[""] * (len(texts) - 1)]
    record_result(call, clip, texts=seen, seconds=time.monotonic() - begun)
    return seen, clip


def join(named: Sequence[tuple[str, Source, int]], call: Call) -> tuple[Intake, list[Section]]:
    """Take in all of them as one output, one after the other; a newline goes between where one does not end its line."""
    intake = pipeline.open_intake(call)
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


def clip_streams(streams: Mapping[str, Source], call: Call) -> Clip:
    """Clip the streams of a command together, each under a label. Room that one leaves goes to the other; stderr comes first."""
    return clip_streams_apart(streams, call)[1]


def clip_streams_apart(streams: Mapping[str, Source], call: Call) -> tuple[dict[str, str], Clip]:
    """Clip streams together, and return what is shown of each by itself, for a host that has a place for each."""
    named = [(name, source, STREAM_WEIGHTS.get(name, 1)) for name, source in streams.items()]
    intake, sections = join(named, call)
    used = [section.label for section in sections if section.size]
    several = sections if len(used) > 1 else []
    clipped = pipeline.finish(intake, call, several)
    texts = dict.fromkeys(streams, "")
    if several and clipped.texts:
        texts.update(zip(streams, clipped.texts, strict=True))
    elif used:
        texts[str(used[0])] = clipped.clip.text
    return texts, clipped.clip
