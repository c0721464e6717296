"""What the score of a line looks at: the line itself, where it stands, how often it repeats, and what stands around it.

Each function returns columns by name, and a feature is named nowhere else: scripts/fit reads the names from here, and the
trees in `weights.json` use them.
"""

from __future__ import annotations

from spillover.select.arrays import count_alike, sort_down, steps
from spillover.select.classes import AROUND, BAD, EVIDENCE, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one
    Columns = dict[str, Array]

#: How far a line looks around, in lines: the strongest line of each of these stretches, before it and behind it.
WINDOWS = ((1, 2), (3, 6), (7, 15), (16, 40))
MEANS = (3, 12, 40)
#: The share of lines that are in a class is taken over so many lines on either side.
REACH = 4
#: Lines that are indented farther are taken to be indented so far.
DEEPEST = 16
#: Farther than any line can be, as a power of two.
FAR = 17.0


def own(lines: Lines) -> Columns:
    """Return what each line says by itself, and how often it is said."""
    import numpy as np

    count, counted = len(lines), ~lines.dismissed
    template, template_index = count_alike(lines.template)
    equal, equal_index = count_alike(lines.exact)
    prefix, _ = count_alike(lines.prefix)
    subject, subject_index = count_alike(lines.subject)
    # Classes stay as they are: they are most of the columns, and need no comparison.
    return dict(zip(NAMES, lines.classes.T, strict=True)) | _as_floats(
        {
            "width": np.log2(1 + lines.width),
            "indent": np.minimum(lines.indent, DEEPEST),
            "cost": np.log2(1 + lines.tokens),
            "template count": np.log2(template),
            "template share": template / count,
            "template index": np.log2(1 + template_index),
            "equal count": np.log2(equal),
            "equal index": np.log2(1 + equal_index),
            "prefix count": np.log2(prefix),
            "prefix share": prefix / count,
            "blank": lines.width == 0,
            "subject before": np.where(lines.subject != 0, np.log2(1 + subject_index), -1),
            "subject behind": np.where(lines.subject != 0, np.log2(subject - subject_index), -1),
            "rarest class": _rarest(lines, BAD, counted),
            "rarest evidence": _rarest(lines, EVIDENCE, counted),
        }
    )


def in_context(lines: Lines, alone: Columns, points: Array) -> Columns:
    """Return the columns of `own` and, given the points they are worth, those of each line's place and neighbours."""
    return alone | _place(lines) | _near(lines, points)


def _as_floats(columns: Columns) -> Columns:
    import numpy as np

    return {name: np.ascontiguousarray(column, dtype=np.float32) for name, column in columns.items()}


def _rarest(lines: Lines, names: Sequence[str], counted: Array) -> Array:
    """Return how many lines are in the rarest of the classes that a line is in, as a power of two; of those that are counted."""
    import numpy as np

    rows = [(lines.of_class(name) & counted).nonzero()[0] for name in names]
    out = np.full(len(lines), FAR)
    for some in sorted(filter(len, rows), key=len, reverse=True):  # the rarest come last, and stay
        out[some] = min(np.log2(len(some)), FAR)
    return out


def _place(lines: Lines) -> Columns:
    """Return where each line stands, from the end and from the lines that say a command failed."""
    import numpy as np

    upto = np.cumsum(lines.tokens)
    total = upto[-1]
    exits = np.flatnonzero(lines.of_class("exit"))
    numbers = np.arange(len(lines))
    ahead = np.full(len(lines), FAR)
    since = np.full(len(lines), FAR)
    if len(exits):
        following = np.searchsorted(exits, numbers)
        some = following < len(exits)
        ahead[some] = np.log2(1 + upto[exits[following[some]]] - upto[some])
        some = following > 0
        since[some] = np.log2(1 + upto[some] - upto[exits[following[some] - 1]])
    last = exits[-1] if len(exits) else len(lines)
    return _as_floats(
        {
            "tokens behind": np.log2(1 + total - upto),
            "share behind": 1 - upto / total,
            "lines before": np.log2(1 + numbers),
            "exit ahead": ahead,
            "exit behind": since,
            "has exit": np.full(len(lines), len(exits) > 0),
            "last exit behind": numbers > last,
        }
    )


