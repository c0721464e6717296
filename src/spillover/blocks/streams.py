"""The streams of a command, clipped together: both are represented, stderr first when room is short."""

from __future__ import annotations

from spillover import pipeline
from spillover.blocks.together import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillover.choices import Choices
    from spillover.intake.sources import Source
    from spillover.result import Clip

#: When both streams overflow, stderr gets two parts of three.
STREAM_WEIGHTS = {"stdout": 1, "stderr": 2}


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
