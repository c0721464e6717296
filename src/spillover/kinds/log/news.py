"""Logs against an earlier run: new lines first, the strongest before others, and then what else matters."""

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
from spillover.kinds.selection import Room, Span, join
from spillover.notice.wording import lines_gone, one_line
from spillover.settings.settings import Call
from spillover.since import Compared, Earlier
from spillover.since.compare import NEW

#: Where more than this share of the lines is new, the earlier run says little about this one.
#: Larger: a wrong baseline decides more often.
MAX_NEW_SHARE = 0.7
#: Of new lines that differ in numbers only, this many lead. Larger: a progress bar takes the room of what else is new.
MAX_LIKE = 4
#: Where not all of the limits are worth filling: tokens that may go to what is around new lines, and as much again as
#: this share of the new lines. Larger: longer clips.
AROUND_TOKENS, AROUND_SHARE = 150, 0.5
#: Lines that are gone may take this share of the room, or this many tokens. Larger: less of what is there.
GONE_SHARE, MIN_GONE_TOKENS = 0.05, 60
#: Of lines that are gone, failures are named, at most this many, or else a few other lines.
MAX_GONE_FAILURES, MAX_GONE_OTHERS = 20, 3
#: Lines that are gone are read up to this many. Larger: reading a large earlier output takes longer.
MAX_GONE_READ = 2_000
#: Characters of a line that is gone; about three are a token.
GONE_CHARS, CHARS_PER_TOKEN = 160, 3
#: Lines that are shown of an output that is unchanged, and bytes of each.
REMINDER_LINES, REMINDER_BYTES = 8, 160


def select(document: Document, room: Room, call: Call, earlier: Earlier) -> Sequence[Span] | None:
    """Return what is new against the earlier output, and what is gone; of one that is unchanged, what it says in short.

    None where the earlier output says too little about this one: most lines are new, and more than fit.
    """
    compared = earlier.compared
    assert compared is not None
    if compared.unchanged:
        return _remind(document, room)
    sections = read_sections(document, compared.cells)
    marks = [_mark_lines(document, section, compared) for section in sections]
    if compared.new.lines > MAX_NEW_SHARE * compared.lines and room.fill(_all_new(sections, marks)) > 1:
        return None
    cost = sum(
        float(section.lines.tokens[mark == NEW].sum()) for section, (mark, _) in zip(sections, marks, strict=True)
    )
    choices = [_choose_new(document, section, *mark, call) for section, mark in zip(sections, marks, strict=True)]
    max_tokens = sum(section.cost for section in sections)
    if call.worth:
        max_tokens = min(max_tokens, int(AROUND_TOKENS + (1 + AROUND_SHARE) * cost))
    failures, first = _gone_lines(earlier, compared)

    def lead(spans: list[Span], tokens: int) -> list[Span]:
        texts = failures or (first if 2 * cost < tokens else [])  # other lines only where there is room to spare
        return _lead(spans, compared.removals.lines, texts, max(MIN_GONE_TOKENS, GONE_SHARE * tokens))

    return fill_room(document, room, choices, max_tokens, lead)


def _all_new(sections: Sequence[SectionLines], marks: Sequence[tuple[Array, Array]]) -> list[Span]:
    """Return all that is new, each line once, and nothing else."""
    return [
        span
        for section, (mark, keys) in zip(sections, marks, strict=True)
        for span in SpanMaker(section.lines).spans((mark == NEW) & (count_alike(keys)[1] == 0), 0, np.inf)
    ]


