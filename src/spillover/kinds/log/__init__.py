"""Logs: the lines that matter, each with its reason; where nothing failed, both ends and what is unlike the rest.

`scan` says where to look closely in a large output, `lines` and `classes` what is there, as arrays, `score` how likely
each line is needed, `choose` which lines to show in a given room, and `spans` why. `news` does the same against an
earlier run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds.ends import keep_ends
from spillover.kinds.log.choose import choose_ends, choose_lines, max_width, new_lines, room_worth
from spillover.kinds.log.classes import Array
from spillover.kinds.log.lines import Lines, find_rare_starts, read_lines
from spillover.kinds.log.scan import find_pieces
from spillover.kinds.log.score import score_lines, shipped
from spillover.kinds.log.spans import SpanMaker, explain
from spillover.kinds.query import ANSWERS, Query, promised_kind
from spillover.kinds.sample import Sample
from spillover.kinds.selection import SCREEN_TOKENS, Room, Span, share_fairly
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("log",)
#: Points more for a line that answers the query in full. Larger: what answers comes before what failed.
POINTS_FOR_ANSWER = 1.5
#: Where nothing failed: the share of the room for the beginning of what a program printed while it ran.
#: Larger: more of how it began, and less of how it ended.
HEAD_SHARE_OF_RUN = 0.2
#: The same of what was there before, as the text of a file.
HEAD_SHARE_OF_TEXT = 0.35
#: Where nothing failed, lines lead that answer the query this well beside the best one. Larger: fewer of them.
GOOD_ANSWER = 0.5
#: Source code is full of words for what might go wrong. With this share of it, no verdict and no error at a place,
#: nothing failed. Larger: sources are read as logs.
SOURCE_SHARE = 0.15
VERDICTS = ("exit", "verdict", "caret")
#: The first room that is tried, in tokens.
FIRST_TOKENS = 1_000


class SectionLines(Struct, frozen=True):
    """The lines of a section that are looked at, and where those begin that are like no others."""

    lines: Lines
    rare_starts: Sequence[int]
    weight: int

    @property
    def cost(self) -> int:
        """More tokens than all of it costs: a short stderr is shown whole."""
        return int(self.lines.tokens.sum()) + 1


class Choice(Struct, frozen=True):
    """How lines of a section are chosen: `choose` says which to show in a room, `explain` for what reasons."""

    section: SectionLines
    choose: Callable[[float], Array]
    explain: Callable[[Array], Sequence[str]]
    max_tokens: int  # more are not worth showing
    max_width: Callable[[float], float] = max_width


def recognise(_sample: Sample) -> str:
    """Return "log": any output may be one."""
    return "log"


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return the lines that matter most, as many as fit."""
    sections = read_sections(document)
    failed = any(speaks_of_failure(section.lines) for section in sections)
    choose = _choose_failures if failed else _choose_quiet
    return fill_room(document, room, [choose(document, section, call) for section in sections])


def fill_room(
    document: Document,
    room: Room,
    choices: Sequence[Choice],
    max_tokens: int | None = None,
    lead: Callable[[list[Span], int], list[Span]] = lambda spans, _: spans,
) -> Sequence[Span]:
    """Return the spans of all sections in the most tokens that fit; both ends of the output where none do.

    `lead` puts words above the spans that are shown, given their room in tokens.
    """
    costs = [choice.section.cost for choice in choices]
    weights = [choice.section.weight for choice in choices]
    makers = [SpanMaker(choice.section.lines) for choice in choices]

    @cache
    def choices_in(tokens: int) -> list[tuple[int, Array]]:
        shares = [max(1, share) for share in share_fairly(tokens, costs, weights)]
        return [(share, choice.choose(share)) for choice, share in zip(choices, shares, strict=True)]

    def spans(tokens: int, *, why: bool = False) -> list[Span]:
        parts = [
            span
            for choice, maker, (share, keep) in zip(choices, makers, choices_in(tokens), strict=True)
            for span in maker.spans(keep, share, choice.max_width(share), choice.explain(keep) if why else ())
        ]
        return lead(parts, tokens)

    high = sum(choice.max_tokens for choice in choices) if max_tokens is None else max_tokens
    tokens = room.largest_number(spans, high, start=FIRST_TOKENS)
    return spans(tokens, why=True) if tokens else keep_ends(0.5)(document, room.fill)


