"""The text of a file: its skeleton first, then bodies: what answers the query, the beginning, the end. Never reordered.

The skeleton is imports, constants, classes, signatures and the first sentence said of each. Numbers that
a reader put before the lines are shown where a part begins and at definitions, and left out in between.
"""

from __future__ import annotations

import re

from spillover.document.document import OBJECT
from spillover.kinds import pack
from spillover.kinds.listing import Listing, is_file, listing
from spillover.kinds.outlined import Block, doc_line, outline
from spillover.kinds.query import ANSWERS, CHARS, Query, file_suffix, prints_file
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Span, largest
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("source",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

    Array = Any  # of numpy; its own types say little about what is in one

_TEXT_WORD = re.compile(r"\S++")
_WORD = re.compile(rb"[A-Za-z_$][\w$]{2,}+")
_KEYWORDS = frozenset(
    b"const let var val static final define export pub public private protected readonly int long char string String bool boolean auto unsigned".split()
)
#: The share of the room for the skeleton, of a file LARGE times the room of which nothing is known, and of what was read or
#: printed; and for what answers the query. Measured: with more of a skeleton, agents find something of what they need in more of the files they
#: read (92 % instead of 88), and all of it in fewer (69 instead of 71).
SKELETON, LESS, ANSWERING = 0.45, 0.2, 0.35
LARGE = 3
#: So many constants come before the definitions, with their first uses; in so much of a line, names are looked for.
CONSTANTS, LOOKED = 6, 400
#: Of the rest, the share for the beginning: of a file, and of what a command printed of one; `cat FILE` prints a file.
#: Measured: agents need of the first what lies early, of the second what they asked to see last.
FROM_FILE, FROM_COMMAND = 0.7, 0.2
#: A comment at the beginning that speaks of these says nothing of the file; it has at most so many lines.
_LEGAL = re.compile(rb"(?i)copyright|licen[cs]e")
LEGAL = 60
_COMMENT = (b"/*", b"*", b"//", b"#", b"--", b";")
#: What a marker costs, in tokens, with the number that is shown behind it. A hole that costs less is filled.
MARKER = 10.0
PER_TOKEN = 3.4
#: A line that answers so much of the query is shown with what is around it.
ANSWER = 0.34
AROUND = 4
#: In between, every so many lines have their number.
EVERY = 40
#: A longer line is shown in part.
WIDTH = 600


def select(document: Document, fill: Fill, call: Call) -> Sequence[Span]:
    """Return the skeleton and as much of the bodies as fits."""
    lines = listing(document)
    if len(lines) < 2:
        return []
    document.work.spend(OBJECT * 10 * len(lines))
    blocks = outline(lines.text, file_suffix(call))
    plan = _Plan(lines, blocks, _asked(call), printed=bool(call.command) and not prints_file(call.command))

    def spans(room: int) -> list[Span]:
        return plan.spans(plan.take(room))

    room = largest(int(plan.cost.sum()) + 1, lambda room: fill(spans(room)))
    return spans(room) if room else []


def _asked(call: Call) -> Query:
    """Return what is asked of a file, without the names of files: which one it is says nothing of what is wanted of it."""
    return Query.read(*(_TEXT_WORD.sub(_drop_path, text[:CHARS]) for text in (call.query, call.command)))


def _drop_path(word: re.Match[str]) -> str:
    """Return a blank for the name of a file: a word with a slash, or with a dot inside."""
    return " " if "/" in word[0] or "\\" in word[0] or "." in word[0].lstrip(".") else word[0]


def _count_legal(lines: Sequence[bytes]) -> int:
    """Return how many lines at the beginning are a comment about who may use the file."""
    for number, line in enumerate(lines[:LEGAL]):
        if line.strip() and not line.lstrip().startswith(_COMMENT):
            return number if any(map(_LEGAL.search, lines[:number])) else 0
    return 0


def _constant(line: bytes) -> bytes:
    """Return the name that a line gives to a constant; b"" where it has none that is long enough to be looked for."""
    head = line[:LOOKED].partition(b"=")[0]
    names = [word for word in _WORD.findall(head) if word not in _KEYWORDS]
    return names[0] if names else b""


class _Plan:
    """Lines with what each would cost, and in which order they get room."""

    def __init__(self, lines: Listing, blocks: Sequence[Block], query: Query, *, printed: bool) -> None:
        import numpy as np

        self.lines, self.read, self.printed, self.legal = lines, any(lines.skip), printed, _count_legal(lines.text)
        sizes = np.fromiter((min(len(text), WIDTH) for text in lines.text), dtype=np.int64, count=len(lines))
        indents = np.fromiter((len(text) - len(text.lstrip()) for text in lines.text), dtype=np.int64, count=len(lines))
        self.cost = 1.0 + (sizes - indents) / PER_TOKEN
        self.why: dict[int, str] = {}
        self.skeleton = np.array(self._skeleton(blocks), dtype=np.int64)
        self.answering = self._answering(query)
        self.defines = {block.first for block in blocks if block.kind == "definition"}

    def _skeleton(self, blocks: Sequence[Block]) -> list[int]:
        """Return the lines of the skeleton: some constants with their first uses, the outer definitions, the longest first, what they hold, what is said."""
        out: dict[int, None] = {}
        constants = [block for block in blocks if block.kind == "constant" and block.depth == 0][:CONSTANTS]
        for line, why in sorted((block.first, block.kind) for block in constants):
            out.setdefault(line)
            self.why.setdefault(line, why)
        for line, name in self._first_uses(constants):
            out.setdefault(line)
            self.why.setdefault(line, f"first use of {name.decode('utf-8', 'replace')}")
        rank = {"definition": 0, "heading": 0, "constant": 1, "import": 2}
        for block in sorted(
            blocks,
            key=lambda block: (
                block.depth + 0.5 * (block.kind not in ("definition", "heading")),
                rank[block.kind],
                block.first - block.last,
            ),
        ):
            last = block.signature if block.kind != "import" else block.last
            out.update(dict.fromkeys(range(block.first, min(last, block.first + 8) + 1)))
            self.why.setdefault(block.first, block.kind)
        for block in blocks:
            said = doc_line(self.lines.text, block) if block.kind == "definition" else None
            if said is not None:
                out.setdefault(said)
                self.why.setdefault(said, "what is said of a definition")
        return list(out)

    def _first_uses(self, constants: Sequence[Block]) -> Iterator[tuple[int, bytes]]:
        """Yield where each constant is used first, and its name."""
        waiting = {name: block.last for block in constants if (name := _constant(self.lines.text[block.first]))}
        for number, text in enumerate(self.lines.text):
            if not waiting:
                return
            for name in dict.fromkeys(_WORD.findall(text[:LOOKED])):  # not a set, whose order differs between processes
                if number > waiting.get(name, number):
                    del waiting[name]
                    yield number, name

    def _answering(self, query: Query) -> Array:
        """Return the lines that answer the query, the best first, each with the lines around it."""
        import numpy as np

        if not query:
            return np.array([], dtype=np.int64)
        points = query.score(self.lines.text)
        best = [int(line) for line in np.argsort(-points, kind="stable")[:200] if points[line] >= ANSWER]
        out: dict[int, None] = {}
        for line in best:
            self.why[line] = ANSWERS
            out.update(dict.fromkeys(range(max(0, line - 1), min(len(self.lines), line + AROUND))))
        return np.array(list(out), dtype=np.int64)

    def take(self, room: int) -> Array:
        """Return which lines to show in so many tokens."""
        import numpy as np

        keep = np.zeros(len(self.lines), dtype=bool)
        # What is not known to be a part that somebody asked for, and is much larger than the room, is a file.
        whole = not self.read and not self.printed and float(self.cost.sum()) > LARGE * room
        early = FROM_FILE if self.read or whole else FROM_COMMAND
        keep = self._add(keep, self.skeleton, (SKELETON if whole else LESS) * room)
        keep = self._add(keep, self.answering, min(room, self._price(keep) + ANSWERING * room))
        upto, since = np.cumsum(self.cost), np.cumsum(self.cost[::-1])[::-1]
        upto -= upto[self.legal - 1] if self.legal else 0.0
        upto[: self.legal] = np.inf
        low, high, best = 0.0, float(room), keep
        for _ in range(16):
            middle = (low + high) / 2
            more = self._close(keep | (upto <= early * middle) | (since <= (1 - early) * middle))
            if self._price(more) <= room:
                low, best = middle, more
            else:
                high = middle
        return best

    def _add(self, base: Array, order: Array, room: float) -> Array:
        return pack.take(base, order, room, close=self._close, price=self._price)

    def _close(self, keep: Array) -> Array:
        return pack.fill_holes(keep, self.cost, MARKER)

    def _price(self, keep: Array) -> float:
        return float(self.cost[keep].sum()) + MARKER * pack.count_gaps(keep)

    def spans(self, keep: Array) -> list[Span]:
        """Return a span for each line with its number left out, and for those that are shown as they are."""
        import numpy as np

        lines, out = self.lines, []
        before, since = -2, 0
        for line in np.flatnonzero(keep).tolist():
            since = 0 if line != before + 1 else since + 1
            numbered = since == 0 or line in self.defines or since % EVERY == 0
            skip = 0 if numbered else lines.skip[line]
            why = self.why.get(line, "")
            start, end = lines.start[line], lines.end[line]
            if end - start > WIDTH + 64 + skip:
                out += [Span(start, start + skip + WIDTH, why, None, "", skip), Span(end - 1, end)]
            else:
                out.append(Span(start, end, why, None, "", skip))
            before = line
        return out


def recognise(sample: Sample) -> str:
    """Return "source" for the text of one file."""
    return "source" if is_file(sample.lines, hinted=sample.hint in NAMES) else ""
