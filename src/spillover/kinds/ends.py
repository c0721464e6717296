"""Head, tail, or both ends: whole lines while they fit, and to the letter as other systems cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from spillover.document.document import Document, Section
from spillover.kinds.selection import Fill, Span, join, largest, share_fairly
from spillover.settings.limits import Limits
from spillover.types import Selector

#: How much of the room the beginning gets.
HEAD_SHARES = {"head": 1.0, "ends": 0.5, "tail": 0.0}
#: Sections in a row that could not use what room is left, after which the others get none: there may be thousands.
#: Larger: fuller clips of many sections, and more renderings.
MAX_TRIES = 3
#: Bytes from which a part of a line that stands for a whole block is worth its marker.
MIN_PART_BYTES = 64
#: A shorter line of plain characters fits whatever limits there are.
SHORT_LINE_BYTES = 64
#: A character has at most this many bytes in UTF-8.
MAX_CHAR_BYTES = 4
#: An escape code is looked for this far before a cut, and skipped this far behind it.
ESCAPE_BYTES, MAX_ESCAPE_BYTES = 32, 64

Rooms = list[tuple[int, int]]  # bytes granted to the head and the tail of each section


def keep_ends(share: float) -> Selector:
    """Select from both ends: `share` of the room for the beginning, the rest for the end."""
    return lambda document, fill: _select(document, fill, share)


def _select(document: Document, fill: Fill, share: float) -> Sequence[Span]:
    exceeds = _LongLines(fill)
    sides = [_Sides(document, section, exceeds) for section in document.shares]
    sizes = [side.section.size for side in sides]
    weights = [side.section.weight for side in sides]

    def spans(rooms: Rooms) -> list[Span]:
        return join([span for side, room in zip(sides, rooms, strict=True) for span in side.spans(*room)])

    def split(room: int) -> Rooms:
        parts = share_fairly(room, sizes, weights)
        heads = [round(part * share) for part in parts]
        return [(head, part - head) for head, part in zip(heads, parts, strict=True)]

    def full(rooms: Rooms) -> float:
        return fill(spans(rooms))

    rooms = split(largest(min(sum(sizes), 2 * document.reach * len(sides)), lambda room: full(split(room))))
    # Whole lines leave some room unused, and a short side more: the other one may have it, the last section first.
    ends = [end for end, part in ((1, 1 - share), (0, share)) if part]
    before = spans(rooms)
    tries = MAX_TRIES
    for number in reversed(range(len(sides))):
        order = ends
        for end in sides[number].empty_ends(*rooms[number]) if len(ends) == 2 else []:
            # Its line is longer than half of the room, and says more than all the rest of the other end.
            line = sides[number].line_bytes(end)
            swapped = [*rooms[:number], (0, line) if end else (line, 0), *rooms[number + 1 :]]
            if full(swapped) <= 1:
                rooms = swapped
                order = [1 - end, end]
        for end in order:
            rooms = _widen(rooms, number, end, min(sizes[number], document.reach), full)
        after = spans(rooms)
        tries = MAX_TRIES if after != before else tries - 1
        before = after
        if not tries:
            break
    return before


def _widen(rooms: Rooms, number: int, end: int, max_bytes: int, full: Callable[[Rooms], float]) -> Rooms:
    """Return more room for one end of one section, as far as all of it still fits."""

    def wider(extra: int) -> Rooms:
        head, tail = rooms[number]
        room = (head + extra, tail) if end == 0 else (head, tail + extra)
        return [*rooms[:number], room, *rooms[number + 1 :]]

    return wider(largest(max_bytes - rooms[number][end], lambda extra: full(wider(extra)), bottom=full(rooms)))


class _LongLines:
    """Lines that do not fit even alone. Measuring one costs as much as showing all sections, so it is done once."""

    def __init__(self, fill: Fill) -> None:
        self._fill = fill
        self._exceeds: dict[tuple[int, int], bool] = {}

    def __call__(self, start: int, end: int, line: bytes) -> bool:
        if end - start < SHORT_LINE_BYTES and line.isascii() and b"\r" not in line:
            return False
        place = (start, end)
        if place not in self._exceeds:
            self._exceeds[place] = self._fill([Span(start, end)]) > 1
        return self._exceeds[place]


class _Sides:
    """Both ends of one section, and where they may be cut."""

    def __init__(self, document: Document, section: Section, exceeds: _LongLines) -> None:
        self.section = section
        self._exceeds = exceeds
        is_part = len(document.sections) > 1
        self._least = 1 if section.label else MIN_PART_BYTES if is_part else section.size + 1
        opens, closes = document.gap
        start, end = section.start, section.end
        self._head_at = start
        self._head = b""
        self._tail_at = end
        self._tail = b""
        if opens == closes:
            opens, closes = end, start
        self._is_whole = section.size <= 2 * document.reach and (opens >= end or closes <= start)
        if self._is_whole:
            self._head = self._tail = document.blob.read(start, end)
            self._tail_at = start
        else:
            if start < opens:
                self._head = document.blob.read(start, min(start + document.reach, opens, end))
            if end > closes:
                self._tail_at = max(end - document.reach, closes, start)
                self._tail = document.blob.read(self._tail_at, end)

    def spans(self, head: int, tail: int) -> list[Span]:
        """Return the spans of both ends, each of this number of bytes."""
        start, end = self.section.start, self.section.end
        if self._is_whole and head + tail >= self.section.size:
            return [Span(start, end)]
        upto = self._cut_head(min(head, len(self._head)))
        since = self._cut_tail(max(0, len(self._tail) - tail))
        if head + tail >= self._least and upto == 0 and since == len(self._tail):
            # One of several is represented, if only by a part of a line.
            upto = 0 if tail else char_before(self._head, min(head, len(self._head)), 0)
            since = char_after(self._tail, max(0, since - head - tail), since) if tail else since
        if self._is_whole and upto >= since:
            return [Span(start, end)]
        return [Span(start, start + upto), Span(self._tail_at + since, end)]

    def empty_ends(self, head: int, tail: int) -> list[int]:
        """Return the end of which nothing is shown, where of the other one something is."""
        parts = self.spans(head, tail)
        empty = [end for end, part in enumerate(parts) if part.start == part.end]
        return empty if len(empty) == 1 and len(parts) == 2 else []

    def line_bytes(self, end: int) -> int:
        """Return the size of the first line, or of the last one."""
        if end:
            return len(self._tail) - self._tail.rfind(b"\n", 0, len(self._tail) - 1) - 1
        return self._head.find(b"\n") + 1 or len(self._head)

    def _cut_head(self, at: int) -> int:
        data = self._head
        if at in (0, len(data)) and (self._is_whole or at == 0):
            return at
        line = data.rfind(b"\n", 0, at) + 1
        if line == at:
            return at
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline + 1
        is_open = newline < 0 and not self._is_whole  # it ends out of reach, and can only be shown in part
        if is_open or self._exceeds(self._head_at + line, self._head_at + end, data[line : min(end, line + 64)]):
            return char_before(data, at, line)
        return line

    def _cut_tail(self, at: int) -> int:
        data = self._tail
        if at == len(data) or (at == 0 and self._is_whole):
            return at
        line = data.rfind(b"\n", 0, at) + 1
        if line == at:
            return at
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline + 1
        is_open = line == 0 and self._tail_at > self.section.start  # it begins out of reach
        if is_open or self._exceeds(self._tail_at + line, self._tail_at + end, data[line : min(end, line + 64)]):
            return char_after(data, at, end)
        return end


def first_lines(limits: Limits) -> Selector:
    """Select the first lines that fit, without the newline behind the last; the beginning of a longer line."""
    lines, size = limits.lines, limits.bytes

    def cut(document: Document) -> list[Span]:
        data = document.blob.read(0, _reach(document, size))
        ends = _newlines(data, lines)
        if len(data) == document.size and (lines is None or len(ends) < lines):
            ends.append(len(data))
        fitting = [end for end in ends if size is None or end <= size]
        upto = fitting[-1] if fitting else 0
        if not data[:upto].strip(b"\n") and (lines is None or len(fitting) < lines):
            upto = char_before(data, len(data) if size is None else size, 0)
        return [Span(0, upto)]

    return _or_keep_ends(cut, 1.0)


def last_lines(limits: Limits) -> Selector:
    """Select the last lines that fit; what follows the last newline is one more, even if it is empty."""
    lines, size = limits.lines, limits.bytes

    def cut(document: Document) -> list[Span]:
        whole = document.size
        data = document.blob.read(whole - _reach(document, size), whole)
        at = whole - len(data)
        starts: list[int] = []
        newline = len(data)
        while (lines is None or len(starts) < lines) and (newline := data.rfind(b"\n", 0, newline)) >= 0:
            starts.append(at + newline + 1)
        if at == 0 and (lines is None or len(starts) < lines):
            starts.append(0)
        fitting = [start for start in starts if size is None or whole - start <= size]
        if fitting and fitting[-1] < whole and (len(fitting) == lines or data[fitting[-1] - at :].strip(b"\n")):
            return [Span(fitting[-1], whole)]
        since = max(0, len(data) - size) if size is not None else 0
        return [Span(at + char_after(data, since, len(data)), whole)]

    return _or_keep_ends(cut, 0.0)


def first_chars(limits: Limits) -> Selector:
    """Select the first characters that fit."""
    return head_and_tail(limits.chars or 0, 0)


def last_chars(limits: Limits) -> Selector:
    """Select the last characters that fit."""
    return head_and_tail(0, limits.chars or 0)


def both_ends(limits: Limits) -> Selector:
    """Select equally many characters from both ends; of an odd number, one more from the beginning."""
    head = ceil((limits.chars or 0) / 2)
    return head_and_tail(head, (limits.chars or 0) - head)


def head_and_tail(head: int, tail: int) -> Selector:
    """Select `head` characters from the beginning and `tail` from the end."""

    def cut(document: Document) -> list[Span]:
        upto = _end_of_first(document, head)
        since = _start_of_last(document, tail)
        return [Span(0, document.size)] if upto >= since else [Span(0, upto), Span(since, document.size)]

    return _or_keep_ends(cut, head / ((head + tail) or 1))


def _or_keep_ends(cut: Callable[[Document], list[Span]], share: float) -> Selector:
    """Cut to the letter if there is one output and it shows as it is; otherwise keep ends that fit."""

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        spans = [span for span in cut(document) if span.start < span.end] if len(document.sections) <= 1 else []
        return spans if spans and fill(spans) <= 1 else keep_ends(share)(document, fill)

    return select


def _reach(document: Document, size: int | None) -> int:
    """Return the bytes that a cut looks at: one more than it may show."""
    return min(document.size, document.reach if size is None else size + 1)


def _newlines(data: bytes, count: int | None) -> list[int]:
    """Return where the first newlines stand."""
    places: list[int] = []
    at = -1
    while (count is None or len(places) < count) and (at := data.find(b"\n", at + 1)) >= 0:
        places.append(at)
    return places


def _end_of_first(document: Document, chars: int) -> int:
    """Return where the first characters end."""
    data = document.blob.read(0, min(document.size, MAX_CHAR_BYTES * chars))
    text = data.decode("utf-8", "replace")[:chars]
    if "\ufffd" not in text:
        return len(text.encode())
    low, high = 0, len(data)
    while low < high:  # the furthest place up to which there are no more of them
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(data[:middle].decode("utf-8", "replace")) <= chars else (low, middle - 1)
    return low


def _start_of_last(document: Document, chars: int) -> int:
    """Return where the last characters begin."""
    whole = document.size
    data = document.blob.read(max(0, whole - MAX_CHAR_BYTES * chars), whole)
    text = data.decode("utf-8", "replace")
    last = text[len(text) - chars :] if chars < len(text) else text
    if "\ufffd" not in last:
        return whole - len(last.encode())
    low, high = 0, len(data)
    while low < high:  # the earliest place from which on there are no more of them
        middle = (low + high) // 2
        low, high = (low, middle) if len(data[middle:].decode("utf-8", "replace")) <= chars else (middle + 1, high)
    return whole - len(data) + low


def char_before(data: bytes, at: int, least: int) -> int:
    """Return the last place from `least` up to `at` where neither a character nor an escape code is cut in two."""
    escape = data.rfind(b"\x1b", max(least, at - ESCAPE_BYTES), at)
    if escape >= 0 and not _is_complete(data[escape:at]):
        at = escape
    for back in range(MAX_CHAR_BYTES):  # what looks longer is broken
        if at - back <= least or at - back >= len(data) or not 0x80 <= data[at - back] < 0xC0:
            return max(least, at - back)
    return at


def char_after(data: bytes, at: int, upto: int) -> int:
    """Return the first place from `at` up to `upto` where neither a character nor an escape code is cut in two."""
    escape = data.rfind(b"\x1b", max(0, at - ESCAPE_BYTES), at)
    if escape >= 0 and not _is_complete(data[escape:at]):
        while at < upto and not _is_complete(data[escape:at]) and at - escape < MAX_ESCAPE_BYTES:
            at += 1
    for ahead in range(MAX_CHAR_BYTES):
        if at + ahead >= upto or not 0x80 <= data[at + ahead] < 0xC0:
            return min(upto, at + ahead)
    return at


def _is_complete(code: bytes) -> bool:
    """Tell whether an escape code that begins here is complete."""
    if len(code) < 2:
        return False
    if code[1:2] == b"[":
        return any(0x40 <= byte < 0x7F for byte in code[2:])
    return code[1:2] not in b"]PX^_" or b"\x07" in code or b"\x1b\\" in code[1:]
