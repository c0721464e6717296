"""Fit the weights on a folder of labelled logs, say how well they tell needed lines from others, and write them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.fit import logs
from scripts.fit.recipe import Recipe, text

from spillover.kinds.log.score import WEIGHTS


def main(arguments: list[str] | None = None) -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fit", description=__doc__)
    parser.add_argument("corpus", type=Path, help="a folder with NAME.jsonl.zst or NAME.jsonl files")
    parser.add_argument("--only", action="append", metavar="NAME", help="fit on this corpus; may be repeated")
    parser.add_argument(
        "--out", type=Path, default=WEIGHTS, help="the file to write (default: the one that is shipped)"
    )
    parser.add_argument(
        "--folds",
        action="store_true",
        help="print the loss with whole projects left out, and on those held out from every choice",
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
    if options.folds:
        for corpus, (chosen, kept_apart) in recipe.losses().items():
            print(f"  {corpus:<14} loss of a line, left out {chosen:.4f}, held out {kept_apart:.4f}")
        return 0
    fitted = text(recipe.weights(), found)
    if options.check:
        same = options.out.read_text(encoding="utf-8") == fitted
        print(f"{options.out} is {'the same, byte for byte' if same else 'another file than this fit gives'}")
        return 0 if same else 1
    options.out.write_text(fitted, encoding="utf-8")
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
