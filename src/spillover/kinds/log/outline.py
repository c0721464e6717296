"""The outline of a log: one pass over all of it for sections, failures, warnings, and lines that are alike.

Failures and sections are looked for everywhere. Lines that are alike are counted in all of an output up to
SAMPLE_BYTES, and in evenly spread blocks of a larger one. What is remembered has a cap: beyond it the smallest families
and the shortest sections are forgotten, the later before the earlier, so that the same output always has the same
outline. How many there were in all is still known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import compress

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from spillover.document.clean import flatten, is_plain
from spillover.kinds.log.classes import CLASSES, DISMISSED, EVIDENCE, Array
from spillover.kinds.log.lines import FAMILY_BYTES, templates
from spillover.kinds.selection import Contents, Part
from spillover.patterns import PatternSet
from spillover.source.blob import Blob

#: Families, and sections, that are remembered: more of them take memory in proportion.
MAX_REMEMBERED = 4_096
#: Bytes of a line that are kept to be shown.
SHOWN_BYTES = 400
#: Bytes that are searched at once: the arrays of a block take several times as many.
BLOCK_BYTES = 1 << 20
#: Bytes in which lines that are alike are counted; with more, a huge output takes longer and its counts are exact.
SAMPLE_BYTES = 64 << 20
#: Bytes that are looked at of a line longer than a block.
LONG_LINE_BYTES = 4_096
#: Lines that tell whether lines begin with a clock, and the width of the shortest clock in bytes.
CLOCK_LINES = 20
MIN_CLOCK_BYTES = 8
CLOCK = re.compile(rb"\[?\d[\d/:T.,+Z-]*(?: \d\d:[\d:.,]+)?\]?[ \t]+")
#: Fewer headings make no sections: a line or two may begin with # for other reasons.
MIN_HEADINGS = 3
#: Of more sections than this, one without failures is shown if it has at least one in MAX_SHARE of all lines.
FEW_SECTIONS = 12
MAX_SHARE = 100

#: What a section begins with. See kinds/log/classes.py for how patterns are written.
COMMANDS = (
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
)
HEADINGS = (r"^#{1,4} [A-Z0-9`*\[]",)
#: Evidence that may mean something else: on a line that reports success it counts for nothing.
WEAK = "crash"
DOUBTS_OF_WEAK = ("passed", "progress", "advice")

_SIGNS = (*EVIDENCE, "warning", *("commands" for _ in COMMANDS), *("headings" for _ in HEADINGS))
_SIGN_ENGINE = PatternSet(
    [*(CLASSES[name].pattern.encode() for name in (*EVIDENCE, "warning")), *map(str.encode, (*COMMANDS, *HEADINGS))],
    caseless=[name in CLASSES and CLASSES[name].any_case for name in _SIGNS],
)
_DOUBTS = (*DISMISSED, *DOUBTS_OF_WEAK)
_DOUBT_ENGINE = PatternSet(
    [CLASSES[name].pattern.encode() for name in _DOUBTS], caseless=[CLASSES[name].any_case for name in _DOUBTS]
)


class Survey(Struct, frozen=True):
    """The findings of one pass over an output."""

    failures: Families
    warnings: Families
    alike: Families
    commands: Sections
    headings: Sections
    first_failure: int  # the number of a line, 0 for none; of one that surely failed, where there is one
    sampled_bytes: int  # in which lines that are alike were counted
    longest_line: int
    longest_bytes: int

    @property
    def sections(self) -> Contents | None:
        """The sections of a log, first the ones with failures, then the longest; None if nothing divides it."""
        group = self.headings
        if group.titled < MIN_HEADINGS or 0 < self.commands.begin <= group.begin:
            group = self.commands  # below headings, commands are examples
        if not group.titled:
            return None
        sections = group.ranked()
        lines = sum(section.lines for section in sections)
        large = [each for each in sections if each.failures or each.lines * MAX_SHARE >= lines]
        shown = sections if len(sections) <= FEW_SECTIONS else large or sections
        parts = [Part(flatten(each.head), each.first, each.last, each.failures) for each in shown]
        return Contents("Sections", parts, group.titled + any(not each.head for each in sections))


def survey(blob: Blob) -> Survey:
    """Look through all of an output."""
    failures, warnings, alike = Families(), Families(), Families()
    commands, headings = Sections(), Sections()
    first_sure = first_weak = sampled_bytes = longest_line = longest_bytes = 0
    blocks = -(-blob.size // BLOCK_BYTES)
    samples = min(blocks, SAMPLE_BYTES // BLOCK_BYTES)
    for nth, (number, data, cut_bytes) in enumerate(_read_blocks(blob)):
        block = _Block(data, number)
        signs = block.find_signs()
        failed, weak = block.find_failures(signs)
        first_sure = first_sure or block.find_first(failed & ~weak)
        first_weak = first_weak or block.find_first(weak)
        failures.add(block, failed, weak)
        warnings.add(block, block.drop_doubtful(signs["warning"] & ~failed))
        commands.add(block, signs["commands"], failed)
        headings.add(block, signs["headings"], failed)
        if nth * samples // blocks != (nth - 1) * samples // blocks:
            alike.add(block, np.ones(len(block.lines), dtype=bool))
            sampled_bytes += len(data)
        line, size = block.find_longest(cut_bytes)
        if size > longest_bytes:
            longest_line, longest_bytes = line, size
    return Survey(
        failures,
        warnings,
        alike,
        commands,
        headings,
        first_failure=first_sure or first_weak,
        sampled_bytes=sampled_bytes if samples < blocks else blob.size,
        longest_line=longest_line,
        longest_bytes=longest_bytes,
    )


def _read_blocks(blob: Blob) -> Iterator[tuple[int, bytes, int]]:
    """Yield whole lines, a block at a time: the number of the first, their bytes, the size of the last if it is cut."""
    number, at, long_start = 1, 0, 0
    rest, cut = b"", b""  # the beginning of a line; lines of which the last is cut, since it is longer than a block
    while at < blob.size and (data := blob.read(at, at + BLOCK_BYTES)):
        at += len(data)
        if cut:
            newline = data.find(b"\n")
            if newline < 0:
                continue
            yield number, cut, at - len(data) + newline - long_start
            number += cut.count(b"\n")
            cut, data = b"", data[newline + 1 :]
        data = rest + data
        end = data.rfind(b"\n") + 1
        lines, rest = data[:end], data[end:]
        if len(rest) >= BLOCK_BYTES:
            long_start = at - len(rest)
            cut, rest = lines + rest[:LONG_LINE_BYTES] + b"\n", b""
        elif lines:
            yield number, lines, 0
            number += lines.count(b"\n")
    if cut:
        yield number, cut, at - long_start
    elif rest:
        yield number, rest + b"\n", 0


class _Block:
    """Some lines of an output, counted from 0."""

    def __init__(self, data: bytes, number: int) -> None:
        self.number = number
        self.ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
        self.view = data if is_plain(data) else flatten(data).encode("utf-8", "replace")
        self.lines = self.view.split(b"\n")
        self.lines.pop()  # behind the last line end

    def find_first(self, lines: Array) -> int:
        """Return the number of the first of these lines, 0 if there is none."""
        return self.number + int(lines.argmax()) if lines.any() else 0

    def find_longest(self, cut_bytes: int) -> tuple[int, int]:
        """Return the longest line and its bytes; `cut_bytes`: those of the last one, if it is cut."""
        sizes = np.diff(self.ends, prepend=-1) - 1
        if cut_bytes:
            sizes[-1] = cut_bytes
        at = int(sizes.argmax())
        return self.number + at, int(sizes[at])

    def find_signs(self) -> dict[str, Array]:
        """Return for each class, and each kind of section, the lines that it was found in."""
        table = _search_lines(_SIGN_ENGINE, len(_SIGNS), self.view, _clock_bytes(self.lines[:CLOCK_LINES]))
        # A pattern may end with any space, line ends included, so it may match an empty line.
        empty = [at for at in table.any(axis=0).nonzero()[0].tolist() if not self.lines[at].strip()]
        table[:, empty] = False
        rows = {name: [row for row, sign in enumerate(_SIGNS) if sign == name] for name in _SIGNS}
        signs = {name: table[numbers].any(axis=0) for name, numbers in rows.items()}
        for at in signs["headings"].nonzero()[0].tolist():  # a comment in code seldom stands apart
            around = (*self.lines[max(0, at - 1) : at], *self.lines[at + 1 : at + 2])
            signs["headings"][at] = not any(line.strip() for line in around)
        return signs

    def find_failures(self, signs: dict[str, Array]) -> tuple[Array, Array]:
        """Return the lines that say that something failed, and those of them that may mean something else."""
        sure = np.any([signs[name] for name in EVIDENCE if name != WEAK], axis=0)
        failed = self.drop_doubtful(sure | signs[WEAK])
        weak = self.drop_doubtful(failed & ~sure, DOUBTS_OF_WEAK)
        return (failed & sure) | weak, weak

    def drop_doubtful(self, lines: Array, doubts: Sequence[str] = DISMISSED) -> Array:
        """Return the lines without those that contradict themselves, as `0 errors` does."""
        if not lines.any():
            return lines
        table = _search_lines(_DOUBT_ENGINE, len(_DOUBTS), self.text(lines))
        left = lines.copy()
        left[lines] = ~table[[_DOUBTS.index(name) for name in doubts]].any(axis=0)
        return left

    def text(self, lines: Array) -> bytes:
        """Return these lines, each with its end."""
        return b"".join([line + b"\n" for line in compress(self.lines, lines.tolist())])


def _clock_bytes(lines: Sequence[bytes]) -> int:
    """Return the width of the clock that most lines begin with, or 0."""
    widths = [match.end() for line in lines if (match := CLOCK.match(line))]
    width = max(widths, key=widths.count, default=0)
    return width if width >= MIN_CLOCK_BYTES and 2 * widths.count(width) > len(lines) else 0


def _search_lines(engine: PatternSet, patterns: int, view: bytes, clock: int = 0) -> Array:
    """Return a row for each pattern: the lines it ends in. A line begins behind its clock."""
    data = np.frombuffer(view, dtype=np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(data == 10)[:-1] + 1))
    if clock:
        data = data.copy()
        second = data[np.minimum(starts + 1, len(data) - 1)]
        last = np.minimum(starts + clock - 1, len(data) - 1)
        data[last[(second >= 48) & (second < 58) & (data[last] == 32)]] = 10
        view = data.tobytes()
    hits: list[int] = []

    def add_hit(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        hits.append(end << 8 | number)

    engine.scan(view, add_hit)
    matches = np.array(hits, dtype=np.int64)
    table = np.zeros((patterns, len(starts)), dtype=bool)
    # An end is behind the last byte; an empty match at a line's end belongs to that line.
    table[matches & 0xFF, np.searchsorted(starts, np.maximum(matches >> 8, 1) - 1, side="right") - 1] = True
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

    def add(self, block: _Block, lines: Array, weak: Array | None = None) -> None:
        """Add lines of the next block; `weak`: those that may mean something else."""
        keys = [key[:FAMILY_BYTES] for key in templates(block.text(lines))]
        if not keys:
            return
        self.lines += len(keys)
        counts = Counter(keys)
        rows = lines.nonzero()[0].tolist()
        first = dict(zip(reversed(keys), reversed(rows), strict=True))
        last = dict(zip(keys, rows, strict=True))
        sure = set(keys) if weak is None else set(compress(keys, (~weak[lines]).tolist()))
        repeated = self._families.keys() & counts.keys()
        for key in repeated:  # one that was remembered all along misses none, whatever else was forgotten
            family = self._families[key]
            self._families[key] = replace(
                family,
                count=family.count + counts[key],
                last=block.number + last[key],
                weak=family.weak and key not in sure,
            )
        # Most of ten million lines of which no two are alike are never looked at more closely than this.
        new = [(-count, first[key], key) for key, count in counts.items() if key not in repeated and key.strip()]
        exact = not self.forgot
        for count, row, key in nsmallest(MAX_REMEMBERED, new) if len(new) > MAX_REMEMBERED else new:
            line = block.lines[row][:SHOWN_BYTES]
            numbers = block.number + row, block.number + last[key]
            self._families[key] = Family(-count, *numbers, line, exact, key not in sure)
        if len(new) > MAX_REMEMBERED or len(self._families) > MAX_REMEMBERED:
            self.forgot = True
            largest = sorted(self._families.items(), key=lambda item: (-item[1].count, item[1].first))
            self._families = dict(largest[:MAX_REMEMBERED])

    def ranked(self, least: int = 1) -> list[Family]:
        """Return families of at least this number of lines: sure ones first, then the largest, then the earliest."""
        families = (family for family in self._families.values() if family.count >= least)
        return sorted(families, key=lambda family: (family.weak, -family.count, family.first))


class LogSection(Struct, frozen=True):
    """A section: its lines, its first line as it stands, how many failures it has."""

    first: int
    last: int
    head: bytes  # b"" for what stands before the first section
    failures: int = 0

    @property
    def lines(self) -> int:
        return self.last - self.first + 1


class Sections:
    """Sections, each up to the next. What stands before the first of them is a section without a title."""

    def __init__(self) -> None:
        self.titled = 0
        self.begin = 0  # the line with the first title
        self._open = LogSection(1, 0, b"")
        self._closed: list[LogSection] = []

    def add(self, block: _Block, heads: Array, failed: Array) -> None:
        """Add the lines of the next block that begin a section, and those that failed."""
        rows = heads.nonzero()[0]
        failures = np.bincount(rows.searchsorted(failed.nonzero()[0], side="right"), minlength=len(rows) + 1)
        edges = block.number + np.append(rows, len(block.lines))
        self._open = replace(self._open, last=int(edges[0]) - 1, failures=self._open.failures + int(failures[0]))
        if not len(rows):
            return
        self.titled += len(rows)
        self.begin = self.begin or int(edges[0])
        # Of very many, the best are remembered, and the last one, which is still open.
        order = np.lexsort((rows, -np.diff(edges), failures[1:] == 0))[:MAX_REMEMBERED]
        for at in sorted({*order.tolist(), len(rows) - 1}):
            if self._open.lines:
                self._closed.append(self._open)
            head = block.lines[rows[at]][:SHOWN_BYTES]
            self._open = LogSection(int(edges[at]), int(edges[at + 1]) - 1, head, int(failures[at + 1]))
        if len(self._closed) > MAX_REMEMBERED:
            self._closed = _rank(self._closed)[:MAX_REMEMBERED]

    def ranked(self) -> list[LogSection]:
        """Return all sections: those with failures first, then the longest, then the earliest."""
        return _rank([*self._closed, self._open] if self._open.lines else self._closed)


def _rank(sections: Sequence[LogSection]) -> list[LogSection]:
    return sorted(sections, key=lambda section: (section.failures == 0, -section.lines, section.first))
