"""One figure beside its floor, its bar and its goal; and how each is measured: the best of several runs, in turn."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
SPILL = str(BIN / "spill")
MEGABYTE = 1_000_000
BARE = [sys.executable, "-c", "pass"]


@dataclass
class Row:
    what: str
    figure: float
    unit: str
    bar: float
    at_least: bool
    floor: str
    goal: float | None = None

    def reaches(self, level: float) -> bool:
        return self.figure >= level if self.at_least else self.figure <= level

    @property
    def held(self) -> bool:
        return self.reaches(self.bar)

    @property
    def said(self) -> str:
        if self.goal is not None and self.reaches(self.goal):
            return "goal"
        return "yes" if self.held else "NO"


def best(rounds: int, *runs: Callable[[], float]) -> list[float]:
    """Return the best of each, measured in turn so that a busy moment hits all of them."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for mine, run in zip(times, runs, strict=True):
            mine.append(run())
    return [min(mine) for mine in times]


def timed(function: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        function()
        return time.perf_counter() - started

    return run


def cpu_of(argv: list[str], given: Path | None = None) -> Callable[[], float]:
    """Return what runs a command and says how many seconds of CPU it took, all its threads and children together."""

    def run() -> float:
        with open(given or os.devnull, "rb") as stdin:
            child = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0, (argv, status)
        return used.ru_utime + used.ru_stime

    return run


#: A process that was forked from a large one counts the memory of that; so a small one stands between.
MEASURED = """
import os, subprocess, sys
null = open(os.devnull, "wb")
feeder = subprocess.Popen(["cat", sys.argv[1]], stdout=subprocess.PIPE) if sys.argv[1] else None
child = subprocess.Popen(sys.argv[2:], stdin=feeder.stdout if feeder else None, stdout=null)
if feeder:
    feeder.stdout.close()
print(os.wait4(child.pid, 0)[2].ru_maxrss * 1024)
"""


def peak(argv: list[str], stdin: Path | None = None) -> int:
    """Return the most memory a command had, in bytes; fed by a `cat` of its own where a file is given."""
    measured = [sys.executable, "-c", MEASURED, str(stdin or ""), *argv]
    return int(subprocess.run(measured, check=True, capture_output=True).stdout)


@contextmanager
def one_core_left() -> Iterator[None]:
    """All cores but one are busy, as they are where an agent runs more than one thing."""
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
