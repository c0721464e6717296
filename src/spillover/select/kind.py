"""What an output is: a table, a diff, markup, JSON, a blob; told by a few samples of it, and by its name where there is one.

What is not surely something else is a log. A name makes up for little evidence, never for evidence of the contrary.
"""

from __future__ import annotations

import re

from spillover.data import dataclass
from spillover.select import blob, diff, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.view.document import Document

HEAD = 1 << 16
TAIL = 1 << 14
#: Samples of the middle, and how long each is.
MIDDLE = 3
SAMPLE = 1 << 13
#: So many lines of one kind there are, or it is a log.
SURE = 0.97
#: Fewer rows than this are no table without a name that says so.
ROWS = 8
#: So much of the head tells whether these are rows.
ROWS_IN = 1 << 14

#: What the end of a name, or a command, says.
NAMES = {
    "json": ("json",), "ndjson": ("ndjson", "jsonl"), "csv": ("csv", "psv"), "tsv": ("tsv", "tab"),
    "diff": ("diff", "patch", "git diff", "git show", "git log -p"), "html": ("html", "htm"), "xml": ("xml", "svg"),
    "blob": (),
}  # fmt: skip

_FAMILY = {"html": "xml", "tsv": "csv"}

_SPACE = re.compile(rb"[ \t\r\n]*")
_VALUE = re.compile(
    rb'"(?:[^"\\\x00-\x1f]|\\.)*+"|-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?(?![\w.])|(?:true|false|null)(?!\w)'
)
_HTML = re.compile(rb"(?i)<(?:!doctype html|html|head|body|div|span|p|table|ul|h[1-6])[\s>]")
_FIRST_TAG = re.compile(rb"<([A-Za-z_][\w:.-]*)(?=[\s/>])")
_TYPED = re.compile(
    rb'"?(?:[-+]?[$]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?%?|\d{4}-\d\d-\d\d(?:[T ][\d:.+-]+Z?)?|(?i:true|false|yes|no|null|nan|n/a))?"?'
)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of an output: some of it, how large it is, and whether its name says what is asked."""

    samples: Sequence[bytes]
    size: int
    hinted: bool


def guess(document: Document, name: str = "") -> tuple[str, ...]:
    """The kinds worth trying, best first; the last one is always "log"."""
    if not document.size or len(document.sections) > 1:
        return ("log",)
    samples = _samples(document)
    hinted = _hinted(name)
    family = _FAMILY.get(hinted, hinted)
    kinds = [kind for kind, test in _TESTS.items() if test(_Seen(samples, document.size, kind == family))]
    if "csv" in kinds:
        shape = _shape(samples, document.size)
        kinds[kinds.index("csv")] = "tsv" if shape is not None and shape.separator == b"\t" else "csv"
    if "xml" in kinds and (_HTML.search(samples[0]) or hinted == "html"):
        kinds[kinds.index("xml")] = "html"
    return (*sorted(kinds, key=lambda kind: kind != hinted), "log")


def describe(document: Document, name: str = "") -> str:
    """What an output is."""
    return guess(document, name)[0]


def _hinted(name: str) -> str:
    """The kind a name speaks of: "x.csv", "git diff HEAD~1"; "" for most."""
    words = " ".join(name.lower().split())
    for kind, said in NAMES.items():
        if any(words.endswith(f".{word}") or words == word or words.startswith(f"{word} ") for word in said):
            return kind
    return ""


def _samples(document: Document) -> list[bytes]:
    """The head, some of the middle, the tail: whole lines where there are lines."""
    size = document.size
    if size <= HEAD:
        return [document.blob.read(0, size)]
    places = [size * number // (MIDDLE + 1) for number in range(1, MIDDLE + 1)]
    middle = [document.blob.read(at, min(at + SAMPLE, size - TAIL)) for at in places if at >= HEAD]
    tail = document.blob.read(max(HEAD, size - TAIL), size)
    return [document.blob.read(0, HEAD), *filter(None, middle), *filter(None, [tail])]


def _lines(samples: Sequence[bytes], size: int) -> Iterator[bytes]:
    """The whole lines of all samples, without their ends."""
    for number, sample in enumerate(samples):
        lines = sample.split(b"\n")
        first = 1 if number else 0  # where a sample begins and ends there are pieces of lines
        last = len(lines) if number == len(samples) - 1 or size <= HEAD else len(lines) - 1
        yield from (line.removesuffix(b"\r") for line in lines[first:last] if line.strip())


def _whole_lines(sample: bytes) -> bytes:
    """A sample of the middle or the end without the pieces of lines at its edges."""
    return sample[sample.find(b"\n") + 1 : sample.rfind(b"\n") + 1]


def _is_json(seen: _Seen) -> bool:
    """One value, whose beginning is without a fault and whose end closes it."""
    head, tail = seen.samples[0].removeprefix(b"\xef\xbb\xbf").strip(), seen.samples[-1].rstrip()
    closing = {b"{": b"}", b"[": b"]"}.get(head[:1])
    return closing is not None and tail.endswith(closing) and _goes_on(head, whole=seen.size <= HEAD)


def _goes_on(data: bytes, *, whole: bool) -> bool:
    """Whether this is JSON as far as it goes; the last token may be cut off, and it closes only when it is whole."""
    at, wants = 0, "value"
    depth: list[bytes] = []
    while True:
        space = _SPACE.match(data, at)
        at = space.end() if space else at
        if at >= len(data):
            return not depth if whole else bool(depth)
        char = data[at : at + 1]
        if not depth and at:
            return False
        if wants in ("value", "first") and char in b"{[":
            depth.append(char)
            wants = "first key" if char == b"{" else "first"
            at += 1
            continue
        if char in b"}]":
            opens = wants == "comma" or (wants == "first" and char == b"]") or (wants == "first key" and char == b"}")
            if not opens or not depth or depth.pop() != (b"{" if char == b"}" else b"["):
                return False
            wants, at = "comma", at + 1
            continue
        if wants in ("comma", "colon"):
            if char != (b"," if wants == "comma" else b":"):
                return False
            wants = "value" if wants == "colon" or depth[-1] == b"[" else "key"
            at += 1
            continue
        match = _VALUE.match(data, at)
        if match is None:
            cut = data.find(b"\n", at) < 0 and len(data) - at < HEAD
            return not whole and cut and char in b'"-0123456789tfn'
        if wants in ("key", "first key"):
            if char != b'"':
                return False
            wants = "colon"
        else:
            wants = "comma"
        at = match.end()


def _is_ndjson(seen: _Seen) -> bool:
    """Lines that are objects or arrays, each of them."""
    import json

    count = good = 0
    for line in _lines(seen.samples, seen.size):
        count += 1
        if line.lstrip()[:1] in (b"{", b"["):
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                continue
            good += 1
        elif count == 1:
            return False
    return good >= 2 and good >= SURE * count


def _shape(samples: Sequence[bytes], size: int) -> table.Shape | None:
    shape = table.shape_of(samples[0][:ROWS_IN], whole=size <= ROWS_IN)
    return shape or table.shape_of(samples[0], whole=size <= HEAD)  # rows may be long


def _is_table(seen: _Seen) -> bool:
    """Rows of as many cells, with a header or columns of numbers: the commas of prose are none."""
    shape = _shape(seen.samples, seen.size)
    if shape is None or shape.steady < (0.9 if seen.hinted else 0.95):
        return False
    head = seen.samples[0]
    if len(table.rows(head[:ROWS_IN], shape.separator)) > ROWS:
        head = head[:ROWS_IN]
    if not seen.hinted and re.search(rb"\n[ \t]*\n[ \t]*\S", head[:SAMPLE]):
        return False
    whole = [head[slice(*row)] for row in table.rows(head, shape.separator)]
    header, *rows = [[line[slice(*cell)] for cell in table.cells(line, shape.separator)] for line in whole]
    rows = [row for row in rows if len(row) == shape.columns]
    spaced = sum(cell.startswith(b" ") for row in rows for cell in row[1:])
    prose = shape.separator == b"," and spaced * 4 > len(rows) * (shape.columns - 1)
    named = len(set(header)) == len(header) and all(re.match(rb'"?[^\W\d]', cell) and len(cell) < 64 for cell in header)
    if not rows or not all(map(shape.holds, map(_whole_lines, seen.samples[1:]))):
        return False
    if seen.hinted:
        return named or not prose
    quoted = sum(any(re.fullmatch(rb'"[^"].*"', cell, re.DOTALL) for cell in row) for row in rows) * 10 >= len(rows)
    if prose or len(rows) < (2 if named and quoted and seen.size > HEAD else ROWS):
        return False
    columns = list(zip(*rows, strict=True))
    typed = sum(sum(_TYPED.fullmatch(cell) is not None for cell in column) >= 0.9 * len(rows) for column in columns)
    if not named:
        return typed * 2 > shape.columns > 2
    few = any(
        len(set(column)) * 4 <= len(rows) and cell not in column for cell, column in zip(header, columns, strict=True)
    )
    return bool(typed or few or quoted)


def _is_diff(seen: _Seen) -> bool:
    """It begins as a diff, has a hunk, and has nothing else in it."""
    lines = list(_lines(seen.samples, seen.size))
    first = lines[0] if lines else b""
    if not re.match(rb"(?:\x1b\[[0-9;]*m)*(?:diff -|--- \S|commit [0-9a-f]{7,}|Index: |From [0-9a-f]{40} )", first):
        return False
    if not re.search(rb"(?m)^(?:\x1b\[[0-9;]*m)*@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", seen.samples[0]):
        return False
    good = [diff.LINE.match(line) is not None for line in lines]
    return sum(good) >= SURE * len(good) and good[-1]


def _is_markup(seen: _Seen) -> bool:
    """It begins with a tag, ends with one, and the first element is closed, or is one of HTML."""
    head, tail = seen.samples[0].removeprefix(b"\xef\xbb\xbf").lstrip(), seen.samples[-1].rstrip()
    first = _FIRST_TAG.search(head)
    if not head.startswith(b"<") or not tail.endswith(b">") or first is None:
        return False
    if not re.match(rb"<[?!]", head) and first.start() != 0:
        return False
    closing = re.search(rb"(?i)</(%b)\s*>(?:\s*<!--.*?-->)*\Z" % re.escape(first[1]), tail)
    declared = re.match(rb"(?i)<\?xml|<!doctype", head) is not None
    tags = sum(sample.count(b"<") for sample in seen.samples) * 1_000 >= sum(map(len, seen.samples))
    return tags and bool(
        closing or ((declared or seen.hinted or _HTML.match(head)) and re.search(rb"</\w[^<>]*>\Z", tail))
    )


def _is_blob(seen: _Seen) -> bool:
    """Binary, minified code, or nearly nothing but base64 or hex."""
    if blob.nature(seen.samples, seen.size):
        return True
    covered = sum(end - start for sample in seen.samples for start, end, _ in blob.runs(sample))
    return covered >= 0.8 * sum(map(len, seen.samples))


_TESTS = {
    "blob": _is_blob,
    "json": _is_json,
    "ndjson": _is_ndjson,
    "diff": _is_diff,
    "xml": _is_markup,
    "csv": _is_table,
}
