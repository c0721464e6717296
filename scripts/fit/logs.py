"""A labelled log as lines, and which of them are needed."""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spillover.document.document import Document, Section
from spillover.kinds.log.lines import read_lines
from spillover.kinds.log.scan import find_pieces
from spillover.source.blob import MemoryBlob, Meter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from spillover.kinds.log.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: The corpora that the shipped weights are fitted on; others only measure.
CORPORA = ("cidiff", "logchunks", "swebench_eval")
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")


@dataclass(frozen=True, slots=True)
class Needle:
    """What must be kept: for each of its lines, the rows that hold it. All of them, or any."""

    rows: Sequence[Sequence[int]]
    every: bool


@dataclass(frozen=True, slots=True)
class Log:
    """The lines of a log that are looked at closely, and what is needed of it."""

    corpus: str
    project: str  # CORPUS/GROUP
    name: str
    tokens: int
    lines: Lines
    rare: Sequence[int]
    needed: Array  # a boolean for each line
    needles: Sequence[Needle]


def read(folder: Path, corpora: Sequence[str] = CORPORA) -> list[Log]:
    """Return the logs of some corpora, in an order that does not depend on the files'."""
    logs = [_log(corpus, record) for corpus in sorted(corpora) for record in _records(folder, corpus)]
    return sorted((log for log in logs if len(log.lines)), key=lambda log: (log.project, log.name))


def _records(folder: Path, corpus: str) -> Iterator[dict[str, Any]]:
    plain, packed = folder / f"{corpus}.jsonl", folder / f"{corpus}.jsonl.zst"
    if plain.exists():
        with plain.open(encoding="utf-8", newline="\n") as stream:
            yield from map(json.loads, stream)
        return
    if not packed.exists():
        message = f"{folder} has no {packed.name}. Name a folder that has it, or other corpora: --only NAME."
        raise FileNotFoundError(message)
    import zstandard

    with packed.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        yield from map(json.loads, io.TextIOWrapper(reader, encoding="utf-8", newline="\n"))


def lines_in(data: bytes) -> tuple[Lines, Sequence[int]]:
    """Return the lines of an output that are looked at closely, and where those begin that begin like no others."""
    meter = Meter()
    meter.feed(data, hashing=False)
    document = Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))
    seen = find_pieces(document, 0, len(data))
    return read_lines(document, seen.pieces), seen.rare_starts


def _log(corpus: str, record: dict[str, Any]) -> Log:
    data = record["log"].encode("utf-8", "replace")
    lines, rare = lines_in(data)
    needles = [Needle(rows, need == "all") for rows, need in _find(data, lines, record["needles"])]
    needed = np.zeros(len(lines), dtype=bool)
    for needle in needles:
        needed[_one_of_each(needle.rows)] = True
    return Log(corpus, f"{corpus}/{record['group']}", record["id"], record["tokens"], lines, rare, needed, needles)


def _find(
    data: bytes, lines: Lines, needles: Sequence[dict[str, Any]]
) -> Iterator[tuple[Sequence[Sequence[int]], str]]:
    """Yield for each needle the rows that hold each of its lines, and whether it needs all of them."""
    texts = [
        [fold(part) for part in re.split(r"[\r\n]+", ANSI.sub("", data[first:last].decode("utf-8", "replace")))]
        for first, last in zip(lines.first.tolist(), lines.last.tolist(), strict=True)
    ]
    where = defaultdict(list)
    for row, parts in enumerate(texts):
        for part in dict.fromkeys(parts):
            where[part].append(row)
    for needle in needles:
        yield [where.get(line) or _holding(line, texts) for line in needle["lines"]], needle["need"]


def _holding(line: str, texts: Sequence[Sequence[str]]) -> list[int]:
    """Return the rows that hold a line among other words, such as behind a clock."""
    return [row for row, parts in enumerate(texts) if any(line in part for part in parts)]


def fold(text: str) -> str:
    """Fold white space, as labels have it."""
    return " ".join(text.split())


def _one_of_each(rows: Sequence[Sequence[int]]) -> list[int]:
    """Return one row for each line of a needle: of several, the one nearest to the lines of which there is one."""
    sure = [each[0] for each in rows if len(each) == 1]
    middle = float(np.median(sure)) if sure else None
    return [each[0] if middle is None else min(each, key=lambda row: (abs(row - middle), row)) for each in rows if each]