def _choose_new(document: Document, section: SectionLines, marks: Array, keys: Array, call: Call) -> Choice:
    """Choose lines of a section, those that are new before all others."""
    lines = section.lines
    is_new = marks == NEW
    points = score_for(document, lines, call)
    is_distinct = count_alike(lines.exact)[1] == 0
    # The first of its kind, as the comparison sees it; but each failure names another thing.
    is_first = (count_alike(keys)[1] == 0) | (is_distinct & lines.evident)
    leads = is_new & is_first & (count_alike(lines.template)[1] < MAX_LIKE)
    able = (lines.width > 0) & np.where(is_new, is_first, is_distinct)
    cost = float(lines.tokens[is_new].sum())
    longest = float(lines.tokens[is_new].max(initial=0))

    def width(room: float) -> float:
        # A clip that ends early has little room and is far from its limits: no new line is cut for that.
        return max(max_width(room), longest if (1 + AROUND_SHARE) * cost <= room else 0)

    def choose(room: float) -> Array:
        return choose_lines(lines, points, room, able=able, first=leads, width=width(room))

    return Choice(section, choose, lambda keep: explain(lines, points, keep), section.cost, width)


def _mark_lines(document: Document, section: SectionLines, compared: Compared) -> tuple[Array, Array]:
    """Return for each line whether it is new, and the key of its content."""
    lines = section.lines
    if not len(lines):
        return np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    pieces = [compared.mark(document, int(lines.first[begin]), int(lines.last[end - 1])) for begin, end in lines.runs()]
    marks, keys = zip(*pieces, strict=True)
    return np.concatenate(marks), np.concatenate(keys)


def _remind(document: Document, room: Room) -> Sequence[Span]:
    """Return some lines of an output that is unchanged: what failed, once each, or how it ended."""
    spans: list[Span] = []
    for section in read_sections(document):
        lines = section.lines
        failures = np.flatnonzero(lines.evident & (count_alike(lines.exact)[1] == 0))
        rows = failures if len(failures) else np.flatnonzero(lines.width)[-1:]
        ends = np.minimum(lines.last[rows], lines.first[rows] + REMINDER_BYTES)
        why = "failed before, too" if len(failures) else "at the end"
        spans += [Span(start, end, why) for start, end in zip(lines.first[rows].tolist(), ends.tolist(), strict=True)]
    count = room.largest_number(lambda count: join(spans[:count]), min(len(spans), REMINDER_LINES))
    return spans[:count]


def _gone_lines(earlier: Earlier, compared: Compared) -> tuple[list[str], list[str]]:
    """Return lines of the earlier output that are gone: those that say what failed, and the first of all."""
    if earlier.document is None:
        return [], []
    texts: list[str] = []
    count = 0
    for first, last in compared.removals.ranges:
        upto = min(last, first + MAX_GONE_READ - count)
        start = earlier.document.start(first)
        end = earlier.document.start(upto + 1)
        texts += [
            line for line in earlier.document.text(start, min(end, start + (1 << 16))).split("\n") if line.strip()
        ]
        count += upto - first + 1
        if count >= MAX_GONE_READ:
            break
    if not texts:
        return [], []
    view = "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")
    starts = np.concatenate(([0], np.flatnonzero(np.frombuffer(view, np.uint8) == 10)[:-1] + 1))
    evident = classify(view, starts)[:, [NAMES.index(name) for name in EVIDENCE]].any(axis=1)
    failures = [text for text, is_evident in zip(texts, evident.tolist(), strict=True) if is_evident]
    return failures[:MAX_GONE_FAILURES], texts[:MAX_GONE_OTHERS]


def _lead(spans: list[Span], count: int, texts: Sequence[str], tokens: float) -> list[Span]:
    """Return the spans with lines that are gone above one of the first of them."""
    at = next((number for number, span in enumerate(spans) if not span.lead), None)
    if not texts or at is None:  # how many are gone stands in the notice
        return spans
    lines: list[str] = []
    for text in texts:
        line = one_line(text, GONE_CHARS)
        tokens -= 2 + len(line) / CHARS_PER_TOKEN
        if tokens < 0:
            break
        lines.append(line)
    if not lines:
        return spans
    spans[at] = replace(spans[at], lead=lines_gone(count, lines))
    return spans
