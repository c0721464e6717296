"""The lines of a small diff in arrays: its files, hunks and changed lines at once, as `diff_parts.py` finds them one by one."""

from __future__ import annotations

import sys
from itertools import repeat

from spillover.base import process
from spillover.base.data import dataclass
from spillover.base.work import OBJECT
from spillover.select.arrays import find_byte, group, load, steps
from spillover.select.diff_headers import HUNK_BEGINS, find_headers, read_files, read_words
from spillover.select.diff_parts import MARKS, WINDOW, Parts
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
PLUS, MINUS = b"+-"


@dataclass(frozen=True, slots=True)
class Lines:
    """A diff and the changed lines of its hunks, one by one and in runs with nothing between them."""

    parts: Parts
    hunks: Array  # a row for each column of a hunk
    opens: Array  # where each file begins
    names: Array  # where its first line ends, if that is known to name it; otherwise 0
    start: Array  # of each changed line in a hunk
    end: Array
    added: Array  # whether it is new
    of_hunk: Array  # the number of the first one in each hunk, and of all
    bare: bytes  # the diff without some bytes, which has the same lines
    bare_start: Array  # of each run of changed lines in it
    bare_end: Array
    runs_of_hunk: Array  # the number of the first one in each hunk, and of all

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
        import numpy as np

        low, runs = self.runs_of_hunk[:-1], steps(self.runs_of_hunk)
        if not len(self.bare_start):
            return [b""] * len(low)
        bare, first = self.bare, np.minimum(low, len(self.bare_start) - 1)
        edges = zip(self.bare_start[first].tolist(), self.bare_end[first].tolist(), strict=True)
        out = [bare[start:end] for start, end in edges]  # most have one run
        for number in (runs != 1).nonzero()[0].tolist():
            some = slice(low[number], low[number] + runs[number])
            edges = zip(self.bare_start[some].tolist(), self.bare_end[some].tolist(), strict=True)
            out[number] = b"\n".join([bare[start:end] for start, end in edges])
        return out

    def order(self, said: Sequence[bytes], again: int, names: Sequence[int], weights: Sequence[int]) -> list[int]:
        """Return the order in which hunks get room: by what each says, the name of each file, and how long that waits."""
        import numpy as np

        *_, file, added, removed = self.hunks[:, : len(said)]
        known: dict[bytes, int] = {}
        what = np.array([known.setdefault(each, len(known)) for each in said])
        name = np.array(names)[file]
        rank = np.where(added > 0, removed == 0, 2) + np.minimum(_count_before(what), again)
        turn = _count_before(name, rank)  # the least dull of each first
        return (turn + np.array(weights)[name] + np.maximum(rank - 1, 0)).argsort(kind="stable").tolist()  # type: ignore[no-any-return]

    def are_short(self, numbers: Sequence[int]) -> bool:
        """Return whether all of these hunks is looked at."""
        _, body, end, *_ = self.hunks[:, numbers]
        return bool((end - body).max(initial=0) <= WINDOW)

    def longer_than(self, size: int) -> list[int]:
        """Return the hunks whose bodies are longer."""
        _, body, end, *_ = self.hunks
        return (end - body > size).nonzero()[0].tolist()  # type: ignore[no-any-return]

    def changing(self, numbers: Sequence[int]) -> list[int]:
        """Return those of the hunks that change anything."""
        *_, added, removed = self.hunks[:, numbers]
        return [number for number, changes in zip(numbers, (added + removed).tolist(), strict=True) if changes]

    def sums(self, names: Sequence[int]) -> list[tuple[int, int]]:
        """Return how many lines are added and removed in all hunks of files with the same name."""
        import numpy as np

        *_, file, added, removed = self.hunks
        name = np.array(names)
        sums = [np.bincount(name[file], weights=each, minlength=int(name.max()) + 1) for each in (added, removed)]
        return list(zip(*(each.astype(np.int64).tolist() for each in sums), strict=True))

    def unnamed(self, numbers: Sequence[int]) -> list[int]:
        """Return the files of these hunks that are not named by the first of their lines, as far as is known."""
        file = self.hunks[3, numbers]
        return file[self.names[file] == 0].tolist()  # type: ignore[no-any-return]

    def join(
        self, numbers: Sequence[int], upto: int, more: Sequence[tuple[int, int]], hole: int, work: Work
    ) -> list[Span]:
        """Return spans as `join_places` does: of the first so many changed lines of hunks, of what names those, and of more."""
        import numpy as np

        lines, _ = self._lines_of(numbers, upto)
        header, body, _, file, *_ = self.hunks[:, numbers]
        file = file[self.names[file] > 0]
        work.spend(OBJECT * (len(lines) + len(header) + len(file) + len(more)))
        first, last = np.array(more, dtype=np.int64).reshape(-1, 2).T
        start = np.concatenate((first, header, self.opens[file], self.start[lines]))
        end = np.concatenate((last, body, self.names[file], self.end[lines]))
        order = start.argsort(kind="stable")
        start, end = start[order], np.maximum.accumulate(end[order])
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
    words = read_words(data)
    kind = find_headers(data, words, start)
    marks = kind.nonzero()[0][:MARKS]
    kinds = kind[marks]
    if (end[marks] - start[marks]).max(initial=0) > WINDOW:
        return None
    files, commits, opened, opens, names = read_files(document, data, words, start, marks, kinds)
    hunk = (kinds == HUNK_BEGINS) & (opened > 0)
    first = marks[hunk] + 1  # lines of each hunk: from, to
    last = np.concatenate((marks[1:], [len(start)]))[hunk]
    begins = text[start]
    added, removed = ((begins == sign).cumsum() for sign in (PLUS, MINUS))
    hunks = np.array(
        (
            start[marks[hunk]],
            end[marks[hunk]],
            np.concatenate((start, [size]))[last],
            opened[hunk] - 1,
            added[last - 1] - added[first - 1],
            removed[last - 1] - removed[first - 1],
        )
    )
    parts = Parts(commits, files, list(zip(*hunks.tolist(), strict=True)))
    return _find_changed(data, parts, hunks, opens, names, start, end, begins, first, last, without)


def _find_changed(
    data: bytes,
    parts: Parts,
    hunks: Array,
    opens: Array,
    names: Array,
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
        hunks,
        opens,
        names,
        start[changed],
        end[changed],
        begins[changed] == PLUS,
        changed.searchsorted(edge),
        bare,
        bare_start[run_first],
        ended,
        run_first.searchsorted(edge),
    )


def _edges(text: Array) -> tuple[Array, Array]:
    """Return where each line begins and ends, with what ends it."""
    import numpy as np

    end = find_byte(text, 0x0A) + 1
    if not len(end) or end[-1] < len(text):
        end = np.concatenate((end, [len(text)]))
    return np.concatenate(([0], end[:-1])), end


def _count_before(values: Array, rank: Array | None = None) -> Array:
    """Return how many of the same value stand before each, in the order of their ranks."""
    import numpy as np

    order, starts, sizes = group(values)
    if rank is not None:
        order = (values * (int(rank.max()) + 1) + rank).argsort(kind="stable")
    out = np.empty(len(values), dtype=np.int64)
    out[order] = np.arange(len(values)) - starts.repeat(sizes)
    return out
