"""Blobs: base64, hex, hex dumps, PEM bodies, binary, minified code: named by kind, length and hash instead of shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import stringzilla
from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds.ends import char_before
from spillover.kinds.sample import Sample
from spillover.kinds.selection import Hidden, Room, Span, join
from spillover.settings.settings import Call

#: What `Clip.kind` may say.
NAMES = ("blob",)
#: Bytes read at a time. More: more memory.
BLOCK_BYTES = 1 << 20
#: Blocks overlap by this, so that a run that begins at the end of one is seen in the next.
OVERLAP_BYTES = 1 << 13
#: Shorter runs on one line stay: a token, a hash, a signature. More: longer ones stay.
MIN_RUN_BYTES = 512
#: A run that is broken into lines has at least this many, each of at least this many bytes.
MIN_LINES, MIN_LINE_BYTES = 8, 60
#: Runs that are named. More: more reading, as each is hashed.
MAX_RUNS = 200
#: Bytes of the beginning of a run, and of its middle, that tell what it is.
PROBE_BYTES = 1 << 12
#: Bytes that are shown of a run, of minified code, and where room is short. More: more noise.
RUN_BYTES, CODE_BYTES, FEW_BYTES = 48, 240, 16
#: Bytes before a run in which its name is looked for.
NAME_BYTES = 160
#: The share of an output that makes it a blob.
BLOB_SHARE = 0.5

MAGIC = (
    (b"\x89PNG", "PNG"), (b"\x1f\x8b", "gzip"), (b"\x7fELF", "ELF"), (b"%PDF", "PDF"), (b"PK\x03\x04", "zip"),
    (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"SQLite format 3", "SQLite"), (b"\x00asm", "WebAssembly"), (b"\xca\xfe\xba\xbe", "Java class"), (b"OggS", "Ogg"),
)  # fmt: skip

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: Every character of base64, in either alphabet, as an x, so that a long run is found as one.
_FLAT = bytes(0x78 if byte in _BASE64 + b"-_=" else byte if byte in b"\r\n" else 0x20 for byte in range(256))
# No quantifier gives anything back: each is possessive, or is followed by a byte that it cannot match. A run that is
# too short is tried again from its next line, so that a byte is looked at MIN_LINES times at most.
_LONG = re.compile(
    rb"x{%d,}+|x{%d,}+\r?\n(?:x{%d,}+\r?\n){%d,}+x*+" % (MIN_RUN_BYTES, MIN_LINE_BYTES, MIN_LINE_BYTES, MIN_LINES - 2)
)
_WORD = re.compile(rb"x++")
#: An address and four groups of hex digits; what follows on the line may be anything.
_DUMP_LINE = rb"[0-9a-fA-F]{6,10}+:?[ \t]++(?:[0-9a-fA-F]{2,8}+[ \t]++){4}[^\n]*+(?:\n|\Z)"
_DUMP = re.compile(rb"(?:%b){%d,}+" % (_DUMP_LINE, MIN_LINES))
#: A pattern that begins with one byte is looked for at memory speed.
_DUMP_BEGINS = re.compile(rb"\n(?=%b)" % _DUMP_LINE)
_CLASSES = (b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789")
#: Control characters that no text holds.
_CONTROLS = bytes([*range(8), 11, *range(14, 27), *range(28, 32), 127])
_LINE = re.compile(rb"[^\n]*+\n|[^\n]++\Z")
_LINE_END_OR_NOTHING = re.compile(rb"(?:\r?\n)?")
_LINE_END = re.compile(rb"\r?\n|\Z")
#: Both are looked for in the last BEFORE bytes only.
_DATA = re.compile(rb"data:([\w.+-]++/[\w.+-]++)[^,\s]{0,80};base64,\Z")
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]++)-----\r?\n\Z")


class Run(Struct, frozen=True, order=True):
    """A blob in an output: bytes `start` to `end`, and what it is."""

    start: int
    end: int
    kind: str


def find_runs(data: bytes) -> list[Run]:
    """Return the blobs in a piece of output: from, to, what it is."""
    return sorted([*_find_dumps(data), *_find_long(data)])


def _find_dumps(data: bytes) -> Iterator[Run]:
    at = 0
    while at >= 0:
        match = _DUMP.match(data, at)
        if match:
            yield Run(match.start(), match.end(), "hex dump")
        begins = _DUMP_BEGINS.search(data, match.end() - 1 if match else at)
        at = begins.end() if begins else -1


def may_begin_early(data: bytes, upto: int) -> bool:
    """Return whether a blob may begin in the first `upto` bytes; finding all runs takes longer."""
    if b"x" * MIN_LINE_BYTES in _flatten(data[: upto + MIN_LINE_BYTES]):
        return True
    lines = data.find(b"\n", upto) + 1 or len(data)  # whole ones
    return _DUMP.match(data) is not None or _DUMP_BEGINS.search(data, 0, lines) is not None


def _flatten(data: bytes) -> bytes:
    return stringzilla.translate(data, _FLAT)  # type: ignore[no-any-return]  # bytes for bytes


def _find_long(data: bytes) -> Iterator[Run]:
    flat = _flatten(data)
    at = flat.find(b"x" * MIN_LINE_BYTES)
    while at >= 0:
        match = _LONG.match(flat, at) or _WORD.match(flat, at)
        assert match is not None  # at least MIN_LINE_BYTES of them
        start, end = match.span()
        if b"\n" in match[0]:
            yield from _find_equal_lines(data, start, end)
        elif end - start >= MIN_RUN_BYTES:
            # What stands before an = is a name, and not part of it.
            start = max(start, data.rfind(b"=", start, end - 3) + 1)
            yield from _name_run(data, start, end) if end - start >= MIN_RUN_BYTES else ()
        at = flat.find(b"x" * MIN_LINE_BYTES, end)


def _find_equal_lines(data: bytes, start: int, end: int) -> Iterator[Run]:
    """Yield the runs of lines of equal length, with a shorter last one, among lines of such characters."""
    at, since, width, count = start, start, -1, 0
    for line in [*data[start:end].splitlines(keepends=True), b""]:
        short = line.rstrip()
        if len(short) == width and (line != short or at + len(line) == len(data)):
            at, count = at + len(line), count + 1
            continue
        if count >= MIN_LINES:
            ends = _LINE_END.match(data, at + len(short)) if 0 < len(short) < width else None
            last = ends.end() if ends and (short.endswith(b"=") or len(short) >= 12) else at
            yield from _name_run(data, since, last)
        since, width, count = at, len(short), 1
        at += len(line)


def _name_run(data: bytes, start: int, end: int) -> Iterator[Run]:
    """Yield what a run is, if it is a blob."""
    middle = (start + end) // 2
    alphabet = _name_alphabet(
        data[start : min(end, start + PROBE_BYTES)]
        + data[max(middle, start + PROBE_BYTES) : min(end, middle + PROBE_BYTES)]
    )
    before = data[max(0, start - NAME_BYTES) : start]
    uri, pem = _DATA.search(before), _PEM.search(before)
    if alphabet:
        yield Run(start, end, f"{uri[1].decode()} as base64" if uri else f"PEM {pem[1].decode()}" if pem else alphabet)


def _name_alphabet(text: bytes) -> str:
    """Return "base64" or "hex" by how often each character occurs; "" for paths, names, rules of dashes and words."""
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


def read_nature(samples: Sequence[bytes], size: int) -> str:
    """Return what an output is that is one blob as a whole: "binary, PNG", "minified code"; "" for most."""
    head = samples[0]
    magic = next((name for start, name in MAGIC if head.startswith(start)), "")
    binary = [_is_binary(sample) for sample in samples if sample]
    if (magic and any(binary)) or (binary and 2 * sum(binary) > len(binary)):
        return f"binary, {magic}" if magic else "binary"
    if (
        size >= 4 * MIN_RUN_BYTES
        and head.lstrip()[:1] not in (b"{", b"[", b"<", b"")
        and all(map(_is_minified, samples))
    ):
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


def recognise(sample: Sample) -> str:
    """Return "blob" for what is binary, minified code, or nearly nothing but base64 or hex."""
    if read_nature(sample.pieces, sample.size):
        return "blob"
    total = sum(map(len, sample.pieces))
    if not may_begin_early(sample.head, min(len(sample.head), total // 4)):
        return ""  # most outputs: a quarter of it is something else
    run_bytes = sum(run.end - run.start for piece in sample.pieces for run in find_runs(piece))
    return "blob" if run_bytes >= 0.8 * total else ""


def select(document: Document, room: Room, _call: Call) -> Sequence[Span]:
    """Return the beginning of each blob and what stands around them; nothing when it is not mostly blobs."""
    size = document.size
    samples = [document.blob.read(at, at + (1 << 14)) for at in sorted({0, size // 2, max(0, size - (1 << 14))})]
    kind = read_nature(samples, size)
    if kind:
        note = _describe_run(document, Run(0, size, kind))
        for length in (RUN_BYTES, FEW_BYTES) if kind.startswith("binary") else (CODE_BYTES, RUN_BYTES, FEW_BYTES):
            spans = [Span(0, char_before(samples[0], min(length, size - 1), 0), kind, Hidden("blob", note=note))]
            if spans[0].end and room.fill(spans) <= 1:
                return spans
        return []
    runs = _scan(document)
    if not size or sum(run.end - run.start for run in runs) < BLOB_SHARE * size:
        return []
    return _show_runs(document, room, runs)


def _show_runs(document: Document, room: Room, runs: Sequence[Run]) -> Sequence[Span]:
    """Return the beginning of each run, and as many lines of the text around them as fit, from both ends."""
    # The end of a line that ends in a blob is hidden with it.
    ends = [run.end + _LINE_END_OR_NOTHING.match(document.blob.read(run.end, run.end + 2)).end() for run in runs]  # type: ignore[union-attr]
    edges = [0, *(edge for run, end in zip(runs, ends, strict=True) for edge in (run.start, end)), document.size]
    texts = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
    lines = _read_lines(document, texts)
    order = [lines[-1 - place // 2] if place % 2 == 0 else lines[place // 2] for place in range(len(lines))]
    pieces = [*(_show_beginning(document, run) for run in runs), *order]

    def show(count: int) -> list[Span]:
        document.work.spend(OBJECT * count)
        return _mark_more(join(pieces[:count]), set(ends), document.size)

    return room.largest(show, len(pieces))


def _mark_more(spans: Sequence[Span], ends: set[int], size: int) -> list[Span]:
    """Say so where more is hidden behind a blob than the blob itself."""
    spans_with_notes = []
    for span, following in zip(spans, [*(span.start for span in spans[1:]), size], strict=True):
        gap = span.then
        if gap is not None and following not in ends:
            gap = Hidden("blob", note=f"{gap.note}, and more")
        spans_with_notes.append(Span(span.start, span.end, span.why, gap))
    return spans_with_notes


def _read_lines(document: Document, texts: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the lines of the text around runs, as far as both ends are looked at."""
    lines: dict[int, Span] = {}
    for from_end in (False, True):
        room = document.reach
        for start, end in texts[::-1] if from_end else texts:
            if room <= 0:
                break
            first = max(start, end - room) if from_end else start
            data = document.blob.read(first, min(end, first + room))
            room -= len(data)
            document.work.spend(3 * OBJECT * data.count(b"\n"))
            for match in _LINE.finditer(data):
                lines.setdefault(first + match.start(), Span(first + match.start(), first + match.end()))
    return [lines[start] for start in sorted(lines)]


