"""What a search or a listing found, as rows: the file each is about, and whether it is a find, what is around one, or a name.

Read are the forms of grep, rg, git grep and the tools of agents: `path:12:text`, `path-12-text` around it, `path:text`,
`12:text` below the name of a file, and names alone, as of find, ls -R and git status.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from math import ceil, inf

from msgspec import Struct

from spillover.kinds.sample import are_few, are_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: A find, a line around one, the name of a file or folder (of those below it, or of itself), and anything else.
FIND, AROUND, NAME, OTHER = range(4)
#: The name of a file is not longer.
LONGEST = 400

#: So many lines tell whether it is a search; so few are none.
SAMPLED, FEWEST = 400, 8
#: The share of lines that are about a file: where the call says that it searched, and where it does not.
HINTED, SURE = 0.5, 0.95
#: Numbers of lines in one file rise; those of a clock do not.
RISING = 0.8
#: More than this share of lines that pass judgement are those of a compiler or a linter, and a log.
FEW = 0.05

# All of these are matched at one place; every quantifier is possessive, or followed by nothing that it matches.
_NAMED = re.compile(rb"((?:[A-Za-z]:)?[^:\x00-\x1f]{1,400}+):(?:(\d{1,9}+)[:\t])?")
_NUMBERED = re.compile(rb"(?:[ \t]*+Line )?[ \t]*+(\d{1,9}+)([:-]|\t)")
_AROUND = re.compile(rb"[-=](\d{1,9}+)[-=]")
# Searched for in so many bytes; what a compiler says behind the place, `12:5: error:`.
_JUDGED = re.compile(rb":\d{1,9}+:\d{1,9}+:? |:\d{1,9}+: (?:error|warning|note|fatal|info|[A-Z]{1,3}\d{2,5})\b")
#: What stands before a name in `git status` and in the long form of `ls`.
_STATUS = re.compile(
    rb"(?:[MTARC][ MTD]|D[ DU]|A[AU]|U[ADU]| [MTDRC]|\?\?|!!) |[ \t]++(?:(?:both |new )?[a-z]++(?: by (?:us|them))?:[ \t]++)?"
    rb"|[-dlbcps][-rwxsStT]{9}[.+@]?[ \t]++\d++[ \t]++\S++[ \t]++\S++[ \t]++[\d.,]++[BKMGT]?[ \t]++\S++[ \t]++\S++[ \t]++\S++ "
)
#: What `grep -c` and `rg -c` end a line with, and how much of its end is looked at.
_COUNTED = re.compile(rb"[\w)]:\d{1,8}\r?\Z")
COUNT = 12
#: What stands between finds.
_BETWEEN = frozenset((b"", b"--"))
_ROOTED = re.compile(rb"/|[A-Za-z]:[/\\]")
_FILE = re.compile(rb"\.[A-Za-z0-9_+-]{1,12}\Z")
#: What is in no name of a file.
_NO_NAME = re.compile(rb"://|  |[\t\"(=<>|*]")


class Row(Struct, frozen=True):
    """A line: from `start` to `end` of some bytes, what it says from `body` on, the file it is about, and the line there."""

    start: int
    end: int
    body: int
    kind: int
    file: bytes
    number: int = 0


def rows(data: bytes, most_others: float = inf) -> list[Row]:
    """Return the rows of a search; where it found nothing but names, those are the finds. Stop after too many about no file."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return _rows(lines, len(data), most_others)


def _rows(lines: Sequence[bytes], size: int, most_others: float) -> list[Row]:
    known = _Known(lines)
    out: list[Row] = []
    others = start = end = 0
    above = b""
    for number, line in enumerate(lines):
        start, end = end, end + len(line) + 1
        row = _row(start, min(end, size), line, known, above, out[-1].file if out else b"")
        if row.kind == NAME:
            below = lines[number + 1] if number + 1 < len(lines) else b""
            heads = bool(_NUMBERED.match(below)) or line.endswith(b":")
            if heads:  # of a folder, as `ls -R` has it, or of a file
                folder = line.endswith(b":") and not _NUMBERED.match(below)
                above = row.file.rstrip(b"/") + b"/" if folder else row.file
                row = Row(row.start, row.end, row.body, NAME, above)
            else:
                inside = above if above.endswith(b"/") and b"/" not in row.file else b""
                row = Row(row.start, row.end, row.body, FIND, inside + row.file)
        elif row.kind == OTHER and not line.strip():
            above = b"" if not above.endswith(b"/") else above
        out.append(row)
        others += not row.file
        if others > most_others:
            break
    return out


