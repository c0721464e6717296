"""Lines of a log as spans: why each is shown, what the gaps between hide, and how many more are like one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spillover.kinds.log.classes import BAD, EVIDENCE, REASONS, Array
from spillover.kinds.log.lines import LONGEST_BLOCK, Lines
from spillover.kinds.log.score import shipped
from spillover.kinds.pack import group, steps
from spillover.kinds.selection import Hidden, Span
from spillover.notice.wording import more_like

#: Lines this close to one that says something failed are near it, in words. Larger: fewer lines are "in the block".
NEAR_LINES = 5
#: Lines this close, with nothing hidden between, are in its block.
BLOCK_LINES = 40
#: With this many more like it, a failure gets a lead that says how many. Larger: fewer leads.
MIN_LIKE = 6
#: There is one lead for this many tokens of room, and at most MAX_LEADS. Larger: fewer leads.
TOKENS_PER_LEAD, MAX_LEADS = 500, 4


class SpanMaker:
    """Makes spans of some lines of a log, and remembers from one try to the next what gaps hide."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._gaps: dict[tuple[int, int], Hidden | None] = {}

    def spans(self, keep: Array, room: float, max_width: float, reasons: Sequence[str] = ()) -> list[Span]:
        """Return spans of the lines to keep, each with what its gap hides; both ends of a line above `max_width`."""
        lines = self._lines
        rows = np.flatnonzero(keep)
        leads = self._leads(keep, int(min(MAX_LEADS, room // TOKENS_PER_LEAD)))
        following = np.append(rows, len(lines))[1:]
        columns = (rows, following, lines.first[rows], lines.last[rows], lines.tokens[rows], lines.last[following - 1])
        spans = []
        for nth, (row, behind, start, end, cost, upto) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            why = reasons[nth] if reasons else ""
            lead = leads.get(row, "")
            if cost > max_width:
                half = max(1, int((end - start) * max_width / cost / 2))
                spans += [Span(start, start + half, why, None, lead), Span(end - half, end, why)]
                continue
            gap = None
            if behind > row + 1 and upto >= end:
                if (row, behind) not in self._gaps:
                    self._gaps[row, behind] = describe_gap(lines, row, behind)
                gap = self._gaps[row, behind]
            spans.append(Span(start, end, why, gap, lead))
        return spans

    def _leads(self, keep: Array, count: int) -> dict[int, str]:
        """Return the words above the first line of each large family of failures, the largest families first."""
        lines = self._lines
        leads = dict[int, str]()
        members = np.flatnonzero(lines.family)
        order, starts, sizes = group(lines.family[members])
        largest = np.lexsort((members[order[starts]], -sizes))
        for nth in largest[: np.count_nonzero(sizes >= MIN_LIKE)].tolist():
            rows = members[order[starts[nth] : starts[nth] + sizes[nth]]]
            visible = rows[keep[rows]]
            numbers = lines.number[rows[~keep[rows]]]
            is_one_gap = len(numbers) and numbers[-1] - numbers[0] + 1 == len(numbers)  # its marker says so
            if len(leads) < count and len(visible) and len(numbers) >= MIN_LIKE and not is_one_gap:
                leads[int(visible[0])] = more_like(len(numbers), int(numbers[0]), int(numbers[-1]))
        return leads


def describe_gap(lines: Lines, row: int, following: int) -> Hidden | None:
    """Return what is hidden between two rows, where all of it repeats what stands before."""
    near = lines.template[max(0, row + 1 - LONGEST_BLOCK) : row + 2].tolist()
    if near[-1] not in near[:-1]:  # what comes first is like nothing above it
        return None
    gap = slice(row + 1, following)
    if (lines.first[gap] != lines.last[row : following - 1]).any():  # not all of it was looked at
        return None
    if following == len(lines) or lines.first[following] != lines.last[following - 1]:
        return None
    count = following - row - 1
    if (lines.exact[gap] == lines.exact[row]).all():
        return Hidden("same", count)
    if (lines.template[gap] == lines.template[row]).all():
        return Hidden("like", count)
    for period in range(2, min(LONGEST_BLOCK + 1, row + 2, count + 1)):
        if count % period:
            continue
        block = lines.template[row + 1 - period : following]
        if (block[period:] == block[:-period]).all():
            return Hidden("block", count // period, str(period))
    return None


def explain(lines: Lines, points: Array, keep: Array) -> list[str]:
    """Return why each line to keep is shown: evidence, or the suspicion with most points, and what it stands beside."""
    rows = np.flatnonzero(keep)
    numbers = lines.number[keep]
    weights = shipped().points
    suspicions = sorted((name for name in BAD if name not in EVIDENCE), key=lambda name: -weights[name])
    names = [*EVIDENCE, *suspicions, *(name for name in REASONS if name not in BAD)]
    table = lines.of_classes(names)[rows]
    table[lines.dismissed[rows], : len(BAD)] = False
    strongest = np.where(table.any(axis=1), table.argmax(axis=1), len(names))
    is_bad = strongest < len(BAD)
    near = _nearest(rows, np.flatnonzero(is_bad))
    distances = abs(numbers[near] - numbers) if is_bad.any() else np.full(len(rows), BLOCK_LINES + 1)
    block = np.cumsum(steps(numbers, numbers[:1]) > 1)  # the same for lines between which nothing is hidden
    at_beginning = rows == np.arange(len(rows))
    at_end = rows == np.arange(len(lines) - len(rows), len(lines))
    columns = (strongest, numbers[near], distances, block[near] == block, at_beginning, at_end, points[rows] > 0)
    words = [*(REASONS[name] for name in names), ""]
    reasons = []
    for reason, number, distance, in_block, first, last, high in zip(*(c.tolist() for c in columns), strict=True):
        beside = ""
        if reason >= len(BAD):
            if distance <= NEAR_LINES:
                beside = f"near line {number:,}"
            elif last:
                beside = "at the end"
            elif distance <= BLOCK_LINES and in_block:
                beside = f"in the block around line {number:,}"
            elif first:
                beside = "at the beginning"
        why = "; ".join(filter(None, (words[reason], beside)))
        reasons.append(why or ("stands out" if high else "there was room for it"))
    return reasons


def _nearest(rows: Array, strong: Array) -> Array:
    """Return for each row the nearest of the strong ones, the one above where two are; both as places in `rows`."""
    if not len(strong):
        return np.zeros(len(rows), dtype=np.intp)
    behind = strong.searchsorted(np.arange(len(rows)))
    below = strong[np.minimum(behind, len(strong) - 1)]
    above = strong[np.maximum(behind, 1) - 1]
    return np.where(abs(rows[below] - rows) < abs(rows[above] - rows), below, above)
