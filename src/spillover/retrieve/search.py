"""Finding a pattern in stored bytes, line by line as grep does. It finds; it words, limits and renders nothing.

A hit is a line, at its first match; in a giant line, where the number of the line helps nobody, a hit is an occurrence.
What is searched is what the reader saw (escape codes and overwritten frames gone) and the raw bytes. No match crosses a
line end; in a line longer than a chunk, a match longer than the overlap may be cut short or missed. Occurrences in
giant lines are counted up to MAX_OCCURRENCES.
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

MAX_PATTERN_CHARS = 4_000
#: Occurrences in giant lines that are counted; with more of them, a count is "at least".
MAX_OCCURRENCES = 50_000
#: Hits in one answer.
MAX_HITS = 5_000

#: A match: its start, its end, and where the search goes on.
Match: TypeAlias = tuple[int, int, int]
#: Line start, match start, match end, line end: offsets in the output.
Place: TypeAlias = tuple[int, int, int, int | None]


#: Characters that a plain text does not have, to the engine.
_SPECIAL = frozenset("\\^$.|?*+()[]{}")


class Pattern(Struct, frozen=True):
    """What to look for: a text, or a regular expression."""

    source: str
    fixed: bool
    ignore_case: bool
    text: bytes | None
    regex: LinePattern | None


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
# A class, an escape, the opening of a group, or any character. The name of the opening or escape is what is refused.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[0-7]{3}|(?P<named>\\.|\(\?(?:P=|<?[=!]))|(?P<off>\(\?\w*-\w*m)|.",
    re.DOTALL,
)


def compile_pattern(text: str, *, fixed: bool = False, ignore_case: bool = False) -> Pattern:
    """Return the pattern, or a PatternError that says what to write instead. The syntax is Hyperscan's."""
    shown = repr(text if len(text) <= 80 else text[:80] + "…")
    if not text:
        raise PatternError("An empty pattern would match everywhere; say what to look for.")
    if len(text) > MAX_PATTERN_CHARS:
        raise PatternError(
            f"A pattern has at most {MAX_PATTERN_CHARS:,} characters, not {len(text):,}; search for a part of {shown}."
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise PatternError(f"{shown} holds half a character (a lone surrogate), which is in no output; leave it out.")
    tokens = [] if fixed else list(_TOKEN.finditer(text))
    refused = ["\\n"] * ("\n" in text) + ["(?-m" if token["off"] else token["named"] for token in tokens]
    for name in refused:
        if why := _REFUSED.get(re.sub(r"\\[1-9]", r"\\1", name or "")):
            raise PatternError(f"{shown}: {why}.")
    if not ignore_case and (fixed or not _SPECIAL.intersection(text)):
        return Pattern(text, fixed, ignore_case, text.encode(), None)
    try:
        regex = LinePattern(text, fixed=fixed, ignore_case=ignore_case)
    except PatternSyntaxError as error:
        why = str(error)
        too_large = any(said in why for said in ("repetition size", "too large", "Resource limit"))
        remedy = "repeat less" if too_large else "correct it, or search for it as plain text: -F, or fixed=true"
        raise PatternError(f"{shown} is not a valid pattern ({why}); {remedy}.") from error
    if regex.matches_empty:
        only_empty = len(text) > 1 and text.startswith("^") and text.endswith("$")
        where = "empty lines" if only_empty else "everywhere, even an empty string"
        raise PatternError(f"{shown} would match {where}; use + instead of *, or say what to look for.")
    return Pattern(text, fixed, ignore_case, None, regex)


class Sizes(Struct, frozen=True, kw_only=True):
    """Bytes that are looked at together. A chunk fits the processor's cache and is longer than the others by 3 or more."""

    chunk: int = 1 << 20
    giant: int = 1 << 16  # a line longer than this gives a hit for every occurrence
    overlap: int = 1 << 16  # shared by two windows of a line longer than a chunk


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
    """Yield the hits from `start` on, which is in line `first_line`. An index spares counting lines between hits."""
    line, counted = first_line, start
    for piece in _split(blob, start, sizes):
        for line_start, begin, end, line_end in _find_in_piece(piece, pattern):
            # Lines are counted only when there is a hit to number: counting takes longer than finding nothing.
            block = min(begin // index.block, len(index.before) - 1) if index else 0
            if index and counted < block * index.block:
                line, counted = index.before[block] + 1, block * index.block
            while counted < piece.base:
                upto = min(counted + sizes.chunk, piece.base)
                line, counted = line + count_in(blob.read(counted, upto), "\n"), upto
            line += count_in(piece.data, "\n", counted - piece.base, begin - piece.base)
            counted = begin
            yield Hit(line, line_start, begin, end, line_end)


class Count(Struct, frozen=True):
    """How many hits there are, or at least are."""

    hits: int
    exact: bool = True


def count(blob: Blob, pattern: Pattern, *, start: int = 0, sizes: Sizes = SIZES) -> Count:
    """Return how many hits there are from `start` on."""
    hits = occurrences = 0
    for piece in _split(blob, start, sizes):
        if piece.limit is None:
            hits += _count_in_piece(piece, pattern)
        elif occurrences <= MAX_OCCURRENCES:
            occurrences += sum(1 for _ in islice(_find_in_piece(piece, pattern), MAX_OCCURRENCES + 1 - occurrences))
    return Count(hits + min(occurrences, MAX_OCCURRENCES), exact=occurrences <= MAX_OCCURRENCES)


class _Piece(Struct):
    """Bytes to search in one go: whole lines, or a window of a giant one."""

    base: int  # where the data begins in the output
    data: bytes
    at: int  # the part of the data to search
    stop: int
    line_start: int  # of its first line, in the output
    limit: int | None = None  # of a window: where in the data a match may no longer begin, since it may not be whole
    line_end: int | None = None  # of a window: of its line, if that is no longer than a chunk
    reached: int = 0  # of a window: where in the output its last match ended


def _split(blob: Blob, start: int, sizes: Sizes) -> Iterator[_Piece]:
    """Yield the output from `start` on in pieces that can be searched in one go."""
    pos, line_start, base, data = start, _line_start(blob, start, sizes), 0, b""
    while pos < blob.size:
        if base + len(data) < min(blob.size, pos + sizes.giant + 1):  # too little to tell whether the line is giant
            base = pos - (pos > line_start)  # the byte before tells ^ and \b that no line begins here
            data = blob.read(base, base + sizes.chunk)
            if base + len(data) <= pos:
                return
        at, end = pos - base, base + len(data)
        last = end >= blob.size or len(data) < sizes.chunk  # or it was cut short while we read
        if (stop := _ordinary_end(data, at, line_start - base, sizes, last=last)) > at:
            yield _Piece(base, data, at, stop, line_start)
            pos = line_start = base + stop
        elif (stop := _line_end(data, at, len(data))) < len(data) or last:
            pos = base + stop + 1
            stop -= data[stop - 1 : stop + 1] == b"\r\n"
            in_sight = base + stop - line_start <= sizes.chunk
            yield _Piece(base, data, at, stop, line_start, limit=stop, line_end=base + stop if in_sight else None)
            line_start = pos
        elif at > 1:
            data = b""  # read again from here on: the line may fit a chunk
        else:
            window = _Piece(base, data, at, len(data), line_start, limit=len(data) - sizes.overlap)
            yield window
            pos = max(end - sizes.overlap, window.reached)


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
    """Return the end of the lines that are whole and not giant."""
    while (newline := int(rfind(data, "\n", at, max(at, line_start + sizes.giant + 1)))) >= 0:
        at = line_start = newline + 1
    return len(data) if last and len(data) - line_start <= sizes.giant else at


def _count_in_piece(piece: _Piece, pattern: Pattern) -> int:
    data, at, stop = piece.data, piece.at, piece.stop
    if not _is_searchable(data, at, stop, pattern):
        return sum(1 for _ in _find_in_piece(piece, pattern))
    return sum(1 for _ in _matches(pattern, data, at, stop, by_line=True))


def _find_in_piece(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    """Yield the hits in a piece: lines that match, or in a window every occurrence."""
    if piece.limit is not None:
        return _find_in_window(piece, pattern, piece.limit)
    searchable = _is_searchable(piece.data, piece.at, piece.stop, pattern)
    return _find_in_lines(piece, pattern) if searchable else _find_in_unclean_lines(piece, pattern)


def _is_searchable(data: bytes, at: int, stop: int, pattern: Pattern) -> bool:
    """Return whether the bytes can be searched as they are. The dot of a regex stops at broken UTF-8."""
    if find_first_of(data, _BEYOND_ASCII_TEXT) < 0:
        return True
    return is_plain(data) and (pattern.regex is None or "\ufffd" not in data[at:stop].decode(errors="replace"))


def _find_in_lines(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    data, base, line_start, since = piece.data, piece.base, piece.line_start, piece.at
    for begin, end, line_end in _matches(pattern, data, piece.at, piece.stop, by_line=True):
        if (newline := rfind(data, "\n", since, begin)) >= 0:
            line_start = base + newline + 1
        yield line_start, base + begin, base + end, base + line_end
        since = line_end


def _find_in_unclean_lines(piece: _Piece, pattern: Pattern) -> Iterator[Place]:
    """Yield lines that match as they are shown or as they are stored. Cleaning keeps every newline."""
    before, data = piece.data[max(0, piece.at - 1) : piece.at], piece.data[piece.at : piece.stop]
    raw = data.replace(b"\r\n", b"\n")
    found: dict[int, tuple[int, bytes]] = {}  # by line: the column and the bytes of the match
    plain = _is_searchable(raw, 0, len(raw), pattern)  # but for CRLF
    for view, of_line in ((raw, None),) if plain else (_shown_rows(raw), (raw, None)):
        text, nth, since = before + view, 0, len(before)
        for begin, end, _ in _matches(pattern, text, since, len(text), by_line=True):
            nth, since = nth + text.count(b"\n", since, begin), begin
            column = begin - max(text.rfind(b"\n", 0, begin) + 1, len(before))
            found.setdefault(nth if of_line is None else of_line[nth], (column, text[begin:end]))
    base, at, nth = piece.base + piece.at, 0, 0
    for wanted in sorted(found):
        while nth < wanted:
            at, nth = data.index(b"\n", at) + 1, nth + 1
        line = data[at : _line_end(data, at, len(data))].removesuffix(b"\r")
        column, match = found[wanted]
        if not line.startswith(match, column):
            column = line.find(match)
        begin, end = (at + column, at + column + len(match)) if column >= 0 else (at, at + len(line))
        yield base + at if at else piece.line_start, base + begin, base + end, base + at + len(line)


def _shown_rows(raw: bytes) -> tuple[bytes, list[int] | None]:
    """Return the lines as they are shown, and the line of each row where some lines are shown as several rows."""
    view = clean(raw)
    if view.count("\n") == raw.count(b"\n"):
        return view.encode(), None
    lines = [clean(line) for line in raw.split(b"\n")]
    of_line = [nth for nth, line in enumerate(lines) for _ in range(line.count("\n") + 1)]
    return "\n".join(lines).encode(), of_line


def _find_in_window(piece: _Piece, pattern: Pattern, limit: int) -> Iterator[Place]:
    """Yield every occurrence in a window of a giant line."""
    at = min(piece.at, 1)  # a byte of context
    base = piece.base + piece.at - at
    text = piece.data[piece.at - at : piece.stop]
    spans: Iterator[tuple[int, int]] = (match[:2] for match in _matches(pattern, text, at, len(text), by_line=False))
    if not is_plain(text):
        many = MAX_HITS + MAX_OCCURRENCES
        spans = iter(sorted({*islice(spans, many), *islice(_match_without_codes(pattern, text, at), many)}))
    for begin, end in spans:
        if base + begin >= piece.base + limit:
            return
        if base + begin >= piece.reached:
            piece.reached = base + end
            yield piece.line_start, base + begin, base + end, piece.line_end


def _match_without_codes(pattern: Pattern, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield matches in the text without escape codes, by their places in the text with them."""
    shown, shown_starts, raw_starts = bytearray(text[:at]), [], []
    for part in _CODE_AND_TEXT.finditer(text, at):
        seen = clean(part[0]).encode()
        shown_starts.append(len(shown))
        raw_starts.append(part.start() + max(0, part[0].rfind(seen)))
        shown += seen

    def place(offset: int) -> int:
        nth = bisect_right(shown_starts, offset) - 1
        return raw_starts[nth] + offset - shown_starts[nth]

    for begin, end, _ in _matches(pattern, bytes(shown), at, len(shown), by_line=False):
        yield place(begin), place(end - 1) + 1


def occurrences(pattern: Pattern, line: bytes) -> list[str]:
    """Return every match in one line, as it was shown; in order, and none of them overlaps another."""
    text = clean(line).encode()
    spans = _matches(pattern, text, 0, len(text), by_line=False)
    return [text[begin:end].decode(errors="replace") for begin, end, _ in spans]


def _matches(pattern: Pattern, text: bytes, pos: int, stop: int, *, by_line: bool) -> Iterator[Match]:
    """Yield every match; by line, only the first of each, since the search goes on behind the line's end."""
    while span := _next_match(pattern, text, pos, stop):
        begin, end = span
        pos = _line_end(text, end, stop) if by_line else end
        yield begin, end, pos


def _next_match(pattern: Pattern, text: bytes, pos: int, stop: int) -> tuple[int, int] | None:
    """Return the start and the end of the next match."""
    if pattern.regex:
        return pattern.regex.search(text, pos, stop)
    assert pattern.text is not None
    begin: int = find(text, pattern.text, pos, stop)
    return (begin, begin + len(pattern.text)) if begin >= 0 else None


def _line_end(text: bytes, at: int, stop: int) -> int:
    newline: int = find(text, "\n", at, stop)
    return newline if newline >= 0 else stop
