"""How much is worth showing. Limits are a ceiling: beyond some room, what is left is needed too seldom for what it costs.

The worth of a token is the probability that the line it is in is needed. docs/decisions/027-worth.md says how far it holds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.select.span import Fill, Span
    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: So many tokens are always worth their room, as they are estimated: about a tenth more than there are. With less, one log
#: in twenty loses a needed line that the next thousand tokens would have shown, however sure the points are.
FLOOR = 3_200
#: The room grows by this factor as long as what it adds is worth it.
STEP = 1.2
#: Or as long as a line is left that is this many times as likely needed.
BEST = 2.0
#: No output needs more than about so many tokens to be understood; almost no hand-marked failure is longer.
NEEDED = 1_500
#: Where nothing tells one line from another, about a screenful of them is needed, in tokens.
SCREEN = 600
#: Of the beginning, so many bytes tell how many bytes a token has here.
SAMPLE = 1 << 13


def share_out(needed: Sequence[Array], costs: Sequence[Array]) -> list[Array]:
    """Return how likely each line is needed, given that no more than so much is needed in all: of very many likely ones, few are."""
    total = sum(float((likely * cost).sum()) for likely, cost in zip(needed, costs, strict=True))
    return [likely * min(1.0, NEEDED / total) if total else likely for likely in needed]


def worth_room(worth: float, most: int, look: Callable[[int], Sequence[tuple[Array, Array, Array]]]) -> int:
    """Return the room up to which each step adds what is worth it.

    `look` says for a room which lines are shown in it, what each costs, and how likely each is needed, for each part.
    """
    import numpy as np

    room, before = FLOOR, look(int(FLOOR / STEP))
    while room < most:
        gain = cost = best = 0.0
        here = look(room)
        for (had, *_), (has, costs, needed) in zip(before, here, strict=True):
            new = has & ~had
            gain += float((costs * needed)[new].sum())
            cost += float(costs[new].sum())
            best = max(best, float(np.max(needed[~has], initial=0.0)))
        if gain < worth * cost and best < BEST * worth:
            return room
        room, before = int(room * STEP), here
    return most


def thrifty(document: Document, fill: Fill, worth: float) -> Fill:
    """Return the measure of what fits for an output of which no line is known to be needed more than others."""
    if not worth:
        return fill
    from spillover.tokens import estimate

    data = document.blob.read(0, SAMPLE)
    if not data:  # it cannot be read
        return fill
    room = max(FLOOR, SCREEN / worth) * len(data) / max(1, estimate(data.decode("utf-8", "replace")))

    def fill_thriftily(spans: Sequence[Span]) -> float:
        return max(fill(spans), sum(span.end - span.start for span in spans) / room)

    return fill_thriftily
