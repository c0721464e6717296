"""An output clipped again: by the call in its record, as the model saw it, or by others, to see what would change."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from spillover.api import Clipper
from spillover.document.document import visible_text
from spillover.document.forgery import digest_notice
from spillover.errors import SpilloverError, UsageError
from spillover.kinds.cut import cut_again, restore_call
from spillover.kinds.selection import Span
from spillover.pipeline import fits
from spillover.result import Clip
from spillover.retrieve.read import open_output
from spillover.settings.limits import Size
from spillover.settings.load import load
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.types import HintName
from spillover.ui.outputs import Output

#: What can be tried, by the names that the configuration has for it.
TRIED = ("tokens", "lines", "bytes", "chars", "keep", "worth", "profile", "query")
#: The hints of a clip that is tried.
HINTS: tuple[HintName, ...] = ("cli", "path")
#: Why what the model saw cannot be shown.
UNKNOWN = "Its record does not say what made that clip, as for a selector, a counter or a profile, and for clips of several parts."
CHANGED = "The same settings give another clip now: spillover, or what it was told of this output, has changed since."


def see(clipper: Clipper, output: Output) -> dict[str, Any]:
    """Return what the model saw. `exact`: the record proves that these were the words; `same`: these were the lines.

    Where neither can be said, there is no text, and `reason` says why: another clip would be taken for that one.
    """
    record = output.record
    if output.whole:
        return {**_facts(_whole(clipper.call(), output), 0.0), "exact": True, "same": True}
    configured = clipper.call(record.tool, command=record.command or "")
    restored = restore_call(configured, record.made) if record.made else None
    if restored is None:
        return _without_text(output, UNKNOWN)
    call, (ref, how, reason) = restored
    try:
        since = _open_earlier(configured, ref, how, reason) if ref else None
    except SpilloverError as error:
        return _without_text(output, f"It was told against {ref}, which cannot be read any more: {error}")
    try:
        return _see(output, call, since)
    finally:
        if since is not None:
            since.close()


def _see(output: Output, call: Call, since: Earlier | None) -> dict[str, Any]:
    """Clip an output as the call in its record was."""
    record = output.record
    begun = time.monotonic()
    excerpt, clip = cut_again(record, output.document, call, since)
    rendered = excerpt.rendered
    is_exact = bool(rendered.notice) and digest_notice(rendered.notice, rendered.text) in record.notices
    same = clip.ranges == record.shown and (is_exact or _has_whole_lines(output, rendered.spans))
    if not (is_exact or same):
        return _without_text(output, CHANGED)
    return {**_facts(clip, time.monotonic() - begun), "exact": is_exact, "same": same}


def _without_text(output: Output, reason: str) -> dict[str, Any]:
    """Return what the record says of a clip that cannot be made again: which lines were shown, and why each."""
    record = output.record
    return {
        "text": "",
        "ranges": [*record.shown],
        "why": [*record.why],
        "exact": False,
        "same": False,
        "reason": reason,
    }


def _open_earlier(call: Call, ref: str, how: str, reason: str) -> Earlier:
    """Return the earlier run that a clip was told against; `reason`: why it was not compared then."""
    if reason:
        return Earlier(ref, how, reason)
    record, document = open_output(call, ref)
    return Earlier(record.ref, how, document=document)


def try_other(clipper: Clipper, output: Output, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the clip with other settings, e.g. `{"tokens": "800", "keep": "tail"}`; what is not given is as configured."""
    wrong = [name for name in given if name not in TRIED]
    if wrong:
        raise UsageError(f"{wrong[0]!r} cannot be tried; use {', '.join(TRIED)}.")
    said = {name: value for name, value in given.items() if value and name != "query"}
    other = (
        Clipper(settings=load(given=said, given_origin=str).settings(hints=HINTS)) if said else clipper.but(hints=HINTS)
    )
    if said:
        other = other.but(store=clipper.settings.store, scope=clipper.settings.scope, rules={})
    record = output.record
    call = other.call(record.tool, command=record.command or "", query=given.get("query"))
    begun = time.monotonic()
    whole = _whole(call, output) if output.document.size <= call.limits.window else None
    if whole is not None and fits(whole.text, call, raw_bytes=output.document.size):
        return _facts(whole, time.monotonic() - begun)
    _, clip = cut_again(record, output.document, call)
    return _facts(clip, time.monotonic() - begun)


def _has_whole_lines(output: Output, spans: Sequence[Span]) -> bool:
    """Tell whether no line is shown in part: the numbers of such lines do not say which part that was."""
    document = output.document
    edges = {edge for span in spans for edge in (span.start, span.end)} - {0, document.size}
    return all(b"\n" in document.blob.read(edge - 1, edge + 1) for edge in edges)


def _whole(call: Call, output: Output) -> Clip:
    data = output.document.blob.read(0, output.document.size)
    text = visible_text(call.settings, data)
    total = Size(output.document.lines, len(data), len(text), call.settings.count(text) if text else 0)
    return Clip(text, ref=None, _total=total, _count=call.settings.count, _limits=call.limits)


def _facts(clip: Clip, seconds: float) -> dict[str, Any]:
    received = clip._count(clip.text) if clip.text else 0  # noqa: SLF001  the counter it was fitted with
    return {
        "text": clip.text,
        "outcome": clip.outcome,
        "kind": clip.kind,
        "ranges": [*clip.ranges],
        "why": [(each.first, each.last, each.why) for each in clip.why],
        "tokens": {"received": received, "shown": clip.shown.tokens, "produced": max(clip.total.tokens, received)},
        "lines": {"shown": sum(last - first + 1 for first, last in clip.ranges), "all": clip.total.lines},
        "limits": dict(clip.limits.given()) if clip.limits else {},
        "milliseconds": round(seconds * 1000),
    }
