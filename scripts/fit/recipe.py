"""All of it, from logs to weights: rows, folds, the first table, the second on points out of fold, the calibration."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from scripts.fit import calibrate, fingerprint, folds, trees

from spillover.select.features import in_context, own
from spillover.select.score import add_up

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from scripts.fit.logs import Log

    from spillover.select.features import Columns

    Array = Any  # of numpy; its own types say little about what is in one

#: How many trees each table has.
OWN_TREES, CONTEXT_TREES = 90, 107
#: Of a log, so many lines at most that are not needed.
OTHERS = 1_000
#: How much of a log's weight its needed lines have together. With little, the trees learn to tell them from the lines that
#: only look like it, which is what a small budget asks for.
NEEDED_SHARE = 0.2
#: Corpora of many projects count for more than those of few: by this power of the number.
CORPUS_POWER = 0.5
SEED = 10


@dataclass(frozen=True, slots=True)
class Weights:
    """Both tables, and what their points mean."""

    own: Sequence[Any]
    context: Sequence[Any]
    calibration: Sequence[Sequence[float]] = ()
    made_of: Mapping[str, object] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file: a tree or a pair to a line, and on the last one what they were made of."""
        tables = {"own": self.own, "context": self.context, "calibration": self.calibration}
        parts = [f'"{name}": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n]" for name, rows in tables.items()]
        return "{\n" + ",\n".join([*parts, f'"made of": {json.dumps(self.made_of)}']) + "\n}\n"


def settings() -> dict[str, object]:
    """Return all that a fit is told, but for the logs."""
    numbers = {"trees": (OWN_TREES, CONTEXT_TREES), "others": OTHERS, "needed": NEEDED_SHARE, "power": CORPUS_POWER}
    return {
        **trees.SETTINGS,
        "in context": trees.IN_CONTEXT,
        **numbers,
        "rows": SEED,
        "folds": folds.FOLDS,
        "groups": calibrate.GROUPS,
    }


class Recipe:
    """Fits on any of the folds. What several fits need is made once."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs
        self.fold = folds.assign(logs)
        self._alone = [own(log.lines) for log in logs]
        self._rows = [_sample(number, log) for number, log in enumerate(logs)]
        self._weight = _weigh(logs, self._rows)
        self._first: dict[frozenset[int], list[Any]] = {}
        self._left_out: list[tuple[Array, Array]] = []

    def weights(self) -> Weights:
        """Return what is shipped: fitted on all logs, calibrated on each by what was learned from the others."""
        everything = self.without(())
        size = [len(log.lines) for log in self.logs]
        calibration = calibrate.curve(
            np.concatenate([self.points_left_out(number)[1] for number in range(len(self.logs))]),
            np.concatenate([log.needed for log in self.logs]),
            np.repeat(np.array(_shares(self.logs)) / size, size),
        )
        made_of = {
            "logs": fingerprint.of_logs(self.logs),
            "lightgbm": version("lightgbm"),
            "settings": fingerprint.of_settings(settings()),
            "features": fingerprint.of_features(),
        }
        return Weights(everything.own, everything.context, calibration, made_of)

    def points_left_out(self, number: int) -> tuple[Array, Array]:
        """Return the points of the lines of a log, by weights that know nothing of its project."""
        if not self._left_out:
            outside = [self.without((fold,)) for fold in range(max(self.fold) + 1)]
            self._left_out = [self.points(outside[fold], log) for log, fold in enumerate(self.fold)]
        return self._left_out[number]

    def without(self, left_out: Collection[int]) -> Weights:
        """Return the weights fitted on all folds but some."""
        first = self._own_trees(frozenset(left_out))
        context, needed, weight = [], [], []
        for number, fold in enumerate(self.fold):
            if fold not in left_out:
                # The second table learns from points that the first gives to logs it has not seen.
                points = add_up(self._own_trees(frozenset((*left_out, fold))), self._alone[number])
                columns = in_context(self.logs[number].lines, self._alone[number], points)
                context.append(_stack(columns, self._rows[number]))
                needed.append(self.logs[number].needed[self._rows[number]])
                weight.append(self._weight[number])
        names = tuple(columns)
        second = trees.fit(
            names,
            np.concatenate(context),
            np.concatenate(needed),
            np.concatenate(weight),
            CONTEXT_TREES,
            trees.SETTINGS | trees.IN_CONTEXT,
        )
        return Weights(first, second)

    def points(self, weights: Weights, number: int) -> tuple[Array, Array]:
        """Return the points of the lines of a log: by themselves, and in context."""
        alone = self._alone[number]
        first = add_up(weights.own, alone)
        return first, add_up(weights.context, in_context(self.logs[number].lines, alone, first))

    def _own_trees(self, left_out: frozenset[int]) -> list[Any]:
        if left_out not in self._first:
            used = [number for number, fold in enumerate(self.fold) if fold not in left_out]
            rows = np.concatenate([_stack(self._alone[number], self._rows[number]) for number in used])
            needed = np.concatenate([self.logs[number].needed[self._rows[number]] for number in used])
            weight = np.concatenate([self._weight[number] for number in used])
            self._first[left_out] = trees.fit(tuple(self._alone[0]), rows, needed, weight, OWN_TREES)
        return self._first[left_out]


def _stack(columns: Columns, rows: Array) -> Array:
    return np.column_stack([column[rows] for column in columns.values()])


def _sample(number: int, log: Log) -> Array:
    """Return the rows of a log that are fitted on: what is needed, and some of the rest."""
    others = np.flatnonzero(~log.needed)
    if len(others) > OTHERS:
        others = np.random.default_rng((SEED, number)).choice(others, OTHERS, replace=False)
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
