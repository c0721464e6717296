"""What thrift costs: recall over tokens spent, with default limits, for `worth` from 0 (fill the limits) to 1.

    python bench/thrift.py --corpus FOLDER                       # logchunks, swebench_eval, cidiff; takes some minutes
    python bench/thrift.py --corpus FOLDER --only cidiff --worths 0,0.1,1

Prints a table (the one in docs/previews.md) and writes bench/out/thrift.json and bench/out/thrift.svg. Only outputs above the
default limits count. Tokens are counted exactly, the clipper estimates them, as by default.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from spillover import Clipper, MemoryStore
from spillover.settings.limits import DEFAULT_TOKENS, DEFAULT_WORTH

CORPORA = ("logchunks", "swebench_eval", "cidiff")
WORTHS = (0, 0.03, DEFAULT_WORTH, 0.2, 1)
OUT = Path(__file__).parent / "out"

Figures = dict[str, list[dict[str, float]]]


def measure(judge: Any, folder: Path, corpus: str, worths: list[float]) -> list[dict[str, float]]:
    """Return for each worth the share of logs that keep every needed line, and the mean tokens of their clips."""
    path = next(path for path in folder.iterdir() if path.name.startswith(f"{corpus}.jsonl"))
    logs = [record for record in judge.records(path) if record["tokens"] > DEFAULT_TOKENS]
    found = []
    for worth in worths:
        clipper = Clipper(worth=worth, store=MemoryStore())
        texts = [clipper.clip(log["log"]).text for log in logs]
        rows = [(log["group"], judge.score(text, log["needles"])[0]) for log, text in zip(logs, texts, strict=True)]
        spent = sum(map(judge.O200K.count, texts)) / len(texts)
        found.append({"worth": worth, "logs": len(logs), "all": judge.macro(rows), "tokens": spent})
    return found


def markdown(figures: Figures) -> str:
    """Return a table: a row for each worth, recall and tokens of each corpus."""
    names = list(figures)
    rows = ["| worth | " + " | ".join(f"{name} ({figures[name][0]['logs']:.0f} logs)" for name in names) + " |"]
    rows.append("|---:|" + "---:|" * len(names))
    for nth, first in enumerate(figures[names[0]]):
        cells = [f"{each[nth]['all']:.1%} in {each[nth]['tokens']:,.0f} tokens" for each in figures.values()]
        rows.append(f"| {first['worth']:g} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def plot(figures: Figures) -> str:
    """Return the same as a picture: a line for each corpus, a point for each worth."""
    width, height, colours = 640, 400, ("#1b6ac9", "#c9541b", "#2a8f4f", "#7a3fb0")
    most = max(each["tokens"] for rows in figures.values() for each in rows)
    least = min(each["all"] for rows in figures.values() for each in rows) - 0.02

    def place(each: dict[str, float]) -> str:
        return f"{50 + (width - 70) * each['tokens'] / most:.1f},{height - 40 - (height - 60) * (each['all'] - least) / (1 - least):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    ]
    parts += [f'<text x="{width / 2}" y="{height - 8}">tokens of a clip, up to {most:,.0f}</text>']
    parts += [f'<text x="4" y="14">all needed lines kept, {least:.0%} to 100 %</text>']
    for nth, (name, rows) in enumerate(figures.items()):
        colour = colours[nth % len(colours)]
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{" ".join(map(place, rows))}"/>')
        for each in rows:
            x, y = place(each).split(",")
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"><title>worth {each["worth"]:g}</title></circle>'
            )
        parts.append(f'<text x="{width - 150}" y="{height - 110 + 16 * nth}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    """Measure, print the table, write the figures and the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", type=Path, default=Path("../shared/corpus"), help="a folder with recall.py and *.jsonl.zst"
    )
    parser.add_argument("--only", action="append", default=[], help="only this corpus; may be repeated")
    parser.add_argument(
        "--worths", default=",".join(f"{worth:g}" for worth in WORTHS), help="comma-separated, from 0 to 1"
    )
    arguments = parser.parse_args()
    if not (arguments.corpus / "recall.py").exists():
        print(f"{arguments.corpus} has no recall.py; --corpus names a folder that has one.", file=sys.stderr)
        return 2
    sys.path.insert(0, str(arguments.corpus))
    judge = importlib.import_module("recall")
    worths = [float(worth) for worth in arguments.worths.split(",")]
    names = arguments.only or CORPORA
    figures = {name: measure(judge, arguments.corpus, name, worths) for name in names}
    print(markdown(figures))
    OUT.mkdir(exist_ok=True)
    (OUT / "thrift.json").write_text(json.dumps(figures, indent=1))
    (OUT / "thrift.svg").write_text(plot(figures), encoding="utf-8")
    print(f"wrote {OUT / 'thrift.json'} and {OUT / 'thrift.svg'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
