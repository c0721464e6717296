"""Unified diffs (also git show and git log -p): every file and every hunk is named before the body of any is shown.

Bounded: MARKS headers of hunks are known, the first of them; of a body only WINDOW bytes of either end are looked at.
"""

from __future__ import annotations

import re

from spillover.data import dataclass
from spillover.select.ends import most
from spillover.select.span import Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.select.span import Fill
    from spillover.view.document import Document

BLOCK = 1 << 20
MARKS = 20_000
WINDOW = 1 << 14
#: Lines above the first hunk of a file that are shown: names, modes, similarity; the message of a commit may be longer.
PREAMBLE = 12
#: More headers than these never fit, and are not tried.
HEADERS = 600

#: Colours may stand before anything.
_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"
#: A removed line may look like "--- name", and an added one like "+++ name", but no hunk begins below them.
_MARK = re.compile(
    rb"\n%b(?:@@ -|diff -|(?:commit|From) [0-9a-f]{7,}|Index: |--- [^\n]*\n%b\+\+\+ (?=[^\n]*\n%b@@ -))"
    % (_COLOUR, _COLOUR, _COLOUR)
)
_HUNK = re.compile(rb"%b@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@" % _COLOUR)
_BEGINS = re.compile(rb"%b(?:diff -|(commit |From )|Index: )" % _COLOUR)
_CHANGED = re.compile(rb"%b[-+]" % _COLOUR)
_NAME = re.compile(rb"(?:diff --git a/.* b/|\+\+\+ (?:b/)?|Index: )([^\t\n\x1b\r]+)")
#: What the lines of a diff begin with.
LINE = re.compile(rb"%b(?:[-+ \\]|@@ |diff |index |\w+ mode |(?:new|deleted|rename|copy|similarity|dissimilarity) |"
                  rb"Binary files |GIT binary|Index: |=+$|commit |Author|Commit|Date:|Merge: |From |Subject: |$)"
                  % _COLOUR)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk: where it begins, where its body does, where it ends; which file it is of."""

    start: int
    body: int
    end: int
    file: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the output."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class File:
    """What stands above the hunks of one file, a commit's message included where there is one."""

    start: int
    end: int
    name: str


def select(document: Document, fill: Fill) -> list[Span] | None:
    """Headers of files and hunks first, then bodies, the longest shortened; None when this is no diff."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    files, hunks = _parts(document)
    if not files or not hunks:
        return None
    above = [_above(document, file) for file in files]
    named = [Span(hunk.start, hunk.body, _why(files, hunks, number)) for number, hunk in enumerate(hunks)]
    headers = [*(span for spans in above for span in spans), *named]
    if len(headers) <= HEADERS and fill(joined(headers)) <= 1:
        return _bodies(document, fill, headers, hunks)
    return _headers(document, fill, files, above, hunks, named)


def _bodies(document: Document, fill: Fill, headers: Sequence[Span], hunks: Sequence[Hunk]) -> list[Span]:
    """All headers, and as many lines of each body as fit: short hunks are whole before long ones get more."""
    orders = [_ordered(document, hunk) for hunk in hunks]

    def spans(lines: int, more: int = 0) -> list[Span]:
        bodies = [line for number, order in enumerate(orders) for line in order[: lines + (number < more)]]
        return joined([*headers, *bodies])

    lines = most(max(map(len, orders)), lambda lines: fill(spans(lines)))
    return spans(lines, most(len(orders), lambda more: fill(spans(lines, more))))


def _headers(
    document: Document,
    fill: Fill,
    files: Sequence[File],
    above: Sequence[Sequence[Span]],
    hunks: Sequence[Hunk],
    named: Sequence[Span],
) -> list[Span] | None:
    """What fits of the headers: files first, then the first hunk of each, the second of each, and so on."""
    turns: dict[int, int] = {}
    order = []
    for hunk, span in zip(hunks, named, strict=True):
        turns[hunk.file] = turns.get(hunk.file, 0) + 1
        order.append((turns[hunk.file], span.start, span))
    rest = [span for *_, span in sorted(order, key=lambda each: each[:2])]
    shortest = [_shortest(document, file, spans) for file, spans in zip(files, above, strict=True)]
    for heads in (above, shortest):
        flat = [span for spans in heads for span in spans]
        if len(flat) <= HEADERS and fill(joined(flat)) <= 1:
            count = most(min(len(rest), HEADERS), lambda count: fill(joined([*flat, *rest[:count]])))  # noqa: B023  used at once
            headers = [*flat, *rest[:count]]
            return joined(headers) if count < len(rest) else _bodies(document, fill, headers, hunks)
    # Not even their names: the first and the last of them, so that both ends are known.
    names = [spans[-1] for spans in shortest]
    ends = [names[-1 - place // 2] if place % 2 else names[place // 2] for place in range(len(names))]
    count = most(min(len(ends), HEADERS), lambda count: fill(joined(ends[:count])))
    return joined(ends[:count]) if count >= 2 else None


def _why(files: Sequence[File], hunks: Sequence[Hunk], number: int) -> str:
    return f"hunk {number + 1:,} of {len(hunks):,}, in {files[hunks[number].file].name}"


def _parts(document: Document) -> tuple[list[File], list[Hunk]]:
    """The files and hunks of a diff, in order."""
    starts = list(_marks(document))
    edges = [*(at for at, _ in starts), document.size]
    files: list[File] = []
    hunks: list[Hunk] = []
    opened = None  # where the file that has no hunk yet begins
    named = False  # whether it has a name yet, or is a commit's message still
    for (at, is_hunk), end in zip(starts, edges[1:], strict=True):
        if is_hunk:
            if opened is not None:
                files.append(_file(document, opened, at))
                opened = None
            line = document.blob.read(at, min(end, at + WINDOW)).find(b"\n") + 1
            if files:
                hunks.append(Hunk(at, at + line if line else end, end, len(files) - 1))
            continue
        begins = _BEGINS.match(document.blob.read(at, at + 64))
        if opened is not None and named and begins:
            files.append(_file(document, opened, at))
            opened = None
        if opened is None:
            opened, named = at, False
        named = named or not (begins and begins[1])
    if opened is not None:
        files.append(_file(document, opened, document.size))
    return files, hunks


def _file(document: Document, start: int, end: int) -> File:
    data = document.blob.read(start, min(end, start + WINDOW))
    names = [name for name in _NAME.findall(data) if name != b"/dev/null"]
    return File(start, end, names[-1].decode("utf-8", "replace") if names else "a file")


def _marks(document: Document) -> Iterator[tuple[int, bool]]:
    """Where a header begins, and whether it is a hunk's. Lines of a body begin with a space, + or -, and are none."""
    count = 0
    at, tail = 0, b"\n"  # the output begins a line
    while at < document.size and count < MARKS:
        data = document.blob.read(at, at + BLOCK)
        piece, base, at = tail + data, at - len(tail), at + len(data)
        upto = len(piece)
        for _ in range(3 if at < document.size and len(tail) < WINDOW else 0):
            upto = max(piece.rfind(b"\n", 0, upto), 0)  # a header is known by the lines below it
        for match in _MARK.finditer(piece):
            if match.start() >= upto or count >= MARKS:
                break
            is_hunk = _HUNK.match(piece, match.start() + 1) is not None
            if is_hunk or b"@@ -" not in match[0]:
                count += 1
                yield base + match.start() + 1, is_hunk
        tail = piece[upto:]


