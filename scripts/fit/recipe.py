"""From logs to weights: rows, the loss, its one minimum, and what points mean.

The loss is the weighted log loss of telling needed lines from others, and PENALTY times the sum of squares of the weights of
standardised features. It has one minimum, which Newton's method finds in a few steps: nothing is drawn by chance.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.fit import calibrate, fingerprint, folds

from spillover.kinds.log.choose import rank
from spillover.kinds.log.score import Weights, columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scripts.fit.logs import Log

    Array = Any  # of numpy; its own types say little about what is in one

#: Of a log, so many lines at most that are not needed. With more, a fit takes longer and says the same.
OTHERS = 600
#: How much of a log's weight its needed lines have together. With more, long blocks around a failure; with less, its strongest lines.
NEEDED_SHARE = 0.5
#: Corpora of many projects count for more than those of few: by this power of the number.
CORPUS_POWER = 0.5
#: What a weight costs. With more, features that only some projects have say less.
PENALTY = 1_000.0
#: Steps end when no weight moves by more than this, far below the last decimal that is written.
PRECISION = 1e-9
MOST_STEPS = 50
#: So many decimals of a weight are written: other processors round the last bits of sums otherwise.
DECIMALS = 3


class Recipe:
    """Fits on any of the folds. What several fits need is made once."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs
        self.fold = folds.assign([log.project for log in logs])
        self.names = list(columns(logs[0].lines))
        self._features = [_matrix(log) for log in logs]
        self._rows = [_sample(log) for log in logs]
        self._weight = _weigh(logs, self._rows)
        self._without: dict[frozenset[int], Weights] = {}

    def weights(self, apart: Collection[int] = ()) -> Weights:
        """Return weights fitted on all folds but some, calibrated on each log by what was learned from the others; with all folds, what is shipped."""
        fitted = self.without(apart)
        return Weights(fitted.start, fitted.points, self.curve(apart))

    def curve(self, apart: Collection[int] = ()) -> list[tuple[float, float]]:
        """Return how likely a line is needed by its points, told by fits that know nothing of its project."""
        numbers = [number for number, fold in enumerate(self.fold) if fold not in apart]
        sizes = [len(self.logs[number].lines) for number in numbers]
        shares = np.array(_shares([self.logs[number] for number in numbers])) / sizes
        return calibrate.curve(
            np.concatenate([rank(self.logs[number].lines, self.points_left_out(number, apart)) for number in numbers]),
            np.concatenate([self.logs[number].needed for number in numbers]),
            np.repeat(shares, sizes),
        )

    def points_left_out(self, number: int, apart: Collection[int] = ()) -> Array:
        """Return the points of the lines of a log by weights that know nothing of its project, nor of some folds."""
        return self.points(self.without((*apart, self.fold[number])), number)

    def points(self, weights: Weights, number: int) -> Array:
        """Return the points of the lines of a log."""
        return weights.start + self._features[number] @ np.array([*weights.points.values()])

    def losses(self) -> dict[str, tuple[float, float]]:
        """Return for each corpus the loss of a row with projects left out, of those that choices may see and of those held out."""
        apart = folds.held_out(log.project for log in self.logs)
        visible = [number for number, log in enumerate(self.logs) if log.project not in apart]
        once = self.fit(visible)
        seen = Recipe([self.logs[number] for number in visible])
        inside = {self.logs[number].name: seen.points_left_out(nth) for nth, number in enumerate(visible)}
        sums: dict[tuple[str, bool], list[float]] = {}
        for number, log in enumerate(self.logs):
            held = log.project in apart
            points = (self.points(once, number) if held else inside[log.name])[self._rows[number]]
            sign = np.where(log.needed[self._rows[number]], -1.0, 1.0)
            entry = sums.setdefault((log.corpus, held), [0.0, 0.0])
            entry[0] += float(np.sum(self._weight[number] * np.logaddexp(0, sign * points)))
            entry[1] += float(np.sum(self._weight[number]))
        shares = {key: loss / weight for key, (loss, weight) in sums.items()}
        return {
            log.corpus: (shares[log.corpus, False], shares.get((log.corpus, True), float("nan"))) for log in self.logs
        }

    def without(self, left_out: Collection[int]) -> Weights:
        """Return the weights fitted on all folds but some."""
        key = frozenset(left_out)
        if key not in self._without:
            some = [number for number, fold in enumerate(self.fold) if fold not in key]
            self._without[key] = self.fit(some)
        return self._without[key]

    def fit(self, numbers: Sequence[int], penalty: float = PENALTY) -> Weights:
        """Return the weights that some logs ask for."""
        features = np.concatenate([self._features[number][self._rows[number]] for number in numbers])
        needed = np.concatenate([self.logs[number].needed[self._rows[number]] for number in numbers])
        weight = np.concatenate([self._weight[number] for number in numbers])
        start, points = minimise(features, needed, weight * (len(weight) / weight.sum()), penalty)
        return Weights(start, dict(zip(self.names, points, strict=True)))


