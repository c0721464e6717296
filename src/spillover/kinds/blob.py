"""Blobs: base64, hex, hex dumps, PEM bodies, binary, minified code: named by kind, length and hash instead of shown.

Bounded: one pass in blocks; at most RUNS runs are named, and the hash of each is one more read of it.
"""

from __future__ import annotations

import re

import stringzilla

from spillover.document.document import OBJECT
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Hidden, Span, join, largest
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("blob",)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

    Run = tuple[int, int, str]  # from, to, what it is

BLOCK = 1 << 20
#: Blocks overlap by this, so that a run that begins at the end of one is seen in the next.
OVERLAP = 1 << 13
#: Shorter ones on one line are left as they are: a token, a hash, a signature.
LEAST = 512
#: A run that is broken into lines has at least LINES of them, each at least this long.
LINES = 8
WIDTH = 60
RUNS = 200
#: The bytes at the beginning of a run, and in its middle, that tell what it is.
PART = 1 << 12
#: How much of a run is still shown.
TASTE = 48
#: The name of a run is looked for in this many bytes before it.
BEFORE = 160
#: And of minified code.
CODE_TASTE = 240
#: An output is a blob if this share of it is.
MOSTLY = 0.5

MAGIC = (
    (b"\x89PNG", "PNG"), (b"\x1f\x8b", "gzip"), (b"\x7fELF", "ELF"), (b"%PDF", "PDF"), (b"PK\x03\x04", "zip"),
    (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"SQLite format 3", "SQLite"), (b"\x00asm", "WebAssembly"), (b"\xca\xfe\xba\xbe", "Java class"), (b"OggS", "Ogg"),
)  # fmt: skip

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: Every character of base64, in either alphabet, made an x, so that a long run is found as one.
_FLAT = bytes(0x78 if byte in _BASE64 + b"-_=" else byte if byte in b"\r\n" else 0x20 for byte in range(256))
# No quantifier gives anything back: each is possessive, or is followed by a byte that it cannot match. A run that is too
# short is tried again from its next line, so that a byte is looked at LINES times at most.
_LONG = re.compile(rb"x{%d,}+|x{%d,}+\r?\n(?:x{%d,}+\r?\n){%d,}+x*+" % (LEAST, WIDTH, WIDTH, LINES - 2))
_WORD = re.compile(rb"x++")
#: An address and four groups of hex digits; what follows on the line may be anything.
_DUMP_LINE = rb"[0-9a-fA-F]{6,10}+:?[ \t]++(?:[0-9a-fA-F]{2,8}+[ \t]++){4}[^\n]*+(?:\n|\Z)"
_DUMP = re.compile(rb"(?:%b){%d,}+" % (_DUMP_LINE, LINES))
#: A pattern that begins with one byte is looked for at memory speed.
_DUMP_BEGINS = re.compile(rb"\n(?=%b)" % _DUMP_LINE)
_CLASSES = (b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789")
#: Control characters that no text holds.
_CONTROLS = bytes([*range(8), 11, *range(14, 27), *range(28, 32), 127])
_LINE_END = re.compile(rb"\r?\n|\Z")
#: Both are looked for in the last BEFORE bytes only.
_DATA = re.compile(rb"data:([\w.+-]++/[\w.+-]++)[^,\s]{0,80};base64,\Z")
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]++)-----\r?\n\Z")


def runs(data: bytes) -> list[Run]:
    """Return the blobs in a piece of output: from, to, what it is."""
    return sorted([*_dumps(data), *_long(data)])


def _dumps(data: bytes) -> Iterator[Run]:
    at = 0
    while at >= 0:
        match = _DUMP.match(data, at)
        if match:
            yield match.start(), match.end(), "hex dump"
        begins = _DUMP_BEGINS.search(data, match.end() - 1 if match else at)
        at = begins.end() if begins else -1


def begins_by(data: bytes, upto: int) -> bool:
    """Return whether a blob may begin in so many of the first bytes; looking for those of all takes longer."""
    if b"x" * WIDTH in _flatten(data[: upto + WIDTH]):
        return True
    lines = data.find(b"\n", upto) + 1 or len(data)  # whole ones
    return _DUMP.match(data) is not None or _DUMP_BEGINS.search(data, 0, lines) is not None


def _flatten(data: bytes) -> bytes:
    return stringzilla.translate(data, _FLAT)  # type: ignore[no-any-return]  # bytes for bytes


def _long(data: bytes) -> Iterator[Run]:
    flat = _flatten(data)
    at = flat.find(b"x" * WIDTH)
    while at >= 0:
        match = _LONG.match(flat, at) or _WORD.match(flat, at)
        assert match is not None  # there are so many of them
        start, end = match.span()
        if b"\n" in match[0]:
            yield from _of_equal_lines(data, start, end)
        elif end - start >= LEAST:
            # What stands before an = is a name, and not part of it.
            start = max(start, data.rfind(b"=", start, end - 3) + 1)
            yield from _named(data, start, end) if end - start >= LEAST else ()
        at = flat.find(b"x" * WIDTH, end)


