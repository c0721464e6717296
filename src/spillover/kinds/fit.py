"""Fit an output into the limits: select the most that fits below the widest notice, then render the notice once."""

from __future__ import annotations

import logging
import resource
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from spillover import fallback
from spillover.document.document import PIECE, Document, TooMuchWork, work_for
from spillover.errors import StoreError
from spillover.kinds.ends import HEAD_SHARES, keep_ends
from spillover.kinds.selection import Fill, Reason, Room, Selection, Span, join, largest
from spillover.notice.form import OUTSIDE_BYTES, FormLayout
from spillover.notice.render import LAST_TIER, MAP_SHARE, Facts, Gap, Layout, Rendered, Storage, notice
from spillover.notice.wording import WORDING, Wording
from spillover.settings.limits import Limits
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.source.blob import BothEnds

_log = logging.getLogger(__name__)

#: Kinds of which `outline` says what a clip does not: sections, keys, families of failures.
OUTLINED_KINDS = frozenset(("log", "json", "ndjson", "diff", "prose"))
#: Reasons, and characters of what is shown, from which the likely next search is read. More of them cost time.
SEARCH_REASONS = 400
SEARCH_CHARS = 40_000
#: The most of the limits that the longest notice, and a shorter one, may take. More: less output in small limits.
NOTICE_SHARES = (0.5, 0.75)
#: Where the finished text does not fit after all, this part of the room is left for selecting again, down to a half.
LESS_ROOM = 0.92
LEAST_ROOM = 0.5
#: Why both ends are shown of an output that is not looked at more closely.
TOO_MUCH = "both ends, because choosing more closely was too much work"
CRAMPED = "both ends, because there is too little memory to choose more closely"
FAILED = "both ends, because choosing more closely failed ({error})"
#: With less than this (`ulimit -v`), numpy is not loaded: on two cores it dies below 170 MB, and more cores need more.
MIN_ADDRESS_SPACE = 1 << 29


class Subject(Struct, frozen=True):
    """An output that does not fit, the call that it answers, and what the notice says besides what is shown."""

    document: Document
    call: Call
    tokens: int  # of the whole, estimated
    storage: Storage  # its ref may be a placeholder of the right length
    earlier: Earlier | None = None  # the earlier output that it is compared with
    trouble: str = ""  # why both ends are shown


class Excerpt(Struct, frozen=True):
    """What is shown of an output; its notice is rendered when it has a name."""

    subject: Subject
    rendered: Rendered
    tier: int = 0
    share: float = 1.0  # of the room that was used
    kind: str = ""
    why: tuple[Reason, ...] = ()
    next_search: str = ""

    def with_notice(self, storage: Storage) -> Excerpt:
        """Return the same parts below the notice of an output that is stored there, or lost.

        Where they do not fit together, words are left out of the notice, and then less of the output is shown.
        """
        subject = replace(self.subject, storage=storage)
        rendered = self.rendered
        for rendered in _add_notice(self, subject):
            if _measure(rendered, subject, subject.call.limits) <= 1:
                return replace(self, subject=subject, rendered=rendered)
        share = self.share * LESS_ROOM
        if rendered.spans and share >= LEAST_ROOM:
            return fit(subject, tier=self.tier, share=share).with_notice(storage)
        empty = tuple("" for _ in subject.document.sections)
        words = trim(rendered.notice or rendered.text, subject.call)
        return Excerpt(subject, Rendered(empty, notice=words), self.tier)


