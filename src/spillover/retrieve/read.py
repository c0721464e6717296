"""Read a part of a stored output: lines, bytes, columns of a line, or a JSON value.

Every answer fits the limits, and ends with the call that goes on.
"""

from __future__ import annotations

import time
from ast import literal_eval
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from spillover.document.clean import clean_and_count, show_controls
from spillover.document.document import Document, cover_blob, notice_guard
from spillover.errors import StoreError, UsageError
from spillover.events import record_retrieval
from spillover.journal import Operation
from spillover.kinds.fit import trim
from spillover.kinds.json.strings import find_pointed, read_string, spell_repr
from spillover.kinds.selection import largest
from spillover.notice.hints import frames_call, next_call
from spillover.notice.wording import lines_of, stored_part
from spillover.result import Clip
from spillover.retrieve.names import Part, Target, parse_range, resolve
from spillover.settings.limits import Size
from spillover.settings.settings import Call
from spillover.source.blob import Blob, MemoryBlob, Meter
from spillover.store.record import Record

#: Lines or columns to read next if the reader has not named a number; with more, an answer is cut more often.
PAGE = 2_000
#: Bytes of an output in which a JSON value is looked up; more take more memory, since all of it is read.
MAX_JSON_BYTES = 64 << 20


def read(
    call: Call,
    ref: str,
    *,
    lines: str | int | None = None,
    bytes_: str | None = None,
    columns: str | None = None,
    pointer: str | None = None,
) -> Clip:
    """Read a part of a stored output, or of the JSON value in it that a pointer names."""
    target = resolve(ref, call.settings.outputs, part="any")
    if pointer is not None:
        if not isinstance(pointer, str) or not pointer.startswith("/"):
            raise UsageError(f"pointer={pointer!r} is not a JSON pointer; write e.g. /stdout or /rows/0/log.")
        target = replace(target, part=Part(pointer=pointer))
    part = target.part
    if part.lines or part.bytes:
        if not (lines is bytes_ is columns is None):
            raise UsageError("the ref already names a part; leave out the other range, or what follows the #.")
        lines = part.lines
        bytes_ = part.bytes
    if bytes_ is not None and (lines is not None or columns is not None):
        raise UsageError("use bytes alone, or lines and columns together.")

    def make(call: Call, record: Record, document: Document) -> Clip:
        reader = Reader(document, record, call)
        if bytes_ is not None:
            return reader.read_bytes(bytes_)
        return reader.read_lines(lines) if columns is None else reader.read_columns(columns, lines)

    return answer_from(call, target, "read", make)


def answer_from(
    call: Call, target: Target, operation: Operation, make: Callable[[Call, Record, Document], Clip]
) -> Clip:
    """Open an output, answer a call from it, and record the retrieval; the answer for `last` begins with a note."""
    start = time.monotonic()
    call = call.within_budget()
    record, document = open_output(call, target.ref)
    blob = document.blob
    try:
        if target.part.pointer is not None:
            record, document = _open_value(record, document, target.part.pointer)
        note = target.note and f"{target.note}\n"
        rest = call.limits.without(note, call.settings.count) if note else None
        if rest is None:  # no note, or no room for it
            clip = make(call, record, document)
        else:
            clip = make(replace(call, limits=rest), record, document)
            call.spend(note)
            clip = replace(clip, text=note + clip.text)
    finally:
        blob.close()
    record_retrieval(call, operation, clip.text, clip=clip, record=record, seconds=time.monotonic() - start)
    return clip


def answer(
    text: str,
    call: Call,
    record: Record,
    document: Document,
    *,
    ranges: tuple[tuple[int, int], ...],
    size: int,
    whole: bool,
) -> Clip:
    """Return the Clip of an answer; `whole` says that the store has no more of it."""
    text = trim(text, call)
    call.spend(text)
    lines = sum(last - first + 1 for first, last in ranges)
    return Clip(
        text,
        "whole" if whole else "stored",
        ref=record.ref,
        path=call.settings.store.where(record.ref.partition("#")[0]),  # a JSON value has no file of its own
        _total=Size(document.lines, document.size),
        _shown_size=Size(lines, size, len(text), call.settings.count(text)),
        _ranges=ranges,
        _count=call.settings.count,
    )


def fill(text: str, call: Call) -> float:
    """Return the share of the limits that an answer fills."""
    return call.limits.fill(text, call.settings.count)


def number_rows(number: str, text: str) -> str:
    """Put a line's number before each of its rows."""
    return number + text.replace("\n", f"\n{number}")


