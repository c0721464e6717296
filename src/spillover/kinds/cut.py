"""An output that does not fit: stored, fitted into the limits, published, and only then called stored.

What made a clip is kept in its record, so that it can be made again; nothing of the output is in there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from spillover.document.document import Document, Section, cover_blob, cover_text, notice_guard, visible_text
from spillover.document.forgery import digest_notice
from spillover.errors import SpilloverError, StoreError
from spillover.kinds.fit import Excerpt, Subject, fit
from spillover.notice.hints import NAMED, Hint
from spillover.notice.render import Storage
from spillover.result import Clip, Clipped
from spillover.secrets.commands import shorten_command
from spillover.settings.limits import Limits, Size
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.since.earlier import compare_with
from spillover.source.blob import BothEnds, MemoryBlob, find_gap, read_ends
from spillover.source.intake import Intake
from spillover.store.record import Record, mint
from spillover.tokens import scale
from spillover.types import Outcome

_log = logging.getLogger(__name__)

#: Bytes of each end of an output that are counted to estimate the tokens of the whole.
SAMPLE_BYTES = 1 << 14
#: The hash of a ref that is not known yet. Its digits are as mixed as those of a hash, and count as many tokens.
PLACEHOLDER_HASH = "7f3a9c2e41d05b86" * 4
#: An output up to this size is read from its store once: selecting asks for thousands of small pieces.
MEMORY_BYTES = 1 << 20
#: Bytes of a token in logs: the estimate for an output that cannot be read at all.
BYTES_PER_TOKEN = 3
#: Characters of the recipe of a clip in a record. With a longer one, `spill ui` cannot make the clip again.
RECIPE_CHARS = 4_096


def cut(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Clipped:
    """Store an output, select what to show and publish the whole; or say why it could not be kept."""
    if intake.writer is not None:
        try:
            return _store(intake, call, sections, earlier)
        except StoreError as error:  # not even what was written can be read back
            intake.fail(error)
    return _show_as_lost(_open_subject(intake, call, sections, earlier), intake.failure)


def _store(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Clipped:
    # What to show is selected under a ref of the right length, while the hash of a large output is still being made.
    subject = _open_subject(intake, call, sections, earlier)
    excerpt = fit(subject)
    record = _record(intake, call, subject.document)
    if intake.failure:
        facts = (call.tool, f"{intake.stored_bytes:,}", f"{intake.bytes:,}", intake.failure)
        _log.warning("An output of %s is stored in part (%s of %s bytes): %s", *facts)
    excerpt = excerpt.with_notice(_storage(intake, call, record.ref))
    try:
        published = intake.publish(_describe_clip(record, excerpt, sections))
    except StoreError as error:
        return _show_as_lost(replace(subject, document=_both_ends(subject.document)), str(error))
    if published.ref != record.ref or published.path or published.only_here:
        # Another output has these digits, this call got its own name, or it is on this machine only.
        excerpt = excerpt.with_notice(_storage(intake, call, published.ref, published.path, published.only_here))
    return _clipped("stored", excerpt, record.sha256)


def keep(intake: Intake, call: Call) -> tuple[Storage, Size]:
    """Store an output of which nothing is shown; return where it is kept, or why it is not, and its size."""
    try:
        intake.finish()
        intake.overflow()
        total = Size(intake.meter.lines, intake.meter.bytes)
        if intake.writer is None:
            return Storage(reason=cover_text(call.settings, intake.failure)), total
        try:
            published = intake.publish(_record(intake, call, _open_document(intake, call, ())))
        except StoreError as error:
            return Storage(reason=cover_text(call.settings, str(error))), total
        path = published.path or _find_path(call, published.ref)
        if intake.failure:  # that it is a part comes first
            return Storage(ref=published.ref, path=path, reason=cover_text(call.settings, intake.failure)), total
        local = published.only_here
        return Storage(ref=published.ref, path=path, reason=local, local_only=local is not None), total
    finally:
        intake.abandon()


def cut_again(record: Record, document: Document, call: Call, since: Earlier | None = None) -> tuple[Excerpt, Clip]:
    """Clip a stored output as if it came now, by the same steps. Nothing is stored or noted: this is for people."""
    document = replace(
        document,
        sections=(Section(0, document.size),),
        reach=call.reach,
        raw=call.settings.raw,
        guard=notice_guard(call.settings),
    )
    storage = Storage(
        ref=mint(record.tool, PLACEHOLDER_HASH),
        path=_find_path(call, mint(record.tool, PLACEHOLDER_HASH)),
        reason=record.partial,
        stored_bytes=record.bytes if record.partial else None,
    )
    earlier = None if since is None else compare_with(since, document)
    excerpt = fit(Subject(document, call, _estimate_tokens(document, call), storage, earlier))
    excerpt = excerpt.with_notice(replace(storage, ref=record.ref, path=_find_path(call, record.ref)))
    return excerpt, _clipped("stored", excerpt).clip


def _open_subject(intake: Intake, call: Call, sections: Sequence[Section], earlier: Earlier | None) -> Subject:
    document = _open_document(intake, call, sections)
    if earlier is not None:
        earlier = compare_with(earlier, document)
    storage = _storage(intake, call, mint(call.tool, PLACEHOLDER_HASH))
    return Subject(document, call, _estimate_tokens(document, call), storage, earlier)


def _open_document(intake: Intake, call: Call, sections: Sequence[Section]) -> Document:
    meter = intake.meter
    blob = intake.blob() if call.settings.redact == "stored" else cover_blob(call.settings, intake.blob())
    opens, closes = find_gap(blob)
    if blob.size <= MEMORY_BYTES and opens == closes:
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


def _storage(intake: Intake, call: Call, ref: str, path: str | None = None, local_reason: str | None = None) -> Storage:
    """Return where an output is stored under a ref; and why in part only, or (`local_reason`) on this machine only."""
    reason, part_bytes = _find_part(intake, call)
    reason = cover_text(call.settings, local_reason) if reason is None and local_reason else reason
    path = path or _find_path(call, ref)
    return Storage(ref=ref, path=path, reason=reason, stored_bytes=part_bytes, local_only=local_reason is not None)


def _find_part(intake: Intake, call: Call) -> tuple[str | None, int | None]:
    """Return why only a part of an output is stored, and its bytes; of a preview, all that came is stored."""
    if intake.failure:
        return cover_text(call.settings, "; ".join(filter(None, (intake.failure, call.preview)))), intake.stored_bytes
    return (call.preview, intake.meter.bytes) if call.preview else (None, None)


def _find_path(call: Call, ref: str) -> str | None:
    """Return the path of an output; None if its store cannot say, though it is kept."""
    try:
        return call.settings.store.where(ref)
    except Exception:  # noqa: BLE001  a store may be anybody's, and the tool call survives it
        return None


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
        partial=_find_part(intake, call)[0],
        produced_bytes=meter.bytes if intake.failure else None,
        produced_lines=meter.lines if intake.failure else None,
        segments=tuple(intake.segments) if any(stream != "stdout" for stream, _ in intake.segments) else (),
        index=meter.index,
        redacted=intake.redacted,
    )


def _describe_clip(record: Record, excerpt: Excerpt, sections: Sequence[Section]) -> Record:
    """Return the record with what is shown of the output, and what made the clip."""
    rendered = excerpt.rendered
    return replace(
        record,
        shown=rendered.ranges,
        kind=excerpt.kind,
        why=tuple((reason.first, reason.last, reason.why) for reason in excerpt.why),
        notices=(digest_notice(rendered.notice, rendered.text),) if rendered.notice else (),
        made=encode_call(excerpt.subject.call, excerpt.subject.earlier, sections),
    )


def _show_as_lost(subject: Subject, reason: str) -> Clipped:
    call, document = subject.call, subject.document
    _log.warning("An output of %s was cut and not kept (%s bytes): %s", call.tool, f"{document.size:,}", reason)
    if call.settings.form is not None and call.settings.form.lost:  # another part, where that system shows one then
        call = call.with_settings(keep=call.settings.form.lost)
    reason = cover_text(call.settings, "; ".join(filter(None, (reason, call.preview))))  # a store may name its address
    storage = Storage(reason=reason)
    return _clipped("lost", fit(replace(subject, call=call, storage=storage)).with_notice(storage))


def _both_ends(document: Document) -> Document:
    """Return an output whose store has given up on it, with both ends in memory."""
    head, tail = read_ends(document.blob.read, document.size, document.reach)
    return replace(document, blob=BothEnds(MemoryBlob(head), tail, document.size))


def _clipped(outcome: Outcome, excerpt: Excerpt, sha256: str | None = None) -> Clipped:
    subject, rendered = excerpt.subject, excerpt.rendered
    document, count = subject.document, subject.call.settings.count
    clip = Clip(
        rendered.text,
        outcome,
        ref=subject.storage.ref,
        path=subject.storage.path,
        reason=subject.storage.reason,
        sha256=sha256,
        why=excerpt.why,
        _kind=excerpt.kind or "log",
        _total=Size(document.lines, document.size, document.chars, subject.tokens),
        _shown_size=Size(rendered.lines, rendered.bytes, len(rendered.body), count(rendered.body)),
        _ranges=rendered.ranges,
        _count=count,
        _limits=subject.call.limits,
    )
    return Clipped(clip, rendered.texts)


def _estimate_tokens(document: Document, call: Call) -> int:
    """Estimate the tokens of an output from its two ends: only what may be shown is counted."""
    head, tail = read_ends(document.blob.read, document.size, SAMPLE_BYTES)
    if not head and not tail:
        return document.size // BYTES_PER_TOKEN
    # Whatever is cut is shown with plain line ends.
    texts = [visible_text(call.settings, end).replace("\r\n", "\n") for end in (head, tail)]
    return scale(sum(map(call.settings.count, texts)), len(head) + len(tail), document.size)


def encode_call(call: Call, earlier: Earlier | None, sections: Sequence[Section]) -> str:
    """Return what made a clip, as JSON.

    It is "" where words do not say it: for a selector or a counter of the user's own, a profile, and several parts.
    """
    settings = call.settings
    if callable(settings.keep) or callable(settings.tokenizer) or settings.form is not None or len(sections) > 1:
        return ""
    names = {hint: name for name, hint in NAMED.items()}
    facts = {
        "limits": dict(call.limits.given()),
        "keep": settings.keep,
        "worth": settings.worth,
        "tokenizer": settings.tokenizer,
        "hints": [names.get(hint) or hint.fields for hint in settings.hints],
        "raw": settings.raw,
        "query": _without_secrets(call.query),
        "name": _without_secrets(call.name),
        "since": _without_secrets(earlier.ref) if earlier is not None else "",
        "how": earlier.ending if earlier is not None else "",
        "not": _without_secrets(earlier.reason) if earlier is not None else "",
    }
    text = json.dumps({name: value for name, value in facts.items() if value or name == "worth"})
    return text if len(text) <= RECIPE_CHARS else ""


def restore_call(call: Call, recipe: str) -> tuple[Call, tuple[str, str, str]] | None:
    """Return the call that made a clip, and the earlier run or why there was none; None if a record does not say."""
    try:
        facts = json.loads(recipe)
        hints: list[Any] = [Hint(**hint) if isinstance(hint, dict) else hint for hint in facts.get("hints", [])]
        settings = call.settings.but(
            limits=Limits(**facts["limits"]),
            rules={},
            keep=facts["keep"],
            worth=facts["worth"],
            tokenizer=facts["tokenizer"],
            hints=hints or "none",
            raw=facts.get("raw", False),
        )
        query, name = facts.get("query", ""), str(facts.get("name", ""))
        since, how, reason = (str(facts.get(key, "")) for key in ("since", "how", "not"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SpilloverError):
        return None
    restored = replace(call, settings=settings, limits=settings.limits, trigger=None, query=query, name=name)
    return restored, (since, how, reason)


def _without_secrets(text: str) -> str:
    return shorten_command(text) if text else ""
