"""The notices of another system, in its own layout: words before what is shown, between its parts, and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from spillover.document.clean import count_chars
from spillover.document.document import Section
from spillover.errors import UsageError
from spillover.kinds.selection import Hidden, Span
from spillover.notice.render import Renderer, Shown, deal, merge
from spillover.notice.words import frames_of, shorten_reason
from spillover.settings.limits import Limits, Size
from spillover.source.blob import Blob
from spillover.types import Selector

Segments = Sequence[tuple[str, int]]  # (stream, bytes) in order of arrival
#: What stands before the parts, where something is missing between two of them, and behind the last. Words that
#: count are a function of what is missing there.
Gap = Callable[["Missing"], str]
Words = tuple[str, str | Gap, str]

#: Of words outside the limits: what is shown holds the limits, and the words are at most this many bytes more.
OUTSIDE = 1_024
#: Characters are counted once in blocks of this many bytes, however often a gap moves.
BLOCK = 1 << 20


class Missing:
    """What is hidden in one gap. Numbers are computed when they are asked for: counting characters means reading them."""

    __slots__ = ("_renderer", "end", "repeats", "start")

    def __init__(self, renderer: FormRenderer, start: int, end: int, repeats: Hidden | None = None) -> None:
        self._renderer, self.start, self.end = renderer, start, end
        self.repeats = repeats  # how it repeats what stands above, where all of it does

    @property
    def bytes(self) -> int:
        return self.end - self.start

    @property
    def lines(self) -> int:
        """Lines of which nothing is shown. Those of all gaps and those shown add up to the lines of the output."""
        return self._renderer.lines_between(self.start, self.end)

    @property
    def chars(self) -> int:
        return self._renderer.chars_between(self.start, self.end)

    @property
    def at_line_end(self) -> bool:
        """Whether what is shown before it ends at the end of a line, without the newline."""
        return self.start == self.end or self._renderer.document.blob.read(self.start, self.start + 1) == b"\n"

    @property
    def at_line_start(self) -> bool:
        """Whether what is shown before it ends with a newline, or nothing is."""
        return self._renderer.at_line_start(self.start)


class Told(Struct, frozen=True, kw_only=True):
    """What a form is told about a cut."""

    parts: tuple[str, ...]  # what is shown, as the model will see it
    total: Size
    shown: Size  # of the output; its lines are those shown at least in part
    newlines: int  # in the whole output; some systems count what they separate
    limits: Limits
    keep: str  # which part was asked for; "" for a selector of the caller's
    before: Missing  # what is hidden before the first part
    behind: Missing  # what is hidden behind the last part
    whole_lines: bool  # whether no part begins or ends inside a line
    count: Callable[[str], int]  # tokens of a text, by the counter that was chosen
    path: str | None = None  # the file that holds all of it, as the reader may open it
    ref: str | None = None  # what it is stored under; None when it is not
    reason: str | None = None  # why it is lost, or stored in part
    stored: int | None = None  # bytes, where it is stored in part

    @property
    def place(self) -> str | None:
        """Where the whole is: its file, or else its ref; None when it is lost."""
        return self.path or self.ref

    @property
    def hidden(self) -> Size:
        """Everything that is not shown; its lines are those of which nothing is."""
        total, shown = self.total, self.shown
        return Size(total.lines - shown.lines, total.bytes - shown.bytes, total.chars - shown.chars, 0)

    @property
    def one_end(self) -> bool:
        """Whether only the beginning is shown, or only the end, and nothing is missing inside it."""
        shown = len(self.parts) == 1
        return shown and (
            not self.before.bytes if self.keep == "head" else self.keep == "tail" and not self.behind.bytes
        )


class Form(Struct, frozen=True):
    """The words of another system, and its own ways to cut: a value of `keep` → a function from limits to a selector."""

    words: Callable[[Told], Words]
    cuts: Mapping[str, Callable[[Limits], Selector]] = field(default_factory=dict)
    inside: bool = (
        False  # whether its words count towards the limits; else they come on top, as they do in other systems
    )
    trigger: Limits | None = None  # cut only above this, then down to the limits
    lost: str | None = None  # which part survives where the whole cannot be kept; None: the same one
    keeps: tuple[str, ...] | None = None  # the only values of `keep` its words are true for; None: any, and selectors
    for_command: Callable[[str, str], Mapping[str, Any]] | None = None  # a line of shell, `keep` → choices for it
    warning: str | None = None  # what is known of the command before it runs
    for_streams: Callable[[Segments, Blob, Any], Any] | None = None  # what a command printed → choices for it

    def check(self, keep: str | Selector) -> None:
        """Refuse a `keep` whose result these words cannot describe."""
        if self.keeps is not None and keep not in self.keeps:
            name = repr(keep) if isinstance(keep, str) else "a selector"
            raise UsageError(
                f"keep={name} does not fit the words of this profile; use {' or '.join(map(repr, self.keeps))}."
            )


def lost_words(told: Told) -> str:
    """Return what a form says instead of naming a file, where there is none or not all of one."""
    why = shorten_reason(told.reason)
    if told.ref is None:
        return f"Full output not kept: {why}."
    if told.stored == told.total.bytes:
        return f"Only a preview ({why}), in {told.place}"
    return f"Stored in part ({why}): the first {told.stored or 0:,} bytes, in {told.place}"


class FormRenderer(Renderer, frozen=True, kw_only=True):
    """Turns spans of a document into text with the words of a form."""

    form: Form
    limits: Limits
    keep: str
    count: Callable[[str], int]
    _chars: dict[int, int] = field(default_factory=dict)  # of each block that was counted

    def tell(self, shown: Shown) -> Shown:
        """Return the same spans in the words of this renderer."""
        return replace(self.show(shown.spans), kind=shown.kind, why=shown.why)

    def show(self, spans: Sequence[Span]) -> Shown:
        """Return the text for these spans, which are in order and do not touch."""
        document = self.document
        placed = list(deal(document.sections, spans))
        looks = [[document.text_and_frames(span.start, span.end) for span in inside] for _, inside in placed]
        texts = [[text for text, _ in inside] for inside in looks]
        frames = sum(left_out for inside in looks for _, left_out in inside)
        ranges = merge([(self.number(span.start), self.number(span.end - 1)) for span in spans])
        parts = [part for text in texts for part in text]
        size = sum(span.end - span.start for span in spans)
        body = "".join(parts)
        shown_chars = sum(count_chars(document.blob.read(span.start, span.end)) for span in spans)
        told = Told(
            parts=tuple(parts),
            total=Size(document.lines, document.size, document.chars, self.tokens),
            shown=Size(sum(last - first + 1 for first, last in ranges), size, shown_chars, 0),
            newlines=document.newlines,
            limits=self.limits,
            keep=self.keep,
            before=Missing(self, 0, spans[0].start if spans else document.size),
            behind=Missing(self, spans[-1].end if spans else document.size, document.size),
            whole_lines=all(map(self._whole_lines, spans)),
            count=self.count,
            path=self.kept.path if self.kept.path is None or self.kept.path.isprintable() else None,
            ref=self.kept.ref,
            reason=self.kept.reason,
            stored=self.kept.stored,
        )
        before, between, after = self._words(told)
        left_out = f"\n[{frames_of(frames)} left out. Full output: {told.place}]" if frames and told.place else ""
        laid = self._lay_out(placed, texts, between)
        said = [number for number, text in enumerate(laid) if text] or [0]
        laid[said[0]] = before + laid[said[0]]
        laid[said[-1]] += after + left_out
        return Shown("", tuple(laid), ranges, size, frames, body, tuple(spans))

    def _words(self, told: Told) -> Words:
        """Return the words of the form; a path that would make them too long is left out for the ref."""
        if told.parts and not told.hidden.bytes:  # so large that it was not counted before, and it fits after all
            return "", "", ""
        words = self.form.words(told)
        if told.path and sum(len(part.encode("utf-8", "replace")) for part in (words[0], words[2])) > OUTSIDE:
            return self.form.words(replace(told, path=None))
        return words

    def _lay_out(
        self, placed: Sequence[tuple[Section, list[Span]]], texts: Sequence[list[str]], between: str | Gap
    ) -> list[str]:
        """Return a text for each section: its label, its parts, and words wherever something is missing inside the whole."""

        def words(start: int, end: int, repeats: Hidden | None = None) -> str:
            if start >= end:
                return ""
            return between if isinstance(between, str) else between(Missing(self, start, end, repeats))

        laid = [""] * len(placed)
        shown = [number for number, (_, spans) in enumerate(placed) if spans]
        # What is missing before the first part of all, and behind the last, is for the form to say.
        for number, previous, then in zip(shown, (None, *shown), (*shown[1:], None), strict=False):
            section, spans = placed[number]
            pieces = [self.wording.section.format(label=section.label) + "\n"] if section.label else []
            if previous is not None:
                missing = words(placed[previous + 1][0].start, spans[0].start).strip("\n")
                pieces += [f"{missing}\n"] * bool(missing)
            for span, text, following in zip(spans, texts[number], (*spans[1:], None), strict=True):
                pieces.append(text)
                if following is not None:
                    pieces.append(words(span.end, following.start, span.then))
                elif then is not None:
                    pieces.append(words(span.end, section.end).rstrip("\n"))
            laid[number] = "".join(pieces)
        return laid

    def _whole_lines(self, span: Span) -> bool:
        gap = self.gap(span.start, span.end)
        ends = gap.whole_lines or self.document.blob.read(span.end, span.end + 1) in (b"\n", b"")
        return ends and self.at_line_start(span.start)

    def at_line_start(self, offset: int) -> bool:
        return offset == 0 or self.document.blob.read(offset - 1, offset) == b"\n"

    def lines_between(self, start: int, end: int) -> int:
        """Count the lines that are hidden from their first byte to their last."""
        if start >= end:
            return 0
        # The byte before tells which line this is, also where what follows was not kept.
        first = self.number(start - 1) + self.at_line_start(start) if start else 1
        lines = self.number(end - 1) - first + 1
        return max(
            0, lines - (not self.at_line_start(start)) - (end < self.document.size and not self.at_line_start(end))
        )

    def chars_between(self, start: int, end: int) -> int:
        """Count characters from whichever side is less to read; what was not kept cannot be read at all."""
        opens, closes = self.document.gap
        if 2 * (end - start) > self.document.size or (opens < closes and start <= opens and closes <= end):
            return self.document.chars - self._count(0, start) - self._count(end, self.document.size)
        return self._count(start, end)

    def _count(self, start: int, end: int) -> int:
        total = 0
        while start < end:
            upto = min(end, (start // BLOCK + 1) * BLOCK)
            if upto - start < BLOCK:
                total += count_chars(self.document.blob.read(start, upto))
            else:
                if start not in self._chars:
                    self._chars[start] = count_chars(self.document.blob.read(start, upto))
                total += self._chars[start]
            start = upto
        return total