def _choose_failures(document: Document, section: SectionLines, call: Call) -> Choice:
    """Choose lines of an output that says that something failed."""
    lines = section.lines
    points = score_for(document, lines, call)
    max_tokens = section.cost
    if call.worth:
        max_tokens = min(max_tokens, int(room_worth(lines, points, shipped().least(call.worth))))
    return Choice(
        section,
        lambda room: choose_lines(lines, points, room, opening=bool(call.command)),
        lambda keep: explain(lines, points, keep),
        max_tokens,
        partial(max_width, count=int(np.count_nonzero(new_lines(lines)))),
    )


def _choose_quiet(document: Document, section: SectionLines, call: Call) -> Choice:
    """Choose lines where nothing is known to have failed: what is unlike the rest, what answers, and both ends."""
    lines = section.lines
    query = Query.of(call)
    odd = np.flatnonzero(np.isin(lines.first, section.rare_starts))
    answers = np.zeros(0, dtype=np.int64)
    if query:
        points = query_scores(document, lines, query)
        best = np.argsort(-points, kind="stable")
        answers = best[points[best] >= max(GOOD_ANSWER * points.max(initial=0.0), 1e-9)]
    head_share = HEAD_SHARE_OF_TEXT if promised_kind(call) else HEAD_SHARE_OF_RUN
    reasons = dict.fromkeys(answers.tolist(), ANSWERS) | dict.fromkeys(odd.tolist(), "like no other line")
    return Choice(
        section,
        lambda room: choose_ends(lines, [odd, answers], head_share, room),
        lambda keep: [reasons.get(row, "") for row in np.flatnonzero(keep).tolist()],
        min(section.cost, int(SCREEN_TOKENS / call.worth)) if call.worth else section.cost,
        partial(max_width, count=int(np.count_nonzero(new_lines(lines)))),
    )


def score_for(document: Document, lines: Lines, call: Call) -> Array:
    """Return the points of each line, more for what answers the query."""
    query = Query.of(call)
    points = score_lines(lines)
    return points + np.round(POINTS_FOR_ANSWER * query_scores(document, lines, query), 3) if query else points


def query_scores(document: Document, lines: Lines, query: Query) -> Array:
    """Return how much each line answers the query, from 0 to 1."""
    document.work.spend(OBJECT * len(lines))
    texts = list[bytes]()
    for begin, end in lines.runs():
        first, last = lines.first[begin:end], lines.last[begin:end]
        block = document.blob.read(int(first[0]), int(last[-1]))
        texts += [block[a:b] for a, b in zip((first - first[0]).tolist(), (last - first[0]).tolist(), strict=True)]
    return query.score(texts)


def is_source(lines: Lines) -> bool:
    """Tell whether this is the source of a program, and not a log that quotes some."""
    code, place, error, *verdicts = map(lines.of_class, ("code", "place", "error says", *VERDICTS))
    return code.mean() > SOURCE_SHARE and not any(rows.any() for rows in (place & error, *verdicts))


def speaks_of_failure(lines: Lines) -> bool:
    """Tell whether these lines say that something failed, and are not the source of a program that might say so."""
    return not is_source(lines) and bool(lines.evident.any())


def read_sections(document: Document, news: Sequence[int] = ()) -> list[SectionLines]:
    """Return the lines to look at of each section; `news`: how many lines are new in each cell, where that is known.

    Where a part of the output was not kept, both sides of it are looked at.
    """
    opens, closes = document.gap
    sections = []
    for section in document.shares:
        sides = [(section.start, section.end)]
        if opens < closes:
            sides = [(section.start, min(section.end, opens)), (max(section.start, closes), section.end)]
        looks = [find_pieces(document, start, end, news) for start, end in sides if start < end]
        if looks:
            lines = read_lines(document, [piece for look in looks for piece in look.pieces])
            rare_starts = [start for look in looks for start in look.rare_starts] or find_rare_starts(lines)
            sections.append(SectionLines(lines, rare_starts, section.weight))
    return sections