def _show_beginning(document: Document, run: Run) -> Span:
    data = document.blob.read(run.start, min(run.end, run.start + 4 * RUN_BYTES))
    line = data.find(b"\n") + 1
    length = line if run.kind == "hex dump" and line else min(RUN_BYTES, line or RUN_BYTES, run.end - run.start)
    return Span(run.start, run.start + length, run.kind, Hidden("blob", note=_describe_run(document, run)))


def _describe_run(document: Document, run: Run) -> str:
    """Return kind, length and hash of a blob."""
    digest = hashlib.sha256()
    for at in range(run.start, run.end, BLOCK_BYTES):
        digest.update(document.blob.read(at, min(run.end, at + BLOCK_BYTES)))
    return f"{run.kind}, {run.end - run.start:,} bytes, sha256 {digest.hexdigest()[:12]}"


def _scan(document: Document) -> list[Run]:
    """Return all runs of an output; one that reaches over the end of a block is one all the same."""
    runs: list[Run] = []
    for base in range(0, document.size, BLOCK_BYTES):
        data = document.blob.read(base, base + BLOCK_BYTES + OVERLAP_BYTES)
        if runs and runs[-1].end > base and b"\n" not in data[:OVERLAP_BYTES]:
            # Inside of a run on one line it no longer matters which characters come how often.
            last = runs.pop()
            flat = _flatten(data)
            runs.append(Run(last.start, base + len(flat) - len(flat.lstrip(b"x")), last.kind))
        for run in find_runs(data):
            if runs and base + run.start <= runs[-1].end + 2:  # lines of one that are each found alone
                last = runs.pop()
                runs.append(Run(last.start, max(last.end, base + run.end), last.kind))
            elif len(runs) < MAX_RUNS:
                runs.append(Run(base + run.start, base + run.end, run.kind))
    return runs
