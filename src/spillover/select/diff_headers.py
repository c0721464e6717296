"""The headers of a small diff in arrays: which lines begin a hunk, a file or a commit, and what files and commits there are."""

from __future__ import annotations

from functools import partial

from spillover.select.diff_parts import (
    COMMIT_HEADER,
    FILE_HEADERS,
    GIT,
    HUNK,
    WINDOW,
    Commit,
    File,
    read_commit,
    read_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: What a line may be: the header of a hunk, that of a file, a commit, two lines that name a file, or nothing of these.
NONE, HUNK_BEGINS, FILE_BEGINS, COMMIT_BEGINS, NAMES_BEGIN = range(5)
#: How many digits of a number in the header of a hunk are looked at all at once; nearly none has more.
DIGITS = 8
#: Zeros behind a diff, so that whatever is looked for at its end is not found.
PAD = bytes(16)
NAMED, SECOND = b"+++ b/", b" b/"
#: A name with one of these in it is read like any other header.
ODD = (b"\t", b"\r", b"/dev/null", SECOND)
NEWLINE, COMMA, ZERO = b"\n,0"


def read_words(data: bytes) -> Array:
    """Return the four bytes from each place on as one number; behind the end there are zeros."""
    import numpy as np

    return np.ndarray((len(data) + len(PAD) - 3,), dtype="<u4", buffer=data + PAD, strides=(1,))


def find_headers(data: bytes, words: Array, start: Array) -> Array:
    """Return what begins on each line."""
    import numpy as np

    first = words[start]
    kind = np.zeros(len(start), dtype=np.uint8)
    named = (first[:-2] == _word(b"--- ")) & (first[1:-1] == _word(b"+++ ")) & (first[2:] == _word(b"@@ -"))
    kind[:-2][named] = NAMES_BEGIN
    for header in FILE_HEADERS:
        lines = (first == _word(header)).nonzero()[0]
        kind[lines[_have(words, start[lines], header)]] = FILE_BEGINS
    lines = (first == _word(b"@@ -")).nonzero()[0]
    plain = _are_plain(words, start[lines])
    kind[lines[plain]] = HUNK_BEGINS
    for others, pattern, which in (
        (lines[~plain], HUNK, HUNK_BEGINS),
        ((first == _word(b"comm")).nonzero()[0], COMMIT_HEADER, COMMIT_BEGINS),
        ((first == _word(b"From")).nonzero()[0], COMMIT_HEADER, COMMIT_BEGINS),
    ):
        good = [pattern.match(data, place) is not None for place in start[others].tolist()]
        kind[others[np.array(good, dtype=bool)]] = which
    return kind


def read_files(
    document: Document, data: bytes, words: Array, start: Array, marks: Array, kinds: Array
) -> tuple[list[File], list[Commit], Array, Array, Array]:
    """Return files and commits; how many files have begun by each mark; where each begins, and where its first line ends.

    That is 0 unless the line is known to name the file.
    """
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
    begins, first, last, ends = edges[marks[where]], edges[marks[where] + 1], edges[behind - 1], edges[behind]
    plain = _have(words, last, NAMED) & (ends - begins <= WINDOW) & (words[ends - 1] & 0xFF == NEWLINE)
    names = _slices(data, last + len(NAMED), np.where(plain, ends - 1, 0))
    if any(odd in b"\n".join(names) for odd in ODD):
        names = [b"" if any(odd in name for odd in ODD) else name for name in names]
    decoded = b"\n".join(names).decode("utf-8", "replace").split("\n")
    commit_of = (is_commit.cumsum()[where] - 1).tolist()
    make = partial(tuple.__new__, File)  # what File() does, in a third of the time
    files: list[File] = list(map(make, zip(begins.tolist(), ends.tolist(), decoded, commit_of, strict=False)))
    for number, name in enumerate(names):
        if not name:
            at, upto, _, commit = files[number]
            files[number] = read_file(document, at, upto, commit)
    # On the first line, "diff --git a/NAME b/NAME" names it for sure.
    sizes = np.array([len(name) for name in names], dtype=np.int64)
    again = np.maximum(first - 1 - sizes, begins + len(GIT))
    same = [one == other for one, other in zip(_slices(data, again, first - 1), names, strict=True)]
    second = words[again - len(SECOND)] & 0xFFFFFF == _word(SECOND)
    named = np.where(_have(words, begins, GIT) & second & np.array(same, dtype=bool) & (sizes > 0), first, 0)
    upto = np.concatenate((start[marks[1:]], [len(data)]))[is_commit]
    places = zip(start[marks[is_commit]].tolist(), upto.tolist(), strict=True)
    commits = [read_commit(document, at, upto) for at, upto in places]
    return files, commits, opens.cumsum(), begins, named


def _slices(data: bytes, start: Array, end: Array) -> list[bytes]:
    return [data[at:upto] for at, upto in zip(start.tolist(), end.tolist(), strict=True)]


def _are_plain(words: Array, at: Array) -> Array:
    """Return which of these begin like "@@ -1,2 +3,4 @@"; they begin with "@@ -". Of what has very large numbers, none."""
    good = at >= 0
    at = at + 4
    for behind in (b" +", b" @@"):
        number = _skip_digits(words, at)
        comma = words[number] & 0xFF == COMMA
        second = _skip_digits(words, number + comma)
        good &= (number > at) & ((second > number + 1) | ~comma)
        good &= words[second] & ((1 << 8 * len(behind)) - 1) == _word(behind)
        at = second + len(behind)
    return good


def _skip_digits(words: Array, at: Array) -> Array:
    for _ in range(DIGITS):
        digit = (words[at] & 0xFF) - ZERO < 10  # unsigned: what is less than a zero is large then
        if not digit.any():
            break
        at = at + digit
    return at


def _have(words: Array, at: Array, text: bytes) -> Array:
    """Return where a text of four bytes or more stands."""
    good = words[at + len(text) - 4] == _word(text[-4:])
    for here in range(0, len(text) - 4, 4):
        good &= words[at + here] == _word(text[here:])
    return good


def _word(text: bytes) -> int:
    """Return the first four bytes as one number."""
    return int.from_bytes(text[:4], "little")
