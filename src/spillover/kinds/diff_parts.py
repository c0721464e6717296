"""The parts of a unified diff (also git show and git log -p): commits, files, hunks, and how many lines each changes.

Bounded: MARKS headers of hunks are known, the first of them; of what stands above a hunk only WINDOW bytes are looked at.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.document.document import OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document

    #: Where a hunk begins, where its body does, where it ends; which file it is of; how many lines it adds and removes.
    Hunk = tuple[int, int, int, int, int, int]

BLOCK = 1 << 20
MARKS = 20_000
WINDOW = 1 << 14
#: A colour has fewer bytes than this, so a line that begins at the end of a block is known by so many of the next.
AHEAD = 64

#: Colours may stand before anything. Here as below, no quantifier gives anything back, and none reaches over a line's end
#: but that of _MARK, which looks at three lines.
_COLOUR = rb"(?:\x1b\[[0-9;]*+m)*+"
#: A removed line may look like "--- name", and an added one like "+++ name", but no hunk begins below them.
_MARK = re.compile(
    rb"\n%b(?:@@ -|diff -|(?:commit|From) [0-9a-f]{7,}+|Index: |--- [^\n]*+\n%b\+\+\+ (?=[^\n]*+\n%b@@ -))"
    % (_COLOUR, _COLOUR, _COLOUR)
)
HUNK = re.compile(rb"%b@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@" % _COLOUR)
_BEGINS = re.compile(rb"%b(?:diff -|(commit |From )|Index: )" % _COLOUR)
CHANGED = re.compile(rb"%b[-+]" % _COLOUR)
#: The same in a text without colours, with the line.
CHANGED_LINES = re.compile(rb"^[-+][^\n]*+", re.MULTILINE)
#: A new line that defines a name.
DEFINES = re.compile(
    rb"%b\+[ \t]*+(?:(?:export|default|pub|public|private|protected|internal|static|final|abstract|async|unsafe|extern|inline"
    rb"|declare|override|virtual|open|data|suspend)[ \t]++)*+"
    rb"(?:def|class|func|fn|function|struct|enum|trait|interface|type|impl|module|namespace|record)[ \t]++[\w$(]"
    % _COLOUR
)
_LINES = re.compile(rb"[^\n]*+\n|[^\n]++")
_COLOURED = re.compile(rb"\n(?:\x1b\[[0-9;]*+m)++([-+])")
_SUBJECT = re.compile(rb"\n(?:Subject: |    )([^\n]*+)")
_SHA = re.compile(rb"%b(?:commit |From )([0-9a-f]{7})" % _COLOUR)
_NAMES = re.compile(rb"(diff --git a/)|\+\+\+ (?:b/)?+|Index: ")
GIT = b"diff --git a/"
_NAME = re.compile(rb"[^\t\n\x1b\r]++")
#: What the lines of a diff begin with: those of a hunk, most headers, and any.
BODY = b" +-\\"
COMMON = (b"@@ ", b"diff ", b"index ")
LINE = re.compile(rb"%b(?:[-+ \\]|@@ |diff |index |\w++ mode |(?:new|deleted|rename|copy|similarity|dissimilarity) |"
                  rb"Binary files |GIT binary|Index: |=++$|commit |Author|Commit|Date:|Merge: |From |Subject: |$)"
                  % _COLOUR)  # fmt: skip


class File(Struct, frozen=True):
    """The header of one file, above its hunks."""

    start: int
    end: int
    name: str
    commit: int  # the number of the commit it is in, or -1


class Commit(Struct, frozen=True):
    """A commit: from its first line up to the end of its subject, and both in short."""

    start: int
    end: int
    sha: str
    subject: str


class Parts(Struct, frozen=True):
    """A diff, taken apart."""

    commits: Sequence[Commit]
    files: Sequence[File]
    hunks: Sequence[Hunk]


def parts(document: Document) -> Parts:
    """Return the commits, files and hunks of a diff, in order."""
    starts = list(_marks(document))
    edges = [*(at for at, _ in starts), document.size]
    commits: list[Commit] = []
    files: list[File] = []
    hunks: list[Hunk] = []
    opened = None  # where the file that has no hunk yet begins
    for (at, is_hunk), end in zip(starts, edges[1:], strict=True):
        if is_hunk:
            if opened is not None:
                files.append(read_file(document, opened, at, len(commits) - 1))
                opened = None
            line = document.blob.read(at, min(end, at + WINDOW)).find(b"\n") + 1
            if files:
                body = at + line if line else end
                hunks.append((at, body, end, len(files) - 1, *_changes(document, body, end)))
            continue
        begins = _BEGINS.match(document.blob.read(at, at + AHEAD))
        if opened is not None and begins:  # one without a hunk: a binary file, a new name
            files.append(read_file(document, opened, at, len(commits) - 1))
            opened = None
        if begins and begins[1]:
            commits.append(read_commit(document, at, end))
        elif opened is None:
            opened = at
    if opened is not None:
        files.append(read_file(document, opened, document.size, len(commits) - 1))
    return Parts(commits, files, hunks)


def name_line(document: Document, file: File) -> tuple[int, int]:
    """Return the line that names a file."""
    at = file.start
    data = document.blob.read(at, min(file.end, at + WINDOW))
    first = data.find(b"\n") + 1
    second = data.rfind(b" b/", len(GIT), first) if data.startswith(GIT) else -1
    named = 0 <= second < first - 4 and data[second + 3] not in b"\t\r\x1b"
    if first and (named or any(_names(data[:first]))):  # as in all that git writes
        return at, at + first
    found = lines(document, at, min(file.end, at + WINDOW))
    for line in found:
        if any(_names(line)):
            return at, at + len(line)
        at += len(line)
    return file.start, file.start + len(found[0])


def lines(document: Document, start: int, end: int) -> list[bytes]:
    """Return the lines of some bytes, each with its end."""
    data = document.blob.read(start, end)
    document.work.spend(3 * OBJECT * data.count(b"\n"))
    return _LINES.findall(data)


def read_commit(document: Document, start: int, end: int) -> Commit:
    data = document.blob.read(start, min(end, start + WINDOW))
    subject, sha = _SUBJECT.search(data), _SHA.match(data)
    upto = subject.end() + 1 if subject else data.find(b"\n") + 1
    said = subject[1].decode("utf-8", "replace") if subject else ""
    return Commit(start, min(end, start + upto) if upto else end, sha[1].decode() if sha else "", said)


def _changes(document: Document, start: int, end: int) -> tuple[int, int]:
    """Return how many lines of a body are added and removed."""
    if end - start < BLOCK:  # as nearly all are
        data = document.blob.read(start - 1, end)
        if b"\x1b[" not in data:
            return data.count(b"\n+"), data.count(b"\n-")
    added = removed = 0
    for at in range(start - 1, end - 1, BLOCK):  # the newline before the body begins its first line
        data = document.blob.read(at, min(end, at + BLOCK + AHEAD))
        inside = data if len(data) <= BLOCK else data[: BLOCK + 1]
        added, removed = added + inside.count(b"\n+"), removed + inside.count(b"\n-")
        if b"\x1b[" in data:
            signs = [match[1] for match in _COLOURED.finditer(data) if match.start() < BLOCK]
            added, removed = added + signs.count(b"+"), removed + signs.count(b"-")
    return added, removed


def read_file(document: Document, start: int, end: int, commit: int) -> File:
    data = document.blob.read(start, min(end, start + WINDOW))
    for line in reversed(data.split(b"\n")):  # the last line that names one is mostly the last of all
        names = [name for name in _names(line) if name != b"/dev/null"]
        if names:
            return File(start, end, names[-1].decode("utf-8", "replace"), commit)
    return File(start, end, "a file", commit)


def _names(line: bytes) -> Iterator[bytes]:
    """Yield the files that a line names. Where it names two, with a/ and b/, the second."""
    match = _NAMES.search(line)
    second = line.rfind(b" b/") + 3 if match else 0
    while match:
        at = match.end()
        skipped = match[1] and second < at + 3
        if not skipped and (name := _NAME.match(line, second if match[1] else at)):
            at = name.end()
            yield name[0]
        match = _NAMES.search(line, at)


def _marks(document: Document) -> Iterator[tuple[int, bool]]:
    """Yield where a header begins, and whether it is a hunk's. Lines of a body begin with a space, + or -, and are none."""
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
            is_hunk = HUNK.match(piece, match.start() + 1) is not None
            if is_hunk or b"@@ -" not in match[0]:
                count += 1
                yield base + match.start() + 1, is_hunk
        tail = piece[upto:]
