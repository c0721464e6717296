"""The notices of another system, in its own layout: words before what is shown, between its parts, and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from spillover.document.clean import count_chars
from spillover.document.document import Document, Section
from spillover.errors import UsageError
from spillover.kinds.selection import Hidden, Span
from spillover.notice.render import Layout, Rendered, Storage, deal, merge
from spillover.notice.wording import frames_of, shorten_reason
from spillover.settings.limits import Limits, Size
from spillover.source.blob import Blob
from spillover.types import Selector

Segments = Sequence[tuple[str, int]]  # (stream, bytes) in order of arrival
#: What stands before the parts, where something is missing between two of them, and behind the last. Words that
#: count are a function of what is missing there.
GapWords = Callable[["HiddenPart"], str]
Words = tuple[str, str | GapWords, str]

#: Of words outside the limits: what is shown holds the limits, and the words are at most this many bytes more.
OUTSIDE_BYTES = 1_024
#: Characters are counted once in blocks of this many bytes, however often a gap moves.
BLOCK_BYTES = 1 << 20


class HiddenPart:
    """What is hidden in one gap. Numbers are computed on demand: counting characters means reading them."""

    __slots__ = ("_layout", "end", "repeats", "start")

    def __init__(self, layout: FormLayout, start: int, end: int, repeats: Hidden | None = None) -> None:
        self._layout = layout
        self.start = start
        self.end = end
        self.repeats = repeats  # how it repeats what stands above, where all of it does

    @property
    def bytes(self) -> int:
        return self.end - self.start

    @property
    def lines(self) -> int:
        """Lines of which nothing is shown. Those of all gaps and those shown add up to the lines of the output."""
        return self._layout.lines_between(self.start, self.end)

    @property
    def chars(self) -> int:
        return self._layout.chars_between(self.start, self.end)

    @property
    def at_line_end(self) -> bool:
        """Whether what is shown before it ends at the end of a line, without the newline."""
        return self.start == self.end or self._layout.document.blob.read(self.start, self.start + 1) == b"\n"

    @property
    def at_line_start(self) -> bool:
        """Whether what is shown before it ends with a newline, or nothing is."""
        return self._layout.starts_line(self.start)


class CutFacts(Struct, frozen=True, kw_only=True):
    """The facts of a cut, for the words of a form."""

    parts: tuple[str, ...]  # what is shown, as the model will see it
    total: Size
    shown: Size  # of the output; its lines are those shown at least in part
    newlines: int  # in the whole output; some systems count what they separate
    limits: Limits
    keep: str  # which part was to be kept; "" for a selector of the caller's
    before: HiddenPart  # what is hidden before the first part
    behind: HiddenPart  # what is hidden behind the last part
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
        return Size(
            self.total.lines - self.shown.lines,
            self.total.bytes - self.shown.bytes,
            self.total.chars - self.shown.chars,
        )

    @property
    def one_end(self) -> bool:
        """Whether only the beginning is shown, or only the end, and nothing is missing inside it."""
        if len(self.parts) != 1:
            return False
        return not self.before.bytes if self.keep == "head" else self.keep == "tail" and not self.behind.bytes


class Form(Struct, frozen=True):
    """The words of another system, and its own ways to cut: `keep` → a function from limits to a selector."""

    words: Callable[[CutFacts], Words]
    cuts: Mapping[str, Callable[[Limits], Selector]] = field(default_factory=dict)
    inside: bool = False  # whether its words count towards the limits; else they come on top, as in other systems
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


def lost_words(facts: CutFacts) -> str:
    """Return what a form says instead of naming a file, where there is none or not all of one."""
    why = shorten_reason(facts.reason)
    if facts.ref is None:
        return f"Full output not kept: {why}."
    if facts.stored == facts.total.bytes:
        return f"Only a preview ({why}), in {facts.place}"
    return f"Stored in part ({why}): the first {facts.stored or 0:,} bytes, in {facts.place}"


class FormLayout(Layout):
    """Turns spans of a document into text with the words of a form, which stand in the text from the start."""

    def __init__(
        self,
        document: Document,
        form: Form,
        storage: Storage,
        *,
        tokens: int,
        limits: Limits,
        keep: str,
        count: Callable[[str], int],
    ) -> None:
        super().__init__(document)
        self.form = form
        self.storage = storage
        self.limits = limits
        self.keep = keep
        self.count = count
        self.total = Size(document.lines, document.size, document.chars, tokens)
        self._chars: dict[int, int] = {}  # of each block that was counted

    def render(self, spans: Sequence[Span]) -> Rendered:
        """Return the text for these spans, which are in order and do not touch."""
        dealt = list(deal(self.document.sections, spans))
        pieces = [[self._read(span.start, span.end) for span in inside] for _, inside in dealt]
        texts = [[text for text, _ in inside] for inside in pieces]
        frames = sum(count for inside in pieces for _, count in inside)
        ranges = merge([(self.number(span.start), self.number(span.end - 1)) for span in spans])
        parts = tuple(part for text in texts for part in text)
        size = sum(span.end - span.start for span in spans)
        facts = self._collect(spans, parts, Size(sum(last - first + 1 for first, last in ranges), size))
        before, between, after = self._words(facts)
        if frames and facts.place:
            after += f"\n[{frames_of(frames)} left out. Full output: {facts.place}]"
        laid_out = self._lay_out(dealt, texts, between)
        numbers = [number for number, text in enumerate(laid_out) if text] or [0]
        laid_out[numbers[0]] = before + laid_out[numbers[0]]
        laid_out[numbers[-1]] += after
        return Rendered(tuple(laid_out), ranges, size, frames, "".join(parts), tuple(spans))

    def _collect(self, spans: Sequence[Span], parts: tuple[str, ...], size_shown: Size) -> CutFacts:
        size, storage = self.document.size, self.storage
        chars = sum(count_chars(self.document.blob.read(span.start, span.end)) for span in spans)
        return CutFacts(
            parts=parts,
            total=self.total,
            shown=replace(size_shown, chars=chars),
            newlines=self.document.newlines,
            limits=self.limits,
            keep=self.keep,
            before=HiddenPart(self, 0, spans[0].start if spans else size),
            behind=HiddenPart(self, spans[-1].end if spans else size, size),
            whole_lines=all(map(self._has_whole_lines, spans)),
            count=self.count,
            path=storage.path if storage.path is None or storage.path.isprintable() else None,
            ref=storage.ref,
            reason=storage.reason,
            stored=storage.stored_bytes,
        )

    def _words(self, facts: CutFacts) -> Words:
        """Return the words of the form; a path that would make them too long is left out for the ref."""
        if facts.parts and not facts.hidden.bytes:  # so large that it was not counted before, and it fits after all
            return "", "", ""
        words = self.form.words(facts)
        size = sum(len(part.encode("utf-8", "replace")) for part in (words[0], words[2]))
        return self.form.words(replace(facts, path=None)) if facts.path and size > OUTSIDE_BYTES else words

    def _lay_out(
        self, dealt: Sequence[tuple[Section, list[Span]]], texts: Sequence[list[str]], between: str | GapWords
    ) -> list[str]:
        """Return a text for each section: its label, its parts, and words wherever something is missing between two.

        What is missing before the first part of all, and behind the last, is for the form to say.
        """

        def words(start: int, end: int, repeats: Hidden | None = None) -> str:
            if start >= end:
                return ""
            return between if isinstance(between, str) else between(HiddenPart(self, start, end, repeats))

        laid_out = [""] * len(dealt)
        numbers = [number for number, (_, spans) in enumerate(dealt) if spans]
        for number, previous in zip(numbers, (None, *numbers), strict=False):
            section, spans = dealt[number]
            pieces = [self.wording.section.format(label=section.label) + "\n"] if section.label else []
            if previous is not None:
                missing = words(dealt[previous + 1][0].start, spans[0].start).strip("\n")
                pieces += [f"{missing}\n"] * bool(missing)
            for span, text, following in zip(spans, texts[number], (*spans[1:], None), strict=True):
                pieces.append(text)
                if following is not None:
                    pieces.append(words(span.end, following.start, span.then))
                elif number != numbers[-1]:
                    pieces.append(words(span.end, section.end).rstrip("\n"))
            laid_out[number] = "".join(pieces)
        return laid_out

    def _has_whole_lines(self, span: Span) -> bool:
        end = span.end
        ends = self.starts_line(end) or self.document.blob.read(end, end + 1) in (b"\n", b"")
        return ends and self.starts_line(span.start)

    def lines_between(self, start: int, end: int) -> int:
        """Count the lines that are hidden from their first byte to their last."""
        if start >= end:
            return 0
        starts, ends = self.starts_line(start), end >= self.document.size or self.starts_line(end)
        # The byte before tells which line this is, also where what follows was not kept.
        first = self.number(start - 1) + starts if start else 1
        return max(0, self.number(end - 1) - first + 1 - (not starts) - (not ends))

    def chars_between(self, start: int, end: int) -> int:
        """Count characters from whichever side is less to read; what was not kept cannot be read at all."""
        opens, closes = self.document.gap
        if 2 * (end - start) > self.document.size or (opens < closes and start <= opens and closes <= end):
            return self.document.chars - self._count_chars(0, start) - self._count_chars(end, self.document.size)
        return self._count_chars(start, end)

    def _count_chars(self, start: int, end: int) -> int:
        total = 0
        while start < end:
            block_end = min(end, (start // BLOCK_BYTES + 1) * BLOCK_BYTES)
            if block_end - start < BLOCK_BYTES:
                total += count_chars(self.document.blob.read(start, block_end))
            else:
                if start not in self._chars:
                    self._chars[start] = count_chars(self.document.blob.read(start, block_end))
                total += self._chars[start]
            start = block_end
        return total
