"""The results of a turn: each has a clip of its own, and all of them share one budget."""

from __future__ import annotations

from msgspec.structs import replace

from spillover import pipeline
from spillover.errors import UsageError
from spillover.events import record_result, together
from spillover.select.ends import fair
from spillover.settings.limits import SMALLEST, Limits, Size, count_lines
from spillover.source.intake import chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from spillover.choices import Choices
    from spillover.result import Clip
    from spillover.source.intake import Intake, Source

    Key = TypeVar("Key")


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
    if intake.overflowed:
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
    intake.overflow()
    with together():
        clip = pipeline.settle(intake, choices)
    record_result(choices, replace(clip, _shown=Size()), texts=())
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
