"""Searches and listings: each file once by its name, with how much was found in it; definitions before uses, near files first.

The name of a file is left out where it stands above already, as `rg --heading` does, and so is the folder that all are in:
most lines cost what they say.
"""

from __future__ import annotations

import re

from spillover.document.document import OBJECT
from spillover.kinds import pack
from spillover.kinds.found import (
    AROUND,
    FIND,
    NAME,
    OTHER,
    Row,
    by_folder,
    common_folder,
    folder_of,
    is_search,
    repeats,
    rows,
    same_file,
)
from spillover.kinds.query import ANSWERS, Query
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Hidden, Span, largest
from spillover.notice.sentences import found_in, hidden_finds
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("search",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

    Array = Any  # of numpy; its own types say little about what is in one

#: Of a longer output, so much of both ends is looked at, and so many rows of them.
HEAD, TAIL = 3 << 20, 1 << 20
ROWS = 60_000
#: About what a marker costs, in tokens.
MARKER = 9.0
#: So many files are named in one marker, more where little else is shown, few above the first find; the others are counted.
FEW_NAMES, MANY_NAMES, ABOVE = 8, 10, 2
#: Of files that say the same, so many show it.
SAME = 3
#: Bytes of a token, where nothing better is known.
PER_TOKEN = 3.2
#: Of a longer row, only the beginning is shown.
WIDTH = 320
#: A shorter folder is not worth the words that say that it is left out.
FOLDER = 20
#: What a row loses that says what another has said; so many lines that are about no file are headings.
AGAIN, HEADINGS = 0.5, 24
#: A row that answers so much of the query is shown for that reason.
ANSWER = 0.3
ASKED = 0.15
#: What a row is worth more by the number that is all it says of its file, as `rg -c` has it: so much times its logarithm.
COUNTED = 0.2

# Each is matched at the beginning of a line, or looks for one of a few words in a name of at most LONGEST bytes.
_DEFINES = re.compile(
    rb"\s*+(?:(?:export|default|pub|public|private|protected|static|final|abstract|async|unsafe|extern|inline|declare)\s++)*+"
    rb"(?:def|class|func|fn|function|struct|enum|trait|interface|type|const|let|var|val|module|mod|namespace|#define|impl)\b"
)
_SIDE = re.compile(rb"(?i)(?:^|[/\\._-])(?:tests?|specs?|__tests__|fixtures?|examples?|testdata|mocks?)(?=[/\\._-]|\Z)")
_AWAY = re.compile(
    rb"(?i)(?:^|[/\\])(?:vendor|node_modules|third_party|dist|build|target|\.git|\.venv|site-packages|__pycache__)[/\\]"
    rb"|\.(?:lock|min\.js|map|snap)\Z"
)


def select(document: Document, fill: Fill, call: Call) -> Sequence[Span]:
    """Return the rows that are most likely wanted, as many as fit, in their order."""
    import numpy as np

    found = _look(document)
    if len(found.rows) < 2:
        return []
    worth = _worth(found, Query.of(call))
    order = np.argsort(-worth, kind="stable")
    if call.worth:  # what says again what is shown is not worth its room
        order = order[~found.stale()[order]]
    names = FEW_NAMES if len(order) == len(found.rows) else MANY_NAMES

    def spans(room: int) -> list[Span]:
        return _spans(found, _take(found, order, room), names)

    room = largest(int(found.cost.sum() + found.named.sum()) + 1, lambda room: fill(spans(room)))
    keep = _take(found, order, room)
    if not keep.all():
        return spans(room) if room else []
    # Where every row is shown, what is left goes to rows as they came, with the name that stands above already.
    count = largest(len(order), lambda count: fill(_spans(found, keep, names, order[:count].tolist())))
    return _spans(found, keep, names, order[:count].tolist())


class _Found:
    """The rows of an output, and what is known of each, in arrays."""

    def __init__(self, base: Sequence[int], data: Sequence[bytes], placed: Sequence[tuple[int, Row]]) -> None:
        import numpy as np

        count = len(placed)
        self.rows = [row for _, row in placed]
        self.base = [base[piece] for piece, _ in placed]
        self.texts = [data[piece][row.start : row.end] for piece, row in placed]
        self.kind = np.fromiter((row.kind for row in self.rows), dtype=np.int8, count=count)
        names = {row.file for row in self.rows if row.file}
        self.folder = common_folder(sorted(names))
        self.folder = self.folder if len(self.folder) >= FOLDER and len(names) > 1 else b""
        # Of names alone, the folders are what is counted; of finds, the files.
        self.lists = not any(row.kind == FIND and (row.number or row.body > row.start) for row in self.rows)
        groups: dict[bytes, int] = {}
        self.group = np.fromiter(
            (groups.setdefault(self._group(row.file), len(groups)) for row in self.rows), dtype=np.int64, count=count
        )
        self.groups = list(groups)
        body = np.fromiter((row.body - row.start for row in self.rows), dtype=np.int64, count=count)
        sizes = np.fromiter(map(len, self.texts), dtype=np.int64, count=count)
        self.skip = [self._left_out(row, text) for row, text in zip(self.rows, self.texts, strict=True)]
        left_out = np.array(self.skip, dtype=np.int64)
        indents = np.fromiter((3 * text.count(b"    ") for text in self.texts), dtype=np.int64, count=count)
        self.cost = 1.0 + np.minimum(sizes - indents - np.maximum(body, left_out), WIDTH) / PER_TOKEN
        self.named = np.maximum(0, body - left_out) / PER_TOKEN
        self.heads = self.kind == NAME  # their finds follow
        self.answers = np.zeros(count, dtype=bool)
        self.again = np.zeros(count, dtype=bool)  # what SAME files have said

    def _group(self, file: bytes) -> bytes:
        file = file.removeprefix(self.folder)
        return folder_of(file) if self.lists else file

    def _left_out(self, row: Row, text: bytes) -> int:
        """Return how many bytes at the beginning of a row say what all have in common."""
        leads = row.kind == NAME or (row.kind in (FIND, AROUND) and self._leads(row))
        return len(self.folder) if leads and text.startswith(self.folder) else 0

    def _leads(self, row: Row) -> bool:
        return row.body > row.start or self.lists

    def stale(self) -> Array:
        """Return which rows say only what others have said; all about files in which nothing else was found; separators."""
        import numpy as np

        find = self.kind == FIND
        told = np.isin(self.group, self.group[find]) & ~np.isin(self.group, self.group[find & ~self.again])
        blank = np.fromiter((text.strip() in (b"", b"--") for text in self.texts), bool, len(self.texts))
        return self.again | told | blank

    def finds(self) -> int:
        return int((self.kind == FIND).sum())


def _look(document: Document) -> _Found:
    size = document.size
    pieces = [(0, size)] if size <= HEAD + TAIL else [(0, HEAD), (size - TAIL, size)]
    base, data, out = [], [], []
    for number, (start, end) in enumerate(pieces):
        block = document.blob.read(start, end)
        first = block.find(b"\n") + 1 if start else 0
        last = len(block) if end == size else block.rfind(b"\n") + 1
        block = block[first:last]
        base.append(start + first)
        data.append(block)
        document.work.spend(OBJECT * 8 * (block.count(b"\n") + 1))
        out += [(number, row) for row in rows(block)]
    return _Found(base, data, out[:ROWS])


def _worth(found: _Found, query: Query) -> Array:
    """Return what each row is worth to somebody who searched for this."""
    import numpy as np

    count = len(found.rows)
    find, around = found.kind == FIND, found.kind == AROUND
    worth = np.where(find, 1.0, np.where(around, 0.5, 0.1))
    defines = np.fromiter(map(_defines, found.texts, found.rows), bool, count)
    worth += 0.4 * (defines & (find | around))
    worth -= 0.15 * _told(_SIDE, found) + 0.4 * _told(_AWAY, found)
    # The further down in its file, the more of it is known already.
    seen: dict[int, int] = {}
    nth = np.zeros(count)
    for number, (group, kind) in enumerate(zip(found.group.tolist(), found.kind.tolist(), strict=True)):
        if kind == FIND:
            nth[number] = seen[group] = seen.get(group, -1) + 1
    worth += np.where(find, 0.6 / (1.0 + nth), 0.0)
    worth += COUNTED * np.log1p(np.fromiter(map(_count_said, found.texts, found.rows), np.float64, count))
    worth[around] -= 0.03 * np.minimum(_distance(find), 10)[around]
    if query:
        points = query.score(found.texts)
        worth += ASKED * points
        found.answers = points >= ANSWER
    before, in_all = map(np.array, repeats(found.texts, found.rows))
    worth[(before > 0) & find] -= AGAIN
    # What stands around many finds says nothing of any.
    found.again = ((before >= SAME) | (around & (in_all > SAME))) & (not found.lists)
    few = (found.kind == OTHER) & (sum(found.kind == OTHER) <= HEADINGS)
    worth[few] = 1.5  # what a tool says itself: how much it found, what follows
    blank = np.fromiter((not text.strip(b" \t\r\n{}()[];,-") for text in found.texts), bool, count)
    worth[blank] = np.minimum(worth[blank], 0.0)
    worth -= 0.1 * np.arange(count) / max(1, count)
    return worth


def _told(pattern: re.Pattern[bytes], found: _Found) -> Array:
    """Return for each row whether the name of its file holds one of these words."""
    import numpy as np

    names = {row.file for row in found.rows}
    told = {name: pattern.search(name) is not None for name in names}
    return np.fromiter((told[row.file] for row in found.rows), bool, len(found.rows))


def _defines(text: bytes, row: Row) -> bool:
    said = text[row.body - row.start :]
    return _DEFINES.match(said.lstrip(b" 0123456789").lstrip(b":-") if row.number else said) is not None


def _count_said(text: bytes, row: Row) -> int:
    """Return the number that is all a row says of its file; 0 where it says something else."""
    said = text[row.body - row.start :].strip()
    return (
        int(said)
        if row.kind == FIND and row.body > row.start and not row.number and said.isdigit() and len(said) < 9
        else 0
    )


def _distance(find: Array) -> Array:
    """Return how many rows away the nearest find is."""
    import numpy as np

    at = np.arange(len(find))
    before = np.maximum.accumulate(np.where(find, at, -(10**6)))
    after = np.minimum.accumulate(np.where(find, at, 10**7)[::-1])[::-1]
    return np.minimum(at - before, after - at)


def _take(found: _Found, order: Array, room: int) -> Array:
    """Return which rows to show in so many tokens: as many of the best as fit with their names and markers."""
    import numpy as np

    base = np.zeros(len(found.rows), dtype=bool)
    return pack.take(base, order, room, close=lambda keep: _close(found, keep), price=lambda keep: _price(found, keep))


def _close(found: _Found, keep: Array) -> Array:
    """Fill holes that cost less than their markers, and show the name above what is shown below it."""
    import numpy as np

    if found.heads.any():
        heads = np.maximum.accumulate(np.where(found.heads, np.arange(len(keep)), -1))
        above = heads[keep & (found.kind == FIND)]
        keep[above[above >= 0]] = True
    return pack.fill_holes(keep, found.cost, MARKER)


def _price(found: _Found, keep: Array) -> float:
    import numpy as np

    kept = np.flatnonzero(keep)
    if not len(kept):
        return 0.0
    new = np.diff(found.group[kept], prepend=-1) != 0
    return float(found.cost[kept].sum() + found.named[kept][new].sum() + MARKER * pack.count_gaps(keep))


def _spans(found: _Found, keep: Array, names: int, as_they_came: Sequence[int] = ()) -> list[Span]:
    """Return a span for each row, without what stands above already; behind it, what the gap holds."""
    import numpy as np

    kept, whole = np.flatnonzero(keep).tolist(), set(as_they_came)
    shown = set(found.group[keep].tolist())
    told: set[int] = set()
    out: list[Span] = []
    last = b""
    for here, number in enumerate(kept):
        row, base = found.rows[number], found.base[number]
        repeats = row.body > row.start and same_file(last, row.file)
        skip = 0 if number in whole else row.body - row.start if repeats else found.skip[number]
        following = kept[here + 1] if here + 1 < len(kept) else len(found.rows)
        then = _hidden(found, number, following, shown, told, names)
        why = (
            ANSWERS
            if found.answers[number]
            else "found"
            if row.kind == FIND
            else "around a find"
            if row.kind == AROUND
            else ""
        )
        start, end = base + row.start, base + row.end
        cut = start + skip + WIDTH
        if cut + MARKER < end:
            out += [Span(start, cut, why, Hidden("chars"), "", skip), Span(end - 1, end, why, then)]
        else:
            out.append(Span(start, end, why, then, "", skip))
        last = row.file or (last if row.kind != OTHER else b"")
    if out and (found.folder or found.lists or len(found.groups) > 1):
        folder = found.folder.decode("utf-8", "replace")
        above = _hidden(found, -1, kept[0], shown, told, ABOVE)
        lead = found_in(found.finds(), len(found.groups), folder, names=found.lists, above=above.note if above else "")
        first = out[0]
        out[0] = Span(first.start, first.end, first.why, first.then, lead, first.skip)
    return out


def _hidden(found: _Found, number: int, following: int, shown: set[int], told: set[int], names: int) -> Hidden | None:
    """Return what is hidden between two rows: how much of what is shown above, and the files that are shown nowhere."""
    import numpy as np

    between = slice(number + 1, following)
    finds = found.group[between][found.kind[between] == FIND]
    if not len(finds):
        return None
    groups, counts = np.unique(finds, return_counts=True)
    counted = zip(groups.tolist(), counts.tolist(), strict=True)
    new = [(count, found.groups[group], 1) for group, count in counted if group not in shown and group not in told]
    told.update(groups.tolist())
    more = len(finds) - sum(count for count, *_ in new)
    new.sort(key=lambda each: -each[0])
    if len(new) > names:
        new = by_folder(new)
    named = [(name.decode("utf-8", "replace"), count, files) for count, name, files in new[:names]]
    if not named and not found.lists:
        return None
    return Hidden("found", more, hidden_finds(named, sum(files for *_, files in new[names:]), more))


def recognise(sample: Sample) -> str:
    """Return "search" for lines that a search or a listing found."""
    return "search" if is_search(sample.lines, hinted=sample.hint in NAMES) else ""
