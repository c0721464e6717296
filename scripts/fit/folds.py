"""Which logs are left out together: whole projects, so that none is judged by what was learned from it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.fit.logs import Log

FOLDS = 5


def assign(logs: Sequence[Log], folds: int = FOLDS) -> list[int]:
    """Return the fold of each log: projects are dealt out, the largest first, to the fold with the fewest logs of their corpus."""
    sizes = Counter(log.project for log in logs)
    corpus_of = {log.project: log.corpus for log in logs}
    held: Counter[tuple[str, int]] = Counter()
    fold_of: dict[str, int] = {}
    for project in sorted(sizes, key=lambda project: (-sizes[project], project)):
        corpus = corpus_of[project]
        fold_of[project] = min(range(folds), key=lambda fold: (held[corpus, fold], fold))
        held[corpus, fold_of[project]] += sizes[project]
    return [fold_of[log.project] for log in logs]