def open_output(call: Call, ref: str) -> tuple[Record, Document]:
    """Return the record and the bytes of a ref; RefError and StoreError say what to do."""
    record, blob = call.settings.outputs.open_record(ref)
    try:
        return record, _open_document(call, record, blob)
    except BaseException:
        blob.close()
        raise


def _open_document(call: Call, record: Record, blob: Blob) -> Document:
    """Return the document of a record and its bytes; StoreError if they contradict each other."""
    # What was covered on its way in was searched before it was cut.
    is_cut = (record.produced_bytes or 0) > record.bytes and record.redacted is None
    blob = cover_blob(call.settings, blob, is_cut=is_cut)
    if not record.index.before or record.index.block < 1:
        raise StoreError(f"The record of {record.ref} is damaged: it has no line index.")
    newlines = getattr(blob, "newlines", None)  # from a bucket, where each read is a request, and is checked
    if newlines is not None and blob.size == record.bytes:
        return Document(blob, record.index, record.lines, newlines, guard=notice_guard(call.settings))
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    document = Document(blob, record.index, record.lines, newlines, guard=notice_guard(call.settings))
    if blob.size != record.bytes or (blob.size and document.number(blob.size - 1) != record.lines):
        raise StoreError(
            f"The bytes of {record.ref} and its record do not match: they have changed, or are not "
            f"all there. `spill verify {record.ref}` says more."
        )
    return document


class _Line(Struct, frozen=True):
    number: int
    text: str
    frames: int  # overwritten frames that the text leaves out


