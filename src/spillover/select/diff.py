"""Unified diffs (also git show and git log -p): what changed in every file in a line of ours, then changed lines.

Lines that define something new are named first. Then the most telling hunk of each file gets room, then the second of each, and so on. The name of a file and the header
of a hunk are shown with changed lines of it, never without.
"""

from __future__ import annotations

from spillover.base.data import dataclass
from spillover.base.work import OBJECT
from spillover.notice.sentences import changes
from spillover.select.diff_parts import CHANGED, CHANGED_LINES, DEFINES, LINE, WINDOW, lines, name_line, parts
from spillover.select.ends import most
from spillover.select.span import Span, join
from spillover.select.wanted import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.diff_parts import Hunk, Parts
    from spillover.select.span import Fill
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

__all__ = ["LINE", "select"]

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
#: How little a change says by the file it is in: what a tool wrote, what is somebody else's, what only speaks of the code.
WRITTEN = (".lock", "lock.json", "lock.yaml", "go.sum", ".min.js", ".min.css", ".map", ".snap", ".svg", ".po", ".pot")
FOREIGN = frozenset(
    ("vendor", "node_modules", "dist", "third_party", "build", "generated", "__snapshots__", "fixtures")
)
ABOUT = (".md", ".rst", ".txt", "changelog")
TESTS = ("test", "spec")
#: What lines that change something begin with, and what a colour before it does.
SIGNS = b"-+"
MINUS, ESCAPE = b"-\x1b"


@dataclass(frozen=True, slots=True)
class _Turn:
    """A hunk, when it gets room, and its lines: changed ones first."""

    hunk: Hunk
    number: int
    changed: Sequence[Span]
    context: Sequence[tuple[int, int]]
    defining: Sequence[Span]  # the lines that define something new

    def lines(self, upto: int, *, whole: bool) -> Sequence[Span]:
        """Return the first of its lines, up to so many: of those that change, and then, if all are wanted, of the others."""
        left = upto - len(self.changed)
        if not whole or left <= 0:
            return self.changed[:upto]
        return [*self.changed, *(Span(start, end) for start, end in self.context[:left])]


