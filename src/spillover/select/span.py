"""What a selector gives back: spans of an output's bytes."""

from __future__ import annotations

from spillover.data import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.view.document import Document

    #: How full the limits are with these spans, the notice and the gap markers around them; above 1 they do not fit.
    Fill = Callable[[Sequence["Span"]], float]
    #: A selector: an output and the measure of what fits in, spans out.
    Selector = Callable[[Document, Fill], Sequence["Span"]]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Bytes `start` to `end` of an output."""

    start: int
    end: int


def joined(spans: Sequence[Span]) -> list[Span]:
    """In order, without empty ones, and with those that touch made one."""
    out: list[Span] = []
    for span in sorted(spans):
        if span.start >= span.end:
            continue
        if out and span.start <= out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        else:
            out.append(span)
    return out
