"""Unified diffs (also git show and git log -p): what changed in every file in a line of ours, then changed lines.

Lines that define something new are named first. Then the most telling hunk of each file gets room, then the second of each, and so on. The name of a file and the header
of a hunk are shown with changed lines of it, never without.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice, pairwise

from spillover.document.clean import flatten
from spillover.document.document import OBJECT
from spillover.kinds.diff_parts import (
    BODY,
    CHANGED,
    CHANGED_LINES,
    COMMON,
    DEFINES,
    LINE,
    WINDOW,
    lines,
    name_line,
    parts,
)
from spillover.kinds.sample import SURE, Sample
from spillover.kinds.selection import MAX_PARTS, MAX_TITLE_BYTES, Contents, Part, Span, join, largest
from spillover.notice.sentences import changes
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("diff",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillover.document.document import Document
    from spillover.kinds.diff_parts import Hunk, Parts
    from spillover.kinds.selection import Fill

    Place = tuple[int, int, str]  # from, to, why

#: More hunks than these never fit, and are not tried.
MOST = 600
#: So many lines of a hunk are shown before the next hunk has its turn.
FIRST = (12, 4, 1)
#: The summary takes at most this share of the room; commits that are named by themselves, too.
SUMMARY = 0.25
ROWS = 200
#: Lines that define something new are shown first, the names of what there is now, in at most this share of the room.
DEFINED = 0.3
#: A hole of so few bytes costs less than a marker for it.
HOLE = 36
#: Of a hunk, so many bytes tell whether it says what others say; one that does waits so many turns at most.
SIGHT, AGAIN = 1_000, 4
DIGITS_AND_BLANKS = b"0123456789 \t"
#: How little a change says by the file it is in: what a tool wrote, what is somebody else's, what only speaks of the code.
WRITTEN = (".lock", "lock.json", "lock.yaml", "go.sum", ".min.js", ".min.css", ".map", ".snap", ".svg", ".po", ".pot")
FOREIGN = frozenset(
    ("vendor", "node_modules", "dist", "third_party", "build", "generated", "__snapshots__", "fixtures")
)
CHANGES = "changelog"
ABOUT = (".md", ".rst", ".txt", CHANGES)
TESTS = ("test", "spec")
#: What lines that change something begin with, and what a colour before it does.
SIGNS = b"-+"
ESCAPE = 0x1B


class _Bodies:
    """The lines of hunks, each hunk read when it is asked for."""

    def __init__(self, document: Document, hunks: Sequence[Hunk]) -> None:
        self._document, self._hunks = document, hunks
        self._read: dict[int, tuple[list[Place], list[Place]]] = {}

    def changed(self, number: int) -> list[Place]:
        """Return the lines of a hunk that change something."""
        return self._lines(number)[0]

    def context(self, number: int) -> list[Place]:
        """Return the other lines of a hunk."""
        return self._lines(number)[1]

    def defining(self, turns: Sequence[int]) -> list[tuple[int, Place]]:
        """Return the lines that define something new, each with the number of its hunk; MOST of them."""
        read = self._document.blob.read
        changed = ((number, start, end) for number in turns for start, end, _ in self.changed(number))
        found = ((number, start, end) for number, start, end in changed if DEFINES.match(read(start, end)))
        return [(number, (start, end, "definition")) for number, start, end in islice(found, MOST)]

    def _lines(self, number: int) -> tuple[list[Place], list[Place]]:
        if number not in self._read:
            self._read[number] = _read_body(self._document, self._hunks[number])
        return self._read[number]


def select(document: Document, fill: Fill, _call: Call) -> list[Span] | None:
    """Return a summary of all changes, and the most telling of them; None if this is not a diff."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    found = parts(document)
    if not found.files or not found.hunks:
        return None
    hunks, bodies = found.hunks, _Bodies(document, found.hunks)
    names: dict[str, int] = {}
    of_files = [names.setdefault(file.name, len(names)) for file in found.files]
    turns = [number for number in _order(document, found, list(names), of_files)[:MOST] if bodies.changed(number)]
    if not turns:
        return None
    heads: list[Place] = [(commit.start, commit.end, f"commit {commit.sha}") for commit in found.commits]
    heads = heads if len(heads) <= MOST and fill(join([Span(*place) for place in heads])) <= SUMMARY else []
    sums = _sums(found, of_files)
    telling = dict.fromkeys([of_files[hunks[number][3]] for number in turns])
    lead = _summary(found, fill, bool(heads), telling, list(names), sums)

    @cache
    def name_of(file: int) -> tuple[int, int]:
        return name_line(document, found.files[file])

    @cache
    def above(number: int) -> list[Place]:
        """Return what stands above the lines of a hunk: the commit, the name of the file, the header."""
        start, body, _, file, *_ = hunks[number]
        name, commit = found.files[file].name, found.files[file].commit
        out: list[Place] = [
            (*name_of(file), f"names {name}"),
            (start, body, f"hunk {number + 1:,} of {len(hunks):,}, in {name}"),
        ]
        if commit >= 0 and not heads:
            head = found.commits[commit]
            out.insert(0, (head.start, head.end, f"commit {head.sha}"))
        return out

    def defined(count: int) -> list[Place]:
        return [place for number, line in defining[:count] for place in (*above(number), line)]

    defining = bodies.defining(turns)
    first = defined(
        largest(
            len(defining), lambda count: fill(join([Span(*place) for place in (*heads, *defined(count))])) / DEFINED
        )
    )

    def spans(count: int, upto: int, *, lead: str = lead, whole: bool = False) -> list[Span]:
        places = [*heads, *first]
        for number in turns[:count]:
            places += above(number)
            changed = bodies.changed(number)
            places += changed[:upto]
            if whole and upto > len(changed):
                places += bodies.context(number)[: upto - len(changed)]
        document.work.spend(OBJECT * len(places))
        joined = join([Span(*place) for place in places], HOLE)  # a hole costs less than a marker for it
        if not (joined and lead):
            return joined
        return [Span(joined[0].start, joined[0].end, joined[0].why, None, lead), *joined[1:]]

    for upto in FIRST:
        count = largest(len(turns), lambda count, upto=upto: fill(spans(count, upto)))  # type: ignore[misc]
        if count:
            break
    else:
        return spans(1, 1, lead="") if fill(spans(1, 1, lead="")) <= 1 else None
    if count < len(turns):
        return spans(count, upto)
    longest = max(len(bodies.changed(number)) + len(bodies.context(number)) for number in turns)
    wide = largest(longest, lambda upto: fill(spans(count, upto, whole=True)))
    return spans(count, max(wide, upto), whole=wide > upto)