def _of_equal_lines(data: bytes, start: int, end: int) -> Iterator[Run]:
    """Yield the runs of lines of equal length, with a shorter last one, among lines of such characters."""
    at, since, width, count = start, start, -1, 0
    for line in [*data[start:end].splitlines(keepends=True), b""]:
        short = line.rstrip()
        if len(short) == width and (line != short or at + len(line) == len(data)):
            at, count = at + len(line), count + 1
            continue
        if count >= LINES:
            ends = _LINE_END.match(data, at + len(short)) if 0 < len(short) < width else None
            last = ends.end() if ends and (short.endswith(b"=") or len(short) >= 12) else at
            yield from _named(data, since, last)
        since, width, count = at, len(short), 1
        at += len(line)


def _named(data: bytes, start: int, end: int) -> Iterator[Run]:
    """Yield what a run is, if it is a blob."""
    middle = (start + end) // 2
    alphabet = _alphabet(
        data[start : min(end, start + PART)] + data[max(middle, start + PART) : min(end, middle + PART)]
    )
    before = data[max(0, start - BEFORE) : start]
    uri, pem = _DATA.search(before), _PEM.search(before)
    if alphabet:
        yield start, end, f"{uri[1].decode()} as base64" if uri else f"PEM {pem[1].decode()}" if pem else alphabet


def _alphabet(text: bytes) -> str:
    """Tell base64 from hex by how often each character occurs; "" for paths, names, rules of dashes and words run together."""
    text = text.translate(None, b"\r\n")
    body = text.rstrip(b"=")
    size = len(body) or 1
    counts = {char: body.count(char) for char in set(body)}
    lower, upper, digit = (sum(counts.get(char, 0) for char in chars) / size for chars in _CLASSES)
    if not counts.keys() - set(b"0123456789abcdef") or not counts.keys() - set(b"0123456789ABCDEF"):
        return "hex" if len(counts) >= 12 and digit >= 0.25 and lower + upper >= 0.1 else ""
    mixed = counts.keys() & set(b"+/") and counts.keys() & set(b"-_")
    if 0x3D in counts or mixed or len(counts) < 24:
        return ""
    if upper < 0.2 or not 0.05 <= lower <= 0.6 or digit < 0.02 or upper + lower + digit < 0.85:
        return ""
    # Words run together, paths and mangled names have many small letters in a row; here they come as they come.
    return "base64" if lower * size <= 3 * len(re.findall(rb"[a-z]++", body)) else ""


def nature(samples: Sequence[bytes], size: int) -> str:
    """Return what an output is that is one blob as a whole, by its head and some more of it: binary, minified code; or ""."""
    head = samples[0]
    magic = next((name for start, name in MAGIC if head.startswith(start)), "")
    binary = [_is_binary(sample) for sample in samples if sample]
    if (magic and any(binary)) or (binary and 2 * sum(binary) > len(binary)):
        return f"binary, {magic}" if magic else "binary"
    if size >= 4 * LEAST and head.lstrip()[:1] not in (b"{", b"[", b"<", b"") and all(map(_is_minified, samples)):
        return "minified code"
    return ""


def _is_binary(sample: bytes) -> bool:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False  # UTF-16
    if stringzilla.find_first_of(sample, _CONTROLS) < 0:
        return False
    return len(sample.translate(None, _CONTROLS)) < 0.97 * len(sample)


def _is_minified(sample: bytes) -> bool:
    size = len(sample) or 1
    if stringzilla.count(sample, b"\n") * 1_000 >= size or stringzilla.count(sample, b" ") * 12 >= size:
        return False
    marks = size - len(sample.translate(None, b"(){}[];=,.:!&|?"))
    return marks * 8 > size


