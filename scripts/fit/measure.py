"""How many logs keep every needed line: the choice alone, with estimated costs, projects counting the same."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from spillover.select.choose import candidates, choose, widest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.fit.logs import Log

    Array = Any  # of numpy; its own types say little about what is in one

BUDGETS = (1_000, 2_000, 4_000, 8_000)
#: What the notice takes of a budget, about.
NOTICE = 80


def recall(logs: Sequence[Log], points: Callable[[int], tuple[Array, Array]]) -> dict[str, list[float]]:
    """Return for each corpus the share of logs that keep every needle at each budget, of those that do not fit it."""
    kept: dict[tuple[str, int], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for number, log in enumerate(logs):
        those = candidates(log.lines, *points(number), log.rare)
        for budget in BUDGETS:
            if log.tokens > budget:
                shown = choose(those, budget - NOTICE) & (log.lines.tokens <= widest(budget - NOTICE))
                kept[log.corpus, budget][log.project].append(_keeps_all(log, shown))
    return {
        corpus: [_mean([_mean(each) for each in kept[corpus, budget].values()]) for budget in BUDGETS]
        for corpus in sorted({corpus for corpus, _ in kept})
    }


def _keeps_all(log: Log, shown: Array) -> bool:
    return all(
        (all if needle.every else any)(any(shown[row] for row in rows) for rows in needle.rows)
        for needle in log.needles
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
