"""What an output is: a table, a diff, markup, JSON, a blob, a search, a file; told by samples of it, its name and its call.

What is not surely something else is a log. A name makes up for little evidence, never for evidence of the contrary.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import chain

import stringzilla
from msgspec import Struct

from spillover.kinds import blob, found, table
from spillover.kinds.listing import are_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillover.document.document import Document

HEAD = 1 << 16
TAIL = 1 << 14
#: Samples of the middle, and how long each is.
MIDDLE = 3
SAMPLE = 1 << 13
#: With fewer lines of one kind than this, it is a log.
SURE = 0.97
#: Fewer rows than this are not a table, unless the name says so.
ROWS = 8
#: The first line of most outputs is shorter.
LINE = 1 << 10
#: The bytes of the head that tell whether these are rows.
ROWS_IN = 1 << 14

#: What the end of a name, or a command, says.
NAMES = {
    "json": ("json",), "ndjson": ("ndjson", "jsonl"), "csv": ("csv", "psv"), "tsv": ("tsv", "tab"),
    "diff": ("diff", "patch", "git diff", "git show", "git log -p"), "html": ("html", "htm"), "xml": ("xml", "svg"),
    "blob": (),
}  # fmt: skip

_FAMILY = {"html": "xml", "tsv": "csv"}

# All of these are linear: a quantifier is possessive, or what follows it is nothing that it matches.
_HTML = re.compile(rb"(?i)<(?:!doctype html|html|head|body|div|span|p|table|ul|h[1-6])[\s>]")
_FIRST_TAG = re.compile(rb"<([A-Za-z_][\w:.-]*+)(?=[\s/>])")
#: What may stand behind a tag on its line: a comment, or nothing.
_BEHIND = re.compile(rb"[^\S\n]*+(<!--|\n|\Z)")
_COMMENT = (b"<!--", b"-->")
#: One of these is in the lines of any page.
_PAGE = (b"[ref=", b"uid=", b"] link ", b"] button ", b"StaticText ")
_TYPED = re.compile(
    rb'"?(?:[-+]?[$]?\d[\d,]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?%?|\d{4}-\d\d-\d\d(?:[T ][\d:.+-]++Z?)?|(?i:true|false|yes|no|null|nan|n/a))?"?'
)


class _Seen(Struct, frozen=True):
    """Some of an output, how large it is, and whether its name says what is asked."""

    samples: Sequence[bytes]
    size: int
    hinted: bool
    lines: Callable[[], Sequence[bytes]]  # the whole lines of all samples
    shape: Callable[[], table.Shape | None]  # of the table that it may be


def guess(document: Document, name: str = "", told: str = "") -> tuple[str, ...]:
    """Return the kinds worth trying, best first; the last one is always "log". `told`: what the call says of itself."""
    return tuple(guesses(document, name, told))


def guesses(document: Document, name: str = "", told: str = "") -> Iterator[str]:
    """Yield the same, each when it is asked for: the first is almost always right, and then no other test is made."""
    if document.size and len(document.sections) <= 1:
        samples = _samples(document)
        hinted = _hinted(name) or told
        family = _FAMILY.get(hinted, hinted)
        split: list[bytes] = []

        def lines() -> list[bytes]:
            if not split:
                split.extend(chain.from_iterable(_lines(samples, document.size)))
            return split

        shape = cache(partial(_shape, samples, document.size))

        def test(kind: str) -> str:
            seen = _Seen(samples, document.size, kind == family, lines, shape)
            return _name_kind(kind, hinted, seen) if _TESTS[kind](seen) else ""

        named = {family: test(family)} if family in _TESTS else {}
        first = named.get(family) == hinted != ""
        if first:
            yield hinted
        others = [kind for kind in _TESTS if not (first and kind == family)]
        known = first
        for kind in others:
            called = named[kind] if kind in named else test(kind)
            if called:
                known = True
                yield called
        if not known:  # lines that a tool took from files
            kinds = found.kinds_of(lines(), hinted)
            yield from sorted(kinds, key=lambda kind: kind != hinted)
    yield "log"


def _name_kind(kind: str, hinted: str, seen: _Seen) -> str:
    """Return what a kind is called: tables and markup come in two sorts."""
    if kind == "csv":
        shape = seen.shape()
        return "tsv" if shape is not None and shape.separator == b"\t" else "csv"
    if kind == "xml" and (_HTML.search(seen.samples[0]) or hinted == "html"):
        return "html"
    return kind


def describe(document: Document, name: str = "") -> str:
    """Return what an output is."""
    return next(guesses(document, name))


def _hinted(name: str) -> str:
    """Return the kind a name speaks of: "x.csv", "git diff HEAD~1"; "" for most."""
    words = " ".join(name.lower().split())
    for kind, said in NAMES.items():
        if any(words.endswith(f".{word}") or words == word or words.startswith(f"{word} ") for word in said):
            return kind
    return ""


def _samples(document: Document) -> list[bytes]:
    """Return the head, some of the middle, the tail: whole lines where there are lines."""
    size = document.size
    if size <= HEAD:
        return [document.blob.read(0, size)]
    places = [size * number // (MIDDLE + 1) for number in range(1, MIDDLE + 1)]
    middle = [document.blob.read(at, min(at + SAMPLE, size - TAIL)) for at in places if at >= HEAD]
    tail = document.blob.read(max(HEAD, size - TAIL), size)
    return [document.blob.read(0, HEAD), *filter(None, middle), *filter(None, [tail])]


def _lines(samples: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    """Yield the whole lines of each sample, without their ends; blank ones are left out."""
    for number, sample in enumerate(samples):
        lines = sample.split(b"\n")
        first = 1 if number else 0  # where a sample begins and ends there are pieces of lines
        last = len(lines) if number == len(samples) - 1 or size <= HEAD else len(lines) - 1
        filled = list(filter(bytes.strip, lines[first:last]))
        yield [line.removesuffix(b"\r") for line in filled] if b"\r" in sample else filled


def _first_line(seen: _Seen) -> bytes:
    """Return the first of these lines; it is almost always known without splitting the samples."""
    line, ends, _ = seen.samples[0][:LINE].partition(b"\n")
    if ends and line[:1].strip():
        return line.removesuffix(b"\r")
    return next(chain.from_iterable(_lines(seen.samples, seen.size)), b"")


def _whole_lines(sample: bytes) -> bytes:
    """Return a sample of the middle or the end without the pieces of lines at its edges."""
    return sample[sample.find(b"\n") + 1 : sample.rfind(b"\n") + 1]


def _is_json(seen: _Seen) -> bool:
    """Return whether this is one value: its beginning is valid, and its end closes it."""
    head, tail = seen.samples[0].removeprefix(b"\xef\xbb\xbf").strip(), seen.samples[-1].rstrip()
    closing = {b"{": b"}", b"[": b"]"}.get(head[:1])
    if closing is None or not tail.endswith(closing):
        return False
    from spillover.kinds.json.almost import goes_on  # most outputs do not begin like this

    return goes_on(head, whole=seen.size <= HEAD)


def _is_ndjson(seen: _Seen) -> bool:
    """Return whether each line is an object or an array."""
    import json

    if _first_line(seen).lstrip()[:1] not in (b"{", b"["):
        return False
    count = good = 0
    for line in seen.lines():
        count += 1
        if line.lstrip()[:1] in (b"{", b"["):
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                continue
            good += 1
    return good >= 2 and good >= SURE * count


def _shape(samples: Sequence[bytes], size: int) -> table.Shape | None:
    shape = table.shape_of(samples[0][:ROWS_IN], whole=size <= ROWS_IN)
    return shape or table.shape_of(samples[0], whole=size <= HEAD)  # rows may be long


def _is_table(seen: _Seen) -> bool:
    """Return whether rows have equally many cells, with a header or columns of numbers; commas in prose do not count."""
    shape = seen.shape()
    if shape is None or shape.steady < (0.9 if seen.hinted else 0.95):
        return False
    head = seen.samples[0][:ROWS_IN]
    places = table.rows(head, shape.separator)
    if len(places) <= ROWS:
        head = seen.samples[0]
        places = table.rows(head, shape.separator)
    if not seen.hinted and re.search(rb"\n[ \t]*+\n[ \t]*+\S", head[:SAMPLE]):
        return False
    header, *rows = [table.split(head[start:end], shape.separator) for start, end in places]
    rows = [row for row in rows if len(row) == shape.columns]
    spaced = len([cell for row in rows for cell in row[1:] if cell[:1] == b" "])
    prose = shape.separator == b"," and spaced * 4 > len(rows) * (shape.columns - 1)
    named = len(set(header)) == len(header) and all(re.match(rb'"?[^\W\d]', cell) and len(cell) < 64 for cell in header)
    if not rows or not all(map(shape.holds, map(_whole_lines, seen.samples[1:]))):
        return False
    if seen.hinted:
        return named or not prose
    quoted = b'"' in head and sum(any(map(_is_quoted, row)) for row in rows) * 10 >= len(rows)
    if prose or len(rows) < (2 if named and quoted and seen.size > HEAD else ROWS):
        return False
    columns = list(zip(*rows, strict=True))
    typed = (are_most(0.9, column, _TYPED.fullmatch) for column in columns)
    if not named:
        return sum(typed) * 2 > shape.columns > 2
    few = (
        len(set(column)) * 4 <= len(rows) and cell not in column for cell, column in zip(header, columns, strict=True)
    )
    return quoted or any(typed) or any(few)


def _is_diff(seen: _Seen) -> bool:
    """Return whether it begins as a diff, has a hunk, and has nothing else in it."""
    if not re.match(
        rb"(?:\x1b\[[0-9;]*+m)*+(?:diff -|--- \S|commit [0-9a-f]{7}|Index: |From [0-9a-f]{40} )", _first_line(seen)
    ):
        return False
    if not re.search(rb"(?m)^(?:\x1b\[[0-9;]*+m)*+@@ -\d++(?:,\d++)? \+\d++(?:,\d++)? @@", seen.samples[0]):
        return False
    from spillover.kinds.diff_parts import BODY, COMMON, LINE  # few outputs get as far as this

    good = [  # none of the lines is empty
        line[0] in BODY or line.startswith(COMMON) or LINE.match(line) is not None for line in seen.lines()
    ]
    return sum(good) >= SURE * len(good) and good[-1]


def _is_markup(seen: _Seen) -> bool:
    """Return whether it begins and ends with a tag, and the first element is closed or is one of HTML."""
    head, tail = seen.samples[0].removeprefix(b"\xef\xbb\xbf").lstrip(), seen.samples[-1].rstrip()
    first = _FIRST_TAG.search(head) if head.startswith(b"<") and tail.endswith(b">") else None
    if first is None:
        return False
    if not re.match(rb"<[?!]", head) and first.start() != 0:
        return False
    closing = _is_closed(tail, first[1])
    declared = re.match(rb"(?i)<\?xml|<!doctype", head) is not None
    tags = sum(sample.count(b"<") for sample in seen.samples) * 1_000 >= sum(map(len, seen.samples))
    return tags and bool(
        closing or ((declared or seen.hinted or _HTML.match(head)) and re.search(rb"</\w[^<>]*+>\Z", tail))
    )


def _is_closed(tail: bytes, name: bytes) -> bool:
    """Return whether an element is closed, with nothing behind it but comments that each end on their line."""
    lines = tail.split(b"\n")
    good = 0  # so many of the last lines are comments, or empty
    while good < len(lines) and _is_comment(lines[-1 - good].strip()):
        good += 1
    # Where the last line ends that is something else.
    since = len(tail) - sum(map(len, lines[len(lines) - good :])) - good
    for match in re.finditer(rb"(?i)</%b\s*+>" % re.escape(name), tail):
        if tail.find(b"\n", match.end(), max(0, since)) >= 0:
            continue
        behind = _BEHIND.match(tail, match.end())
        if behind and (behind[1] != _COMMENT[0] or _ends_line(tail, behind.end())):
            return True
    return False


def _is_comment(line: bytes) -> bool:
    opens, closes = _COMMENT
    return not line or (line.startswith(opens) and line.endswith(closes, len(opens)))


def _ends_line(tail: bytes, at: int) -> bool:
    """Return whether a comment that is open here is closed at the end of its line."""
    end = tail.find(b"\n", at)
    return tail[at : end if end >= 0 else len(tail)].rstrip().endswith(_COMMENT[1])


def _is_quoted(cell: bytes) -> bool:
    return len(cell) > 2 and cell[:1] == b'"' != cell[1:2] and cell.endswith(b'"')


def _is_blob(seen: _Seen) -> bool:
    """Return whether it is binary, minified code, or nearly nothing but base64 or hex."""
    if blob.nature(seen.samples, seen.size):
        return True
    total = sum(map(len, seen.samples))
    if not blob.begins_by(seen.samples[0], min(len(seen.samples[0]), total // 4)):
        return False  # most outputs: a quarter of it is something else
    covered = sum(end - start for sample in seen.samples for start, end, _ in blob.runs(sample))
    return covered >= 0.8 * total


def _is_near_json(seen: _Seen) -> bool:
    """Return whether it is a Python repr, or one JSON value with a few words around it."""
    from spillover.kinds.json.almost import is_almost

    return not _is_json(seen) and is_almost(seen.samples[0], seen.samples[-1], whole=seen.size <= HEAD)


def _is_page(seen: _Seen) -> bool:
    """Return whether its lines are elements of a browser page, each with a ref."""
    if not any(stringzilla.find(seen.samples[0], mark) >= 0 for mark in _PAGE):
        return False
    from spillover.kinds.page import is_page  # few outputs get as far as this

    return is_page(seen.lines())


def _is_prose(seen: _Seen) -> bool:
    """Return whether it is markdown, or running text. What has colours was printed by something that ran."""
    head, count = seen.samples[0], stringzilla.count
    marked = count(head, b"\n##") + count(head, b"\n**") > 1
    if not (marked or count(head, b". ") * 400 > len(head)) or b"\x1b" in head:
        return False
    from spillover.kinds.prose import FENCES, are_too_few, is_prose  # few outputs get as far as this

    fenced = any(stringzilla.find(sample, fence) >= 0 for sample in seen.samples for fence in FENCES)
    return (fenced or not are_too_few(seen.lines())) and is_prose(seen.lines())


_TESTS = {
    "blob": _is_blob,
    "json": _is_json,
    "ndjson": _is_ndjson,
    "repr": _is_near_json,
    "diff": _is_diff,
    "xml": _is_markup,
    "csv": _is_table,
    "page": _is_page,
    "prose": _is_prose,
}
