"""An output that does not fit: kept first, then said. Only what overflows pays for loading this."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.result import Clip
from spillover.select.span import Span
from spillover.settings.limits import Size
from spillover.show.fit import fit, rename
from spillover.show.made import tell_choices
from spillover.show.render import Kept, Renderer, Shown
from spillover.since.earlier import compare_with
from spillover.source.blob import BothEnds, MemoryBlob, Meter, find_gap, read_ends
from spillover.store.record import Record, mint
from spillover.tokens import scale
from spillover.view.document import Document, Section
from spillover.view.forged import remember

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.select.wanted import Wanted
    from spillover.since import Earlier
    from spillover.source.intake import Intake

#: Of each end of an output, so much is counted to estimate the tokens of the whole.
SAMPLE = 1 << 14
NO_HASH = "0" * 64
#: An output up to this size is read from its store once, and looked at in memory: choosing asks for thousands of small pieces.
HELD = 1 << 20
#: Of an output that cannot be looked into at all; logs have so many.
BYTES_PER_TOKEN = 3


def label_sections(data: bytes, choices: Choices, sections: Sequence[Section]) -> Shown:
    """Show sections that fit, each under its label."""
    if choices.redact != "off":
        data = choices.cover(data)
    meter = Meter()
    meter.feed(data, hashing=False)
    document = Document(
        MemoryBlob(data),
        meter.index,
        meter.lines,
        meter.newlines,
        tuple(sections),
        raw=choices.raw,
        guard=choices.guard(),
    )
    return Renderer(document, Kept(ref=""), (), 0).show([Span(0, len(data))])


def cut(
    intake: Intake, choices: Choices, sections: Sequence[Section], call_id: str | None, wanted: Wanted
) -> tuple[Shown, Clip]:
    """Store it, choose what to show, publish it, say so; or say why it could not be kept."""
    if intake.writer is not None:
        try:
            return _store(intake, choices, sections, call_id, wanted)
        except StoreError as error:  # not even what was written can be read back
            intake.fail(error)
    document = _open_document(intake, choices, sections)
    if wanted.since is not None:
        wanted = replace(wanted, since=compare_with(wanted.since, document))
    return _show_as_lost(document, choices, _estimate_tokens(document, choices), intake.failure, wanted)


def _store(
    intake: Intake, choices: Choices, sections: Sequence[Section], call_id: str | None, wanted: Wanted
) -> tuple[Shown, Clip]:
    document = _open_document(intake, choices, sections)
    if wanted.since is not None:
        wanted = replace(wanted, since=compare_with(wanted.since, document))

    def kept(ref: str, path: str | None = None, here: str | None = None) -> Kept:
        reason, stored = _part_of(intake, choices)
        reason = choices.cover_text(here) if reason is None and here else reason
        return Kept(ref=ref, path=path or _find_path(choices, ref), reason=reason, stored=stored, here=here is not None)

    # What to show is chosen under a name of the right length, while the hash of a large output is still being made.
    tokens = _estimate_tokens(document, choices)
    renderer, shown = fit(document, choices, kept(mint(choices.tool, NO_HASH)), tokens, wanted=wanted)
    record = _record(intake, choices, document, call_id, wanted.command or None)
    if intake.failure:
        facts = (choices.tool, f"{intake.stored_bytes:,}", f"{intake.bytes:,}", intake.failure)
        _log.warning("An output of %s is stored in part (%s of %s bytes): %s", *facts)
    renderer, shown = rename(renderer, shown, kept(record.ref), choices, wanted)
    try:
        # The whole is kept before anything is said of it.
        published = intake.publish(
            replace(
                record,
                shown=shown.ranges,
                kind=shown.kind,
                why=tuple((each.first, each.last, each.why) for each in shown.why),
                notices=(remember(shown.notice, shown.text),) if shown.notice else (),
                made=tell_choices(choices, wanted, sections),
            )
        )
    except StoreError as error:
        return _show_as_lost(replace(document, blob=_read_both_ends(document)), choices, tokens, str(error), wanted)
    # Another output has these digits, this call got its own name, or it is on this machine only.
    if published.ref != record.ref or published.path or published.only_here:
        renderer, shown = rename(
            renderer, shown, kept(published.ref, published.path, published.only_here), choices, wanted
        )
    return shown, replace(_make_clip("stored", shown, renderer, choices), sha256=record.sha256)


def _record(intake: Intake, choices: Choices, document: Document, call_id: str | None, command: str | None) -> Record:
    """Return the record of an output that is in its store, all but what is shown of it."""
    meter = intake.meter
    sha256 = meter.sha256
    return Record(
        ref=mint(choices.tool, sha256),
        tool=choices.tool,
        sha256=sha256,
        bytes=meter.hashed,
        lines=document.number(meter.hashed - 1) if intake.failure else meter.lines,
        call_id=call_id,
        command=command,
        partial=_part_of(intake, choices)[0],
        produced_bytes=meter.bytes if intake.failure else None,
        produced_lines=meter.lines if intake.failure else None,
        segments=tuple(intake.segments) if any(stream != "stdout" for stream, _ in intake.segments) else (),
        index=meter.index,
        redacted=intake.redacted,
    )


def _part_of(intake: Intake, choices: Choices) -> tuple[str | None, int | None]:
    """Return why only a part of an output is stored, and its bytes; of a preview, all that came is stored."""
    if intake.failure:
        return choices.cover_text("; ".join(filter(None, (intake.failure, choices.preview)))), intake.stored_bytes
    return (choices.preview, intake.meter.bytes) if choices.preview else (None, None)


def keep(intake: Intake, choices: Choices, command: str | None) -> tuple[Kept, Size]:
    """Store an output of which nothing is shown; return where it is kept, or why it is not, and its size."""
    try:
        intake.finish()
        intake.overflow()
        total = Size(intake.meter.lines, intake.meter.bytes)
        if intake.writer is None:
            return Kept(reason=choices.cover_text(intake.failure)), total
        try:
            published = intake.publish(_record(intake, choices, _open_document(intake, choices, ()), None, command))
        except StoreError as error:
            return Kept(reason=choices.cover_text(str(error))), total
        ref, path = published.ref, published.path or _find_path(choices, published.ref)
        if intake.failure:  # that it is a part is said first
            return Kept(ref=ref, path=path, reason=choices.cover_text(intake.failure)), total
        return Kept(ref=ref, path=path, reason=published.only_here, here=published.only_here is not None), total
    finally:
        intake.abandon()


def _find_path(choices: Choices, ref: str) -> str | None:
    """Return the path of an output; None if its store cannot say, though it is kept."""
    try:
        return choices.store.where(ref)
    except Exception:  # noqa: BLE001  a store may be anybody's, and the tool call survives it
        return None


def _open_document(intake: Intake, choices: Choices, sections: Sequence[Section]) -> Document:
    meter = intake.meter
    blob = intake.blob() if choices.redact == "stored" else choices.without_secrets(intake.blob())
    opens, closes = find_gap(blob)
    if blob.size <= HELD and opens == closes:
        blob = MemoryBlob(blob.read(0, blob.size))
    return Document(
        blob,
        meter.index,
        meter.lines,
        meter.newlines,
        tuple(sections) or (Section(0, meter.bytes),),
        choices.reach,
        meter.chars,
        choices.raw,
        choices.guard(),
    )


def _show_as_lost(document: Document, choices: Choices, tokens: int, reason: str, wanted: Wanted) -> tuple[Shown, Clip]:
    _log.warning("An output of %s was cut and not kept (%s bytes): %s", choices.tool, f"{document.size:,}", reason)
    if choices.form is not None and choices.form.lost:  # another part, where that system shows one then
        choices = replace(choices, keep=choices.form.lost)
    reason = choices.cover_text("; ".join(filter(None, (reason, choices.preview))))  # a store may name its address
    renderer, shown = fit(document, choices, Kept(reason=reason), tokens, wanted=wanted)
    return shown, _make_clip("lost", shown, renderer, choices)


def _read_both_ends(document: Document) -> BothEnds:
    """Read both ends of an output whose store has given up on it."""
    head, tail = read_ends(document.blob.read, document.size, document.reach)
    return BothEnds(MemoryBlob(head), tail, document.size)


def _make_clip(outcome: str, shown: Shown, renderer: Renderer, choices: Choices) -> Clip:
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
        _limits=choices.limits,
    )


def _estimate_tokens(document: Document, choices: Choices) -> int:
    """Estimate the tokens of an output from its two ends: only what may be shown is counted."""
    size = document.size
    head, tail = read_ends(document.blob.read, size, SAMPLE)
    if not head and not tail:
        return size // BYTES_PER_TOKEN
    # Whatever is cut is shown with plain line ends.
    seen = [choices.seen(end) for end in (head, tail)]
    counted = [choices.count(text.replace("\r\n", "\n") if "\r" in text else text) for text in seen]
    return scale(sum(counted), len(head) + len(tail), size)


def cut_again(
    record: Record, document: Document, choices: Choices, *, name: str = "", since: Earlier | None = None
) -> tuple[Shown, Clip]:
    """Clip an output that is stored already as if it came now. Nothing is stored or noted: this is for people who look."""
    whole = replace(
        document,
        sections=(Section(0, document.size),),
        reach=choices.reach,
        raw=choices.raw,
        guard=choices.guard(),
    )
    earlier = None if since is None else compare_with(since, whole)
    wanted = replace(choices.wanted(record.command or "", name), since=earlier)
    tokens = _estimate_tokens(whole, choices)

    def kept(ref: str) -> Kept:
        stored = record.bytes if record.partial else None
        return Kept(ref=ref, path=_find_path(choices, ref), reason=record.partial, stored=stored)

    # By the same steps as above, or the words could differ from those that were given.
    renderer, shown = fit(whole, choices, kept(mint(record.tool, NO_HASH)), tokens, wanted=wanted)
    renderer, shown = rename(renderer, shown, kept(record.ref), choices, wanted)
    return shown, _make_clip("stored", shown, renderer, choices)
