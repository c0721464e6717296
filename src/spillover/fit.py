"""The most of an output that fits, and how it is said."""

from __future__ import annotations

from spillover.data import replace
from spillover.errors import StoreError
from spillover.notice import Wording
from spillover.render import Kept, Renderer, Shown
from spillover.result import Reason
from spillover.select.ends import keeping, most
from spillover.select.kind import describe
from spillover.select.span import Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.limits import Limits
    from spillover.select.span import Fill
    from spillover.view.document import Document

TIERS = 3
#: What a selector of ours may raise without ending the tool call; both ends are shown then. Our own tests let nothing pass.
SURVIVED: tuple[type[Exception], ...] = (Exception,)


def renderer_for(document: Document, choices: Choices, kept: Kept, tokens: int, tier: int = 0) -> Renderer:
    if isinstance(choices.wording, Wording):
        return Renderer(document, kept, choices.ways, tokens, choices.wording, tier)
    from spillover.form import FormRenderer  # most are content with ours

    word = choices.keep if isinstance(choices.keep, str) else ""
    return FormRenderer(document, kept, (), tokens, tier=tier, form=choices.wording, limits=choices.limits, keep=word)


def fitted(
    document: Document, choices: Choices, kept: Kept, tokens: int, *, name: str = "", least: int = 0
) -> tuple[Renderer, Shown]:
    """The most that fits, and how it is said."""
    renderer = _renderer(document, choices, kept, tokens, least)
    seen: dict[tuple[Span, ...], tuple[float, Shown]] = {}

    def look(spans: Sequence[Span]) -> tuple[float, Shown]:
        key = tuple(joined(spans))
        if key not in seen:
            shown = renderer.show(key)
            seen[key] = _full(renderer, shown, choices, choices.limits), shown
        return seen[key]

    def fill(spans: Sequence[Span]) -> float:
        return look(spans)[0]

    everything = [Span(0, document.size)]
    if document.gap[0] == document.gap[1] and document.size <= 2 * document.reach and fill(everything) <= 1:
        return renderer, look(everything)[1]
    kind, spans = _chosen(document, choices, fill, name)
    if not spans and renderer.tier < TIERS - 1:  # fewer words of ours are better than nothing of the output
        shorter = fitted(document, choices, kept, tokens, name=name, least=renderer.tier + 1)
        if shorter[1].bytes:
            return shorter
    full, shown = look(joined(spans))
    if full <= 1:
        return renderer, replace(shown, kind=kind, why=_why(renderer, spans))
    words = shown.notice or renderer.show([]).text
    return renderer, Shown(beginning(words, choices), tuple("" for _ in document.sections), (), 0)


def _renderer(document: Document, choices: Choices, kept: Kept, tokens: int, least: int) -> Renderer:
    """The one with the most words that leave half of the room to the output."""
    if choices.form is not None:
        return renderer_for(document, choices, kept, tokens, TIERS - 1)
    half = choices.limits.share(0.5)
    bare = (renderer_for(document, choices, kept, tokens, tier) for tier in range(least, TIERS))
    fits = (each for each in bare if _full(each, each.show([]), choices, half) <= 1)
    return next(fits, None) or renderer_for(document, choices, kept, tokens, TIERS - 1)


def renamed(renderer: Renderer, shown: Shown, kept: Kept, choices: Choices, name: str = "") -> tuple[Renderer, Shown]:
    """The same parts with another name in the notice; chosen anew only where that makes them too long."""
    other = replace(renderer, kept=kept)
    same = other.show(shown.spans)
    if shown.spans and _full(other, same, choices, choices.limits) <= 1:
        return other, replace(same, kind=shown.kind, why=shown.why)
    return fitted(renderer.document, choices, kept, renderer.tokens, name=name)


def _full(renderer: Renderer, shown: Shown, choices: Choices, limits: Limits) -> float:
    """How full the limits are with what would be shown."""
    if choices.notice == "outside":
        from spillover.form import OUTSIDE

        words = len(shown.text.encode("utf-8", "replace")) - len(shown.body.encode("utf-8", "replace"))
        return max(limits.fill(shown.body, choices.count, byte_bound=False), words / OUTSIDE)
    sections = renderer.document.sections
    apart = len(sections) > 1 and not any(section.label for section in sections)

    def count(text: str) -> int:  # texts that reach the model one by one are counted one by one
        return sum(map(choices.count, filter(None, shown.texts))) if apart else choices.count(text)

    return limits.fill(shown.text, count, byte_bound=False)  # how full, not only whether


def beginning(words: str, choices: Choices) -> str:
    """As much of our own words as fits: the last resort, where limits are tiny and numbers huge."""

    def full(chars: int) -> float:
        return choices.limits.fill(words[:chars], choices.count, byte_bound=choices.byte_bound)

    return words[: most(len(words), full)]


def _chosen(document: Document, choices: Choices, fill: Fill, name: str) -> tuple[str, list[Span]]:
    """What the output is, and what the selector chose. It may fail, or ask for too much: the tool call survives that."""
    survived = (Exception,) if callable(choices.keep) else SURVIVED
    try:
        if choices.keep == "auto":
            from spillover.select.auto import auto

            kind, found = auto(document, fill, name)
        else:
            kind, found = describe(document, name), choices.selector(document, fill)
        spans = _tamed(found, document)
    except survived as error:
        if isinstance(error, StoreError) and not callable(choices.keep):  # it is the bytes that cannot be read
            raise
        kind, spans = "log", []
    if callable(choices.keep):
        spans = spans[: most(len(spans), lambda count: fill(spans[:count]))]
    return kind, spans or _tamed(keeping(0.5)(document, fill), document)


def _tamed(spans: Sequence[Span], document: Document) -> list[Span]:
    """Spans inside the output, and outside what was not kept; in order."""
    opens, closes = document.gap
    inside = [replace(span, start=max(0, span.start), end=min(span.end, document.size)) for span in spans]
    inside.sort(key=lambda span: (span.start, span.end))
    if opens < closes:
        parts = [
            (replace(span, end=min(span.end, opens), then=None), replace(span, start=max(span.start, closes)))
            for span in inside
        ]
        inside = [part for pair in parts for part in pair]
    return [span for span in inside if span.start < span.end]


def _why(renderer: Renderer, spans: Sequence[Span]) -> tuple[Reason, ...]:
    """Why each part is shown, in lines; parts that touch and have one reason are one."""
    out: list[Reason] = []
    for span in spans:
        if not span.why:
            continue
        first, last = renderer.number(span.start), renderer.number(span.end - 1)
        if out and out[-1].why == span.why and first <= out[-1].last + 1:
            out[-1] = Reason(out[-1].first, last, span.why)
        else:
            out.append(Reason(first, last, span.why))
    return tuple(out)
