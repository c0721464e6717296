"""How much a line is worth showing: the sum of one number for each of its features, from `weights.json`.

Points are log-odds: 0 is as likely needed as not if needed lines were half of all, and 0.7 more doubles the odds.
`make fit` reads the names of features from here and writes the numbers; docs/decisions/log-lines.md says how far they
hold.

A feature looks at the line, how often it occurs, where it stands, what is near, or pairs of these. Its column is true
or false, a share from 0 to 1, a number of lines or tokens as a power of two (3 is seven of them, 0 none), or a
strength: 0 for a line that says nothing of a failure, 1 for one that may, 2 and more for evidence.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from spillover.kinds.log.classes import AROUND, BAD, DISMISSED, EVIDENCE, NAMES, Array
from spillover.kinds.log.lines import Lines
from spillover.kinds.pack import count_alike, steps

Columns = dict[str, Array]

WEIGHTS = Path(__file__).with_name("weights.json")
#: How far a line looks around, in lines: the strongest line of each of these stretches, before it and behind it.
STRETCHES = ((1, 2), (3, 6), (7, 15), (16, 40))
#: The mean strength is taken over this many lines, with the line in the middle.
MEANS = (7, 25, 81)
#: The share of lines that are in a class is taken over this many lines on either side.
BESIDE = 4
#: Lines that are indented farther count as indented this far.
DEEPEST = 16
#: Farther than any line can be, as a power of two.
FAR = 17.0
#: What says nothing of a line by itself.
ONLY_IN_PAIRS = ("strongest of section",)
#: Other processors round the last bits of a logarithm or a share otherwise; this many decimals are the same on all.
DECIMALS = 3


class Weights(Struct, frozen=True):
    """Points for each feature, in their order, what they are added to, and the curve from points to probability."""

    start: float
    points: dict[str, float]
    curve: list[tuple[float, float]] = []

    def score(self, features: Columns) -> Array:
        """Add up the points of each line, feature by feature: a matrix product rounds as the processor likes."""
        total = np.full(len(next(iter(features.values()))), self.start)
        for name, column in features.items():
            total += self.points[name] * column
        return np.round(total, 3)

    def least(self, worth: float) -> float:
        """Return the points from which on a line is likelier needed than `worth`."""
        points, likely = zip(*self.curve, strict=True)
        return float(np.interp(worth, likely, points))


def score_lines(lines: Lines) -> Array:
    """Return the points of each line by the weights of this version."""
    return shipped().score(columns(lines)) if len(lines) else np.zeros(0)


@cache
def shipped() -> Weights:
    """Return the weights of this version."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=Weights)


def columns(lines: Lines) -> Columns:
    """Return all columns, in the order in which their points are added up."""
    single = _line(lines) | _place(lines) | _near(lines)
    return {name: column for name, column in single.items() if name not in ONLY_IN_PAIRS} | _pairs(single)


def strength(lines: Lines) -> Array:
    """Return how strongly each line alone says that something failed: kinds of evidence, and one for suspicion."""
    evidence = lines.of_classes(EVIDENCE)
    suspicion = lines.of_classes([name for name in BAD if name not in EVIDENCE]).any(axis=1)
    return np.where(lines.dismissed, 0, evidence.sum(axis=1) + evidence.any(axis=1) + suspicion)


def _line(lines: Lines) -> Columns:
    """Return what each line says, what it looks like, and how often it occurs."""
    count = len(lines)
    alike, alike_before = count_alike(lines.template)
    equal, equal_before = count_alike(lines.exact)
    begin_alike, _ = count_alike(lines.prefix)
    subject, subject_before = count_alike(lines.subject)
    has_subject = lines.subject != 0
    return dict(zip(NAMES, lines.classes.T, strict=True)) | {
        "width": _power(lines.width),
        "indent": np.minimum(lines.indent, DEEPEST),
        "tokens": _power(lines.tokens),
        "blank": lines.width == 0,
        "alike": _power(alike - 1),
        "alike before": _power(alike_before),
        "share alike": _round(alike / count),
        "equal": _power(equal - 1),
        "equal before": _power(equal_before),
        "begin alike": _power(begin_alike - 1),
        "share that begins alike": _round(begin_alike / count),
        "same subject before": np.where(has_subject, _power(subject_before), -1),
        "same subject from here": np.where(has_subject, _power(subject - subject_before - 1), -1),
    }


