"""Find where a pattern occurs in an output, in linear time and bounded memory.

A hit is the first match in a line; in a giant line, where a line number is of little use, every match is one. Both
the text that the reader saw, without escape codes and overwritten frames, and the raw bytes are searched. No match
crosses a line end; in a line longer than a chunk, a match longer than the overlap may be cut short or missed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from msgspec import Struct
from stringzilla import count as count_in
from stringzilla import find, find_first_of, rfind

from spillover.document.clean import CONTROLS, clean, is_plain
from spillover.errors import PatternError
from spillover.patterns import LinePattern, PatternSyntaxError
from spillover.source.blob import Blob, LineIndex

#: Characters of the pattern in a message; more make it longer.
QUOTED_CHARS = 80
#: Characters of a pattern; longer ones take longer to compile.
MAX_PATTERN_CHARS = 4_000
#: Matches in giant lines that are counted; more take longer. Beyond them, a count is "at least".
MAX_OCCURRENCES = 50_000
#: Hits in one answer; with more, a search within large limits takes longer.
MAX_HITS = 5_000

#: Line start, match start, match end, line end: offsets in the output.
Place: TypeAlias = tuple[int, int, int, int | None]

#: Characters with a meaning in a regular expression.
_SPECIAL = frozenset("\\^$.|?*+()[]{}")


class Pattern(Struct, frozen=True):
    """The pattern of a search: a text, or a regular expression."""

    source: str
    fixed: bool
    ignore_case: bool
    text: bytes  # empty for a regular expression
    regex: LinePattern | None  # None for a text

    def search(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return the start and the end of the first match from `start` on."""
        if self.regex:
            return self.regex.search(data, start, end)
        at: int = find(data, self.text, start, end)
        return (at, at + len(self.text)) if at >= 0 else None


_LINEAR = "this engine runs in linear time and has no"
_REFUSED = {
    "(?=": f"{_LINEAR} look-ahead (?=…); write what follows into the pattern: foo(?=bar) becomes foobar",
    "(?!": f"{_LINEAR} negative look-ahead (?!…); search for the rest of it and pass over the hits you do not want",
    "(?<=": f"{_LINEAR} look-behind (?<=…); write what stands before into the pattern: (?<=foo)bar becomes foobar",
    "(?<!": f"{_LINEAR} negative look-behind (?<!…); search for the rest of it and pass over the hits you do not want",
    "(?P=": f"{_LINEAR} backreferences such as (?P=name); write the repeated part out",
    "\\1": f"{_LINEAR} backreferences such as \\1; write the repeated part out",
    "\\n": "a match never crosses a line end; search for one of the lines and read around the hit",
    "\\A": "lines are searched one by one; ^ is the start of a line",
    "\\z": "lines are searched one by one; $ is the end of a line",
    "\\Z": "lines are searched one by one; $ is the end of a line",
    "(?-m": "lines are searched one by one, so that m cannot be switched off; leave it out",
    "\\C": "\\C would match a part of a character; use a dot",
    "\\Q": "there is no quoting with \\Q; ask for a fixed search, or escape single characters",
}
# A class, an escape, the opening of a group, or any character; `named` may be a key of _REFUSED.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[0-7]{3}|(?P<named>\\.|\(\?(?:P=|<?[=!]))|(?P<off>\(\?\w*-\w*m)|.",
    re.DOTALL,
)


