"""The lines that are new against an earlier run: blocks of them, the strongest first, then what else matters.

A line that the earlier run had says little about what changed; one that it did not have is most of what there is to say.
Between new lines, up to HOLE lines that are not new are shown with them: a block that is torn apart costs more markers.
"""

from __future__ import annotations

import itertools

from msgspec import Struct
from msgspec.structs import replace

from spillover.notice.since import lines_gone
from spillover.notice.words import one_line
from spillover.select.arrays import group
from spillover.select.choose import LIKE, Candidates, candidates, choose, evidence, find_first, widest
from spillover.select.classes import EVIDENCE, NAMES, classify
from spillover.select.ends import fair, keeping
from spillover.select.ends import most as fit_most
from spillover.select.rows import find_room
from spillover.select.signal import points_of, see_all, show
from spillover.select.span import Span, join
from spillover.select.take import MARKER, fill_holes, price
from spillover.select.wanted import NOTHING
from spillover.since.compare import NEW, Compared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.plain import Sight
    from spillover.select.span import Fill
    from spillover.select.wanted import Wanted
    from spillover.since import Earlier
    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: Where more than this share of the lines is new, the earlier run says little about this one.
MOSTLY = 0.7
#: A new line has so many points more.
MORE = 1.0
#: So many lines between new ones belong to their block.
HOLE = 2
#: Of a block that is too long, this share of the room lies before its strongest line.
ABOVE = 0.2
#: A line that says again what a new line said before has so many points less.
AGAIN = 6.0
#: So many blocks are looked at, the strongest; with less room than this, in tokens, none is.
MOST_BLOCKS, LEAST = 200, 30
#: Where not all of the limits are wanted: what is around new lines may cost this, in tokens, and as much again as this share of them.
AROUND, ALSO = 150, 0.5
#: What is gone may take this share of the room, or so many tokens. Lines that said what failed are named, or else a few of the others, so many;
#: so many are looked at.
GONE, LEAST_GONE, MOST_GONE, FEW_GONE, LOOKED_AT = 0.05, 60, 20, 3, 2_000
#: Of each, so many characters; about so many are a token.
GONE_CHARS, CHARS_PER_TOKEN = 160, 3
#: Of an output that is unchanged, so many lines are shown, and so many bytes of each.
REMINDED, REMINDED_BYTES = 8, 160


