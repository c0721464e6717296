"""What the score of a line looks at: the line itself, where it stands, how it repeats, and what stands around it."""

from __future__ import annotations

from spillover.select.classes import BAD, DISMISSED, EVIDENCE, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: How far around a line is looked, in lines: the strongest line of each of these stretches, before it and behind it.
WINDOWS = ((1, 2), (3, 6), (7, 15), (16, 40))
MEANS = (3, 12, 40)
#: Classes whose neighbourhood says something: the densest stretch of so many lines.
AROUND = ("verdict", "passed", "progress", "warning", "frame", "rule", "exception head", "skipped", "diff", "code")
REACH = 4
FAR = 17.0

OWN = (*NAMES, "width", "indent", "cost", "template count", "template share", "template index", "equal count", "equal index",
       "prefix count", "prefix share", "blank", "subject before", "subject behind", "rarest class", "rarest evidence")  # fmt: skip
PLACE = ("tokens behind", "share behind", "lines before", "exit ahead", "exit behind", "has exit", "last exit behind")
NEAR = (
    "own",
    "below best",
    "rank",
    *(f"best {a} to {b} before" for a, b in WINDOWS),
    *(f"best {a} to {b} behind" for a, b in WINDOWS),
    *(f"mean of {2 * r + 1}" for r in MEANS),
    *(f"{name} around" for name in AROUND),
    "command before",
    "indent against the line before",
    "blank before",
    "blank behind",
    "equal prefix around",
    "first strong before",
    "last strong behind",
    "strong before",
    "strong behind",
    "verdicts before",
    "verdicts behind",
    "best of paragraph",
    "length of paragraph",
    "place in paragraph",
    "best of section",
    "place in section",
    "parent",
    "best since parent",
)
CONTEXT = (*OWN, *PLACE, *NEAR)


def own(lines: Lines) -> Array:
    """A row per line: what it says by itself, and how often it is said."""
    import numpy as np

    count = len(lines)
    template, template_index = _counts(lines.template)
    equal, equal_index = _counts(lines.exact)
    prefix, _ = _counts(lines.prefix)
    subject, subject_index = _counts(lines.subject)
    columns = [
        np.log2(1 + lines.width),
        np.minimum(lines.indent, 16),
        np.log2(1 + lines.tokens),
        np.log2(template),
        template / count,
        np.log2(1 + template_index),
        np.log2(equal),
        np.log2(1 + equal_index),
        np.log2(prefix),
        prefix / count,
        lines.width == 0,
        np.where(lines.subject != 0, np.log2(1 + subject_index), -1),
        np.where(lines.subject != 0, np.log2(subject - subject_index), -1),
    ]
    columns += [_rarest(lines, BAD), _rarest(lines, EVIDENCE)]
    return np.column_stack([lines.classes.astype(np.float32), *(column.astype(np.float32) for column in columns)])


def _rarest(lines: Lines, names: Sequence[str]) -> Array:
    """Of the classes a line is in, how many lines are in the rarest; on a scale of powers of two."""
    import numpy as np

    dismissed = lines.classes[:, [NAMES.index(name) for name in DISMISSED]].any(axis=1)
    seen = lines.classes[:, [NAMES.index(name) for name in names]] & ~dismissed[:, None]
    return np.where(seen, np.log2(np.maximum(1, seen.sum(axis=0)))[None, :], FAR).min(axis=1)


def place(lines: Lines) -> Array:
    """A row per line: where it stands, from the end and from the lines that say a command failed."""
    import numpy as np

    upto = np.cumsum(lines.tokens)
    total = upto[-1]
    exits = np.flatnonzero(lines.classes[:, NAMES.index("exit")])
    numbers = np.arange(len(lines))
    ahead = np.full(len(lines), FAR)
    since = np.full(len(lines), FAR)
    if len(exits):
        following = np.searchsorted(exits, numbers)
        some = following < len(exits)
        ahead[some] = np.log2(1 + upto[exits[following[some]]] - upto[some])
        some = following > 0
        since[some] = np.log2(1 + upto[some] - upto[exits[following[some] - 1]])
    last = exits[-1] if len(exits) else -1
    columns = [
        np.log2(1 + total - upto),
        1 - upto / total,
        np.log2(1 + numbers),
        ahead,
        since,
        np.full(len(lines), len(exits) > 0),
        numbers > last if len(exits) else np.full(len(lines), False),
    ]
    return np.column_stack([column.astype(np.float32) for column in columns])