def _near(lines: Lines, points: Array) -> Columns:
    """Return each line's own points, and what its neighbours, its paragraph and its section have."""
    import numpy as np

    best, low = points.max(), points.min()
    order = np.empty(len(lines))
    order[sort_down(points)] = np.arange(len(lines))
    blank = lines.width == 0
    strong = points > best - (best - _median(points)) * 0.25
    verdict = lines.of_class("verdict")
    same = np.concatenate(([False], lines.prefix[1:] == lines.prefix[:-1]))
    paragraph = _stretches(points, blank | np.concatenate(([True], blank[:-1])))
    section = _stretches(points, lines.of_class("rule"))
    parent = parents(lines.indent, blank)
    above = np.where(parent >= 0, points[parent], low)
    shares = _shares({f"{name} around": lines.of_class(name) for name in AROUND} | {"equal prefix around": same})
    alike = shares.pop("equal prefix around")
    # The order of features decides between equal splits when trees are fitted.
    return _as_floats(
        {"own": points, "below best": points - best, "rank": np.log2(1 + order)}
        | _windows(points, low)
        | _means(points)
        | shares
        | {
            "command before": _since(lines.of_class("command")),
            "indent against the line before": np.clip(steps(lines.indent, lines.indent[:1]), -8, 8),
            "blank before": np.concatenate(([True], blank[:-1])),
            "blank behind": np.concatenate((blank[1:], [True])),
            "equal prefix around": alike,
            "first strong before": _since(strong),
            "last strong behind": _since(strong[::-1])[::-1],
            "strong before": np.log2(1 + np.cumsum(strong) - strong),
            "strong behind": np.log2(1 + strong.sum() - np.cumsum(strong)),
            "verdicts before": np.log2(1 + np.cumsum(verdict) - verdict),
            "verdicts behind": np.log2(1 + verdict.sum() - np.cumsum(verdict)),
            "best of paragraph": paragraph[0],
            "length of paragraph": np.log2(paragraph[1]),
            "place in paragraph": np.log2(1 + paragraph[2]),
            "best of section": section[0],
            "place in section": np.log2(1 + section[2]),
            "parent": above,
            "best since parent": above - points,
        }
    )


def _stretches(points: Array, opens: Array) -> tuple[Array, Array, Array]:
    """Return the best of each stretch of lines, how long it is, and how far into it each line stands; `opens`: where one begins."""
    import numpy as np

    starts = np.flatnonzero(np.concatenate(([True], opens[1:])))
    sizes = steps(starts, after=[len(points)])
    best = np.maximum.reduceat(points, starts)
    return np.repeat(best, sizes), np.repeat(sizes, sizes), np.arange(len(points)) - np.repeat(starts, sizes)


def parents(indent: Array, blank: Array) -> Array:
    """Return the last line before each that is indented less; -1 where there is none."""
    import numpy as np

    numbers = np.arange(len(indent))
    depth = np.minimum(indent, DEEPEST)
    parent = np.full(len(indent), -1)
    for level in np.bincount(depth[~blank]).nonzero()[0][:-1]:
        last = np.maximum.accumulate(np.where((depth == level) & ~blank, numbers, -1))
        deeper = depth > level
        parent[deeper] = np.maximum(parent[deeper], last[deeper])
    return parent


def _windows(points: Array, otherwise: float) -> Columns:
    """Return the largest of the points in each of the stretches before and behind each line."""
    import numpy as np

    count, reach = len(points), WINDOWS[-1][1]
    best = np.full(count + 2 * reach, otherwise, dtype=np.float32)
    best[reach : reach + count] = points
    before, behind, have = {}, {}, 1  # of how many places, from each on, it is the largest by now
    for near, far in WINDOWS:
        while have < far - near + 1:
            step = min(have, far - near + 1 - have)
            best = np.maximum(best[:-step], best[step:])
            have += step
        before[f"best {near} to {far} before"] = best[reach - far : reach - far + count]
        behind[f"best {near} to {far} behind"] = best[reach + near : reach + near + count]
    return before | behind


def _means(points: Array) -> Columns:
    """Return the mean of the points over some lines on either side."""
    import numpy as np

    upto = np.concatenate(([0.0], points.cumsum()))
    numbers = np.arange(len(points))
    out = {}
    for reach in MEANS:
        low, high = np.maximum(0, numbers - reach), np.minimum(len(points), numbers + reach + 1)
        out[f"mean of {2 * reach + 1}"] = (upto[high] - upto[low]) / (high - low)
    return out


def _shares(those: Columns) -> Columns:
    """Return the share of those lines among some on either side."""
    import numpy as np

    count = len(next(iter(those.values())))
    padded = np.zeros((len(those), count + 2 * REACH), dtype=np.uint8)
    for row, column in zip(padded, those.values(), strict=True):
        row[REACH : REACH + count] = column
    sums = padded[:, :count].copy()
    for away in range(1, 2 * REACH + 1):
        sums += padded[:, away : away + count]
    numbers = np.arange(count)
    around = np.minimum(count, numbers + REACH + 1) - np.maximum(0, numbers - REACH)
    return dict(zip(those, sums / around.astype(np.float32), strict=True))


def _since(those: Array) -> Array:
    """Return how many lines ago one of those was, as a power of two."""
    import numpy as np

    numbers = np.arange(len(those))
    last = np.maximum.accumulate(np.where(those, numbers, -(1 << 17)))
    return np.minimum(FAR, np.log2(1 + numbers - last))


def _median(points: Array) -> float:
    """Return the median, as numpy.median does, which imports 15 ms of code for masked arrays."""
    import numpy as np

    lower, upper = (len(points) - 1) // 2, len(points) // 2
    middle = np.partition(points, [lower, upper])
    return float((middle[lower] + middle[upper]) / 2)
