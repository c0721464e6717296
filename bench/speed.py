"""Speed and memory: CPU above a floor, or ratios against one, measured in the same run.

    python bench/speed.py                 # the table; JSON in bench/out/speed.json
    python bench/speed.py --size 200      # a smaller file, in MB, for a quick look
    python bench/speed.py --only cold,warm,hook

Absolute times mean little on a shared machine: every figure stands beside a floor that was measured in turn with it, and
of each the best of several runs is taken. "goal" in the last column means that the goal is reached, "yes" the bar.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.speeds import everyday
from bench.speeds.rows import BARE, MEGABYTE, SPILL, Row, best, cpu_of, one_core_left, peak, timed

import spillover
from spillover import Clipper, DirStore, MemoryStore
from spillover.intake.blob import Held
from spillover.intake.meter import Meter
from spillover.show.fit import fit
from spillover.show.render import Kept
from spillover.view.document import Document, Section

WORDS = [
    "INFO",
    "compile",
    "src/module/file.c",
    "-O2",
    "linking",
    "target",
    "warning:",
    "unused",
    "done",
    "0x7f3a9c",
    "12345",
    "cached",
]
#: What Claude Code asks after a command that printed little.
QUESTION = json.dumps(
    {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
        "tool_response": {"stdout": "nothing to commit, working tree clean\n", "stderr": "", "interrupted": False},
    }
).encode()
PATTERNS = ("FAILED|Error", "unused done 0x7f3a9c 12345 done", "wor[a-z]+ 12", "[0-9]{5} done$")


def make_log(path: Path, megabytes: int) -> None:
    """A log with lines of many lengths; the same every time."""
    import random

    rng = random.Random(1)
    lines = [
        f"2026-08-22T10:{i // 60 % 60:02}:{i % 60:02} {' '.join(rng.choices(WORDS, k=rng.randint(3, 12)))}\n"
        for i in range(100_000)
    ]
    block = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(max(1, megabytes * MEGABYTE // len(block))):
            file.write(block)


def shell(line: str) -> Callable[[], object]:
    return lambda: subprocess.run(["sh", "-c", line], check=True, stdout=subprocess.DEVNULL)


def with_fresh_store(folder: Path) -> Callable[[str], Callable[[], float]]:
    """Times a line of shell with an empty store, and nothing left to write."""
    store = folder / "store"
    os.environ["SPILLOVER_STORE"] = str(store)

    def fresh(line: str) -> Callable[[], float]:
        def run() -> float:
            subprocess.run(["rm", "-rf", str(store), str(folder / "copy")], check=True)
            os.sync()
            return timed(shell(line))()

        return run

    return fresh


def streaming(folder: Path, log: Path, rounds: int) -> list[Row]:
    """Large outputs through a pipe, with the other core free and with it busy."""
    fresh = with_fresh_store(folder)
    floor, tail, _, auto = runs = (
        fresh(f"cat '{log}' | cat > '{folder}/copy'"),
        fresh(f"cat '{log}' | '{SPILL}' --keep tail"),
        fresh(f"'{SPILL}' run --keep tail -- cat '{log}'"),
        fresh(f"cat '{log}' | '{SPILL}'"),
    )
    free = best(rounds, *runs)
    with one_core_left():
        busy = best(rounds, floor, tail, auto)
    bare = peak(BARE)
    argvs = ([SPILL, "--keep", "tail"], [SPILL])
    piped, chosen = (peak(argv, log) - bare for argv in argvs)
    memory = max(piped, peak([SPILL, "run", "--keep", "tail", "--", "cat", str(log)]) - bare)
    said = "cat F | cat > G"
    return [
        Row("cat F | spill --keep tail", free[0] / free[1], "x", 0.8, at_least=True, floor=said),
        Row("spill run --keep tail -- cat F", free[0] / free[2], "x", 0.8, at_least=True, floor=said),
        Row("cat F | spill", free[0] / free[3], "x", 0.4, at_least=True, floor=said),
        Row("cat F | spill --keep tail, one core busy", busy[0] / busy[1], "x", 0.8, at_least=True, floor=said, goal=1),
        Row("cat F | spill, one core busy", busy[0] / busy[2], "x", 0.4, at_least=True, floor=said, goal=0.6),
        Row(
            "peak memory, --keep tail",
            memory / MEGABYTE,
            "MB more",
            60,
            at_least=False,
            floor="python -c pass",
            goal=40,
        ),
        Row("peak memory, auto", chosen / MEGABYTE, "MB more", 60, at_least=False, floor="python -c pass", goal=40),
    ]


def starting(folder: Path, rounds: int) -> list[Row]:
    asked = folder / "question.json"
    asked.write_bytes(QUESTION)
    bare, ran, imported, answered = best(
        rounds * 3,
        cpu_of(BARE),
        cpu_of([SPILL, "run", "--", "true"]),
        cpu_of([sys.executable, "-c", "import spillover"]),
        cpu_of([SPILL, "hook", "claude-code"], asked),
    )
    said = "python -c pass"
    return [
        Row("spill run -- true", (ran - bare) * 1e3, "ms CPU", 45, at_least=False, floor=said),
        Row("import spillover", (imported - bare) * 1e3, "ms CPU", 30, at_least=False, floor=said),
        Row("spill hook, small output", (answered - bare) * 1e3, "ms CPU", 60, at_least=False, floor=said),
    ]


def clipping(folder: Path, rounds: int) -> list[Row]:
    clipper = Clipper(store=DirStore(folder / "clips"))
    short = "a line of a short text, of which there are some\n" * 21
    many = 2_000

    def short_ones() -> None:
        for _ in range(many):
            clipper.clip(short)

    big = ("2026-08-22 a line of a long text that has to be stored, number {}\n" * 160_000)[: 10 * MEGABYTE]
    data = big.encode()
    serial = iter(range(1 << 30))

    def write() -> None:  # a new file each time, as a store has to: writing over an old one is much cheaper
        with (folder / f"plain{next(serial)}").open("wb") as file:
            file.write(data)

    def store() -> float:
        text = f"{next(serial)}\n{big}"  # never the same twice, or it would be stored already
        return timed(lambda: clipper.clip(text))()

    each, plain, stored = best(rounds * 3, timed(short_ones), timed(write), store)
    return [
        Row("clip of a 1 KB string that fits", each / many * 1e6, "µs", 10, at_least=False, floor="-"),
        Row("clip of a 10 MB string, stored", stored / plain, "x", 3, at_least=False, floor="writing the bytes"),
    ]


def selecting(_folder: Path, log: Path, rounds: int) -> list[Row]:
    """keep="auto" in process from a megabyte on, where time must grow with the log."""
    rows = []
    size = log.stat().st_size
    sizes = [one for one in (10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 3 * 10**8) if one < size] + [size]
    times = {one: best(rounds if one < 10**8 else 2, partial(select_alone, log, one))[0] for one in sizes}
    if 10**8 in times:
        rows.append(Row("selection alone, 100 MB", 100 / times[10**8], "MB/s", 150, at_least=True, floor="-"))
    rows.append(Row("selection alone, 1 MB, warm", times[10**6] * 1e3, "ms", 25, at_least=False, floor="-"))
    print("  as the log grows: " + "  ".join(f"{one / 1e6:g} MB {took * 1e3:.0f} ms" for one, took in times.items()))
    plotted(times, Path(__file__).parent / "out" / "growth.png")
    return rows


def select_alone(log: Path, size: int) -> float:
    """Return how long choosing takes once the output is stored: everything behind `fitted`."""
    with log.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        meter = Meter()
        for at in range(0, size, MEGABYTE):
            meter.feed(data[at : min(size, at + MEGABYTE)])
        clipper = Clipper(store=MemoryStore())
        document = Document(
            Held(data[:size]), meter.index, meter.lines, meter.newlines, (Section(0, size),), clipper.reach
        )
        return timed(lambda: fit(document, clipper, Kept(ref="log-000000000000"), tokens=0))()


def plotted(times: dict[int, float], path: Path) -> None:
    """The same as a picture, where matplotlib is there (extra `bench`)."""
    try:
        plt = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        print("  no plot: pip install 'spillover[bench]'")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.loglog([size / 1e6 for size in times], [took * 1e3 for took in times.values()], marker="o")
    axes.set(xlabel="log, MB", ylabel="selection, ms", title='keep="auto": time grows with the log')
    axes.grid(visible=True, which="both", alpha=0.3)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"  {path}")


JSON_MEASURED = """
import sys, time
from pathlib import Path
from spillover import Clipper, DirStore
from spillover.testing import peak_memory
path, root = Path(sys.argv[1]), sys.argv[2]
clipper = Clipper(store=DirStore(root))
clipper.clip(path.read_bytes()[:300_000])  # warm
before = peak_memory()
started = time.perf_counter()
clip = clipper.clip(path)
assert clip.kind == "json", clip.kind
print(time.perf_counter() - started, peak_memory() - before)
"""


def structured(folder: Path) -> list[Row]:
    """50 MB of JSON records, one of them failed: from the file to the clip, storing included."""
    path = folder / "records.json"
    record = {
        "id": 0,
        "name": "job",
        "status": "ok",
        "tags": ["nightly", "linux"],
        "took": 12.5,
        "host": {"name": "a1", "zone": "eu"},
    }
    with path.open("w") as file:
        file.write("[")
        number = 0
        while file.tell() < 50 * MEGABYTE:
            file.write(
                "," * (number > 0)
                + json.dumps({**record, "id": number, "status": "failed" if number == 99_999 else "ok"})
            )
            number += 1
        file.write("]")
    ran = subprocess.run(
        [sys.executable, "-c", JSON_MEASURED, str(path), str(folder / "json")], check=True, capture_output=True
    )
    took, memory = map(float, ran.stdout.split())
    return [
        Row(
            "50 MB of JSON, stored and clipped",
            path.stat().st_size / MEGABYTE / took,
            "MB/s",
            100,
            at_least=True,
            floor="-",
        ),
        Row("peak memory of it", memory / MEGABYTE, "MB more", 200, at_least=False, floor="before it"),
    ]


def going_back(folder: Path, log: Path, rounds: int) -> list[Row]:
    clipper = Clipper(store=DirStore(folder / "back"))
    ref = clipper.clip(log).ref
    assert ref is not None
    middle = clipper.store.get(ref).lines // 2
    (read,) = best(rounds * 3, timed(lambda: clipper.read(ref, lines=f"{middle}:+100")))
    rows = [Row("read of 100 lines in the middle", read * 1e3, "ms", 5, at_least=False, floor="-")]
    for pattern in PATTERNS:
        floor, ours = best(rounds, timed(partial(_grep, pattern, log)), timed(partial(clipper.grep, ref, pattern)))
        rows.append(Row(f"grep {pattern}", floor / ours, "x", 0.3, at_least=True, floor="grep -E"))
    return rows


def _grep(pattern: str, log: Path) -> None:
    with log.with_name("found").open("wb") as found:  # grep stops at its first match when it sees /dev/null
        subprocess.run(["grep", "-E", pattern, str(log)], stdout=found, check=False)


#: What can be measured by itself.
PARTS: dict[str, Callable[[Path, Path, int], list[Row]]] = {
    "cold": lambda folder, _, rounds: everyday.cold(folder, rounds),
    "run": lambda folder, _, rounds: everyday.behind(folder, rounds),
    "hook": lambda folder, _, rounds: everyday.hook(folder, rounds),
    "warm": lambda folder, _, rounds: everyday.warm(folder, rounds),
    "streaming": streaming,
    "starting": lambda folder, _, rounds: starting(folder, rounds),
    "clipping": lambda folder, _, rounds: clipping(folder, rounds),
    "selecting": selecting,
    "structured": lambda folder, _log, _rounds: structured(folder),
    "back": going_back,
}


def in_words(row: Row) -> str:
    sign = "≥" if row.at_least else "≤"
    goal = "" if row.goal is None else f"{sign} {row.goal:g}"
    bar = f"{sign} {row.bar:g}"
    return f"{row.what:<42}{row.figure:>9.2f} {row.unit:<9}{bar:>8}{goal:>8}  {row.floor:<16}{row.said}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000, help="of the log, in MB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "out" / "speed.json")
    parser.add_argument("--only", help=f"some of {', '.join(PARTS)}, with commas between")
    args = parser.parse_args()
    # As pip does when it installs; a clone that is run in place may have no compiled files.
    compileall.compile_dir(Path(spillover.__file__).parent, quiet=1)
    only = args.only.split(",") if args.only else list(PARTS)
    if unknown := [part for part in only if part not in PARTS]:
        parser.error(f"--only: unknown {', '.join(unknown)}; use {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        log = folder / "F"
        if {"streaming", "selecting", "back"} & set(only):
            make_log(log, args.size)
        print(f"{'what':<42}{'figure':>9} {'unit':<9}{'bar':>8}{'goal':>8}  {'against':<16}held")
        rows = []
        for part in only:
            os.sync()  # what the part before has written is not to be paid for in this one
            for row in PARTS[part](folder, log, args.rounds):
                rows.append(row)
                print(in_words(row), flush=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(
        json.dumps(
            {
                "size_mb": args.size,
                "rows": [{**asdict(row), "held": row.held} for row in rows],
            },
            indent=1,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
