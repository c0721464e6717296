"""vtcode's cut: whole lines for half of the tokens from either end."""

from __future__ import annotations

from math import ceil

from spillover.profiles.vtcode.estimate import CHARS_PER_TOKEN
from spillover.select.ends import char_after, char_before, keeping
from spillover.select.span import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.limits import Limits
    from spillover.select.span import Fill, Selector
    from spillover.view.document import Document

MAX_TOKENS = 25_000
#: Lines cost what their characters say; where the tokenizer says more, the halves shrink, at most so often.
TRIES = 8
#: How far to look for the lines of one half: a line of three characters and CRLF takes five bytes for its token, and an empty
#: one takes its bytes for none.
BYTES_PER_TOKEN, LEAST_BYTES = 6, 1 << 16


def both_halves(limits: Limits) -> Selector:
    """Return a selector for whole lines of both ends, a line at least from each; of one that is too long, the part that fits."""
    tokens = limits.tokens or MAX_TOKENS

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        if len(document.sections) > 1 or document.gap[0] < document.gap[1]:
            return keeping(0.5)(document, fill)
        half = tokens // 2
        for _ in range(TRIES):
            spans = _halves(document, half)
            full = fill(spans)
            if full <= 1:
                return spans
            half = int(half / full * 0.98)
        return keeping(0.5)(document, fill)

    return select


def _halves(document: Document, half: int) -> list[Span]:
    reach = max(half * BYTES_PER_TOKEN, LEAST_BYTES)
    head = document.blob.read(0, min(reach, document.size))
    tail = document.blob.read(max(0, document.size - reach), document.size)
    upto, since = _from_start(head, half), document.size - len(tail) + _from_end(tail, half)
    return [Span(0, document.size)] if upto >= since else [Span(0, upto), Span(since, document.size)]


def _from_start(data: bytes, half: int) -> int:
    at = used = 0
    while end := data.find(b"\n", at) + 1:
        used += _cost(data[at:end])
        if used > half:
            break
        at = end
    return at or char_before(data, min(len(data), int(half * CHARS_PER_TOKEN)), 0)


def _from_end(data: bytes, half: int) -> int:
    used, at = 0, len(data)
    while start := data.rfind(b"\n", 0, max(0, at - 1)) + 1:
        used += _cost(data[start:at])
        if used > half:
            break
        at = start
    return at if at < len(data) else char_after(data, max(0, len(data) - int(half * CHARS_PER_TOKEN)), len(data))


def _cost(line: bytes) -> int:
    """Return the tokens of a line by its bytes; how it ends costs nothing, in the head as in the tail."""
    end = 2 if line.endswith(b"\r\n") else int(line.endswith(b"\n"))
    return ceil((len(line) - end) / CHARS_PER_TOKEN)
