"""Going back by place: lines, bytes, or columns within a line. Each answer fits, and ends with the call that goes on."""

from __future__ import annotations

from msgspec import Struct

from spillover.errors import UsageError
from spillover.notice.calls import frames_call, next_call
from spillover.notice.sentences import stored_part
from spillover.notice.words import lines_of
from spillover.result import Clip
from spillover.retrieve.answer import answer, fill, number_row
from spillover.retrieve.names import parse_range
from spillover.select.ends import most
from spillover.store.base import Record
from spillover.view.clean import exact, look
from spillover.view.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices

    Row = tuple[int, str, int]  # a line: its number, what is seen of it, how many frames are left out of that

#: So many lines, or bytes, are proposed next when the reader did not say how many it wants.
PAGE = 2_000


class Reader(Struct, frozen=True):
    """One stored output, open for reading within limits."""

    document: Document
    record: Record
    choices: Choices

    def lines(self, wanted: str | int | None) -> Clip:
        """Return lines with their numbers, cleaned as the model saw them."""
        total = self.document.lines
        first, last = parse_range(wanted, total) if wanted is not None else (1, min(total, PAGE))
        if last < first:
            return self._answer([], (first, last), self._nothing("line", first, total))
        rows = self._rows(first, last)

        def text(count: int) -> str:
            return self._page(rows[:count], first, last)

        count = most(len(rows), lambda count: fill(text(count), self.choices))
        if count == 0:
            return self._columns(first, 1, None)
        return self._answer(rows[:count], (first, last), text(count))

    def columns(self, wanted: str, line: int | str | None) -> Clip:
        """Return a part of one line; columns count bytes, so that any place in a line of a gigabyte is one step away."""
        first, last = parse_range(line if line is not None else 1, self.document.lines)
        if last < first:
            return self._answer([], (first, last), self._nothing("line", first, self.document.lines))
        if first != last:
            raise UsageError("columns need a single line: e.g. line 7, columns 4001:8000.")
        start, end = self._line(first)
        left, right = parse_range(wanted, end - start, "columns")
        if right < left:
            return self._answer([], (first, first - 1), self._nothing("column", left, end - start))
        return self._columns(first, left, right)

    def byte_range(self, wanted: str) -> Clip:
        """Return bytes as they are, control characters made visible."""
        size = self.document.size
        first, last = parse_range(wanted, size, "bytes")
        if last < first:
            return self._answer([], (1, 0), self._nothing("byte", first, size))
        start, data = self._raw(first - 1, last)

        def text(count: int) -> str:
            upto = start + len(_whole_chars(data, count))
            lines = _range("line", self.document.number(start), self.document.number(max(start, upto - 1)))
            where = f"{_range('Byte', start + 1, upto)} of {size:,}, {lines}."
            return f"{self._mark(exact(_whole_chars(data, count)))}\n[{where} {self._next_bytes(start, upto, last)}]"

        count = most(len(data), lambda count: fill(text(count), self.choices))
        upto = start + len(_whole_chars(data, count))
        numbers = (self.document.number(start), self.document.number(max(start, upto - 1)))
        return self._clip(text(count), numbers, upto - start, whole=upto >= last)

    def _mark(self, text: str) -> str:
        """Return text of the output, with what reads like ours marked; where a number stands before every line, nothing does."""
        return text if self.document.guard is None else self.document.guard(text)

    def _rows(self, first: int, last: int) -> list[Row]:
        """Return numbered, cleaned lines from `first` on: as many as could fit, and the one behind them."""
        start = self.document.start(first)
        end = self.document.start(last + 1)
        data = self.document.blob.read(start, min(end, start + self.choices.reach))
        raw = data.removesuffix(b"\n").split(b"\n")
        if len(data) < end - start:
            raw.pop()  # it is not all there, and what is left of an overwritten line would look like another one
        return [(first + number, *look(line)) for number, line in enumerate(raw)]

    def _page(self, rows: list[Row], first: int, last: int) -> str:
        body = "".join(f"{number_row(f'{number}: ', text)}\n" for number, text, _ in rows)
        upto = first + len(rows) - 1
        where = f"{_range('Line', first, upto)} of {self.document.lines:,}.{self._describe_folded(rows)}"
        return f"{body}[{where} {self._next_lines(first, upto, last)}]"

    def _describe_folded(self, rows: list[Row]) -> str:
        """Return what is said of frames that are left out: how many, and how the first of them can be seen."""
        frames = sum(left_out for _, _, left_out in rows)
        if not frames:
            return ""
        line = next(number for number, _, left_out in rows if left_out)
        return " " + frames_call(self.choices.ways, self.record.ref, frames, line, PAGE)

    def _columns(self, line: int, left: int, right: int | None) -> Clip:
        start, end = self._line(line)
        last = end if right is None else min(end, start + right)
        begin, data = self._raw(start + left - 1, last)

        def text(count: int) -> str:
            shown = _whole_chars(data, count)
            upto = begin - start + len(shown)
            where = f"Line {line:,}, columns {begin - start + 1:,}-{upto:,} of {end - start:,}."
            return f"{line}: {exact(shown)}\n[{where} {self._next_columns(line, upto, end - start)}]"

        count = most(len(data), lambda count: fill(text(count), self.choices))
        size = len(_whole_chars(data, count))
        return self._clip(text(count), (line, line), size, whole=begin + size >= last and right is not None)

    def _line(self, line: int) -> tuple[int, int]:
        """Return where a line begins and ends, without its line end."""
        start, end = self.document.start(line), self.document.start(line + 1)
        return start, end - (end > start and self.document.blob.read(end - 1, end) == b"\n")

    def _raw(self, start: int, end: int) -> tuple[int, bytes]:
        """Return bytes from `start` on, as many as could fit, and all of the characters that `start` and `end` stand inside."""
        low, end = max(0, start - 3), min(end, start + self.choices.reach)
        data = self.document.blob.read(low, end + 3)
        begin, _ = _character(data, start - low)
        _, stop = _character(data, end - low)
        return low + begin, data[begin:stop]

    def _next_lines(self, first: int, upto: int, last: int) -> str:
        total = self.document.lines
        if upto >= total:
            return self._the_end()
        # What is left of the range, or as much again as was asked for.
        count = last - upto if last > upto else max(1, last - first + 1)
        return next_call(self.choices.ways, "lines", self.record.ref, upto + 1, min(total, upto + count))

    def _next_bytes(self, first: int, upto: int, last: int) -> str:
        if upto >= self.document.size:
            return self._the_end()
        count = last - upto if last > upto else max(1, last - first)
        return next_call(self.choices.ways, "bytes", self.record.ref, upto + 1, min(self.document.size, upto + count))

    def _next_columns(self, line: int, upto: int, width: int) -> str:
        if upto < width:
            return next_call(
                self.choices.ways, "columns", self.record.ref, upto + 1, min(width, upto + PAGE), line=line
            )
        return self._next_lines(line, line, line)

    def _the_end(self) -> str:
        produced = self.record.produced_bytes
        if self.record.partial and produced is None:
            return f"The end.{stored_part(self.record)}"
        if self.record.partial:
            return f"The stored part ends here: the first {self.record.bytes:,} of {produced:,} bytes; {self.record.partial}."
        return "The end."

    def _nothing(self, unit: str, first: int, total: int) -> str:
        counted = lines_of(total) if unit == "line" else f"{total:,} {unit}s"
        stored = f" {self._the_end()}" if self.record.partial else ""
        rest = self._next_lines(1, 0, PAGE) if total else "" if stored else self._the_end()
        where = f"No {unit} {first:,}: {self.record.ref} has {counted}{' stored' if stored else ''}."
        return f"[{' '.join(filter(None, (where + stored, rest)))}]"

    def _answer(self, rows: list[Row], wanted: tuple[int, int], text: str) -> Clip:
        first = wanted[0]
        upto = first + len(rows) - 1
        size = self.document.start(upto + 1) - self.document.start(first) if rows else 0
        left_out = any(left_out for _, _, left_out in rows)
        return self._clip(text, (first, upto), size, whole=upto >= wanted[1] and not left_out)

    def _clip(self, text: str, numbers: tuple[int, int], size: int, *, whole: bool) -> Clip:
        ranges = (numbers,) if numbers[1] >= numbers[0] else ()
        return answer(text, self.choices, self.record, self.document, ranges=ranges, size=size, whole=whole)


def _character(data: bytes, at: int) -> tuple[int, int]:
    """Return the start and end of the character that `at` is inside of; the same twice if it is between two, or in junk."""
    for start in range(at - 1, max(-1, at - 4), -1):
        if data[start] >= 0xC0:
            end = start + 2 + (data[start] >= 0xE0) + (data[start] >= 0xF0)
            rest = data[start + 1 : end]
            return (start, end) if at < end <= len(data) and all(0x80 <= byte < 0xC0 for byte in rest) else (at, at)
        if data[start] < 0x80:
            break
    return at, at


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first:,}" if first == last else f"{unit}s {first:,}-{last:,}"


def _whole_chars(data: bytes, count: int) -> bytes:
    """Return the first `count` bytes, without a character cut in two at their end."""
    for back in range(min(4, count)):
        if count - back >= len(data) or not 0x80 <= data[count - back] < 0xC0:
            return data[: count - back] if count - back > 0 else data[:count]
    return data[:count]