def outline(document: Document) -> Contents:
    """List the files of a diff, the longest first."""
    starts = [file.start for file in parts(document).files]
    files = sorted(pairwise([*starts, document.size]), key=lambda edges: edges[0] - edges[1])
    rows = []
    for start, end in files[:MAX_PARTS]:
        head = document.blob.read(start, min(end, start + MAX_TITLE_BYTES)).partition(b"\n")[0]
        rows.append(Part(flatten(head), document.number(start), document.number(end - 1)))
    return Contents("Sections", rows, len(starts))


def _sums(found: Parts, of_files: Sequence[int]) -> list[tuple[int, int]]:
    """Return how many lines are added and removed in all hunks of files with the same name."""
    sums = [[0, 0] for _ in range(max(of_files) + 1)]
    for _, _, _, file, added, removed in found.hunks:
        each = sums[of_files[file]]
        each[0] += added
        each[1] += removed
    return [(added, removed) for added, removed in sums]


def _summary(
    found: Parts,
    fill: Fill,
    headed: bool,
    telling: Iterable[int],
    names: Sequence[str],
    sums: Sequence[tuple[int, int]],
) -> str:
    """Return what changed in each file, as far as it fits: the files with the most telling changes, in order."""
    every = len(sums), sum([added for added, _ in sums]), sum([removed for _, removed in sums])
    turns = list(dict.fromkeys([*telling, *range(len(names))]))
    named = [f"{commit.sha} {commit.subject}" for commit in found.commits] if not headed else []
    at = Span(*found.hunks[0][:2])

    def words(count: int) -> str:
        # Commits and files share the room: of both, the first half of the turns each.
        some = sorted(turns[: count - min(count // 2, len(named))])
        rows = [(names[number], *sums[number]) for number in some]
        return changes(named[: count // 2], rows, every, len(found.commits))

    def full(count: int) -> float:
        return (fill([Span(at.start, at.end, lead=words(count))]) - bare) / SUMMARY

    bare = fill([at])
    total = min(len(turns), ROWS) + min(len(named), ROWS)
    return words(largest(total, full))


def _order(document: Document, found: Parts, names: Sequence[str], of_files: Sequence[int]) -> list[int]:
    """Return the numbers of hunks in the order in which they get room."""
    said: dict[bytes, int] = {}
    dull: list[int] = []
    for _, body, end, _, added, removed in found.hunks[: 8 * MOST]:
        what = _what(document, body, end)
        again = said[what] = said.get(what, -1) + 1
        # Less for what says more: lines that are replaced, then new ones, then those only removed. The same change in many
        # places is one change.
        dull.append((0 if added and removed else 1 if added else 2) + min(again, AGAIN))
    by_name: list[list[tuple[int, int]]] = [[] for _ in names]
    for number, (rank, hunk) in enumerate(zip(dull, found.hunks, strict=False)):
        by_name[of_files[hunk[3]]].append((rank, number))
    order = [
        (turn + max(0, rank - 1), number)
        for weight, ranked in zip(map(_weight, names), by_name, strict=True)
        for turn, (rank, number) in enumerate(sorted(ranked), weight)
    ]
    return [number for _, number in sorted(order)]


def _read_body(document: Document, hunk: Hunk) -> tuple[list[Place], list[Place]]:
    """Return the lines of a hunk: those that change something, and the others."""
    _, at, upto, *_ = hunk
    body = lines(document, at, min(upto, at + WINDOW))
    body = body[:-1] if upto - at > WINDOW and len(body) > 1 else body  # it may be cut off
    changed: list[Place] = []
    context: list[Place] = []
    for line in body:
        end, first = at + len(line), line[0]
        (changed if first in SIGNS or (first == ESCAPE and CHANGED.match(line)) else context).append((at, end, ""))
        at = end
    return changed, context


def _what(document: Document, start: int, end: int) -> bytes:
    """Return what a hunk changes, but for its numbers: some of the first lines of its body."""
    body = document.blob.read(start, min(end, start + SIGHT))
    if b"\x1b" in body:
        changed = [line for line in body.split(b"\n") if CHANGED.match(line)]
    else:
        changed = CHANGED_LINES.findall(body)
    return b"\n".join(changed).translate(None, DIGITS_AND_BLANKS)


def _weight(name: str) -> int:
    """Return how many turns a file waits."""
    path = name.lower()
    if path.endswith(WRITTEN) or not FOREIGN.isdisjoint(path.split("/")):
        return 6
    if path.endswith(ABOUT) or CHANGES in path:
        return 2
    return int(any(word in path for word in TESTS))


def recognise(sample: Sample) -> str:
    """Return "diff" for an output that begins as a diff, has a hunk, and holds nothing else in it."""
    if not re.match(
        rb"(?:\x1b\[[0-9;]*+m)*+(?:diff -|--- \S|commit [0-9a-f]{7}|Index: |From [0-9a-f]{40} )", sample.first_line
    ):
        return ""
    if not re.search(rb"(?m)^(?:\x1b\[[0-9;]*+m)*+@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@", sample.head):
        return ""
    good = [  # none of the lines is empty
        line[0] in BODY or line.startswith(COMMON) or LINE.match(line) is not None for line in sample.lines
    ]
    return "diff" if sum(good) >= SURE * len(good) and good[-1] else ""
