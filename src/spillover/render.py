"""Spans into text: the notice on top, what survives below, a marker where something is hidden."""

from __future__ import annotations

from spillover.data import dataclass, field
from spillover.notice import WORDING, Facts, Gap, Hint, Wording, marker, notice
from spillover.result import Reason
from spillover.select.span import Hidden, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.view.document import Document, Section


#: With more gaps than these, only the first is marked in full; the others are numbers.
FEW = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model will see, and what that is of the output."""

    notice: str
    parts: tuple[str, ...]  # one per section; "" where nothing of it is shown
    ranges: tuple[tuple[int, int], ...]  # lines at least partly shown
    bytes: int
    body: str = ""  # what is shown of the output itself, without a word of ours
    spans: tuple[Span, ...] = ()
    kind: str = ""  # what the output is
    why: tuple[Reason, ...] = ()

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where the whole output is, or why it is not."""

    ref: str | None = None
    path: str | None = None
    reason: str | None = None
    stored: int | None = None  # bytes, where only a part is stored


@dataclass(frozen=True, slots=True)
class Renderer:
    """Turns spans of a document into text."""

    document: Document
    kept: Kept
    hints: tuple[Hint, ...]
    tokens: int  # of the whole output, estimated
    wording: Wording = WORDING
    tier: int = 0
    _numbers: dict[int, int] = field(default_factory=dict, repr=False, compare=False)  # the same edges come up again

    def show(self, spans: Sequence[Span]) -> Shown:
        """The text for these spans, which are in order and do not touch."""
        gaps: list[Gap] = []
        parts, ranges, bodies, shown_bytes = [], [], [], 0
        several = len(self.document.sections) > 1
        for section, inside in dealt(self.document.sections, spans):
            if several and not inside and section.label is None and (gaps or not section.size):
                parts.append("")  # there may be thousands of these, and only the first gap of all is spoken of
                continue
            shown_bytes += sum(span.end - span.start for span in inside)
            bodies += [self.document.text(span.start, span.end) for span in inside]
            text, hidden, seen = self._section(section, inside, bodies[len(bodies) - len(inside) :])
            parts.append(text)
            gaps += hidden
            ranges += seen
        seen_lines = merged(ranges)
        words = self._notice(seen_lines, shown_bytes, gaps[0] if gaps else None)
        return Shown(words, tuple(parts), seen_lines, shown_bytes, "".join(bodies), tuple(spans))

    def number(self, offset: int) -> int:
        """The line that holds the byte at `offset`, from 1."""
        if offset not in self._numbers:
            self._numbers[offset] = self.document.number(offset)
        return self._numbers[offset]

    def _notice(self, ranges: Sequence[tuple[int, int]], shown_bytes: int, gap: Gap | None) -> str:
        facts = Facts(
            lines=self.document.lines,
            bytes=self.document.size,
            tokens=self.tokens,
            shown_lines=sum(last - first + 1 for first, last in ranges),
            shown_bytes=shown_bytes,
            gap=gap,
            ref=self.kept.ref,
            path=self.kept.path,
            reason=self.kept.reason,
            stored=self.kept.stored,
        )
        return notice(facts, self.hints, self.wording, self.tier)

    def _section(
        self, section: Section, spans: Sequence[Span], bodies: Sequence[str]
    ) -> tuple[str, list[Gap], list[tuple[int, int]]]:
        """One section: its label, its pieces, and a marker before, between and behind them."""
        if section.size == 0 or (section.label is None and not spans and len(self.document.sections) > 1):
            return "", self._gaps(section, spans), []
        pieces = [(self.wording.section.format(label=section.label), False)] if section.label else []
        gaps, seen = self._gaps(section, spans), []
        hidden = {gap.start - 1: gap for gap in gaps}
        brief = gaps[0].start if len(gaps) > FEW else section.end  # said once in full, a marker is known
        at, then = section.start, None
        for span, body in zip((*spans, Span(section.end, section.end)), (*bodies, ""), strict=True):
            if at in hidden:
                words = marker(hidden[at], self.wording, 2 if hidden[at].start > brief else self.tier, then)
                pieces.append((words, _inline(then)))
            if span.end > span.start:
                pieces.append((body, False))
                seen.append((self.number(span.start), self.number(span.end - 1)))
            at, then = span.end, span.then
        text = _laid_out(pieces)
        return text.removesuffix("\n") if len(self.document.sections) > 1 else text, gaps, seen

    def _gaps(self, section: Section, spans: Sequence[Span]) -> list[Gap]:
        edges = [section.start, *(edge for span in spans for edge in (span.start, span.end)), section.end]
        return [self.gap(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]

    def gap(self, start: int, end: int) -> Gap:
        document = self.document
        opens = start == 0 or document.blob.read(start - 1, start) == b"\n"
        closes = end == document.size or document.blob.read(end - 1, end) == b"\n"
        return Gap(self.number(start), self.number(end - 1), start + 1, end, whole_lines=opens and closes)


def dealt(sections: Sequence[Section], spans: Sequence[Span]) -> Iterator[tuple[Section, list[Span]]]:
    """Each section with the parts of spans that are in it; both are in order."""
    at = 0
    for section in sections:
        while at < len(spans) and spans[at].end <= section.start:
            at += 1
        inside, here = [], at
        while here < len(spans) and spans[here].start < section.end:
            span = spans[here]
            inside.append(Span(max(span.start, section.start), min(span.end, section.end), span.why, span.then))
            here += 1
        yield section, [span for span in inside if span.start < span.end]


def _inline(then: Hidden | None) -> bool:
    return then is not None and then.inline


def _laid_out(pieces: Sequence[tuple[str, bool]]) -> str:
    """Each piece on lines of its own, but for those that stand inside a line."""
    out: list[str] = []
    inside = True
    for piece, inline in pieces:
        # A piece that ends its line needs no further newline before what follows.
        if not inside and not inline and not out[-1].endswith("\n"):
            out.append("\n")
        out.append(piece)
        inside = inline
    return "".join(out)


def merged(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Line ranges in order, each line in one of them only."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return tuple(out)