def select(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> Sequence[Span] | None:
    """Return what is new against the earlier output, and what is gone; of one that is unchanged, what it says in short.

    None where the earlier output says too little about this one: most lines are new, and more than fit.
    """
    earlier = wanted.since
    assert earlier is not None
    assert earlier.compared is not None
    compared = earlier.compared
    if compared.unchanged:
        return _remind(document, fill)
    parts = [_part(document, sight, compared, wanted) for sight in see_all(document, compared.cells)]
    if compared.new.lines > MOSTLY * compared.lines and fill([span for part in parts for span in part.show_news()]) > 1:
        return None
    costs = [int(part.those.cost) + 1 for part in parts]
    telling, first = _name_gone(earlier, compared)
    news = sum(part.news for part in parts)

    def spans(room: int, *, why: bool = False) -> list[Span]:
        rooms = [max(1, each) for each in fair(room, costs, [part.weight for part in parts])]
        return [span for part, here in zip(parts, rooms, strict=True) for span in part.show(here, why=why)]

    def led(room: int, *, why: bool = False) -> list[Span]:
        named = telling or (first if 2 * news < room else [])  # what said nothing is named where there is room to spare
        return _lead(spans(room, why=why), compared.gone.lines, named, max(LEAST_GONE, GONE * room))

    most = sum(costs)
    if wanted.worth:
        most = min(most, int(AROUND + (1 + ALSO) * news))
    room = find_room(most, lambda room: fill(led(room)), fill([]))
    return led(room, why=True) if room else keeping(0.5)(document, fill)


class _Part(Struct, frozen=True):
    """The lines of a section, and blocks of new ones among them, the strongest first."""

    those: Candidates
    useful: Array  # of the lines of blocks, those that are worth showing: not what was said before
    blocks: Sequence[tuple[int, int, int]]  # from, to, and the strongest line
    weight: int
    news: float  # what all new lines cost
    longest: float  # what the longest of them costs

    def show(self, room: int, *, why: bool) -> list[Span]:
        # A clip that ends early has little room and is far from its limits: no new line is cut for that.
        width = self.longest if (1 + ALSO) * self.news <= room else 0
        return show(self.those, choose(self.those, room, self._lead(room)), room, why=why, known={}, width=width)

    def show_news(self) -> list[Span]:
        """Return all that is new and worth showing, and nothing else."""
        import numpy as np

        keep = np.zeros(len(self.useful), dtype=bool)
        for first, behind, _ in self.blocks:
            keep[first:behind] |= self.useful[first:behind]
        return show(self.those, keep, self.those.cost, why=False, known={})

    def _lead(self, room: float) -> Array:
        """Return the lines that are shown before all others: as many blocks as fit, and a window into one that does not."""
        import numpy as np

        cost = np.minimum(self.those.lines.tokens, widest(room))
        upto = np.concatenate(([0.0], cost.cumsum()))
        useful = np.concatenate(([0.0], np.where(self.useful, cost, 0.0).cumsum()))
        keep = np.zeros(len(cost), dtype=bool)
        for first, behind, best in self.blocks:
            left = room - price(keep, cost)
            if left < LEAST:
                break
            more = self._add(keep, first, behind, upto)
            if price(more, cost) > room:
                left -= 2 * MARKER
                begin = max(first, int(useful.searchsorted(useful[best] - ABOVE * left)))
                end = min(behind, int(useful.searchsorted(useful[begin] + left, side="right")) - 1)
                more = self._add(keep, begin, end, upto)
                if end <= best or price(more, cost) > room:
                    continue
            keep = more
        return keep

    def _add(self, keep: Array, first: int, behind: int, upto: Array) -> Array:
        more = keep.copy()
        more[first:behind] |= self.useful[first:behind]
        return fill_holes(more, upto)


def _part(document: Document, sight: Sight, compared: Compared, wanted: Wanted) -> _Part:
    import numpy as np

    lines = sight.lines
    marks, said = _marks(document, sight, compared)
    news = marks == NEW
    new = _close(news)
    own, points = points_of(document, lines, wanted)
    those = candidates(lines, own + MORE * new, points + MORE * new, sight.rare, news=news)
    # Said for the first time, as the comparison sees it; but each failure names another thing. Of very many that are alike, a few.
    first = find_first(said) | (find_first(lines.exact) & evidence(lines).any(axis=1))
    first &= those.again < LIKE
    those = replace(those, able=those.able & (first | ~news))
    strength = np.where(first, points, points - AGAIN)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], new, [False])).astype(np.int8)))
    blocks = [
        (begin, end, begin + int(strength[begin:end].argmax()))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
    blocks.sort(key=lambda block: -float(strength[block[2]]))
    cost = lines.tokens[news]
    longest = float(cost.max(initial=0))
    return _Part(those, first | (new & ~news), blocks[:MOST_BLOCKS], sight.weight, float(cost.sum()), longest)


def _marks(document: Document, sight: Sight, compared: Compared) -> tuple[Array, Array]:
    """Return what each line that is looked at is, against the earlier output, and the key of what it says."""
    import numpy as np

    first, last = sight.lines.first, sight.lines.last
    if not len(first):
        return np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    breaks = np.flatnonzero(first[1:] != last[:-1]) + 1
    edges = [0, *breaks.tolist(), len(first)]
    pieces = [
        compared.mark(document, int(first[begin]), int(last[end - 1]))
        for begin, end in itertools.pairwise(edges)
        if begin < end
    ]
    marks, said = zip(*pieces, strict=True)
    return np.concatenate(marks), np.concatenate(said)


def _close(new: Array) -> Array:
    """Return which lines are new, or between new ones that are near each other."""
    import numpy as np

    at = np.flatnonzero(new)
    near = np.flatnonzero((np.diff(at) > 1) & (np.diff(at) <= HOLE + 1))
    change = np.zeros(len(new) + 1, dtype=np.int8)
    change[at[near]] += 1
    change[at[near + 1]] -= 1
    closed: Array = new | (np.cumsum(change[:-1]) > 0)
    return closed


def _remind(document: Document, fill: Fill) -> list[Span]:
    """Return some lines of an output that is unchanged: what failed, once each, or how it ended."""
    import numpy as np

    found: list[Span] = []
    for sight in see_all(document):
        lines = sight.lines
        order, starts, _ = group(lines.exact)
        failed = np.sort(order[starts[evidence(lines)[order[starts]].any(axis=1)]])
        rows = failed if len(failed) else np.flatnonzero(lines.width)[-1:]
        ends = np.minimum(lines.last[rows], lines.first[rows] + REMINDED_BYTES)
        why = "failed before, too" if len(failed) else "at the end"
        found += [Span(start, end, why) for start, end in zip(lines.first[rows].tolist(), ends.tolist(), strict=True)]
    return found[: fit_most(min(len(found), REMINDED), lambda count: fill(join(found[:count])))]


def _name_gone(earlier: Earlier, compared: Compared) -> tuple[list[str], list[str]]:
    """Return lines of the earlier output that are gone: those that said what failed, and the first of all."""
    before, texts, looked_at = earlier.document, list[str](), 0
    if before is None:
        return [], []
    for first, last in compared.gone.ranges:
        upto = min(last, first + LOOKED_AT - looked_at)
        start, end = before.start(first), before.start(upto + 1)
        texts += [line for line in before.text(start, min(end, start + (1 << 16))).split("\n") if line.strip()]
        looked_at += upto - first + 1
        if looked_at >= LOOKED_AT:
            break
    if not texts:
        return [], []
    import numpy as np

    view = "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")
    starts = np.concatenate(([0], np.flatnonzero(np.frombuffer(view, np.uint8) == 10)[:-1] + 1))
    bad = classify(view, starts)[:, [NAMES.index(name) for name in EVIDENCE]].any(axis=1)
    return [text for text, telling in zip(texts, bad.tolist(), strict=True) if telling][:MOST_GONE], texts[:FEW_GONE]


def _lead(spans: list[Span], gone: int, texts: Sequence[str], room: float) -> list[Span]:
    """Return the spans with what is gone above one of the first of them."""
    at = next((number for number, span in enumerate(spans) if not span.lead), None)
    if not texts or at is None:  # how many are gone stands in the notice
        return spans
    named, left = list[str](), room
    for text in texts:
        short = one_line(text, GONE_CHARS)
        left -= 2 + len(short) / CHARS_PER_TOKEN
        if left < 0:
            break
        named.append(short)
    if not named:
        return spans
    spans[at] = replace(spans[at], lead=lines_gone(gone, named))
    return spans
