"""Going back by pattern: the lines that match, with their numbers, how many there are in all, and how to go on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

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
from spillover.retrieve.search import MAX_HITS, SIZES, Count, Hit, Pattern, compile_pattern, count, occurrences, scan
from spillover.settings.settings import Call
from spillover.store.record import Record

#: Bytes of a line that is shown whole; of a longer one, so many to either side of the match.
LONG_LINE = 2_000
AROUND = 200
#: Bytes of lines around a match that are read at once.
NEAR_BYTES = 1 << 18
#: Lines around a match, at most.
MAX_CONTEXT = 1_000
#: An answer that is so many times larger than the limits is not measured to its end.
FAR = 8
#: Characters of the pattern that are repeated where nothing matches.
QUOTED_CHARS = 80
#: Where a search begins: LINE or LINE:COLUMN.
_START = re.compile(r"([\d_,]+)(?::([\d_,]+))?", re.ASCII)


class Options(Struct, frozen=True, kw_only=True):
    """What is shown of the matches, as the options of grep say it."""

    before: int = 0  # lines before each match
    after: int = 0
    invert: bool = False  # the lines that do not match
    only: bool = False  # the matches alone, without the rest of their lines
    most: int | None = None  # no more matches than this
    count: bool = False  # how many there are, and nothing else

    def __post_init__(self) -> None:
        for name, value in (("before", self.before), ("after", self.after)):
            if not 0 <= value <= MAX_CONTEXT:
                raise UsageError(f"{name}={value} is not between 0 and {MAX_CONTEXT:,} lines.")
        if self.most is not None and self.most < 1:
            raise UsageError("-m 0 would show nothing; use 1 or more, or -c to count.")
        if self.invert and self.only:
            raise UsageError("-v shows lines without a match, so -o has nothing to show; use one of them.")

    @property
    def words(self) -> str:
        """The options that a search goes on with."""
        around = f" -B {self.before}" * bool(self.before) + f" -A {self.after}" * bool(self.after)
        around = f" -C {self.before}" * bool(self.before) if self.before == self.after else around
        return around + " -v" * self.invert + " -o" * self.only + (f" -m {self.most}" if self.most else "")


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
    """Search a stored output; `options` stands instead of `context`."""
    if not 0 <= context <= MAX_CONTEXT:
        raise UsageError(f"context={context} is not between 0 and {MAX_CONTEXT:,} lines.")
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
        """Return the hits from `start` on ("LINE" or "LINE:COLUMN"), as many as fit."""
        offset, line = self._read_start(start)
        if self.options.count:
            return self._answer_count(self._count(offset, line))
        hits: list[Hit] = []
        others: list[Count] = []  # of hits that are not among these
        for hit in self._scan(offset, line):
            if len(hits) == self._max_hits:
                others.append(self._count(hit.start if _is_giant(hit) else hit.line_start, hit.line))
                break
            hits.append(hit)
        if offset:
            every, behind = self._count(0, 1), self._count(offset, line)
            others.append(Count(every.hits - behind.hits, exact=every.exact))
        total = Count(len(hits) + sum(each.hits for each in others), exact=all(each.exact for each in others))
        shown = largest(len(hits), lambda number: self._measure(hits[:number], hits, total))
        if shown == 0 and hits:
            return self._clip(self._text_of_one(hits, total), hits[:1], whole=total == Count(1))
        rows = [row for rows in self._rows(hits[:shown]) for row in rows]
        text = self._text(rows, hits[:shown], hits, total)
        return self._clip(text, hits[:shown], whole=total == Count(shown))

    def _scan(self, offset: int, line: int) -> Iterator[Hit]:
        """Yield the hits from a place on: matches, or with `invert` the lines without one."""
        found = scan(self.document.blob, self.pattern, start=offset, first_line=line, index=self.record.index)
        return self._invert(found, line) if self.options.invert else found

    def _invert(self, found: Iterator[Hit], line: int) -> Iterator[Hit]:
        for hit in found:
            yield from self._other_lines(line, hit.line)
            line = max(line, hit.line + 1)
        yield from self._other_lines(line, self.document.lines + 1)

    def _other_lines(self, first: int, upto: int) -> Iterator[Hit]:
        for number in range(first, upto):
            start, end = self._line_start(number), self._line_start(number + 1)
            end -= end > start and self.document.blob.read(end - 1, end) == b"\n"
            yield Hit(number, start, start, end, end)

    def _count(self, offset: int, line: int) -> Count:
        """Count the hits from a place on."""
        if not self.options.invert:
            return count(self.document.blob, self.pattern, start=offset)
        matching, last = 0, 0
        for hit in scan(self.document.blob, self.pattern, start=offset, first_line=line, index=self.record.index):
            matching, last = matching + (hit.line != last), hit.line
        return Count(max(0, self.document.lines - line + 1) - matching)

    def _answer_count(self, total: Count) -> Clip:
        """Return the answer to `-c`: the number alone, as grep prints it, and notes below it."""
        if self.options.most is not None and total.hits >= self.options.most:
            total = Count(self.options.most)
        text = f"{total.hits}\n"
        if not total.exact:
            text += f"[At least {total.hits:,}: matches in very long lines are not all counted.]\n"
        if self.record.partial:
            text += f"[{stored_part(self.record).strip()}]\n"
        ranges = ((1, self.document.lines),) if total.hits and self.document.lines else ()
        return answer(text, self.call, self.record, self.document, ranges=ranges, size=len(text), whole=True)

    def _measure(self, shown: list[Hit], hits: list[Hit], total: Count) -> float:
        """Return how full the limits are with these hits; far above the limits, estimated from the first of the hits."""
        rows: list[str] = []
        size = 0
        for few, more in enumerate(self._rows(shown), 1):
            rows += more
            size += sum(map(len, more))
            if size > FAR * self.call.limits.window and few < len(shown):
                return max(2.0, fill(self._text(rows, shown[:few], hits, total), self.call) * len(shown) / few)
        return fill(self._text(rows, shown, hits, total), self.call)

    def _text_of_one(self, hits: list[Hit], total: Count) -> str:
        """Return one hit with less of its line and nothing around it, so that a search goes on where no whole hit fits."""

        def text(around: int, ways: Sequence[Hint]) -> str:
            rest = f" {self._next_call(hits[1], ways)}" if len(hits) > 1 else ""
            row = number_rows(f"{hits[0].line}: ", self._hit_text(hits[0], around))
            return f"{row}\n[{_summarize(1, total)}{rest}{stored_part(self.record)}]"

        ways = self.call.settings.hints
        if fill(text(0, ways), self.call) > 1:  # the pattern may be too long to be repeated
            ways = ()
        return text(largest(AROUND, lambda around: fill(text(around, ways), self.call)), ways)

    @property
    def _max_hits(self) -> int:
        """How many hits can fit at most: each takes a line of some bytes."""
        limits = self.call.limits
        return min(MAX_HITS, limits.lines or MAX_HITS, limits.window // 4, self.options.most or MAX_HITS)

    def _read_start(self, start: str | int) -> tuple[int, int]:
        """Return the offset and the line of a place that is written as LINE or LINE:COLUMN."""
        found = _START.fullmatch(str(start).strip())
        if not found:
            raise UsageError(f"{start!r} is not a place to search from; write a line number, or LINE:COLUMN.")
        line = parse_range(found[1], max(1, self.document.lines))[0]
        column = parse_range(found[2], 1 << 62, "columns")[0] if found[2] else 1
        return min(self.document.start(line) + column - 1, self.document.size), line

    def _text(self, rows: list[str], shown: list[Hit], hits: list[Hit], total: Count) -> str:
        body = "".join(f"{row}\n" for row in rows)
        if not total.hits:
            where = lines_of(self.document.lines)
            sought = one_line(self.pattern.source, QUOTED_CHARS)
            none = f"Every line matches {sought}" if self.options.invert else f"No match for {sought}"
            return f"[{none} in {where} of {self.record.ref}.{stored_part(self.record)}]"
        rest = ""
        if len(shown) < len(hits):
            rest = " " + self._next_call(hits[len(shown)], self.call.settings.hints)
        elif hits and len(hits) == self._max_hits and total.hits > len(hits):
            rest = " " + self._next_call(hits[-1], self.call.settings.hints, behind=True)
        return f"{body}[{_summarize(len(shown), total)}{rest}{stored_part(self.record)}]"

    def _next_call(self, hit: Hit, ways: Sequence[Hint], *, behind: bool = False) -> str:
        if _is_giant(hit) or (_is_long(hit) and not behind):
            column = (hit.end if behind else hit.start) - hit.line_start + 1
            place = f"{hit.line}:{column}" if column > 1 else f"{hit.line}"
        else:
            place = f"{hit.line + behind}"
        return search_call(
            ways,
            self.record.ref,
            self.pattern.source,
            place,
            context=self.options.before if self.options.before == self.options.after else 0,
            extra=self.options.words,
            ignore_case=self.pattern.ignore_case,
            fixed=self.pattern.fixed,
        )

    def _rows(self, hits: list[Hit]) -> Iterator[list[str]]:
        """Yield numbered lines for each hit, `N: ` for a match and `N- ` for a line around one; `--` where lines are left out."""
        before, after = self.options.before, self.options.after
        last, following = 0, sorted({hit.line for hit in hits})
        for place, hit in enumerate(hits):
            if self.options.only:
                yield [number_rows(f"{hit.line}: ", text) for text in self._occurrences(hit)]
                continue
            rows: list[str] = []
            first = max(last + 1, hit.line - before)
            if place and (before or after) and first > last + 1:
                rows.append("--")
            if before:
                rows += [number_rows(f"{number}- ", line) for number, line in self._lines_around(first, hit.line - 1)]
            if hit.line > last or _is_long(hit):
                rows.append(number_rows(f"{hit.line}: ", self._hit_text(hit)))
            last = max(last, hit.line)
            if after:
                upto = hit.line + after
                behind = bisect_right(following, hit.line)
                if behind < len(following):  # the next line that matches speaks for itself
                    upto = min(upto, following[behind] - 1)
                rows += [number_rows(f"{number}- ", line) for number, line in self._lines_around(last + 1, upto)]
                last = max(last, min(upto, self.document.lines))
            yield rows

    def _occurrences(self, hit: Hit) -> list[str]:
        """Return every match in the line of a hit; in a giant line, which has a hit for each match, this one."""
        blob = self.document.blob
        if _is_giant(hit) or hit.line_end is None:
            return [clean(blob.read(hit.start, min(hit.end, hit.start + LONG_LINE)))]
        found = occurrences(self.pattern, blob.read(hit.line_start, hit.line_end))
        return found or [clean(blob.read(hit.start, hit.end))]

    def _lines_around(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the lines around a match: numbered, cleaned, and cut at LONG_LINE."""
        first, last = max(1, first), min(last, self.document.lines)
        if last < first:
            return []
        start, end = self._line_start(first), self._line_start(last + 1)
        if end - start <= NEAR_BYTES:
            lines = self.document.blob.read(start, end).removesuffix(b"\n").split(b"\n")
        else:  # giants among them
            starts = [self._line_start(number) for number in range(first, last + 1)]
            lines = [self.document.blob.read(at, at + LONG_LINE + 1).split(b"\n", 1)[0] for at in starts]
        shown = (clean(line[:LONG_LINE]) + "…" * (len(line) > LONG_LINE) for line in lines)
        return list(enumerate(shown, first))

    def _line_start(self, line: int) -> int:
        """Return the start of a line; the same ones are asked for again and again."""
        if line not in self._starts:
            self._starts[line] = self.document.start(line)
        return self._starts[line]

    def _hit_text(self, hit: Hit, around: int | None = None) -> str:
        """Return the line of a hit; of a long one, or with `around`, only the text around the match."""
        blob = self.document.blob
        if around is None and not _is_long(hit):
            assert hit.line_end is not None
            text = clean(blob.read(hit.line_start, hit.line_end)).rstrip("\n")
            if _is_seen(blob.read(hit.start, hit.end), text):
                return text
        match, around = (LONG_LINE, AROUND) if around is None else (around, around)
        start = max(hit.line_start, hit.start - around)
        end = min(hit.end, hit.start + match) + around
        data = blob.read(start, end if hit.line_end is None else min(end, hit.line_end))
        data = data.split(b"\n", 1)[0] if b"\n" not in data[: hit.start - start] else data
        start, data = _cut_row(start, data, hit)
        before = "…" if start > hit.line_start else ""
        text = clean(data)
        if not _is_seen(blob.read(hit.start, min(hit.end, start + len(data))), text):
            text = show_controls(data)
        text = text.strip("\ufffd")  # half a character at an edge is nobody's business
        columns = f"columns {hit.start - hit.line_start + 1:,}-{hit.end - hit.line_start:,}"
        return f"{before}{text}… ({columns})"

    def _clip(self, text: str, hits: list[Hit], *, whole: bool) -> Clip:
        ranges = tuple((line, line) for line in sorted({hit.line for hit in hits}))
        size = len(text.encode())
        return answer(text, self.call, self.record, self.document, ranges=ranges, size=size, whole=whole)


def _cut_row(start: int, data: bytes, hit: Hit) -> tuple[int, bytes]:
    """Return the row that a match is in. In a line that was overwritten, the match may be in a frame."""
    begin, end = hit.start - start, min(len(data), hit.end - start)
    first = data.rfind(b"\r", 0, begin) + 1
    last = data.find(b"\r", end)
    return start + first, data[first : last if last >= 0 else len(data)]


def _is_seen(match: bytes, text: str) -> bool:
    """Return whether a match is visible: it may be in a frame, erased by backspaces, or inside an escape code."""
    return match.decode("utf-8", "replace") in text or clean(match) in text


def _is_long(hit: Hit) -> bool:
    return hit.line_end is None or hit.line_end - hit.line_start > LONG_LINE


def _is_giant(hit: Hit) -> bool:
    """Return whether a hit is one of several that its line may have."""
    return hit.line_end is None or hit.line_end - hit.line_start > SIZES.giant


def _summarize(shown: int, total: Count) -> str:
    if not total.exact:
        return f"{shown:,} of at least {total.hits:,} matches shown."
    return f"{shown:,} of {total.hits:,} matches shown." if total.hits != 1 else f"{shown} of 1 match shown."