def _above(document: Document, file: File) -> list[Span]:
    """The lines above the hunks of a file, or the first and last of very many."""
    data = document.blob.read(file.start, min(file.end, file.start + WINDOW))
    ends = [match.end() for match in re.finditer(rb"\n", data)]
    if file.end - file.start <= len(data) and len(ends) <= PREAMBLE:
        return [Span(file.start, file.end, f"names {file.name}")]
    back = document.blob.read(max(file.start, file.end - WINDOW), file.end)
    starts = [match.start() + 1 for match in re.finditer(rb"\n", back[:-1])][-4:]
    first = ends[min(PREAMBLE - 4, len(ends)) - 1] if ends else min(len(data), 200)
    since = file.end - len(back) + starts[0] if starts else file.end
    return [Span(file.start, file.start + first, f"names {file.name}"), Span(max(since, file.start + first), file.end)]


def _shortest(document: Document, file: File, spans: Sequence[Span]) -> list[Span]:
    """The line that names a file, and the one that names its commit."""
    lines = [line for span in spans for line in _lines(document, span.start, span.end)]
    commit = [line for line in lines[:1] if (begins := _BEGINS.match(line.text)) and begins[1]]
    names = [line for line in lines if _NAME.search(line.text)]
    return [Span(line.start, line.end, f"names {file.name}") for line in [*commit, *(names or lines)[:1]]]


def _ordered(document: Document, hunk: Hunk) -> list[Span]:
    """The lines of a body: changed ones before context, from both ends inwards."""
    lines = _lines(document, hunk.body, min(hunk.end, hunk.body + WINDOW))
    if hunk.end - hunk.body > WINDOW:
        # The line at the end of either window may be cut off.
        lines = [*lines[:-1], *_lines(document, max(hunk.body + WINDOW, hunk.end - WINDOW), hunk.end)[1:]]
    changed = [line for line in lines if _CHANGED.match(line.text)]
    context = [line for line in lines if not _CHANGED.match(line.text)]
    return [Span(line.start, line.end) for group in (changed, context) for line in _inwards(group)]


def _lines(document: Document, start: int, end: int) -> list[Line]:
    data = document.blob.read(start, end)
    found = re.finditer(rb"[^\n]*\n|[^\n]+\Z", data)
    return [Line(start + match.start(), start + match.end(), match[0]) for match in found]


def _inwards(lines: Sequence[Line]) -> Iterator[Line]:
    for place in range(len(lines)):
        yield lines[-1 - place // 2] if place % 2 else lines[place // 2]