def compile_pattern(text: str, *, fixed: bool = False, ignore_case: bool = False) -> Pattern:
    """Compile a pattern in the syntax of Hyperscan; a PatternError says what to write instead."""
    name = repr(text if len(text) <= QUOTED_CHARS else text[:QUOTED_CHARS] + "…")
    if not text:
        raise PatternError("An empty pattern would match everywhere; say what to look for.")
    if len(text) > MAX_PATTERN_CHARS:
        raise PatternError(
            f"A pattern has at most {MAX_PATTERN_CHARS:,} characters, not {len(text):,}; search for a part of {name}."
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise PatternError(f"{name} holds half a character (a lone surrogate), which is in no output; leave it out.")
    tokens = [] if fixed else list(_TOKEN.finditer(text))
    constructs = ["\\n"] * ("\n" in text) + ["(?-m" if token["off"] else token["named"] for token in tokens]
    for construct in constructs:
        if why := _REFUSED.get(re.sub(r"\\[1-9]", r"\\1", construct or "")):
            raise PatternError(f"{name}: {why}.")
    if not ignore_case and (fixed or not _SPECIAL.intersection(text)):
        return Pattern(text, fixed, ignore_case, text.encode(), None)
    try:
        regex = LinePattern(text, fixed=fixed, ignore_case=ignore_case)
    except PatternSyntaxError as error:
        too_large = any(words in str(error) for words in ("repetition size", "too large", "Resource limit"))
        remedy = "repeat less" if too_large else "correct it, or search for it as plain text: -F, or fixed=true"
        raise PatternError(f"{name} is not a valid pattern ({error}); {remedy}.") from error
    if regex.matches_empty:
        only_empty = len(text) > 1 and text.startswith("^") and text.endswith("$")
        places = "empty lines" if only_empty else "everywhere, even an empty string"
        raise PatternError(f"{name} would match {places}; use + instead of *, or say what to look for.")
    return Pattern(text, fixed, ignore_case, b"", regex)


class Sizes(Struct, frozen=True, kw_only=True):
    """Sizes in bytes for a search; a chunk is at least 3 bytes longer than the others."""

    chunk: int = 1 << 20  # searched at once; more leave the processor's cache
    giant: int = 1 << 16  # a longer line has a hit for every match
    overlap: int = 1 << 16  # of two windows of a line longer than a chunk; with more, longer matches are found


SIZES = Sizes()


class Hit(Struct, frozen=True):
    """A match; all but `line` are offsets in the output. `line_end` is None if the line is longer than a chunk."""

    line: int
    line_start: int
    start: int
    end: int
    line_end: int | None


_BEYOND_ASCII_TEXT = CONTROLS + bytes(range(128, 256))
_CODE_AND_TEXT = re.compile(rb"\x1b[^\x1b\r]*|\r+|[^\x1b\r]+")


def scan(
    blob: Blob,
    pattern: Pattern,
    *,
    start: int = 0,
    first_line: int = 1,
    index: LineIndex | None = None,
    sizes: Sizes = SIZES,
) -> Iterator[Hit]:
    """Yield the hits from `start` on, an offset in line `first_line`; with an index, fewer lines are counted."""
    line = first_line
    position = start
    for piece in _split(blob, start, sizes):
        for line_start, begin, end, line_end in _find_in_piece(piece, pattern):
            # Lines are counted only when there is a hit to number: counting takes longer than a search without hits.
            block = min(begin // index.block, len(index.before) - 1) if index else 0
            if index and position < block * index.block:
                line = index.before[block] + 1
                position = block * index.block
            while position < piece.base:
                upto = min(position + sizes.chunk, piece.base)
                line += count_in(blob.read(position, upto), "\n")
                position = upto
            line += count_in(piece.data, "\n", position - piece.base, begin - piece.base)
            position = begin
            yield Hit(line, line_start, begin, end, line_end)


class Count(Struct, frozen=True):
    """A number of hits, exact or at least."""

    hits: int
    exact: bool = True


def count(blob: Blob, pattern: Pattern, *, start: int = 0, sizes: Sizes = SIZES) -> Count:
    """Count the hits from `start` on."""
    hits = occurrences = 0
    for piece in _split(blob, start, sizes):
        if piece.limit is None:
            hits += sum(1 for _ in _find_in_piece(piece, pattern))
        elif occurrences <= MAX_OCCURRENCES:
            occurrences += sum(1 for _ in islice(_find_in_piece(piece, pattern), MAX_OCCURRENCES + 1 - occurrences))
    return Count(hits + min(occurrences, MAX_OCCURRENCES), exact=occurrences <= MAX_OCCURRENCES)


class _Piece(Struct):
    """Bytes to search at once: whole lines, or a window of a giant line."""

    base: int  # where the data begins in the output
    data: bytes
    at: int  # the start of the part of the data to search
    stop: int  # the end of that part
    line_start: int  # of its first line, in the output
    limit: int | None = None  # of a window: a match from here on in the data may not be whole
    line_end: int | None = None  # of a window: the end of its line, if that is no longer than a chunk
    match_end: int = 0  # of a window: the end of its last match in the output


def _split(blob: Blob, start: int, sizes: Sizes) -> Iterator[_Piece]:
    """Yield the output from `start` on in pieces that can be searched at once."""
    pos = start
    line_start = _line_start(blob, start, sizes)
    base = 0
    data = b""
    while pos < blob.size:
        if base + len(data) < min(blob.size, pos + sizes.giant + 1):  # too little to recognize a giant line
            base = pos - (pos > line_start)  # with the byte before it, ^ and \b see that no line begins here
            data = blob.read(base, base + sizes.chunk)
            if base + len(data) <= pos:
                return
        at = pos - base
        end = base + len(data)
        last = end >= blob.size or len(data) < sizes.chunk  # or the file became shorter
        if (stop := _ordinary_end(data, at, line_start - base, sizes, last=last)) > at:
            yield _Piece(base, data, at, stop, line_start)
            pos = line_start = base + stop
        elif (stop := _line_end(data, at, len(data))) < len(data) or last:
            pos = base + stop + 1
            stop -= data[stop - 1 : stop + 1] == b"\r\n"
            line_end = base + stop if base + stop - line_start <= sizes.chunk else None
            yield _Piece(base, data, at, stop, line_start, limit=stop, line_end=line_end)
            line_start = pos
        elif at > 1:
            data = b""  # read again from here on: the line may fit a chunk
        else:
            window = _Piece(base, data, at, len(data), line_start, limit=len(data) - sizes.overlap)
            yield window
            pos = max(end - sizes.overlap, window.match_end)


def _line_start(blob: Blob, offset: int, sizes: Sizes) -> int:
    """Return the start of the line that holds a byte."""
    while offset > 0:
        data = blob.read(max(0, offset - sizes.chunk), offset)
        newline: int = rfind(data, "\n")
        if newline >= 0 or not data:
            return offset - len(data) + newline + 1
        offset -= len(data)
    return 0


def _ordinary_end(data: bytes, at: int, line_start: int, sizes: Sizes, *, last: bool) -> int:
    """Return the end of the whole lines before a giant one."""
    while (newline := int(rfind(data, "\n", at, max(at, line_start + sizes.giant + 1)))) >= 0:
        at = line_start = newline + 1
    return len(data) if last and len(data) - line_start <= sizes.giant else at


def _find_in_piece(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    """Yield the hits in a piece: matching lines, or every match in a window."""
    if piece.limit is not None:
        return _find_in_window(piece, pattern, piece.limit)
    searchable = _is_searchable(piece.data, piece.at, piece.stop, pattern)
    return _find_in_lines(piece, pattern) if searchable else _find_in_unclean_lines(piece, pattern)


def _is_searchable(data: bytes, at: int, stop: int, pattern: Pattern) -> bool:
    """Return whether bytes are plain text, and valid UTF-8 for a regex, whose dot stops at anything else."""
    if find_first_of(data, _BEYOND_ASCII_TEXT) < 0:
        return True
    return is_plain(data) and (pattern.regex is None or "\ufffd" not in data[at:stop].decode(errors="replace"))


def _find_in_lines(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    data = piece.data
    base = piece.base
    line_start = piece.line_start
    since = piece.at
    for begin, end in find_matches(pattern, data, piece.at, piece.stop, by_line=True):
        if (newline := rfind(data, "\n", since, begin)) >= 0:
            line_start = base + newline + 1
        since = _line_end(data, end, piece.stop)
        yield line_start, base + begin, base + end, base + since


def _find_in_unclean_lines(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    """Yield lines whose cleaned or raw text matches; cleaning keeps every newline."""
    before = piece.data[max(0, piece.at - 1) : piece.at]
    data = piece.data[piece.at : piece.stop]
    raw = data.replace(b"\r\n", b"\n")
    places: dict[int, tuple[int, bytes]] = {}  # by line: the column and the bytes of the match
    views: list[tuple[bytes, list[int] | None]] = [(raw, None)]
    if not _is_searchable(raw, 0, len(raw), pattern):  # not plain but for CRLF
        views.insert(0, _shown_rows(raw))
    for view, lines in views:
        text = before + view
        row = 0
        since = len(before)
        for begin, end in find_matches(pattern, text, since, len(text), by_line=True):
            row = row + text.count(b"\n", since, begin)
            since = begin
            column = begin - max(text.rfind(b"\n", 0, begin) + 1, len(before))
            places.setdefault(row if lines is None else lines[row], (column, text[begin:end]))
    base = piece.base + piece.at
    at = 0
    nth = 0
    for number, (column, match) in sorted(places.items()):
        while nth < number:
            at = data.index(b"\n", at) + 1
            nth = nth + 1
        line = data[at : _line_end(data, at, len(data))].removesuffix(b"\r")
        place = column if line.startswith(match, column) else line.find(match)
        begin, end = (at + place, at + place + len(match)) if place >= 0 else (at, at + len(line))
        yield base + at if at else piece.line_start, base + begin, base + end, base + at + len(line)


def _shown_rows(raw: bytes) -> tuple[bytes, list[int] | None]:
    """Return the cleaned lines as rows, and the number of the line of each row if some lines have several."""
    view = clean(raw)
    if view.count("\n") == raw.count(b"\n"):
        return view.encode(), None
    lines = [clean(line) for line in raw.split(b"\n")]
    numbers = [nth for nth, line in enumerate(lines) for _ in range(line.count("\n") + 1)]
    return "\n".join(lines).encode(), numbers


def _find_in_window(piece: _Piece, pattern: Pattern, limit: int) -> Iterator[Place]:
    """Yield every match in a window of a giant line."""
    at = min(piece.at, 1)  # a byte of context
    base = piece.base + piece.at - at
    text = piece.data[piece.at - at : piece.stop]
    spans = find_matches(pattern, text, at, len(text), by_line=False)
    if not is_plain(text):
        max_spans = MAX_HITS + MAX_OCCURRENCES
        clean_spans = _match_without_codes(pattern, text, at)
        spans = iter(sorted({*islice(spans, max_spans), *islice(clean_spans, max_spans)}))
    for begin, end in spans:
        if base + begin >= piece.base + limit:
            return
        if base + begin >= piece.match_end:
            piece.match_end = base + end
            yield piece.line_start, base + begin, base + end, piece.line_end


def _match_without_codes(pattern: Pattern, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the matches in a text without its escape codes, by their offsets in the text with them."""
    view = bytearray(text[:at])
    shown_starts = []
    raw_starts = []
    for part in _CODE_AND_TEXT.finditer(text, at):
        visible = clean(part[0]).encode()
        shown_starts.append(len(view))
        raw_starts.append(part.start() + max(0, part[0].rfind(visible)))
        view += visible

    def place(offset: int) -> int:
        nth = bisect_right(shown_starts, offset) - 1
        return raw_starts[nth] + offset - shown_starts[nth]

    for begin, end in find_matches(pattern, bytes(view), at, len(view), by_line=False):
        yield place(begin), place(end - 1) + 1


def find_matches(pattern: Pattern, text: bytes, start: int, stop: int, *, by_line: bool) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of every match, or with `by_line` of the first in each line."""
    while span := pattern.search(text, start, stop):
        yield span
        start = _line_end(text, span[1], stop) if by_line else span[1]


def _line_end(text: bytes, at: int, stop: int) -> int:
    newline: int = find(text, "\n", at, stop)
    return newline if newline >= 0 else stop
