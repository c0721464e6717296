"""Cuts to the letter, as other systems make them: whole lines while lines and bytes allow it, or so many characters."""

from __future__ import annotations

from math import ceil

from spillover.kinds.ends import char_after, char_before, keep_ends
from spillover.kinds.selection import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill
    from spillover.settings.limits import Limits
    from spillover.types import Selector

#: A character has at most this many bytes in UTF-8.
WIDEST = 4


def first_lines(limits: Limits) -> Selector:
    """Return a selector of the first lines, as many as fit, without the newline behind the last; of a longer line its beginning."""
    lines, size = limits.lines, limits.bytes

    def cut(document: Document) -> list[Span]:
        data = document.blob.read(0, _within(document, size))
        ends = _newlines(data, lines)
        if len(data) == document.size and (lines is None or len(ends) < lines):
            ends.append(len(data))
        fitting = [end for end in ends if size is None or end <= size]
        upto = fitting[-1] if fitting else 0
        if not data[:upto].strip(b"\n") and (lines is None or len(fitting) < lines):
            upto = char_before(data, len(data) if size is None else size, 0)
        return [Span(0, upto)]

    return _or_ours(cut, 1.0)


def last_lines(limits: Limits) -> Selector:
    """Return a selector of the last lines, as many as fit; what follows the last newline is one more, even if it is empty."""
    lines, size = limits.lines, limits.bytes

    def cut(document: Document) -> list[Span]:
        whole = document.size
        data = document.blob.read(whole - _within(document, size), whole)
        at = whole - len(data)
        starts: list[int] = []
        found = len(data)
        while (lines is None or len(starts) < lines) and (found := data.rfind(b"\n", 0, found)) >= 0:
            starts.append(at + found + 1)
        if at == 0 and (lines is None or len(starts) < lines):
            starts.append(0)
        fitting = [start for start in starts if size is None or whole - start <= size]
        if fitting and fitting[-1] < whole and (len(fitting) == lines or data[fitting[-1] - at :].strip(b"\n")):
            return [Span(fitting[-1], whole)]
        since = max(0, len(data) - size) if size is not None else 0
        return [Span(at + char_after(data, since, len(data)), whole)]

    return _or_ours(cut, 0.0)


def first_chars(limits: Limits) -> Selector:
    """Return a selector of the first characters, as many as fit."""
    return _chars(limits, 1.0)


def last_chars(limits: Limits) -> Selector:
    """Return a selector of the last characters, as many as fit."""
    return _chars(limits, 0.0)


def both_ends(limits: Limits) -> Selector:
    """Return a selector of equally many characters from both ends; of an odd number, one more from the beginning."""
    return _chars(limits, 0.5)


def _chars(limits: Limits, share: float) -> Selector:
    head = ceil((limits.chars or 0) * share)
    return ends(head, (limits.chars or 0) - head)


def ends(head: int, tail: int) -> Selector:
    """Return a selector of so many characters from the beginning, and so many from the end."""

    def cut(document: Document) -> list[Span]:
        upto, since = _upto(document, head), _since(document, tail)
        return [Span(0, document.size)] if upto >= since else [Span(0, upto), Span(since, document.size)]

    return _or_ours(cut, head / ((head + tail) or 1))


def _or_ours(cut: Callable[[Document], list[Span]], share: float) -> Selector:
    """Cut to the letter if there is one output and it shows as it is; otherwise fall back to a cut of ours that fits."""

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        if len(document.sections) > 1:
            return keep_ends(share)(document, fill)
        spans = [span for span in cut(document) if span.start < span.end]
        return spans if spans and fill(spans) <= 1 else keep_ends(share)(document, fill)

    return select


def _within(document: Document, size: int | None) -> int:
    """Return how far a cut looks: one byte more than it may show."""
    most = document.reach if size is None else size + 1
    return min(document.size, most)


def _newlines(data: bytes, most: int | None) -> list[int]:
    """Return where the first newlines stand."""
    found = -1
    out: list[int] = []
    while (most is None or len(out) < most) and (found := data.find(b"\n", found + 1)) >= 0:
        out.append(found)
    return out


def _upto(document: Document, chars: int) -> int:
    """Return where the first characters end."""
    data = document.blob.read(0, min(document.size, WIDEST * chars))
    text = data.decode("utf-8", "replace")[:chars]
    if "\ufffd" not in text:
        return len(text.encode())
    low, high = 0, len(data)
    while low < high:  # the furthest place up to which there are no more of them
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(data[:middle].decode("utf-8", "replace")) <= chars else (low, middle - 1)
    return low


def _since(document: Document, chars: int) -> int:
    """Return where the last characters begin."""
    whole = document.size
    data = document.blob.read(max(0, whole - WIDEST * chars), whole)
    text = data.decode("utf-8", "replace")
    last = text[len(text) - chars :] if chars < len(text) else text
    if "\ufffd" not in last:
        return whole - len(last.encode())
    low, high = 0, len(data)
    while low < high:  # the earliest place from which on there are no more of them
        middle = (low + high) // 2
        low, high = (low, middle) if len(data[middle:].decode("utf-8", "replace")) <= chars else (middle + 1, high)
    return whole - len(data) + low
