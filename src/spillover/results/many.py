"""The results of a turn: each has a clip of its own, and all of them share one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import TypeVar

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import visible
from spillover.errors import UsageError
from spillover.events import record_result, together
from spillover.kinds.selection import share_fairly
from spillover.result import Clip
from spillover.settings.limits import SMALLEST, Limits, Size, count_lines
from spillover.settings.settings import Call
from spillover.source.intake import Intake, chunks
from spillover.types import Source

Key = TypeVar("Key")


def clip_many(outputs: Mapping[Key, Source], call: Call, calls: Mapping[Key, Call]) -> dict[Key, Clip]:
    """Clip the results of a turn within the limits of `call`: small ones stay whole, the others share what is left evenly.

    `calls` has what holds for the outputs whose tool is named.
    """
    for key in calls:
        if key not in outputs:
            raise UsageError(f"tools names {key!r:.80}, and there is no such output.")
    call = call.within_budget()
    # No limit is above the one that all of them share.
    ruled = {
        key: replace(each, limits=each.limits.lower(call.limits), trigger=None)
        for key, each in ((key, calls.get(key, call)) for key in outputs)
    }
    intakes: dict[Key, Intake] = {}
    try:
        for key, source in outputs.items():
            intakes[key] = pipeline.open_intake(ruled[key])
            for chunk in chunks(source):
                intakes[key].write(chunk)
            intakes[key].finish()
        needs = [_need(intake, call) for intake in intakes.values()]
        shares = _divide(call.limits, needs)
        clips = {}
        for (key, intake), need, share in zip(intakes.items(), needs, shares, strict=True):
            clips[key] = _clip_with_share(intake, ruled[key], call.limits, share, whole=need <= share)
    except BaseException:
        for intake in intakes.values():
            intake.abandon()
        raise
    return clips


def _divide(limits: Limits, needs: Sequence[int]) -> list[int]:
    """Return the share of each output: as much for all, or where that is too little for a notice, as many notices as fit.

    Small outputs that stay whole come first then; for the last ones there is nothing left.
    """
    room = _whole(limits)
    shares = share_fairly(room, needs, [1] * len(needs))
    smallest = max(-(-SMALLEST[name] * room // value) for name, value in limits.given())
    if all(share >= min(need, smallest) for share, need in zip(shares, needs, strict=True)):
        return shares
    for number in sorted(range(len(needs)), key=needs.__getitem__):
        shares[number] = next((size for size in (needs[number], smallest) if size <= room), 0)
        room -= shares[number]
    return shares


def _whole(limits: Limits) -> int:
    """Return in how many parts shares of limits are counted: each unit of each limit is so many, none of them broken."""
    return lcm(*(value for _, value in limits.given()))


def _need(intake: Intake, call: Call) -> int:
    """Return how much of the limits an output needs to stay whole."""
    whole = _whole(call.limits)
    if intake.overflowed:
        return whole * 2
    data = intake.held
    text, frames = visible(call.settings, data)
    if frames:  # its notice comes on top: it is cut to its share, as what overflows is
        return whole * 2
    size = {
        "lines": count_lines(text),
        "bytes": max(len(data), len(text.encode())),
        "chars": len(text),
        "tokens": call.settings.count(text) if call.limits.tokens else 0,
    }
    limits = {name: getattr(call.limits, name) for name in size}
    return max(size[name] * whole // int(limit) for name, limit in limits.items() if limit is not None)


def _clip_with_share(intake: Intake, call: Call, limits: Limits, share: int, *, whole: bool) -> Clip:
    if whole:
        return pipeline.finish(intake, call).clip
    shared = _share(call, limits, share)
    if shared is not None:
        return pipeline.finish(intake, shared).clip
    # Too many for too little: it is stored, and its clip says where, but there is no room to say so to the model.
    intake.overflow()
    with together():
        clip = pipeline.finish(intake, call).clip
    record_result(call, replace(clip, _shown=Size()), texts=())
    return replace(clip, text="", _ranges=(), _shown=Size())


def _share(call: Call, limits: Limits, share: int) -> Call | None:
    """Return the call with a part of the limits that all share; None when that leaves no room for a notice."""
    part = {name: value * share // _whole(limits) for name, value in limits.given()}
    if any(value < SMALLEST[name] for name, value in part.items()):
        return None
    limits = call.limits.lower(Limits(**part))
    try:
        call.settings.check_room(limits)
    except UsageError:  # as the user's own tokenizer counts
        return None
    return replace(call, limits=limits)
