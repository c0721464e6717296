"""What the journal costs per call, and how long `spill stats` takes on ten million lines, in CPU seconds and memory.

python bench/ledger.py                  # ten million lines, 1.4 GB in a temporary folder
python bench/ledger.py --lines 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from spillover import Clipper, DirStore, Limits
from spillover.ledger import journal
from spillover.ledger.entry import Entry, encode

SHORT = "a line of a short text, of which there are some\n" * 21
LONG = "".join(f"{number}: a line of a log that is cut\n" for number in range(2_000))
#: Written again and again, with other times: 40,000 commands of 20 projects.
PIECE = 100_000
STATS = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", "stats", "--all-scopes"]


def cpu(call: Callable[[], object], times: int, rounds: int = 5) -> float:
    """Return the least CPU seconds of a call."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - started) / times)
    return best


def per_call(folder: Path) -> dict[str, float]:
    """Return microseconds of CPU: a line by itself, and calls without, with and with all of the journal."""
    line = encode(
        Entry(operation="clip", outcome="stored", when=time.time(), scope="/a/b", tool="npm", command="npm test")
    )
    place = str(folder / "lines")
    figures = {"a line": cpu(lambda: journal.append(place, line), 2_000)}
    for name, stats in (("off", False), ("default", None), ("all", True)):
        clipper = Clipper(Limits(tokens=1_000), store=DirStore(folder / f"store-{name}"), stats=stats)
        figures[f"clip of 1 KB that fits, stats {name}"] = cpu(lambda c=clipper: c.clip(SHORT), 2_000)  # type: ignore[misc]
        figures[f"clip that is cut, stats {name}"] = cpu(lambda c=clipper: c.clip(LONG), 20)  # type: ignore[misc]
    return {name: seconds * 1e6 for name, seconds in figures.items()}


def write(path: Path, lines: int) -> None:
    """Write a journal of so many lines, three in five of them clips, a minute of work in every second."""
    rows = []
    for number in range(PIECE):
        cut, tokens = number % 5 == 0, 100 + number * 7 % 9_000
        made = Entry(
            operation="read" if number % 5 == 1 else "clip",
            outcome="stored" if cut else "whole",
            when=0,
            scope=f"/home/me/project-{number % 20}",
            tool="Bash",
            host="Claude Code",
            command=f"npm test -- --shard {number % 2_000}",
            kind="log" if cut else "",
            ref="npm-7f3a9c2e41d05b86" if cut else "",
            produced=tokens,
            base=tokens,
            shown=800 if cut else tokens,
            notice=60 if cut else 0,
        )
        rows.append(encode(made))
    with path.open("wb") as file:
        when = 1_763_000_000_000
        for begin in range(0, lines, PIECE):
            now = when + 300 * begin
            file.writelines(
                row[:3] + b"%013d" % (now + 300 * number) + row[16:] for number, row in enumerate(rows[: lines - begin])
            )


def reading(folder: Path, lines: int) -> dict[str, float]:
    """Return what `spill stats` costs as a process of its own."""
    store = folder / "huge"
    (store / ".ledger").mkdir(parents=True, mode=0o700)
    store.chmod(0o700)
    (store / ".spillover").touch()
    write(store / ".ledger" / "journal", lines)
    figures: dict[str, float] = {"lines": lines, "bytes": (store / ".ledger" / "journal").stat().st_size}
    env = {**os.environ, "SPILLOVER_STORE": str(store), "SPILLOVER_CONFIG": "none"}
    for asked in ((), ("--by", "day")):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([*STATS, *asked], check=True, env=env, stdout=subprocess.DEVNULL)
        after, name = resource.getrusage(resource.RUSAGE_CHILDREN), " ".join(["stats", *asked])
        figures[f"{name}, s CPU"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures[f"{name}, s"] = time.perf_counter() - started
    figures["peak, MB"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_000
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "out" / "ledger.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = per_call(folder)
        for what, value in figures.items():
            print(f"{what:<42}{value:>12,.1f} µs CPU")
        read = reading(folder, args.lines)
        for what, value in read.items():
            print(f"{what:<42}{value:>12,.{2 if value < 1000 else 0}f}")
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({**figures, **read}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
