"""Spans into text: the notice on top, what survives below, a marker where something is hidden."""

from __future__ import annotations

from bisect import bisect

from msgspec import Struct, field
from msgspec.structs import replace

from spillover.kinds.selection import QUOTING, Hidden, Inside, Reason, Span
from spillover.notice.clipped import Facts, Gap, notice
from spillover.notice.hints import Hint
from spillover.notice.marker import mark_lines, marker
from spillover.notice.memo import NEWLINE, Memo
from spillover.notice.since import Since
from spillover.notice.wording import WORDING, Wording
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document, Section


#: With more gaps than these, only the first is marked in full; the others are numbers.
FEW = 3
#: Of each line of a lead, so much is shown.
LEAD_CHARS = 400
#: A piece up to this size is remembered as it is shown.
SHORT = 1 << 12


class Shown(Struct, frozen=True):
    """What the model will see, and what that is of the output."""

    notice: str
    parts: tuple[str, ...]  # one per section; "" where nothing of it is shown
    ranges: tuple[tuple[int, int], ...]  # lines at least partly shown
    bytes: int
    frames: int = 0  # overwritten, and left out of what is shown
    body: str = ""  # what is shown of the output itself, without a word of ours
    spans: tuple[Span, ...] = ()
    kind: str = ""  # what the output is
    why: tuple[Reason, ...] = ()
    gap: Gap | None = None  # the first of all, and where it is in a string of JSON
    inside: Inside | None = None

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.notice, *self.parts) if part)

    @property
    def texts(self) -> tuple[str, ...]:
        """The same as texts of their own, one per section: the notice stands before the first that is shown."""
        first = next((number for number, part in enumerate(self.parts) if part), 0)
        said = "\n".join(part for part in (self.notice, self.parts[first]) if part)
        return (*self.parts[:first], said, *self.parts[first + 1 :])

    @property
    def lines(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)


class Kept(Struct, frozen=True, kw_only=True):
    """Where the whole output is, or why it is not."""

    ref: str | None = None
    path: str | None = None
    reason: str | None = None
    stored: int | None = None  # bytes, where only a part is stored
    here: bool = False  # on this machine only; `reason` says why


