"""An output that does not fit: kept first, then said. Only what overflows pays for loading this."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from spillover.document.document import Document, Section, cover_blob, cover_text, notice_guard, visible_text
from spillover.document.forgery import digest_notice
from spillover.errors import StoreError
from spillover.kinds.fit import fit, rename
from spillover.kinds.made import encode_call
from spillover.notice.render import Kept, Renderer, Shown
from spillover.result import Clip, Clipped
from spillover.settings.limits import Size
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.since.earlier import compare_with
from spillover.source.blob import BothEnds, MemoryBlob, find_gap, read_ends
from spillover.source.intake import Intake
from spillover.store.record import Record, mint
from spillover.tokens import scale

_log = logging.getLogger(__name__)

#: Of each end of an output, so much is counted to estimate the tokens of the whole.
SAMPLE = 1 << 14
NO_HASH = "0" * 64
#: An output up to this size is read from its store once, and looked at in memory: choosing asks for thousands of small pieces.
HELD = 1 << 20
#: Of an output that cannot be looked into at all; logs have so many.
BYTES_PER_TOKEN = 3


def cut(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Clipped:
    """Store it, choose what to show, publish it, say so; or say why it could not be kept."""
    if intake.writer is not None:
        try:
            return _store(intake, call, sections, earlier)
        except StoreError as error:  # not even what was written can be read back
            intake.fail(error)
    document = _open_document(intake, call, sections)
    if earlier is not None:
        earlier = compare_with(earlier, document)
    return _show_as_lost(document, call, _estimate_tokens(document, call), intake.failure, earlier)


def _store(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Clipped:
    document = _open_document(intake, call, sections)
    if earlier is not None:
        earlier = compare_with(earlier, document)

    def kept(ref: str, path: str | None = None, here: str | None = None) -> Kept:
        reason, stored = _part_of(intake, call)
        reason = cover_text(call.settings, here) if reason is None and here else reason
        return Kept(ref=ref, path=path or _find_path(call, ref), reason=reason, stored=stored, here=here is not None)

    # What to show is chosen under a name of the right length, while the hash of a large output is still being made.
    tokens = _estimate_tokens(document, call)
    renderer, shown = fit(document, call, kept(mint(call.tool, NO_HASH)), tokens, earlier=earlier)
    record = _record(intake, call, document)
    if intake.failure:
        facts = (call.tool, f"{intake.stored_bytes:,}", f"{intake.bytes:,}", intake.failure)
        _log.warning("An output of %s is stored in part (%s of %s bytes): %s", *facts)
    renderer, shown = rename(renderer, shown, kept(record.ref), call, earlier)
    try:
        # The whole is kept before anything is said of it.
        published = intake.publish(
            replace(
                record,
                shown=shown.ranges,
                kind=shown.kind,
                why=tuple((each.first, each.last, each.why) for each in shown.why),
                notices=(digest_notice(shown.notice, shown.text),) if shown.notice else (),
                made=encode_call(call, earlier, sections),
            )
        )
    except StoreError as error:
        return _show_as_lost(replace(document, blob=_read_both_ends(document)), call, tokens, str(error), earlier)
    # Another output has these digits, this call got its own name, or it is on this machine only.
    if published.ref != record.ref or published.path or published.only_here:
        renderer, shown = rename(
            renderer, shown, kept(published.ref, published.path, published.only_here), call, earlier
        )
    clip = replace(_make_clip("stored", shown, renderer, call), sha256=record.sha256)
    return Clipped(clip, shown.texts)


def _record(intake: Intake, call: Call, document: Document) -> Record:
    """Return the record of an output that is in its store, all but what is shown of it."""
    meter = intake.meter
    sha256 = meter.sha256
    return Record(
        ref=mint(call.tool, sha256),
        tool=call.tool,
        sha256=sha256,
        bytes=meter.hashed,
        lines=document.number(meter.hashed - 1) if intake.failure else meter.lines,
        call_id=call.id,
        command=call.command or None,
        partial=_part_of(intake, call)[0],
        produced_bytes=meter.bytes if intake.failure else None,
        produced_lines=meter.lines if intake.failure else None,
        segments=tuple(intake.segments) if any(stream != "stdout" for stream, _ in intake.segments) else (),
        index=meter.index,
        redacted=intake.redacted,
    )


def _part_of(intake: Intake, call: Call) -> tuple[str | None, int | None]:
    """Return why only a part of an output is stored, and its bytes; of a preview, all that came is stored."""
    if intake.failure:
        return cover_text(call.settings, "; ".join(filter(None, (intake.failure, call.preview)))), intake.stored_bytes
    return (call.preview, intake.meter.bytes) if call.preview else (None, None)


def keep(intake: Intake, call: Call) -> tuple[Kept, Size]:
    """Store an output of which nothing is shown; return where it is kept, or why it is not, and its size."""
    try:
        intake.finish()
        intake.overflow()
        total = Size(intake.meter.lines, intake.meter.bytes)
        if intake.writer is None:
            return Kept(reason=cover_text(call.settings, intake.failure)), total
        try:
            published = intake.publish(_record(intake, call, _open_document(intake, call, ())))
        except StoreError as error:
            return Kept(reason=cover_text(call.settings, str(error))), total
        ref, path = published.ref, published.path or _find_path(call, published.ref)
        if intake.failure:  # that it is a part is said first
            return Kept(ref=ref, path=path, reason=cover_text(call.settings, intake.failure)), total
        return Kept(ref=ref, path=path, reason=published.only_here, here=published.only_here is not None), total
    finally:
        intake.abandon()


def _find_path(call: Call, ref: str) -> str | None:
    """Return the path of an output; None if its store cannot say, though it is kept."""
    try:
        return call.settings.store.where(ref)
    except Exception:  # noqa: BLE001  a store may be anybody's, and the tool call survives it
        return None


def _open_document(intake: Intake, call: Call, sections: Sequence[Section]) -> Document:
    meter = intake.meter
    blob = intake.blob() if call.settings.redact == "stored" else cover_blob(call.settings, intake.blob())
    opens, closes = find_gap(blob)
    if blob.size <= HELD and opens == closes:
        blob = MemoryBlob(blob.read(0, blob.size))
    return Document(
        blob,
        meter.index,
        meter.lines,
        meter.newlines,
        tuple(sections) or (Section(0, meter.bytes),),
        call.reach,
        meter.chars,
        call.settings.raw,
        notice_guard(call.settings),
    )


def _show_as_lost(document: Document, call: Call, tokens: int, reason: str, earlier: Earlier | None) -> Clipped:
    _log.warning("An output of %s was cut and not kept (%s bytes): %s", call.tool, f"{document.size:,}", reason)
    if call.settings.form is not None and call.settings.form.lost:  # another part, where that system shows one then
        call = call.with_settings(keep=call.settings.form.lost)
    reason = cover_text(call.settings, "; ".join(filter(None, (reason, call.preview))))  # a store may name its address
    renderer, shown = fit(document, call, Kept(reason=reason), tokens, earlier=earlier)
    return Clipped(_make_clip("lost", shown, renderer, call), shown.texts)


def _read_both_ends(document: Document) -> BothEnds:
    """Read both ends of an output whose store has given up on it."""
    head, tail = read_ends(document.blob.read, document.size, document.reach)
    return BothEnds(MemoryBlob(head), tail, document.size)


def _make_clip(outcome: str, shown: Shown, renderer: Renderer, call: Call) -> Clip:
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
        _shown=Size(shown.lines, shown.bytes, len(shown.body), call.settings.count(shown.body)),
        _ranges=shown.ranges,
        _count=call.settings.count,
        _limits=call.limits,
    )


def _estimate_tokens(document: Document, call: Call) -> int:
    """Estimate the tokens of an output from its two ends: only what may be shown is counted."""
    size = document.size
    head, tail = read_ends(document.blob.read, size, SAMPLE)
    if not head and not tail:
        return size // BYTES_PER_TOKEN
    # Whatever is cut is shown with plain line ends.
    seen = [visible_text(call.settings, end) for end in (head, tail)]
    counted = [call.settings.count(text.replace("\r\n", "\n") if "\r" in text else text) for text in seen]
    return scale(sum(counted), len(head) + len(tail), size)


def cut_again(record: Record, document: Document, call: Call, since: Earlier | None = None) -> tuple[Shown, Clip]:
    """Clip an output that is stored already as if it came now. Nothing is stored or noted: this is for people who look."""
    whole = replace(
        document,
        sections=(Section(0, document.size),),
        reach=call.reach,
        raw=call.settings.raw,
        guard=notice_guard(call.settings),
    )
    earlier = None if since is None else compare_with(since, whole)
    tokens = _estimate_tokens(whole, call)

    def kept(ref: str) -> Kept:
        stored = record.bytes if record.partial else None
        return Kept(ref=ref, path=_find_path(call, ref), reason=record.partial, stored=stored)

    # By the same steps as above, or the words could differ from those that were given.
    renderer, shown = fit(whole, call, kept(mint(record.tool, NO_HASH)), tokens, earlier=earlier)
    renderer, shown = rename(renderer, shown, kept(record.ref), call, earlier)
    return shown, _make_clip("stored", shown, renderer, call)
