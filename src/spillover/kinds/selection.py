"""What a selector returns, the room it has, and the one search for how much fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from msgspec import Struct

#: Markers that stand inside a line, as part of it, so that JSON stays JSON.
INLINE = ("items", "keys", "chars")
#: Markers that quote the output, which rendering makes harmless.
QUOTING = ("found",)
#: Parts that an outline names, at most, and bytes that are read of the line that names one.
MAX_PARTS = 30
MAX_TITLE_BYTES = 400
#: The search for how much fits ends within this part of the answer. Larger: finer clips, and more renderings.
PRECISION = 128
#: The search ends when the limits are this full. Larger: fuller clips, and more renderings.
FULL_ENOUGH = 0.995
#: Each number that fits makes the next one to try this much larger. Larger: fewer tries, and more is measured in vain.
GALLOP = 4
#: Pieces tried first where an output may have thousands and few fit. Larger: more is measured in vain.
FIRST_PIECES = 128

#: Where no line is needed more than others, about a screenful of them is needed, in tokens. Larger: `worth` cuts less.
SCREEN_TOKENS = 600

_place = attrgetter("start", "end")


class Inside(Struct, frozen=True):
    """A place in a string of JSON, counted in the string: lines `first` to `last`, bytes `start` to `end`, from 1."""

    pointer: str | None  # of the string, e.g. /stdout; None where it has none worth naming
    first: int
    last: int
    start: int
    end: int
    whole_lines: bool
    open_ended: bool = False  # nothing follows in the string


class Hidden(Struct, frozen=True):
    """What a gap hides, if more than line numbers are known: `kind` selects the sentence, `gap_KIND` of a Wording."""

    kind: str
    count: int = 0
    note: str = ""
    inside: Inside | None = None  # where it is, in a string of JSON

    @property
    def inline(self) -> bool:
        return self.kind in INLINE or self.inside is not None


class Span(Struct, frozen=True):
    """Bytes `start` to `end` of an output; why they are shown; what is hidden after them, up to the next span; a lead.

    `skip` bytes at its beginning repeat what is shown above, as the name of a file does, and are left out.
    """

    start: int
    end: int
    why: str = ""
    then: Hidden | None = None
    #: Our own words above it, e.g. a summary; what they quote of the output rendering makes harmless.
    lead: str = ""
    skip: int = 0


class Reason(Struct, frozen=True):
    """Why lines `first` to `last` are shown."""

    first: int
    last: int
    why: str

    def __str__(self) -> str:
        lines = f"line {self.first:,}" if self.first == self.last else f"lines {self.first:,}-{self.last:,}"
        return f"{lines}: {self.why}"


#: How full the limits are with these spans, the notice and the gap markers around them; above 1 they do not fit.
Fill = Callable[[Sequence[Span]], float]


class Selection(Struct, frozen=True):
    """What is shown of an output, and the kind that it turned out to be."""

    kind: str
    spans: Sequence[Span]


class Part(Struct, frozen=True):
    """A part of an output, for its outline: what it is, and where."""

    title: str  # "" for what stands before the first part with a title
    first_line: int
    last_line: int
    failures: int = 0  # lines in it that say that something failed


class Contents(Struct, frozen=True):
    """The parts of an output that its outline names, the most telling first; more of them may be counted in `total`."""

    name: str
    parts: Sequence[Part]
    total: int = 0


class Room(Struct, frozen=True):
    """The room that an output has: `fill` says how full the limits are with some spans; above 1 they do not fit."""

    fill: Fill

    def largest(self, build: Callable[[int], Sequence[Span]], high: int, *, start: int = 0) -> Sequence[Span]:
        """Return what `build` returns for the largest number with which it fits; nothing where only 0 does."""
        number = self.largest_number(build, high, start=start)
        return build(number) if number else []

    def largest_number(self, build: Callable[[int], Sequence[Span]], high: int, *, start: int = 0) -> int:
        """Return the largest number up to `high` for which the spans that `build` returns fit."""
        return largest(high, lambda number: self.fill(build(number)), start=start)

    def capped(self, max_bytes: float) -> Room:
        """Return the room with a limit on the bytes of the output that are shown."""
        return Room(lambda spans: max(self.fill(spans), sum(span.end - span.start for span in spans) / max_bytes))


def join(spans: Sequence[Span], hole: int = 0) -> list[Span]:
    """Sort spans, drop empty ones, and merge those that touch, or have at most `hole` bytes between them."""
    before = -1 - hole
    for span in spans:
        if not before + hole < span.start < span.end:
            break
        before = span.end
    else:  # as they are, mostly: what a selector has joined is joined again when it is measured
        return list(spans)
    out: list[Span] = []
    group: list[Span] = []  # spans that touch
    end = -1
    for span in sorted(spans, key=_place):
        if span.start >= span.end:
            continue
        begins_anew = span.start == end and (span.lead or span.skip)
        if group and (span.start > end + hole or begins_anew):
            out.append(_merge(group))
            group = []
        group.append(span)
        end = span.end if len(group) == 1 else max(end, span.end)
    if group:
        out.append(_merge(group))
    return out


def _merge(group: Sequence[Span]) -> Span:
    """Merge spans that touch: the reason of the first, the first lead, and what is hidden after the last."""
    first = group[0]
    if len(group) == 1:
        return first
    end = max(span.end for span in group)
    gap = next(span.then for span in reversed(group) if span.end == end)
    lead = next((span.lead for span in group if span.lead), "")
    return Span(first.start, end, first.why, gap, lead, first.skip)


def largest(high: int, fill: Callable[[int], float], *, start: int = 0, bottom: float = 0.0) -> int:
    """Return the largest number up to `high` with which the limits are at most full; 0 fits, and fills `bottom`.

    What is shown grows about evenly with the room, so a straight line between two measurements mostly hits; every
    third step halves, in case it does not. `start`: where far fewer than `high` fit as a rule, the number to try first.
    """
    if high <= 0 or bottom >= FULL_ENOUGH:
        return 0
    upper = min(high, start or high)
    while (top := fill(upper)) <= 1:
        if upper == high:
            return high
        upper = min(high, GALLOP * upper)
    high = upper
    low = step = 0
    while high - low > max(1, low // PRECISION) and bottom < FULL_ENOUGH:
        step += 1
        straight = low + int((high - low) * (FULL_ENOUGH - bottom) / (top - bottom))
        middle = (low + high) // 2 if step % 3 == 0 else min(max(straight, low + 1), high - 1)
        full = fill(middle)
        if full <= 1:
            low, bottom = middle, full
        else:
            high, top = middle, full
    return low


def share_fairly(room: int, sizes: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Divide the room with max-min fairness: a size below its share is met, the rest is divided by weight."""
    shares = [0] * len(sizes)
    left = [number for number, size in enumerate(sizes) if size > 0]
    while left and room > 0:
        total = sum(weights[number] for number in left)
        small = [number for number in left if sizes[number] * total <= room * weights[number]]
        if not small:
            before = 0
            weight = 0
            for number in left:  # the remainder goes where rounding puts it, the same every time
                weight += weights[number]
                upto = room * weight // total
                shares[number] = upto - before
                before = upto
            break
        for number in small:
            shares[number] = sizes[number]
            room -= sizes[number]
        left = [number for number in left if number not in small]
    return shares