def near(lines: Lines, points: Array) -> Array:
    """A row per line: its own points, and those of its neighbours."""
    import numpy as np

    count = len(lines)
    best = points.max()
    order = np.empty(count)
    order[np.argsort(-points, kind="stable")] = np.arange(count)
    columns = [points, points - best, np.log2(1 + order)]
    low = points.min()
    columns += [_window(points, -b, -a, low) for a, b in WINDOWS]
    columns += [_window(points, a, b, low) for a, b in WINDOWS]
    columns += [_mean(points, reach) for reach in MEANS]
    columns += [_mean(lines.classes[:, NAMES.index(name)].astype(np.float64), REACH) for name in AROUND]
    columns.append(_since(lines.classes[:, NAMES.index("command")]))
    before = np.concatenate((lines.indent[:1], lines.indent[:-1]))
    blank = lines.width == 0
    columns.append(np.clip(lines.indent - before, -8, 8))
    columns.append(np.concatenate(([True], blank[:-1])))
    columns.append(np.concatenate((blank[1:], [True])))
    same = np.concatenate(([False], lines.prefix[1:] == lines.prefix[:-1]))
    columns.append(_mean(same.astype(np.float64), REACH))
    strong = points > best - (best - np.median(points)) * 0.25
    columns.append(_since(strong))
    columns.append(_since(strong[::-1])[::-1])
    for those in (strong, lines.classes[:, NAMES.index("verdict")]):
        upto = np.cumsum(those)
        columns += [np.log2(1 + upto - those), np.log2(1 + upto[-1] - upto)]
    paragraph = np.cumsum(blank | np.concatenate(([True], blank[:-1])))
    tops, sizes, places = _stretches(points, paragraph)
    columns += [tops, np.log2(sizes), np.log2(1 + places)]
    tops, _, places = _stretches(points, np.cumsum(lines.classes[:, NAMES.index("rule")]))
    columns += [tops, np.log2(1 + places)]
    parent = _parents(lines.indent, blank)
    above = np.where(parent >= 0, points[parent], low)
    columns += [above, above - points]
    return np.column_stack([column.astype(np.float32) for column in columns])


def _stretches(points: Array, number: Array) -> tuple[Array, Array, Array]:
    """The best of each stretch of lines with one number, how long it is, and how far into it each line stands."""
    import numpy as np

    starts = np.flatnonzero(np.concatenate(([True], number[1:] != number[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(points)])))
    best = np.maximum.reduceat(points, starts)
    return np.repeat(best, sizes), np.repeat(sizes, sizes), np.arange(len(points)) - np.repeat(starts, sizes)


def _parents(indent: Array, blank: Array) -> Array:
    """The last line before each that is indented less; -1 where there is none."""
    import numpy as np

    numbers = np.arange(len(indent))
    depth = np.minimum(indent, 16)
    parent = np.full(len(indent), -1)
    for level in np.unique(depth[~blank])[:-1]:
        last = np.maximum.accumulate(np.where((depth == level) & ~blank, numbers, -1))
        deeper = depth > level
        parent[deeper] = np.maximum(parent[deeper], last[deeper])
    return parent


def _counts(values: Array) -> tuple[Array, Array]:
    """How often each value occurs, and how often it did before."""
    import numpy as np

    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(where, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    index = np.empty(len(values), dtype=np.int64)
    index[order] = np.arange(len(values)) - starts[where[order]]
    return counts[where], index


def _window(points: Array, low: int, high: int, otherwise: float) -> Array:
    """The largest of the points from `low` to `high` lines away."""
    import numpy as np

    size, reach = high - low + 1, max(abs(low), abs(high))
    padded = np.concatenate((np.full(reach, otherwise), points, np.full(reach, otherwise)))
    moved = padded[reach + low : reach + low + len(points) + size - 1]
    return np.lib.stride_tricks.sliding_window_view(moved, size).max(axis=1)


def _mean(points: Array, reach: int) -> Array:
    import numpy as np

    upto = np.concatenate(([0.0], np.cumsum(points)))
    numbers = np.arange(len(points))
    low, high = np.maximum(0, numbers - reach), np.minimum(len(points), numbers + reach + 1)
    return (upto[high] - upto[low]) / (high - low)


def _since(those: Array) -> Array:
    """How many lines ago one of those was, on a scale of powers of two."""
    import numpy as np

    numbers = np.arange(len(those))
    last = np.maximum.accumulate(np.where(those, numbers, -(1 << 17)))
    return np.minimum(FAR, np.log2(1 + numbers - last))
