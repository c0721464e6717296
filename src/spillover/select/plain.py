"""Where nothing says that something failed: lines like no others, what answers the query, both ends; repeats are folded.

Of a large output, some lines of several places between the ends are shown, too: nobody knows which place matters.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.base.work import OBJECT
from spillover.select.arrays import group
from spillover.select.ends import fair, keeping, most
from spillover.select.fold import runs
from spillover.select.holes import fill_holes
from spillover.select.query import ANSWERS, Query
from spillover.select.rows import find_room, spans_of
from spillover.select.span import Span, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from spillover.select.lines import Lines
    from spillover.select.span import Fill
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

#: The share of the room for the beginning: of what a program printed while it ran, and of what was there before.
RAN, LAY_THERE = 0.2, 0.35
#: What repeats word for word is folded, if it is this share of the output; what repeats but for its numbers, if it is this one.
MUCH_REPEATED, MUCH_ALIKE = 0.2, 0.8
#: At least this share of lines have a long word, or numbers are what they say.
WORDY = 0.25
#: At most this many lines unlike all others, each of at most this many bytes, are shown too, if they take no more than half of the room.
MOST_ODD, SHORT, HALF = 16, 400, 0.5
#: What answers the query may take this share of the room: lines that score at least this share of the best.
ANSWERED, GOOD = 0.25, 0.5
MOST_ANSWERS = 200
#: What a marker costs, in tokens.
MARKER = 9.0
#: With so many bytes of room or more, this share of it goes to places between the ends, so many of them.
ROOMY, BETWEEN, PLACES = 20_000, 0.4, 8
#: So many bytes are read at once.
BLOCK = 1 << 16
NEWLINE = 0x0A

#: Programs that print what is there, and run nothing.
READERS = frozenset(
    b"""
    awk base64 bat cat column comm cut df diff du env fd find gh grep egrep fgrep head hexdump jq less ls lsof man more nl
    od paste printenv ps rg sed sort stat strings tac tail tar tr tree uniq wc xxd yq zcat
