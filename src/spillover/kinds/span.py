"""What a selector gives back: spans of an output's bytes, why each is shown, and how what follows it is hidden."""

from __future__ import annotations

from _operator import attrgetter, itemgetter  # `operator` would load more, and not know more
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from spillover.document.document import Document

#: A selector: an output and the measure of what fits in, spans out.
Selector = Callable[[Document, "Fill"], Sequence["Span"]]

_place = attrgetter("start", "end")
_edges = itemgetter(0, 1)

#: Markers that stand inside a line, as part of it, so that JSON stays JSON.
INLINE = ("items", "keys", "chars")
#: Markers that quote the output, which is made harmless in rendering.
QUOTING = ("found",)


class Inside(Struct, frozen=True):
    """A place in a string of JSON, counted in the string itself: lines `first` to `last`, bytes `start` to `end`, from 1."""

    pointer: str | None  # of the string, e.g. /stdout; None where it has none worth naming
    first: int
    last: int
    start: int
    end: int
    whole_lines: bool
    open_ended: bool = False  # nothing follows in the string


class Hidden(Struct, frozen=True):
    """What a gap hides, if there is more to say than line numbers: `kind` selects the sentence, `gap_KIND` of a Wording."""

    kind: str
    count: int = 0
    note: str = ""
    inside: Inside | None = None  # where it is, in a string of JSON

    @property
    def inline(self) -> bool:
        return self.kind in INLINE or self.inside is not None


class Span(Struct, frozen=True):
    """Bytes `start` to `end` of an output; why they are shown; what is hidden after them, up to the next span; a lead.

    `skip` bytes at its beginning repeat what is shown above (the name of a file, the number of a line) and are left out.
    """

    start: int
    end: int
    why: str = ""
    then: Hidden | None = None
    lead: str = (
        ""  # words of ours above it, e.g. a summary; what they quote of the output is made harmless in rendering
    )
    skip: int = 0


#: How full the limits are with these spans, the notice and the gap markers around them; above 1 they do not fit.
Fill = Callable[[Sequence[Span]], float]


def join_places(places: Iterable[tuple[int, int, str]], hole: int = 0) -> list[Span]:
    """Return what `join` does of spans at these places, from, to and why: one for those that touch, not one for each.

    Those with a hole of so few bytes between them are taken to touch.
    """
    out: list[Span] = []
    since, end, reason = -1, -1, ""
    for start, upto, why in sorted(places, key=_edges):
        if start <= end + hole and since >= 0:
            end = max(end, upto)
            continue
        if since >= 0:
            out.append(Span(since, end, reason))
        since, end, reason = start, upto, why
    if since >= 0:
        out.append(Span(since, end, reason))
    return out


def join(spans: Sequence[Span]) -> list[Span]:
    """Sort spans, drop empty ones, and merge those that touch."""
    before = -1
    for span in spans:
        if not before < span.start < span.end:
            break
        before = span.end
    else:  # as they are, mostly: what a selector has joined is joined again when it is measured
        return list(spans)
    out: list[Span] = []
    end, then, lead, merged = (
        -1,
        None,
        "",
        False,
    )  # of the last one, which is made anew once all that touch it are known
    for span in sorted(spans, key=_place):
        if span.start >= span.end:
            continue
        if out and span.start <= end and not ((span.lead or span.skip) and span.start == end):
            if span.end >= end:
                end, then = span.end, span.then
            lead, merged = lead or span.lead, True
            continue
        if merged:
            out[-1] = Span(out[-1].start, end, out[-1].why, then, lead, out[-1].skip)
        end, then, lead, merged = span.end, span.then, span.lead, False
        out.append(span)
    if merged:
        out[-1] = Span(out[-1].start, end, out[-1].why, then, lead, out[-1].skip)
    return out
