"""How much of what matters survives a cut: the needed lines of labelled logs in our clips, beside the cuts the field ships.

    python bench/recall.py --corpus FOLDER                                        # every corpus there, exact tokens
    python bench/recall.py --corpus FOLDER --tokens estimate                      # the same without a tokenizer
    python bench/recall.py --corpus FOLDER --naive --budgets 2000 --table markdown   # the table in README.md
    python bench/recall.py --corpus FOLDER --left-out                             # weights that know nothing of a log's project
    python bench/recall.py --corpus FOLDER --worth default                        # what is shown when limits are a ceiling
    python bench/recall.py --corpus FOLDER --json now.json --beside before.json   # beside figures that --json wrote earlier

The corpus has its own judge, `recall.py`, and the naive cuts in `naive.py`; both are used as they are. They need
pip install rs-bpe zstandard, and exact tokens need the extra `tokens`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts.fit import folds, logs
from scripts.fit.recipe import Recipe, text

from spillover import Clipper, DirStore, Limits, pipeline
from spillover.kinds.log import score
from spillover.settings.limits import DEFAULT_WORTH
from spillover.types import Redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The cuts of `naive.py`, and what a reader calls them.
NAIVE = {"head": "head", "tail": "tail", "ends": "head + tail", "grep_tail": "grep + tail"}
#: What the corpora are, for a reader who does not know them.
TITLES = {
    "logchunks": "Travis CI builds, 39 projects (LogChunks)",
    "swebench_eval": "test runs, 12 projects (SWE-bench)",
    "cidiff": "CI builds, 16 projects (CiDiff)",
    "bugswarm": "failing builds and tests (BugSwarm)",
    "treeherder": "Firefox CI, a million tokens each",
    "agent_bash": "shell output of coding agents",
    "agent_grep": "searches of coding agents",
    "agent_read": "files read by coding agents",
    "agent_task": "reports of sub-agents",
    "agent_mcp": "answers of MCP servers",
    "axtree": "accessibility trees of web pages",
    "traj_mini": "short listings and test runs",
}
#: The corpora that know what the caller knew: the tool, the command, the words of the call.
TOLD = ("agent_", "axtree")
SAID = "* told what a host knows of the call: the tool, the command, its words; with --untold, nothing"
OURS, LEFT_OUT = "spillover", "left out"
#: The corpora that --left-out measures, and their budgets: build logs and test runs. Only these count in the mean.
LOGS, LOG_BUDGETS = (*logs.CORPORA, "bugswarm"), (1_000, 2_000, 4_000)
ALSO_LOGS = "treeherder"
#: Draws of a bootstrap over projects, and the shares of them that are below and above what is printed.
DRAWS, BELOW, ABOVE = 4_000, 5, 95

Array = Any  # of numpy; its own types say little about what is in one
Cut = Callable[[dict[str, Any], int], str]  # a record and a budget
Figures = dict[str, dict[str, Any]]  # by corpus@budget


class Clips:
    """Clips a record as the hooks do: the tool by its name, the command as the command, the words of the call as the query."""

    def __init__(self, folder: Path, tokens: str, redact: Redact, worth: float, *, told: bool) -> None:
        self._clippers: dict[int, Clipper] = {}
        self._store = DirStore(folder)
        self._told = told
        self._tokenizer = "o200k_base" if tokens == "exact" else "estimate"
        self._redact: Redact = redact
        self._worth = worth

    def __call__(self, record: dict[str, Any], tokens: int) -> str:
        """Return what the default clipper lets through at so many tokens."""
        if tokens not in self._clippers:
            self._clippers[tokens] = Clipper(
                Limits(tokens=tokens),
                tokenizer=self._tokenizer,
                store=self._store,
                redact=self._redact,
                worth=self._worth,
            )
        meta = record.get("meta", {}) if self._told else {}
        call = self._clippers[tokens].call(
            meta.get("tool"), command=meta.get("command") or "", query=meta.get("description")
        )
        clip = pipeline.clip(record["log"], call)
        shown: str = clip.text
        if clip.outcome == "lost":  # its notice has other words, and other room
            sys.exit(f"{record['id']} could not be stored: {shown[:300]}")
        return shown


class LeftOut:
    """Clips a record with weights that were fitted without its project; one of a corpus in no fit, with those that are shipped."""

    def __init__(self, clips: Cut, corpus: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weights-")
        recipe = Recipe(logs.read(corpus))
        self._clips = clips
        self._fold = {log.name: fold for log, fold in zip(recipe.logs, recipe.fold, strict=True)}
        self._shipped = score.WEIGHTS
        self._weights = [Path(self._folder.name, f"without {fold}.json") for fold in range(folds.FOLDS)]
        for fold, path in enumerate(self._weights):
            path.write_text(text(recipe.weights([fold]), recipe.logs), encoding="utf-8")

    def __call__(self, record: dict[str, Any], tokens: int) -> str:
        """Return what a clipper with such weights lets through."""
        fold = self._fold.get(record["id"])
        score.WEIGHTS = self._shipped if fold is None else self._weights[fold]
        score.shipped.cache_clear()
        try:
            return self._clips(record, tokens)
        finally:
            score.WEIGHTS = self._shipped
            score.shipped.cache_clear()


def main() -> int:
    """Measure our clips, and the naive cuts if asked for, and print one table of all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", type=Path, default=Path("../shared/corpus"), help="a folder with recall.py and *.jsonl.zst"
    )
    parser.add_argument("--only", action="append", default=[], help="only this corpus; may be repeated")
    parser.add_argument("--budgets", default="", help="comma-separated, in tokens (default: the judge's own)")
    parser.add_argument("--tokens", choices=("exact", "estimate"), default="exact")
    parser.add_argument("--redact", choices=("off", "shown", "stored"), default="off", help="with secrets covered")
    parser.add_argument(
        "--worth", type=_share, default=0, help="a number from 0, which fills the limits, to 1; or: default"
    )
    parser.add_argument("--untold", action="store_true", help="give the clipper nothing but the bytes")
    parser.add_argument(
        "--left-out",
        action="store_true",
        help="measure build logs and test runs a second time, by weights that know nothing of their project",
    )
    parser.add_argument("--naive", action="store_true", help="measure the naive cuts too, which takes minutes more")
    parser.add_argument("--table", choices=("plain", "markdown"), default="plain")
    parser.add_argument("--json", type=Path, help="write the figures")
    parser.add_argument(
        "--beside", type=Path, action="append", default=[], help="figures that --json wrote; may be repeated"
    )
    arguments = parser.parse_args()
    if not (arguments.corpus / "recall.py").exists():
        print(f"{arguments.corpus} has no recall.py; --corpus names a folder that has one.", file=sys.stderr)
        return 2
    sys.path[:0] = [str(arguments.corpus)]
    judge = importlib.import_module("recall")
    only = arguments.only or ([*LOGS, ALSO_LOGS] if arguments.left_out else [])
    budgets = [int(word) for word in arguments.budgets.split(",") if word] or (
        [*LOG_BUDGETS] if arguments.left_out else []
    )
    shown = LEFT_OUT if arguments.left_out else OURS
    before = {path.stem: json.loads(path.read_text())[shown] for path in arguments.beside}
    with _folder() as folder:
        ours = Clips(folder, arguments.tokens, arguments.redact, arguments.worth, told=not arguments.untold)
        cuts: dict[str, Cut] = {OURS: ours}
        if arguments.naive:
            naive = importlib.import_module("naive")
            cuts |= {title: _naive(getattr(naive, name)) for name, title in NAIVE.items()}
        if arguments.left_out:
            cuts[LEFT_OUT] = LeftOut(ours, arguments.corpus)
        figures = {name: measure(judge, cut, arguments.corpus, only, budgets) for name, cut in cuts.items()}
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    print((markdown if arguments.table == "markdown" else plain)(before | figures))
    if arguments.left_out:
        print(f"\n{by_choice(figures[LEFT_OUT])}\n\n{means(before | figures)}")
    return 0


