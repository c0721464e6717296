"""What a call says of its output: words to look for, the kind that its tool or command promises, the file it is about.

    query = Query.of(call)                # the words of the query and of the command; false where there are none
    points = query.score(lines)           # of bytes; one number from 0 to 1 each, in an array of numpy
    points = query.score_in(data, starts) # the same for lines that begin at `starts` of some bytes

A line that holds every word it could hold scores 1. A word that stands in most lines tells none from another, and is
worth next to nothing, so nobody has to say which words of a command matter. `score` takes any pieces of bytes: lines,
cells, strings of JSON. Linear and deterministic.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from spillover.kinds.pack import Array
from spillover.settings.settings import Call
from spillover.shell import parse

#: Why a part is shown.
ANSWERS = "answers the query"
#: Characters of a query or a command that are read. Larger: a long script takes longer to read.
MAX_CHARS = 4_000
#: Words that are looked for. Larger: the last words of a long query count, and every output takes longer.
MAX_WORDS = 48
#: A part of a word (`Hash` of `ContentHash`) is worth this much of the word; so is a word found inside a longer one.
PART = 0.4
#: A word of fewer letters says little; one of more is a name.
SHORTEST, NAME = 3, 4

# Escapes of a regular expression, a shell and JSON, which are no part of a word: `\bfoo`, `\n`.
_ESCAPE = re.compile(r"\\[A-Za-z](?![a-z]{3}[/\\])")
_WORD = re.compile(r"[\w-]++")
_PART = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|\d++|[^\W\d_a-zA-Z]++")
_INSIDE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
#: Words of English, of shells and of the arguments of tools, that ask for nothing.
_EMPTY = frozenset(
    b"""
    a about all also an and any are as at be been but by can could did do does each every for from get gets had has
    have how if in into is it its just let like me more most my no not now of on or other our out over own please
    read run see shall should show so some such tell than that the their them then there these they this those to
    under up us use used using via want was we were what when where which who why will with would you your
    bash sh cd cat grep egrep rg find ls head tail sed awk xargs echo sort uniq wc git sudo env dev null true false
    none content files_with_matches file files path paths command description pattern output output_mode limit
    offset query type users home tmp usr var src lib main index test tests
