"""An output clipped again: by the settings of now, as the model saw it, or by others, to see what would change."""

from __future__ import annotations

import time

from msgspec.structs import replace

from spillover.clipper import Clipper
from spillover.config.settings import load
from spillover.errors import SpilloverError, UsageError
from spillover.limits import Size
from spillover.pipeline import fits
from spillover.result import Clip
from spillover.retrieve.opening import opened
from spillover.show.cut import cut_again
from spillover.show.made import choose_again
from spillover.since.against import Against
from spillover.view.forged import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.choices import Choices
    from spillover.inspector.outputs import Output
    from spillover.select.span import Span
    from spillover.types import HintName

    Told = tuple[Choices, str, tuple[str, str, str]]

#: What can be tried, by the names that the configuration has for it.
TRIED = ("tokens", "lines", "bytes", "chars", "keep", "worth", "profile", "query")
#: Whoever was told of an output could go back in one of these ways: the words of a notice depend on it.
WAYS: tuple[tuple[HintName, ...], ...] = (("cli", "path"), ("path",), ("tools",), ("cli",))
#: An output up to this size is tried in all of these ways to find the very words that were given.
SMALL = 16 << 20
#: Why what the model saw cannot be shown.
UNKNOWN = "Its record does not say what made that clip: an earlier version wrote it, or the clip was made by a selector, a counter or a profile of its own, or of several parts."
CHANGED = "The same choices give another clip now: spillover, or what it was told of this output, has changed since."


def see(clipper: Clipper, output: Output) -> dict[str, Any]:
    """Return what the model saw. `exact`: the record proves that these were the words; `same`: these were the lines.

    Where neither can be said, there is no text, and `reason` says why: another clip would be taken for that one.
    """
    record = output.record
    if output.whole:
        return {**_facts(_whole(clipper, output), [], 0.0), "exact": True, "same": True}
    choices = clipper.for_command(record.command).for_tool(record.tool)
    told = choose_again(choices, record.made) if record.made else None
    since, reason = None, ""
    if told is not None and told[2][0]:
        since, reason = _open_earlier(clipper, *told[2])
    try:
        return _see(output, choices, told, since, reason)
    finally:
        if since is not None:
            since.close()


def _see(output: Output, choices: Choices, told: Told | None, since: Against | None, reason: str) -> dict[str, Any]:
    record = output.record
    tries, name = [replace(choices, hints=ways) for ways in WAYS], ""
    if told is not None:
        tries, name = [told[0]], told[1]
    best: tuple[int, Any] | None = None
    begun = time.monotonic()
    for choice in tries if output.document.size <= SMALL else tries[:1]:
        shown, clip = cut_again(record, output.document, choice, name=name, since=since)
        is_exact = bool(shown.notice) and remember(shown.notice, shown.text) in record.notices
        alike = clip.ranges == record.shown
        same = alike and (is_exact or _has_whole_lines(output, shown.spans))
        if best is None or is_exact:
            best = (2 * is_exact + same, (shown, clip))
        if is_exact or not alike:  # other limits held then: other words would not help
            break
    assert best is not None
    shown, clip = best[1]
    made = {**_facts(clip, shown.spans, time.monotonic() - begun), "exact": best[0] >= 2, "same": bool(best[0] & 1)}
    return made if best[0] else {**made, **_known(output), "reason": reason or (CHANGED if told else UNKNOWN)}


def _known(output: Output) -> dict[str, Any]:
    """Return what the record says of a clip that cannot be made again: which lines were shown."""
    record, document = output.record, output.document
    return {
        "text": "",
        "ranges": [*record.shown],
        "why": [*record.why],
        "spans": [(document.start(first), document.start(last + 1)) for first, last in record.shown],
    }


def _open_earlier(clipper: Clipper, ref: str, how: str, reason: str) -> tuple[Against | None, str]:
    """Return the earlier run that a clip was told against, or why it cannot be; `reason`: why it was not compared then."""
    if reason:
        return Against(ref, how, reason), ""
    try:
        record, before = opened(clipper, ref)
    except SpilloverError as error:
        return None, f"It was told against {ref}, which cannot be read any more: {error}"
    return Against(record.ref, how, before=before), ""


def try_other(clipper: Clipper, output: Output, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the clip with other settings, e.g. `{"tokens": "800", "keep": "tail"}`; what is not given is as configured."""
    wrong = [name for name in given if name not in TRIED]
    if wrong:
        raise UsageError(f"{wrong[0]!r} cannot be tried; use {', '.join(TRIED)}.")
    said = {name: value for name, value in given.items() if value and name != "query"}
    made = load(given=said, given_origin=str).made(Clipper, hints=WAYS[0]) if said else replace(clipper, hints=WAYS[0])
    choices = replace(made, store=clipper.store, scope=clipper.scope, rules={} if said else made.rules)
    choices = choices.for_command(output.record.command).for_tool(output.record.tool).asking(given.get("query"))
    begun = time.monotonic()
    whole = _whole(choices, output) if output.document.size <= choices.limits.window else None
    if whole is not None and fits(whole.text, choices, output.document.size):
        return _facts(whole, [], time.monotonic() - begun)
    shown, clip = cut_again(output.record, output.document, choices)
    return _facts(clip, shown.spans, time.monotonic() - begun)


def _has_whole_lines(output: Output, spans: Sequence[Span]) -> bool:
    """Tell whether no line is shown in part: the numbers of such lines do not say which part that was."""
    document = output.document
    edges = {edge for span in spans for edge in (span.start, span.end)} - {0, document.size}
    return all(b"\n" in document.blob.read(edge - 1, edge + 1) for edge in edges)


def _whole(choices: Any, output: Output) -> Clip:
    data = output.document.blob.read(0, output.document.size)
    text = choices.seen(data)
    total = Size(output.document.lines, len(data), len(text), choices.count(text) if text else 0)
    return Clip(text, ref=None, _total=total, _count=choices.count, _limits=choices.limits)


def _facts(clip: Clip, spans: Sequence[Span], seconds: float) -> dict[str, Any]:
    received = clip._count(clip.text) if clip.text else 0  # noqa: SLF001  the counter it was fitted with
    return {
        "text": clip.text,
        "outcome": clip.outcome,
        "kind": clip.kind,
        "ranges": [*clip.ranges],
        "why": [(each.first, each.last, each.why) for each in clip.why],
        "spans": [(span.start, span.end) for span in spans],
        "tokens": {"received": received, "shown": clip.shown.tokens, "produced": max(clip.total.tokens, received)},
        "lines": {"shown": sum(last - first + 1 for first, last in clip.ranges), "all": clip.total.lines},
        "limits": dict(clip.limits.given()) if clip.limits else {},
        "milliseconds": round(seconds * 1000),
    }