def measure(judge: Any, cut: Cut, folder: Path, only: Sequence[str], budgets: Sequence[int]) -> Figures:
    """Return for each corpus and budget what a cut keeps: of all logs, and of each project."""
    figures: Figures = {}
    for path in sorted(path for path in folder.iterdir() if path.name.endswith((".jsonl", ".jsonl.zst"))):
        corpus = path.name.split(".")[0]
        if only and corpus not in only:
            continue
        rows = defaultdict[int, list[tuple[str, bool, bool, int]]](list)
        projects = set[str]()
        for record in judge.records(path):
            projects.add(f"{corpus}/{record['group']}")
            for budget in budgets or judge.BUDGETS.get(corpus, [*LOG_BUDGETS, 8_000]):
                if record["tokens"] <= budget:
                    continue
                text = cut(record, budget)
                used = judge.O200K.count(text)
                kept = judge.score(text, record["needles"]) if used <= budget else (False, False)
                rows[budget].append((record["group"], *kept, used))
        apart = folds.held_out(projects)
        for budget, found in sorted(rows.items()):
            groups = defaultdict[str, list[bool]](list)
            for group, kept, _, _ in found:
                groups[group].append(kept)
            figures[f"{corpus}@{budget}"] = {
                "logs": len(found),
                "all": judge.macro([(group, kept) for group, kept, _, _ in found]),
                "any": judge.macro([(group, some) for group, _, some, _ in found]),
                "over": sum(used > budget for *_, used in found),
                "spent": sum(used for *_, used in found) / budget / len(found),
                "projects": {group: sum(kept) / len(kept) for group, kept in sorted(groups.items())},
                "held out": sorted(group for group in groups if f"{corpus}/{group}" in apart),
            }
    return figures