class Renderer(Struct, frozen=True):
    """Turns spans of a document into text."""

    document: Document
    kept: Kept
    hints: tuple[Hint, ...]
    tokens: int  # of the whole output, estimated
    wording: Wording = WORDING
    tier: int = 0
    seek: str = ""  # the search that is most likely next
    mapped: bool = True  # whether a map of the output says more than what is shown
    since: Since | None = None  # the earlier output that it is told against
    trouble: str = ""  # why both ends are shown, where more was asked for
    _memo: Memo = field(default_factory=Memo)

    def show(self, spans: Sequence[Span]) -> Shown:
        """Return the text for these spans, which are in order and do not touch."""
        first: Gap | None = None
        parts, ranges, bodies, shown_bytes, frames = [], [], [], 0, 0
        several = len(self.document.sections) > 1
        for section, inside in deal(self.document.sections, spans):
            if several and not inside and section.label is None and (first or not section.size):
                parts.append("")  # there may be thousands of these, and only the first gap of all is spoken of
                continue
            shown_bytes += sum([span.end - span.start - span.skip for span in inside])
            texts, left_out = self._texts(inside)
            bodies += texts
            frames += left_out
            text, hidden, seen = self._section(section, inside, texts)
            parts.append(text)
            first = first or hidden
            ranges += seen
        seen_lines = merge(ranges)
        before = next((span.then for span in spans if span.end == first.start - 1), None) if first else None
        place = before.inside if before else None
        words = self._notice(seen_lines, shown_bytes, frames, first, place)
        body = "".join(bodies)
        return Shown(words, tuple(parts), seen_lines, shown_bytes, frames, body, tuple(spans), gap=first, inside=place)

    def tell(self, shown: Shown) -> Shown:
        """Return the same parts under the words of this renderer, which differs from theirs in the notice only."""
        words = self._notice(shown.ranges, shown.bytes, shown.frames, shown.gap, shown.inside)
        return replace(shown, notice=words)

    def line(self, number: int, most: int) -> str:
        """Return the beginning of a line (from 1): so many bytes of it at most."""
        start = self._start(number)
        return self._look(start, min(self._start(number + 1), start + most))[0]

    def _start(self, number: int) -> int:
        if not self._memo.held(self.document):
            return self.document.start(number)
        if number > self.document.lines:
            return self.document.size
        return int(self._memo.newlines()[number - 2]) + 1 if number > 1 else 0

    def number(self, offset: int) -> int:
        """Return the number of the line, from 1, that holds the byte at `offset`."""
        memo = self._memo
        number = memo.numbers.get(offset)
        if number is None and memo.counts(self.document):
            (number,) = memo.count([offset])
            memo.numbers[offset] = number
        elif number is None:
            at = bisect(memo.offsets, offset)
            before = memo.offsets[at - 1] if at else -1
            # Counted from the nearest place that is known, if it is nearer than what the index of the document knows.
            near = before >= offset - offset % self.document.index.block and self.document.gap == (0, 0)
            number = (
                memo.numbers[before] + self.document.blob.read(before, offset).count(b"\n")
                if near
                else self.document.number(offset)
            )
            memo.numbers[offset] = number
            memo.offsets.insert(at, offset)
        return number

    def _texts(self, spans: Sequence[Span]) -> tuple[list[str], int]:
        """Return what a person would see of each span, and how many overwritten frames are left out of them."""
        if plain := self._memo.plain(self.document):
            return [plain[span.start + span.skip : span.end] for span in spans], 0
        looks = [self._look(span.start + span.skip, span.end) for span in spans]
        return [text for text, _ in looks], sum([left_out for _, left_out in looks])

    def _look(self, start: int, end: int) -> tuple[str, int]:
        """Return the same for some bytes; short pieces come up again and again while it is fitted."""
        memo = self._memo
        if plain := memo.plain(self.document):
            return plain[start:end], 0
        if end - start > SHORT:
            return self.document.text_and_frames(start, end)
        if (start, end) not in memo.looks:
            memo.looks[start, end] = self.document.text_and_frames(start, end)
        return memo.looks[start, end]

    def _notice(
        self,
        ranges: Sequence[tuple[int, int]],
        shown_bytes: int,
        frames: int,
        gap: Gap | None,
        inside: Inside | None = None,
    ) -> str:
        facts = Facts(
            lines=self.document.lines,
            bytes=self.document.size,
            tokens=self.tokens,
            shown_lines=sum(last - first + 1 for first, last in ranges),
            shown_bytes=shown_bytes,
            frames=frames,
            gap=gap,
            ref=self.kept.ref,
            path=self.kept.path,
            reason=self.kept.reason,
            stored=self.kept.stored,
            inside=inside,
            here=self.kept.here,
            seek=self.seek,
            mapped=self.mapped,
            since=self.since,
            trouble=self.trouble,
        )
        return notice(facts, self.hints, self.wording, self.tier)

    def _section(
        self, section: Section, spans: Sequence[Span], bodies: Sequence[str]
    ) -> tuple[str, Gap | None, list[tuple[int, int]]]:
        """Return the text of one section: its label, its pieces, and the markers before, between and after them."""
        ends = [section.start, *[span.end for span in spans]]
        starts = [*[span.start for span in spans], section.end]
        gaps = [start < end for start, end in zip(ends, starts, strict=True)]
        hidden = gaps.index(True) if True in gaps else None
        first = None if hidden is None else self.gap(ends[hidden], starts[hidden])
        several = len(self.document.sections) > 1
        if section.size == 0 or (section.label is None and not spans and several):
            return "", first, []
        seen = self.number_spans(spans)
        pieces = [self.wording.section.format(label=section.label)] if section.label else []
        inline: set[int] = set()  # which of them stand inside a line
        tier, brief = self.tier, 2 if sum(gaps) > FEW else self.tier  # said once in full, a marker is known
        say = mark_lines(self.wording, tier)
        lines = self._hidden_lines(ends, starts, seen)
        for number, body in enumerate((*bodies, None)):
            if gaps[number]:
                told = spans[number - 1].then if number else None
                place = lines[number]
                if told is None and say and place:
                    pieces.append(say[place[0] != place[1]](*place))
                else:
                    if told is not None and told.inline:
                        inline.add(len(pieces))
                    pieces.append(self._mark(ends[number], starts[number], tier, told))
                if tier != brief:
                    tier, say = brief, mark_lines(self.wording, brief)
            if body is not None:
                if spans[number].lead:
                    pieces.append(self._lead(spans[number].lead))
                pieces.append(body)
        text = _lay_out(pieces, inline)
        return text.removesuffix("\n") if several else text, first, seen

    def _hidden_lines(
        self, ends: Sequence[int], starts: Sequence[int], seen: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int] | None]:
        """Return the first and the last line of what is hidden between spans; None where one of them is shown in part."""
        size, data = self.document.size, self._memo.held(self.document)
        if not data:
            number, ends_line = self.number, self._ends_line
            return [
                (number(start), number(end - 1))
                if start < end and ends_line(start) and (end == size or ends_line(end))
                else None
                for start, end in zip(ends, starts, strict=True)
            ]
        # Whole lines are those behind the last that is shown, and before the next.
        befores = [self.number(ends[0]) - 1, *[last for _, last in seen]]
        behinds = [*[first for first, _ in seen], self.number(starts[-1] - 1) + 1]
        return [
            (before + 1, behind - 1)
            if (not start or data[start - 1] == NEWLINE) and (end == size or data[end - 1] == NEWLINE)
            else None
            for start, end, before, behind in zip(ends, starts, befores, behinds, strict=True)
        ]

    def _mark(self, start: int, end: int, tier: int, hidden: Hidden | None) -> str:
        """Return the marker of a gap that is not whole lines, or of which there is more to say; the same ones come up again."""
        marks, key = self._memo.marks, (start, end, tier, id(hidden))
        if key not in marks:
            words = marker(self.gap(start, end), self.wording, tier, self._quote(hidden))
            marks[key] = words, hidden  # held, so that no other has its id
        return marks[key][0]

    def number_spans(self, spans: Sequence[Span]) -> list[tuple[int, int]]:
        """Return the first and the last line of each span."""
        starts, ends = [span.start for span in spans], [span.end - 1 for span in spans]
        if self._memo.counts(self.document, 2 * len(spans)):
            return list(zip(self._memo.count(starts), self._memo.count(ends), strict=True))
        return list(zip(map(self.number, starts), map(self.number, ends), strict=True))

    def _quote(self, hidden: Hidden | None) -> Hidden | None:
        """Return what a gap holds; what is quoted from the output in it is cleaned, and guarded."""
        if hidden is None or hidden.kind not in QUOTING:
            return hidden
        guard = self.document.guard or (lambda text: text)
        return replace(hidden, note=guard(one_line(hidden.note, LEAD_CHARS)))

    def _lead(self, words: str) -> str:
        """Return words of ours on lines of their own. They may quote the output, so each line is cleaned and guarded."""
        first, *more = [one_line(line, LEAD_CHARS) for line in words.split("\n") if line.strip()] or [""]
        return self.wording.lead.format(note="\n".join((first, *map(self._guard_line, more))))

    def _guard_line(self, line: str) -> str:
        """Return a line of a lead, marked if it reads like ours; the same ones come up again while it is fitted."""
        guard, lines = self.document.guard, self._memo.lines
        if line not in lines:
            lines[line] = f" {line}" if guard is None else guard(f" {line}")
        return lines[line]

    def gap(self, start: int, end: int) -> Gap:
        gaps = self._memo.gaps
        if (start, end) not in gaps:
            whole = self._ends_line(start) and (end == self.document.size or self._ends_line(end))
            gaps[start, end] = Gap(self.number(start), self.number(end - 1), start + 1, end, whole_lines=whole)
        return gaps[start, end]

    def _ends_line(self, at: int) -> bool:
        held = self._memo.held(self.document)
        return at == 0 or (held[at - 1] == NEWLINE if held else self.document.blob.read(at - 1, at) == b"\n")