""".decode().split()
)
#: And the verbs of others with which they do.
READING = {
    "git": (
        "blame",
        "branch",
        "cat-file",
        "diff",
        "grep",
        "log",
        "ls-files",
        "ls-tree",
        "reflog",
        "show",
        "status",
        "tag",
    ),
    "kubectl": ("describe", "get"),
    "docker": ("images", "inspect", "ps"),
}
NEUTRAL = ("cd", "echo", "printf", "true", "sudo", "xargs", "set", "export")
#: Words in the names of tools that only look.
LOOKING = ("read", "grep", "glob", "search", "list", "fetch", "view", "find", "snapshot", "page", "web")
_PARTS = re.compile(r"[|&;\n]++")


class Sight(Struct, frozen=True):
    """What is seen of a section: lines, and where those begin that are like no others."""

    lines: Lines
    rare: Sequence[int]
    weight: int

    def odd(self) -> list[Span]:
        """Return the lines like no others, as far as they are short and few."""
        import numpy as np

        at = np.flatnonzero(np.isin(self.lines.first, self.rare))[:MOST_ODD]
        rows = [(int(self.lines.first[row]), int(self.lines.last[row])) for row in at]
        return [Span(start, end, "like no other line") for start, end in rows if end - start <= SHORT]


def plain(document: Document, fill: Fill, sights: Sequence[Sight], wanted: Wanted) -> Sequence[Span]:
    """Return what fits of an output in which nothing is known to have failed."""
    odd = [span for sight in sights for span in sight.odd()]
    first = odd if fill(odd) <= HALF else []
    answers = list(_answers(document, sights, wanted))
    bare = fill(first)
    count = most(len(answers), lambda count: (fill(join([*first, *answers[:count]])) - bare) / ANSWERED)
    first = join([*first, *answers[:count]])

    def fill_beside(spans: Sequence[Span]) -> float:
        return fill([*first, *spans])

    share = LAY_THERE if nothing_ran(wanted) else RAN
    rest = _fold_repeats(sights, fill_beside, share) or _name_each(sights, fill_beside, share)
    return [*first, *(rest or _spread(document, fill_beside, share, thrifty=wanted.worth > 0))]


def nothing_ran(wanted: Wanted) -> bool:
    """Return whether an output is what was there before, as far as the call says: a file, a listing, a page."""
    if not wanted.command:
        return any(word in wanted.tool.lower() for word in LOOKING)
    found = []
    for part in _PARTS.split(wanted.command[:2_000]):
        words = [word for word in part.split() if "=" not in word and not word.startswith(("-", "<", ">"))]
        program = words[0].rpartition("/")[2] if words else ""
        if program and program not in NEUTRAL:
            found.append(program in READERS or any(word in READING.get(program, ()) for word in words[1:4]))
    return bool(found) and all(found)


def _answers(document: Document, sights: Sequence[Sight], wanted: Wanted) -> Iterator[Span]:
    """Yield lines that answer the query, the best first."""
    import numpy as np

    asked = Query.of(wanted)
    if not asked:
        return
    rows: list[tuple[float, int, int]] = []
    for sight in sights:
        edges = list(zip(sight.lines.first.tolist(), sight.lines.last.tolist(), strict=True))
        points = asked_for(document, sight.lines, asked)
        best = np.argsort(-points, kind="stable")[:MOST_ANSWERS].tolist()
        short = (row for row in best if points[row] > 0 and edges[row][1] - edges[row][0] <= SHORT)
        rows += [(float(points[row]), *edges[row]) for row in short]
    rows.sort(key=lambda row: (-row[0], row[1]))
    for score, start, end in rows[:MOST_ANSWERS]:
        if score >= GOOD * rows[0][0]:
            yield Span(start, end, ANSWERS)


def asked_for(document: Document, lines: Lines, asked: Query) -> Array:
    """Return how much each line answers the query, from 0 to 1."""
    import numpy as np

    document.work.spend(OBJECT * len(lines))
    opens, closes = document.gap
    if opens == closes and len(lines) and (lines.first[1:] == lines.last[:-1]).all():
        # Most logs: lines that follow each other are searched as they lie there, if a newline is between any two.
        data = document.blob.read(int(lines.first[0]), int(lines.last[-1]))
        starts = lines.first - lines.first[0]
        if (np.frombuffer(data, dtype=np.uint8)[starts[1:] - 1] == NEWLINE).all():
            return asked.score_in(data, starts)
    return asked.score(list(_texts(document, lines)))


def _texts(document: Document, lines: Lines) -> Iterator[bytes]:
    """Yield the bytes of each line, read many at a time: a call to the system for each would take longer than the rest."""
    opens, closes = document.gap
    block, since = b"", 0
    for start, end in zip(lines.first.tolist(), lines.last.tolist(), strict=True):
        if start < since or end > since + len(block):
            most = opens if start < opens < closes else document.size
            since, block = start, document.blob.read(start, max(end, min(start + BLOCK, most)))
        yield block[start - since : end - since]


def _spread(document: Document, fill: Fill, share: float, *, thrifty: bool) -> Sequence[Span]:
    """Return both ends; where there is much room, less of them, and some lines of several places between."""
    ends = keeping(share)(document, fill)
    shown = sum(span.end - span.start for span in ends)
    if (
        not thrifty
        or len(document.sections) > 1
        or len(ends) != 2
        or shown < ROOMY
        or document.gap[0] != document.gap[1]
    ):
        return ends
    less = keeping(0.5)(document, lambda spans: fill(spans) / (1 - BETWEEN))
    if not less:  # so little room that its smaller part has none
        return ends
    ends = less
    opens, closes = ends[0].end, ends[-1].start

    def places(size: int) -> list[Span]:
        out = []
        for number in range(1, PLACES + 1):
            at = opens + (closes - opens) * number // (PLACES + 1)
            data = document.blob.read(at, min(closes, at + 2 * size))
            start = data.find(b"\n") + 1
            end = data.rfind(b"\n", start, start + size) + 1
            out += [Span(at + start, at + end, "some of the middle")] if 0 < start < end else []
        return out

    size = most(int(shown * BETWEEN / PLACES), lambda size: fill([*ends, *places(size)]))
    return join([*ends, *places(size)])


def _fold_repeats(sights: Sequence[Sight], fill: Fill, share: float) -> list[Span]:
    """Return both ends without the middles of what repeats; nothing where little does."""
    total = sum(float(sight.lines.tokens.sum()) for sight in sights)
    for alike, much in ((_exact, MUCH_REPEATED), (_worded, MUCH_ALIKE)):
        new = [runs(sight.lines, alike(sight.lines)) == 0 for sight in sights]
        costs = [int(sight.lines.tokens[keep].sum()) + 1 for sight, keep in zip(sights, new, strict=True)]
        if sum(costs) <= (1 - much) * total:
            break
    else:
        return []

    def spans(room: int) -> list[Span]:
        rooms = [max(1, part) for part in fair(room, costs, [sight.weight for sight in sights])]
        parts = zip(sights, new, rooms, costs, strict=True)
        return [span for sight, keep, part, cost in parts for span in _ends_of(sight.lines, keep, part, cost, share)]

    room = find_room(sum(costs), lambda room: fill(spans(room)), fill([]))
    return spans(room) if room else []


def _name_each(sights: Sequence[Sight], fill: Fill, share: float) -> list[Span]:
    """Return the first line about each thing, and of the others both ends; nothing where one of the first would not fit."""
    import numpy as np

    if len(sights) != 1:
        return []
    lines = sights[0].lines
    new = np.zeros(len(lines), dtype=bool)
    order, starts, _ = group(np.where(lines.subject != 0, lines.subject.astype(np.int64), lines.exact))
    new[order[starts]] = True
    total = float(lines.tokens.sum())
    new &= lines.width > 0
    if float(lines.tokens[new].sum()) > (1 - MUCH_REPEATED) * total:
        return []

    def spans(room: int) -> list[Span]:
        upto, since = np.cumsum(lines.tokens), np.cumsum(lines.tokens[::-1])[::-1]
        keep = new | (upto <= share * room) | (since <= (1 - share) * room)
        return spans_of(lines, np.flatnonzero(fill_holes(keep, lines.tokens, MARKER)), total)

    if fill(spans(0)) > 1:
        return []
    return spans(most(int(total) + 1, lambda room: fill(spans(room))))


def _exact(lines: Lines) -> Array:
    return lines.exact


def _worded(lines: Lines) -> Array:
    """Return which lines are alike but for their numbers; where there are few words, the numbers are what is said."""
    return lines.template if (lines.subject != 0).mean() > WORDY else lines.exact


def _ends_of(lines: Lines, keep: Array, room: int, cost: int, share: float) -> list[Span]:
    """Return both ends of some lines."""
    import numpy as np

    width = float(room) if room >= cost else room / 2
    tokens = np.where(keep, np.minimum(lines.tokens, width), 0)
    upto, since = np.cumsum(tokens), np.cumsum(tokens[::-1])[::-1]
    ends = (upto <= share * room) | (since <= (1 - share) * room) | (room >= cost)
    return spans_of(lines, np.flatnonzero(keep & ends), width)