""".split()
)


#: A word that a pattern may quote: nothing in it needs care in a shell, or is more than a word to a reader.
PLAIN_WORD = re.compile(r"[A-Za-z][\w-]{2,39}")

#: Tools of agents, by their names in small letters without marks; what they return.
TOOLS = {
    **dict.fromkeys(
        [
            "grep",
            "glob",
            "ls",
            "find",
            "listdirectory",
            "searchfiles",
            "listfiles",
            "findfiles",
            "greprepo",
            "codebasesearch",
            "filesearch",
            "searchfilecontent",
            "listdir",
            "greptool",
            "globtool",
            "search",
        ],
        "search",
    ),
    **dict.fromkeys(
        [
            "read",
            "readfile",
            "view",
            "cat",
            "openfile",
            "fileread",
            "readfiles",
            "readtextfile",
            "viewfile",
            "getfilecontents",
        ],
        "source",
    ),
}
#: Commands that search and list, and commands that show a file.
_SEARCHES = frozenset(
    ("grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "ls", "tree", "locate", "zgrep", "ripgrep")
)
_SHOWS = frozenset(("cat", "bat", "batcat", "nl", "sed", "head", "tail", "less", "more", "awk", "type", "get-content"))
_WHOLE = frozenset(("cat", "bat", "batcat", "nl"))
_OF_GIT = {"grep": "search", "status": "search", "ls-files": "search", "ls-tree": "search"}
#: What a pipeline may end with and still say the same, only less of it.
_FILTERS = frozenset(("head", "tail", "sort", "uniq", "cat", "less", "more", "sed", "grep", "tee", "cut", "nl"))
#: The end of a name: `app.tsx`, `app.tsx:12`, `app.tsx 345 120`.
_SUFFIX = re.compile(r"[\w)\]]\.([A-Za-z0-9_+]{1,8})(?=$|[\s:\"',;)?#]|\\)")


class Query(Struct, frozen=True):
    """Words that are looked for, in small letters, and what each is worth before its rarity is known."""

    words: tuple[tuple[bytes, float], ...] = ()

    @classmethod
    def of(cls, call: Call) -> Query:
        """Return the query of a call: what the caller wants to know, and the words of the command."""
        return cls.read(call.query, call.command)

    @classmethod
    def read(cls, *texts: str) -> Query:
        """Return the words of some texts; the words of the first come first, where there are too many."""
        worths: dict[bytes, float] = {}
        for text in texts:
            for word, worth in _words(text[:MAX_CHARS]):
                raw = word.encode("utf-8", "ignore")
                worths[raw] = max(worth, worths.get(raw, 0.0))
        best = sorted(worths, key=lambda word: -worths[word])[
            :MAX_WORDS
        ]  # whole words before parts, else in their order
        return cls(tuple((word, worths[word]) for word in best))

    def __bool__(self) -> bool:
        return bool(self.words)

    def score(self, lines: Sequence[bytes]) -> Array:
        """Return how much of the query each of these pieces answers, from 0 to 1."""
        sizes = np.fromiter((len(line) + 1 for line in lines), dtype=np.int64, count=len(lines))
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(lines) else sizes
        return self.score_in(b"\n".join(lines), starts)

    def score_in(self, data: bytes, starts: Array) -> Array:
        """Return the same for pieces that lie one behind the other in some bytes, each up to the next start."""
        points = np.zeros(len(starts))
        if not self.words or not len(starts):
            return points
        folded = data.lower()
        edges = [*np.asarray(starts).tolist(), len(data)]
        total = 0.0
        for word, worth in self.words:
            whole, inside = _find(data, folded, word, edges)
            count = len(whole) + len(inside)
            if not count:
                continue
            rarity = float(np.log((1 + len(starts)) / count)) / float(np.log(1 + len(starts)) or 1.0)
            points[whole] += worth * rarity
            points[inside] += PART * worth * rarity
            total += worth * rarity
        return np.minimum(1.0, points / total) if total > 0 else points


def _words(text: str) -> Iterator[tuple[str, float]]:
    """Yield the words of a text with their worth, and the parts of compound ones: of `ContentHash`, `content-hash`."""
    for match in _WORD.finditer(_ESCAPE.sub(" ", text)):
        word = match[0].strip("_-")
        if _asks(word.lower()):
            yield word.lower(), 1.0 if len(word) >= NAME else PART
        parts = [part.lower() for part in _PART.findall(word)]
        if len(parts) > 1:
            yield from ((part, PART) for part in parts if _asks(part) and len(part) >= NAME)


def _asks(word: str) -> bool:
    return len(word) >= SHORTEST and word.encode() not in _EMPTY and not (word.isdigit() and len(word) < NAME)


def _find(data: bytes, folded: bytes, word: bytes, edges: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the pieces that hold a word as a word, and those that hold it only inside a longer one.

    Behind the first find in a piece, the search goes on in the next one: as many finds as pieces at most.
    """
    whole: list[int] = []
    inside: list[int] = []
    at = folded.find(word)
    while at >= 0:
        piece = bisect_right(edges, at) - 1
        until = edges[piece + 1] if piece + 1 < len(edges) else len(folded)
        (whole if _stands_alone(data, at, at + len(word)) else inside).append(piece)
        at = folded.find(word, until)
    return whole, inside


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Tell whether this is a word, or a part of a name that its case tells apart: `Hash` in `ContentHash`."""
    before, after = data[start - 1 : start], data[end : end + 1]
    left = not before or before[0] not in _INSIDE
    right = not after or after[0] not in _INSIDE
    return left and right


def name_of(call: Call) -> str:
    """Return what an output is known by: a file, a command or a tool, the first of these that there is."""
    return call.name or call.command or call.tool


def promised_kind(call: Call) -> str:
    """Return what a call says it returns: "search", "source", or "" where it does not say."""
    name = "".join(char for char in call.tool.lower().rpartition("__")[2] if char.isalnum())
    if name in TOOLS:
        return TOOLS[name]
    return _promise_of(call.command) if call.command else ""


def _promise_of(command: str) -> str:
    promised = ""
    for pipeline in parse(command[:MAX_CHARS]):
        programs = [stage.program for stage in pipeline]
        if not programs or programs[0] in ("cd", "export", "set", "source", "echo", "(", "pwd", "printf"):
            continue
        first = pipeline[0]
        verbs = first.verbs
        if first.program == "git" and verbs:
            kind = _OF_GIT.get(
                verbs[0], "source" if verbs[0] == "show" and any(":" in word for word in verbs[1:2]) else ""
            )
        else:
            kind = "search" if first.program in _SEARCHES else "source" if first.program in _SHOWS else ""
        if "xargs" in programs or not all(program in _FILTERS for program in programs[1:]):
            kind = "search" if kind == "search" and programs[-1] in _SEARCHES else ""
        if not kind or (promised and promised != kind):
            return ""
        promised = kind
    return promised


def prints_file(command: str) -> bool:
    """Tell whether a command prints one whole file and nothing else: it does not say which part matters."""
    stages = [stage for pipeline in parse(command[:MAX_CHARS]) for stage in pipeline]
    return len(stages) == 1 and stages[0].program in _WHOLE and len(stages[0].verbs) == 1


def file_suffix(call: Call) -> str:
    """Return the suffix of the file that a call is about, in small letters; "" if it names none, or several kinds."""
    texts = (name_of(call), call.query, call.command)
    matches = {match.lower() for text in texts for match in _SUFFIX.findall(text[:MAX_CHARS])}
    suffixes = {suffix for suffix in matches if not suffix.isdigit()}
    return suffixes.pop() if len(suffixes) == 1 else ""
