"""Speed and memory, each figure beside a baseline measured in the same run.

    python bench/speed.py                       # the table; JSON in bench/out/speed.json
    python bench/speed.py --size 200            # a smaller log, in MB
    python bench/speed.py --only cold,warm,hook

CPU times are divided by the machine's pace: the CPU time of `python -c 'import numpy'` above bare Python, over 65 ms. The
best of several runs counts, and the runs of a figure and its baseline take turns.
"""

from __future__ import annotations

import argparse
import compileall
import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts.samples import SAMPLES, failing_build

import spillover
from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.kinds.fit import Subject, fit
from spillover.notice.render import Storage
from spillover.source.blob import MemoryBlob, Meter

SPILL = str(Path(sys.executable).parent / "spill")
BARE = [sys.executable, "-c", "pass"]
NUMPY = [sys.executable, "-c", "import numpy"]
#: What importing numpy costs above bare Python on a machine of pace 1, in seconds of CPU.
PACE_SECONDS = 0.065
KB = 1_000
MEGABYTE = 1_000_000
TOKENS = 2_000
ABOVE_BARE = "python -c pass"
TWO_CATS = "cat F | cat > G"
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
PATTERNS = ("FAILED|Error", "unused done 0x7f3a9c 12345 done", "wor[a-z]+ 12", "[0-9]{5} done$")


@dataclass
class Row:
    """One figure, its target, and the baseline it is measured against."""

    what: str
    figure: float
    unit: str
    target: float
    at_least: bool = False
    baseline: str = "-"

    @property
    def holds(self) -> bool:
        return self.figure >= self.target if self.at_least else self.figure <= self.target

    def __str__(self) -> str:
        target = f"{'≥' if self.at_least else '≤'} {self.target:g}"
        holds = "yes" if self.holds else "NO"
        return f"{self.what:<42}{self.figure:>9.2f} {self.unit:<9}{target:>8}  {self.baseline:<16}{holds}"


@dataclass(frozen=True)
class Bench:
    """Where files go, the large log, how often a figure is measured, and the machine's pace."""

    folder: Path
    log: Path
    rounds: int
    pace: float

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def cpu_row(self, what: str, argv: list[str], target: float, *, stdin: Path | None = None) -> Row:
        """Measure a command's CPU time above bare Python, in milliseconds of a machine of pace 1."""
        bare, ours = best(self.rounds, cpu_of(BARE), cpu_of(argv, stdin))
        return Row(what, (ours - bare) * 1e3 / self.pace, "ms CPU", target, baseline=ABOVE_BARE)


def best(rounds: int, *runs: Callable[[], float]) -> list[float]:
    """Return the best of each run; the runs take turns, so that a busy moment affects all of them."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for own_times, run in zip(times, runs, strict=True):
            own_times.append(run())
    return [min(own_times) for own_times in times]


def timed(function: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        function()
        return time.perf_counter() - started

    return run


def cpu_of(argv: list[str], stdin: Path | None = None) -> Callable[[], float]:
    """Return a function that runs a command and returns the CPU seconds of all its threads and children."""

    def run() -> float:
        with open(stdin or os.devnull, "rb") as file:
            child = subprocess.Popen(argv, stdin=file, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0, (argv, status)
        return used.ru_utime + used.ru_stime

    return run


#: A process forked from a large one counts that one's memory, so a small process stands between.
MEASURE_PEAK = """
import os, subprocess, sys
null = open(os.devnull, "wb")
feeder = subprocess.Popen(["cat", sys.argv[1]], stdout=subprocess.PIPE) if sys.argv[1] else None
child = subprocess.Popen(sys.argv[2:], stdin=feeder.stdout if feeder else None, stdout=null)
if feeder:
    feeder.stdout.close()
