"""One pass over a stored output for its outline: sections, failures, warnings, and lines that are alike.

It goes block by block. Failures and sections are looked for in all of an output; lines that are alike are counted in all of it
up to SAMPLE, and in evenly spread blocks of a larger one. What is remembered has a cap: beyond it the smallest families and the
shortest sections are forgotten, the later before the earlier, so that the same output always has the same outline. How many
there were in all is still known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from spillover.document.clean import flat, is_plain
from spillover.kinds.log.classes import CLASSES, DISMISSED, EVIDENCE
from spillover.kinds.log.lines import FAMILY_BYTES, templates
from spillover.patterns.engine import Engine
from spillover.source.blob import Blob

Array: TypeAlias = np.ndarray[Any, Any]

#: Families, and sections, that are remembered.
MAX_REMEMBERED = 4_096
#: Bytes of a line that are kept to be shown.
SHOWN_BYTES = 400
BLOCK = 1 << 20
#: Bytes in which lines that are alike are counted.
SAMPLE = 64 << 20
#: Bytes that are looked at of a line longer than a block.
LONG_LINE_BYTES = 4_096
#: Lines that tell whether lines begin with a clock, and the width of the shortest clock.
CLOCK_LINES = 20
CLOCK_WIDTH = 8
CLOCK = re.compile(rb"\[?\d[\d/:T.,+Z-]*(?: \d\d:[\d:.,]+)?\]?[ \t]+")

#: What a section begins with, and in which list of them it is. See kinds/log/classes.py for how patterns are written.
SECTION_HEADS: dict[str, tuple[str, ...]] = {
    "commands": (
        r"^\$ \S",
        r"^\+{1,3} [\w./\[]",  # set -x
        r"^==> |^::group::|##\[(?:group|section|command)\]|^\[command\]|^travis_fold:start|^The command \"",
        r"^Run [\w./@-]",
        r"^g?make(?:\[\d+\])?: Entering directory",
        r"^> \S+@\S+ \S",  # npm run
        r"^Step \d+/\d+ : |^#\d+ \[",  # docker build
        r"^(?:TASK|PLAY|RUNNING HANDLER) (?:\[|RECAP)",
        r"^\[INFO\] (?:-{3} \S|-+< )",  # Maven
        CLASSES["title"].pattern,
    ),
    "headings": (r"^#{1,4} [A-Z0-9`*\[]",),
    "files": (r"^diff -|^Index: ",),
    "names": (r"^--- \S",),
}
#: Evidence that may mean something else; said by a line that went well, it does not mean what it says.
WEAK = "crash"
DOUBTS_OF_WEAK = ("passed", "progress", "advice")

_SIGNS = (*EVIDENCE, "warning")
_NAMED_HEADS = [(name, pattern) for name, patterns in SECTION_HEADS.items() for pattern in patterns]
_SIGN_ENGINE = Engine(
    [*(CLASSES[name].pattern.encode() for name in _SIGNS), *(pattern.encode() for _, pattern in _NAMED_HEADS)],
    caseless=[*(CLASSES[name].any_case for name in _SIGNS), *(False for _ in _NAMED_HEADS)],
)
_DOUBTS = (*DISMISSED, *DOUBTS_OF_WEAK)
_DOUBT_ENGINE = Engine(
    [CLASSES[name].pattern.encode() for name in _DOUBTS], caseless=[CLASSES[name].any_case for name in _DOUBTS]
)


class Survey(Struct, frozen=True):
    """What one pass found."""

    failures: Families
    warnings: Families
    alike: Families
    parts: dict[str, Sections]
    first_failure: int  # a line, 0 for none; one that is sure, where there is one
    sampled: int  # bytes in which lines that are alike were counted
    longest: tuple[int, int]  # the longest line and how many bytes it has


def scan(blob: Blob) -> Survey:
    """Survey all of an output."""
    failures, warnings, alike = Families(), Families(), Families()
    parts = {name: Sections() for name in SECTION_HEADS}
    sure = unsure = sampled = 0
    longest = (0, 0)
    total = -(-blob.size // BLOCK)
    share = min(total, SAMPLE // BLOCK)
    for nth, (number, data, giant) in enumerate(_blocks(blob)):
        block = _Block(data, number)
        found = block.find_signs()
        bad, weak = block.find_failures(found)
        sure = sure or _first_of(block.numbers(bad & ~weak))
        unsure = unsure or _first_of(block.numbers(weak))
        failures.add(*block.families(bad), weak[bad].tolist())
        warnings.add(*block.families(block.drop_doubtful(found["warning"] & ~bad)))
        for name, part in parts.items():
            last = number + len(block.lines) - 1
            part.add(block.numbers(found[name]), block.numbers(bad), last, block.line_at)
        if nth * share // total != (nth - 1) * share // total:
            alike.add(*block.families())
            sampled += len(data)
        longest = max(longest, block.longest(giant), key=lambda line: line[1])
    counted = sampled if share < total else blob.size
    return Survey(failures, warnings, alike, parts, sure or unsure, counted, longest)


def _any_of(rows: Array) -> Array:
    """Return which lines are in at least one of the rows."""
    lines: Array = np.logical_or.reduce(rows, axis=0)
    return lines


def _first_of(numbers: Array) -> int:
    return int(numbers[0]) if len(numbers) else 0


def _blocks(blob: Blob) -> Iterator[tuple[int, bytes, int]]:
    """Yield whole lines, a block at a time: the number of the first, the bytes, and the size of the last one if it is cut."""
    number, at, begun = 1, 0, 0
    rest, held = b"", b""
    while at < blob.size and (data := blob.read(at, at + BLOCK)):
        at += len(data)
        if held:  # inside of a line longer than a block
            newline = data.find(b"\n")
            if newline < 0:
                continue
            yield number, held, at - len(data) + newline - begun
            number += held.count(b"\n")
            held, data = b"", data[newline + 1 :]
        data = rest + data
        cut = data.rfind(b"\n") + 1
        whole, rest = data[:cut], data[cut:]
        if len(rest) >= BLOCK:
            begun = at - len(rest)
            held, rest = whole + rest[:LONG_LINE_BYTES] + b"\n", b""
        elif whole:
            yield number, whole, 0
            number += whole.count(b"\n")
    if held:
        yield number, held, at - begun
    elif rest:
        yield number, rest + b"\n", 0


class _Block:
    """Some lines of an output, counted from 0."""

    def __init__(self, data: bytes, number: int) -> None:
        self.number = number
        self.raw = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
        self.view = data if is_plain(data) else flat(data).encode("utf-8", "replace")
        self.lines = self.view.split(b"\n")
        self.lines.pop()  # behind the last line end

    def line_at(self, number: int) -> bytes:
        return self.lines[number - self.number]

    def longest(self, giant: int) -> tuple[int, int]:
        """Return the longest line and its bytes; `giant`: those of the last one, where it is cut."""
        sizes = np.diff(self.raw, prepend=-1) - 1
        if giant:
            sizes[-1] = giant
        at = int(sizes.argmax())
        return self.number + at, int(sizes[at])

    def find_signs(self) -> dict[str, Array]:
        """Return for every class and every kind of head the lines that it was found in."""
        table = _find_in_lines(_SIGN_ENGINE, self.view, _clock_width(self.lines[:CLOCK_LINES]))
        # A pattern may end with any space, line ends included; an empty line is nothing that it found.
        empty = [at for at in _any_of(table).nonzero()[0].tolist() if not self.lines[at].strip()]
        table[:, empty] = False
        names = [*_SIGNS, *(name for name, _ in _NAMED_HEADS)]
        rows = {name: [row for row, other in enumerate(names) if other == name] for name in names}
        found = {name: _any_of(table[which]) for name, which in rows.items()}
        for at in found["headings"].nonzero()[0].tolist():  # a comment in code seldom stands apart
            around = (*self.lines[max(0, at - 1) : at], *self.lines[at + 1 : at + 2])
            found["headings"][at] = not any(line.strip() for line in around)
        return found

    def find_failures(self, found: dict[str, Array]) -> tuple[Array, Array]:
        """Return the lines that say that something failed, and those of them that may mean something else."""
        surely = _any_of(np.array([found[name] for name in EVIDENCE if name != WEAK]))
        said = self.drop_doubtful(surely | found[WEAK])
        weak = self.drop_doubtful(said & ~surely, DOUBTS_OF_WEAK)
        return (said & surely) | weak, weak

    def drop_doubtful(self, which: Array, doubts: Sequence[str] = DISMISSED) -> Array:
        """Return the lines without those that contradict themselves, as `0 errors` does."""
        if not which.any():
            return which
        taken = _any_of(_find_in_lines(_DOUBT_ENGINE, self._text(which))[[_DOUBTS.index(name) for name in doubts]])
        left = which.copy()
        left[which] = ~taken
        return left

    def families(self, which: Array | None = None) -> tuple[list[bytes], Sequence[int], Callable[[int], bytes]]:
        """Return the arguments of `Families.add` for all lines, or for these."""
        keys = [key[:FAMILY_BYTES] for key in templates(self.view if which is None else self._text(which))]
        if which is None:
            return keys, range(self.number, self.number + len(keys)), self.line_at
        return keys, self.numbers(which).tolist(), self.line_at

    def numbers(self, which: Array) -> Array:
        numbers: Array = which.nonzero()[0] + self.number
        return numbers

    def _text(self, which: Array) -> bytes:
        return b"".join([self.lines[at] + b"\n" for at in which.nonzero()[0].tolist()])


def _clock_width(lines: Sequence[bytes]) -> int:
    """Return the width in bytes of the clock that most lines begin with, or 0."""
    widths = [found.end() for line in lines if (found := CLOCK.match(line))]
    width = max(widths, key=widths.count, default=0)
    return width if width >= CLOCK_WIDTH and 2 * widths.count(width) > len(lines) else 0


def _find_in_lines(engine: Engine, view: bytes, clock: int = 0) -> Array:
    """Return a row for each pattern: the lines it ends in. A line begins behind a clock of so many bytes."""
    data = np.frombuffer(view, dtype=np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(data == 10)[:-1] + 1))
    if clock:
        data = data.copy()
        first, last = data[np.minimum(starts + 1, len(data) - 1)], np.minimum(starts + clock - 1, len(data) - 1)
        data[last[(first >= 48) & (first < 58) & (data[last] == 32)]] = 10
        view = data.tobytes()
    hits: list[int] = []
    put = hits.append

    def found(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        put(end << 8 | number)

    engine.scan(view, found)
    every = np.array(hits, dtype=np.int64)
    table = np.zeros((len(_SIGNS) + len(_NAMED_HEADS), len(starts)), dtype=bool)  # no engine here has more patterns
    # An end is behind the last byte; an empty match at a line's end belongs to that line.
    table[every & 0xFF, np.searchsorted(starts, np.maximum(every >> 8, 1) - 1, side="right") - 1] = True
    return table


class Family(Struct, frozen=True):
    """Lines that are alike: how many, the first and the last of them, and the first as it stands."""

    count: int
    first: int
    last: int
    line: bytes
    exact: bool = True  # False: some of them may have been forgotten before
    weak: bool = False  # what it says may mean something else


class Families:
    """Lines that are alike, by what they have in common."""

    def __init__(self) -> None:
        self.lines = 0
        self.forgot = False
        self._families: dict[bytes, Family] = {}

    def add(
        self, keys: Sequence[bytes], numbers: Sequence[int], line_of: Callable[[int], bytes], weak: Sequence[bool] = ()
    ) -> None:
        """Add lines of one block, in order, each with its key and its number; `line_of` returns one by its number."""
        if not keys:
            return
        self.lines += len(keys)
        counts = Counter(keys)
        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        last = dict(zip(keys, range(len(keys)), strict=True))
        strong = {key for key, one in zip(keys, weak, strict=True) if not one} if weak else counts.keys()
        known = self._families.keys() & counts.keys()
        for key in known:  # one that was remembered all along misses none, whatever else was forgotten
            one = self._families[key]
            count, end, unsure = one.count + counts[key], numbers[last[key]], one.weak and key not in strong
            self._families[key] = Family(count, one.first, end, one.line, one.exact, unsure)
        # Most of ten million lines of which no two are alike are never looked at more closely than this.
        new = [(-count, first[key], key) for key, count in counts.items() if key not in known and key.strip()]
        exact = not self.forgot
        for count, at, key in nsmallest(MAX_REMEMBERED, new) if len(new) > MAX_REMEMBERED else new:
            begin = numbers[at]
            line = line_of(begin)[:SHOWN_BYTES]
            self._families[key] = Family(-count, begin, numbers[last[key]], line, exact, key not in strong)
        if len(new) > MAX_REMEMBERED or len(self._families) > MAX_REMEMBERED:
            self.forgot = True
            kept = sorted(self._families.items(), key=lambda item: (-item[1].count, item[1].first))
            self._families = dict(kept[:MAX_REMEMBERED])

    def ranked(self, least: int = 1) -> list[Family]:
        """Return the families of at least so many lines: what is sure first, then the largest, then the earliest."""
        found = (group for group in self._families.values() if group.count >= least)
        return sorted(found, key=lambda group: (group.weak, -group.count, group.first))


class OutlineSection(Struct, frozen=True):
    """A section: its lines, its first line as it stands, how many failures it has."""

    first: int
    last: int
    line: bytes
    failures: int = 0

    @property
    def lines(self) -> int:
        return self.last - self.first + 1

    def until(self, last: int, failures: int) -> OutlineSection:
        return OutlineSection(self.first, last, self.line, self.failures + failures)


class Sections:
    """Sections, each up to the next. What stands before the first of them is a section without a title."""

    def __init__(self) -> None:
        self.titled = 0
        self.begin = 0  # where the first one with a title begins
        self._open = OutlineSection(1, 0, b"")
        self._closed: list[OutlineSection] = []

    def add(self, heads: Array, failures: Array, last: int, line_of: Callable[[int], bytes]) -> None:
        """Add the heads and the failures of one block, by line number; `last` is its last line."""
        inside = np.bincount(np.searchsorted(heads, failures, side="right"), minlength=len(heads) + 1)
        if not len(heads):
            self._open = self._open.until(last, int(inside[0]))
            return
        self.titled += len(heads)
        self.begin = self.begin or int(heads[0])
        self._close(self._open.until(int(heads[0]) - 1, int(inside[0])))
        lasts = np.append(heads[1:] - 1, last)
        chosen = np.arange(len(heads))
        if len(heads) > MAX_REMEMBERED:  # the last one is still open
            order = np.lexsort((heads, heads - lasts, inside[1:] == 0))[:MAX_REMEMBERED]
            chosen = np.union1d(order, [len(heads) - 1])
        for at in chosen.tolist():
            part = OutlineSection(
                int(heads[at]), int(lasts[at]), line_of(int(heads[at]))[:SHOWN_BYTES], int(inside[at + 1])
            )
            if at == len(heads) - 1:
                self._open = part
            else:
                self._close(part)
        if len(self._closed) > MAX_REMEMBERED:
            self._closed = _ranked(self._closed)[:MAX_REMEMBERED]

    def ranked(self) -> list[OutlineSection]:
        """Return all sections: those with failures first, then the longest, then the earliest."""
        return _ranked([*self._closed, self._open] if self._open.lines else self._closed)

    def _close(self, part: OutlineSection) -> None:
        if part.lines:
            self._closed.append(part)


def _ranked(parts: Sequence[OutlineSection]) -> list[OutlineSection]:
    return sorted(parts, key=lambda part: (part.failures == 0, -part.lines, part.first))
