"""Searches and listings: each file once by its name, with how much was found in it; definitions before uses.

Read are the forms of grep, rg, git grep and the tools of agents: `path:12:text`, `path-12-text` around it,
`path:text`, `12:text` below the name of a file, and names alone, as of find, ls -R and git status. The name of a file
is left out where it stands above already, as `rg --heading` does, and so is the folder that all are in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from math import ceil, inf
from typing import Any

import numpy as np
from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds import pack
from spillover.kinds.query import ANSWERS, Query
from spillover.kinds.sample import Sample, are_few, are_most
from spillover.kinds.selection import Hidden, Room, Span, largest
from spillover.kinds.source import DEFINES, DEFINES_CONSTANT, HEAD_BYTES, TAIL_BYTES
from spillover.notice.wording import found_in, hidden_finds
from spillover.settings.settings import Call

Array = Any  # of numpy; its own types say little about what is in one

#: What `Clip.kind` may say.
NAMES = ("search",)
#: What a row is: a find, a line around one, the name of a file or folder above its finds, and anything else.
FIND, AROUND, NAME, OTHER = range(4)
#: Bytes of the name of a file. More: long lines with slashes are taken for names.
MAX_NAME_BYTES = 400
#: Lines that tell whether it is a search; with fewer than MIN_LINES it is none. More: slower.
SAMPLE_LINES, MIN_LINES = 400, 8
#: The share of lines that are about a file: where the call says that it searched, and where it does not.
HINTED_SHARE, SURE_SHARE = 0.5, 0.95
#: The share of numbers below a name that rise. More: clocks are no numbers of lines.
RISING_SHARE = 0.8
#: With a larger share of lines that pass judgement, it is a compiler or a linter, and a log.
JUDGED_SHARE = 0.05
#: Rows that are read of both ends of a long output. More: more memory.
MAX_ROWS = 60_000
#: Files named in one marker, and above the first find; others are counted. More: longer markers, fewer rows.
NAMES_PER_MARKER, NAMES_ABOVE = 8, 2
#: Files that show what many say alike. More: more repeats.
ALIKE_FILES = 3
#: Bytes of a row that are shown. More: minified lines take more room.
ROW_BYTES = 320
#: Estimated bytes of a token. More: rows are taken to be cheaper.
BYTES_PER_TOKEN = 3.2
#: A folder that all files are in is left out if its name has this many bytes: saying so takes words.
MIN_FOLDER_BYTES = 20
#: Lines about no file are shown first, as the words of the tool, if there are at most this many.
MAX_WORDS = 24
#: A row that answers this much of the query is shown for that reason.
MIN_ANSWER = 0.3
#: Points of a row by `path_weight`: of the program itself, a test, a document, what is generated or vendored.
PATH_POINTS = np.array((0.0, -0.15, 0.0, -0.4))

# All of these are matched at one place, or searched for in MAX_NAME_BYTES; every quantifier is possessive, or followed
# by nothing that it matches.
_NAMED = re.compile(rb"((?:[A-Za-z]:)?[^:\x00-\x1f]{1,400}+):(?:(\d{1,9}+)[:\t])?")
_NUMBERED = re.compile(rb"(?:[ \t]*+Line )?[ \t]*+(\d{1,9}+)([:-]|\t)")
_AROUND = re.compile(rb"[-=](\d{1,9}+)[-=]")
#: What a compiler says behind a place: `12:5: error:`.
_JUDGED = re.compile(rb":\d{1,9}+:\d{1,9}+:? |:\d{1,9}+: (?:error|warning|note|fatal|info|[A-Z]{1,3}\d{2,5})\b")
#: What stands before a name in `git status` and in the long form of `ls`.
_STATUS = re.compile(
    rb"(?:[MTARC][ MTD]|D[ DU]|A[AU]|U[ADU]| [MTDRC]|\?\?|!!) "
    rb"|[ \t]++(?:(?:both |new )?[a-z]++(?: by (?:us|them))?:[ \t]++)?"
    rb"|[-dlbcps][-rwxsStT]{9}[.+@]?[ \t]++\d++[ \t]++\S++[ \t]++\S++[ \t]++[\d.,]++[BKMGT]?"
    rb"[ \t]++\S++[ \t]++\S++[ \t]++\S++ "
)
#: How `grep -c` and `rg -c` end a line.
_COUNT = re.compile(rb"[\w)]:(\d{1,8})\r?\Z")
_BETWEEN = frozenset((b"", b"--"))  # finds
_ROOTED = re.compile(rb"/|[A-Za-z]:[/\\]")
_FILE = re.compile(rb"\.[A-Za-z0-9_+-]{1,12}\Z")
#: What is in no name of a file.
_NO_NAME = re.compile(rb"://|  |[\t\"(=<>|*]")
_FOREIGN = re.compile(
    rb"(?i)(?:^|[/\\])(?:vendor|node_modules|third_party|dist|build|target|generated|__snapshots__|\.git|\.venv"
    rb"|site-packages|__pycache__)[/\\]|(?:\.(?:lock|min\.js|min\.css|map|snap|svg|po|pot)|lock\.json|lock\.yaml|go\.sum)\Z"
)
_TEST = re.compile(rb"(?i)(?:^|[/\\._-])(?:tests?|specs?|__tests__|fixtures?|examples?|testdata|mocks?)(?=[/\\._-]|\Z)")
_DOCUMENT = re.compile(rb"(?i)\.(?:md|rst|txt)\Z|changelog")


class Row(Struct, frozen=True):
    """A line: bytes `start` to `end`, its text from `body` on, the file it is about, and the line there."""

    start: int
    end: int
    body: int
    kind: int
    file: bytes
    number: int = 0


def path_weight(path: bytes) -> int:
    """Return how far a file is from a program: 0 its own code, 1 a test, 2 a document, 3 generated or vendored."""
    if _FOREIGN.search(path):
        return 3
    return 1 if _TEST.search(path) else 2 if _DOCUMENT.search(path) else 0


def read_rows(data: bytes, max_others: float = inf) -> list[Row]:
    """Return the rows of a search, up to `max_others` about no file. Names without finds below them are finds."""
    lines = data.removesuffix(b"\n").split(b"\n")
    reader = _Reader(lines)
    rows: list[Row] = []
    ends = [*accumulate([len(line) + 1 for line in lines])]
    other_rows = 0
    for number, line in enumerate(lines):
        row = reader.read(number, ends[number] - len(line) - 1, min(ends[number], len(data)))
        rows.append(row)
        other_rows += not row.file
        if other_rows > max_others:
            break
    return rows


class _Reader:
    """Reads lines one by one; remembers the file or folder above, and the file of the line before."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._above = b""
        self._last = b""
        self._names: set[bytes] | None = None  # files that are named with a number; seldom needed

    def read(self, number: int, start: int, end: int) -> Row:
        line = self._lines[number]
        row = self._read_line(line, start, end)
        if row.kind == NAME:
            below = self._lines[number + 1] if number + 1 < len(self._lines) else b""
            has_finds = _NUMBERED.match(below) is not None
            if has_finds or line.endswith(b":"):  # the name of a file, or of a folder, as `ls -R` has it
                self._above = row.file if has_finds else row.file.rstrip(b"/") + b"/"
                row = Row(start, end, start, NAME, self._above)
            else:
                folder = self._above if self._above.endswith(b"/") and b"/" not in row.file else b""
                row = Row(start, end, start, FIND, folder + row.file)
        elif row.kind == OTHER and not line.strip() and not self._above.endswith(b"/"):
            self._above = b""
        self._last = row.file
        return row

    def _read_line(self, line: bytes, start: int, end: int) -> Row:
        if line.strip() in _BETWEEN:
            return Row(start, end, start, OTHER, b"")
        match = _NAMED.match(line)
        if match and not looks_like_path(match[1]):
            match = None
        if match and match[2]:
            return Row(start, end, start + match.start(2), FIND, match[1], int(match[2]))
        numbered = _NUMBERED.match(line)
        if numbered and not (match and match.end() > numbered.end() and b"/" in match[1]):
            kind = AROUND if numbered[2] == b"-" else FIND
            return Row(start, end, start, kind, self._above, int(numbered[1]))
        around = self._read_around(line)
        if around:
            name = line[: around.start()]
            return Row(start, end, start + around.start(1), AROUND, name, int(around[1]))
        if match and match.end() < len(line):
            return Row(start, end, start + match.end(), FIND, match[1])
        status = _STATUS.match(line)
        name = line[status.end() if status else 0 :].rstrip(b"\r").removesuffix(b":")
        if looks_like_path(name):
            return Row(start, end, start, NAME, name)
        if self._above and b":" not in line:  # an entry of a folder, as `ls -R` has it
            return Row(start, end, start, FIND, self._above)
        return Row(start, end, start, OTHER, b"")

    def _read_around(self, line: bytes) -> re.Match[bytes] | None:
        """Return where the number of a line around a find stands; names may hold dashes and numbers, too."""
        best = None
        for match in _AROUND.finditer(line, 0, MAX_NAME_BYTES):
            name = line[: match.start()]
            if name == self._last:
                return match
            if not (b"/" in name or b"." in name or b"\\" in name):
                continue  # no name of a file: a date, mostly
            if name in self._numbered_names():
                return match
            if best is None and self._numbered_names() and _FILE.search(name) and looks_like_path(name):
                best = match
        return best

    def _numbered_names(self) -> set[bytes]:
        if self._names is None:
            matches = map(_NAMED.match, self._lines)
            self._names = {match[1] for match in matches if match and match[2] and looks_like_path(match[1])}
        return self._names


