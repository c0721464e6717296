"""Fit an output into the limits: choose the most that fits, and the words for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from spillover import fallback
from spillover.document.document import PIECE, Document, TooMuchWork, work_for
from spillover.errors import StoreError
from spillover.kinds.ends import HEAD_SHARES, keep_ends
from spillover.kinds.selection import Fill, Reason, Room, Selection, Span, join, largest
from spillover.notice.render import Kept, Renderer, Shown
from spillover.notice.since import Since, since_of
from spillover.notice.wording import Wording
from spillover.settings.limits import Limits
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.source.blob import BothEnds

_log = logging.getLogger(__name__)

TIERS = 3
#: Kinds of which `outline` says what a clip does not: sections, keys, families of failures.
MAPPED = frozenset(("log", "json", "ndjson", "diff", "prose"))
#: So many reasons, and so much of what is shown, tell which search is likely next.
MOST_TOLD, TOLD_CHARS = 400, 40_000
#: Why both ends are shown of an output that is not looked at more closely.
TOO_MUCH = "both ends: choosing more closely was too much work"
CRAMPED = "both ends: too little memory to choose more closely"
FAILED = "both ends: choosing more closely failed ({error})"
#: With less than this (`ulimit -v`), numpy is not loaded: on two cores it dies below 170 MB, and more cores need more.
LEAST_ADDRESS_SPACE = 1 << 29


def renderer_for(
    document: Document, call: Call, kept: Kept, tokens: int, tier: int = 0, since: Earlier | None = None
) -> Renderer:
    if isinstance(call.settings.wording, Wording):
        return Renderer(
            document, kept, call.settings.hints, tokens, call.settings.wording, tier, since=_tell_since(since)
        )
    from spillover.notice.form import FormRenderer  # most are content with ours

    word = call.settings.keep if isinstance(call.settings.keep, str) else ""
    return FormRenderer(
        document,
        kept,
        (),
        tokens,
        tier=tier,
        form=call.settings.wording,
        limits=call.limits,
        keep=word,
        count=call.settings.count,
    )


def fit(
    document: Document, call: Call, kept: Kept, tokens: int, *, earlier: Earlier | None = None, least: int = 0
) -> tuple[Renderer, Shown]:
    """Return the largest selection that fits, and the renderer for its words."""
    renderer, bare = _renderer(document, call, kept, tokens, least, earlier)
    seen: dict[tuple[object, ...], tuple[float, Shown]] = {}
    if bare is not None:  # nothing but the notice, which selectors measure, too
        seen[(), (), ()] = _measure(renderer, bare, call, call.limits), bare

    def look(spans: Sequence[Span]) -> tuple[float, Shown]:
        joined = join(spans)
        # Why it is shown is not shown; and most say no more than where they are.
        said = tuple([(span.start, span.then, span.lead) for span in joined if span.then or span.lead])
        key = said, tuple([span.start for span in joined]), tuple([span.end for span in joined])
        if key not in seen:
            shown = renderer.show(joined)
            seen[key] = _measure(renderer, shown, call, call.limits), shown
        return seen[key]

    def fill(spans: Sequence[Span]) -> float:
        return look(spans)[0]

    everything = [Span(0, document.size)]
    small = document.gap[0] == document.gap[1] and document.size <= 2 * document.reach
    unchanged = earlier is not None and earlier.is_repeated
    if small and not unchanged and fill(everything) <= 1:
        return renderer, look(everything)[1]
    kind, spans, trouble = _choose(document, call, fill, earlier)
    if trouble:  # the notice says so, which takes room
        renderer = replace(renderer, trouble=trouble)
        seen.clear()
        spans = _both_ends(document, call, fill, trouble)
    if not spans and renderer.tier < TIERS - 1:  # fewer words of ours are better than nothing of the output
        shorter = fit(document, call, kept, tokens, earlier=earlier, least=renderer.tier + 1)
        if shorter[1].bytes:
            return shorter
    full, shown = look(join(spans))
    if full <= 1:
        found = replace(shown, kind=kind, why=_reasons(renderer, spans))
        return _say_next(renderer, found, call) if renderer.hints and renderer.tier == 0 else (renderer, found)
    words = shown.notice or renderer.show([]).text
    return renderer, Shown(trim(words, call), tuple("" for _ in document.sections), (), 0)


def _say_next(renderer: Renderer, shown: Shown, call: Call) -> tuple[Renderer, Shown]:
    """Return the same with the next step in the words of this output: the likely search, and a map only where there is one."""
    from spillover.kinds.kind import ERROR_LINE_CHARS, likely_search, may_name_error  # numpy

    reasons = (reason for reason in shown.why[:MOST_TOLD] if may_name_error(reason.why))
    told = ((reason.why, renderer.line(reason.first, ERROR_LINE_CHARS)) for reason in reasons)
    seek = likely_search(shown.kind, shown.body[:TOLD_CHARS], told, call.query)
    other = replace(renderer, seek=seek, mapped=shown.kind in MAPPED)
    said = other.tell(shown)
    if _measure(other, said, call, call.limits) > 1:
        return renderer, shown
    return other, replace(said, kind=shown.kind, why=shown.why)


def _tell_since(earlier: Earlier | None) -> Since | None:
    """Return what a notice says of the earlier output."""
    if earlier is None or earlier.compared is None:
        return None if earlier is None else Since(ref=earlier.ref, how=earlier.ending, reason=earlier.reason)
    return since_of(earlier.ref, earlier.compared, earlier.ending)


def _renderer(
    document: Document, call: Call, kept: Kept, tokens: int, least: int, since: Earlier | None
) -> tuple[Renderer, Shown | None]:
    """Return the renderer with the longest wording that leaves half of the room to the output, and what it shows of nothing."""
    if call.settings.form is not None:
        return renderer_for(document, call, kept, tokens, TIERS - 1), None
    half = call.limits.share(0.5)
    for tier in range(least, TIERS):
        renderer = renderer_for(document, call, kept, tokens, tier, since)
        bare = renderer.show([])
        if _measure(renderer, bare, call, half) <= 1:
            return renderer, bare
    return renderer_for(document, call, kept, tokens, TIERS - 1, since), None


def rename(
    renderer: Renderer, shown: Shown, kept: Kept, call: Call, earlier: Earlier | None = None
) -> tuple[Renderer, Shown]:
    """Return the same parts with another name in the notice; choose again only if that makes them too long."""
    other = replace(renderer, kept=kept)
    same = other.tell(shown)
    if shown.spans and _measure(other, same, call, call.limits) <= 1:
        return other, replace(same, kind=shown.kind, why=shown.why)
    return fit(renderer.document, call, kept, renderer.tokens, earlier=earlier)


def _measure(renderer: Renderer, shown: Shown, call: Call, limits: Limits) -> float:
    """Return how full the limits are with what would be shown."""
    sections = renderer.document.sections
    apart = len(sections) > 1 and not any(section.label for section in sections)

    def count(text: str) -> int:  # a plain function: how full, not only whether
        texts = (
            shown.texts if apart and not call.settings.notice_is_outside else (text,)
        )  # each is counted as it is read
        return sum(map(call.settings.count, filter(None, texts)))

    if call.settings.notice_is_outside:
        from spillover.notice.form import OUTSIDE

        words = len(shown.text.encode("utf-8", "replace")) - len(shown.body.encode("utf-8", "replace"))
        full = max(limits.fill(shown.body, count), words / OUTSIDE)
        return full if call.ceiling is None else max(full, call.ceiling.fill(shown.text, count))
    return limits.fill(shown.text, count)


def trim(words: str, call: Call) -> str:
    """Return as much of our own words as fits: the last resort, where limits are tiny and numbers huge."""

    def full(chars: int) -> float:
        return call.limits.fill(words[:chars], call.settings.count)

    return words[: largest(len(words), full)]


def _choose(document: Document, call: Call, fill: Fill, earlier: Earlier | None) -> tuple[str, list[Span], str]:
    """Return the kind of the output, the selected spans, and why both ends are to be shown instead, if they are.

    A selector may fail or ask for too much: the tool call survives.
    """
    ours = call.settings.keep in ("auto", "signal")
    cramped = _is_cramped()
    if cramped and ours:
        _log.warning("Too little memory to choose what to show of %s bytes; both ends are shown.", f"{document.size:,}")
        return "log", [], CRAMPED
    try:
        if ours:
            selection = _select_closely(*_within_budget(document, fill), call, earlier)
        else:
            selection = _cut(document, fill, call, describes=not cramped)
        spans = _clamp(selection.spans, document)
    except TooMuchWork:
        _log.warning("Choosing what to show of %s bytes was too much work; both ends are shown.", f"{document.size:,}")
        return "log", [], TOO_MUCH
    except fallback.SURVIVED as error:
        _log.warning("Choosing what to show of %s bytes failed; both ends are shown: %r", f"{document.size:,}", error)
        # The bytes cannot be read. Where only both ends are here, they are shown if they can be: then it was the gap.
        if isinstance(error, StoreError) and not callable(call.settings.keep):
            if not isinstance(document.blob, BothEnds):
                raise
            return "log", _both_ends(document, call, fill), ""
        return "log", [], FAILED.format(error=type(error).__name__)
    if callable(call.settings.keep):
        spans = spans[: largest(len(spans), lambda count: fill(spans[:count]))]
    return selection.kind, spans or _both_ends(document, call, fill), ""


def _select_closely(document: Document, fill: Fill, call: Call, earlier: Earlier | None) -> Selection:
    """Select by what the output is, or by what is new against an earlier one."""
    from spillover.kinds import log  # numpy
    from spillover.kinds.kind import describe, hint_of, select

    room, keep, form = Room(fill), call.settings.keep, call.settings.form
    spans = _select_news(document, room, call, earlier)
    if spans is None and form is not None and keep in form.cuts:
        spans = form.cuts[str(keep)](call.limits)(document, fill) or None
    if spans is None and keep == "auto":
        return select(document, room, call)
    return Selection(describe(document, hint_of(call)), log.select(document, room, call) if spans is None else spans)


def _cut(document: Document, fill: Fill, call: Call, *, describes: bool) -> Selection:
    """Select by position, or as the user's own selector does."""
    keep, form = call.settings.keep, call.settings.form
    if callable(keep):
        spans = keep(document, fill)
    elif form is not None and keep in form.cuts:
        spans = form.cuts[keep](call.limits)(document, fill)
    else:
        spans = keep_ends(HEAD_SHARES[keep])(document, fill)
    if not describes:
        return Selection("log", spans)
    from spillover.kinds.kind import describe, hint_of  # numpy

    return Selection(describe(document, hint_of(call)), spans)


