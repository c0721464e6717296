"""Several stored outputs at once: `last:3`, a list of refs, a tool's name, `all`; read, searched, or ranked by words."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import RefError, SpilloverError, UsageError
from spillover.ledger.note import note_retrieval
from spillover.notice.words import lines_of, one_line
from spillover.result import Clip
from spillover.retrieve.answer import fill
from spillover.retrieve.asked import word_for_models
from spillover.retrieve.opening import opened
from spillover.select.ends import most
from spillover.show.fit import trim
from spillover.view.clean import look as clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.choices import Choices

#: At most so many outputs are looked at together, and so much of each, and of all of them.
MOST, EACH_BYTES, ALL_BYTES = 50, 16 << 20, 64 << 20
#: A word is counted at most so often in one output; a line is shown up to this.
HITS, LINE_CHARS = 20_000, 300
#: The two numbers of BM25, as usual.
K1, B = 1.2, 0.75
#: So many of those that cannot be read are named.
UNREAD = 3
ALL = "all"


def refs_of(choices: Choices, ref: Any) -> list[str] | None:
    """Return the refs that are meant where that is several; None where it is one, and found as ever."""
    if isinstance(ref, (list, tuple)):
        if not ref or not all(isinstance(one, str) for one in ref):
            raise UsageError('a list of refs holds names, e.g. ["bash-7f3a9c2e41d05b86", "last"].')
        return list(dict.fromkeys(ref))[:MOST] if len(ref) > 1 else None
    if not isinstance(ref, str):
        return None
    text = ref.strip()
    if "," in text:
        return refs_of(choices, [part.strip() for part in text.split(",") if part.strip()])
    head, _, count = text.partition(":")
    if text == ALL or (head == "last" and count.isdecimal()):
        newest, _ = choices.outputs.newest(min(MOST, int(count) if count else MOST))
        return [record.ref for record in newest]
    if text.startswith("last") or "-" in text:
        return None
    named = [record.ref for record in choices.outputs.looked_through()[0] if record.tool == text]
    return named[:MOST] or None


def each(choices: Choices, refs: Sequence[str], ask: Callable[[Choices, str], Clip]) -> Clip:
    """Return the answers for several outputs, each under its name, in equal parts of the limits."""
    if not refs:
        raise RefError("Nothing is stored here yet.")
    shares = choices.limits.share(0.9 / len(refs))
    out: list[str] = []
    for ref in refs:
        try:
            said = ask(replace(choices, limits=shares, trigger=None), ref).text
        except UsageError:
            if len(refs) <= 2:
                raise
            raise UsageError(
                f"{len(refs)} outputs leave too little room for each; ask for fewer, or rank them."
            ) from None
        except SpilloverError as error:
            said = f"[{one_line(word_for_models(error), 200)}]"
        out.append(f"== {ref}\n{said.rstrip()}\n")
    count = most(len(out), lambda number: fill("".join(out[:number]), choices))
    return Clip("".join(out[:count]), _count=choices.count, _limits=choices.limits)


class _Line(Struct, frozen=True):
    ref: str
    number: int
    start: int
    end: int
    counts: tuple[int, ...]  # of each word


def rank(choices: Choices, refs: Sequence[str], words: str) -> Clip:
    """Return the lines of several outputs that say most about some words, the best first (BM25)."""
    asked = list(dict.fromkeys(word for word in _split(words) if word))[:16]
    if not asked:
        raise UsageError("rank by words, e.g. pattern='port 5432'.")
    choices = choices.within_budget()
    found: list[_Line] = []
    texts: dict[tuple[str, int], str] = {}
    total, size, bytes_left = 0, 0, ALL_BYTES
    unread: list[str] = []
    for ref in refs:
        try:
            record, document = opened(choices, ref)
            try:
                data = document.blob.read(0, min(document.size, EACH_BYTES, bytes_left))
            finally:
                document.blob.close()
        except SpilloverError as error:
            if len(refs) == 1:
                raise
            said = str(error)
            unread.append(f"[{one_line(said if ref in said else f'{ref}: {said}', 200)}.]\n")
            continue
        bytes_left -= len(data)
        total += max(1, record.lines)
        size += len(data)
        lines = _find(record.ref, data, asked)
        found += lines
        texts |= {(line.ref, line.start): _show_line(choices, data[line.start : line.end]) for line in lines[:HITS]}
        if bytes_left <= 0:
            break
    average = max(1.0, size / max(1, total))
    holding = [sum(1 for line in found if line.counts[at]) for at in range(len(asked))]
    weights = [math.log(1 + (total - held + 0.5) / (held + 0.5)) for held in holding]

    def score(line: _Line) -> float:
        long = K1 * (1 - B + B * (line.end - line.start) / average)
        return sum(
            weight * count * (K1 + 1) / (count + long) for weight, count in zip(weights, line.counts, strict=True)
        )

    best = sorted(found, key=lambda line: (-score(line), refs.index(line.ref) if line.ref in refs else 0, line.number))
    more = f"[{len(unread) - UNREAD:,} more could not be read.]\n" * (len(unread) > UNREAD)
    not_read = "".join(unread[:UNREAD]) + more
    rows = [f"{line.ref}:{line.number}: {texts[line.ref, line.start]}\n" for line in best[:500]]

    read = len(refs) - len(unread)
    outputs = f"{read:,} output{'' if read == 1 else 's'}"

    def text(count: int) -> str:
        end = f"[{count:,} of {lines_of(len(found))} in {outputs}, the best first.]"
        return "".join(rows[:count]) + not_read + end

    count = most(len(rows), lambda number: fill(text(number), choices))
    said = trim(text(count), choices)
    choices.spend(said)
    clip = Clip(said, _ranges=((1, count),) if count else (), _count=choices.count, _limits=choices.limits)
    note_retrieval(choices, "grep", said, clip=clip)
    return clip


def _find(ref: str, data: bytes, words: Sequence[str]) -> list[_Line]:
    """Return the lines that hold any of the words, with how often each."""
    low = data.lower()
    counts: dict[int, list[int]] = {}
    for at, word in enumerate(words):
        needle, place = word.encode(), -1
        for _ in range(HITS):
            place = low.find(needle, place + 1)
            if place < 0:
                break
            start = low.rfind(b"\n", 0, place) + 1
            counts.setdefault(start, [0] * len(words))[at] += 1
    out, number, before = [], 1, 0
    for start in sorted(counts):
        number += data.count(b"\n", before, start)
        before = start
        end = data.find(b"\n", start)
        out.append(_Line(ref, number, start, len(data) if end < 0 else end, tuple(counts[start])))
    return out


def _show_line(choices: Choices, line: bytes) -> str:
    text = clean_line(line[: 4 * LINE_CHARS])[0]
    guard = choices.guard()
    return one_line(text if guard is None else guard(text), LINE_CHARS)


def _split(words: str) -> list[str]:
    """Return the words of a question: letters, digits, and what stands inside of names."""
    return "".join(char if char.isalnum() or char in "_-./:" else " " for char in words.lower()).split()