def select(document: Document, fill: Fill, _call: Call) -> list[Span] | None:
    """Return the beginning of each blob and what stands around them; None when it is not mostly blobs."""
    if len(document.sections) > 1 or document.gap[0] != document.gap[1] or not document.size:
        return None
    size = document.size
    samples = [document.blob.read(at, at + (1 << 14)) for at in sorted({0, size // 2, max(0, size - (1 << 14))})]
    kind = nature(samples, size)
    if kind:
        note = _note(document, 0, size, kind)
        for taste in (TASTE, 16) if kind.startswith("binary") else (CODE_TASTE, TASTE, 16):
            spans = [Span(0, _char(samples[0], min(taste, size - 1)), kind, Hidden("blob", note=note))]
            if spans[0].end and fill(spans) <= 1:
                return spans
        return None
    found = _scan(document)
    if sum(end - start for start, end, _ in found) < MOSTLY * size:
        return None
    return _around(document, fill, found)


def _around(document: Document, fill: Fill, found: Sequence[Run]) -> list[Span] | None:
    """Return the beginning of each run, and as many lines of the text around them as fit, from both ends."""
    tastes = [_taste(document, run) for run in found]
    # The end of a line that ends in a blob is hidden with it.
    ends = [end + len(_ending(document.blob.read(end, end + 2))) for _, end, _ in found]
    edges = [0, *(edge for (start, *_), end in zip(found, ends, strict=True) for edge in (start, end)), document.size]
    texts = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
    lines = _lines(document, texts)
    order = [lines[-1 - place // 2] if place % 2 == 0 else lines[place // 2] for place in range(len(lines))]
    pieces = [*tastes, *order]

    def spans(count: int) -> list[Span]:
        document.work.spend(OBJECT * count)
        return _true(join(pieces[:count]), set(ends), document.size)

    count = largest(len(pieces), lambda count: fill(spans(count)))
    return spans(count) if count else None


def _ending(data: bytes) -> bytes:
    return data if data == b"\r\n" else data[:1] if data[:1] == b"\n" else b""


def _true(spans: Sequence[Span], ends: set[int], size: int) -> list[Span]:
    """Say so where more is hidden behind a blob than the blob itself."""
    out = []
    for span, after in zip(spans, [*(span.start for span in spans[1:]), size], strict=True):
        more = span.then is not None and after not in ends
        hidden = Hidden("blob", note=f"{span.then.note}, and more") if more and span.then else span.then
        out.append(Span(span.start, span.end, span.why, hidden))
    return out


def _lines(document: Document, texts: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the lines of the text around runs, as far as both ends are looked at."""
    out: dict[int, Span] = {}
    for chosen in (texts, texts[::-1]):
        room = document.reach
        for start, end in chosen:
            if room <= 0:
                break
            first = start if chosen is texts else max(start, end - room)
            data = document.blob.read(first, min(end, first + room))
            room -= len(data)
            document.work.spend(3 * OBJECT * data.count(b"\n"))
            for match in re.finditer(rb"[^\n]*+\n|[^\n]++\Z", data):
                out.setdefault(first + match.start(), Span(first + match.start(), first + match.end()))
    return [out[start] for start in sorted(out)]


def _taste(document: Document, run: Run) -> Span:
    start, end, kind = run
    data = document.blob.read(start, min(end, start + 4 * TASTE))
    line = data.find(b"\n") + 1
    cut = line if kind == "hex dump" and line else min(TASTE, line or TASTE, end - start)
    return Span(start, start + cut, kind, Hidden("blob", note=_note(document, start, end, kind)))


def _note(document: Document, start: int, end: int, kind: str) -> str:
    """Return kind, length and hash of a blob."""
    import hashlib

    digest = hashlib.sha256()
    for at in range(start, end, BLOCK):
        digest.update(document.blob.read(at, min(end, at + BLOCK)))
    return f"{kind}, {end - start:,} bytes, sha256 {digest.hexdigest()[:12]}"


def _scan(document: Document) -> list[Run]:
    """Return all runs of an output; one that reaches over the end of a block is one all the same."""
    out: list[Run] = []
    for base in range(0, document.size, BLOCK):
        data = document.blob.read(base, base + BLOCK + OVERLAP)
        if out and out[-1][1] > base and b"\n" not in data[:OVERLAP]:
            # Inside of a run on one line it no longer matters which characters come how often.
            start, _, kind = out.pop()
            more = len(data.translate(_FLAT)) - len(data.translate(_FLAT).lstrip(b"x"))
            out.append((start, base + more, kind))
        for start, end, kind in runs(data):
            if out and base + start <= out[-1][1] + 2:  # lines of one that are long enough to be each found alone
                out[-1] = out[-1][0], max(out[-1][1], base + end), out[-1][2]
            elif len(out) < RUNS:
                out.append((base + start, base + end, kind))
    return out


def _char(data: bytes, at: int) -> int:
    """Return the last place up to `at` where no character is cut in two."""
    while 0 < at < len(data) and 0x80 <= data[at] < 0xC0:
        at -= 1
    return at


def recognise(sample: Sample) -> str:
    """Return "blob" for what is binary, minified code, or nearly nothing but base64 or hex."""
    if nature(sample.pieces, sample.size):
        return "blob"
    total = sum(map(len, sample.pieces))
    if not begins_by(sample.head, min(len(sample.head), total // 4)):
        return ""  # most outputs: a quarter of it is something else
    covered = sum(end - start for piece in sample.pieces for start, end, _ in runs(piece))
    return "blob" if covered >= 0.8 * total else ""