def _naive(function: Callable[[str, int], str]) -> Cut:
    return lambda record, tokens: function(record["log"], tokens)


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder of the same name whenever a run is alone: clips name it, and a longer name takes tokens."""
    for number in count():
        folder = Path(tempfile.gettempdir(), f"recall-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _share(word: str) -> float:
    try:
        share = DEFAULT_WORTH if word == "default" else float(word)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        message = f"{word!r} is no share; use a number from 0 to 1, or default"
        raise argparse.ArgumentTypeError(message)
    return share


def plain(figures: dict[str, Figures]) -> str:
    """Return a table for a terminal: the share of logs with every needed line kept, and with any; what of the budget was spent."""
    rows = [f"{'corpus@budget':<22}" + "".join(f"{name:>16}" for name in figures) + f"{'over':>6}{'spent':>7}"]
    last = [*figures.values()][-1]
    for cell, found in last.items():
        row = "".join(
            f"{each[cell]['all']:>9.1%} {each[cell].get('any', float('nan')):>6.1%}" if cell in each else f"{'':>16}"
            for each in figures.values()
        )
        told = " *" if cell.startswith(TOLD) else ""
        rows.append(f"{cell + told:<22}{row}{found['over']:>6}{found.get('spent', 0):>7.0%}")
    return "\n".join(rows) + "\n" + SAID


def markdown(figures: dict[str, Figures]) -> str:
    """Return a table for a page: the share of logs with every needed line kept, ours last, the best of a row in bold."""
    names = [
        *(name for name in figures if name not in (OURS, LEFT_OUT)),
        *(name for name in (OURS, LEFT_OUT) if name in figures),
    ]
    ours = figures[names[-1]]
    budgets = list(dict.fromkeys(cell.partition("@")[2] for cell in ours))
    rows = ["| | logs | " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) + 1)]
    order = [*TITLES, *(cell.partition("@")[0] for cell in ours)]
    for cell in sorted(ours, key=lambda cell: (order.index(cell.partition("@")[0]), int(cell.partition("@")[2]))):
        corpus, _, budget = cell.partition("@")
        title = TITLES.get(corpus, corpus) + (f", {int(budget):,} tokens" if len(budgets) > 1 else "")
        shares = [round(100 * figures[name].get(cell, {"all": 0})["all"]) for name in names]
        best = [f"**{share}**" if share == max(shares) else str(share) for share in shares]
        rows.append(f"| {title} | {ours[cell]['logs']} | " + " | ".join(best) + " |")
    return "\n".join(rows)


def by_choice(figures: Figures) -> str:
    """Return a table of the projects that choices may see, and of those that are held out from every choice."""
    rows = [f"{LEFT_OUT:<22}{'visible to choices':>20}{'held out':>12}   projects"]
    for cell, found in figures.items():
        apart = [share for name, share in found["projects"].items() if name in found["held out"]]
        seen = [share for name, share in found["projects"].items() if name not in found["held out"]]
        rows.append(f"{cell:<22}{_mean(seen):>20.1%}{_mean(apart):>12.1%}   {len(seen)} + {len(apart)}")
    return "\n".join(rows)


def means(figures: dict[str, Figures]) -> str:
    """Return the means over budgets, what they are against the others, and a range of each: a bootstrap over projects."""
    ours = figures[LEFT_OUT]
    corpora = [corpus for corpus in LOGS if any(_corpus(cell) == corpus for cell in ours)]
    rows = [
        f"{'mean of budgets, %':<22}{LEFT_OUT:>24}"
        + "".join(f"{f'against {name}':>28}" for name in figures if name != LEFT_OUT)
    ]
    drawn: dict[str, list[Array]] = {name: [] for name in figures}
    for corpus in corpora:
        cells = [cell for cell in ours if _corpus(cell) == corpus]
        row = f"{corpus:<22}"
        for name in [LEFT_OUT, *(name for name in figures if name != LEFT_OUT)]:
            draws = _draws(ours, figures[name] if name != LEFT_OUT else None, cells)
            drawn[name].append(draws)
            row += f"{_range(draws):>{24 if name == LEFT_OUT else 28}}"
        rows.append(row)
    row = f"{'all of these':<22}"
    for name in [LEFT_OUT, *(name for name in figures if name != LEFT_OUT)]:
        row += f"{_range(np.mean(drawn[name], axis=0)):>{24 if name == LEFT_OUT else 28}}"
    return "\n".join([*rows, row])


def _draws(figures: Figures, other: Figures | None, cells: Sequence[str]) -> Array:
    """Return the mean of some cells of one corpus, or of the differences to others: as it is, and for each draw of its projects."""
    names = sorted({name for cell in cells for name in figures[cell]["projects"]})
    dice = np.random.default_rng(0)
    counts = np.vstack([np.ones(len(names)), dice.multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)])
    total = np.zeros(DRAWS + 1)
    for cell in cells:
        shares = figures[cell]["projects"]
        some = np.array([name in shares for name in names])
        here = np.array([shares.get(name, 0.0) for name in names])
        whole = 0.0
        if other is not None and "projects" in other.get(cell, {}):
            here -= np.array([other[cell]["projects"].get(name, 0.0) for name in names])
        elif other is not None:  # only the share of all is known of the others
            whole = other[cell]["all"] if cell in other else float("nan")
        with np.errstate(invalid="ignore"):
            total += counts @ here / (counts @ some) - whole
    return 100 * total / len(cells)


def _range(draws: Array) -> str:
    """Return a mean and what 5 % and 95 % of the draws are below; the mean of all projects comes first."""
    if np.isnan(draws[0]):
        return "-"
    low, high = np.nanpercentile(draws[1:], [BELOW, ABOVE])
    return f"{draws[0]:+.1f} [{low:+.1f}, {high:+.1f}]"


def _corpus(cell: str) -> str:
    return cell.partition("@")[0]


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares) if shares else float("nan")


if __name__ == "__main__":
    sys.exit(main())
