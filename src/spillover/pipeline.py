"""The flow, as functions you can read aloud: take in, see whether it fits, store, select, say what is missing."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from itertools import count

from msgspec.structs import replace

from spillover.result import Clip
from spillover.settings.limits import Size
from spillover.source.intake import Intake, chunks, file_name
from spillover.tokens import Counter
from spillover.view.clean import chars_of, clean, every_line, is_plain
from spillover.view.invisible import has_invisible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.select.wanted import Wanted
    from spillover.show.render import Shown
    from spillover.source.intake import Source
    from spillover.view.document import Section

#: How APIs name a call that the model made itself. Anthropic's code execution tools and OpenAI's programs have other types.
MODEL_CALLERS = ("", "direct", "model")
#: Calls that have no id of their own.
_unnamed = count()


def clip(
    source: Source,
    choices: Choices,
    *,
    call_id: str | None = None,
    command: str | None = None,
    cwd: str | None = None,
    caller: object = None,
) -> Clip:
    """Bring any source within the limits; a program, if that is the `caller`, gets it whole."""
    if caller is not None and is_program(caller):
        return keep_for_program(source, choices, call_id=call_id)
    # The common case, and the fast one: a short text with nothing to clean.
    short = (
        type(source) is str
        and len(source) <= _window(choices)
        and choices.budget is None
        and choices.redact == "off"
        and not choices.compares
    )
    if short and source.isascii() and is_plain(source) and not choices.suspects(source) and fits(source, choices):  # type: ignore[union-attr,arg-type]
        made = Clip(source, _count=choices.count, _limits=choices.limits)  # type: ignore[arg-type]  # a str, as seen above
        _record(made, choices, command=command, call_id=call_id)
        return made
    intake = begin(choices)
    try:
        for chunk in chunks(source):
            intake.write(chunk)
    except BaseException:
        intake.abandon()
        raise
    name = "" if isinstance(source, (str, bytes)) else file_name(source)
    return settle(intake, choices, call_id=call_id, command=command, name=name, cwd=cwd)


def is_program(caller: object) -> bool:
    """Return whether a program reads the result of a call. `caller` is what an API reports of the call, or its type."""
    kind = caller.get("type") if isinstance(caller, Mapping) else getattr(caller, "type", caller)
    return isinstance(kind, str) and kind not in MODEL_CALLERS


def keep_for_program(source: Source, choices: Choices, *, call_id: str | None = None) -> Clip:
    """Return the Clip of an output that a program reads: its text is whole, and it is stored where it overflows.

    No model has read it, so it costs no budget, and the journal does not count it.
    """
    whole = source if isinstance(source, str) else b"".join(chunks(source))
    choices = replace(choices, budget=None, since="off")
    intake = begin(choices)
    for chunk in chunks(whole):
        intake.write(chunk)
    from spillover.events import together  # as below

    with together():
        clip = settle_anyway(intake, choices, call_id=call_id)
    text = choices.cover_text(whole if isinstance(whole, str) else whole.decode("utf-8", "replace"))
    return replace(clip, text=text, why=(), _shown=None, _ranges=None)


def begin(choices: Choices) -> Intake:
    """Begin an intake that turns to the store once the output cannot fit any more."""
    # What knows of scopes is not loaded before something overflows.
    cover = None
    if choices.redact == "stored":
        from spillover.secrets.outputs import CoveredStreams  # wanted only by those who choose it

        cover = CoveredStreams()
    return Intake(
        _window(choices),
        lambda: choices.outputs.writer(),  # noqa: PLW0108
        cap=choices.cap,
        side=choices.reach,
        cover=cover,
    )


def settle(
    intake: Intake,
    choices: Choices,
    *,
    sections: Sequence[Section] = (),
    call_id: str | None = None,
    command: str | None = None,
    name: str = "",
    cwd: str | None = None,
) -> Clip:
    """Return the clip of an output that is complete: whole if it fits, otherwise stored first, and then cut."""
    return settle_parts(intake, choices, sections=sections, call_id=call_id, command=command, name=name, cwd=cwd)[1]


def settle_anyway(
    intake: Intake,
    choices: Choices,
    *,
    call_id: str | None = None,
    command: str | None = None,
    cwd: str | None = None,
) -> Clip:
    """Return the clip of what a command printed. It has done its work, so whatever fails here, there is something to show."""
    return settle_parts(intake, choices, call_id=call_id, command=command, cwd=cwd, anyway=True)[1]


def settle_parts(
    intake: Intake,
    choices: Choices,
    *,
    sections: Sequence[Section] = (),
    call_id: str | None = None,
    command: str | None = None,
    name: str = "",
    cwd: str | None = None,
    anyway: bool = False,
) -> tuple[Shown | None, Clip]:
    """Return the clip of an output, and what is shown of each section by itself. `anyway`: even if clipping fails.

    `command` and `cwd` say which earlier runs are runs of the same command, where it is told against one of them.
    """
    begun = time.monotonic()
    held = call_id or f"\0{next(_unnamed)}"  # calls at the same time are not promised the same tokens
    choices = choices.within_budget(held)
    try:
        intake.finish()
        made = _clip(intake, choices, sections, call_id, choices.wanted(command or "", name), cwd)
    except Exception as error:
        from spillover.show import fit  # out of memory, or a bug of ours

        if not anyway or not fit.SURVIVED:
            raise
        # They hold everything that was being made, and memory may be short.
        error.__traceback__ = error.__context__ = None
        from spillover.show.plain import clip_plainly

        made = None, clip_plainly(intake, choices, error)
    finally:
        intake.abandon()
    choices.spend(made[1].text, held)
    _record(made[1], choices, command=command, call_id=call_id, seconds=time.monotonic() - begun)
    return made


def _clip(
    intake: Intake,
    choices: Choices,
    sections: Sequence[Section],
    call_id: str | None,
    wanted: Wanted,
    cwd: str | None,
) -> tuple[Shown | None, Clip]:
    """Whole if it fits, unless it only repeats the earlier run it is compared with; otherwise stored and cut."""
    whole = None if intake.overflowed else _whole(intake, choices, sections)
    if not choices.compares:
        return whole or _cut(intake, choices, sections, call_id, wanted)
    from spillover.since.earlier import open_earlier  # few ask

    data = None if whole is None else intake.held
    with open_earlier(choices, wanted.command or None, cwd, data) as earlier:
        if whole is not None and not (earlier is not None and earlier.is_repeated):
            return whole
        clipped = _cut(intake, choices, sections, call_id, replace(wanted, since=earlier))
    return clipped if whole is None or clipped[1].outcome == "stored" else whole  # nothing is cut that is not kept


def _cut(
    intake: Intake, choices: Choices, sections: Sequence[Section], call_id: str | None, wanted: Wanted
) -> tuple[Shown | None, Clip]:
    intake.overflow()
    from spillover.show.cut import cut  # most outputs fit, and need none of it

    return cut(intake, choices, sections, call_id, wanted)


def _record(
    clip: Clip, choices: Choices, *, command: str | None, call_id: str | None = None, seconds: float = 0.0
) -> None:
    if clip.outcome != "whole" or choices.stats or "opentelemetry" in sys.modules:
        from spillover.events import record_clip  # most outputs fit, and most programs do not trace

        record_clip(choices, clip, command=command, call_id=call_id, seconds=seconds)


def _window(choices: Choices) -> int:
    return max(choices.limits.window, choices.trigger.window) if choices.trigger else choices.limits.window


def fits(text: str, choices: Choices, raw_bytes: int = 0, apart: Sequence[str] = ()) -> bool:
    """Return whether nothing needs to be cut: it is not above the trigger, or within the limits anyway."""

    def measure(text: str) -> int:  # texts that reach the model one by one are counted one by one
        return sum(map(choices.count, filter(None, apart))) if apart else choices.count(text)

    return any(
        (bounds.bytes is None or raw_bytes <= bounds.bytes)
        and bounds.hold(text, Counter(measure, choices.count.within_bytes))
        for bounds in (choices.trigger, choices.limits)
        if bounds is not None
    )


def show_as_it_came(intake: Intake, choices: Choices) -> Choices:
    """Return choices that clean only what is cut: an output that fits is shown as it came, where it is what it seems.

    It is not, where characters in it are invisible, or a line reads like a notice of ours.
    """
    data = b"" if intake.overflowed else intake.held
    if (is_plain(data) and _is_utf8(data)) or has_invisible(data) or choices.compares or choices.redact != "off":
        return choices
    guard, pieces = choices.guard(), intake.pieces
    # Halves of words that read like ours may come apart, and meet at who reads one of the streams.
    parts = [data, *(b"".join(piece for stream, piece in pieces if stream == name) for name in dict(pieces))]
    readings = [seen for part in parts for seen in (clean(part), every_line(part.decode("utf-8", "replace")))]
    if guard is None or any(guard(seen) != seen for seen in readings):
        return choices
    text = data.decode("utf-8", "replace")
    lines = "\n".join(text.splitlines())  # some readers end a line at a form feed, too
    return replace(choices, raw=True) if all(fits(each, choices, len(data)) for each in (text, lines)) else choices


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _whole(intake: Intake, choices: Choices, sections: Sequence[Section]) -> tuple[Shown | None, Clip] | None:
    """Return the clip of an output that reaches the model as it is; None if it does not fit, or if frames are left out."""
    data = intake.held
    shown, apart = None, [choices.seen(data[section.start : section.end]) for section in sections if not section.label]
    text, frames = choices.look(data)
    if sum(1 for section in sections if section.size and section.label) > 1:
        from spillover.show.cut import label_sections

        shown = label_sections(data, choices, sections)
        text = "\n".join(part for part in shown.parts if part)
    if frames or not fits(text, choices, len(data), apart):
        return None
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    total = Size(lines, len(data), chars_of(data), choices.count(text) if text else 0)
    return shown, Clip(text, _total=total, _count=choices.count, _limits=choices.limits)
