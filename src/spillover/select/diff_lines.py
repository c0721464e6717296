"""The lines of a small diff in arrays: its files, hunks and changed lines at once, as `diff_parts.py` finds them one by one."""

from __future__ import annotations

import re
import sys
from itertools import pairwise, repeat

from spillover.base import process
from spillover.base.data import dataclass
from spillover.base.work import OBJECT
from spillover.select.arrays import find_byte, group, load, steps
from spillover.select.diff_parts import (
    COMMIT_HEADER,
    FILE_HEADER,
    HUNK,
    MARKS,
    WINDOW,
    Commit,
    File,
    Parts,
    read_commit,
    read_file,
)
from spillover.select.span import Span
from spillover.view.document import ONE_THREAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.base.work import Work
    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: In a process that clips once, numpy is loaded for a diff of this size; for less, reading header by header is quicker.
LARGE = 1 << 19
#: What a line may be: the header of a hunk, that of a file, a commit, two lines that name a file, or nothing of these.
NONE, HUNK_BEGINS, FILE_BEGINS, COMMIT_BEGINS, NAMES_BEGIN = range(5)
PLUS, MINUS = b"+-"
#: How git names a file, on all of a line.
_NAMED = re.compile(rb"\+\+\+ b/([^\t\r\n]++)\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """A diff and the changed lines of its hunks, one by one and in runs with nothing between them."""

    parts: Parts
    file: Array  # of each hunk
    start: Array  # of each changed line in a hunk
    end: Array
    added: Array  # whether it is new
    of_hunk: Array  # the number of the first one in each hunk, and of all
    bare: bytes  # the diff without some bytes, which has the same lines
    bare_start: Sequence[int]  # of each run of changed lines in it
    bare_end: Sequence[int]
    runs_of_hunk: Sequence[int]  # the number of the first one in each hunk, and of all

    def changed_in(self, number: int) -> list[tuple[int, int, str]]:
        """Return where the changed lines of a hunk begin and end."""
        low, high = int(self.of_hunk[number]), int(self.of_hunk[number + 1])
        return list(zip(self.start[low:high].tolist(), self.end[low:high].tolist(), repeat("")))

    def added_in(self, numbers: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return the new lines of hunks, each with the number of its hunk."""
        import numpy as np

        lines, counts = self._lines_of(numbers)
        new = self.added[lines]
        columns = np.array(numbers).repeat(counts)[new], self.start[lines[new]], self.end[lines[new]]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def bare_hunks(self) -> list[bytes]:
        """Return the changed lines of each hunk without the bytes that are left out."""
        bare, runs = self.bare, list(zip(self.bare_start, self.bare_end, strict=True))
        return [
            bare[runs[low][0] : runs[low][1]]
            if high - low == 1
            else b"\n".join([bare[start:end] for start, end in runs[low:high]])
            for low, high in pairwise(self.runs_of_hunk)
        ]

    def order(self, dull: Sequence[int], files: Sequence[int], weights: Sequence[int]) -> list[int]:
        """Return the order in which hunks get room: by how dull each is, the name of each file, and how long that waits."""
        import numpy as np

        rank = np.array(dull)
        name = np.array(files)[self.file[: len(rank)]]
        order = (name * (int(rank.max()) + 1) + rank).argsort(kind="stable")  # by name, the least dull of each first
        _, starts, sizes = group(name)
        turn = np.empty(len(rank), dtype=np.int64)
        turn[order] = np.arange(len(rank)) - starts.repeat(sizes)
        return (turn + np.array(weights)[name] + np.maximum(rank - 1, 0)).argsort(kind="stable").tolist()  # type: ignore[no-any-return]

    def join(
        self, numbers: Sequence[int], upto: int, more: Sequence[tuple[int, int]], hole: int, work: Work
    ) -> list[Span]:
        """Return spans of the first so many changed lines of hunks and of more places, as `join_places` does."""
        import numpy as np

        lines, _ = self._lines_of(numbers, upto)
        work.spend(OBJECT * (len(lines) + len(more)))
        first, last = np.array(more).T
        start = np.concatenate((first, self.start[lines]))
        order = start.argsort(kind="stable")
        start, end = start[order], np.maximum.accumulate(np.concatenate((last, self.end[lines]))[order])
        apart = start[1:] > end[:-1] + hole
        starts, ends = start[np.concatenate(([True], apart))], end[np.concatenate((apart, [True]))]
        return list(map(Span, starts.tolist(), ends.tolist()))

    def _lines_of(self, numbers: Sequence[int], upto: int | None = None) -> tuple[Array, Array]:
        """Return which changed lines these hunks have, the first so many of each, and how many each has."""
        import numpy as np

        hunks = np.array(numbers)
        low, high = self.of_hunk[hunks], self.of_hunk[hunks + 1]
        counts = high - low if upto is None else np.minimum(high - low, upto)
        return (low + counts - counts.cumsum()).repeat(counts) + np.arange(int(counts.sum())), counts


def read_lines(document: Document, without: bytes) -> Lines | None:
    """Return a diff in arrays; None where it is large or coloured, or loading numpy would take longer."""
    size = document.size
    if size > ONE_THREAD or (process.ours and "numpy" not in sys.modules and size < LARGE):
        return None
    data = document.blob.read(0, size)
    if b"\x1b" in data or not data:
        return None
    load()
    import numpy as np

    text = np.frombuffer(data, dtype=np.uint8)
    start, end = _edges(text)
    document.work.spend(OBJECT * len(start))
    kind = _kinds(data, start)
    marks = kind.nonzero()[0][:MARKS]
    kinds = kind[marks]
    if (end[marks] - start[marks]).max(initial=0) > WINDOW:
        return None
    files, commits, opened = _read_files(document, data, start, marks, kinds)
    hunk = (kinds == HUNK_BEGINS) & (opened > 0)
    first = marks[hunk] + 1  # lines of each hunk: from, to
    last = np.concatenate((marks[1:], [len(start)]))[hunk]
    begins = text[start]
    added, removed = ((begins == sign).cumsum() for sign in (PLUS, MINUS))
    header, upto = start[marks[hunk]], np.concatenate((start, [size]))[last]
    body = end[marks[hunk]]
    columns = (
        header,
        body,
        upto,
        opened[hunk] - 1,
        added[last - 1] - added[first - 1],
        removed[last - 1] - removed[first - 1],
    )
    parts = Parts(commits, files, list(zip(*(column.tolist() for column in columns), strict=True)))
    return _find_changed(data, parts, opened[hunk] - 1, start, end, begins, first, last, without)


def _find_changed(
    data: bytes,
    parts: Parts,
    file: Array,
    start: Array,
    end: Array,
    begins: Array,
    first: Array,
    last: Array,
    without: bytes,
) -> Lines:
    import numpy as np

    inside = np.zeros(len(start) + 1, dtype=np.int8)
    inside[first] += 1
    inside[last] -= 1  # hunks do not overlap
    changed = (((begins == PLUS) | (begins == MINUS)) & (inside[:-1].cumsum(dtype=np.int8) > 0)).nonzero()[0]
    # A run ends where a line is missing. Between two hunks there is a header.
    breaks = (steps(changed, [-2], [len(start) + 1]) > 1).nonzero()[0]
    bare = data.translate(None, without)
    bare_start, bare_end = _edges(np.frombuffer(bare, dtype=np.uint8))
    run_first, run_last = changed[breaks[:-1]], changed[breaks[1:] - 1]
    ended = bare_end[run_last]
    ended -= np.frombuffer(bare, dtype=np.uint8)[ended - 1] == 0x0A
    edge = np.concatenate((first, [len(start)]))
    return Lines(
        parts,
        file,
        start[changed],
        end[changed],
        begins[changed] == PLUS,
        changed.searchsorted(edge),
        bare,
        bare_start[run_first].tolist(),
        ended.tolist(),
        run_first.searchsorted(edge).tolist(),
    )


def _edges(text: Array) -> tuple[Array, Array]:
    """Return where each line begins and ends, with what ends it."""
    import numpy as np

    end = find_byte(text, 0x0A) + 1
    if not len(end) or end[-1] < len(text):
        end = np.concatenate((end, [len(text)]))
    return np.concatenate(([0], end[:-1])), end


def _kinds(data: bytes, start: Array) -> Array:
    """Return what begins on each line."""
    import numpy as np

    words = np.ndarray((len(data),), dtype="<u4", buffer=data + bytes(4), strides=(1,))[start]
    kind = np.zeros(len(start), dtype=np.uint8)
    named = (words[:-2] == _word(b"--- ")) & (words[1:-1] == _word(b"+++ ")) & (words[2:] == _word(b"@@ -"))
    kind[:-2][named] = NAMES_BEGIN
    for first, pattern, which in (
        (b"@@ -", HUNK, HUNK_BEGINS),
        (b"diff", FILE_HEADER, FILE_BEGINS),
        (b"Inde", FILE_HEADER, FILE_BEGINS),
        (b"comm", COMMIT_HEADER, COMMIT_BEGINS),
        (b"From", COMMIT_HEADER, COMMIT_BEGINS),
    ):
        lines = (words == _word(first)).nonzero()[0]
        good = [pattern.match(data, at) is not None for at in start[lines].tolist()]
        kind[lines[np.array(good, dtype=bool)]] = which
    return kind


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")


def _read_files(
    document: Document, data: bytes, start: Array, marks: Array, kinds: Array
) -> tuple[list[File], list[Commit], Array]:
    """Return files and commits, and how many files have begun by each mark."""
    import numpy as np

    # Two lines that name a file begin one only where none has begun that has no hunk yet.
    before = np.concatenate(([COMMIT_BEGINS], kinds[:-1]))
    opens = (kinds == FILE_BEGINS) | ((kinds == NAMES_BEGIN) & ((before == HUNK_BEGINS) | (before == COMMIT_BEGINS)))
    closes = (kinds != NAMES_BEGIN).nonzero()[0]
    where = opens.nonzero()[0]
    # Of each: the line behind its header, and the last line of that, which names it as a rule.
    behind = np.concatenate((marks[closes], [len(start)]))[closes.searchsorted(where, side="right")]
    edges = np.concatenate((start, [len(data)]))
    is_commit = kinds == COMMIT_BEGINS
    columns = (edges[marks[where]], edges[behind], edges[behind - 1], is_commit.cumsum()[where] - 1)
    files = []
    for at, upto, line, commit in zip(*(column.tolist() for column in columns), strict=True):
        named = _NAMED.match(data, line) if upto - at <= WINDOW else None
        files.append(
            read_file(document, at, upto, commit)
            if named is None or named[1] == b"/dev/null"
            else File(at, upto, named[1].decode("utf-8", "replace"), commit)
        )
    upto = np.concatenate((start[marks[1:]], [len(data)]))[is_commit]
    places = zip(start[marks[is_commit]].tolist(), upto.tolist(), strict=True)
    return files, [read_commit(document, at, upto) for at, upto in places], opens.cumsum()