def minimise(features: Array, needed: Array, weight: Array, penalty: float) -> tuple[float, list[float]]:
    """Return the start and the points of each feature at the minimum of the loss, rounded."""
    mean = np.average(features, axis=0, weights=weight)
    scale = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weight))
    scale[scale < 1e-6] = np.inf  # the same on every line: its points are 0
    rows = np.column_stack([(features - mean) / scale, np.ones(len(features))])
    ridge = np.full(rows.shape[1], 2 * penalty)
    ridge[-1] = 1e-6
    theta = np.zeros(rows.shape[1])
    half = rows.astype(np.float32)  # the curvature only says how far to walk; where the slope is 0 is told by `rows`
    for _ in range(MOST_STEPS):
        likely = 1 / (1 + np.exp(-(rows @ theta)))
        slope = (weight * (likely - needed)) @ rows + ridge * theta
        steepness = (weight * likely * (1 - likely)).astype(np.float32)
        step = np.linalg.solve((half.T * steepness) @ half + np.diag(ridge), slope)
        theta -= step
        if np.abs(step).max() < PRECISION:
            break
    points = np.round(theta[:-1] / scale, DECIMALS) + 0.0
    start = theta[-1] - float(np.sum(theta[:-1] * mean / scale))
    return round(start, DECIMALS), points.tolist()


def text(weights: Weights, logs: Sequence[Log]) -> str:
    """Return the file: the points of each feature, the largest first, a feature to a line."""
    rows = sorted(weights.points.items(), key=lambda row: (-row[1], row[0]))
    points = ",\n  ".join(f"{json.dumps(name)}: {value:+}".replace("+", "") for name, value in rows)
    made_of = {"logs": fingerprint.of_logs(logs), "features": fingerprint.of_features()}
    curve = ", ".join(json.dumps(pair) for pair in weights.curve)
    return (
        f'{{\n"start": {weights.start},\n"points": {{\n  {points}\n}},\n'
        f'"curve": [{curve}],\n"made of": {json.dumps(made_of)}\n}}\n'
    )


def _matrix(log: Log) -> Array:
    return np.column_stack([np.asarray(column, np.float32) for column in columns(log.lines).values()])


def _sample(log: Log) -> Array:
    """Return the rows of a log that are fitted on: what is needed, and evenly spread ones of the rest."""
    others = np.flatnonzero(~log.needed)
    if len(others) > OTHERS:
        others = others[np.arange(OTHERS) * len(others) // OTHERS]
    return np.sort(np.concatenate((np.flatnonzero(log.needed), others)))


def _shares(logs: Sequence[Log]) -> list[float]:
    """Return how much each log counts: projects of a corpus count the same, and so do the logs of a project."""
    sizes = Counter(log.project for log in logs)
    projects = Counter(log.corpus for log in {log.project: log for log in logs}.values())
    return [projects[log.corpus] ** (CORPUS_POWER - 1) / sizes[log.project] for log in logs]


def _weigh(logs: Sequence[Log], rows: Sequence[Array]) -> list[Array]:
    """Return the weight of each sampled row: its share of what its log counts."""
    out = []
    for log, share, here in zip(logs, _shares(logs), rows, strict=True):
        needed = log.needed[here]
        weight = np.where(needed, NEEDED_SHARE / max(1, needed.sum()), (1 - NEEDED_SHARE) / max(1, (~needed).sum()))
        out.append(weight * share)
    scale = sum(map(len, out)) / sum(float(each.sum()) for each in out)  # the mean weight is 1
    return [each * scale for each in out]
