"""The lines that matter: scored, grown into blocks, folded where they repeat; the same for the same bytes, and each with its reason.

How it goes: `scan` says where to look closely, `lines` turns that into arrays, `score` gives points, `choose` takes the lines
that fit, and here they become spans.
"""

from __future__ import annotations

from spillover.data import dataclass
from spillover.select.choose import Candidates, candidates, chosen, evidence, widest
from spillover.select.classes import DISMISSED, NAMES
from spillover.select.ends import fair, keeping
from spillover.select.lines import Lines, lines_of, rare_of
from spillover.select.scan import look
from spillover.select.score import score
from spillover.select.span import Hidden, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.span import Fill
    from spillover.view.document import Document, Section

    Array = Any  # of numpy; its own types say little about what is in one

#: The room is tried here first, in tokens, and then where a straight line between two measurements leads.
FIRST_TRY = 1_000
TRIES = 10
ENOUGH = 0.98
#: What a person calls the classes that are reasons, the strongest first.
REASONS = {
    "exit": "exit code",
    "verdict": "verdict",
    "exception head": "exception head",
    "error says": "error message",
    "crash": "crash",
    "in capitals": "failure in capitals",
    "exception name": "names an exception",
    "fail": "says it failed",
    "error": "says error",
    "cannot": "says what could not be",
    "expected": "expected and actual",
    "mark": "marked",
    "title": "title",
    "summary": "summary",
    "caret": "points at the place",
    "frame": "stack frame",
    "place": "place in a file",
    "diff": "difference",
    "warning": "warning",
    "command": "command",
}


#: How much of the room the beginning gets where nothing speaks of failure: a listing, a file, a log of a good run.
PLAIN_SHARE = 0.2
#: Source code is full of words for what might go wrong: with so much of it, no verdict and no error at a place, nothing has.
MUCH_CODE, VERDICTS = 0.15, ("exit", "verdict", "caret")
#: And so many lines like no others, of so many bytes, while they take no more than half of it.
MOST_ODD, SHORT, HALF = 16, 400, 0.5


@dataclass(frozen=True, slots=True)
class _Sight:
    """What is seen of a section: lines, and where those begin that are like no others."""

    lines: Lines
    rare: Sequence[int]
    weight: int

    def odd(self) -> list[Span]:
        """The lines like no others, as far as they are short and few."""
        import numpy as np

        at = np.flatnonzero(np.isin(self.lines.first, np.array(self.rare, dtype=np.int64)))[:MOST_ODD]
        rows = [(int(self.lines.first[row]), int(self.lines.last[row])) for row in at]
        return [Span(start, end, "like no other line") for start, end in rows if end - start <= SHORT]


def select(document: Document, fill: Fill) -> Sequence[Span]:
    """The lines that matter most, as many as fit."""
    sights = [sight for section in document.shares if section.size for sight in _sights(document, section)]
    if not any(_speaks_of_failure(sight.lines) for sight in sights):
        odd = [span for sight in sights for span in sight.odd()]
        odd = odd if fill(odd) <= HALF else []
        return [*odd, *keeping(PLAIN_SHARE)(document, lambda spans: fill([*odd, *spans]))]
    parts = [candidates(sight.lines, *score(sight.lines), sight.rare) for sight in sights]
    costs = [int(part.cost) + 1 for part in parts]  # never less than it takes: a short stderr is shown whole
    weights = [sight.weight for sight in sights]

    def spans(room: int, *, why: bool = False) -> list[Span]:
        rooms = [max(1, part) for part in fair(room, costs, weights)]
        return [
            span
            for part, part_room in zip(parts, rooms, strict=True)
            for span in _spans(part, chosen(part, part_room), widest(part_room), why=why)
        ]

    room = _room(sum(costs), lambda room: fill(spans(room)), fill([]))
    return spans(room, why=True) if room else keeping(0.5)(document, fill)


def _speaks_of_failure(lines: Lines) -> bool:
    """Whether what was looked at says that something failed, and is not the source of a program that might say so."""
    code, place, says, *verdicts = (
        lines.classes[:, NAMES.index(name)] for name in ("code", "place", "error says", *VERDICTS)
    )
    listing = code.mean() > MUCH_CODE and not any(each.any() for each in (place & says, *verdicts))
    return not listing and bool(evidence(lines).any())


