"""From gaps to spans: what is left between them, why it is shown, and how much of it to try."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from msgspec import Struct, field

from spillover.document.document import UNBOUNDED
from spillover.kinds.selection import Span, largest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.document.document import Work
    from spillover.kinds.selection import Fill, Hidden

    #: A part that is shown: from, to, and why.
    Part = tuple[int, int, str]

#: Why values at either end of a container are shown.
FIRST, LAST = "first items", "last items"
#: Why keys and brackets around them are shown; up to COMMA bytes of them are just a comma, and go with what is beside it.
SHAPE = "shape"
COMMA = 16
#: With more gaps than this there is no shape left, and marking them is slow.
MOST_GAPS = 400
#: The search begins with about as many bytes as the usual limits hold.
FIRST_ROOM = 1 << 16


class Gaps(Struct, frozen=True):
    """What is hidden, and why some parts are not; offsets into the data."""

    text: int  # no string that must be cut is longer than this
    hidden: list[tuple[int, int, Hidden]] = field(default_factory=list)
    shown: list[Part] = field(default_factory=list)

    def spans(self, end: int, base: int = 0) -> list[Span]:
        """Return what is left of the first `end` bytes, as spans of the output in which they begin at `base`."""
        spans, at = [], 0
        for opens, closes, hidden in sorted(self.hidden, key=lambda gap: gap[0]):
            spans.append(Span(base + at, base + opens, then=hidden))
            at = closes
        return [*spans, Span(base + at, base + end)]


def explain(spans: Sequence[Span], parts: Sequence[Part], usual: Sequence[str], work: Work = UNBOUNDED) -> list[Span]:
    """Return the same spans, divided where the reason changes: that of the smallest part, `usual` ones last."""
    return [piece for span in spans for piece in _divide(span, parts, usual, work)]


def _divide(span: Span, parts: Sequence[Part], usual: Sequence[str], work: Work) -> list[Span]:
    near = [part for part in parts if part[0] < span.end and part[1] > span.start]
    work.spend(10 * len(parts) + 50 * len(near) ** 2)
    edges = {span.start, span.end, *(edge for part in near for edge in part[:2] if span.start < edge < span.end)}
    pieces: list[Part] = []
    for start, end in pairwise(sorted(edges)):
        reasons = [(why in usual, upto - since, why) for since, upto, why in near if since <= start and end <= upto]
        why = min(reasons)[2] if reasons else SHAPE
        if pieces and (why in (pieces[-1][2], SHAPE if end - start <= COMMA else None)):
            pieces[-1] = (pieces[-1][0], end, pieces[-1][2])
        elif pieces and pieces[-1][2] == SHAPE and pieces[-1][1] - pieces[-1][0] <= COMMA:
            pieces[-1] = (pieces[-1][0], end, why)
        else:
            pieces.append((start, end, why))
    return [Span(start, end, why, span.then if end == span.end else None) for start, end, why in pieces]


def find_room(spans: Callable[[int], Sequence[Span]], high: int, most_bytes: int, fill: Fill) -> int | None:
    """Return the largest room up to `high` with which the spans fit; None where they never do. Above `most_bytes` none can."""

    @cache
    def full(room: int) -> float:
        here = spans(room)
        size = sum(span.end - span.start for span in here)
        if size > most_bytes:  # and would take long to look at
            return 2 * size / most_bytes
        return fill(here) if len(here) <= MOST_GAPS else 2.0

    room = largest(high, full, start=FIRST_ROOM)
    return room if full(room) <= 1 else None