def _select_news(document: Document, room: Room, call: Call, earlier: Earlier | None) -> Sequence[Span] | None:
    """Return what is new against the earlier output; None where there is none, or little in common with it."""
    compared = earlier.compared if earlier is not None else None
    if earlier is None or compared is None or not compared.same:
        return None
    from spillover.kinds.log import news  # few ask

    return news.select(document, room, call, earlier)


def _both_ends(document: Document, call: Call, fill: Fill, why: str = "") -> list[Span]:
    share = HEAD_SHARES.get(call.settings.keep, 0.5) if isinstance(call.settings.keep, str) else 0.5
    return [replace(span, why=why or span.why) for span in _clamp(keep_ends(share)(document, fill), document)]


def _is_cramped() -> bool:
    """Return whether this process may have so little memory that loading numpy could end it: OpenBLAS exits, and raises nothing."""
    try:
        import resource  # only for what overflows; not on every system
    except ImportError:
        return False
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return most != resource.RLIM_INFINITY and most < LEAST_ADDRESS_SPACE


def _within_budget(document: Document, fill: Fill) -> tuple[Document, Fill]:
    """Return the output and the measure of what fits for a selector of ours: both spend from a budget of work."""
    work = work_for(document.size)

    def spend_and_fill(spans: Sequence[Span]) -> float:
        work.spend(sum(span.end - span.start + PIECE for span in spans))
        return fill(spans)

    return document.within(work), spend_and_fill


def _clamp(spans: Sequence[Span], document: Document) -> list[Span]:
    """Return the spans in order, clamped to the output and to what was kept of it."""
    (opens, closes), size = document.gap, document.size
    inside = [
        span
        if span.start >= 0 and span.end <= size
        else replace(span, start=max(0, span.start), end=min(span.end, size))
        for span in spans
    ]
    inside.sort(key=lambda span: (span.start, span.end))
    if opens < closes:
        parts = [
            (replace(span, end=min(span.end, opens), then=None), replace(span, start=max(span.start, closes)))
            for span in inside
        ]
        inside = [part for pair in parts for part in pair]
    return [span for span in inside if span.start < span.end]


def _reasons(renderer: Renderer, spans: Sequence[Span]) -> tuple[Reason, ...]:
    """Return why each part is shown, by lines; neighbours with the same reason are merged."""
    out: list[Reason] = []
    told = [span for span in spans if span.why]
    for span, (first, last) in zip(told, renderer.number_spans(told), strict=True):
        if out and out[-1].why == span.why and first <= out[-1].last + 1:
            out[-1] = Reason(out[-1].first, last, span.why)
        else:
            out.append(Reason(first, last, span.why))
    return tuple(out)