print(os.wait4(child.pid, 0)[2].ru_maxrss * 1024)
"""


def peak_row(what: str, argv: list[str], stdin: Path | None = None) -> Row:
    """Measure the peak memory of a command above bare Python."""

    def peak(argv: list[str], stdin: Path | None = None) -> int:
        command = [sys.executable, "-c", MEASURE_PEAK, str(stdin or ""), *argv]
        return int(subprocess.run(command, check=True, capture_output=True).stdout)

    return Row(what, (peak(argv, stdin) - peak(BARE)) / MEGABYTE, "MB more", 60, baseline=ABOVE_BARE)


@contextmanager
def one_core_left() -> Iterator[None]:
    """Keep all cores but one busy."""
    cores = sorted(os.sched_getaffinity(0))[1:] if hasattr(os, "sched_getaffinity") else []
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in cores]
    try:
        for process, core in zip(busy, cores, strict=True):
            os.sched_setaffinity(process.pid, {core})
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def make_log(path: Path, megabytes: int) -> None:
    """Write a log with lines of many lengths; the same every time."""
    rng = random.Random(1)
    lines = [
        f"2026-08-22T10:{i // 60 % 60:02}:{i % 60:02} {' '.join(rng.choices(WORDS, k=rng.randint(3, 12)))}\n"
        for i in range(100_000)
    ]
    block = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(max(1, megabytes * MEGABYTE // len(block))):
            file.write(block)


def start(bench: Bench) -> Iterator[Row]:
    """Commands whose output fits."""
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
        "tool_response": {"stdout": "nothing to commit, working tree clean\n", "stderr": "", "interrupted": False},
    }
    small = bench.write("small.json", json.dumps(event).encode())
    yield bench.cpu_row("spill run -- true", [SPILL, "run", "--", "true"], 60)
    yield bench.cpu_row("import spillover", [sys.executable, "-c", "import spillover"], 60)
    yield bench.cpu_row("spill hook, small output", [SPILL, "hook", "claude-code"], 60, stdin=small)


def cold(bench: Bench) -> Iterator[Row]:
    """`spill` as a filter in its own process; its patterns are in the cache, as from the second call on."""
    argv = [SPILL, "--tokens", str(TOKENS)]
    for name, size, target in (("300 KB", 300 * KB, 180), ("10 MB", 10 * MEGABYTE, 300)):
        log = bench.write("cold.log", failing_build(size))
        cpu_of(argv, log)()  # fills the cache
        yield bench.cpu_row(f"cold: spill < {name} log", argv, target, stdin=log)
        yield peak_row(f"peak memory, {name} log", argv, log)


def hook(bench: Bench) -> Iterator[Row]:
    """A hook whose result overflows."""
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make check"},
        "tool_response": {"stdout": failing_build(300 * KB).decode(), "stderr": "", "interrupted": False},
    }
    large = bench.write("large.json", json.dumps(event).encode())
    yield bench.cpu_row("spill hook, overflowing result", [SPILL, "hook", "claude-code"], 180, stdin=large)


def warm(bench: Bench) -> Iterator[Row]:
    """Clips in a process that lives, by its own CPU time."""
    kinds = (
        ("log", 60, 30),
        ("log", 300, 30),
        ("log", 1_000, 50),
        *((kind, 300, 50) for kind in ("json", "diff", "csv", "html")),
    )
    for kind, size, target in kinds:
        data = SAMPLES[kind](size * KB)
        clipper = Clipper(Limits(tokens=TOKENS), store=MemoryStore())
        place = data.index(b"1", len(data) // 2)
        times = []
        for number in range(bench.rounds * 4):  # never the same output twice, or it would be stored already
            output = data[:place] + str(1_000 + number).encode() + data[place + 1 :]
            started = time.process_time()
            clip = clipper.clip(output)
            times.append(time.process_time() - started)
            assert (clip.kind, clip.outcome) == (kind, "stored"), clip.kind
        yield Row(f"warm: {size:,} KB {kind}", min(times) * 1e3 / bench.pace, "ms CPU", target)


def small(bench: Bench) -> Iterator[Row]:
    """Texts that fit, in a process that lives."""
    rules = {f"tool-{number}": {"limits": Limits(tokens=1_000 + number)} for number in range(20)}
    plain = Clipper(store=MemoryStore())
    ruled = Clipper(store=MemoryStore(), rules=rules)
    calls = 2_000
    for what, target, clip in (
        ('clip("3 passed\\n")', 8, partial(plain.clip, "3 passed\n")),
        ("the same with tool= and 20 rules", 20, partial(ruled.clip, "3 passed\n", tool="tool-19")),
    ):

        def run(clip: Callable[[], object] = clip) -> None:
            for _ in range(calls):
                clip()

        (seconds,) = best(bench.rounds * 3, timed(run))
        yield Row(what, seconds / calls * 1e6 / bench.pace, "µs", target)


def pipe(bench: Bench) -> Iterator[Row]:
    """Large outputs through a pipe, with the other core free and with it busy."""
    store = bench.folder / "store"

    def shell(line: str) -> Callable[[], float]:
        """Time a line of shell with an empty store and nothing left to write."""

        def run() -> float:
            subprocess.run(["rm", "-rf", str(store), str(bench.folder / "copy")], check=True)
            os.sync()
            environment = {**os.environ, "SPILLOVER_STORE": str(store)}
            return timed(
                lambda: subprocess.run(["sh", "-c", line], check=True, stdout=subprocess.DEVNULL, env=environment)
            )()

        return run

    lines = {
        "cat F | spill": f"cat '{bench.log}' | '{SPILL}'",
        "cat F | spill --keep tail": f"cat '{bench.log}' | '{SPILL}' --keep tail",
        "spill run --keep tail -- cat F": f"'{SPILL}' run --keep tail -- cat '{bench.log}'",
    }
    runs = [shell(f"cat '{bench.log}' | cat > '{bench.folder}/copy'"), *map(shell, lines.values())]
    for after, times in (("", best(bench.rounds, *runs)), (", one core busy", _busy(bench.rounds, runs))):
        for what, seconds in zip(lines, times[1:], strict=True):
            yield Row(what + after, times[0] / seconds, "x", 0.2, at_least=True, baseline=TWO_CATS)
    yield peak_row("peak memory, auto", [SPILL], bench.log)
    yield peak_row("peak memory, --keep tail", [SPILL, "--keep", "tail"], bench.log)


def _busy(rounds: int, runs: list[Callable[[], float]]) -> list[float]:
    with one_core_left():
        return best(rounds, *runs)


def select(bench: Bench) -> Iterator[Row]:
    """Selection alone, which must grow no faster than the log."""
    size = bench.log.stat().st_size
    sizes = [step for step in (10**6, 10**7, 10**8) if step < size] + [size]
    times = {
        step: best(bench.rounds if step < 10**8 else 2, partial(select_alone, bench.log, step))[0] for step in sizes
    }
    print("  as the log grows: " + "  ".join(f"{step / 1e6:g} MB {took * 1e3:.0f} ms" for step, took in times.items()))
    yield Row("selection alone", size / MEGABYTE / times[size], "MB/s", 150, at_least=True)


def select_alone(log: Path, size: int) -> float:
    """Return how long selecting takes once the output is stored."""
    with log.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        meter = Meter()
        for at in range(0, size, MEGABYTE):
            meter.feed(data[at : min(size, at + MEGABYTE)])
        call = Clipper(store=MemoryStore()).call()
        document = Document(
            MemoryBlob(data[:size]), meter.index, meter.lines, meter.newlines, (Section(0, size),), call.reach
        )
        return timed(lambda: fit(Subject(document, call, 0, Storage(ref="log-000000000000"))))()


def back(bench: Bench) -> Iterator[Row]:
    """Reading and searching what was stored."""
    clipper = Clipper(store=DirStore(bench.folder / "back"))
    ref = clipper.clip(bench.log).ref
    assert ref is not None
    middle = clipper.settings.store.get(ref).lines // 2
    (seconds,) = best(bench.rounds * 3, timed(lambda: clipper.read(ref, lines=f"{middle}:+100")))
    yield Row("read of 100 lines in the middle", seconds * 1e3, "ms", 5)
    for pattern in PATTERNS:

        def grep(pattern: str = pattern) -> None:
            with (bench.folder / "matches").open("wb") as matches:  # grep stops at its first match into /dev/null
                subprocess.run(["grep", "-E", pattern, str(bench.log)], stdout=matches, check=False)

        theirs, ours = best(bench.rounds, timed(grep), timed(partial(clipper.grep, ref, pattern)))
        yield Row(f"grep {pattern}", theirs / ours, "x", 0.2, at_least=True, baseline="grep -E")


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "start": start,
    "cold": cold,
    "hook": hook,
    "warm": warm,
    "small": small,
    "pipe": pipe,
    "select": select,
    "back": back,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000, help="of the large log, in MB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "out" / "speed.json")
    parser.add_argument("--only", help=f"some of {', '.join(PARTS)}, with commas between")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"--only: unknown {', '.join(unknown)}; use {', '.join(PARTS)}")
    # As pip does when it installs; a clone that is run in place may have no compiled files.
    compileall.compile_dir(Path(spillover.__file__).parent, quiet=1)
    bare, numpy = best(args.rounds * 3, cpu_of(BARE), cpu_of(NUMPY))
    pace = (numpy - bare) / PACE_SECONDS
    print(f"pace {pace:.2f}: import numpy takes {(numpy - bare) * 1e3:.0f} ms of CPU above bare Python")
    print(f"{'what':<42}{'figure':>9} {'unit':<9}{'target':>8}  {'against':<16}holds")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), Path(name) / "F", args.rounds, pace)
        os.environ["XDG_CACHE_HOME"] = str(bench.folder / "cache")
        os.environ["SPILLOVER_STORE"] = str(bench.folder / "commands")
        if {"pipe", "select", "back"} & set(names):
            make_log(bench.log, args.size)
        for part in names:
            os.sync()  # what the part before has written is not to be paid for in this one
            for row in PARTS[part](bench):
                rows.append(row)
                print(row, flush=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    figures = [{**asdict(row), "holds": row.holds} for row in rows]
    args.json.write_text(json.dumps({"size_mb": args.size, "pace": pace, "rows": figures}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
