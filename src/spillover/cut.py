"""An output that does not fit: kept first, then said. Only what overflows pays for loading this."""

from __future__ import annotations

from spillover.data import replace
from spillover.errors import StoreError
from spillover.fit import fitted, renamed
from spillover.intake.blob import Ends, Held
from spillover.intake.meter import Meter
from spillover.limits import Size
from spillover.render import Kept, Renderer, Shown
from spillover.result import Clip
from spillover.select.span import Span
from spillover.store.base import Record, mint
from spillover.tokens import scaled
from spillover.view.document import Document, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.intake.take import Intake

#: Of each end of an output, so much is counted to estimate the tokens of the whole.
SAMPLE = 1 << 14
NO_HASH = "0" * 64
#: Of an output that cannot be looked into at all; logs have so many.
BYTES_PER_TOKEN = 3


def labelled(data: bytes, choices: Choices, sections: Sequence[Section]) -> Shown:
    """Sections that fit, each under its label."""
    meter = Meter()
    meter.feed(data, hashing=False)
    document = Document(Held(data), meter.index, meter.lines, meter.newlines, tuple(sections), raw=choices.raw)
    return Renderer(document, Kept(ref=""), (), 0).show([Span(0, len(data))])


def cut(
    intake: Intake, choices: Choices, sections: Sequence[Section], call_id: str | None, command: str | None, name: str
) -> tuple[Shown, Clip]:
    """Store it, choose what to show, publish it, say so; or say why it could not be kept."""
    if intake.sink is not None:
        try:
            return _stored(intake, choices, sections, call_id, command, name)
        except StoreError as error:  # not even what was written can be read back
            intake.failed(error)
    assert intake.gone is not None
    document = _document(intake, choices, sections)
    return _shown_as_lost(document, choices, _tokens(document, choices), intake.gone.reason, name)


def _stored(
    intake: Intake, choices: Choices, sections: Sequence[Section], call_id: str | None, command: str | None, name: str
) -> tuple[Shown, Clip]:
    assert intake.sink is not None
    meter, gone = intake.meter, intake.gone
    document = _document(intake, choices, sections)

    def kept(ref: str, path: str | None = None) -> Kept:
        reason, stored = (gone.reason, gone.stored) if gone else (None, None)
        return Kept(ref=ref, path=path or choices.store.where(ref), reason=reason, stored=stored)

    # What to show is chosen under a name of the right length, while the hash of a large output is still being made.
    tokens = _tokens(document, choices)
    renderer, shown = fitted(document, choices, kept(mint(choices.tool, NO_HASH)), tokens, name=name)
    sha256 = intake.sha256()
    record = Record(
        ref=mint(choices.tool, sha256),
        tool=choices.tool,
        sha256=sha256,
        bytes=meter.hashed,
        lines=document.number(meter.hashed - 1) if gone else meter.lines,
        call_id=call_id,
        command=command,
        partial=gone.reason if gone else None,
        produced_bytes=meter.bytes if gone else None,
        produced_lines=meter.lines if gone else None,
        segments=tuple(intake.segments) if any(stream != "stdout" for stream, _ in intake.segments) else (),
        index=meter.index,
    )
    renderer, shown = renamed(renderer, shown, kept(record.ref), choices, name)
    try:
        # The whole is kept before anything is said of it.
        published = intake.sink.publish(
            replace(
                record,
                shown=shown.ranges,
                kind=shown.kind,
                why=tuple((each.first, each.last, each.why) for each in shown.why),
            )
        )
    except StoreError as error:
        return _shown_as_lost(replace(document, blob=_both_ends(document)), choices, tokens, str(error), name)
    if published.ref != record.ref or published.path:  # another output has these digits, or this call got its own name
        renderer, shown = renamed(renderer, shown, kept(published.ref, published.path), choices, name)
    return shown, _clipped("stored", shown, renderer, choices)


def _document(intake: Intake, choices: Choices, sections: Sequence[Section]) -> Document:
    meter = intake.meter
    return Document(
        intake.blob(),
        meter.index,
        meter.lines,
        meter.newlines,
        tuple(sections) or (Section(0, meter.bytes),),
        choices.reach,
        meter.chars,
        choices.raw,
    )


def _shown_as_lost(document: Document, choices: Choices, tokens: int, reason: str, name: str) -> tuple[Shown, Clip]:
    if choices.form is not None and choices.form.lost:  # another part, where that system shows one then
        choices = replace(choices, keep=choices.form.lost)
    renderer, shown = fitted(document, choices, Kept(reason=reason), tokens, name=name)
    return shown, _clipped("lost", shown, renderer, choices)


def _both_ends(document: Document) -> Ends:
    """What can still be shown of an output once its store has given up on it."""
    head = document.blob.read(0, document.reach)
    tail = document.blob.read(max(len(head), document.size - document.reach), document.size)
    return Ends(Held(head), tail, document.size)


def _clipped(outcome: str, shown: Shown, renderer: Renderer, choices: Choices) -> Clip:
    document = renderer.document
    total = Size(document.lines, document.size, document.chars, renderer.tokens)
    return Clip(
        shown.text,
        outcome,  # type: ignore[arg-type]  # one of the three words, by the two callers above
        ref=renderer.kept.ref,
        path=renderer.kept.path,
        reason=renderer.kept.reason,
        why=shown.why,
        _kind=shown.kind or "log",
        _total=total,
        _shown=Size(shown.lines, shown.bytes, len(shown.body), choices.count(shown.body)),
        _ranges=shown.ranges,
        _count=choices.count,
    )


def _tokens(document: Document, choices: Choices) -> int:
    """Tokens of the whole, from its two ends: only what may be shown is counted."""
    size = document.size
    head = document.blob.read(0, min(SAMPLE, size))
    tail = document.blob.read(max(len(head), size - SAMPLE), size)
    if not head and not tail:
        return size // BYTES_PER_TOKEN
    return scaled(choices.count(choices.seen(head)) + choices.count(choices.seen(tail)), len(head) + len(tail), size)
