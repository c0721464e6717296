"""Strings inside JSON: where they may be cut, what they mean, which pointer names them; and Python reprs as JSON.

A log, a diff, JSON or base64 in a string is what tools answer: `{"stdout": "…", "exit_code": 2}`. First a value is
shortened to the head and the tail of its strings. Then each such string gets its room once more, and what is shown of
it is chosen by what it is (`refine`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from spillover.document.document import OBJECT, UNBOUNDED, Document, Section, Work
from spillover.kinds.selection import Hidden, Inside, Room, Selection, Span
from spillover.settings.settings import Call
from spillover.source.blob import MemoryBlob, Meter

Select = Callable[[Document, Room, Call], Selection]

#: Strings below these many bytes have no parts worth choosing between.
MIN_REFINED_BYTES = 600
#: About how many bytes a marker inside a string takes.
MARKER_BYTES = 60
#: Beyond these, strings keep their head and tail: there are too many of them, or too many escapes in one.
MAX_STRINGS, MAX_ESCAPES = 16, 1_000_000
#: What a string is called: neither the name of a file nor the command says what it is.
STRING_NAME = "#"
#: How often room is given anew, so that the limits are well used and never exceeded. Larger: fuller, and slower.
MAX_TRIES = 5
FULL_ENOUGH = 0.95
#: With more tokens than this before a value, it has no pointer worth finding. Larger: slower.
MAX_POINTER_TOKENS = 300_000
#: A longer pointer is no help to anybody.
MAX_POINTER_CHARS = 120
#: Bytes of words that may stand above a value, and below it. Larger: more logs are taken for values.
MAX_WORDS_BYTES = 2_000

#: What the decoder says of JSON that ends too early.
_TRUNCATED = "Input data was truncated"
#: A number that is cut off here is malformed to the decoder.
_NUMBER = b"0123456789+-.eE"
_BOM = b"\xef\xbb\xbf"

# Each is matched at one place, a token after the other, and no quantifier gives anything back.
_HALF = re.compile(rb"\\u[dD][89abAB]..\Z", re.DOTALL)
_OTHER_HALF = re.compile(rb"\\u[dD][c-fC-F]")
_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {0x6E: b"\n", 0x74: b"\t", 0x72: b"\r", 0x62: b"\b", 0x66: b"\f"}
_JSON_TOKEN = re.compile(rb'\s*+("(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)
_REPR_TOKEN = re.compile(
    rb"(?P<string>[bru]?+(?:'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\"))|(?P<word>None|True|False)(?!\w)"
    rb"|(?P<call>[A-Za-z_][\w.]*+\([^()'\"]*+\))|(?P<number>-?\d[\w.+-]*+)|(?P<sign>[\[\]{}(),:])|(?P<blank>\s++)",
    re.DOTALL,
)
_BEGINS = re.compile(
    rb"^[\[{(](?=[ \t\r\n]*+(?:[\[{(\"'\]})\d-]|[A-Za-z_][\w.]*+[('\"]|(?:None|True|False)\b))", re.MULTILINE
)
#: What a repr that is cut off may end with: a part of a text, of a word or of a call.
_CUT_OFF = re.compile(rb"[bru]?+['\"][^\n]*+|[A-Za-z_][\w.]*+(?:\([^()'\"\n]*+)?+")
_WORDS = {b"None": b"null", b"True": b"true", b"False": b"false"}
#: Behind a backslash, what JSON knows too; anything else is spelled as a backslash.
_SAME = frozenset(b'"\\/bfnrt')


def safe_cut(data: bytes, start: int, at: int) -> int:
    """Return the last place up to `at`, in a string whose text begins at `start`, where nothing is cut in two."""
    while at > start and 0x80 <= data[at] < 0xC0:
        at -= 1
    for back in range(1, 6):  # an escape has at most six bytes
        before = at - back
        if before >= start and data[before] == 0x5C and _escapes(data, start, before):
            size = 6 if data[before + 1] == 0x75 else 2
            at = before if back < size else at
            break
    half = at - 6
    if half >= start and _HALF.match(data, half, at) and _escapes(data, start, half) and _OTHER_HALF.match(data, at):
        return half
    return at


def _escapes(data: bytes, start: int, at: int) -> bool:
    """Return whether the backslash here begins an escape: an even number of them stand before it."""
    before = data[max(start, at - 64) : at]
    if before.count(b"\\") == 64:
        before = data[start:at]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0


def _start_of(data: bytes, inside: int) -> int:
    """Return where the text of the string begins that holds the byte at `inside`, or the byte before it."""
    at = inside
    while True:
        at = data.rfind(b'"', 0, at)
        if at < 0 or _escapes(data, 0, at):
            return at + 1


def _end_of(data: bytes, inside: int) -> int:
    """Return where the text of the string ends that goes on at `inside`, which stands in no escape."""
    match = _REST.match(data, inside)
    return match.end() if match else inside


class Text(Struct, frozen=True):
    """A string as it is meant, and where each of its bytes stands in the JSON."""

    start: int  # of what is between the quotes
    end: int
    data: bytes
    escape_ends: list[int]  # bytes of `data` behind each escape
    extra: list[int]  # how many more bytes the JSON has by then
    pointer: str | None = None

    def place(self, at: int) -> int:
        """Return where a byte of the text stands in the JSON."""
        behind = bisect_right(self.escape_ends, at)
        return self.start + at + (self.extra[behind - 1] if behind else 0)


def read_string(data: bytes, start: int, end: int) -> Text:
    """Return what the JSON string means whose text stands between these places."""
    pieces: list[bytes] = []
    escape_ends: list[int] = []
    extra: list[int] = []
    at = start
    size = more = 0
    for match in _ESCAPE.finditer(data, start, end):
        opens, closes = match.span()
        char = _unescape(data[opens + 1 : closes])
        pieces += (data[at:opens], char)
        size += opens - at + len(char)
        more += closes - opens - len(char)
        at = closes
        escape_ends.append(size)
        extra.append(more)
    return Text(start, end, b"".join([*pieces, data[at:end]]), escape_ends, extra)


def _unescape(escape: bytes) -> bytes:
    """Return the character that an escape means, without its backslash."""
    if escape[0] != 0x75:
        return _PLAIN.get(escape[0], escape)
    high = int(escape[1:5], 16)
    if len(escape) > 5:
        return chr(0x10000 + ((high - 0xD800) << 10) + int(escape[7:11], 16) - 0xDC00).encode()
    return chr(high).encode("utf-8", "surrogatepass")


def refine(document: Document, spans: Sequence[Span], room: Room, select: Select, call: Call) -> Sequence[Span]:
    """Return the spans of a JSON output with its cut strings chosen by what they are; the same if that is no gain."""
    cuts = [(span.end, after.start) for span, after in pairwise(spans) if _cuts_string(span)]
    if not cuts or len(cuts) > MAX_STRINGS:
        return spans
    data = document.blob.read(0, document.size)
    texts = [text for opens, closes in cuts if (text := _read_around(document, data, opens, closes))]
    if not texts:
        return spans
    sizes = [_shown_size(spans, text) for text in texts]
    selections: dict[tuple[int, int], list[Span]] = {}

    def build(scale: float) -> Sequence[Span]:
        refined = spans
        for number, (text, size) in enumerate(zip(texts, sizes, strict=True)):
            key = (number, int(size * scale))
            if key not in selections:
                selections[key] = _select_in(document, text, key[1], select, call)
            refined = _replace_text(refined, text, selections[key])
        return refined

    best = spans
    scale = 1.0
    low = high = 0.0
    for _ in range(MAX_TRIES):
        refined = build(scale)
        full = room.fill(refined)
        if full <= 1:
            best = refined
            low = scale
            if full >= FULL_ENOUGH:
                break
        else:
            high = scale
        # What stands around the strings takes its room whatever they get, so the step is a guess between the bounds.
        scale = scale * (0.97 / full) if full > 0 else scale * 2
        if high and not low < scale < high:
            scale = (low + high) / 2
        elif not high:
            scale = max(scale, low * 1.02)
    return best


def _cuts_string(span: Span) -> bool:
    return span.then is not None and span.then.kind == "chars" and span.then.inside is None


def _read_around(document: Document, data: bytes, opens: int, closes: int) -> Text | None:
    """Return the string around a gap, if there is something to choose in it."""
    start = _start_of(data, opens)
    end = _end_of(data, closes)
    escapes = data.count(b"\\", start, end)
    if end - start < MIN_REFINED_BYTES or escapes > MAX_ESCAPES:
        return None
    document.work.spend(end - start + 3 * OBJECT * escapes)
    return replace(read_string(data, start, end), pointer=find_pointer(data, start - 1, document.work))


def _shown_size(spans: Sequence[Span], text: Text) -> int:
    """Return how many bytes of a string are shown, its marker included."""
    inside = (min(span.end, text.end) - max(span.start, text.start) for span in spans)
    return sum(size for size in inside if size > 0) + MARKER_BYTES


def _select_in(document: Document, text: Text, room: int, select: Select, call: Call) -> list[Span]:
    """Return a string cut to a number of bytes, as spans of the JSON, with what is hidden between them."""
    meter = Meter()
    meter.feed(text.data, hashing=False)
    size = len(text.data)
    reach = min(document.reach, max(size, 1))
    inner = Document(
        MemoryBlob(text.data), meter.index, meter.lines, meter.newlines, (Section(0, size),), reach, work=document.work
    )

    def fill(spans: Sequence[Span]) -> float:
        total = sum(text.place(span.end) - text.place(span.start) for span in spans)
        return (total + MARKER_BYTES * (len(spans) + 1)) / max(1, room)

    selection = select(inner, Room(fill), replace(call, name=STRING_NAME))
    selected = sorted((span for span in selection.spans if span.end > span.start), key=lambda span: span.start)
    spans: list[Span] = []
    at = 0
    gap: Hidden | None = None
    for span in [*selected, Span(size, size)]:
        if span.start > at:
            hole = _describe_gap(inner, text, at, span.start, gap)
            if spans:
                spans[-1] = replace(spans[-1], then=hole)
            else:
                spans.append(Span(text.start, text.start, then=hole))
        if span.end > span.start:
            spans.append(Span(text.place(max(at, span.start)), text.place(span.end), span.why))
        at = max(at, span.end)
        gap = span.then
    return _join(spans)


def _describe_gap(inner: Document, text: Text, start: int, end: int, gap: Hidden | None) -> Hidden:
    """Return what a gap in a string hides: as in a text of its own, by the lines of the string."""
    opens = start == 0 or text.data[start - 1 : start] == b"\n"
    closes = end == len(text.data) or text.data[end - 1 : end] == b"\n"
    place = Inside(
        text.pointer,
        inner.number(start),
        inner.number(end - 1),
        start + 1,
        end,
        whole_lines=opens and closes,
        open_ended=end == len(text.data),
    )
    if gap is None:
        return Hidden("text" if opens and closes else "chars", inside=place)
    return replace(gap, inside=place)


def _replace_text(spans: Sequence[Span], text: Text, inner: Sequence[Span]) -> list[Span]:
    """Return the spans with others for what is shown of one string."""
    before = [
        replace(span, end=min(span.end, text.start), then=span.then if span.end < text.start else None)
        for span in spans
        if span.start < text.start
    ]
    after = [replace(span, start=max(span.start, text.end)) for span in spans if span.end > text.end]
    return _join([*before, *inner, *after])


def _join(spans: Sequence[Span]) -> list[Span]:
    """Join spans that touch with nothing hidden between them; drop what shows and hides nothing."""
    pieces: list[Span] = []
    for span in spans:
        last = pieces[-1] if pieces else None
        if last is not None and last.end == span.start and last.then is None:
            pieces[-1] = replace(span, start=last.start, why=last.why or span.why, lead=last.lead or span.lead)
        elif span.end > span.start or span.then is not None:
            pieces.append(span)
    return pieces


def find_pointer(data: bytes, offset: int, work: Work = UNBOUNDED) -> str | None:
    """Return the pointer (RFC 6901) of the value at `offset`; None where it is too far in, or too long to be of use."""
    for start, _, path in _walk(data, offset, work):
        if start >= offset:
            pointer = "".join(f"/{part}" for part in path)
            is_useful = start == offset and len(pointer) <= MAX_POINTER_CHARS and pointer.isprintable()
            return pointer if is_useful else None
    return None


def find_pointed(data: bytes, pointer: str) -> tuple[int, int] | None:
    """Return where the value that a pointer names begins and ends; None where there is none."""
    if pointer and not pointer.startswith("/"):
        return None
    names = pointer.split("/")[1:]
    opens = -1
    for start, end, path in _walk(data, len(data), UNBOUNDED, limit=None):
        if path != names:
            continue
        if opens >= 0 and end:  # its closing bracket
            return opens, end
        if opens < 0 and start >= 0:
            if data[start] not in b"[{":
                return start, end
            opens = start
    return None


def _walk(
    data: bytes, upto: int, work: Work, limit: int | None = MAX_POINTER_TOKENS
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield where each value begins and ends, and its path; a container comes twice: `(start, 0)`, `(-1, end)`."""
    path: list[str] = []
    kinds: list[int] = []  # of the containers around: 0x7B or 0x5B
    is_key = False  # whether the next string is a key
    at = len(_BOM) if data.startswith(_BOM) else 0
    for count in range(1, len(data) + 1):
        match = _JSON_TOKEN.match(data, at)
        if match is None or (limit is not None and count > limit):
            return
        if count % 1_000 == 0:
            work.spend(1_000 * OBJECT)
        start, end = match.span(1)
        at = end
        first = data[start]
        if first in b"}],":
            if not kinds:
                return
            if first == 0x2C:
                is_key = kinds[-1] == 0x7B
                if not is_key:
                    path[-1] = str(int(path[-1]) + 1)
            else:
                kinds.pop()
                path.pop()
                yield -1, end, path
        elif first in b"{[":
            yield start, 0, path
            kinds.append(first)
            path.append("0" if first == 0x5B else "")
            is_key = first == 0x7B
        elif first == 0x3A:
            is_key = False
        elif is_key:
            path[-1] = _pointer_name(data[start + 1 : end - 1])
        else:
            yield start, end, path
        if start > upto:
            return


