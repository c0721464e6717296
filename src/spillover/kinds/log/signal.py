"""Logs: the lines that matter, each with its reason; where nothing failed, both ends and what is unlike the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds.ends import keep_ends
from spillover.kinds.log.choose import choose, choose_ends, new, room_worth, widest
from spillover.kinds.log.classes import EVIDENCE, Array
from spillover.kinds.log.lines import Lines, lines_of, rare_of
from spillover.kinds.log.scan import look
from spillover.kinds.log.score import score, shipped
from spillover.kinds.log.spans import Renderer, reasons
from spillover.kinds.query import ANSWERS, Query
from spillover.kinds.selection import Fill, Span, largest, share_fairly
from spillover.kinds.told import kind_told
from spillover.kinds.wanted import NOTHING, Wanted

#: A line that answers the query in full has so many points more. More: of a log, what was asked for before what failed.
ASKED = 1.5
#: Where nothing failed: the share of the room for the beginning of what a program printed while it ran, and of what was there before.
RAN, LAY_THERE = 0.2, 0.35
#: Of what answers the query, lines that answer it at least this well in comparison with the best one lead.
GOOD = 0.5
#: Where nothing tells one line from another, about a screenful of them is needed, in tokens. More: `worth` cuts less of a listing.
SCREEN = 600
#: Source code is full of words for what might go wrong: with this share of it, no verdict and no error at a place, nothing has.
MUCH_CODE, VERDICTS = 0.15, ("exit", "verdict", "caret")
#: The first room that is tried, in tokens.
FIRST_TRY = 1_000


class Sight(Struct, frozen=True):
    """What is looked at of a section: lines, and where those begin that are like no others."""

    lines: Lines
    rare: Sequence[int]
    weight: int

    @property
    def cost(self) -> int:
        """More than all of it costs: a short stderr is shown whole."""
        return int(self.lines.tokens.sum()) + 1


class Part(Struct, frozen=True):
    """A section and the choice of its lines: `choose` says which to show in a room, `why` for what reasons."""

    sight: Sight
    choose: Callable[[float], Array]
    why: Callable[[Array], Sequence[str]]
    cap: int  # more tokens than these are not worth showing
    width: Callable[[float], float] = widest


def select(document: Document, fill: Fill, wanted: Wanted = NOTHING) -> Sequence[Span]:
    """Return the lines that matter most, as many as fit."""
    sights = see_all(document)
    failed = any(speaks_of_failure(sight.lines) for sight in sights)
    make = _failed if failed else _quiet
    parts = [make(document, sight, wanted) for sight in sights]
    return fit(document, fill, parts, sum(part.cap for part in parts))


def fit(
    document: Document,
    fill: Fill,
    parts: Sequence[Part],
    cap: int,
    lead: Callable[[list[Span], int], list[Span]] = lambda spans, _: spans,
) -> Sequence[Span]:
    """Return the spans of all parts in the largest room that fits; both ends of the output where none does.

    `lead` puts words above the spans of a room.
    """
    costs = [part.sight.cost for part in parts]
    weights = [part.sight.weight for part in parts]
    renderers = [Renderer(part.sight.lines) for part in parts]

    @cache
    def choices(room: int) -> list[tuple[int, Array]]:
        rooms = [max(1, share) for share in share_fairly(room, costs, weights)]
        return [(share, part.choose(share)) for part, share in zip(parts, rooms, strict=True)]

    def spans(room: int, *, why: bool = False) -> list[Span]:
        out = [
            span
            for part, renderer, (share, keep) in zip(parts, renderers, choices(room), strict=True)
            for span in renderer.spans(keep, share, part.width(share), part.why(keep) if why else ())
        ]
        return lead(out, room)

    room = largest(cap, lambda room: fill(spans(room)), start=FIRST_TRY)
    return spans(room, why=True) if room else keep_ends(0.5)(document, fill)


def _failed(document: Document, sight: Sight, wanted: Wanted) -> Part:
    """Return the choice of lines of an output that says that something failed."""
    points = points_of(document, sight.lines, wanted)
    opening = bool(wanted.command)
    cap = sight.cost
    if wanted.worth:
        cap = min(cap, int(room_worth(sight.lines, points, shipped().least(wanted.worth))))

    def choose_lines(room: float) -> Array:
        return choose(sight.lines, points, room, opening=opening)

    width = partial(widest, count=int(np.count_nonzero(new(sight.lines))))
    return Part(sight, choose_lines, lambda keep: reasons(sight.lines, points, keep), cap, width)


def _quiet(document: Document, sight: Sight, wanted: Wanted) -> Part:
    """Return the choice of lines where nothing is known to have failed: what is unlike the rest, what answers, and both ends."""
    lines, asked = sight.lines, Query.of(wanted)
    odd = np.flatnonzero(np.isin(lines.first, sight.rare))
    answers = np.zeros(0, dtype=np.int64)
    if asked:
        points = answer(document, lines, asked)
        best = np.argsort(-points, kind="stable")
        answers = best[points[best] >= max(GOOD * points.max(initial=0.0), 1e-9)]
    share = LAY_THERE if kind_told(wanted) else RAN
    words = dict.fromkeys(answers.tolist(), ANSWERS) | dict.fromkeys(odd.tolist(), "like no other line")
    return Part(
        sight,
        lambda room: choose_ends(lines, [odd, answers], share, room),
        lambda keep: [words.get(row, "") for row in np.flatnonzero(keep).tolist()],
        min(sight.cost, int(SCREEN / wanted.worth)) if wanted.worth else sight.cost,
        partial(widest, count=int(np.count_nonzero(new(lines)))),
    )


def points_of(document: Document, lines: Lines, wanted: Wanted) -> Array:
    """Return the points of each line, more for what answers the query."""
    asked = Query.of(wanted)
    points = score(lines)
    return points + np.round(ASKED * answer(document, lines, asked), 3) if asked else points


def answer(document: Document, lines: Lines, asked: Query) -> Array:
    """Return how much each line answers the query, from 0 to 1."""
    document.work.spend(OBJECT * len(lines))
    texts = list[bytes]()
    for begin, end in lines.runs():
        first, last = lines.first[begin:end], lines.last[begin:end]
        block = document.blob.read(int(first[0]), int(last[-1]))
        texts += [block[a:b] for a, b in zip((first - first[0]).tolist(), (last - first[0]).tolist(), strict=True)]
    return asked.score(texts)


def is_source(lines: Lines) -> bool:
    """Return whether this is the source of a program, and not a log that quotes some."""
    code, place, says, *verdicts = map(lines.of_class, ("code", "place", "error says", *VERDICTS))
    return code.mean() > MUCH_CODE and not any(each.any() for each in (place & says, *verdicts))


def evidence(lines: Lines) -> Array:
    """Return which lines say that something failed, and do not take it back: a boolean each."""
    return lines.of_classes(EVIDENCE).any(axis=1) & ~lines.dismissed


def speaks_of_failure(lines: Lines) -> bool:
    """Return whether these lines say that something failed, and are not the source of a program that might say so."""
    return not is_source(lines) and bool(evidence(lines).any())


def see_all(document: Document, news: Sequence[int] = ()) -> list[Sight]:
    """Return what can be looked at of each section; `news`: how many lines are new in each cell, where that is known.

    Where a part of the output was not kept, both sides of it are looked at.
    """
    opens, closes = document.gap
    sights = []
    for section in document.shares:
        sides = [(section.start, section.end)]
        if opens < closes:
            sides = [(section.start, min(section.end, opens)), (max(section.start, closes), section.end)]
        looks = [look(document, start, end, news) for start, end in sides if start < end]
        if looks:
            lines = lines_of(document, [piece for each in looks for piece in each.pieces])
            rare = [at for each in looks for at in each.rare] or rare_of(lines)
            sights.append(Sight(lines, rare, section.weight))
    return sights
