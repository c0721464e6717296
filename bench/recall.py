"""How much of what matters survives a cut: the needed lines of labelled logs in our clips, beside the cuts the field ships.

    python bench/recall.py --corpus FOLDER                                        # every corpus there, exact tokens
    python bench/recall.py --corpus FOLDER --tokens estimate                      # the same without a tokenizer
    python bench/recall.py --corpus FOLDER --naive --budgets 2000 --table markdown   # the table in README.md
    python bench/recall.py --corpus FOLDER --worth default                        # what is shown when limits are a ceiling

The corpus has its own judge, `recall.py`, and the naive cuts in `naive.py`; both are run as they are. They need
pip install rs-bpe zstandard, and exact tokens need the extra `tokens`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import sys
import tempfile
from pathlib import Path

from spillover import Clipper, DirStore, Limits, Redact, pipeline
from spillover.settings.limits import DEFAULT_WORTH

#: The cuts of `naive.py`, and what a reader calls them.
NAIVE = {"head": "head", "tail": "tail", "ends": "head + tail", "grep_tail": "grep + tail"}
#: What the corpora are, for a reader who does not know them.
TITLES = {
    "logchunks": "Travis CI builds, 39 projects (LogChunks)",
    "swebench_eval": "test runs, 12 projects (SWE-bench)",
    "cidiff": "CI builds, 16 projects (CiDiff)",
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
OURS = "spillover"
_clippers: dict[tuple[str, int], Clipper] = {}
FOLDER = tempfile.mkdtemp(prefix="recall-")
_redact: list[Redact] = ["off"]
_worth: list[float] = [0]

Figures = dict[str, dict[str, float]]


def preview(log: str, tokens: int, meta: dict[str, str]) -> str:
    """Return what the default clipper lets through at so many tokens, exactly counted, told what a host knows of the call.

    The limits are filled (`worth=0`) unless --worth says otherwise; bench/thrift.py has the curve.
    """
    return _preview(log, tokens, "o200k_base", meta)


def estimated(log: str, tokens: int, meta: dict[str, str]) -> str:
    """Return the same with the estimate, as without the extra."""
    return _preview(log, tokens, "estimate", meta)


def untold(log: str, tokens: int) -> str:
    """Return the same, exactly counted, of an output of which nothing is known but its bytes."""
    return _preview(log, tokens, "o200k_base", {})


def _preview(log: str, tokens: int, counter: str, meta: dict[str, str]) -> str:
    """Clip a log as the hooks do: the tool by its name, the command as the command, the words of the call as the query."""
    key = (counter, tokens)
    if key not in _clippers:
        _clippers[key] = Clipper(
            Limits(tokens=tokens), tokenizer=counter, store=DirStore(FOLDER), redact=_redact[0], worth=_worth[0]
        )
    choices = _clippers[key].for_tool(meta.get("tool")).asking(meta.get("description"))
    return pipeline.clip(log, choices, command=meta.get("command")).text


def main() -> int:
    """Run the corpus's own judge on our clips and on the naive cuts, and print one table of all of them."""
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
    parser.add_argument("--naive", action="store_true", help="measure the naive cuts too, which takes minutes more")
    parser.add_argument("--table", choices=("plain", "markdown"), default="plain")
    parser.add_argument("--json", type=Path, help="write the figures")
    arguments = parser.parse_args()
    _redact[0], _worth[0] = arguments.redact, arguments.worth
    if not (arguments.corpus / "recall.py").exists():
        print(f"{arguments.corpus} has no recall.py; --corpus names a folder that has one.", file=sys.stderr)
        return 2
    sys.path[:0] = [str(arguments.corpus), str(Path(__file__).parent.parent)]
    ours = "untold" if arguments.untold else "preview" if arguments.tokens == "exact" else "estimated"
    cuts = {OURS: f"bench.recall:{ours}"}
    if arguments.naive:
        cuts |= {title: f"naive:{name}" for name, title in NAIVE.items()}
    figures = {name: _judge(function, arguments.only, arguments.budgets) for name, function in cuts.items()}
    print((markdown if arguments.table == "markdown" else plain)(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    return 0


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
    for cell, found in figures[OURS].items():
        row = "".join(f"{each[cell]['all']:>9.1%} {each[cell]['any']:>6.1%}" for each in figures.values())
        told = " *" if cell.startswith(TOLD) else ""
        rows.append(f"{cell + told:<22}{row}{found['over']:>6}{found.get('spent', 0):>7.0%}")
    return "\n".join(rows) + "\n" + SAID


def markdown(figures: dict[str, Figures]) -> str:
    """Return a table for a page: the share of logs with every needed line kept, ours last, the best of a row in bold."""
    names = [*(name for name in figures if name != OURS), OURS]
    budgets = list(dict.fromkeys(cell.partition("@")[2] for cell in figures[OURS]))
    rows = ["| | logs | " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) + 1)]
    order = [*TITLES, *(cell.partition("@")[0] for cell in figures[OURS])]
    for cell in sorted(figures[OURS], key=lambda cell: (order.index(cell.partition("@")[0]), cell)):
        corpus, _, budget = cell.partition("@")
        title = TITLES.get(corpus, corpus) + (f", {int(budget):,} tokens" if len(budgets) > 1 else "")
        shares = [round(100 * figures[name][cell]["all"]) for name in names]
        best = [f"**{share}**" if share == max(shares) else str(share) for share in shares]
        rows.append(f"| {title} | {figures[OURS][cell]['logs']} | " + " | ".join(best) + " |")
    return "\n".join(rows)


def _judge(function: str, only: list[str], budgets: str) -> Figures:
    judge = importlib.import_module("recall")
    sys.modules["bench.recall"] = sys.modules[__name__]  # so that it calls the functions of this run, with its choices
    found = Path(FOLDER) / "figures.json"
    sys.argv = ["recall.py", function, "--json", str(found), *(word for name in only for word in ("--corpus", name))]
    sys.argv += ["--budgets", budgets] if budgets else []
    with contextlib.redirect_stdout(io.StringIO()):
        judge.main()
    figures: Figures = json.loads(found.read_text())
    return figures


if __name__ == "__main__":
    sys.exit(main())
