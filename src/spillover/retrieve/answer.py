"""What an answer is: a text that fits, and the facts of the output it is from."""

from __future__ import annotations

from spillover.result import Clip
from spillover.settings.limits import Size
from spillover.show.fit import trim

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
    """Return an answer that fits: "whole" if it is all that was asked for, "stored" if there is more in the store."""
    text = trim(text, choices)
    choices.spend(text)
    lines = sum(last - first + 1 for first, last in ranges)
    return Clip(
        text,
        "whole" if whole else "stored",
        ref=record.ref,
        path=choices.store.where(record.ref.partition("#")[0]),  # a value in it has no file of its own
        _total=Size(document.lines, document.size),
        _shown=Size(lines, size, len(text), choices.count(text)),
        _ranges=ranges,
        _count=choices.count,
    )


def number_row(number: str, text: str) -> str:
    """Put the number before a line; if it is shown as several rows, before each."""
    return number + text.replace("\n", f"\n{number}")


def fill(text: str, choices: Choices) -> float:
    """Return how full the limits are with an answer."""
    return choices.limits.fill(text, choices.count)
