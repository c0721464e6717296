"""Lines of a log as spans: why each is shown, what the gaps between them hide, and how many more are like one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spillover.kinds.log.classes import BAD, EVIDENCE, REASONS, Array
from spillover.kinds.log.lines import LONGEST_BLOCK, Lines
from spillover.kinds.log.score import shipped
from spillover.kinds.pack import group, steps
from spillover.kinds.selection import Hidden, Span
from spillover.notice.wording import more_like

#: Within NEAR lines of a line that says something failed, a line is near it; within AWAY, with nothing hidden between, in its block.
NEAR, AWAY = 5, 40
#: Of a family of failures it is said how many more there are, if they are this many, once for this much room, in tokens.
MANY_LIKE, ROOM_OF_LEAD, MOST_LEADS = 6, 500, 4


class SpanMaker:
    """Makes spans of some lines of a log, and remembers from one try to the next what gaps hide."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._hidden: dict[tuple[int, int], Hidden | None] = {}

    def spans(self, keep: Array, room: float, width: float, reasons: Sequence[str] = ()) -> list[Span]:
        """Return runs of kept lines, both ends of one that costs more than `width`, and what is known of the gaps between."""
        lines, kept = self._lines, np.flatnonzero(keep)
        above = self._leads(keep, int(min(MOST_LEADS, room // ROOM_OF_LEAD)))
        following = np.append(kept, len(lines))[1:]
        columns = (kept, following, lines.first[kept], lines.last[kept], lines.tokens[kept], lines.last[following - 1])
        out = []
        for nth, (row, behind, start, end, cost, upto) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            why, lead = reasons[nth] if reasons else "", above.get(row, "")
            if cost > width:
                half = max(1, int((end - start) * width / cost / 2))
                out += [Span(start, start + half, why, None, lead), Span(end - half, end, why)]
                continue
            hidden = None
            if behind > row + 1 and upto >= end:
                if (row, behind) not in self._hidden:
                    self._hidden[row, behind] = what_is_hidden(lines, row, behind)
                hidden = self._hidden[row, behind]
            out.append(Span(start, end, why, hidden, lead))
        return out

    def _leads(self, keep: Array, count: int) -> dict[int, str]:
        """Return what stands above the first shown one of failures that many others are like, the largest families first."""
        lines, leads = self._lines, dict[int, str]()
        members = np.flatnonzero(lines.family)
        order, starts, sizes = group(lines.family[members])
        largest = np.lexsort((members[order[starts]], -sizes))
        for nth in largest[: np.count_nonzero(sizes >= MANY_LIKE)].tolist():
            rows = members[order[starts[nth] : starts[nth] + sizes[nth]]]
            shown, numbers = rows[keep[rows]], lines.number[rows[~keep[rows]]]
            together = len(numbers) and numbers[-1] - numbers[0] + 1 == len(numbers)  # the marker of that gap says so
            if len(leads) < count and len(shown) and len(numbers) >= MANY_LIKE and not together:
                leads[int(shown[0])] = more_like(len(numbers), int(numbers[0]), int(numbers[-1]))
        return leads


def what_is_hidden(lines: Lines, shown: int, following: int) -> Hidden | None:
    """Return what is hidden between two shown lines, where all of it repeats what is shown before."""
    near = lines.template[max(0, shown + 1 - LONGEST_BLOCK) : shown + 2].tolist()
    if near[-1] not in near[:-1]:  # what comes first is like nothing above it
        return None
    hidden = slice(shown + 1, following)
    if (lines.first[hidden] != lines.last[shown : following - 1]).any():  # not all of it was looked at
        return None
    if following == len(lines) or lines.first[following] != lines.last[following - 1]:
        return None
    count = following - shown - 1
    if (lines.exact[hidden] == lines.exact[shown]).all():
        return Hidden("same", count)
    if (lines.template[hidden] == lines.template[shown]).all():
        return Hidden("like", count)
    for period in range(2, min(LONGEST_BLOCK + 1, shown + 2, count + 1)):
        if count % period:
            continue
        block = lines.template[shown + 1 - period : following]
        if (block[period:] == block[:-period]).all():
            return Hidden("block", count // period, str(period))
    return None


def explain(lines: Lines, points: Array, keep: Array) -> list[str]:
    """Return why each kept line is shown: evidence, or the suspicion with most points, and what it stands beside."""
    kept, numbers = np.flatnonzero(keep), lines.number[keep]
    weights = shipped().points
    doubts = sorted((name for name in BAD if name not in EVIDENCE), key=lambda name: -weights[name])
    names = [*EVIDENCE, *doubts, *(name for name in REASONS if name not in BAD)]
    bad = len(BAD)
    table = lines.of_classes(names)[kept]
    table[lines.dismissed[kept], :bad] = False
    strongest = np.where(table.any(axis=1), table.argmax(axis=1), len(names))
    near = _nearest(kept, np.flatnonzero(strongest < bad))
    away = abs(numbers[near] - numbers) if (strongest < bad).any() else np.full(len(kept), AWAY + 1)
    block = np.cumsum(steps(numbers, numbers[:1]) > 1)  # the same for lines between which nothing is hidden
    beginning = kept == np.arange(len(kept))
    ending = kept == np.arange(len(lines) - len(kept), len(lines))
    columns = (strongest, numbers[near], away, block[near] == block, beginning, ending, points[kept] > 0)
    words, out = [*(REASONS[name] for name in names), ""], []
    for reason, number, distance, within, first, last, high in zip(*(c.tolist() for c in columns), strict=True):
        beside = ""
        if reason >= bad:
            if distance <= NEAR:
                beside = f"near line {number:,}"
            elif last:
                beside = "at the end"
            elif distance <= AWAY and within:
                beside = f"in the block around line {number:,}"
            elif first:
                beside = "at the beginning"
        said = "; ".join(filter(None, (words[reason], beside)))
        out.append(said or ("stands out" if high else "there was room for it"))
    return out


def _nearest(kept: Array, strong: Array) -> Array:
    """Return for each kept line which of the strong ones is nearest, the one above it where two are; both as places in `kept`."""
    if not len(strong):
        return np.zeros(len(kept), dtype=np.intp)
    behind = strong.searchsorted(np.arange(len(kept)))
    below, above = strong[np.minimum(behind, len(strong) - 1)], strong[np.maximum(behind, 1) - 1]
    return np.where(abs(kept[below] - kept) < abs(kept[above] - kept), below, above)
