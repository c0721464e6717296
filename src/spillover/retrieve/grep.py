"""Search a stored output: the matching lines with their numbers, their count, and the call that goes on.

A hit is the first match in a line; in a giant line, where a line number is of little use, every match is one. Both
the text that the reader saw, without escape codes and overwritten frames, and the raw bytes are searched. No match
crosses a line end; in a line longer than a chunk, a match longer than the overlap may be cut short or missed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TypeAlias

from msgspec import Struct, field
from stringzilla import count as count_in
from stringzilla import find, find_first_of, rfind

from spillover.document.clean import CONTROLS, clean, is_plain, show_controls
from spillover.document.document import Document
from spillover.errors import PatternError, UsageError
from spillover.kinds.selection import largest
from spillover.notice.hints import Hint, search_call
from spillover.notice.wording import lines_of, one_line, stored_part
from spillover.patterns import LinePattern, PatternSyntaxError
from spillover.result import Clip
from spillover.retrieve.names import parse_range, resolve
from spillover.retrieve.read import answer, answer_from, fill, number_rows
from spillover.settings.settings import Call
from spillover.source.blob import Blob, LineIndex
from spillover.store.record import Record

#: Bytes of a line that is shown whole; with more, fewer hits fit.
LONG_LINE_BYTES = 2_000
#: Bytes of a longer line on either side of the match; with more, fewer hits fit.
CONTEXT_BYTES = 200
#: Context lines in more bytes are read one by one; with a higher number, they take more memory.
MAX_CONTEXT_BYTES = 1 << 18
#: Context lines on either side of a match; more take longer.
MAX_CONTEXT_LINES = 1_000
#: Rows this many times larger than the limits are not measured to their end; with more, searches take longer.
MAX_OVERSIZE = 8
#: Characters of the pattern in a message; more make it longer.
QUOTED_CHARS = 80
#: Characters of a pattern; longer ones take longer to compile.
MAX_PATTERN_CHARS = 4_000
#: Matches in giant lines that are counted; more take longer. Beyond them, a count is "at least".
MAX_OCCURRENCES = 50_000
#: Hits in one answer; with more, a search within large limits takes longer.
MAX_HITS = 5_000
#: The start of a search: LINE or LINE:COLUMN.
_START = re.compile(r"([\d_,]+)(?::([\d_,]+))?", re.ASCII)


class Options(Struct, frozen=True, kw_only=True):
    """The options of grep about the matches to show."""

    before: int = 0  # context lines before each match
    after: int = 0  # context lines after each match
    invert: bool = False  # show the lines that do not match
    only: bool = False  # show the matches without the rest of their lines
    max_count: int | None = None  # matches shown, at most
    count: bool = False  # show the number of matches only

    def __post_init__(self) -> None:
        for lines in (self.before, self.after):
            if not 0 <= lines <= MAX_CONTEXT_LINES:
                raise UsageError(f"context={lines} is not between 0 and {MAX_CONTEXT_LINES:,} lines.")
        if self.max_count is not None and self.max_count < 1:
            raise UsageError("-m 0 would show nothing; use 1 or more, or -c to count.")
        if self.invert and self.only:
            raise UsageError("-v shows lines without a match, so -o has nothing to show; use one of them.")

    @property
    def words(self) -> str:
        """The options as words of a command line."""
        context = {"-C": self.before} if self.before == self.after else {"-B": self.before, "-A": self.after}
        numbers = "".join(f" {name} {number}" for name, number in {**context, "-m": self.max_count}.items() if number)
        return " -v" * self.invert + " -o" * self.only + numbers


def grep(
    call: Call,
    ref: str,
    pattern: str,
    *,
    context: int = 0,
    ignore_case: bool = False,
    fixed: bool = False,
    start: str | int = 1,
    options: Options | None = None,
) -> Clip:
    """Search a stored output, with `context` lines around each match or with `options`."""
    options = Options(before=context, after=context) if options is None else options
    compiled = compile_pattern(pattern, fixed=fixed, ignore_case=ignore_case)

    def make(call: Call, record: Record, document: Document) -> Clip:
        return Search(document, record, call, compiled, options).answer(start)

    return answer_from(call, resolve(ref, call.settings.outputs, part="value"), "grep", make)


class Search(Struct, frozen=True):
    """One search in one stored output."""

    document: Document
    record: Record
    call: Call
    pattern: Pattern
    options: Options = Options()
    _starts: dict[int, int] = field(default_factory=dict)

    def answer(self, start: str | int) -> Clip:
        """Return as many hits from `start` on ("LINE" or "LINE:COLUMN") as fit."""
        offset, line = self._read_start(start)
        if self.options.count:
            return self._answer_count(self._count(offset, line))
        hits: list[Hit] = []
        rest = [Count(0)]  # of the other hits
        for hit in self._scan(offset, line):
            if len(hits) == self._max_hits:
                rest.append(self._count(hit.start if _is_giant(hit) else hit.line_start, hit.line))
                break
            hits.append(hit)
        if offset:
            whole = self._count(0, 1)
            from_start = self._count(offset, line)
            rest.append(Count(whole.hits - from_start.hits, exact=whole.exact))
        total = Count(len(hits) + sum(part.hits for part in rest), exact=all(part.exact for part in rest))
        count = largest(len(hits), lambda count: self._measure(count, hits, total))
        if count == 0 and hits:
            return self._clip(self._text_of_one(hits, total), hits[:1], whole=total == Count(1))
        rows = [row for rows in self._rows(hits[:count]) for row in rows]
        return self._clip(self._text(rows, count, hits, total), hits[:count], whole=total == Count(count))

    def _scan(self, offset: int, line: int) -> Iterator[Hit]:
        """Yield the matches from an offset on, or with `invert` the lines without one."""
        hits = scan(self.document.blob, self.pattern, start=offset, first_line=line, index=self.record.index)
        return self._invert(hits, line) if self.options.invert else hits

    def _invert(self, hits: Iterator[Hit], line: int) -> Iterator[Hit]:
        for hit in hits:
            yield from self._whole_lines(line, hit.line)
            line = max(line, hit.line + 1)
        yield from self._whole_lines(line, self.document.lines + 1)

    def _whole_lines(self, first: int, upto: int) -> Iterator[Hit]:
        """Yield lines as hits."""
        for number in range(first, upto):
            start = self._line_start(number)
            end = self._line_start(number + 1)
            end -= end > start and self.document.blob.read(end - 1, end) == b"\n"
            yield Hit(number, start, start, end, end)

    def _count(self, offset: int, line: int) -> Count:
        """Count the hits from an offset on."""
        if not self.options.invert:
            return count(self.document.blob, self.pattern, start=offset)
        hits = scan(self.document.blob, self.pattern, start=offset, first_line=line, index=self.record.index)
        matching_lines = sum(1 for _ in groupby(hit.line for hit in hits))
        return Count(max(0, self.document.lines - line + 1) - matching_lines)

    def _answer_count(self, total: Count) -> Clip:
        """Return the answer to `-c`: the number on a line, as grep prints it, and notes below it."""
        max_count = self.options.max_count
        if max_count is not None and total.hits >= max_count:
            total = Count(max_count)
        text = f"{total.hits}\n"
        if not total.exact:
            text += f"[At least {total.hits:,}: matches in very long lines are not all counted.]\n"
        if self.record.partial:
            text += f"[{stored_part(self.record).strip()}]\n"
        ranges = ((1, self.document.lines),) if total.hits and self.document.lines else ()
        return answer(text, self.call, self.record, self.document, ranges=ranges, size=len(text), whole=True)

    def _measure(self, count: int, hits: list[Hit], total: Count) -> float:
        """Return the share of the limits that the first hits fill, estimated if it is far above 1."""
        rows: list[str] = []
        size = 0
        for number, hit_rows in enumerate(self._rows(hits[:count]), 1):
            rows += hit_rows
            size += sum(map(len, hit_rows))
            if size > MAX_OVERSIZE * self.call.limits.window and number < count:
                return max(2.0, fill(self._text(rows, number, hits, total), self.call) * count / number)
        return fill(self._text(rows, count, hits, total), self.call)

    def _text_of_one(self, hits: list[Hit], total: Count) -> str:
        """Return an answer with one hit, cut to fit: a search goes on even if no whole hit fits."""

        def text(context_bytes: int, hints: Sequence[Hint]) -> str:
            rest = f" {self._next_call(hits[1], hints)}" if len(hits) > 1 else ""
            row = number_rows(f"{hits[0].line}: ", self._hit_text(hits[0], context_bytes))
            return f"{row}\n[{_summarize(1, total)}{rest}{stored_part(self.record)}]"

        hints = self.call.settings.hints
        if fill(text(0, hints), self.call) > 1:  # the pattern may be too long to be repeated
            hints = ()
        return text(largest(CONTEXT_BYTES, lambda size: fill(text(size, hints), self.call)), hints)

    @property
    def _max_hits(self) -> int:
        """The most hits that can fit: each takes a line of at least four bytes."""
        limits = self.call.limits
        return min(MAX_HITS, limits.lines or MAX_HITS, limits.window // 4, self.options.max_count or MAX_HITS)

    def _read_start(self, start: str | int) -> tuple[int, int]:
        """Return the offset and the line of LINE or LINE:COLUMN."""
        match = _START.fullmatch(str(start).strip())
        if not match:
            raise UsageError(f"{start!r} is not a place to search from; write a line number, or LINE:COLUMN.")
        line = parse_range(match[1], max(1, self.document.lines))[0]
        column = parse_range(match[2], 1 << 62, "columns")[0] if match[2] else 1
        return min(self.document.start(line) + column - 1, self.document.size), line

    def _text(self, rows: list[str], count: int, hits: list[Hit], total: Count) -> str:
        """Return an answer with the rows of the first hits, and the call that goes on."""
        if not total.hits:
            pattern = one_line(self.pattern.source, QUOTED_CHARS)
            result = f"Every line matches {pattern}" if self.options.invert else f"No match for {pattern}"
            return f"[{result} in {lines_of(self.document.lines)} of {self.record.ref}.{stored_part(self.record)}]"
        rest = ""
        if count < len(hits):
            rest = " " + self._next_call(hits[count], self.call.settings.hints)
        elif hits and len(hits) == self._max_hits and total.hits > len(hits):
            rest = " " + self._next_call(hits[-1], self.call.settings.hints, behind=True)
        body = "".join(f"{row}\n" for row in rows)
        return f"{body}[{_summarize(count, total)}{rest}{stored_part(self.record)}]"

    def _next_call(self, hit: Hit, hints: Sequence[Hint], *, behind: bool = False) -> str:
        place = f"{hit.line + behind}"
        if _is_giant(hit) or (_is_long(hit) and not behind):
            column = (hit.end if behind else hit.start) - hit.line_start + 1
            place = f"{hit.line}:{column}" if column > 1 else f"{hit.line}"
        return search_call(
            hints,
            self.record.ref,
            self.pattern.source,
            place,
            context=self.options.before if self.options.before == self.options.after else 0,
            extra=self.options.words,
            ignore_case=self.pattern.ignore_case,
            fixed=self.pattern.fixed,
        )

    def _rows(self, hits: list[Hit]) -> Iterator[list[str]]:
        """Yield the rows of each hit: `N: ` for a match, `N- ` for a context line, `--` for a gap."""
        before = self.options.before
        after = self.options.after
        matching = sorted({hit.line for hit in hits})
        last = 0
        for nth, hit in enumerate(hits):
            if self.options.only:
                yield [number_rows(f"{hit.line}: ", text) for text in self._occurrences(hit)]
                continue
            rows: list[str] = []
            first = max(last + 1, hit.line - before)
            if nth and (before or after) and first > last + 1:
                rows.append("--")
            if before:
                rows += self._context_rows(first, hit.line - 1)
            if hit.line > last or _is_long(hit):
                rows.append(number_rows(f"{hit.line}: ", self._hit_text(hit)))
            last = max(last, hit.line)
            if after:
                end = hit.line + after
                behind = bisect_right(matching, hit.line)
                if behind < len(matching):  # the next line that matches has rows of its own
                    end = min(end, matching[behind] - 1)
                rows += self._context_rows(last + 1, end)
                last = max(last, min(end, self.document.lines))
            yield rows

    def _occurrences(self, hit: Hit) -> list[str]:
        """Return every match in the line of a hit; in a giant line, which has a hit for each match, this one."""
        blob = self.document.blob
        if _is_giant(hit) or hit.line_end is None:
            return [clean(blob.read(hit.start, min(hit.end, hit.start + LONG_LINE_BYTES)))]
        line = clean(blob.read(hit.line_start, hit.line_end)).encode()
        matches = _matches(self.pattern, line, 0, len(line), by_line=False)
        texts = [line[start:end].decode(errors="replace") for start, end in matches]
        return texts or [clean(blob.read(hit.start, hit.end))]

    def _context_rows(self, first: int, last: int) -> list[str]:
        """Return rows for context lines, cleaned and cut at LONG_LINE_BYTES."""
        first = max(1, first)
        last = min(last, self.document.lines)
        if last < first:
            return []
        start = self._line_start(first)
        end = self._line_start(last + 1)
        if end - start <= MAX_CONTEXT_BYTES:
            lines = self.document.blob.read(start, end).removesuffix(b"\n").split(b"\n")
        else:  # some lines are giant
            starts = [self._line_start(number) for number in range(first, last + 1)]
            lines = [self.document.blob.read(at, at + LONG_LINE_BYTES + 1).split(b"\n", 1)[0] for at in starts]
        texts = (clean(line[:LONG_LINE_BYTES]) + "…" * (len(line) > LONG_LINE_BYTES) for line in lines)
        return [number_rows(f"{number}- ", text) for number, text in enumerate(texts, first)]

    def _line_start(self, line: int) -> int:
        """Return the start of a line, from a cache: the starts around a hit are needed several times."""
        if line not in self._starts:
            self._starts[line] = self.document.start(line)
        return self._starts[line]

    def _hit_text(self, hit: Hit, context_bytes: int | None = None) -> str:
        """Return the line of a hit; if it is long, or with `context_bytes`, only the text around the match."""
        blob = self.document.blob
        if context_bytes is None and not _is_long(hit):
            assert hit.line_end is not None
            text = clean(blob.read(hit.line_start, hit.line_end)).rstrip("\n")
            if _is_visible(blob.read(hit.start, hit.end), text):
                return text
        match_bytes = context_bytes
        if match_bytes is None or context_bytes is None:
            match_bytes = LONG_LINE_BYTES
            context_bytes = CONTEXT_BYTES
        start = max(hit.line_start, hit.start - context_bytes)
        end = min(hit.end, hit.start + match_bytes) + context_bytes
        data = blob.read(start, end if hit.line_end is None else min(end, hit.line_end))
        data = data.split(b"\n", 1)[0] if b"\n" not in data[: hit.start - start] else data
        start, data = _cut_row(start, data, hit)
        before = "…" if start > hit.line_start else ""
        text = clean(data)
        if not _is_visible(blob.read(hit.start, min(hit.end, start + len(data))), text):
            text = show_controls(data)
        text = text.strip("\ufffd")  # half a character at an edge
        columns = f"columns {hit.start - hit.line_start + 1:,}-{hit.end - hit.line_start:,}"
        return f"{before}{text}… ({columns})"

    def _clip(self, text: str, hits: list[Hit], *, whole: bool) -> Clip:
        ranges = tuple((line, line) for line in sorted({hit.line for hit in hits}))
        size = len(text.encode())
        return answer(text, self.call, self.record, self.document, ranges=ranges, size=size, whole=whole)


def _cut_row(start: int, data: bytes, hit: Hit) -> tuple[int, bytes]:
    """Return the offset and the bytes of the row of a match; an overwritten line has a row for each frame."""
    begin = hit.start - start
    end = min(len(data), hit.end - start)
    first = data.rfind(b"\r", 0, begin) + 1
    last = data.find(b"\r", end)
    return start + first, data[first : last if last >= 0 else len(data)]


def _is_visible(match: bytes, text: str) -> bool:
    """Return whether a text shows a match, which may be in a frame, erased by backspaces, or in an escape code."""
    return match.decode("utf-8", "replace") in text or clean(match) in text


def _is_long(hit: Hit) -> bool:
    return hit.line_end is None or hit.line_end - hit.line_start > LONG_LINE_BYTES


def _is_giant(hit: Hit) -> bool:
    """Return whether the line of a hit is giant, so that every match in it is a hit."""
    return hit.line_end is None or hit.line_end - hit.line_start > SIZES.giant


def _summarize(count: int, total: Count) -> str:
    if not total.exact:
        return f"{count:,} of at least {total.hits:,} matches shown."
    return f"{count:,} of {total.hits:,} match{'es' * (total.hits != 1)} shown."


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
    for begin, end in _matches(pattern, data, piece.at, piece.stop, by_line=True):
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
        for begin, end in _matches(pattern, text, since, len(text), by_line=True):
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
    spans = _matches(pattern, text, at, len(text), by_line=False)
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

    for begin, end in _matches(pattern, bytes(view), at, len(view), by_line=False):
        yield place(begin), place(end - 1) + 1


def _matches(pattern: Pattern, text: bytes, start: int, stop: int, *, by_line: bool) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of every match, or with `by_line` of the first in each line."""
    while span := pattern.search(text, start, stop):
        yield span
        start = _line_end(text, span[1], stop) if by_line else span[1]


def _line_end(text: bytes, at: int, stop: int) -> int:
    newline: int = find(text, "\n", at, stop)
    return newline if newline >= 0 else stop