def _sights(document: Document, section: Section) -> list[_Sight]:
    """What of a section can be looked at: both sides of what was not kept, where something was not."""
    opens, closes = document.gap
    sides = [(section.start, section.end)]
    if opens < closes:
        sides = [(section.start, min(section.end, opens)), (max(section.start, closes), section.end)]
    looks = [look(document, start, end) for start, end in sides if start < end]
    if not looks:
        return []
    lines = lines_of(document, [piece for each in looks for piece in each.pieces])
    return [_Sight(lines, [at for each in looks for at in each.rare] or rare_of(lines), section.weight)]


def _room(most: int, fill: Any, bare: float) -> int:
    """The largest room with which the limits are not above full, near enough, in few tries; 0 where none is."""
    low, low_fill, high, high_fill = 0, bare, 0, 0.0
    room = FIRST_TRY
    for _ in range(TRIES):
        room = min(room, most)
        here = fill(room)
        if here <= 1:
            low, low_fill = room, here
            if here >= ENOUGH or room >= most:
                break
        else:
            high, high_fill = room, here
        if high:
            straight = low + (high - low) * (0.99 - low_fill) / max(high_fill - low_fill, 1e-9)
            room = int(min(max(straight, low + 1), high - 1))
        else:
            room = int(max(low * 1.25, low * (0.99 - bare) / max(low_fill - bare, 1e-3)))
        if high and high - low <= max(2, low // 100):
            break
    return low


def _spans(those: Candidates, keep: Array, width: float, *, why: bool) -> list[Span]:
    """Runs of kept lines, and what is known of the gaps between them."""
    import numpy as np

    lines = those.lines
    kept = np.flatnonzero(keep)
    reasons = _reasons(those, kept) if why else [""] * len(kept)
    out = []
    for here, number in enumerate(kept.tolist()):
        start, end = int(lines.first[number]), int(lines.last[number])
        cost = float(lines.tokens[number])
        if cost > width:  # both ends of it; the middle is a gap like any other
            half = max(1, int((end - start) * width / cost / 2))
            out += [Span(start, start + half, reasons[here]), Span(end - half, end, reasons[here])]
            continue
        following = int(kept[here + 1]) if here + 1 < len(kept) else len(lines)
        then = None
        if following > number + 1 and int(lines.last[following - 1]) >= end:
            then = _hidden(lines, number, following)
        out.append(Span(start, end, reasons[here], then))
    return out


def _hidden(lines: Lines, shown: int, following: int) -> Hidden | None:
    """What is hidden between two shown lines, where all of it repeats what is shown before."""
    import numpy as np

    hidden = slice(shown + 1, following)
    if (lines.first[hidden] != lines.last[shown : following - 1]).any():  # not all of it was looked at
        return None
    if following == len(lines) or lines.first[following] != lines.last[following - 1]:
        return None
    count = following - shown - 1
    if (lines.exact[hidden] == lines.exact[shown]).all():
        return Hidden("same", count)
    if (lines.template[hidden] == lines.template[shown]).all():
        return Hidden("like", count)
    for period in range(2, min(9, shown + 2, count + 1)):
        block = lines.template[shown + 1 - period : following]
        if count % period == 0 and np.array_equal(block[period:], block[:-period]):
            return Hidden("block", count // period, str(period))
    return None


def _reasons(those: Candidates, kept: Array) -> list[str]:
    """Why each kept line is shown: what it is, or what it stands beside."""
    import numpy as np

    lines = those.lines
    table = lines.classes[kept][:, [NAMES.index(name) for name in REASONS]]
    bad = list(REASONS).index("expected") + 1
    dismissed = lines.classes[kept][:, [NAMES.index(name) for name in DISMISSED]].any(axis=1)
    table[dismissed, :bad] = False
    strongest = np.where(table.any(axis=1), table.argmax(axis=1), -1)
    strong = kept[(strongest >= 0) & (strongest < bad)]
    ending = kept == np.arange(len(lines) - len(kept), len(lines))  # nothing is hidden from there on
    words, out = list(REASONS.values()), []
    for line, reason, last in zip(kept.tolist(), strongest.tolist(), ending.tolist(), strict=True):
        own = [words[reason]] if reason >= 0 else []
        if last and not 0 <= reason < bad:
            own.append("at the end")
        elif len(strong) and not 0 <= reason < bad:
            at = int(np.searchsorted(strong, line))
            near = min(strong[max(0, at - 1) : at + 1].tolist(), key=lambda other: abs(other - line))
            own.append(f"grown from line {int(lines.number[near]):,}")
        out.append("; ".join(own) or "stands out")
    return out
