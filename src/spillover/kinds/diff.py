"""Unified diffs (also git show and git log -p): a summary of every file in a line of ours, then changed lines.

Lines that define something new come first. Then the most telling hunk of each file gets room, then the second of each,
and so on. The name of a file and the header of a hunk are shown with changed lines of it, never without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, pairwise

from msgspec import Struct

from spillover.document.clean import flatten
from spillover.document.document import OBJECT, Document
from spillover.kinds.sample import SURE, Sample
from spillover.kinds.search import path_weight
from spillover.kinds.selection import MAX_PARTS, MAX_TITLE_BYTES, Contents, Part, Room, Span, join, largest
from spillover.kinds.source import DEFINES
from spillover.notice.wording import changes
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("diff",)
#: Bytes read at a time. More: more memory.
BLOCK_BYTES = 1 << 20
#: Headers that are read, the first of the output. More: more memory, and a later hunk may be shown.
MAX_HEADERS = 20_000
#: Bytes of the header of a file, of a commit and of the body of a hunk that are read. More: more of a long hunk is
#: shown.
WINDOW_BYTES = 1 << 14
#: Bytes read past the end of a block, to see the colours and the sign of a line that begins there.
SIGN_BYTES = 64
#: Hunks and definitions that may be shown. More: more work, though fewer fit.
MAX_HUNKS = 600
#: Changed lines of a hunk that are shown before the next hunk has its turn; the first that fit. More: fewer hunks.
LINES_PER_TURN = (12, 4, 1)
#: The share of the room for the summary, and for the headers of all commits. More: fewer changed lines.
SUMMARY_SHARE = 0.25
#: Files and commits that the summary names. More: more work, though fewer fit.
MAX_SUMMARY_ROWS = 200
#: The share of the room for lines that define something new. More: fewer other lines.
DEFINITIONS_SHARE = 0.3
#: A hole up to this many bytes is shown: a marker costs as much. More: fewer markers, and fewer lines.
HOLE_BYTES = 36
#: Bytes of a hunk that tell whether it changes the same as another. More: fewer hunks count as alike.
ALIKE_BYTES = 1_000
#: A hunk that changes what others do waits at most this many turns. More: the first of each change comes earlier.
MAX_TURNS_ALIKE = 4
#: Turns that a file waits by `path_weight`: the program itself, tests, documents, what is generated or vendored.
TURNS = (0, 1, 2, 6)

# Colours may stand before anything. No quantifier gives anything back, and none reaches over a line's end but that of
# _HEADER, which looks at three lines.
_COLOUR = rb"(?:\x1b\[[0-9;]*+m)*+"
# A removed line may look like "--- name", and an added one like "+++ name", but no hunk begins below them.
_HEADER = re.compile(
    rb"\n%b(?:@@ -|diff -|(?:commit|From) [0-9a-f]{7,}+|Index: |--- [^\n]*+\n%b\+\+\+ (?=[^\n]*+\n%b@@ -))"
    % (_COLOUR, _COLOUR, _COLOUR)
)
_BEGINNING = re.compile(rb"%b(?:diff -|--- \S|commit [0-9a-f]{7}|Index: |From [0-9a-f]{40} )" % _COLOUR)
_HUNK_LINE = re.compile(rb"(?m)^(?:\x1b\[[0-9;]*+m)*+@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@")
HUNK = re.compile(rb"%b@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@" % _COLOUR)
_FILE_OR_COMMIT = re.compile(rb"%b(?:diff -|(commit |From )|Index: )" % _COLOUR)
_SIGN = re.compile(rb"\n%b([-+])" % _COLOUR)
_CHANGED = re.compile(rb"%b([-+])" % _COLOUR)
_SUBJECT = re.compile(rb"\n(?:Subject: |    )([^\n]*+)")
_SHA = re.compile(rb"%b(?:commit |From )([0-9a-f]{7})" % _COLOUR)
_NAMES = re.compile(rb"(diff --git a/)|\+\+\+ (?:b/)?+|Index: ")
_NAME = re.compile(rb"[^\t\n\x1b\r]++")
_DIGITS_AND_BLANKS = b"0123456789 \t"
#: How any line of a diff begins.
LINE = re.compile(
    rb"%b(?:[-+ \\]|@@ |diff |index |\w++ mode |(?:new|deleted|rename|copy|similarity|dissimilarity) "
    rb"|Binary files |GIT binary|Index: |=++$|commit |Author|Commit|Date:|Merge: |From |Subject: |$)" % _COLOUR
)


class File(Struct, frozen=True):
    """The header of one file, above its hunks; the number of the commit it is in, or -1."""

    start: int
    end: int
    name: str
    commit: int


class Commit(Struct, frozen=True):
    """A commit: from its first line up to the end of its subject, and both in short."""

    start: int
    end: int
    sha: str
    subject: str


class Hunk(Struct, frozen=True):
    """Where a hunk, its body and what follows it begin; the number of its file; the lines it adds and removes."""

    start: int
    body: int
    end: int
    file: int
    additions: int
    removals: int


class Diff(Struct, frozen=True):
    """A diff, taken apart, each in order."""

    commits: Sequence[Commit]
    files: Sequence[File]
    hunks: Sequence[Hunk]


def parse(document: Document) -> Diff:
    """Return the commits, files and hunks of a diff."""
    headers = list(_find_headers(document))
    edges = [*(at for at, _ in headers), document.size]
    commits: list[Commit] = []
    files: list[File] = []
    hunks: list[Hunk] = []
    file_start = -1  # of a file whose first hunk has not come yet

    def close_file(end: int) -> None:
        nonlocal file_start
        if file_start >= 0:
            files.append(_read_file(document, file_start, end, len(commits) - 1))
        file_start = -1

    for (start, is_hunk), end in zip(headers, edges[1:], strict=True):
        if is_hunk:
            close_file(start)
            line = document.blob.read(start, min(end, start + WINDOW_BYTES)).find(b"\n") + 1
            body = start + line if line else end
            if files:
                hunks.append(Hunk(start, body, end, len(files) - 1, *_count_changes(document, body, end)))
            continue
        header = _FILE_OR_COMMIT.match(document.blob.read(start, start + SIGN_BYTES))
        if header:  # the file above has no hunk: a binary file, a new name
            close_file(start)
        if header and header[1]:
            commits.append(_read_commit(document, start, end))
        elif file_start < 0:
            file_start = start
    close_file(document.size)
    return Diff(commits, files, hunks)


def recognise(sample: Sample) -> str:
    """Return "diff" for an output that begins as a diff, has a hunk, and holds nothing else."""
    if not _BEGINNING.match(sample.first_line) or not _HUNK_LINE.search(sample.head):
        return ""
    is_diff = [LINE.match(line) is not None for line in sample.lines]
    return "diff" if sum(is_diff) >= SURE * len(is_diff) and is_diff[-1] else ""


def outline(document: Document) -> Contents:
    """List the files of a diff, the longest first."""
    starts = [file.start for file in parse(document).files]
    files = sorted(pairwise([*starts, document.size]), key=lambda edges: edges[0] - edges[1])
    parts = []
    for start, end in files[:MAX_PARTS]:
        title = document.blob.read(start, min(end, start + MAX_TITLE_BYTES)).partition(b"\n")[0]
        parts.append(Part(flatten(title), document.number(start), document.number(end - 1)))
    return Contents("Sections", parts, len(starts))


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return a summary of all changes, and the most telling of them; nothing if this is not a diff."""
    diff = parse(document)
    hunks = diff.hunks
    if not hunks:
        return []

    @cache
    def changed_lines(number: int) -> list[Span]:
        return [span for span, sign in body(number) if sign]

    @cache
    def body(number: int) -> list[tuple[Span, bool]]:
        return list(_read_body(document, hunks[number]))

    turns = [number for number in _order_hunks(document, diff)[:MAX_HUNKS] if changed_lines(number)]
    if not turns:
        return []
    heads = [Span(commit.start, commit.end, f"commit {commit.sha}") for commit in diff.commits]
    if len(heads) > MAX_HUNKS or room.fill(join(heads)) > SUMMARY_SHARE:
        heads = []

    @cache
    def above(number: int) -> list[Span]:
        """Return what stands above the lines of a hunk: the commit, the name of the file, the header."""
        hunk = hunks[number]
        file = diff.files[hunk.file]
        spans = [
            _name_line(document, file),
            Span(hunk.start, hunk.body, f"hunk {number + 1:,} of {len(hunks):,}, in {file.name}"),
        ]
        if file.commit >= 0 and not heads:
            commit = diff.commits[file.commit]
            spans.insert(0, Span(commit.start, commit.end, f"commit {commit.sha}"))
        return spans

    def show_definitions(count: int) -> list[Span]:
        return [span for number, line in definitions[:count] for span in (*above(number), line)]

    lines = ((number, span) for number in turns for span in changed_lines(number) if _defines(document, span))
    definitions = [(number, Span(span.start, span.end, "definition")) for number, span in islice(lines, MAX_HUNKS)]
    count = largest(
        len(definitions), lambda count: room.fill(join([*heads, *show_definitions(count)])) / DEFINITIONS_SHARE
    )
    first = [*heads, *show_definitions(count)]
    summary = _summarize(diff, [hunks[number].file for number in turns], room, with_commits=not heads)

    def show_hunks(count: int, limit: int, *, lead: str = summary, context: bool = False) -> list[Span]:
        spans = list(first)
        for number in turns[:count]:
            spans += [*above(number), *changed_lines(number)[:limit]]
            if context and limit > len(changed_lines(number)):
                context_lines = [span for span, sign in body(number) if not sign]
                spans += context_lines[: limit - len(changed_lines(number))]
        document.work.spend(OBJECT * len(spans))
        merged = join(spans, HOLE_BYTES)
        return [Span(merged[0].start, merged[0].end, merged[0].why, None, lead), *merged[1:]] if lead else merged

    for limit in LINES_PER_TURN:
        count = largest(len(turns), lambda count, limit=limit: room.fill(show_hunks(count, limit)))  # type: ignore[misc]
        if count:
            break
    else:
        smallest = show_hunks(1, 1, lead="")
        return smallest if room.fill(smallest) <= 1 else []
    if count < len(turns):
        return show_hunks(count, limit)
    longest = max(len(body(number)) for number in turns)
    longer = largest(longest, lambda limit: room.fill(show_hunks(count, limit, context=True)))
    return show_hunks(count, max(longer, limit), context=longer > limit)