def is_search(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether a search or a listing printed these lines: nearly all of them, or half where the call says so."""
    sample = list(islice((line for line in lines if line.strip() not in _BETWEEN), SAMPLE_LINES))
    if len(sample) < MIN_LINES:
        return False
    counts = are_most(SURE_SHARE, sample, lambda line: _COUNT.search(line[-12:]))
    # Otherwise nearly all rows have to be about a file.
    max_others = inf if hinted or counts else len(sample) - ceil(SURE_SHARE * len(sample))
    rows = read_rows(b"\n".join(sample), max_others)
    numbers = [row.number for row in rows if row.number and not row.file]
    rises = sum(before < after for before, after in pairwise(numbers)) >= RISING_SHARE * (len(numbers) - 1)
    about = [row for row in rows if row.kind != OTHER and (row.file or (row.number and rises))]
    if hinted:
        return len(about) >= HINTED_SHARE * len(sample)
    if len(about) < SURE_SHARE * len(sample):
        return False
    if not are_few(JUDGED_SHARE, sample, lambda line: _JUDGED.search(line, 0, MAX_NAME_BYTES)):
        return False
    places = sum(1 for row in about if (row.number and row.file) or row.kind == NAME)
    names = sum(1 for row in about if row.kind == FIND and not row.number and row.body == row.start)
    return counts or max(places, names) >= SURE_SHARE * len(sample)


def looks_like_path(name: bytes) -> bool:
    """Return whether this may be the name of a file: no sentence, no code."""
    if not 0 < len(name) <= MAX_NAME_BYTES or name[:1] in b" \t" or name[-1:] in b" \t,;({[=":
        return False
    if _NO_NAME.search(name):
        return False
    slash = b"/" in name or b"\\" in name
    if b" " in name:
        verb = name[: name.find(b" ")]  # `LD build/main` is what make does, and names nothing that was found
        is_step = len(verb) > 1 and verb.isalpha() and verb.isupper()
        return slash and not is_step and name.count(b" ") <= name.count(b"/") + name.count(b"\\")
    return slash or _FILE.search(name) is not None


def folder_of(name: bytes) -> bytes:
    """Return the folder of a file, with its slash; "" where it has none."""
    return name[: max(name.rfind(b"/"), name.rfind(b"\\")) + 1]


def is_same_file(first: bytes, second: bytes) -> bool:
    """Return whether two names are of one file: some tools leave out the folder they work in from some lines."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    return bool(short) and long.endswith(short) and long[-len(short) - 1 : -len(short)] in (b"", b"/", b"\\")


def common_folder(names: Sequence[bytes]) -> bytes:
    """Return the longest folder of all these, with its slash; relative names count as names in it."""
    relative = {name for name in names if not _ROOTED.match(name)}
    rooted = [name for name in names if name not in relative]
    if relative and rooted:
        for name in rooted:
            for slash in re.finditer(rb"[/\\]", name):
                if name[slash.end() :] in relative:
                    return name[: slash.end()]
        return b""
    low, high = min(names, default=b""), max(names, default=b"")
    length = min(len(low), len(high))
    return folder_of(low[: next((at for at in range(length) if low[at] != high[at]), length)])


def recognise(sample: Sample) -> str:
    """Return "search" for lines that a search or a listing printed."""
    return "search" if is_search(sample.lines, hinted=sample.hint in NAMES) else ""


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return the rows that are most likely needed, as many as fit, in their order."""
    results = _Results(document)
    if len(results.rows) < 2:
        return []
    points = results.score(Query.of(call))
    order = np.argsort(-points, kind="stable")
    if call.worth:  # what repeats a row that is shown is not worth its room
        order = order[~results.stale()[order]]

    total = int(results.cost.sum() + results.name_cost.sum()) + 1
    tokens = largest(total, lambda tokens: room.fill(results.spans(results.choose(order, tokens))))
    keep = results.choose(order, tokens)
    if not keep.all():
        return results.spans(keep) if tokens else []
    # Where every row is shown, the room that is left goes to rows with the name that stands above already.
    whole = order.tolist()
    count = largest(len(whole), lambda count: room.fill(results.spans(keep, whole[:count])))
    return results.spans(keep, whole[:count])


class _Results:
    """The rows of an output, and what is known of each, in arrays."""

    def __init__(self, document: Document) -> None:
        self.rows: list[Row] = []
        self.texts: list[bytes] = []
        for base, data in document.ends(HEAD_BYTES, TAIL_BYTES):
            document.work.spend(OBJECT * 8 * (data.count(b"\n") + 1))
            for row in read_rows(data)[: MAX_ROWS - len(self.rows)]:
                self.rows.append(Row(base + row.start, base + row.end, base + row.body, row.kind, row.file, row.number))
                self.texts.append(data[row.start : row.end])
        self.kind = np.array([row.kind for row in self.rows])
        names = {row.file for row in self.rows if row.file}
        folder = common_folder(sorted(names))
        self.folder = folder if len(folder) >= MIN_FOLDER_BYTES and len(names) > 1 else b""
        # Of names alone, the folders are what is counted; of finds, the files.
        self.is_listing = not any(row.kind == FIND and (row.number or row.body > row.start) for row in self.rows)
        files = [row.file.removeprefix(self.folder) for row in self.rows]
        numbers: dict[bytes, int] = {}
        groups = map(folder_of, files) if self.is_listing else files
        self.group = np.array([numbers.setdefault(group, len(numbers)) for group in groups])
        self.groups = list(numbers)
        self.skip = [self._count_skipped(row, text) for row, text in zip(self.rows, self.texts, strict=True)]
        names_bytes = np.array([row.body - row.start for row in self.rows])
        sizes = np.array([len(text) - 3 * text.count(b"    ") for text in self.texts])
        skip = np.array(self.skip)
        self.cost = 1.0 + np.minimum(sizes - np.maximum(names_bytes, skip), ROW_BYTES) / BYTES_PER_TOKEN
        self.name_cost = np.maximum(0, names_bytes - skip) / BYTES_PER_TOKEN
        self.answers = np.zeros(len(self.rows), dtype=bool)
        self.repeats = np.zeros(len(self.rows), dtype=bool)  # the same text as in ALIKE_FILES others

    def _count_skipped(self, row: Row, text: bytes) -> int:
        """Return how many bytes at the beginning of a row name the folder that all are in."""
        is_named = row.kind == NAME or (row.kind in (FIND, AROUND) and (row.body > row.start or self.is_listing))
        return len(self.folder) if is_named and text.startswith(self.folder) else 0

    def stale(self) -> Array:
        """Return which rows repeat others, stand in files where all finds do, or only separate."""
        find = self.kind == FIND
        old = np.isin(self.group, self.group[find]) & ~np.isin(self.group, self.group[find & ~self.repeats])
        return self.repeats | old | np.array([text.strip() in _BETWEEN for text in self.texts])

    def score(self, query: Query) -> Array:
        """Return what each row is worth to somebody who searched for this."""
        count = len(self.rows)
        find, around = self.kind == FIND, self.kind == AROUND
        points = np.where(find, 1.0, np.where(around, 0.5, 0.1))
        bodies = [text[row.body - row.start :] for text, row in zip(self.texts, self.rows, strict=True)]
        texts = [
            body.lstrip(b" 0123456789").lstrip(b":-") if row.number else body
            for body, row in zip(bodies, self.rows, strict=True)
        ]
        points += 0.4 * (np.array(list(map(_defines, texts))) & (find | around))
        weights = {file: path_weight(file) for file in {row.file for row in self.rows}}
        points += PATH_POINTS[[weights[row.file] for row in self.rows]]
        # The further down in its file, the more of it is known already.
        times: Counter[int] = Counter()
        nth = np.zeros(count)
        for number in np.flatnonzero(find).tolist():
            group = int(self.group[number])
            nth[number] = times[group]
            times[group] += 1
        points += np.where(find, 0.6 / (1.0 + nth), 0.0)
        # Where a number is all that a row says of its file, the largest is shown first.
        counts = [
            int(body) if row.body > row.start and not row.number and len(body) < 10 and body.strip().isdigit() else 0
            for body, row in zip(bodies, self.rows, strict=True)
        ]
        points += 0.2 * np.log1p(np.where(find, counts, 0))
        points[around] -= 0.03 * np.minimum(_distances(find), 10)[around]
        if query:
            answers = query.score(self.texts)
            points += 0.15 * answers
            self.answers = answers >= MIN_ANSWER
        before, total = _count_repeats(bodies)
        points[(before > 0) & find] -= 0.5
        # What stands around many finds says nothing of any.
        self.repeats = ((before >= ALIKE_FILES) | (around & (total > ALIKE_FILES))) & (not self.is_listing)
        words = self.kind == OTHER  # what a tool says itself: how much it found, what follows
        if np.count_nonzero(words) <= MAX_WORDS:
            points[words] = 1.5
        blank = np.array([not text.strip(b" \t\r\n{}()[];,-") for text in self.texts])
        points[blank] = np.minimum(points[blank], 0.0)
        return points - 0.1 * np.arange(count) / count

    def choose(self, order: Array, tokens: int) -> Array:
        """Return which rows to show in this many tokens: as many of the best as fit with their names and markers."""
        base = np.zeros(len(self.rows), dtype=bool)
        return pack.take(base, order, tokens, close=self._close, price=self._price)

    def _close(self, keep: Array) -> Array:
        """Fill holes that cost less than their markers, and show the name above what is shown below it."""
        heads = np.maximum.accumulate(np.where(self.kind == NAME, np.arange(len(keep)), -1))
        above = heads[keep & (self.kind == FIND)]
        keep[above[above >= 0]] = True
        return pack.fill_holes(keep, self.cost, pack.MARKER)

    def _price(self, keep: Array) -> float:
        places = np.flatnonzero(keep)
        is_first = np.diff(self.group[places], prepend=-1) != 0
        return pack.price(keep, self.cost) + float(self.name_cost[places][is_first].sum())

    def spans(self, keep: Array, whole: Sequence[int] = ()) -> list[Span]:
        """Return a span for each row, with what the gap behind it hides. Rows in `whole` repeat the name above them."""
        places = np.flatnonzero(keep).tolist()
        gaps = _Gaps(self, set(self.group[keep].tolist()))
        full = set(whole)
        spans: list[Span] = []
        above = gaps.describe(-1, places[0], NAMES_ABOVE) if places else None
        last = b""
        for number, following in pairwise([*places, len(self.rows)]):
            row = self.rows[number]
            is_repeated = row.body > row.start and is_same_file(last, row.file)
            skip = 0 if number in full else row.body - row.start if is_repeated else self.skip[number]
            gap = gaps.describe(number, following, NAMES_PER_MARKER)
            why = {FIND: "found", AROUND: "around a find"}.get(row.kind, "")
            why = ANSWERS if self.answers[number] else why
            cut = row.start + skip + ROW_BYTES
            if cut + pack.MARKER < row.end:
                spans.append(Span(row.start, cut, why, Hidden("chars"), "", skip))
                spans.append(Span(row.end - 1, row.end, why, gap))
            else:
                spans.append(Span(row.start, row.end, why, gap, "", skip))
            last = row.file or (last if row.kind != OTHER else b"")
        if spans and (self.folder or self.is_listing or len(self.groups) > 1):
            finds = int(np.count_nonzero(self.kind == FIND))
            folder = self.folder.decode("utf-8", "replace")
            note = above.note if above else ""
            lead = found_in(finds, len(self.groups), folder, names=self.is_listing, above=note)
            first = spans[0]
            spans[0] = Span(first.start, first.end, first.why, first.then, lead, first.skip)
        return spans


class _Gaps:
    """What is hidden between rows: each file that is shown nowhere is named once."""

    def __init__(self, results: _Results, visible: set[int]) -> None:
        self._results = results
        self._shown = visible
        self._named: set[int] = set()

    def describe(self, number: int, following: int, max_names: int) -> Hidden | None:
        """Return what is hidden between two rows: how much of files that are shown, and which files are not."""
        results = self._results
        between = slice(number + 1, following)
        finds = Counter(results.group[between][results.kind[between] == FIND].tolist())
        if not finds:
            return None
        new = {group: count for group, count in finds.items() if group not in self._shown | self._named}
        self._named.update(finds)
        files = [(results.groups[group], count, 1) for group, count in new.items()]
        if len(files) > max_names:
            files = list(_join_folders(files))
        files.sort(key=lambda file: -file[1])
        names = [(name.decode("utf-8", "replace"), count, total) for name, count, total in files[:max_names]]
        if not names and not results.is_listing:
            return None
        more = finds.total() - sum(new.values())
        rest = sum(total for *_, total in files[max_names:])
        return Hidden("found", more, hidden_finds(names, rest, more))


def _join_folders(files: Sequence[tuple[bytes, int, int]]) -> Iterator[tuple[bytes, int, int]]:
    """Yield files as folders, each with how much was found in how many files."""
    finds: Counter[bytes] = Counter()
    totals: Counter[bytes] = Counter()
    for name, count, total in files:
        finds[folder_of(name)] += count
        totals[folder_of(name)] += total
    return ((name or b"./", count, totals[name]) for name, count in finds.items())


def _defines(text: bytes) -> bool:
    return DEFINES.match(text) is not None or DEFINES_CONSTANT.match(text.lstrip()) is not None


def _distances(find: Array) -> Array:
    """Return how many rows away the nearest find is."""
    places = np.arange(len(find))
    before = np.maximum.accumulate(np.where(find, places, -(10**6)))
    after = np.minimum.accumulate(np.where(find, places, 10**7)[::-1])[::-1]
    return np.minimum(places - before, after - places)


def _count_repeats(bodies: Sequence[bytes]) -> tuple[Array, Array]:
    """Return for each row how many say, without file and number, the same: before it, and in all."""
    total: Counter[bytes] = Counter()
    words = [body.lstrip(b"0123456789 ").strip() for body in bodies]
    before = []
    for text in words:
        before.append(total[text] if text else 0)
        total[text] += 1
    return np.array(before), np.array([total[text] for text in words])
