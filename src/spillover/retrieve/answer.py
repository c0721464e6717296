"""What an answer is: a text that fits, and the facts of the output it is from."""

from __future__ import annotations

from spillover.fit import beginning
from spillover.limits import Size
from spillover.result import Clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices
    from spillover.store.base import Record
    from spillover.view.document import Document


def answer(
    text: str,
    choices: Choices,
    record: Record,
    document: Document,
    *,
    ranges: tuple[tuple[int, int], ...],
    size: int,
    whole: bool,
) -> Clip:
    """The answer: "whole" when it is all that was asked for, otherwise there is more of it in the store."""
    text = beginning(text, choices)
    lines = sum(last - first + 1 for first, last in ranges)
    return Clip(
        text,
        "whole" if whole else "stored",
        ref=record.ref,
        path=choices.store.where(record.ref),
        _total=Size(document.lines, document.size),
        _shown=Size(lines, size, len(text), choices.count(text)),
        _ranges=ranges,
        _count=choices.count,
    )


def fill(text: str, choices: Choices) -> float:
    """How full the limits are with an answer."""
    return choices.limits.fill(text, choices.count, byte_bound=choices.byte_bound)