def _pointer_name(raw: bytes) -> str:
    """Return a key as a pointer spells it."""
    text: str = json.loads(b'"' + raw + b'"') if b"\\" in raw else raw.decode("utf-8", "replace")
    return text.replace("~", "~0").replace("/", "~1")


def is_json_prefix(data: bytes, *, whole: bool) -> bool:
    """Return whether this is JSON as far as it goes; the last token may be cut off, and it closes only when `whole`."""
    if data.lstrip(b" \t\r\n")[:1] not in (b"[", b"{"):
        return False
    try:
        msgspec.json.decode(data if whole else data.rstrip(_NUMBER), type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return not whole and str(error) == _TRUNCATED
    except RecursionError:
        return False
    return whole


def spell_repr(data: bytes, *, whole: bool = True) -> bytes | None:
    """Return a Python literal as JSON of the same length; None where it is none, or holds what JSON cannot.

    Unless it is `whole`, a text may be cut off at its end, and is left out.
    """
    tokens: list[bytes] = []
    at = 0
    last = -1  # the number of the last token that is no blank
    while at < len(data):
        match = _REPR_TOKEN.match(data, at)
        if match is None:
            if not whole and _CUT_OFF.fullmatch(data, at):
                break
            return None
        kind = match.lastgroup
        token = match[0]
        at = match.end()
        if kind == "string":
            token = _spell_string(token)
        elif kind == "word":
            token = _WORDS[token]
        elif kind in ("call", "number"):  # a date, a Decimal, 1e5: as many digits
            token = b"1" * len(token)
        elif token == b"(":
            token = b"["
        elif token == b")":
            if last >= 0 and tokens[last] == b",":  # (1,)
                tokens[last] = b" "
            token = b"]"
        if kind != "blank":
            last = len(tokens)
        tokens.append(token)
    return b"".join(tokens)


def _spell_string(token: bytes) -> bytes:
    """Return a string between double quotes, with escapes that JSON knows, in as many bytes."""
    opens = 0 if token[:1] in (b"'", b'"') else 1
    inner = token[opens + 1 : -1]
    if token[opens : opens + 1] == b"'":
        inner = inner.replace(b'"', b"'")
    if b"\\" in inner:
        inner = re.sub(rb"\\(.)", lambda match: match[0] if match[1][0] in _SAME else rb"\\", inner, flags=re.DOTALL)
    return b" " * opens + b'"' + inner + b'"'


def find_embedded(data: bytes) -> tuple[int, int]:
    """Return from where to where one value with a few words around it may reach; the same twice where it cannot."""
    start = _find_start(data)
    end = _find_end(data)
    return (start, end) if start < end else (0, 0)


def _find_start(data: bytes) -> int:
    """Return where a value may begin that stands below a few words; behind all of it, where none does."""
    opens = _BEGINS.search(data, 0, MAX_WORDS_BYTES)
    return len(data) if opens is None else opens.start()


def _find_end(tail: bytes) -> int:
    """Return where the last value ends that has only a few words behind it; 0 where there is none."""
    return max(tail.rfind(closing, max(0, len(tail) - MAX_WORDS_BYTES)) for closing in (b"]", b"}", b")")) + 1


def is_embedded(head: bytes, tail: bytes, *, whole: bool) -> bool:
    """Return whether an output with this head and this tail is a repr, or one value with a few words around it."""
    start, end = find_embedded(head) if whole else (_find_start(head), len(head))
    if start == end or not (whole or _find_end(tail)):
        return False
    text = head[start:end]
    return is_json_prefix(text, whole=whole) or is_json_prefix(spell_repr(text, whole=whole) or b"", whole=whole)
