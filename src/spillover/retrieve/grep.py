"""Going back by pattern: the lines that match, with their numbers, how many there are in all, and how to go on."""

from __future__ import annotations

import re

from spillover.data import dataclass
from spillover.errors import UsageError
from spillover.notice import lines_of, one_line, search_call
from spillover.result import Clip
from spillover.retrieve.answer import answer, fill
from spillover.retrieve.pattern import Pattern
from spillover.retrieve.ranges import parse
from spillover.retrieve.search import SIZES, Hit, count, scan
from spillover.select.ends import most
from spillover.store.base import Record
from spillover.view.clean import clean
from spillover.view.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.notice import Hint

#: Of a line longer than this, only the neighbourhood of the match is shown, so much to either side.
LONG = 2_000
AROUND = 200
#: Lines around a match are read at once up to this many bytes.
NEAR = 1 << 18
#: No answer shows more hits, or more lines around each.
HITS = 5_000
CONTEXT = 1_000
#: Where nothing matches, so much of the pattern is said again.
PATTERN_CHARS = 80

_START = re.compile(r"([\d_,]+)(?::([\d_,]+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Search:
    """One search in one stored output."""

    document: Document
    record: Record
    choices: Choices
    pattern: Pattern
    context: int

    def answer(self, start: str | int) -> Clip:
        """The hits from `start` on ("LINE" or "LINE:COLUMN"), as many as fit."""
        offset, line = self._place(start)
        hits: list[Hit] = []
        later = 0
        for hit in scan(self.document.blob, self.pattern, start=offset, first_line=line, index=self.record.index):
            if len(hits) == self._enough:
                later = count(self.document.blob, self.pattern, start=hit.start if _is_giant(hit) else hit.line_start)
                break
            hits.append(hit)
        total = len(hits) + later
        if offset:
            total += count(self.document.blob, self.pattern) - count(self.document.blob, self.pattern, start=offset)
        shown = most(len(hits), lambda number: fill(self._text(hits[:number], hits, total), self.choices))
        if shown == 0 and hits:
            return self._clip(self._narrow(hits, total), hits[:1], whole=total == 1)
        text = self._text(hits[:shown], hits, total)
        return self._clip(text, hits[:shown], whole=shown == total)

    def _narrow(self, hits: list[Hit], total: int) -> str:
        """Not even one hit fits as it is: less of its line and nothing around it, so that going on gets somewhere."""

        def text(around: int, ways: Sequence[Hint]) -> str:
            rest = f" {self._next(hits[1], ways)}" if len(hits) > 1 else ""
            return f"{hits[0].line}: {self._line(hits[0], around)}\n[{_said(1, total)}{rest}{self._in_part()}]"

        ways = (
            self.choices.ways if fill(text(0, self.choices.ways), self.choices) <= 1 else ()
        )  # the pattern may be too long
        return text(most(AROUND, lambda around: fill(text(around, ways), self.choices)), ways)

    @property
    def _enough(self) -> int:
        """More hits than this cannot fit: each takes a line of some bytes."""
        limits = self.choices.limits
        return min(HITS, limits.lines or HITS, limits.window // 4)

    def _place(self, start: str | int) -> tuple[int, int]:
        found = _START.fullmatch(str(start).strip())
        if not found:
            raise UsageError(f"{start!r} is no place to search from; write a line, or LINE:COLUMN.")
        line = parse(found[1], max(1, self.document.lines))[0]
        column = parse(found[2], 1 << 62, "columns")[0] if found[2] else 1
        return min(self.document.start(line) + column - 1, self.document.size), line

    def _text(self, shown: list[Hit], hits: list[Hit], total: int) -> str:
        body = "".join(f"{row}\n" for row in self._rows(shown))
        if total == 0:
            where = lines_of(self.document.lines)
            sought = one_line(self.pattern.source, PATTERN_CHARS)
            return f"[No match of {sought} in {where} of {self.record.ref}.{self._in_part()}]"
        rest = ""
        if len(shown) < len(hits):
            rest = " " + self._next(hits[len(shown)], self.choices.ways)
        elif hits and len(hits) == self._enough and total > len(hits):
            rest = " " + self._next(hits[-1], self.choices.ways, behind=True)
        return f"{body}[{_said(len(shown), total)}{rest}{self._in_part()}]"

    def _in_part(self) -> str:
        return f" Only the first {self.record.bytes:,} bytes are stored." if self.record.partial else ""

    def _next(self, hit: Hit, ways: Sequence[Hint], *, behind: bool = False) -> str:
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
            context=self.context,
            ignore_case=self.pattern.ignore_case,
            fixed=self.pattern.fixed,
        )

    def _rows(self, hits: list[Hit]) -> list[str]:
        """Numbered lines, `N: ` for a match and `N- ` for a line around one; `--` where lines are left out."""
        rows: list[str] = []
        matched = {hit.line for hit in hits}
        last = 0
        for hit in hits:
            first = max(last + 1, hit.line - self.context)
            if rows and self.context and first > last + 1:
                rows.append("--")
            if self.context:
                rows += [
                    f"{number}- {line}" for number, line in self._around(first, hit.line - 1) if number not in matched
                ]
            if hit.line > last or _is_long(hit):
                rows.append(f"{hit.line}: {self._line(hit)}")
            last = max(last, hit.line)
            if self.context:
                after = self._around(last + 1, hit.line + self.context)
                upto = next((number for number, _ in after if number in matched), hit.line + self.context + 1)
                rows += [f"{number}- {line}" for number, line in after if number < upto]
                last = max(last, min(upto - 1, self.document.lines))
        return rows

    def _around(self, first: int, last: int) -> list[tuple[int, str]]:
        """Lines as they are shown around a match: numbered, cleaned, and no more than LONG of each."""
        first, last = max(1, first), min(last, self.document.lines)
        if last < first:
            return []
        start, end = self.document.start(first), self.document.start(last + 1)
        if end - start <= NEAR:
            lines = self.document.blob.read(start, end).removesuffix(b"\n").split(b"\n")
        else:  # giants among them
            starts = [self.document.start(number) for number in range(first, last + 1)]
            lines = [self.document.blob.read(at, at + LONG + 1).split(b"\n", 1)[0] for at in starts]
        shown = (clean(line[:LONG]) + "…" * (len(line) > LONG) for line in lines)
        return list(enumerate(shown, first))

    def _line(self, hit: Hit, around: int | None = None) -> str:
        """The line of a hit, or what stands around the match: in a long line, and where so little is asked for."""
        blob = self.document.blob
        if around is None and not _is_long(hit):
            assert hit.line_end is not None
            return clean(blob.read(hit.line_start, hit.line_end)).rstrip("\n")
        match, around = (LONG, AROUND) if around is None else (around, around)
        start = max(hit.line_start, hit.start - around)
        end = min(hit.end, hit.start + match) + around
        data = blob.read(start, end if hit.line_end is None else min(end, hit.line_end))
        data = data.split(b"\n", 1)[0] if b"\n" not in data[: hit.start - start] else data
        before = "…" if start > hit.line_start else ""
        text = clean(data).strip("\ufffd")  # half a character at an edge is nobody's business
        columns = f"columns {hit.start - hit.line_start + 1:,}-{hit.end - hit.line_start:,}"
        return f"{before}{text}… ({columns})"

    def _clip(self, text: str, hits: list[Hit], *, whole: bool) -> Clip:
        ranges = tuple((line, line) for line in sorted({hit.line for hit in hits}))
        size = len(text.encode())
        return answer(text, self.choices, self.record, self.document, ranges=ranges, size=size, whole=whole)


def _is_long(hit: Hit) -> bool:
    return hit.line_end is None or hit.line_end - hit.line_start > LONG


def _is_giant(hit: Hit) -> bool:
    """Whether a hit is one of several that its line may have."""
    return hit.line_end is None or hit.line_end - hit.line_start > SIZES.giant


def _said(shown: int, total: int) -> str:
    return f"{shown:,} of {total:,} matches shown." if total != 1 else f"{shown} of 1 match shown."
