"""The lines that matter: scored, extended to blocks, folded where they repeat; the same for the same bytes, each with its reason.

The steps: `scan` says where to look closely, `lines` turns that into arrays, `score` gives points, `choose` takes the lines
that fit, and here they become spans.
"""

from __future__ import annotations

from spillover.notice.sentences import more_like
from spillover.select.arrays import steps
from spillover.select.choose import Candidates, candidates, choose, evidence, widest
from spillover.select.classes import BAD, REASONS
from spillover.select.ends import fair, keeping
from spillover.select.lines import Lines, lines_of, rare_of
from spillover.select.plain import Sight, asked_for, nothing_ran, plain
from spillover.select.query import Query
from spillover.select.rows import find_room, spans_of
from spillover.select.scan import look
from spillover.select.score import likely, score
from spillover.select.span import Span
from spillover.select.wanted import NOTHING
from spillover.select.worth import FLOOR, share_out, thrifty, worth_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.span import Fill, Hidden
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document, Section

    Array = Any  # of numpy; its own types say little about what is in one

#: Within NEAR lines of a line that says something failed, a line is near it; within AWAY, with nothing hidden between, in its block.
NEAR, AWAY = 5, 40
#: Source code is full of words for what might go wrong: with this share of it, no verdict and no error at a place, nothing has.
MUCH_CODE, VERDICTS = 0.15, ("exit", "verdict", "caret")
#: A line that holds every word that was asked for has so many points more.
ASKED = 1.5
#: Of a family of failures it is said how many more there are, if they are this many, once for this much room, in tokens.
MANY_LIKE, ROOM_OF_LEAD, MOST_LEADS = 6, 500, 4


