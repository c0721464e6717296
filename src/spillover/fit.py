"""The most of an output that fits, and how it is said."""

from __future__ import annotations

from spillover.data import replace
from spillover.render import Kept, Renderer, Shown
from spillover.select.ends import keeping, most
from spillover.select.span import Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.limits import Limits
    from spillover.select.span import Fill
    from spillover.view.document import Document

TIERS = 3


def renderer_for(document: Document, choices: Choices, kept: Kept, tokens: int, tier: int = 0) -> Renderer:
    return Renderer(document, kept, choices.ways, tokens, choices.wording, tier)


def fitted(document: Document, choices: Choices, kept: Kept, tokens: int, *, least: int = 0) -> tuple[Renderer, Shown]:
    """The most that fits, and how it is said."""
    half = choices.limits.share(0.5)
    bare = (renderer_for(document, choices, kept, tokens, tier) for tier in range(least, TIERS))
    fits = (each for each in bare if _full(each, each.show([]), choices, half) <= 1)
    renderer = next(fits, None) or renderer_for(document, choices, kept, tokens, TIERS - 1)
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
    spans = _chosen(document, choices, fill)
    if not spans and renderer.tier < TIERS - 1:  # fewer words of ours are better than nothing of the output
        shorter = fitted(document, choices, kept, tokens, least=renderer.tier + 1)
        if shorter[1].bytes:
            return shorter
    full, shown = look(spans)
    if full <= 1:
        return renderer, shown
    return renderer, Shown(beginning(shown.notice, choices), tuple("" for _ in document.sections), (), 0)


def renamed(renderer: Renderer, shown: Shown, kept: Kept, choices: Choices) -> tuple[Renderer, Shown]:
    """The same parts with another name in the notice; chosen anew only where that makes them too long."""
    other = replace(renderer, kept=kept)
    same = other.show(shown.spans)
    if shown.spans and _full(other, same, choices, choices.limits) <= 1:
        return other, same
    return fitted(renderer.document, choices, kept, renderer.tokens)


def _full(renderer: Renderer, shown: Shown, choices: Choices, limits: Limits) -> float:
    """How full the limits are with what would be shown."""
    sections = renderer.document.sections
    apart = len(sections) > 1 and not any(section.label for section in sections)

    def count(text: str) -> int:  # texts that reach the model one by one are counted one by one
        return sum(map(choices.count, filter(None, shown.texts))) if apart else choices.count(text)

    return limits.fill(shown.text, count, byte_bound=choices.byte_bound)


def beginning(words: str, choices: Choices) -> str:
    """As much of our own words as fits: the last resort, where limits are tiny and numbers huge."""

    def full(chars: int) -> float:
        return choices.limits.fill(words[:chars], choices.count, byte_bound=choices.byte_bound)

    return words[: most(len(words), full)]


def _chosen(document: Document, choices: Choices, fill: Fill) -> list[Span]:
    """What the selector chose. One that you brought may fail, or ask for too much: the tool call survives that."""
    if not callable(choices.keep):
        return _tamed(choices.selector(document, fill), document)
    try:
        spans = _tamed(choices.selector(document, fill), document)
    except Exception:  # noqa: BLE001  whatever it raises
        spans = []
    spans = spans[: most(len(spans), lambda count: fill(spans[:count]))]
    return spans or _tamed(keeping(0.5)(document, fill), document)


def _tamed(spans: Sequence[Span], document: Document) -> list[Span]:
    """Spans inside the output, and outside what was not kept."""
    opens, closes = document.gap
    inside = joined([Span(max(0, span.start), min(span.end, document.size)) for span in spans])
    if opens == closes:
        return inside
    parts = [(Span(span.start, min(span.end, opens)), Span(max(span.start, closes), span.end)) for span in inside]
    return joined([part for pair in parts for part in pair])
