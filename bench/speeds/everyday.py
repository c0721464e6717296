"""The everyday case, from 60 KB to 10 MB: cold, behind a command, as a hook, and warm in a process that lives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.speeds.rows import BARE, MEGABYTE, SPILL, Row, best, cpu_of, peak
from scripts.samples import SAMPLES, failing_build

from spillover import Clipper, Limits, MemoryStore

TOKENS = 2_000
BARE_SAID = "python -c pass"
KB = 1_000
#: Prints a log, works for a while, and says when it ended.
COMMAND = """
import os, sys, time
sys.stdout.buffer.write(open(sys.argv[1], "rb").read())
sys.stdout.flush()
time.sleep(0.7)
with open(sys.argv[2], "w") as file:
    file.write(str(time.monotonic()))
os._exit(0)
"""


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def cold(folder: Path, rounds: int) -> list[Row]:
    """`spill` as a filter in a process of its own; the patterns are in its cache, as they are from the second call on."""
    os.environ["SPILLOVER_STORE"] = str(folder / "cold")
    rows = []
    for name, size, bar, goal in (("300 KB", 300 * KB, 150, 80), ("10 MB", 10 * MEGABYTE, 250, 150)):
        log = written(folder, "cold.log", failing_build(size))
        argv = [SPILL, "--tokens", str(TOKENS)]
        bare, ours = best(rounds, cpu_of(BARE), cpu_of(argv, log))
        took = (ours - bare) * 1e3
        rows.append(Row(f"cold: spill < {name} log", took, "ms CPU", bar, at_least=False, floor=BARE_SAID, goal=goal))
        memory = (peak(argv, log) - peak(BARE)) / MEGABYTE
        said = f"peak memory, {name} log"
        rows.append(Row(said, memory, "MB more", 60, at_least=False, floor=BARE_SAID, goal=40))
    return rows


def behind(folder: Path, rounds: int) -> list[Row]:
    """From the end of a command that overflows to the end of `spill run`."""
    os.environ["SPILLOVER_STORE"] = str(folder / "behind")
    log = written(folder, "behind.log", failing_build(300 * KB))
    ended = folder / "ended"
    argv = [SPILL, "run", "--tokens", str(TOKENS), "--", sys.executable, "-c", COMMAND, str(log), str(ended)]

    def run() -> float:
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - float(ended.read_text())

    (took,) = best(rounds, run)
    return [Row("spill run: child's end to ours", took * 1e3, "ms", 80, at_least=False, floor="-", goal=40)]


def hook(folder: Path, rounds: int) -> list[Row]:
    os.environ["SPILLOVER_STORE"] = str(folder / "hook")
    said = failing_build(300 * KB).decode()
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make check"},
        "tool_response": {"stdout": said, "stderr": "", "interrupted": False},
    }
    asked = written(folder, "event.json", json.dumps(event).encode())
    bare, ours = best(rounds, cpu_of(BARE), cpu_of([SPILL, "hook", "claude-code"], asked))
    took = (ours - bare) * 1e3
    return [Row("spill hook, overflowing result", took, "ms CPU", 150, at_least=False, floor=BARE_SAID, goal=80)]


def warm(_folder: Path, rounds: int) -> list[Row]:
    """Clips in a process that lives, by its own CPU time; never the same output twice, or it would be stored already."""
    sizes = (("log", 60, 6, 3), ("log", 300, 15, 8), ("log", 1_000, 25, 15))
    kinds = (("json", 300, 15, 8), ("diff", 300, 15, 8), ("csv", 300, 15, 8), ("html", 300, 15, 8))
    return [_warm(kind, size, bar, goal, rounds) for kind, size, bar, goal in (*sizes, *kinds)]


def _warm(kind: str, size: int, bar: float, goal: float, rounds: int) -> Row:
    data = SAMPLES[kind](size * KB)
    clipper = Clipper(Limits(tokens=TOKENS), store=MemoryStore())
    place = data.index(b"1", len(data) // 2)
    took = []
    for number in range(rounds * 4):
        other = data[:place] + str(1_000 + number).encode() + data[place + 1 :]
        started = time.process_time()
        clip = clipper.clip(other)
        took.append(time.process_time() - started)
        assert (clip.kind, clip.outcome) == (kind, "stored"), clip.kind
    said = f"warm: {size} KB {kind}" if size < 1_000 else f"warm: 1 MB {kind}"
    return Row(said, min(took) * 1e3, "ms CPU", bar, at_least=False, floor="-", goal=goal)