def deal(sections: Sequence[Section], spans: Sequence[Span]) -> Iterator[tuple[Section, list[Span]]]:
    """Yield each section with the parts of spans inside it; both are in order."""
    if len(sections) == 1 and spans and sections[0].start <= spans[0].start and spans[-1].end <= sections[0].end:
        yield sections[0], [span for span in spans if span.start < span.end]
        return
    at = 0
    for section in sections:
        while at < len(spans) and spans[at].end <= section.start:
            at += 1
        inside, here = [], at
        while here < len(spans) and spans[here].start < section.end:
            span = spans[here]
            start, end = max(span.start, section.start), min(span.end, section.end)
            if start == span.start and end == span.end:
                inside.append(span)
            else:
                lead, skip = (span.lead, span.skip) if start == span.start else ("", 0)
                inside.append(Span(start, end, span.why, span.then, lead, min(skip, max(0, end - start))))
            here += 1
        yield section, [span for span in inside if span.start < span.end]


def _lay_out(pieces: Sequence[str], inline: set[int]) -> str:
    """Join the pieces, each on lines of its own, except those that stand inside a line."""
    # A piece that ends its line needs no further newline before what follows.
    ended = [piece if piece[-1:] == "\n" else f"{piece}\n" for piece in pieces[:-1]]
    for number in inline:
        ended[max(0, number - 1) : number + 1] = pieces[max(0, number - 1) : min(number + 1, len(ended))]
    return "".join([*ended, *pieces[-1:]])


def merge(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Merge line ranges, so that each line is in only one of them; in order."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return tuple(out)
