"""Long strings inside JSON: each is cut as a text of its own kind would be, with markers that leave it a string.

A log, a diff, JSON or base64 in a string is what tools answer: `{"stdout": "…", "exit_code": 2}`. First a value is shortened
as `value` and `ndjson` do it, to the head and the tail of its strings. Then, here, each such string gets its room once more,
and what is shown of it is chosen by what it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from spillover.document.document import OBJECT, Document, Section
from spillover.kinds.json.pointer import find_pointer
from spillover.kinds.json.strings import end_of, start_of
from spillover.kinds.selection import Hidden, Inside, Room, Selection, Span
from spillover.settings.settings import Call
from spillover.source.blob import MemoryBlob, Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Choose = Callable[[Document, Room, Call], Selection]

#: Strings below these many bytes have no parts worth choosing between.
LONG = 600
#: About how many bytes a marker inside a string takes.
MARK = 60
#: Beyond these, strings keep their head and tail: there are too many of them, or too many escapes in one.
MOST_STRINGS, MOST_ESCAPES = 16, 1_000_000
#: What a string is called: neither the name of a file nor the command says what it is.
STRING_NAME = "#"
#: How often room is given anew, so that the limits are well used and never exceeded.
TRIES = 5
ENOUGH = 0.95

# Matched one after the other, each of a few bytes: nothing is tried twice.
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {0x6E: b"\n", 0x74: b"\t", 0x72: b"\r", 0x62: b"\b", 0x66: b"\f"}


class Text(Struct, frozen=True):
    """A string as it is meant, and where each of its bytes stands in the JSON."""

    start: int  # of what is between the quotes
    end: int
    data: bytes
    ats: list[int]  # bytes of `data` behind each escape
    extra: list[int]  # how many more bytes the JSON has by then
    pointer: str | None

    def place(self, at: int) -> int:
        """Return where a byte of the text stands in the JSON."""
        behind = bisect_right(self.ats, at)
        return self.start + at + (self.extra[behind - 1] if behind else 0)


def read_string(data: bytes, start: int, end: int) -> tuple[bytes, list[int], list[int]]:
    """Return what the JSON string between these places means; behind which bytes of it escapes stand; what they add up to."""
    pieces: list[bytes] = []
    ats: list[int] = []
    extra: list[int] = []
    at, size, more = start, 0, 0
    for match in _ESCAPE.finditer(data, start, end):
        opens, closes = match.span()
        said = data[opens + 1 : closes]
        if said[0] != 0x75:
            char = _PLAIN.get(said[0], said)
        elif len(said) > 5:
            high, low = int(said[1:5], 16), int(said[7:11], 16)
            char = chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00).encode()
        else:
            char = chr(int(said[1:5], 16)).encode("utf-8", "surrogatepass")
        pieces += (data[at:opens], char)
        size += opens - at + len(char)
        more += closes - opens - len(char)
        at = closes
        ats.append(size)
        extra.append(more)
    return b"".join([*pieces, data[at:end]]), ats, extra


def refine(document: Document, spans: Sequence[Span], room: Room, choose: Choose, call: Call) -> Sequence[Span]:
    """Return the spans of a JSON output with its cut strings chosen by what they are; the same spans where that is no gain."""
    cuts = [(one.end, other.start) for one, other in pairwise(spans) if _cuts_string(one)]
    if not cuts or len(cuts) > MOST_STRINGS or document.gap[0] != document.gap[1]:
        return spans
    data = document.blob.read(0, document.size)
    found_texts = (_read(document, data, opens, closes) for opens, closes in cuts)
    texts = [text for text in found_texts if text is not None]
    if not texts:
        return spans
    sizes = [_shown(spans, text) for text in texts]
    best, scale, low, high = spans, 1.0, 0.0, 0.0
    known: dict[tuple[int, int], list[Span]] = {}
    for _ in range(TRIES):
        found = spans
        for number, (text, size) in enumerate(zip(texts, sizes, strict=True)):
            key = (number, int(size * scale))
            if key not in known:
                known[key] = _choose(document, text, key[1], choose, call)
            found = _put(found, text, known[key])
        full = room.fill(found)
        if full <= 1:
            best, low = found, scale
            if full >= ENOUGH:
                break
        else:
            high = scale
        # What stands around the strings takes its room whatever they get; so the step is a guess, kept between the bounds.
        scale = scale * (0.97 / full) if full > 0 else scale * 2
        if high and not low < scale < high:
            scale = (low + high) / 2
        elif not high:
            scale = max(scale, low * 1.02)
    return best


def _cuts_string(span: Span) -> bool:
    return span.then is not None and span.then.kind == "chars" and span.then.inside is None


def _read(document: Document, data: bytes, opens: int, closes: int) -> Text | None:
    """Return the string around a gap, if there is something to choose in it."""
    start, end = start_of(data, opens), end_of(data, closes)
    if end - start < LONG:
        return None
    escapes = data.count(b"\\", start, end)
    if escapes > MOST_ESCAPES:
        return None
    document.work.spend(end - start + 3 * OBJECT * escapes)
    text, ats, extra = read_string(data, start, end)
    return Text(start, end, text, ats, extra, find_pointer(data, start - 1, document.work))


def _shown(spans: Sequence[Span], text: Text) -> int:
    """Return how many bytes of a string are shown, its marker included."""
    inside = (min(span.end, text.end) - max(span.start, text.start) for span in spans)
    return sum(size for size in inside if size > 0) + MARK


def _choose(document: Document, text: Text, room: int, choose: Choose, call: Call) -> list[Span]:
    """Return what is shown of a string in so many bytes, as spans of the JSON, with what is hidden between them."""
    meter = Meter()
    meter.feed(text.data, hashing=False)
    size = len(text.data)
    reach = min(document.reach, max(size, 1))
    inner = Document(
        MemoryBlob(text.data), meter.index, meter.lines, meter.newlines, (Section(0, size),), reach, work=document.work
    )

    def fill(spans: Sequence[Span]) -> float:
        taken = sum(text.place(span.end) - text.place(span.start) for span in spans)
        return (taken + MARK * (len(spans) + 1)) / max(1, room)

    chosen = choose(inner, Room(fill), replace(call, name=STRING_NAME))
    spans = [span for span in chosen.spans if span.end > span.start]
    spans.sort(key=lambda span: span.start)
    out: list[Span] = []
    at, then = 0, None
    for span in [*spans, Span(size, size)]:
        if span.start > at:
            hidden = _say(inner, text, at, span.start, then)
            if out:
                out[-1] = replace(out[-1], then=hidden)
            else:
                out.append(Span(text.start, text.start, then=hidden))
        if span.end > span.start:
            start, end = text.place(max(at, span.start)), text.place(span.end)
            if out and out[-1].end == start and out[-1].then is None:
                out[-1] = replace(out[-1], end=end)
            else:
                out.append(Span(start, end, span.why))
        at, then = max(at, span.end), span.then
    return out


def _say(inner: Document, text: Text, start: int, end: int, then: Hidden | None) -> Hidden:
    """Return how a gap in a string is told: as in a text of its own, by the lines of the string."""
    first, last = inner.number(start), inner.number(end - 1)
    opens = start == 0 or text.data[start - 1 : start] == b"\n"
    closes = end == len(text.data) or text.data[end - 1 : end] == b"\n"
    place = Inside(
        text.pointer, first, last, start + 1, end, whole_lines=opens and closes, open_ended=end == len(text.data)
    )
    if then is None:
        return Hidden("text" if opens and closes else "chars", inside=place)
    return replace(then, inside=place)


def _put(spans: Sequence[Span], text: Text, inner: Sequence[Span]) -> list[Span]:
    """Return the spans with others for what is shown of one string."""
    out: list[Span] = []
    before = [span for span in spans if span.start < text.start]
    after = [span for span in spans if span.end > text.end]
    out += [
        replace(span, end=min(span.end, text.start), then=span.then if span.end < text.start else None)
        for span in before
    ]
    out += inner
    out += [replace(span, start=max(span.start, text.end)) for span in after]
    joined: list[Span] = []
    for span in out:
        last = joined[-1] if joined else None
        if last is not None and last.end == span.start and last.then is None:
            joined[-1] = replace(span, start=last.start, why=last.why or span.why, lead=last.lead or span.lead)
        elif span.end > span.start or span.then is not None:
            joined.append(span)
    return joined