class Reader(Struct, frozen=True):
    """One stored output, open for reading within limits."""

    document: Document
    record: Record
    call: Call

    def read_lines(self, lines: str | int | None) -> Clip:
        """Return cleaned lines with their numbers."""
        total = self.document.lines
        first, last = (1, min(total, PAGE)) if lines is None else parse_range(lines, total)
        if last < first:
            return self._answer_beyond_end("line", first, total)
        rows = self._rows(first, last)
        count = largest(len(rows), lambda count: fill(self._page(rows[:count], first, last), self.call))
        if count == 0:
            return self._answer_columns(first, 1, None)
        upto = first + count - 1
        size = self.document.start(upto + 1) - self.document.start(first)
        whole = upto >= last and not any(row.frames for row in rows[:count])
        return self._clip(self._page(rows[:count], first, last), (first, upto), size, whole=whole)

    def read_columns(self, columns: str, line: int | str | None) -> Clip:
        """Return a part of one line; columns are bytes, so that any part of a huge line is found at once."""
        first, last = parse_range(line if line is not None else 1, self.document.lines)
        if last < first:
            return self._answer_beyond_end("line", first, self.document.lines)
        if first != last:
            raise UsageError("columns need a single line: e.g. line 7, columns 4001:8000.")
        start, end = self._line_bounds(first)
        left, right = parse_range(columns, end - start, "columns")
        if right < left:
            return self._answer_beyond_end("column", left, end - start)
        return self._answer_columns(first, left, right)

    def read_bytes(self, range_: str) -> Clip:
        """Return raw bytes with visible control characters."""
        size = self.document.size
        first, last = parse_range(range_, size, "bytes")
        if last < first:
            return self._answer_beyond_end("byte", first, size)
        start, data = self._read_chars(first - 1, last)

        def text(count: int) -> str:
            upto = start + len(_whole_chars(data, count))
            lines = format_range("line", self.document.number(start), self.document.number(max(start, upto - 1)))
            facts = f"{format_range('Byte', start + 1, upto)} of {size:,}, {lines}."
            body = self._guard(show_controls(_whole_chars(data, count)))
            return f"{body}\n[{facts} {self._next_bytes(start, upto, last)}]"

        count = largest(len(data), lambda count: fill(text(count), self.call))
        upto = start + len(_whole_chars(data, count))
        numbers = (self.document.number(start), self.document.number(max(start, upto - 1)))
        return self._clip(text(count), numbers, upto - start, whole=upto >= last)

    def _guard(self, text: str) -> str:
        """Mark lines that imitate a notice; answers with line numbers do not need it."""
        return text if self.document.guard is None else self.document.guard(text)

    def _rows(self, first: int, last: int) -> list[_Line]:
        """Return cleaned lines from `first` on, as many as could fit and one more."""
        start = self.document.start(first)
        end = self.document.start(last + 1)
        data = self.document.blob.read(start, min(end, start + self.call.reach))
        raw = data.removesuffix(b"\n").split(b"\n")
        if len(data) < end - start:
            raw.pop()  # incomplete: the rest of an overwritten line would look like another line
        return [_Line(number, *clean_and_count(line)) for number, line in enumerate(raw, first)]

    def _page(self, rows: list[_Line], first: int, last: int) -> str:
        body = "".join(f"{number_rows(f'{row.number}: ', row.text)}\n" for row in rows)
        upto = first + len(rows) - 1
        facts = f"{format_range('Line', first, upto)} of {self.document.lines:,}.{self._describe_folded(rows)}"
        return f"{body}[{facts} {self._next_lines(first, upto, last)}]"

    def _describe_folded(self, rows: list[_Line]) -> str:
        """Return a sentence about the frames that are left out, with the call that shows the first of them."""
        frames = sum(row.frames for row in rows)
        if not frames:
            return ""
        line = next(row.number for row in rows if row.frames)
        return " " + frames_call(self.call.settings.hints, self.record.ref, frames, line, PAGE)

    def _answer_columns(self, line: int, left: int, right: int | None) -> Clip:
        start, end = self._line_bounds(line)
        last = end if right is None else min(end, start + right)
        begin, data = self._read_chars(start + left - 1, last)

        def text(count: int) -> str:
            chars = _whole_chars(data, count)
            upto = begin - start + len(chars)
            facts = f"Line {line:,}, columns {begin - start + 1:,}-{upto:,} of {end - start:,}."
            return f"{line}: {show_controls(chars)}\n[{facts} {self._next_columns(line, upto, end - start)}]"

        count = largest(len(data), lambda count: fill(text(count), self.call))
        size = len(_whole_chars(data, count))
        return self._clip(text(count), (line, line), size, whole=begin + size >= last and right is not None)

    def _line_bounds(self, line: int) -> tuple[int, int]:
        """Return the start and the end of a line, without its newline."""
        start = self.document.start(line)
        end = self.document.start(line + 1)
        return start, end - (end > start and self.document.blob.read(end - 1, end) == b"\n")

    def _read_chars(self, start: int, end: int) -> tuple[int, bytes]:
        """Return as many bytes from `start` on as could fit, with whole characters at both edges."""
        low = max(0, start - 3)
        end = min(end, start + self.call.reach)
        data = self.document.blob.read(low, end + 3)
        begin, _ = _char_bounds(data, start - low)
        _, stop = _char_bounds(data, end - low)
        return low + begin, data[begin:stop]

    def _next_lines(self, first: int, upto: int, last: int) -> str:
        total = self.document.lines
        if upto >= total:
            return self._end_words()
        # The rest of the range, or as many lines again.
        count = last - upto if last > upto else max(1, last - first + 1)
        return next_call(self.call.settings.hints, "lines", self.record.ref, upto + 1, min(total, upto + count))

    def _next_bytes(self, first: int, upto: int, last: int) -> str:
        if upto >= self.document.size:
            return self._end_words()
        count = last - upto if last > upto else max(1, last - first)
        return next_call(
            self.call.settings.hints, "bytes", self.record.ref, upto + 1, min(self.document.size, upto + count)
        )

    def _next_columns(self, line: int, upto: int, width: int) -> str:
        if upto < width:
            return next_call(
                self.call.settings.hints, "columns", self.record.ref, upto + 1, min(width, upto + PAGE), line=line
            )
        return self._next_lines(line, line, line)

    def _end_words(self) -> str:
        produced = self.record.produced_bytes
        if not self.record.partial or produced is None:
            return f"The end.{stored_part(self.record)}"
        size = f"the first {self.record.bytes:,} of {produced:,} bytes"
        return f"The stored part ends here: {size}; {self.record.partial}."

    def _answer_beyond_end(self, unit: str, first: int, total: int) -> Clip:
        """Return the answer to a range behind the end: the size of the output, and a call that can be answered."""
        count = lines_of(total) if unit == "line" else f"{total:,} {unit}s"
        words = [f"No {unit} {first:,}: {self.record.ref} has {count}{' stored' if self.record.partial else ''}."]
        if self.record.partial or not total:
            words.append(self._end_words())
        if total:
            words.append(self._next_lines(1, 0, PAGE))
        return self._clip(f"[{' '.join(words)}]", (1, 0), 0, whole=True)

    def _clip(self, text: str, numbers: tuple[int, int], size: int, *, whole: bool) -> Clip:
        ranges = (numbers,) if numbers[1] >= numbers[0] else ()
        return answer(text, self.call, self.record, self.document, ranges=ranges, size=size, whole=whole)


