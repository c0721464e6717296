"""Attack the package for a quarter of an hour and print figures: `make soak`, `make soak MINUTES=3`.

Every part gets a share of the time and a seed, runs in its own processes, and returns figures. Some figures count attempts;
all others count failures and must be 0. The seed of a failure is printed and reproduces it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SOAK = Path(__file__).resolve().parent.parent / "tests" / "soak"
#: name → (module and function, share of the time, number of processes, the figures that count attempts)
PARTS: dict[str, tuple[str, float, int, tuple[str, ...]]] = {
    "clips": ("clips:clips", 0.6, 2, ("clips", "whole", "stored", "lost")),
    "refs": ("refs:refs", 0.05, 1, ("refs", "named")),
    "records": ("records:records", 0.05, 1, ("tampered", "answers", "refused")),
    "growing": ("growing:grow", 0.1, 1, ("texts", "calls")),
    "quota": ("store_quota:quota", 0.05, 1, ("stored", "refused", "looks")),
    "faults": ("store_faults:faults", 0.1, 2, ("sessions", "calls", "injected")),
    "redaction": ("redaction:redaction", 0.1, 1, ("texts", "covered")),
    "options": ("redaction:options", 0.1, 1, ("clips", "lost")),
    "kills": ("store_kills:kills", 0.1, 2, ("kills", "calls")),
    "fleet": ("fleet:fleet", 0.4, 1, ("calls", "kept", "here", "lost", "kills", "restarts", "faults")),
    "syscalls": ("syscall_faults:syscall_faults", 0.1, 2, ("runs", "calls", "missed")),
}
#: So many there must be in STANDARD_MINUTES; a slow machine takes longer. For other times, in proportion.
LEAST = {"clips": 100_000}
STANDARD_MINUTES = 15.0


def run_part(where: str, seconds: float, seed: str, options: dict[str, int]) -> dict[str, Any]:
    """Run one part in this process, with its own home and store."""
    sys.path.insert(0, str(SOAK))
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}
        module, function = where.split(":")
        figures: dict[str, Any] = getattr(importlib.import_module(module), function)(seconds, seed, **options)
        return figures


def main() -> int:
    """Run every part, print its figures, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Attack it for a while, and print figures.")
    parser.add_argument("--minutes", type=float, default=STANDARD_MINUTES)
    parser.add_argument("--seed", default=time.strftime("%Y%m%d%H%M"))
    parser.add_argument("--only", choices=[*PARTS], help="one part, with all of the time")
    given = parser.parse_args()
    parts = {given.only: PARTS[given.only]} if given.only else PARTS
    whole = sum(share for _, share, _, _ in parts.values())
    print(f"seed {given.seed}, {given.minutes:g} minutes", flush=True)
    held = True
    for name, (where, share, processes, tried) in parts.items():
        seconds = given.minutes * 60 * share / whole
        least = LEAST.get(name, 0) * given.minutes / STANDARD_MINUTES / processes
        options = {"least": math.ceil(least)} if least else {}
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            work = [
                pool.submit(run_part, where, seconds, f"{given.seed}-{number}", options) for number in range(processes)
            ]
            results = [each.result() for each in work]
        figures = {key: sum(result[key] for result in results) for key in results[0] if _is_count(results[0][key])}
        said = [f"{key} {figures[key]:,}" for key in figures]
        bad = {key: count for key, count in figures.items() if key not in tried and count}
        idle = not figures[tried[0]]  # there was no time for a single attempt, so nothing is known
        held = held and not bad and not idle
        print(f"{name:<10} {'FAILED' if bad else 'IDLE' if idle else 'held':<7} {'  '.join(said)}", flush=True)
        for result in results if bad else ():
            print(
                json.dumps({key: value for key, value in result.items() if not _is_count(value)}, default=str)[:4_000]
            )
    print("everything held" if held else "NOT everything held", flush=True)
    return 0 if held else 1


def _is_count(value: object) -> bool:
    return isinstance(value, int)


if __name__ == "__main__":
    sys.exit(main())
