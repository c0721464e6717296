"""The lines that are new against an earlier run come first, the strongest of them before others, and then what else matters.

A line that the earlier run had says little about what changed; one that it did not have is most of what there is to say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from spillover.document.document import Document
from spillover.kinds.log import Choice, SectionLines, fill_room, read_sections, score_for
from spillover.kinds.log.choose import choose_lines, max_width
from spillover.kinds.log.classes import EVIDENCE, NAMES, Array, classify
from spillover.kinds.log.spans import SpanMaker, explain
from spillover.kinds.pack import count_alike
from spillover.kinds.selection import Room, Span, join, largest
from spillover.notice.wording import lines_gone, one_line
from spillover.settings.settings import Call
from spillover.since import Compared, Earlier
from spillover.since.compare import NEW

#: Where more than this share of the lines is new, the earlier run says little about this one. More: a wrong baseline decides more often.
MOSTLY = 0.7
#: Of new lines that differ in numbers only, so many lead. More: a progress bar takes the room of what else is new.
LIKE = 4
#: Where not all of the limits are wanted: what is around new lines may cost this, in tokens, and as much again as this share of them.
AROUND, ALSO = 150, 0.5
#: What is gone may take this share of the room, or so many tokens. Lines that said what failed are named, or else a few of the others, so many;
#: so many are looked at.
GONE, LEAST_GONE, MOST_GONE, FEW_GONE, LOOKED_AT = 0.05, 60, 20, 3, 2_000
#: Of each, so many characters; about so many are a token.
GONE_CHARS, CHARS_PER_TOKEN = 160, 3
#: Of an output that is unchanged, so many lines are shown, and so many bytes of each.
REMINDED, REMINDED_BYTES = 8, 160


def select(document: Document, room: Room, call: Call, earlier: Earlier) -> Sequence[Span] | None:
    """Return what is new against the earlier output, and what is gone; of one that is unchanged, what it says in short.

    None where the earlier output says too little about this one: most lines are new, and more than fit.
    """
    assert earlier.compared is not None
    compared = earlier.compared
    if compared.unchanged:
        return _remind(document, room)
    sections = read_sections(document, compared.cells)
    marks = [_marks(document, section, compared) for section in sections]
    if compared.new.lines > MOSTLY * compared.lines and room.fill(_news(sections, marks)) > 1:
        return None
    cost = sum(
        float(section.lines.tokens[mark == NEW].sum()) for section, (mark, _) in zip(sections, marks, strict=True)
    )
    choices = [_part(document, section, *mark, call) for section, mark in zip(sections, marks, strict=True)]
    cap = sum(section.cost for section in sections)
    if call.worth:
        cap = min(cap, int(AROUND + (1 + ALSO) * cost))
    telling, first = _name_gone(earlier, compared)

    def lead(spans: list[Span], room: int) -> list[Span]:
        named = telling or (first if 2 * cost < room else [])  # what said nothing is named where there is room to spare
        return _lead(spans, compared.gone.lines, named, max(LEAST_GONE, GONE * room))

    return fill_room(document, room, choices, cap, lead)


def _news(sections: Sequence[SectionLines], marks: Sequence[tuple[Array, Array]]) -> list[Span]:
    """Return all that is new, each line once, and nothing else."""
    return [
        span
        for section, (mark, said) in zip(sections, marks, strict=True)
        for span in SpanMaker(section.lines).spans((mark == NEW) & (count_alike(said)[1] == 0), 0, np.inf)
    ]


def _part(document: Document, section: SectionLines, marks: Array, said: Array, call: Call) -> Choice:
    """Return the choice of lines of a section, those that are new before all others."""
    lines, news = section.lines, marks == NEW
    points = score_for(document, lines, call)
    # Said for the first time, as the comparison sees it; but each failure names another thing.
    first = (count_alike(said)[1] == 0) | ((count_alike(lines.exact)[1] == 0) & lines.evident)
    leads = news & first & (count_alike(lines.template)[1] < LIKE)
    able = (lines.width > 0) & np.where(news, first, count_alike(lines.exact)[1] == 0)
    cost, longest = float(lines.tokens[news].sum()), float(lines.tokens[news].max(initial=0))

    def width(room: float) -> float:
        # A clip that ends early has little room and is far from its limits: no new line is cut for that.
        return max(max_width(room), longest if (1 + ALSO) * cost <= room else 0)

    def choose(room: float) -> Array:
        return choose_lines(lines, points, room, able=able, first=leads, width=width(room))

    return Choice(section, choose, lambda keep: explain(lines, points, keep), section.cost, width)


def _marks(document: Document, section: SectionLines, compared: Compared) -> tuple[Array, Array]:
    """Return what each line that is looked at is, earlier the earlier output, and the key of what it says."""
    lines = section.lines
    if not len(lines):
        return np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    pieces = [compared.mark(document, int(lines.first[begin]), int(lines.last[end - 1])) for begin, end in lines.runs()]
    marks, said = zip(*pieces, strict=True)
    return np.concatenate(marks), np.concatenate(said)


def _remind(document: Document, room: Room) -> list[Span]:
    """Return some lines of an output that is unchanged: what failed, once each, or how it ended."""
    found: list[Span] = []
    for section in read_sections(document):
        lines = section.lines
        failed = np.flatnonzero(lines.evident & (count_alike(lines.exact)[1] == 0))
        rows = failed if len(failed) else np.flatnonzero(lines.width)[-1:]
        ends = np.minimum(lines.last[rows], lines.first[rows] + REMINDED_BYTES)
        why = "failed before, too" if len(failed) else "at the end"
        found += [Span(start, end, why) for start, end in zip(lines.first[rows].tolist(), ends.tolist(), strict=True)]
    return found[: largest(min(len(found), REMINDED), lambda count: room.fill(join(found[:count])))]


def _name_gone(earlier: Earlier, compared: Compared) -> tuple[list[str], list[str]]:
    """Return lines of the earlier output that are gone: those that said what failed, and the first of all."""
    before, texts, looked_at = earlier.document, list[str](), 0
    if before is None:
        return [], []
    for first, last in compared.gone.ranges:
        upto = min(last, first + LOOKED_AT - looked_at)
        start, end = before.start(first), before.start(upto + 1)
        texts += [line for line in before.text(start, min(end, start + (1 << 16))).split("\n") if line.strip()]
        looked_at += upto - first + 1
        if looked_at >= LOOKED_AT:
            break
    if not texts:
        return [], []
    view = "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")
    starts = np.concatenate(([0], np.flatnonzero(np.frombuffer(view, np.uint8) == 10)[:-1] + 1))
    bad = classify(view, starts)[:, [NAMES.index(name) for name in EVIDENCE]].any(axis=1)
    return [text for text, telling in zip(texts, bad.tolist(), strict=True) if telling][:MOST_GONE], texts[:FEW_GONE]


def _lead(spans: list[Span], gone: int, texts: Sequence[str], room: float) -> list[Span]:
    """Return the spans with what is gone above one of the first of them."""
    at = next((number for number, span in enumerate(spans) if not span.lead), None)
    if not texts or at is None:  # how many are gone stands in the notice
        return spans
    named, left = list[str](), room
    for text in texts:
        short = one_line(text, GONE_CHARS)
        left -= 2 + len(short) / CHARS_PER_TOKEN
        if left < 0:
            break
        named.append(short)
    if not named:
        return spans
    spans[at] = replace(spans[at], lead=lines_gone(gone, named))
    return spans