def select(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> Sequence[Span]:
    """Return the lines that matter most, as many as fit."""
    sights = see_all(document)
    if not any(_speaks_of_failure(sight.lines) for sight in sights):
        return plain(document, thrifty(document, fill, wanted.worth), sights, wanted)
    parts = [
        candidates(
            sight.lines,
            *points_of(document, sight.lines, wanted),
            sight.rare,
            of_command=bool(wanted.command),
        )
        for sight in sights
    ]
    costs = [int(part.cost) + 1 for part in parts]  # never less than it takes: a short stderr is shown whole
    weights = [sight.weight for sight in sights]
    known: list[dict[tuple[int, int], Hidden | None]] = [{} for _ in parts]
    chosen: list[dict[int, Array]] = [{} for _ in parts]

    def deal(room: int) -> list[tuple[Candidates, int]]:
        return list(zip(parts, [max(1, part) for part in fair(room, costs, weights)], strict=True))

    def spans(room: int, *, why: bool = False) -> list[Span]:
        return [
            span
            for (part, part_room), hidden, tried in zip(deal(room), known, chosen, strict=True)
            for span in show(part, _choose_once(part, part_room, tried), part_room, why=why, known=hidden)
        ]

    def most_above() -> int:
        """Return how much is worth showing where FLOOR fits; otherwise all of it, as limits are what bounds it."""
        if not wanted.worth or nothing_ran(wanted) or most <= FLOOR or fill(spans(FLOOR)) > 1:
            return most
        worths = share_out([likely(part.points) * part.new for part in parts], [part.lines.tokens for part in parts])

        def look(room: int) -> list[tuple[Array, Array, Array]]:
            return [
                (_choose_once(part, here, tried), part.lines.tokens, needed)
                for (part, here), needed, tried in zip(deal(room), worths, chosen, strict=True)
            ]

        return worth_room(wanted.worth, most, look)

    most = sum(costs)
    # Below FLOOR, rooms are tried in the same order whatever the most is.
    room = find_room(most, lambda room: fill(spans(room)), fill([]), upto=FLOOR, most_above=most_above)
    return spans(room, why=True) if room else keeping(0.5)(document, fill)


def _choose_once(those: Candidates, room: int, tried: dict[int, Array]) -> Array:
    """Return which lines to show in this room, which comes up again when the reasons are wanted."""
    if room not in tried:
        tried[room] = choose(those, room)
    return tried[room]


def points_of(document: Document, lines: Lines, wanted: Wanted) -> tuple[Array, Array]:
    """Return the points of each line, by itself and in its context; more for what answers the query."""
    asked = Query.of(wanted)
    own, points = score(lines)
    if not asked:
        return own, points
    answers = ASKED * asked_for(document, lines, asked)
    return own + answers, points + answers


def see(document: Document) -> list[Lines]:
    """Return the lines that are looked at, for each part of an output."""
    return [sight.lines for sight in see_all(document)]


def is_source(lines: Lines) -> bool:
    """Return whether this is the source of a program, and not a log that quotes some."""
    code, place, says, *verdicts = map(lines.of_class, ("code", "place", "error says", *VERDICTS))
    return code.mean() > MUCH_CODE and not any(each.any() for each in (place & says, *verdicts))


def _speaks_of_failure(lines: Lines) -> bool:
    """Return whether what was looked at says that something failed, and is not the source of a program that might say so."""
    return not is_source(lines) and bool(evidence(lines).any())


def see_all(document: Document, news: Sequence[int] = ()) -> list[Sight]:
    """Return what can be looked at of each section; `news` says how many lines are new in each cell, where that is known."""
    return [sight for section in document.shares if section.size for sight in _sights(document, section, news)]


def _sights(document: Document, section: Section, news: Sequence[int]) -> list[Sight]:
    """Return what of a section can be looked at: both sides of what was not kept, where something was not."""
    opens, closes = document.gap
    sides = [(section.start, section.end)]
    if opens < closes:
        sides = [(section.start, min(section.end, opens)), (max(section.start, closes), section.end)]
    looks = [look(document, start, end, news) for start, end in sides if start < end]
    if not looks:
        return []
    lines = lines_of(document, [piece for each in looks for piece in each.pieces])
    return [Sight(lines, [at for each in looks for at in each.rare] or rare_of(lines), section.weight)]


def show(
    those: Candidates,
    keep: Array,
    room: float,
    *,
    why: bool,
    known: dict[tuple[int, int], Hidden | None],
    width: float = 0,
) -> list[Span]:
    """Return the spans of the lines that were chosen, with reasons where those are wanted; `width`: so much of a line in any case."""
    import numpy as np

    kept = np.flatnonzero(keep)
    leads = _leads(those, keep, int(min(MOST_LEADS, room // ROOM_OF_LEAD)))
    return spans_of(those.lines, kept, max(width, widest(room)), _reasons(those, kept) if why else None, known, leads)


def _leads(those: Candidates, keep: Array, most: int) -> dict[int, str]:
    """Return what stands above a failure that many others are like, by where its line begins."""
    import numpy as np

    lines, leads = those.lines, dict[int, str]()
    for row, members in zip(those.families.tolist(), those.members.tolist(), strict=True):
        if members < MANY_LIKE or len(leads) >= most:
            break  # the largest come first; what is not sure comes last, and needs no words
        alike = lines.family == lines.family[row]
        shown, hidden = np.flatnonzero(alike & keep), lines.number[alike & ~keep]
        together = len(hidden) and hidden[-1] - hidden[0] + 1 == len(hidden)  # the marker of that gap says so
        if len(shown) and len(hidden) >= MANY_LIKE and not together:
            leads[int(lines.first[shown[0]])] = more_like(len(hidden), int(hidden[0]), int(hidden[-1]))
    return leads


def _reasons(those: Candidates, kept: Array) -> list[str]:
    """Return why each kept line is shown: what it is, what it stands beside, or what else brought it in."""
    import numpy as np

    lines = those.lines
    bad = sum(name in BAD for name in REASONS)  # these come first
    table = lines.of_classes(tuple(REASONS))[kept]
    table[lines.dismissed[kept], :bad] = False
    strongest = np.where(table.any(axis=1), table.argmax(axis=1), -1)
    numbers = lines.number[kept]
    strong = ((strongest >= 0) & (strongest < bad)).nonzero()[0]
    near = _nearest(kept, strong)
    away = abs(numbers[near] - numbers) if len(strong) else np.full(len(kept), AWAY + 1)
    block = np.cumsum(steps(numbers, numbers[:1]) > 1)  # the same for lines between which nothing is hidden
    together = block[near] == block
    beginning = kept == np.arange(len(kept))
    ending = kept == np.arange(len(lines) - len(kept), len(lines))
    points = those.points[kept] > 0
    columns = (strongest, numbers[near], away, together, beginning, ending, points)
    words, out = list(REASONS.values()), []
    for reason, number, distance, within, first, last, high in zip(*map(np.ndarray.tolist, columns), strict=True):
        own = [words[reason]] if reason >= 0 else []
        if not 0 <= reason < bad:
            if distance <= NEAR:
                own.append(f"near line {number:,}")
            elif last:
                own.append("at the end")
            elif distance <= AWAY and within:
                own.append(f"in the block around line {number:,}")
            elif first:
                own.append("at the beginning")
        out.append("; ".join(own) or ("stands out" if high else "there was room for it"))
    return out


def _nearest(kept: Array, strong: Array) -> Array:
    """Return for each kept line which of the strong ones is nearest, the one above it where two are; both as places in `kept`."""
    import numpy as np

    if not len(strong):
        return np.zeros(len(kept), dtype=np.intp)
    behind = strong.searchsorted(np.arange(len(kept)))
    below, above = strong[np.minimum(behind, len(strong) - 1)], strong[np.maximum(behind, 1) - 1]
    return np.where(abs(kept[below] - kept) < abs(kept[above] - kept), below, above)