class _Known:
    """The files that are named with a number behind them; hardly any output is asked for them."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._names: set[bytes] | None = None

    @property
    def names(self) -> set[bytes]:
        if self._names is None:
            found = map(_NAMED.match, self._lines)
            self._names = {match[1] for match in found if match and match[2] and looks_like_path(match[1])}
        return self._names


def is_search(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these lines are what a search or a listing found; where the call does not say so, nearly all have to be."""
    filled = [line for line in lines[:SAMPLED] if line.strip() not in _BETWEEN]
    if len(filled) < SAMPLED < len(lines):
        filled = list(islice((line for line in lines if line.strip() not in _BETWEEN), SAMPLED))
    if len(filled) < FEWEST:
        return False
    counted = are_most(SURE, filled, lambda line: _COUNTED.search(line[-COUNT:]))
    # Otherwise nearly all rows have to be about a file.
    size = sum(map(len, filled)) + len(filled) - 1
    some = _rows(filled, size, inf if hinted or counted else len(filled) - ceil(SURE * len(filled)))
    bare = [row.number for row in some if row.number and not row.file]
    counts = sum(1 for one, two in pairwise(bare) if one < two) >= RISING * (len(bare) - 1)
    about = [row for row in some if row.kind != OTHER and (row.file or (row.number and counts))]
    if hinted:
        return len(about) >= HINTED * len(filled)
    if len(about) < SURE * len(filled):
        return False
    places = sum(1 for row in about if row.number and row.file)
    names = sum(1 for row in about if row.kind == FIND and not row.number and row.body == row.start)
    if not are_few(FEW, filled, lambda line: _JUDGED.search(line, 0, LONGEST)):
        return False
    return counted or max(places, names, places + _heads(some)) >= SURE * len(filled)


def _heads(some: Sequence[Row]) -> int:
    return sum(1 for row in some if row.kind == NAME)


def _row(start: int, end: int, line: bytes, known: _Known, above: bytes, last: bytes) -> Row:
    if line.strip() in _BETWEEN:
        return Row(start, end, start, OTHER, b"")
    match = _named(line)
    if match and match[2]:
        return Row(start, end, start + match.start(2), FIND, match[1], int(match[2]))
    numbered = _NUMBERED.match(line)
    if numbered and not (match and match.end() > numbered.end() and b"/" in match[1]):
        kind = AROUND if numbered[2] == b"-" else FIND
        return Row(start, end, start, kind, above, int(numbered[1]))
    found = _around(line, known, last)
    if found:
        return Row(start, end, start + found[1], AROUND, found[0], found[2])
    if match and match.end() < len(line) and looks_like_path(match[1]):
        return Row(start, end, start + match.end(), FIND, match[1])
    status = _STATUS.match(line)
    name = line[status.end() if status else 0 :].rstrip(b"\r")
    bare = name.removesuffix(b":")
    if looks_like_path(bare):
        return Row(start, end, start, NAME, bare)
    if above and line.strip() and b":" not in line:  # an entry of a folder, as `ls -R` has it
        return Row(start, end, start, FIND, above)
    return Row(start, end, start, OTHER, b"")


def _named(line: bytes) -> re.Match[bytes] | None:
    match = _NAMED.match(line)
    if match is None or not looks_like_path(match[1]):
        return None
    return match


def _around(line: bytes, known: _Known, last: bytes) -> tuple[bytes, int, int] | None:
    """Return the file of a line around a find, where its number begins, and the number; names may hold dashes and numbers."""
    best = None
    for match in _AROUND.finditer(line, 0, LONGEST):
        name = line[: match.start()]
        if name != last and not (b"/" in name or b"." in name or b"\\" in name):
            continue  # no name of a file: a date, mostly
        if name == last or name in known.names:
            return name, match.start(1), int(match[1])
        if best is None and known.names and _FILE.search(name) and looks_like_path(name):
            best = name, match.start(1), int(match[1])
    return best


def looks_like_path(name: bytes) -> bool:
    """Return whether this may be the name of a file: no sentence, no code."""
    if not 0 < len(name) <= LONGEST or name[:1] in b" \t" or name[-1:] in b" \t,;({[=":
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


def same_file(one: bytes, two: bytes) -> bool:
    """Return whether two names are of one file: some tools leave out the folder they work in from some lines."""
    long, short = (one, two) if len(one) >= len(two) else (two, one)
    return bool(short) and long.endswith(short) and long[-len(short) - 1 : -len(short)] in (b"", b"/", b"\\")


def common_folder(names: Sequence[bytes]) -> bytes:
    """Return the longest folder that all of these are in, with its slash; where only some are, that of those."""
    short = {name for name in names if not _ROOTED.match(name)}
    rooted = [name for name in names if name not in short]
    if short and rooted:
        for name in rooted:
            for mark in (b"/", b"\\"):
                at = name.find(mark, 1)
                while at >= 0:
                    if name[at + 1 :] in short:
                        return name[: at + 1]
                    at = name.find(mark, at + 1)
        return b""
    low, high = min(names, default=b""), max(names, default=b"")
    same = next(
        (at for at, (one, two) in enumerate(zip(low, high, strict=False)) if one != two), min(len(low), len(high))
    )
    return folder_of(low[:same])


def by_folder(new: Sequence[tuple[int, bytes, int]]) -> list[tuple[int, bytes, int]]:
    """Return files as folders, each with how much was found in how many files, the largest first."""
    folders: dict[bytes, tuple[int, int]] = {}
    for count, name, files in new:
        counted, held = folders.get(folder_of(name), (0, 0))
        folders[folder_of(name)] = (counted + count, held + files)
    out = [(count, name or b"./", files) for name, (count, files) in folders.items()]
    return sorted(out, key=lambda each: -each[0])


def repeats(texts: Sequence[bytes], found: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Return for each row how many say, without file and number, the same: before it, and in all."""
    known: dict[bytes, int] = {}
    before = []
    said = [text[row.body - row.start :].lstrip(b"0123456789 ").strip() for text, row in zip(texts, found, strict=True)]
    for words in said:
        before.append(known.get(words, 0) if words else 0)
        known[words] = before[-1] + 1
    return before, [known[words] for words in said]
