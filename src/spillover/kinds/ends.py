"""Head, tail, or both ends: whole lines while lines allow it, and part of a line that could never fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spillover.document.document import Document, Section
from spillover.kinds.selection import Fill, Span, join, largest, share_fairly
from spillover.types import Selector

#: How much of the room the beginning gets.
HEAD_SHARES = {"head": 1.0, "ends": 0.5, "tail": 0.0}

Rooms = list[tuple[int, int]]  # bytes granted to the head and the tail of each section

#: When so many sections in a row could not use what is left, the others are not asked: there may be thousands.
TRIES = 3
#: A part of a line that stands for a whole block is worth its marker from so many bytes on.
LEAST = 64


def keep_ends(share: float) -> Selector:
    """Return a selector that gives `share` of the room to the beginning and the rest to the end."""

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        return _select(document, fill, share)

    return select


def _select(document: Document, fill: Fill, share: float) -> Sequence[Span]:
    giants = _Giants(fill)
    sides = [_Sides(document, section, giants) for section in document.shares]
    sizes = [side.section.size for side in sides]
    weights = [side.section.weight for side in sides]

    def spans(rooms: Rooms) -> list[Span]:
        return join([span for side, room in zip(sides, rooms, strict=True) for span in side.spans(*room)])

    def split(room: int) -> Rooms:
        parts = share_fairly(room, sizes, weights)
        heads = [round(part * share) for part in parts]
        return [(head, part - head) for head, part in zip(heads, parts, strict=True)]

    rooms = split(largest(min(sum(sizes), 2 * document.reach * len(sides)), lambda room: fill(spans(split(room)))))
    # Whole lines leave some room unused, and a short side more: the other one may have it, the last section first.
    ends = [end for end, part in ((1, 1 - share), (0, share)) if part]
    shown, tries = spans(rooms), TRIES
    for number in reversed(range(len(sides))):
        order, before = ends, shown
        for end in sides[number].empty(*rooms[number]) if len(ends) == 2 else []:
            # Its line is longer than half of the room, and says more than all the rest of the other end.
            line = sides[number].line(end)
            wanted = [*rooms[:number], (0, line) if end else (line, 0), *rooms[number + 1 :]]
            if fill(spans(wanted)) <= 1:
                rooms, order = wanted, [1 - end, end]
        for end in order:
            rooms = _widened(rooms, number, end, min(sizes[number], document.reach), lambda rooms: fill(spans(rooms)))
        shown = spans(rooms)
        tries = TRIES if shown != before else tries - 1
        if not tries:
            break
    return shown


def _widened(rooms: Rooms, number: int, end: int, upto: int, fill: Callable[[Rooms], float]) -> Rooms:
    """Return more room for one end of one section, as far as all of it still fits."""

    def wider(extra: int) -> Rooms:
        head, tail = rooms[number]
        here = (head + extra, tail) if end == 0 else (head, tail + extra)
        return [*rooms[:number], here, *rooms[number + 1 :]]

    return wider(largest(upto - rooms[number][end], lambda extra: fill(wider(extra)), bottom=fill(rooms)))


class _Giants:
    """Which lines could not be shown whole even if they were alone. Measuring one costs as much as showing all sections."""

    def __init__(self, fill: Fill) -> None:
        self._fill = fill
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, start: int, end: int, line: bytes) -> bool:
        if end - start < 64 and line.isascii() and b"\r" not in line:  # any limits hold so much that is shown as it is
            return False
        key = (start, end)
        if key not in self._known:
            self._known[key] = self._fill([Span(start, end)]) > 1
        return self._known[key]


class _Sides:
    """Both ends of one section, and where they may be cut."""

    def __init__(self, document: Document, section: Section, giants: _Giants) -> None:
        self.section = section
        self._giants = giants
        several = len(document.sections) > 1
        self._least = 1 if section.label else LEAST if several else section.size + 1
        opens, closes = document.gap
        start, end = section.start, section.end
        self._head_at, self._head = start, b""
        self._tail_at, self._tail = end, b""
        if opens == closes:
            opens, closes = end, start
        self._whole = section.size <= 2 * document.reach and (opens >= end or closes <= start)
        if self._whole:
            self._head = self._tail = document.blob.read(start, end)
            self._tail_at = start
        else:
            if start < opens:
                self._head = document.blob.read(start, min(start + document.reach, opens, end))
            if end > closes:
                self._tail_at = max(end - document.reach, closes, start)
                self._tail = document.blob.read(self._tail_at, end)

    def spans(self, head: int, tail: int) -> list[Span]:
        """Return what is shown when so many bytes are granted to either end."""
        start, end = self.section.start, self.section.end
        if self._whole and head + tail >= self.section.size:
            return [Span(start, end)]
        upto = self._head_cut(min(head, len(self._head)))
        since = self._tail_cut(max(0, len(self._tail) - tail))
        if head + tail >= self._least and upto == 0 and since == len(self._tail):
            # One of several is represented, if only by a part of a line.
            upto = 0 if tail else char_before(self._head, min(head, len(self._head)), 0)
            since = char_after(self._tail, max(0, since - head - tail), since) if tail else since
        if self._whole and upto >= since:
            return [Span(start, end)]
        return [Span(start, start + upto), Span(self._tail_at + since, end)]

    def empty(self, head: int, tail: int) -> list[int]:
        """Return the end of which nothing is shown, where of the other one something is."""
        parts = self.spans(head, tail)
        bare = [end for end, part in enumerate(parts) if part.start == part.end]
        return bare if len(bare) == 1 and len(parts) == 2 else []

    def line(self, end: int) -> int:
        """Return how long the first line is, or the last one."""
        data = self._tail if end else self._head
        return len(data) - data.rfind(b"\n", 0, len(data) - 1) - 1 if end else data.find(b"\n") + 1 or len(data)

    def _head_cut(self, at: int) -> int:
        data = self._head
        if at in (0, len(data)) and (self._whole or at == 0):
            return at
        line = data.rfind(b"\n", 0, at) + 1
        if line == at:
            return at
        end = data.find(b"\n", at)
        beyond = end < 0 and not self._whole  # it ends where we do not look: it can only be shown in part
        end = len(data) if end < 0 else end + 1
        if beyond or self._giants(self._head_at + line, self._head_at + end, data[line : min(end, line + 64)]):
            return char_before(data, at, line)
        return line

    def _tail_cut(self, at: int) -> int:
        data = self._tail
        if at == len(data) or (at == 0 and self._whole):
            return at
        line = data.rfind(b"\n", 0, at) + 1
        if line == at and (at > 0 or self._tail_at == self.section.start):
            return at
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end + 1
        beyond = line == 0 and self._tail_at > self.section.start  # it begins where we do not look
        if beyond or self._giants(self._tail_at + line, self._tail_at + end, data[line : min(end, line + 64)]):
            return char_after(data, at, end)
        return end


def char_before(data: bytes, at: int, line: int) -> int:
    """Return the last place up to `at` where neither a character nor an escape code is cut in two."""
    escape = data.rfind(b"\x1b", max(line, at - 32), at)
    if escape >= 0 and not _ended(data[escape:at]):
        at = escape
    for back in range(4):  # a character has at most four bytes; what looks longer is broken anyway
        if at - back <= line or at - back >= len(data) or not 0x80 <= data[at - back] < 0xC0:
            return max(line, at - back)
    return at


def char_after(data: bytes, at: int, end: int) -> int:
    """Return the first place from `at` on where neither a character nor an escape code is cut in two."""
    escape = data.rfind(b"\x1b", max(0, at - 32), at)
    if escape >= 0 and not _ended(data[escape:at]):
        while at < end and not _ended(data[escape:at]) and at - escape < 64:
            at += 1
    for ahead in range(4):
        if at + ahead >= end or not 0x80 <= data[at + ahead] < 0xC0:
            return min(end, at + ahead)
    return at


def _ended(code: bytes) -> bool:
    """Return whether an escape code that begins here is complete."""
    if len(code) < 2:
        return False
    if code[1:2] == b"[":
        return any(0x40 <= byte < 0x7F for byte in code[2:])
    return code[1:2] not in b"]PX^_" or b"\x07" in code or b"\x1b\\" in code[1:]