def _summarize(diff: Diff, turns: Iterable[int], room: Room, *, with_commits: bool) -> str:
    """Return what changed in each file, as far as it fits; files with the most telling changes before others."""
    totals: dict[str, tuple[int, int]] = {file.name: (0, 0) for file in diff.files}
    for hunk in diff.hunks:
        name = diff.files[hunk.file].name
        additions, removals = totals[name]
        totals[name] = (additions + hunk.additions, removals + hunk.removals)
    every = (
        len(totals),
        sum(additions for additions, _ in totals.values()),
        sum(removals for _, removals in totals.values()),
    )
    names = list(dict.fromkeys([*(diff.files[number].name for number in turns), *totals]))
    place = {name: number for number, name in enumerate(totals)}
    commits = [f"{commit.sha} {commit.subject}" for commit in diff.commits] if with_commits else []
    start, end = diff.hunks[0].start, diff.hunks[0].body
    bare = room.fill([Span(start, end)])

    def write(count: int) -> str:
        # Commits and files share the room: half of it each.
        rows = sorted(names[: count - min(count // 2, len(commits))], key=place.__getitem__)
        files = [(name, *totals[name]) for name in rows]
        return changes(commits[: count // 2], files, every, len(diff.commits))

    rows = min(len(names), MAX_SUMMARY_ROWS) + min(len(commits), MAX_SUMMARY_ROWS)
    return write(largest(rows, lambda count: (room.fill([Span(start, end, lead=write(count))]) - bare) / SUMMARY_SHARE))


def _order_hunks(document: Document, diff: Diff) -> list[int]:
    """Return the numbers of hunks in the order in which they get room."""
    times: dict[bytes, int] = {}
    by_file: dict[str, list[tuple[int, int]]] = {}
    for number, hunk in enumerate(diff.hunks[: 8 * MAX_HUNKS]):
        text = _read_change(document, hunk)
        alike = times[text] = times.get(text, -1) + 1
        # Replaced lines say more than new ones, and new ones more than removed ones. The same change in many places is
        # one.
        rank = (0 if hunk.additions and hunk.removals else 1 if hunk.additions else 2) + min(alike, MAX_TURNS_ALIKE)
        by_file.setdefault(diff.files[hunk.file].name, []).append((rank, number))
    order = [
        (turn + max(0, rank - 1), number)
        for name, ranks in by_file.items()
        for turn, (rank, number) in enumerate(sorted(ranks), TURNS[path_weight(name.encode())])
    ]
    return [number for _, number in sorted(order)]


def _read_change(document: Document, hunk: Hunk) -> bytes:
    """Return what a hunk changes, without its numbers: some of the first lines of its body."""
    body = document.blob.read(hunk.body, min(hunk.end, hunk.body + ALIKE_BYTES))
    return b"\n".join(filter(_CHANGED.match, body.split(b"\n"))).translate(None, _DIGITS_AND_BLANKS)


def _read_body(document: Document, hunk: Hunk) -> Iterator[tuple[Span, bool]]:
    """Yield the lines of a hunk, and whether each changes something."""
    lines = _read_lines(document, hunk.body, hunk.end)
    if hunk.end - hunk.body > WINDOW_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut off
    at = hunk.body
    for line in lines:
        yield Span(at, at + len(line)), _CHANGED.match(line) is not None
        at += len(line)


def _defines(document: Document, span: Span) -> bool:
    """Return whether a line of a diff adds a definition."""
    line = document.blob.read(span.start, span.end)
    sign = _CHANGED.match(line)
    return sign is not None and sign[1] == b"+" and DEFINES.match(line, sign.end()) is not None


def _name_line(document: Document, file: File) -> Span:
    """Return the line that names a file."""
    at = file.start
    lines = _read_lines(document, at, file.end)
    for line in lines:
        if any(_find_names(line)):
            return Span(at, at + len(line), f"names {file.name}")
        at += len(line)
    return Span(file.start, file.start + len(lines[0]), f"names {file.name}")


def _read_lines(document: Document, start: int, end: int) -> list[bytes]:
    """Return the lines of a header or a body, each with its end."""
    data = document.blob.read(start, min(end, start + WINDOW_BYTES))
    document.work.spend(3 * OBJECT * data.count(b"\n"))
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _read_commit(document: Document, start: int, end: int) -> Commit:
    data = document.blob.read(start, min(end, start + WINDOW_BYTES))
    subject = _SUBJECT.search(data)
    sha = _SHA.match(data)
    length = subject.end() + 1 if subject else data.find(b"\n") + 1 or end - start
    text = subject[1].decode("utf-8", "replace") if subject else ""
    return Commit(start, min(end, start + length), sha[1].decode() if sha else "", text)


def _read_file(document: Document, start: int, end: int, commit: int) -> File:
    data = document.blob.read(start, min(end, start + WINDOW_BYTES))
    for line in reversed(data.split(b"\n")):  # the last line that names one is mostly the last of all
        names = [name for name in _find_names(line) if name != b"/dev/null"]
        if names:
            return File(start, end, names[-1].decode("utf-8", "replace"), commit)
    return File(start, end, "a file", commit)


def _find_names(line: bytes) -> Iterator[bytes]:
    """Yield the files that a line names. Where it names two, with a/ and b/, the second."""
    match = _NAMES.search(line)
    second = line.rfind(b" b/") + 3 if match else 0
    while match:
        at = match.end()
        if not match[1] or second >= at + 3:
            name = _NAME.match(line, second if match[1] else at)
            if name:
                at = name.end()
                yield name[0]
        match = _NAMES.search(line, at)


def _count_changes(document: Document, start: int, end: int) -> tuple[int, int]:
    """Return how many lines of a body are added and removed."""
    additions = removals = 0
    for at in range(start - 1, end - 1, BLOCK_BYTES):  # the newline before the body begins its first line
        data = document.blob.read(at, min(end, at + BLOCK_BYTES + SIGN_BYTES))
        if b"\x1b[" in data:
            signs = [match[1] for match in _SIGN.finditer(data) if match.start() < BLOCK_BYTES]
            additions += signs.count(b"+")
            removals += signs.count(b"-")
        else:
            additions += data.count(b"\n+", 0, BLOCK_BYTES + 1)
            removals += data.count(b"\n-", 0, BLOCK_BYTES + 1)
    return additions, removals


def _find_headers(document: Document) -> Iterator[tuple[int, bool]]:
    """Yield where each header begins, and whether it is a hunk's. Lines of a body begin with a space, + or -."""
    count = at = 0
    rest = b"\n"  # the output begins a line
    while at < document.size and count < MAX_HEADERS:
        piece = rest + document.blob.read(at, at + BLOCK_BYTES)
        base = at - len(rest)
        at = base + len(piece)
        end = len(piece)
        if at < document.size and len(rest) < WINDOW_BYTES:
            for _ in range(3):  # a header is known by the lines below it
                end = max(piece.rfind(b"\n", 0, end), 0)
        for match in _HEADER.finditer(piece):
            if match.start() >= end or count >= MAX_HEADERS:
                break
            is_hunk = HUNK.match(piece, match.start() + 1) is not None
            if is_hunk or b"@@ -" not in match[0]:
                count += 1
                yield base + match.start() + 1, is_hunk
        rest = piece[end:]