def fit(subject: Subject, *, tier: int = 0, share: float = 1.0) -> Excerpt:
    """Return the largest selection that fits into a share of the limits, below a notice of this tier or shorter."""
    document, call = subject.document, subject.call
    frame = _choose_frame(subject, tier, share)
    whole = [Span(0, document.size)]
    opens, closes = document.gap
    if opens == closes and document.size <= 2 * document.reach and not _is_repeated(subject):
        full, rendered = frame.draw(whole)
        if full <= 1:
            return Excerpt(subject, rendered, frame.tier, share)
    selection, trouble = _select(document, call, frame.fill, subject.earlier)
    if trouble:  # the notice says so, which takes room
        frame = _Frame(replace(subject, trouble=trouble), frame.tier, share)
        selection = Selection("log", _both_ends(document, call, frame.fill, trouble))
    if not selection.spans and frame.tier < LAST_TIER:  # fewer words of ours are better than nothing of the output
        shorter = fit(subject, tier=frame.tier + 1, share=share)
        if shorter.rendered.bytes:
            return shorter
    full, rendered = frame.draw(selection.spans)
    if full > 1:
        return Excerpt(frame.subject, frame.draw([])[1], frame.tier, share)
    reasons = _reasons(frame.layout, selection.spans)
    why = tuple(reason for reason, _ in reasons)
    search = "" if trouble else _find_search(frame, rendered, selection.kind, reasons)
    return Excerpt(frame.subject, rendered, frame.tier, share, selection.kind, why, search)


def trim(words: str, call: Call) -> str:
    """Return as much of our own words as fits: the last resort, where limits are tiny and numbers huge."""
    return words[: largest(len(words), lambda chars: call.limits.fill(words[:chars], call.settings.count))]


class _Frame:
    """The room for an output: its layout, and how full the limits are with a text below the widest notice."""

    def __init__(self, subject: Subject, tier: int, share: float) -> None:
        self.subject = subject
        self.tier = tier
        self.share = share
        self.layout = _make_layout(subject, tier)
        self.reserve = "" if isinstance(self.layout, FormLayout) else _widest_notice(subject, tier)
        self._drawn: dict[tuple[Span, ...], tuple[float, Rendered]] = {}

    def draw(self, spans: Sequence[Span]) -> tuple[float, Rendered]:
        """Return how full the limits are with these spans, and their text."""
        key = tuple(join(spans))
        if key not in self._drawn:
            rendered = self.layout.render(key)
            full = _measure(replace(rendered, notice=self.reserve), self.subject, self.subject.call.limits)
            self._drawn[key] = full / self.share, rendered
        return self._drawn[key]

    def fill(self, spans: Sequence[Span]) -> float:
        return self.draw(spans)[0]


def _choose_frame(subject: Subject, tier: int, share: float) -> _Frame:
    """Return the frame with the longest notice that leaves enough of the room to the output."""
    while tier < LAST_TIER and subject.call.settings.form is None:
        frame = _Frame(subject, tier, share)
        bare = replace(frame.layout.render([]), notice=frame.reserve)
        if _measure(bare, subject, subject.call.limits.share(NOTICE_SHARES[tier])) <= 1:
            return frame
        tier += 1
    return _Frame(subject, LAST_TIER, share)


def _make_layout(subject: Subject, tier: int) -> Layout:
    settings = subject.call.settings
    if isinstance(settings.wording, Wording):
        return Layout(subject.document, settings.wording, tier)
    return FormLayout(
        subject.document,
        settings.wording,
        subject.storage,
        tokens=subject.tokens,
        limits=subject.call.limits,
        keep=settings.keep if isinstance(settings.keep, str) else "",
        count=settings.count,
    )


def _widest_notice(subject: Subject, tier: int) -> str:
    """Return the notice with every number at its largest; the next search is named if there is room left in the end."""
    document = subject.document
    lines, size = document.lines, document.size
    facts = Facts(
        lines=lines,
        bytes=size,
        tokens=subject.tokens,
        shown_lines=max(1, lines - 1),
        shown_bytes=size // MAP_SHARE,
        gap=Gap(lines, lines, size, size, whole_lines=lines > 1),
        storage=subject.storage,
        earlier=subject.earlier,
        trouble=subject.trouble,
    )
    return _say(facts, subject, tier)


