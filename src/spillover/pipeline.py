"""From a source to a clip: take it in, see whether it fits, select, store, say what is missing. Start reading here.

    source ──▶ intake ──▶ does it fit? ── yes ──▶ Clip("whole")
                 │             no
                 ▼              └──▶ document ──▶ fit ──▶ publish ──▶ Clip("stored"), or Clip("lost") and why
               store

Packages: `source` turns anything into measured bytes; `store` keeps them; `document` is the text that a model would
see; `kinds` selects what fits; `notice` words what is missing; `events` records what reached the model.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count

from msgspec.structs import replace

from spillover import fallback
from spillover.budget import UNNAMED
from spillover.document.clean import count_chars, is_plain
from spillover.document.document import (
    Document,
    Section,
    cover_bytes,
    may_imitate_notice,
    notice_guard,
    visible,
    visible_text,
)
from spillover.errors import UsageError
from spillover.events import record_clip
from spillover.kinds.selection import Span
from spillover.notice.render import Layout
from spillover.result import Clip, Clipped
from spillover.secrets.outputs import CoveredStreams
from spillover.settings.limits import Size
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.since.earlier import open_earlier
from spillover.source.intake import Intake, chunks, file_name
from spillover.store import Writer
from spillover.tokens import Counter
from spillover.types import Source

#: Names for the promises of a budget to calls without an id.
_serial_numbers = count()


def clip(source: Source, call: Call) -> Clip:
    """Clip any source to the limits of a call."""
    if type(source) is str and _is_plain_and_fits(source, call):
        clip = Clip(source, _count=call.settings.count, _limits=call.limits)
        record_clip(call, clip)
        return clip
    intake = open_intake(call)
    try:
        for chunk in chunks(source):
            intake.write(chunk)
    except BaseException:
        intake.abandon()
        raise
    name = "" if isinstance(source, (str, bytes)) else file_name(source)
    return finish(intake, replace(call, name=name) if name else call).clip


def _is_plain_and_fits(text: str, call: Call) -> bool:
    """Return whether a short text fits and has nothing to clean, cover, mark or compare: the common case."""
    return (
        len(text) <= _window(call)
        and call.budget is None
        and call.settings.redact == "off"
        and not call.compares
        and text.isascii()
        and is_plain(text)
        and not may_imitate_notice(call.settings, text)
        and fits(text, call)
    )


def open_intake(call: Call) -> Intake:
    """Return an intake, which holds an output in memory while it may fit and stores it otherwise."""
    settings = call.settings
    cover = CoveredStreams() if settings.redact == "stored" else None

    def open_writer() -> Writer:
        return settings.outputs.writer()

    return Intake(_window(call), open_writer, cap=settings.cap, side=call.reach, cover=cover)


def finish(intake: Intake, call: Call, sections: Sequence[Section] = ()) -> Clipped:
    """Finish an output: return it whole if it fits, otherwise store it and clip it.

    `sections` are its parts side by side, such as the streams of a command.
    """
    started = time.monotonic()
    promise = call.id or f"{UNNAMED}{next(_serial_numbers)}"  # calls at the same time are not promised the same tokens
    call = call.within_budget(promise)
    try:
        intake.finish()
        clipped = _clip(intake, call, sections)
    except Exception as error:  # out of memory, or a bug: the tool has done its work, and there is something to show
        if not fallback.SURVIVED or isinstance(error, UsageError):
            call.release(promise)
            raise
        error.__traceback__ = error.__context__ = None  # its frames keep large buffers alive
        clipped = Clipped(fallback.clip_plainly(intake, call, error))
    except BaseException:
        call.release(promise)
        raise
    finally:
        intake.abandon()
    call.spend(clipped.clip.text, promise)
    record_clip(call, clipped.clip, seconds=time.monotonic() - started)
    return clipped


def _clip(intake: Intake, call: Call, sections: Sequence[Section]) -> Clipped:
    """Return an output whole if it fits and does not repeat the earlier run; otherwise store it and cut it."""
    whole = None if intake.overflowed else _show_whole(intake, call, sections)
    if not call.compares:
        return whole or _cut(intake, call, sections, None)
    with open_earlier(call, None if whole is None else intake.buffer) as earlier:
        if whole is not None and not (earlier is not None and earlier.is_repeated):
            return whole
        cut = _cut(intake, call, sections, earlier)
    return cut if whole is None or cut.clip.outcome == "stored" else whole  # what could not be stored is shown whole


def _cut(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Clipped:
    """Select what to show, publish the whole output, and name its place in the notice."""
    from spillover.kinds.cut import cut  # numpy and every selector: only an output that overflows pays for them

    intake.overflow()
    return cut(intake, call, sections, earlier)


def _show_whole(intake: Intake, call: Call, sections: Sequence[Section]) -> Clipped | None:
    """Return an output that reaches the model whole; None if it does not fit, or if overwritten frames are left out."""
    settings = call.settings
    data = intake.buffer
    unlabelled = tuple(
        visible_text(settings, data[section.start : section.end]) for section in sections if not section.label
    )
    texts = unlabelled
    text, frames = visible(settings, data)
    if sum(1 for section in sections if section.size and section.label) > 1:
        document = Document.from_bytes(
            cover_bytes(settings, data), sections, raw=settings.raw, guard=notice_guard(settings)
        )
        texts = Layout(document).render([Span(0, len(data))]).parts
        text = "\n".join(filter(None, texts))
    if frames or not fits(text, call, raw_bytes=len(data), texts=unlabelled):
        return None
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    total = Size(lines, len(data), count_chars(data), settings.count(text) if text else 0)
    return Clipped(Clip(text, _total=total, _count=settings.count, _limits=call.limits), texts)


def fits(text: str, call: Call, *, raw_bytes: int = 0, texts: Sequence[str] = ()) -> bool:
    """Return whether a text is within the limits, or not above the trigger of a profile.

    The raw bytes are held against the limit of bytes, too. The tokens of `texts`, which reach the model one by one, are
    counted one by one.
    """
    count = call.settings.count
    if texts:
        count = Counter(lambda _: sum(map(call.settings.count, filter(None, texts))), count.within_bytes)
    bounds = (call.limits,) if call.trigger is None else (call.trigger, call.limits)
    return any((limits.bytes is None or raw_bytes <= limits.bytes) and limits.hold(text, count) for limits in bounds)


def _window(call: Call) -> int:
    """Return the most bytes that an output can have and still fit."""
    return call.limits.window if call.trigger is None else max(call.limits.window, call.trigger.window)