def _char_bounds(data: bytes, at: int) -> tuple[int, int]:
    """Return the bounds of the character around `at`; `at` twice between characters and in invalid UTF-8."""
    for start in range(at - 1, max(-1, at - 4), -1):
        if data[start] >= 0xC0:
            end = start + 2 + (data[start] >= 0xE0) + (data[start] >= 0xF0)
            rest = data[start + 1 : end]
            return (start, end) if at < end <= len(data) and all(0x80 <= byte < 0xC0 for byte in rest) else (at, at)
        if data[start] < 0x80:
            break
    return at, at


def format_range(unit: str, first: int, last: int) -> str:
    """Return a range in words: "line 7", "bytes 1-4,000"."""
    return f"{unit} {first:,}" if first == last else f"{unit}s {first:,}-{last:,}"


def _whole_chars(data: bytes, count: int) -> bytes:
    """Return the first `count` bytes, shortened to whole characters."""
    for back in range(min(4, count)):
        if count - back >= len(data) or not 0x80 <= data[count - back] < 0xC0:
            return data[: count - back] if count - back > 0 else data[:count]
    return data[:count]


def _open_value(record: Record, document: Document, pointer: str) -> tuple[Record, Document]:
    """Return the value of a pointer as an output of its own: a string decoded, any other value as JSON."""
    if document.size > MAX_JSON_BYTES:
        raise UsageError(
            f"{record.ref} has {document.size:,} bytes; a pointer works up to {MAX_JSON_BYTES:,}. "
            "Search it instead, or read it by bytes."
        )
    data = document.blob.read(0, document.size)
    try:
        literal = _find_json(data, pointer, record.ref)
    except UsageError:
        json_data = spell_repr(data)  # a Python repr, perhaps
        place = None if json_data is None else find_pointed(json_data, pointer)
        if place is None:
            raise
        literal = data[place[0] : place[1]]
    value = _decode(literal)
    meter = Meter()
    meter.feed(value, hashing=False)
    value_record = replace(
        record,
        ref=f"{record.ref}#{pointer}",
        bytes=len(value),
        lines=meter.lines,
        index=meter.index,
        partial=None,
        produced_bytes=None,
        produced_lines=None,
        segments=(),
        shown=(),
        kind="",
        why=(),
    )
    return value_record, Document(MemoryBlob(value), meter.index, meter.lines, meter.newlines, guard=document.guard)


def _find_json(data: bytes, pointer: str, ref: str) -> bytes:
    """Return the JSON of the value of a pointer; a UsageError lists the keys or items there are."""
    path = pointer.split("/")[1:]
    try:
        value = msgspec.json.decode(data, type=msgspec.Raw)
        for count, word in enumerate(path, 1):
            value = _step(value, word.replace("~1", "/").replace("~0", "~"), "/" + "/".join(path[:count]))
    except msgspec.DecodeError as error:
        raise UsageError(f"{ref} is not JSON, so a pointer cannot be used; read it by lines or bytes.") from error
    return bytes(value)


def _step(value: Any, word: str, place: str) -> Any:
    """Return a member or an item of a JSON value; `place` is its pointer in an error."""
    first = bytes(memoryview(value)[:1])
    if first == b"{":
        members = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        if word in members:
            return members[word]
        keys = ", ".join(list(members)[:8])
        raise UsageError(f"There is no {place[:80]} in it; the keys there are {keys[:200]}.")
    if first == b"[":
        items = msgspec.json.decode(value, type=list[msgspec.Raw])
        if word.isdecimal() and word.isascii() and int(word) < len(items):
            return items[int(word)]
        raise UsageError(f"There is no {place[:80]} in it; the list has {len(items):,} items, numbered from 0.")
    raise UsageError(f"There is no {place[:80]} in it: its parent is not an object or a list.")


def _decode(literal: bytes) -> bytes:
    """Return the text of a string in JSON or a Python repr; any other value unchanged."""
    if literal[:1] == b'"':
        return read_string(literal, 1, len(literal) - 1).data
    if literal[:1] == b"'":
        try:
            return str(literal_eval(literal.decode("utf-8", "surrogatepass"))).encode("utf-8", "surrogatepass")
        except (ValueError, SyntaxError):
            return literal
    return literal