def _place(lines: Lines) -> Columns:
    """Return where each line stands, from both ends and from the lines that say a command failed."""
    upto = np.cumsum(lines.tokens)
    exits = np.flatnonzero(lines.of_class("exit"))
    numbers = np.arange(len(lines))
    ahead, behind = np.full(len(lines), FAR), np.full(len(lines), FAR)
    if len(exits):
        following = np.searchsorted(exits, numbers)
        before = following < len(exits)
        ahead[before] = _power(upto[exits[following[before]]] - upto[before])
        after = following > 0
        behind[after] = _power(upto[after] - upto[exits[following[after] - 1]])
    return {
        "tokens behind": _power(upto[-1] - upto),
        "share behind": _round(1 - upto / upto[-1]),
        "lines before": _power(numbers),
        "tokens to next exit": ahead,
        "tokens since exit": behind,
        "some exit": np.full(len(lines), len(exits) > 0),
        "behind last exit": numbers > (exits[-1] if len(exits) else len(lines)),
    }


def _near(lines: Lines) -> Columns:
    """Return what the neighbours of each line, its paragraph, its section and its parent say."""
    strong = strength(lines)
    evidence, verdict, blank = strong > 1, lines.of_class("verdict"), lines.width == 0
    blank_before = np.concatenate(([True], blank[:-1]))
    begins_alike = np.concatenate(([False], lines.prefix[1:] == lines.prefix[:-1]))
    around = {name: lines.of_class(name) for name in AROUND} | {"evidence": evidence, "begins alike": begins_alike}
    paragraph, section = _stretches(strong, blank | blank_before), _stretches(strong, lines.of_class("rule"))
    parent = parents(lines.indent, blank)
    shares = _beside(np.array([*around.values()], dtype=np.int64), BESIDE)
    out = _strongest(strong) | {f"mean of {width}": _beside(strong[None], width // 2)[0] for width in MEANS}
    out |= {f"{name} around": share for name, share in zip(around, shares, strict=True)}
    for name, rows in (("evidence", evidence), ("verdict", verdict)):
        out |= {
            f"lines since {name}": _since(rows),
            f"lines until {name}": _since(rows[::-1])[::-1],
            f"{name} before": _power(np.cumsum(rows) - rows),
            f"{name} behind": _power(rows.sum() - np.cumsum(rows)),
        }
    return out | {
        "lines since command": _since(lines.of_class("command")),
        "step of indent": np.clip(steps(lines.indent, lines.indent[:1]), -8, 8),
        "blank before": blank_before,
        "blank behind": np.concatenate((blank[1:], [True])),
        "strongest of paragraph": paragraph[0],
        "lines of paragraph": _power(paragraph[1] - 1),
        "place in paragraph": _power(paragraph[2]),
        "strongest of section": section[0],
        "strength of parent": np.where(parent >= 0, strong[parent], 0),
    }


def _pairs(single: Columns) -> Columns:
    """Return what only says something together, such as a title with evidence in its section."""
    words = single.__getitem__
    evidence = np.logical_or.reduce([words(name) for name in EVIDENCE])
    suspicion = np.logical_or.reduce([words(name) for name in BAD if name not in EVIDENCE])
    dismissed = np.logical_or.reduce([words(name) for name in DISMISSED])
    kinds = np.sum([words(name) for name in EVIDENCE], axis=0)
    real, mute, doubt = evidence & ~dismissed, ~evidence & ~suspicion, suspicion & ~evidence
    late, last = words("share behind") < 0.1, words("tokens behind") < 9
    frequent, unlike = words("alike") >= 3, words("alike") < 1
    evidence_around, verdict_around = words("evidence around") > 0, words("verdict around") > 0
    exception_around, telling_section = words("exception head around") > 0, words("strongest of section") >= 2
    apart = (words("lines since evidence") > 4) & (words("lines until evidence") > 4)
    close = (words("lines since evidence") < 3) | (words("lines until evidence") < 3)
    above, below = words("strongest 1 to 2 before"), words("strongest 1 to 2 behind")
    soon = below + words("strongest 3 to 6 behind")
    return {
        "evidence": real,
        "evidence that is dismissed": evidence & dismissed,
        "suspicion": doubt & ~dismissed,
        "suspicion that is dismissed": doubt & dismissed,
        "kinds of evidence beyond the first": np.maximum(kinds - 1, 0) * ~dismissed,
        "verdict in the last tenth": words("verdict") & late,
        "evidence in the last tenth": real & late,
        "error message in the last tenth": words("error says") & late,
        "exit in the last tenth": words("exit") & late,
        "summary in the last tenth": words("summary") & late,
        "no word of failure, in the last tenth": mute & late,
        "verdict in the last 500 tokens": words("verdict") & last,
        "frame beside an exception": words("frame") & exception_around,
        "frame far from evidence": words("frame") & apart,
        "title with evidence in its section": words("title") & telling_section,
        "summary that speaks of failure": words("summary") & suspicion,
        "warning without evidence": words("warning") & ~evidence,
        "warning with evidence": words("warning") & evidence,
        "first evidence": real & (words("evidence before") < 1),
        "last evidence": real & (words("evidence behind") < 1),
        "evidence that many lines repeat": real & frequent,
        "evidence like no other line": real & unlike,
        "evidence behind the last exit": words("behind last exit") & real,
        "evidence just above an exit": real & (words("tokens to next exit") < 9),
        "evidence that something passed": words("passed") & real,
        "no word of failure, like no other line": mute & unlike,
        "no word of failure, like no other line, beside evidence": mute & unlike & evidence_around,
        "no word of failure, repeated by many": mute & frequent,
        "no word of failure, just below evidence": mute & (above >= 2),
        "no word of failure, just above evidence": mute & (below >= 2),
        "no word of failure, just above an exit": mute & (words("tokens to next exit") < 7),
        "place in a file beside evidence": words("place") & evidence_around,
        "place in a file without evidence": words("place") & ~evidence_around,
        "expected beside a verdict or an exception": words("expected") & (verdict_around | exception_around),
        "difference near evidence": words("diff") & close,
        "command with evidence behind it": words("command") & (soon + words("strongest 7 to 15 behind") >= 2),
        "test name beside a verdict": words("test name") & verdict_around,
    }


def parents(indent: Array, blank: Array) -> Array:
    """Return the last line before each that is indented less; -1 where there is none."""
    numbers, depth = np.arange(len(indent)), np.minimum(indent, DEEPEST)
    parent = np.full(len(indent), -1)
    for level in np.bincount(depth[~blank]).nonzero()[0][:-1]:
        last = np.maximum.accumulate(np.where((depth == level) & ~blank, numbers, -1))
        deeper = depth > level
        parent[deeper] = np.maximum(parent[deeper], last[deeper])
    return parent


def _power(values: Array) -> Array:
    """Return numbers as powers of two: 0, 1, 2 and 3 for none, one, three and seven; none is above FAR."""
    return np.minimum(FAR, _round(np.log2(1 + values)))


def _round(values: Array) -> Array:
    return np.round(values, DECIMALS)


def _stretches(strong: Array, opens: Array) -> tuple[Array, Array, Array]:
    """Return for each line the strongest of its stretch, how long that is, and how far into it the line stands."""
    starts = np.flatnonzero(np.concatenate(([True], opens[1:])))
    sizes = steps(starts, after=[len(strong)])
    best = np.maximum.reduceat(strong, starts)
    return np.repeat(best, sizes), np.repeat(sizes, sizes), np.arange(len(strong)) - np.repeat(starts, sizes)


def _strongest(strong: Array) -> Columns:
    """Return the strongest line in each of the stretches before and behind each line."""
    count, reach = len(strong), STRETCHES[-1][1]
    padded = np.zeros(count + 2 * reach, dtype=np.int8)
    padded[reach : reach + count] = strong
    before, behind = {}, {}
    for near, far in STRETCHES:
        best = np.lib.stride_tricks.sliding_window_view(padded, far - near + 1).max(axis=1)
        before[f"strongest {near} to {far} before"] = best[reach - far : reach - far + count]
        behind[f"strongest {near} to {far} behind"] = best[reach + near : reach + near + count]
    return before | behind


def _beside(rows: Array, reach: int) -> Array:
    """Return the mean of each row of numbers over `reach` lines on either side of each line."""
    upto = np.concatenate((np.zeros((len(rows), 1), np.int64), rows.cumsum(axis=1)), axis=1)
    numbers = np.arange(rows.shape[1])
    low, high = np.maximum(0, numbers - reach), np.minimum(rows.shape[1], numbers + reach + 1)
    return _round((upto[:, high] - upto[:, low]) / (high - low))


def _since(rows: Array) -> Array:
    """Return the distance of each line from the last of these rows above it; FAR where there is none."""
    numbers = np.arange(len(rows))
    return _power(numbers - np.maximum.accumulate(np.where(rows, numbers, -(1 << 17))))
