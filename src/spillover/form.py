"""The words of another system, laid out its own way: what stands before what is shown, between its parts and behind it."""

from __future__ import annotations

from spillover.data import dataclass, field, replace
from spillover.limits import Limits, Size
from spillover.notice import REASON_CHARS, one_line
from spillover.render import Renderer, Shown, dealt, merged
from spillover.view.clean import chars_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spillover.select.span import Selector, Span
    from spillover.view.document import Section

    #: What stands before the parts, between two of them, and behind the last.
    Words = tuple[str, str, str]

#: With `notice="outside"`, what is shown holds the limits and the words are at most so many bytes more.
OUTSIDE = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a form speaks of."""

    parts: tuple[str, ...]  # what is shown, as the model will see it
    total: Size
    shown: Size  # of the output; its lines are those shown at least in part
    newlines: int  # in the whole output: some systems count what stands between them
    limits: Limits
    keep: str  # which part was asked for; "" where a selector of one's own chose
    whole_lines: bool  # whether no part begins or ends inside a line
    path: str | None = None  # the file that holds all of it, as the reader may open it
    ref: str | None = None  # what it is stored under; None when it is not
    reason: str | None = None  # why it is lost, or stored in part
    stored: int | None = None  # bytes, where it is stored in part

    @property
    def place(self) -> str | None:
        """Where the whole is: its file, or else its ref; None when it is lost."""
        return self.path or self.ref


@dataclass(frozen=True, slots=True)
class Form:
    """How another system says it, and how it cuts where it has its own way to: a word for `keep` → a selector for limits."""

    words: Callable[[Told], Words]
    cuts: Mapping[str, Callable[[Limits], Selector]] = field(default_factory=dict)
    lost: str | None = None  # which part survives where the whole cannot be kept; None: the same one


def lost_words(told: Told) -> str:
    """What a form says that promises a file, where there is none or not all of one."""
    why = one_line(told.reason or "", REASON_CHARS)
    if told.ref is None:
        return f"Full output not kept: {why}."
    return f"Stored in part ({why}): the first {told.stored or 0:,} bytes, in {told.place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRenderer(Renderer):
    """Turns spans of a document into text with the words of a form."""

    form: Form
    limits: Limits
    keep: str

    def show(self, spans: Sequence[Span]) -> Shown:
        """The text for these spans, which are in order and do not touch."""
        sections = self.document.sections
        texts = [[self.document.text(span.start, span.end) for span in inside] for _, inside in dealt(sections, spans)]
        ranges = merged([(self.number(span.start), self.number(span.end - 1)) for span in spans])
        parts = [part for text in texts for part in text]
        size = sum(span.end - span.start for span in spans)
        body = "".join(parts)
        told = Told(
            parts=tuple(parts),
            total=Size(self.document.lines, self.document.size, self.document.chars, self.tokens),
            shown=Size(sum(last - first + 1 for first, last in ranges), size, self._chars(spans), 0),
            newlines=self.document.newlines,
            limits=self.limits,
            keep=self.keep,
            whole_lines=all(map(self._whole_lines, spans)),
            path=self.kept.path if self.kept.path is None or self.kept.path.isprintable() else None,
            ref=self.kept.ref,
            reason=self.kept.reason,
            stored=self.kept.stored,
        )
        before, between, after = self._words(told)
        if len(sections) > 1:  # each stands for itself: what is missing is said before or behind all of them
            before, _, after = self._words(replace(told, parts=(body,)))
        laid = [self._labelled(each, text, between) for each, text in zip(sections, texts, strict=True)]
        said = [number for number, text in enumerate(laid) if text] or [0]
        laid[said[0]] = before + laid[said[0]]
        laid[said[-1]] += after
        return Shown("", tuple(laid), ranges, size, body, tuple(spans))

    def _chars(self, spans: Sequence[Span]) -> int:
        """As they came, like those of the whole: the rest is what is hidden."""
        return sum(chars_of(self.document.blob.read(span.start, span.end)) for span in spans)

    def _words(self, told: Told) -> Words:
        """As the form has them; a path that would make them too long is left out for the ref."""
        words = self.form.words(told)
        if told.path and sum(len(part.encode("utf-8", "replace")) for part in words) > OUTSIDE:
            return self.form.words(replace(told, path=None))
        return words

    def _labelled(self, section: Section, texts: Sequence[str], between: str) -> str:
        text = between.join(texts)
        if not section.label or not text:
            return text
        return f"{self.wording.section.format(label=section.label)}\n{text}"

    def _whole_lines(self, span: Span) -> bool:
        gap = self.gap(span.start, span.end)
        ends = gap.whole_lines or self.document.blob.read(span.end, span.end + 1) in (b"\n", b"")
        return ends and (span.start == 0 or self.document.blob.read(span.start - 1, span.start) == b"\n")
