"""How much of what matters survives a cut: the needles of a labelled corpus in our clips, beside the cuts the field ships.

    python bench/recall.py --corpus ../shared/corpus            # every corpus there, exact tokens
    python bench/recall.py --corpus … --tokens estimate          # the same without a tokenizer

The corpus has its own judge, `recall.py`, and the naive cuts in `naive.py`; both are run as they are. Needs what they need:
pip install rs-bpe zstandard 'spillover[tokens]'.
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

from spillover import Clipper, DirStore, Limits

NAIVE = ("tail", "ends", "grep_tail")
_clippers: dict[tuple[str, int], Clipper] = {}
FOLDER = tempfile.mkdtemp(prefix="recall-")


def preview(log: str, tokens: int) -> str:
    """What the default clipper lets through at so many tokens, exactly counted."""
    return _preview(log, tokens, "o200k_base")


def estimated(log: str, tokens: int) -> str:
    """The same with the estimate, as without the extra."""
    return _preview(log, tokens, "estimate")


def _preview(log: str, tokens: int, counter: str) -> str:
    key = (counter, tokens)
    if key not in _clippers:
        _clippers[key] = Clipper(Limits(tokens=tokens), tokens=counter, store=DirStore(FOLDER))
    return _clippers[key].clip(log).text


def main() -> int:
    """The corpus's own judge on our clips and on the naive cuts, then one table of all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", type=Path, default=Path("../shared/corpus"), help="a folder with recall.py and *.jsonl.zst"
    )
    parser.add_argument("--only", action="append", default=[], help="only this corpus; may be repeated")
    parser.add_argument("--tokens", choices=("exact", "estimate"), default="exact")
    parser.add_argument("--naive", action="store_true", help="run the naive cuts too, for some minutes more")
    parser.add_argument("--json", type=Path, help="write the figures")
    arguments = parser.parse_args()
    if not (arguments.corpus / "recall.py").exists():
        print(f"{arguments.corpus} has no recall.py; --corpus names a folder that has one.", file=sys.stderr)
        return 2
    sys.path[:0] = [str(arguments.corpus), str(Path(__file__).parent.parent)]
    ours = "preview" if arguments.tokens == "exact" else "estimated"
    chosen = {"spillover": f"bench.recall:{ours}"}
    if arguments.naive:
        chosen |= {name: f"naive:{name}" for name in NAIVE}
    figures = {name: _judged(function, arguments.only) for name, function in chosen.items()}
    print(f"{'corpus@budget':<22}" + "".join(f"{name:>16}" for name in figures) + f"{'over':>6}")
    for cell, found in figures["spillover"].items():
        row = "".join(f"{each[cell]['all']:>9.1%} {each[cell]['any']:>6.1%}" for each in figures.values())
        print(f"{cell:<22}{row}{found['over']:>6}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    return 0


def _judged(function: str, only: list[str]) -> dict[str, dict[str, float]]:
    judge = importlib.import_module("recall")
    found = Path(FOLDER) / "figures.json"
    sys.argv = ["recall.py", function, "--json", str(found), *(word for name in only for word in ("--corpus", name))]
    with contextlib.redirect_stdout(io.StringIO()):
        judge.main()
    figures: dict[str, dict[str, float]] = json.loads(found.read_text())
    return figures


if __name__ == "__main__":
    sys.exit(main())
