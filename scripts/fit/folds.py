"""Which logs are left out together: whole projects, so that none is judged by what was learned from it."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDS = 5
#: One project in so many of each corpus is held out from every choice of a feature, a constant or a penalty.
HELD_OUT = 5


def assign(projects: Sequence[str], folds: int = FOLDS) -> list[int]:
    """Return the fold of each log, given its project, CORPUS/GROUP: the largest first, to the fold with the fewest of its corpus."""
    sizes = Counter(projects)
    sums: Counter[tuple[str, int]] = Counter()
    fold_of: dict[str, int] = {}
    for project in sorted(sizes, key=lambda project: (-sizes[project], project)):
        corpus = project.partition("/")[0]
        fold_of[project] = min(range(folds), key=lambda fold: (sums[corpus, fold], fold))
        sums[corpus, fold_of[project]] += sizes[project]
    return [fold_of[project] for project in projects]


def held_out(projects: Iterable[str]) -> set[str]:
    """Return the projects of each corpus that no choice has seen: those whose names have the smallest SHA-256, a fifth of them."""
    corpora: defaultdict[str, list[str]] = defaultdict(list)
    for project in sorted(set(projects), key=lambda project: hashlib.sha256(project.encode()).digest()):
        corpora[project.partition("/")[0]].append(project)
    return {project for names in corpora.values() for project in names[: -(-len(names) // HELD_OUT)]}
