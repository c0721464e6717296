"""Fit the weights on a folder of labelled logs, say how many logs keep every needed line, and write the weights."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.fit import logs, measure
from scripts.fit.recipe import Recipe

from spillover.select.score import WEIGHTS, score


def main(arguments: list[str] | None = None) -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fit", description=__doc__)
    parser.add_argument("corpus", type=Path, help="a folder with NAME.jsonl.zst or NAME.jsonl files")
    parser.add_argument("--only", action="append", metavar="NAME", help="fit on this corpus; may be repeated")
    parser.add_argument(
        "--out", type=Path, default=Path(WEIGHTS), help="the file to write (default: the one that is shipped)"
    )
    parser.add_argument(
        "--folds",
        action="store_true",
        help="measure the recipe with whole projects left out, and the shipped weights; write nothing",
    )
    parser.add_argument(
        "--check", action="store_true", help="fit, and compare with the file instead of writing it; 1 if they differ"
    )
    options = parser.parse_args(arguments)
    try:
        found = logs.read(options.corpus, options.only or logs.CORPORA)
    except FileNotFoundError as error:
        print(f"fit: {error}", file=sys.stderr)
        return 2
    recipe = Recipe(found)
    print(f"{len(found)} logs of {len({log.project for log in found})} projects")
    _show("left out", measure.recall(found, recipe.points_left_out))
    if options.folds:
        _show("shipped", measure.recall(found, lambda number: score(found[number].lines)))
        return 0
    weights = recipe.weights()
    _show("seen", measure.recall(found, lambda number: recipe.points(weights, number)))
    if options.check:
        same = options.out.read_text(encoding="utf-8") == weights.text()
        print(f"{options.out} is {'the same, byte for byte' if same else 'another file than this fit gives'}")
        return 0 if same else 1
    options.out.write_text(weights.text(), encoding="utf-8")
    print(f"wrote {options.out}")
    return 0


def _show(title: str, figures: dict[str, list[float]]) -> None:
    print(f"{title:<16}" + "".join(f"{budget:>8,}" for budget in measure.BUDGETS))
    for corpus, shares in figures.items():
        print(f"  {corpus:<14}" + "".join(f"{share:>8.1%}" for share in shares), flush=True)


if __name__ == "__main__":
    sys.exit(main())