def _add_notice(excerpt: Excerpt, subject: Subject) -> Iterator[Rendered]:
    """Yield the text with its notice; in full, and without what may be left out of the next step."""
    if subject.call.settings.form is not None:
        yield _make_layout(subject, excerpt.tier).render(excerpt.rendered.spans)
        return
    document, rendered = subject.document, excerpt.rendered
    facts = Facts(
        lines=document.lines,
        bytes=document.size,
        tokens=subject.tokens,
        shown_lines=rendered.lines,
        shown_bytes=rendered.bytes,
        gap=rendered.gap,
        storage=subject.storage,
        frames=rendered.frames,
        inside=rendered.inside,
        next_search=excerpt.next_search,
        has_outline=excerpt.kind in OUTLINED_KINDS,
        earlier=subject.earlier,
        trouble=subject.trouble,
    )
    yield replace(rendered, notice=_say(facts, subject, excerpt.tier))
    yield replace(rendered, notice=_say(replace(facts, next_search="", inside=None), subject, excerpt.tier))


def _say(facts: Facts, subject: Subject, tier: int) -> str:
    settings = subject.call.settings
    return notice(facts, settings.hints, settings.wording if isinstance(settings.wording, Wording) else WORDING, tier)


def _measure(rendered: Rendered, subject: Subject, limits: Limits) -> float:
    """Return how full the limits are with a text. Parts that reach the model one by one are counted one by one."""
    call, sections = subject.call, subject.document.sections
    is_outside = call.settings.notice_is_outside
    one_by_one = len(sections) > 1 and not any(section.label for section in sections) and not is_outside

    def count(text: str) -> int:  # a plain function: how full, not only whether
        return sum(map(call.settings.count, filter(None, rendered.texts if one_by_one else (text,))))

    if not is_outside:
        return limits.fill(rendered.text, count)
    words = len(rendered.text.encode("utf-8", "replace")) - len(rendered.body.encode("utf-8", "replace"))
    full = max(limits.fill(rendered.body, count), words / OUTSIDE_BYTES)
    return full if call.ceiling is None else max(full, call.ceiling.fill(rendered.text, count))


def _select(document: Document, call: Call, fill: Fill, earlier: Earlier | None) -> tuple[Selection, str]:
    """Return a selection, and why both ends are to be shown instead, if they are.

    A selector may fail or ask for too much: the tool call survives.
    """
    size, keep = f"{document.size:,}", call.settings.keep
    by_kind, is_cramped = keep in ("auto", "signal"), _is_cramped()
    if is_cramped and by_kind:
        _log.warning("Too little memory to choose what to show of %s bytes; both ends are shown.", size)
        return Selection("log", []), CRAMPED
    try:
        if by_kind:
            selection = _select_by_kind(*_within_budget(document, fill), call, earlier)
        else:
            selection = _select_by_place(document, fill, call, is_cramped=is_cramped)
        spans = _clamp(selection.spans, document)
    except TooMuchWork:
        _log.warning("Choosing what to show of %s bytes was too much work; both ends are shown.", size)
        return Selection("log", []), TOO_MUCH
    except fallback.SURVIVED as error:
        _log.warning("Choosing what to show of %s bytes failed; both ends are shown: %r", size, error)
        if not isinstance(error, StoreError) or callable(keep):
            return Selection("log", []), FAILED.format(error=type(error).__name__)
        # The bytes cannot be read. Where only both ends are here, they are shown if they can be: then it was the gap.
        if not isinstance(document.blob, BothEnds):
            raise
        return Selection("log", _both_ends(document, call, fill)), ""
    if callable(keep):
        spans = spans[: largest(len(spans), lambda count: fill(spans[:count]))]
    return Selection(selection.kind, spans or _both_ends(document, call, fill)), ""


def _select_by_kind(document: Document, fill: Fill, call: Call, earlier: Earlier | None) -> Selection:
    """Select by what the output is, or by what is new against an earlier one."""
    from spillover.kinds import log
    from spillover.kinds.kind import describe, hint_of, select
    from spillover.kinds.log import news

    room, keep, form = Room(fill), call.settings.keep, call.settings.form
    spans: Sequence[Span] | None = None
    if earlier is not None and earlier.compared is not None and earlier.compared.same_lines:
        spans = news.select(document, room, call, earlier)
    if spans is None and form is not None and keep in form.cuts:
        spans = form.cuts[str(keep)](call.limits)(document, fill) or None
    if spans is None and keep == "auto":
        return select(document, room, call)
    return Selection(describe(document, hint_of(call)), log.select(document, room, call) if spans is None else spans)


