"""What a selector gives back: spans of an output's bytes, why each is shown, and how what follows it is hidden."""

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

#: Markers that stand inside a line, as part of it, so that what was JSON is JSON still.
INLINE = ("items", "keys", "chars")


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a gap holds, where there is more to say than which lines: `kind` names the words, `gap_KIND` of a Wording."""

    kind: str
    count: int = 0
    note: str = ""

    @property
    def inline(self) -> bool:
        return self.kind in INLINE


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` to `end` of an output; why they are shown; what is hidden behind them, up to the next span."""

    start: int
    end: int
    why: str = ""
    then: Hidden | None = None


def joined(spans: Sequence[Span]) -> list[Span]:
    """In order, without empty ones, and with those that touch made one."""
    out: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if span.start >= span.end:
            continue
        if out and span.start <= out[-1].end:
            last = out[-1]
            end, then = (span.end, span.then) if span.end >= last.end else (last.end, last.then)
            out[-1] = Span(last.start, end, last.why, then)
        else:
            out.append(span)
    return out
