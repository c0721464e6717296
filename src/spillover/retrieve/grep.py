"""Search a stored output: the matching lines with their numbers, their count, and the call that goes on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct, field

from spillover.document.clean import clean, show_controls
from spillover.document.document import Document
from spillover.errors import UsageError
from spillover.kinds.selection import largest
from spillover.notice.hints import Hint, search_call
from spillover.notice.wording import lines_of, one_line, stored_part
from spillover.result import Clip
from spillover.retrieve.names import parse_range, resolve
from spillover.retrieve.read import answer, answer_from, fill, number_rows
from spillover.retrieve.scan import (
    MAX_HITS,
    QUOTED_CHARS,
    SIZES,
    Count,
    Hit,
    Pattern,
    compile_pattern,
    count,
    find_matches,
    scan,
)
from spillover.settings.settings import Call
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
        matches = find_matches(self.pattern, line, 0, len(line), by_line=False)
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
