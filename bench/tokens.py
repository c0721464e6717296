"""How far the token estimate is off, and how fast it is, against exact o200k counts.

    python bench/tokens.py                      # the table; JSON in bench/out/tokens.json
    python bench/tokens.py --corpus FOLDER      # logs as *.jsonl.zst, one {"log": ...} a line

Measured on whole logs and on heads, tails and middles of them, 500 bytes to 50 KB, with ANSI codes and without; and on
JSON, base64, hex, code, prose and layout made here. Counting too little is the worse mistake, so it has a bar of its own.
"""

from __future__ import annotations

import argparse
import base64
import inspect
import io
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from spillover.tokens import estimate, exact_counter

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("SPILLOVER_CORPUS", HERE.parents[1] / "shared" / "corpus"))
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
MEAN_BAR, UNDER_BAR = 0.12, 0.02
UNDER = -0.10
SMALLEST, LARGEST, WHOLE = 500, 50_000, 2_000_000
MODULES = (argparse, base64, inspect, io, json, os, random, re)
WORDS = ["build", "test", "deploy", "user", "session", "timeout", "retry", "cache", "worker", "queue"]
CHINESE = ["构建", "失败", "测试", "文件", "没有", "找到", "请", "检查", "配置", "后", "重试", "下载", "依赖", "。\n"]
RUSSIAN = ["сборка", "завершена", "ошибкой", "файл", "найден", "проверьте", "настройки", "соединение", "закрыто", "-\n"]
LINE = "2026-08-22T10:15:42.113Z INFO worker-7 compiled src/module/file.c in 0.37 s (id=7f3a9c2e41d0)\n"

Texts = Iterator[tuple[str, list[str]]]


@dataclass
class Row:
    corpus: str
    texts: int
    mean: float
    under: float

    @property
    def held(self) -> bool:
        return self.mean <= MEAN_BAR and self.under <= UNDER_BAR

    def __str__(self) -> str:
        held = "yes" if self.held else "NO"
        return f"{self.corpus:<16}{self.texts:>7}{self.mean:>12.1%}{MEAN_BAR:>8.0%}{self.under:>16.1%}{UNDER_BAR:>7.0%}   {held}"


def logs(folder: Path) -> Texts:
    import zstandard

    for path in sorted(folder.glob("*.jsonl.zst")):
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as raw:
            lines = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
            yield path.name.partition(".")[0], [json.loads(line)["log"] for line in lines]


def made(rng: random.Random) -> Texts:
    """Return what logs have little of; the same every time."""
    many = range(20)
    yield "json", [json.dumps([record(rng) for _ in range(60)], indent=rng.choice([None, 1, 2])) for _ in many]
    yield "base64", [base64.b64encode(rng.randbytes(6_000)).decode() for _ in many]
    yield "hex", [rng.randbytes(6_000).hex() for _ in many]
    yield "code", [inspect.getsource(module) for module in MODULES]
    yield "prose", ["\n\n".join(inspect.getdoc(each) or "" for _, each in inspect.getmembers(of)) for of in MODULES]
    yield "layout", [layout(rng) for _ in many]
    yield "chinese", ["".join(rng.choices(CHINESE, k=900)) for _ in many]
    yield "russian", [" ".join(rng.choices(RUSSIAN, k=900)) for _ in many]


def record(rng: random.Random) -> dict[str, object]:
    words = rng.choices(WORDS, k=5)
    number = rng.randrange(10**9)
    return {"id": number, "name": " ".join(words), "ok": number % 2 > 0, "score": rng.random(), "tags": words[:2]}


def layout(rng: random.Random) -> str:
    """Tables, rules, indents and dots: few tokens for their bytes."""
    lines = [
        "|".join(rng.choice(["ok", "FAILED", "1.2.3", "/usr/lib", ""]).ljust(18) for _ in range(4)) for _ in range(40)
    ]
    lines += [rng.choice("-=*") * rng.randrange(20, 100) for _ in range(10)]
    lines += [" " * rng.randrange(60) + "done" for _ in range(20)]
    lines += ["." * rng.randrange(72) + " [ 50%]" for _ in range(20)]
    rng.shuffle(lines)
    return "\n".join(lines)


def pieces(text: str, rng: random.Random) -> Iterator[str]:
    """Yield a text, if it is not huge, and a head, a tail and two middles of it; the same once more without ANSI codes."""
    if 0 < len(text) <= WHOLE:
        yield text
    for part in ("head", "tail", "middle", "middle"):
        size = int(SMALLEST * (LARGEST / SMALLEST) ** rng.random())
        if len(text) > size:
            start = {"head": 0, "tail": len(text) - size, "middle": rng.randrange(len(text) - size)}[part]
            yield text[start : start + size]
    if "\x1b" in text:
        yield from pieces(ANSI.sub("", text).replace("\x1b", ""), rng)


def rows(texts: Texts, together: str, count: Callable[[str], int]) -> Iterator[Row]:
    """Yield a row for each corpus, and one for all of them."""
    rng = random.Random(1)
    every: list[float] = []
    for corpus, whole in texts:
        errors = [estimate(piece) / count(piece) - 1 for text in whole for piece in pieces(text, rng)]
        every += errors
        yield row_of(corpus, errors)
    if every:
        yield row_of(together, every)


def row_of(corpus: str, errors: list[float]) -> Row:
    size = len(errors)
    return Row(corpus, size, sum(map(abs, errors)) / size, sum(error < UNDER for error in errors) / size)


def micros(count: Callable[[str], int], text: str) -> float:
    """Microseconds a call, the best of many: others use this machine too."""
    times = []
    for _ in range(200):
        started = time.perf_counter()
        for _ in range(5):
            count(text)
        times.append((time.perf_counter() - started) / 5)
    return min(times) * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--json", type=Path, default=HERE / "out" / "tokens.json")
    args = parser.parse_args()
    count = exact_counter("o200k_base")
    found: list[Row] = []

    def show(texts: Texts, together: str) -> None:
        for row in rows(texts, together, count):
            found.append(row)
            print(row, flush=True)

    print(f"{'corpus':<16}{'texts':>7}{'mean error':>12}{'bar':>8}{'under by 10 %':>16}{'bar':>7}   held")
    try:
        show(logs(args.corpus), "all logs")
    except ModuleNotFoundError as error:
        print(f"(to read logs: pip install {error.name})")
    if not found:
        print(f"(no logs from {args.corpus}: only texts made here; name a folder by --corpus or SPILLOVER_CORPUS)")
    show(made(random.Random(1)), "all made here")

    speed = {}
    for size in (100, 10_000):
        text = (LINE * size)[:size]
        ours, exactly = micros(estimate, text), micros(count, text)
        speed[size] = {"estimate": ours, "exact": exactly}
        print(f"{size:>6,} bytes: estimate {ours:.1f} µs, exact {exactly:.1f} µs: {exactly / ours:.1f} times as fast")
    figures = {"rows": [{**asdict(row), "held": row.held} for row in found], "microseconds": speed}
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