def select(document: Document, fill: Fill, _wanted: Wanted = NOTHING) -> list[Span] | None:
    """Return a summary of all changes, and the most telling of them; None if this is not a diff."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    found = parts(document)
    if not found.files or not found.hunks:
        return None
    turns = _turns(document, found)
    if not turns:
        return None
    heads = [Span(commit.start, commit.end, f"commit {commit.sha}") for commit in found.commits]
    heads = heads if len(heads) <= MOST and fill(join(heads)) <= SUMMARY else []
    lead = _summary(found, fill, heads, turns)
    names: dict[int, Span] = {}  # the line that names a file
    cached: dict[int, list[Span]] = {}

    def above(turn: _Turn) -> list[Span]:
        """Return what stands above the lines of a hunk: the commit, the name of the file, the header."""
        if turn.number not in cached:
            file, out = found.files[turn.hunk.file], list[Span]()
            if file.commit >= 0 and not heads:
                commit = found.commits[file.commit]
                out.append(Span(commit.start, commit.end, f"commit {commit.sha}"))
            if turn.hunk.file not in names:
                names[turn.hunk.file] = Span(*name_line(document, file), f"names {file.name}")
            why = f"hunk {turn.number + 1:,} of {len(found.hunks):,}, in {file.name}"
            cached[turn.number] = [*out, names[turn.hunk.file], Span(turn.hunk.start, turn.hunk.body, why)]
        return cached[turn.number]

    def defined(count: int) -> list[Span]:
        return [span for turn, line in defining[:count] for span in (*above(turn), line)]

    defining = [(turn, line) for turn in turns for line in turn.defining][:MOST]
    first = defined(most(len(defining), lambda count: fill(join([*heads, *defined(count)])) / DEFINED))

    def spans(count: int, upto: int, *, lead: str = lead, whole: bool = False) -> list[Span]:
        out = [*heads, *first]
        for turn in turns[:count]:
            out += above(turn)
            out += turn.lines(upto, whole=whole)
        document.work.spend(OBJECT * len(out))
        out = _bridge(join(out))
        return [Span(out[0].start, out[0].end, out[0].why, None, lead), *out[1:]] if out and lead else out

    for upto in FIRST:
        count = most(len(turns), lambda count, upto=upto: fill(spans(count, upto)))  # type: ignore[misc]
        if count:
            break
    else:
        return spans(1, 1, lead="") if fill(spans(1, 1, lead="")) <= 1 else None
    if count < len(turns):
        return spans(count, upto)
    longest = max(len(turn.changed) + len(turn.context) for turn in turns)
    wide = most(longest, lambda upto: fill(spans(count, upto, whole=True)))
    return spans(count, max(wide, upto), whole=wide > upto)


def _bridge(spans: Sequence[Span]) -> list[Span]:
    """Return the spans without holes that cost less than their markers."""
    return join(
        [
            Span(span.start, after.start, span.why, span.then, span.lead) if after.start - span.end <= HOLE else span
            for span, after in zip(spans, [*spans[1:], Span(1 << 62, 1 << 62)], strict=True)
        ]
    )


def _summary(found: Parts, fill: Fill, heads: Sequence[Span], turns: Sequence[_Turn]) -> str:
    """Return what changed in each file, as far as it fits: the files with the most telling changes, in order."""
    sums: dict[str, list[int]] = {file.name: [0, 0] for file in found.files}
    for hunk in found.hunks:
        each = sums[found.files[hunk.file].name]
        each[0], each[1] = each[0] + hunk.added, each[1] + hunk.removed
    telling = list(dict.fromkeys([*(found.files[turn.hunk.file].name for turn in turns), *sums]))
    named = [f"{commit.sha} {commit.subject}" for commit in found.commits] if not heads else []
    at = Span(found.hunks[0].start, found.hunks[0].body)

    def words(count: int) -> str:
        # Commits and files share the room: of both, the first half of the turns each.
        some = set(telling[: count - min(count // 2, len(named))])
        rows = [(name, both[0], both[1]) for name, both in sums.items() if name in some]
        return changes(named[: count // 2], rows, list(sums.values()), len(found.commits))

    def full(count: int) -> float:
        return (fill([Span(at.start, at.end, lead=words(count))]) - bare) / SUMMARY

    bare = fill([at])
    total = min(len(telling), ROWS) + min(len(named), ROWS)
    return words(most(total, full))


def _turns(document: Document, found: Parts) -> list[_Turn]:
    """Return the hunks in the order in which they get room."""
    by_file: dict[str, list[tuple[float, int]]] = {}
    said: dict[bytes, int] = {}
    for number, hunk in enumerate(found.hunks[: 8 * MOST]):
        what = _what(document, hunk)
        said[what] = said.get(what, 0) + 1
        dull = _dullness(hunk) + min(said[what] - 1, AGAIN)  # the same change in many places is one change
        by_file.setdefault(found.files[hunk.file].name, []).append((dull, number))
    order = [
        (turn + weight + max(0.0, dull - 1), number)
        for weight, hunks in ((_weight(name), hunks) for name, hunks in by_file.items())
        for turn, (dull, number) in enumerate(sorted(hunks))
    ]
    out = []
    for _, number in sorted(order)[:MOST]:
        hunk = found.hunks[number]
        body = lines(document, hunk.body, min(hunk.end, hunk.body + WINDOW))
        body = body[:-1] if hunk.end - hunk.body > WINDOW and len(body) > 1 else body  # it may be cut off
        changed, context, defining, at = list[Span](), list[tuple[int, int]](), list[Span](), hunk.body
        for line in body:
            end, first = at + len(line), line[0]
            if first in SIGNS or (first == ESCAPE and CHANGED.match(line)):
                changed.append(Span(at, end))
                if first != MINUS and DEFINES.match(line):
                    defining.append(Span(at, end, "definition"))
            else:
                context.append((at, end))
            at = end
        if changed:
            out.append(_Turn(hunk, number, changed, context, defining))
    return out


def _what(document: Document, hunk: Hunk) -> bytes:
    """Return what a hunk changes, but for its numbers: some of its first lines."""
    body = document.blob.read(hunk.body, min(hunk.end, hunk.body + SIGHT))
    if b"\x1b" in body:
        changed = [line for line in body.split(b"\n") if CHANGED.match(line)]
    else:
        changed = CHANGED_LINES.findall(body)
    return b"\n".join(changed).translate(None, b"0123456789 \t")


def _dullness(hunk: Hunk) -> float:
    """Return less for what says more: lines that are replaced, then new ones, then those only removed."""
    return 0.0 if hunk.added and hunk.removed else 1.0 if hunk.added else 2.0


def _weight(name: str) -> int:
    """Return how many turns a file waits."""
    path = name.lower()
    if path.endswith(WRITTEN) or not FOREIGN.isdisjoint(path.split("/")):
        return 6
    if path.endswith(ABOUT) or "changelog" in path:
        return 2
    return 1 if any(word in path for word in TESTS) else 0
