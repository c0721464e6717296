"""Finding a pattern in stored bytes, line by line as grep does. It finds; it words, limits and renders nothing.

A hit is a line, at its first match; in a giant line, where naming the line helps nobody, a hit is an occurrence. What
is searched is what the reader saw (escape codes and overwritten frames gone) and the raw bytes. No match crosses a
line end; in a line longer than a chunk, a match longer than the overlap may be cut short or missed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from re import _constants, _parser  # type: ignore[attr-defined]  # the stdlib's parser, unknown to typeshed

import re2
from stringzilla import count as count_in
from stringzilla import find, find_first_of, rfind

from spillover.errors import PatternError
from spillover.view.clean import CONTROLS, clean, is_plain

TYPE_CHECKING = False  # `typing` costs milliseconds at every start; checkers read this name all the same
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from spillover.intake.blob import Blob
    from spillover.intake.meter import LineIndex

    Match = tuple[int, int, int]  # its start, its end, and where the search goes on
    Find = tuple[int, int, int, int | None]  # line start, match start, match end, line end: offsets in the output

PATTERN_CHARS = 4_000
NEEDLES = 8  # each is a pass over the bytes, and about twelve passes take as long as re2
NEEDLE_CHARS = 2  # a single character is everywhere
REGION = 1 << 13  # what re2 gets to see around a needle; a call takes as long as 4 KiB of searching
NOWHERE = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many bytes are looked at. A chunk fits the processor's cache, and is longer than the other two by 3 or more."""

    chunk: int = 1 << 20
    giant: int = 1 << 16  # a line longer than this gives a hit for every occurrence
    overlap: int = 1 << 16  # shared by two windows of a line longer than a chunk