def _select_by_place(document: Document, fill: Fill, call: Call, *, is_cramped: bool) -> Selection:
    """Select by position, or as the user's own selector does."""
    keep, form = call.settings.keep, call.settings.form
    if callable(keep):
        spans = keep(document, fill)
    elif form is not None and keep in form.cuts:
        spans = form.cuts[keep](call.limits)(document, fill)
    else:
        spans = keep_ends(HEAD_SHARES[keep])(document, fill)
    if is_cramped:
        return Selection("log", spans)
    from spillover.kinds.kind import describe, hint_of

    return Selection(describe(document, hint_of(call)), spans)


def _both_ends(document: Document, call: Call, fill: Fill, why: str = "") -> list[Span]:
    share = HEAD_SHARES.get(call.settings.keep, 0.5) if isinstance(call.settings.keep, str) else 0.5
    return [replace(span, why=why or span.why) for span in _clamp(keep_ends(share)(document, fill), document)]


def _is_repeated(subject: Subject) -> bool:
    return subject.earlier is not None and subject.earlier.is_repeated


def _is_cramped() -> bool:
    """Return whether memory is so short that loading numpy could end the process, as OpenBLAS exits without it."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return limit != resource.RLIM_INFINITY and limit < MIN_ADDRESS_SPACE


def _within_budget(document: Document, fill: Fill) -> tuple[Document, Fill]:
    """Return the output and the measure of what fits for a selector of ours: both spend from a budget of work."""
    work = work_for(document.size)

    def spend_and_fill(spans: Sequence[Span]) -> float:
        work.spend(sum(span.end - span.start + PIECE for span in spans))
        return fill(spans)

    return document.within(work), spend_and_fill


def _clamp(spans: Sequence[Span], document: Document) -> list[Span]:
    """Return the spans in order, clamped to the output and to what was kept of it."""
    opens, closes = document.gap
    clamped = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        start, end = max(0, span.start), min(span.end, document.size)
        if opens < closes:
            clamped.append(replace(span, start=start, end=min(end, opens), then=None))
            start = max(start, closes)
        clamped.append(replace(span, start=start, end=end))
    return [span for span in clamped if span.start < span.end]


def _reasons(layout: Layout, spans: Sequence[Span]) -> list[tuple[Reason, Span]]:
    """Return why each part is shown, by lines, with its first span; neighbours of one reason are merged."""
    reasons: list[tuple[Reason, Span]] = []
    for span in spans:
        if not span.why:
            continue
        first, last = layout.number(span.start), layout.number(span.end - 1)
        before = reasons[-1] if reasons else None
        if before and before[0].why == span.why and first <= before[0].last + 1:
            reasons[-1] = replace(before[0], last=last), before[1]
        else:
            reasons.append((Reason(first, last, span.why), span))
    return reasons


def _find_search(frame: _Frame, rendered: Rendered, kind: str, reasons: Sequence[tuple[Reason, Span]]) -> str:
    """Return the search that the reader most likely makes next; "" where none is likely, or none can be made."""
    call, document = frame.subject.call, frame.subject.document
    if frame.tier or not call.settings.hints or call.settings.form is not None or _is_cramped():
        return ""
    from spillover.kinds.kind import ERROR_LINE_CHARS, likely_search, may_name_error

    lines = []
    for reason, span in reasons[:SEARCH_REASONS]:
        if may_name_error(reason.why):
            text = document.text(span.start, min(span.end, span.start + ERROR_LINE_CHARS))
            lines.append((reason.why, text.partition("\n")[0]))
    return likely_search(kind, rendered.body[:SEARCH_CHARS], lines, call.query)
