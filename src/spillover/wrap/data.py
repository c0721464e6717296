"""Data in its own shape, brought to a size: the records, keys and parts of strings that a text of it would show.

Records and keys that are hidden are left out without a marker, so that what is left has the types it had. A long string has
its markers inside.
"""

from __future__ import annotations

import json

from spillover.base.work import TooMuchWork, budget
from spillover.intake.blob import Held
from spillover.intake.meter import Meter
from spillover.notice.clipped import Gap
from spillover.notice.marker import marker
from spillover.select.span import join
from spillover.select.wanted import NOTHING
from spillover.view.document import Document, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.select.span import Span
    from spillover.select.wanted import Wanted

_BLANK = " \t\r\n"
#: What a cut looks at, at most, of either end of a text that is shown as it is.
REACH = 1 << 20


def choose_data(value: Any, fill: Callable[[str], float], wanted: Wanted = NOTHING, *, pointers: bool = True) -> Any:
    """Return the most of a value that fits, chosen as its JSON would be; None where it cannot be shown like that.

    `fill` says how full the limits are with a text of JSON. `pointers`: markers name the string they stand in.
    """
    from spillover.select.auto import auto
    from spillover.select.json.texts import refine
    from spillover.select.json.value import select

    try:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError):
        return None
    document = _document(data)

    def measure(spans: Sequence[Span]) -> float:
        document.work.spend(sum(span.end - span.start for span in spans))
        return fill(_as_written(_build(data, join(spans))))

    try:
        found = select(document, measure, wanted)
        if found is None:
            return None
        spans = refine(document, found, measure, auto, wanted, pointers=pointers)
        text = _build(data, join(spans))
        return json.loads(text) if fill(_as_written(text)) <= 1 else None
    except (TooMuchWork, ValueError, RecursionError):
        return None


def _document(data: bytes) -> Document:
    meter = Meter()
    meter.feed(data, hashing=False)
    whole = Document(Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),), REACH)
    return whole.within(budget(len(data)))


def _build(data: bytes, spans: Sequence[Span]) -> str:
    """Return JSON of what is shown: with markers in strings, and without one where records or keys are left out."""
    out, dropped = "", False
    for number, span in enumerate(spans):
        piece = data[span.start : span.end].decode("utf-8", "surrogatepass")
        if dropped:
            out, piece = _close(out, piece)
        out += piece
        then, dropped = span.then, False
        if then is None or number == len(spans) - 1:
            continue
        if then.inside is None and then.kind in ("items", "keys"):
            dropped = True
        else:
            gap = Gap(1, 1, span.end + 1, spans[number + 1].start, whole_lines=False)
            out += marker(gap, hidden=then)
    return out


def _as_written(text: str) -> str:
    """Return JSON as hosts may write it, the longest of their ways."""
    return text if text.isascii() else json.dumps(json.loads(text))


def _close(before: str, after: str) -> tuple[str, str]:
    """Return what stands around a gap without the comma that was for what is left out."""
    left, right = before.rstrip(_BLANK), after.lstrip(_BLANK)
    if left.endswith(","):
        return left[:-1], after
    return (before, right[1:]) if right.startswith(",") else (before, after)