SIZES = Sizes()


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to look for, checked. Every match holds one of the `needles`, if there are any; without a regex, it is one."""

    source: str
    fixed: bool
    ignore_case: bool
    needles: tuple[bytes, ...] = field(repr=False, compare=False)
    regex: Any = field(repr=False, compare=False)
    line_regex: Any = field(repr=False, compare=False)  # the same and the rest of the line: every match is a line


@dataclass(frozen=True, slots=True)
class Hit:
    """A match; all but `line` are bytes from the start of the output. `line_end` is None if the line is longer than a chunk."""

    line: int
    line_start: int
    start: int
    end: int
    line_end: int | None


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
# What the stdlib's parser takes for something else than re2 does: most escapes, classes in classes.
_UNLIKE = re.compile(r"\\[^\WdDwWsSbBnrtfv]|\[.*(?:\[|--|&&|~~|\|\|)", re.DOTALL)
# Whether no characters match depends on the neighbours only: here an end, a word and a gap meet in every way.
_NEIGHBOURS = (b"", b" ", b"aa  a")
_BEYOND_ASCII_TEXT = CONTROLS + bytes(range(128, 256))
_CODE_AND_TEXT = re.compile(rb"\x1b[^\x1b]*|[^\x1b]+")


def compile_pattern(text: str, *, fixed: bool = False, ignore_case: bool = False) -> Pattern:
    """The pattern, or a PatternError that says what to write instead. The syntax is re2's."""
    shown = repr(text if len(text) <= 80 else text[:80] + "…")
    if not text:
        raise PatternError("An empty pattern would match everywhere; say what to look for.")
    if len(text) > PATTERN_CHARS:
        raise PatternError(
            f"A pattern has at most {PATTERN_CHARS:,} characters, not {len(text):,}; search for a part of {shown}."
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise PatternError(f"{shown} holds half a character (a lone surrogate), which is in no output; leave it out.")
    tokens = [] if fixed else list(_TOKEN.finditer(text))
    refused = ["\\n"] * ("\n" in text) + ["(?-m" if token["off"] else token["named"] for token in tokens]
    for name in refused:
        if why := _REFUSED.get(re.sub(r"\\[1-9]", r"\\1", name or "")):
            raise PatternError(f"{shown}: {why}.")
    options = re2.Options()
    options.log_errors = False
    options.never_nl = options.never_capture = True
    options.case_sensitive = not ignore_case
    source = re2.escape(text) if fixed else text
    try:
        re2.compile(source, options)  # alone first: in parentheses, a)(b would do
        regex = re2.compile(f"(?m){source}", options)
        line_regex = re2.compile(f"(?m)(?:{source})[^\\n]*", options)
    except re2.error as error:
        why = error.args[0].decode(errors="replace")
        too_large = "repetition size" in why or "too large" in why
        remedy = "repeat less" if too_large else "correct it, or ask for a fixed search"
        raise PatternError(f"{shown} cannot be searched for ({why}); {remedy}.") from error
    if any(regex.fullmatch(near, at, at) for near in _NEIGHBOURS for at in range(len(near) + 1)):
        raise PatternError(f"{shown} would match everywhere, even no characters; use + for *, or say what to look for.")
    complete: bool = False
    needles: tuple[str, ...] = ()
    if fixed and not ignore_case:
        complete, needles = True, (text,)
    elif not ignore_case and not any(_UNLIKE.search(token[0]) for token in tokens):
        complete, needles = _needles(text)
    encoded = tuple(needle.encode() for needle in needles)
    return Pattern(text, fixed, ignore_case, encoded, None if complete else regex, line_regex)


def _needles(text: str) -> tuple[bool, tuple[str, ...]]:
    """Texts of which every match holds one, and whether a match is nothing but one of them."""
    try:
        parsed = _parser.parse(text)
        complete, needles = _needles_in(parsed)
    except (re.error, RecursionError, OverflowError):
        return False, ()
    useful = parsed.state.flags == re.UNICODE and (complete or _worth(needles)[0] >= NEEDLE_CHARS)
    return (complete, needles) if useful else (False, ())


def _needles_in(nodes: Any) -> tuple[bool, tuple[str, ...]]:
    complete = True
    best: tuple[str, ...] = ("",)
    run: tuple[str, ...] = ("",)  # all that can stand since the last place that may hold anything
    for kind, value in nodes:
        known = False  # whether that is all it holds there
        here: tuple[str, ...] = ("",)  # what a match holds at this place
        if kind is _constants.LITERAL:
            known, here = True, (chr(value),)
        elif kind is _constants.IN and all(member is _constants.LITERAL for member, _ in value):
            known, here = True, tuple(chr(code) for _, code in value)
        elif kind is _constants.SUBPATTERN and not value[1]:  # no flags of its own
            known, here = _needles_in(value[3])
        elif kind is _constants.BRANCH:
            branches = [_needles_in(branch) for branch in value[1]]
            known, here = all(whole for whole, _ in branches), tuple(needle for _, some in branches for needle in some)
        elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and value[0] > 0:
            here = _needles_in(value[2])[1]
        if known and len(run) * len(here) <= NEEDLES:
            run = tuple(left + right for left in run for right in here)
        else:
            complete, best, run = False, max(best, run, here, key=_worth), ("",)
    return complete, run if complete else max(best, run, key=_worth)


def _worth(needles: tuple[str, ...]) -> tuple[int, int]:
    """The longer the rarer; then, the fewer the better."""
    return min(map(len, needles)) if len(needles) <= NEEDLES else 0, -len(needles)


def scan(
    blob: Blob,
    pattern: Pattern,
    *,
    start: int = 0,
    first_line: int = 1,
    index: LineIndex | None = None,
    sizes: Sizes = SIZES,
) -> Iterator[Hit]:
    """The hits from `start` on, which stands in line `first_line`. An index spares counting the lines between hits."""
    line, counted = first_line, start
    for piece in _pieces(blob, start, sizes):
        for line_start, begin, end, line_end in _finds(piece, pattern):
            # Lines are counted only when there is a hit to number: counting takes longer than finding nothing.
            if index and counted < (block := begin // index.block) * index.block:
                line, counted = index.before[block] + 1, block * index.block
            while counted < piece.base:
                passed = blob.read(counted, min(counted + sizes.chunk, piece.base))
                line, counted = line + count_in(passed, "\n"), counted + len(passed)
            line += count_in(piece.data, "\n", counted - piece.base, begin - piece.base)
            counted = begin
            yield Hit(line, line_start, begin, end, line_end)


def count(blob: Blob, pattern: Pattern, *, start: int = 0, sizes: Sizes = SIZES) -> int:
    """How many hits there are from `start` on."""
    return sum(_count(piece, pattern) for piece in _pieces(blob, start, sizes))


@dataclass(slots=True)
class _Piece:
    """Bytes to search in one go: whole lines, or a window of a giant one."""

    base: int  # where the data begins in the output
    data: bytes
    at: int  # the part of the data to search
    stop: int
    line_start: int  # of its first line, in the output
    limit: int | None = None  # of a window: where in the data a match may no longer begin, since it may not be whole
    line_end: int | None = None  # of a window: of its line, if that is no longer than a chunk
    reached: int = 0  # of a window: where in the output its last match ended


def _pieces(blob: Blob, start: int, sizes: Sizes) -> Iterator[_Piece]:
    pos, line_start, base, data = start, _line_start(blob, start, sizes), 0, b""
    while pos < blob.size:
        if base + len(data) < min(blob.size, pos + sizes.giant + 1):  # too little to tell whether the line is giant
            base = pos - (pos > line_start)  # the byte before tells ^ and \b that no line begins here
            data = blob.read(base, base + sizes.chunk)
            if base + len(data) <= pos:
                return  # it was cut short meanwhile
        at, end = pos - base, base + len(data)
        if (stop := _ordinary_end(data, at, line_start - base, sizes, last=end >= blob.size)) > at:
            yield _Piece(base, data, at, stop, line_start)
            pos = line_start = base + stop
        elif (stop := _line_end(data, at, len(data))) < len(data) or end >= blob.size:
            pos = base + stop + 1
            stop -= data[stop - 1 : stop + 1] == b"\r\n"
            in_sight = base + stop - line_start <= sizes.chunk
            yield _Piece(base, data, at, stop, line_start, limit=stop, line_end=base + stop if in_sight else None)
            line_start = pos
        elif at > 1:
            data = b""  # read again from here on: all of the line may be in one chunk
        else:
            window = _Piece(base, data, at, len(data), line_start, limit=len(data) - sizes.overlap)
            yield window
            pos = max(end - sizes.overlap, window.reached)


def _line_start(blob: Blob, offset: int, sizes: Sizes) -> int:
    while offset > 0:
        data = blob.read(max(0, offset - sizes.chunk), offset)
        newline: int = rfind(data, "\n")
        if newline >= 0 or not data:
            return offset - len(data) + newline + 1
        offset -= len(data)
    return 0


def _ordinary_end(data: bytes, at: int, line_start: int, sizes: Sizes, *, last: bool) -> int:
    """How far the lines are whole and none is giant."""
    while (newline := int(rfind(data, "\n", at, max(at, line_start + sizes.giant + 1)))) >= 0:
        at = line_start = newline + 1
    return len(data) if last and len(data) - line_start <= sizes.giant else at


def _count(piece: _Piece, pattern: Pattern) -> int:
    data, at, stop = piece.data, piece.at, piece.stop
    if piece.limit is not None or not _is_searchable(data, at, stop, pattern):
        return sum(1 for _ in _finds(piece, pattern))
    if pattern.regex is None:
        return sum(1 for _ in _matches(pattern, data, at, stop, by_line=True))
    # One call for many lines: asking line by line where the match ends takes twice as long.
    regions = _regions(pattern, data, at, stop)
    return sum(1 for begin, end in regions for _ in pattern.line_regex.finditer(data, begin, end))


def _finds(piece: _Piece, pattern: Pattern) -> Iterator[Find]:
    if piece.limit is not None:
        return _in_window(piece, pattern, piece.limit)
    searchable = _is_searchable(piece.data, piece.at, piece.stop, pattern)
    return _in_lines(piece, pattern) if searchable else _in_unclean_lines(piece, pattern)


def _is_searchable(data: bytes, at: int, stop: int, pattern: Pattern) -> bool:
    """Whether the bytes can be searched as they are. A regex wants UTF-8 that is not broken, or its dots stop there."""
    if find_first_of(data, _BEYOND_ASCII_TEXT) < 0:
        return True
    return is_plain(data) and (pattern.regex is None or "\ufffd" not in data[at:stop].decode(errors="replace"))


def _in_lines(piece: _Piece, pattern: Pattern) -> Iterator[Find]:
    data, base, line_start, since = piece.data, piece.base, piece.line_start, piece.at
    for begin, end, line_end in _matches(pattern, data, piece.at, piece.stop, by_line=True):
        if (newline := rfind(data, "\n", since, begin)) >= 0:
            line_start = base + newline + 1
        yield line_start, base + begin, base + end, base + line_end
        since = line_end


def _in_unclean_lines(piece: _Piece, pattern: Pattern) -> Iterator[Find]:
    """Lines that match as they were shown or as they are. Cleaning keeps every newline, so the nth line is the nth."""
    before, data = piece.data[max(0, piece.at - 1) : piece.at], piece.data[piece.at : piece.stop]
    raw = data.replace(b"\r\n", b"\n")
    found: dict[int, tuple[int, bytes]] = {}  # by line: the column and the bytes of the match
    plain = _is_searchable(raw, 0, len(raw), pattern)  # but for CRLF
    for view in (raw,) if plain else (clean(raw).encode(), raw):
        text, nth, since = before + view, 0, len(before)
        for begin, end, _ in _matches(pattern, text, since, len(text), by_line=True):
            nth, since = nth + text.count(b"\n", since, begin), begin
            column = begin - max(text.rfind(b"\n", 0, begin) + 1, len(before))
            found.setdefault(nth, (column, text[begin:end]))
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


def _in_window(piece: _Piece, pattern: Pattern, limit: int) -> Iterator[Find]:
    """Every occurrence in a window of a giant line."""
    at = min(piece.at, 1)  # a byte of context
    base = piece.base + piece.at - at
    text = piece.data[piece.at - at : piece.stop]
    spans: Iterator[tuple[int, int]] = (match[:2] for match in _matches(pattern, text, at, len(text), by_line=False))
    if not is_plain(text):
        spans = iter(sorted({*spans, *_between_codes(pattern, text, at)}))
    for begin, end in spans:
        if base + begin >= piece.base + limit:
            return
        if base + begin >= piece.reached:
            piece.reached = base + end
            yield piece.line_start, base + begin, base + end, piece.line_end


def _between_codes(pattern: Pattern, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Matches in what is left without escape codes, led back to where they stand among them."""
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


def _matches(pattern: Pattern, text: bytes, pos: int, stop: int, *, by_line: bool) -> Iterator[Match]:
    """Every match; by line, only the first of each, since the search goes on behind the line's end."""
    if pattern.regex is None:
        next_needle = _needle_finder(pattern, text, stop)
        while (begin := next_needle(pos)) < stop:
            for needle in pattern.needles:  # of two at one place the first written, as in a regex
                if text.startswith(needle, begin):
                    break
            end = begin + len(needle)
            pos = _line_end(text, end, stop) if by_line else end
            yield begin, end, pos
        return
    for begin, region_end in _regions(pattern, text, pos, stop):
        pos = begin
        while match := pattern.regex.search(text, pos, region_end):
            pos = _line_end(text, match.end(), region_end) if by_line else match.end()
            yield *match.span(), pos


def _regions(pattern: Pattern, text: bytes, pos: int, stop: int) -> Iterator[tuple[int, int]]:
    """The lines where a match may be. Where needles stand close together, that is one region of all the lines."""
    if not pattern.needles:
        yield pos, stop
        return
    next_needle = _needle_finder(pattern, text, stop)
    while (at := next_needle(pos)) < stop:
        begin = max(pos, rfind(text, "\n", pos, at) + 1)
        pos = _line_end(text, at + REGION, stop)
        yield begin, pos


def _needle_finder(pattern: Pattern, text: bytes, stop: int) -> Callable[[int], int]:
    """Gives the place of the next needle from a place on."""
    needles = tuple(enumerate(pattern.needles))
    ahead = [-1] * len(needles)

    def next_needle(pos: int) -> int:
        for nth, needle in needles:
            if ahead[nth] < pos:
                at = find(text, needle, pos, stop)
                ahead[nth] = at if at >= 0 else NOWHERE
        return min(ahead)

    return next_needle


def _line_end(text: bytes, at: int, stop: int) -> int:
    newline: int = find(text, "\n", at, stop)
    return newline if newline >= 0 else stop
