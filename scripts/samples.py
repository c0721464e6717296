"""Outputs of any size for benches and comparisons, the same every time: a build that fails, JSON, CSV, a diff, HTML."""

from __future__ import annotations

import json
import random
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = [
    "parse",
    "render",
    "cache",
    "token",
    "store",
    "limit",
    "notice",
    "marker",
    "ledger",
    "intake",
    "scope",
    "budget",
    "window",
    "select",
    "record",
]
TRACEBACK = """Traceback (most recent call last):
  File "/build/src/{a}/{b}.py", line {n}, in {a}_{b}
    assert {a}({b}) == {n}, "{b} of {a} differs"
AssertionError: {b} of {a} differs: expected {n}, got {m}
"""


def failing_build(size: int) -> bytes:
    """Return the log of a build whose tests fail in three places: stamped lines, warnings, tracebacks, a summary."""
    rng = random.Random(12)  # noqa: S311  the same log every time
    out, length, number = [], 0, 0
    fails = {size // 5: 1, size // 2: 2, size * 4 // 5: 3}
    end = "FAILED (failures=3)\nmake: *** [Makefile:12: check] Error 1\n"
    while length < size - len(end):
        number += 1
        a, b, n = rng.choice(WORDS), rng.choice(WORDS), rng.randrange(10_000)
        if fails and length >= min(fails):
            del fails[min(fails)]
            line = f"FAIL: test_{a}_{b} (tests.test_{a})\n" + TRACEBACK.format(a=a, b=b, n=n, m=n + 1)
        else:
            clock = f"2026-08-22T10:{number // 60 % 60:02}:{number % 60:02}"
            kind = rng.random()
            if kind < 0.55:
                line = f"{clock} INFO compile src/{a}/{b}.c -O2 -o build/{a}/{b}.o {n}\n"
            elif kind < 0.85:
                line = f"test_{a}_{b} (tests.test_{a}.Test{b.title()}) ... ok\n"
            elif kind < 0.95:
                line = f"{clock} DEBUG {a}: {b} took {n} ms, 0 errors\n"
            else:
                line = f"src/{a}/{b}.c:{n}:{n % 80}: warning: unused variable '{a}' [-Wunused-variable]\n"
        out.append(line)
        length += len(line)
    return ("".join(out)[: size - len(end)] + end).encode()


def json_records(size: int) -> bytes:
    """Return one JSON list of records, one of which failed."""
    return b"[" + _upto(size, _record, b",\n") + b"]\n"


def ndjson(size: int) -> bytes:
    """Return the same records, each on a line."""
    return _upto(size, _record, b"\n") + b"\n"


def csv(size: int) -> bytes:
    """Return a table, one row of which is unlike the others."""
    rows = _upto(size, _row, b"\n")
    return b"id,name,zone,took_ms,status\n" + rows + b"\n"


def diff(size: int) -> bytes:
    """Return a patch of many files."""
    return _upto(size, _patch, b"\n") + b"\n"


def html(size: int) -> bytes:
    """Return a page with a long table, a list and prose."""
    inside = _upto(size, _element, b"\n")
    return b"<!DOCTYPE html>\n<html><head><title>Report</title></head><body>\n" + inside + b"\n</body></html>\n"


SAMPLES: dict[str, Callable[[int], bytes]] = {
    "log": failing_build,
    "json": json_records,
    "ndjson": ndjson,
    "csv": csv,
    "diff": diff,
    "html": html,
}


def _upto(size: int, make: Callable[[int], str], between: bytes) -> bytes:
    return between.join(_some(size, make))


def _some(size: int, make: Callable[[int], str]) -> Iterator[bytes]:
    length = 0
    for number in count():
        if length >= size:
            return
        one = make(number).encode()
        length += len(one) + 1
        yield one


def _record(number: int) -> str:
    status = "failed" if number == 777 else "ok"
    host = {"name": f"a{number % 9}", "zone": "eu"}
    return json.dumps(
        {"id": number, "name": f"job-{number % 40}", "status": status, "took": number * 7 % 911, "host": host}
    )


def _row(number: int) -> str:
    return f"{number},job-{number % 40},eu-{number % 3},{number * 7 % 911},{'failed' if number == 777 else 'ok'}"


def _patch(number: int) -> str:
    a, b = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
    head = f"diff --git a/src/{a}/{b}{number}.py b/src/{a}/{b}{number}.py\n--- a/src/{a}/{b}{number}.py\n+++ b/src/{a}/{b}{number}.py\n"
    hunk = f"@@ -{number + 1},4 +{number + 1},4 @@ def {a}():\n     one = {a}({number})\n-    two = {b}(one)\n+    two = {b}(one, {number})\n     return two\n"
    return head + (hunk * (1 + number % 4)).removesuffix("\n")


def _element(number: int) -> str:
    a, b = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
    if number % 25 == 0:
        return f"<h2 id='{a}{number}'>{a} and {b}</h2>\n<p>Of the {a} {number} were seen, and the {b} of each is <a href='/{b}/{number}'>here</a>.</p>"
    return (
        f"<div class='row'><span class='name'>{a} {number}</span><span>{b}</span><span>{number * 7 % 911}</span></div>"
    )
