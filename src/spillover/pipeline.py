"""The flow, as functions you can read aloud: take in, see whether it fits, store, select, say what is missing."""

from __future__ import annotations

from spillover.intake.sources import chunks, file_name
from spillover.intake.take import Intake
from spillover.limits import Size
from spillover.result import Clip
from spillover.view.clean import chars_of, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.intake.sources import Source
    from spillover.render import Shown
    from spillover.view.document import Section


def clip(source: Source, choices: Choices, *, call_id: str | None = None, command: str | None = None) -> Clip:
    """Bring any source within the limits."""
    # The common case, and the fast one: a short text with nothing to clean.
    short = type(source) is str and len(source) <= _window(choices)
    if short and source.isascii() and is_plain(source) and _fits(source, choices):  # type: ignore[union-attr,arg-type]
        return Clip(source, _count=choices.count)  # type: ignore[arg-type]  # a str, as the line above has seen
    intake = begin(choices)
    try:
        for chunk in chunks(source):
            intake.write(chunk)
    except BaseException:
        intake.abandon()
        raise
    name = "" if isinstance(source, (str, bytes)) else file_name(source)
    return settle(intake, choices, call_id=call_id, command=command, name=name)


def begin(choices: Choices) -> Intake:
    """An intake that turns to the store once the output cannot fit any more."""
    return Intake(_window(choices), choices.store.writer, cap=choices.cap, side=choices.reach)


def settle(
    intake: Intake,
    choices: Choices,
    *,
    sections: Sequence[Section] = (),
    call_id: str | None = None,
    command: str | None = None,
    name: str = "",
) -> Clip:
    """Everything has come in: whole when it fits, otherwise cut, and kept before anything is said."""
    return settle_parts(intake, choices, sections=sections, call_id=call_id, command=command, name=name)[1]


def settle_parts(
    intake: Intake,
    choices: Choices,
    *,
    sections: Sequence[Section] = (),
    call_id: str | None = None,
    command: str | None = None,
    name: str = "",
) -> tuple[Shown | None, Clip]:
    """The same, with what is shown of each section apart."""
    try:
        intake.finish()
        if not intake.spilled:
            whole = _whole(intake, choices, sections)
            if whole is not None:
                return whole
            intake.spill()
            intake.finish()
        from spillover.cut import cut  # most outputs fit, and need none of it

        return cut(intake, choices, sections, call_id, command, name or command or choices.tool)
    finally:
        intake.abandon()


def _window(choices: Choices) -> int:
    return max(choices.limits.window, choices.trigger.window) if choices.trigger else choices.limits.window


def _fits(text: str, choices: Choices, raw_bytes: int = 0, apart: Sequence[str] = ()) -> bool:
    """Whether nothing needs to be cut: it is not above the trigger, or within the limits anyway."""

    def count(text: str) -> int:  # texts that reach the model one by one are counted one by one
        return sum(map(choices.count, filter(None, apart))) if apart else choices.count(text)

    return any(
        (bounds.bytes is None or raw_bytes <= bounds.bytes) and bounds.hold(text, count, byte_bound=choices.byte_bound)
        for bounds in (choices.trigger, choices.limits)
        if bounds is not None
    )


def _whole(intake: Intake, choices: Choices, sections: Sequence[Section]) -> tuple[Shown | None, Clip] | None:
    """The clip of an output that fits as it is; None when it does not."""
    data = intake.held
    shown, apart = None, [choices.seen(data[section.start : section.end]) for section in sections if not section.label]
    if sum(1 for section in sections if section.size and section.label) > 1:
        from spillover.cut import labelled

        shown = labelled(data, choices, sections)
        text = "\n".join(part for part in shown.parts if part)
    else:
        text = choices.seen(data)
    if not _fits(text, choices, len(data), apart):
        return None
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    total = Size(lines, len(data), chars_of(data), choices.count(text) if text else 0)
    return shown, Clip(text, _total=total, _count=choices.count)
