"""Secrets in several streams at once: found in each stream by itself, and in the order in which their pieces came.

Pieces leave in the order in which they came. What a stream printed waits until it is known to be no part of a secret, and
what came after it waits with it, up to LONGEST_WAIT bytes: a secret that a stream prints in parts farther apart than that
is not found.
"""

from __future__ import annotations

from collections import deque

from spillover.secrets.outputs import MARGIN, PIECE, Stream, find, mark, open_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of all streams together for which the open line of one is waited for.
LONGEST_WAIT = 1 << 18


class _Own:
    """One stream: what finds its secrets, and where the bytes stand that it still looks at."""

    def __init__(self) -> None:
        self.finder = Stream()
        self.runs: deque[tuple[int, int]] = deque()  # start and end, counted over all streams

    @property
    def opens(self) -> int | None:
        """Where the first byte stands that is not certain yet."""
        return self.runs[0][0] if self.runs else None


class Streams:
    """Covers secrets in the pieces of any number of streams. Where one stream prints alone, it is looked at once."""

    def __init__(self) -> None:
        self._all: dict[str, _Own] = {}
        self._alone = ""  # while no other stream has anything open, this one needs no order
        self._mixed = False  # several have, and an order is kept
        self._done = 0  # secrets found by finders that have ended, or only in the order of all
        self._start = 0  # how many bytes have left
        self._raw = bytearray()  # what came since, and has not left
        self._out = bytearray()  # the same without the secrets of each stream
        self._runs: deque[tuple[str, int]] = deque()  # whose they are, and how many
        self._before = b""  # what left last; only looked at

    @property
    def count(self) -> int:
        """How many secrets were covered."""
        return self._done + sum(own.finder.count for own in self._all.values())

    @property
    def waiting(self) -> int:
        """How many bytes have come and not left."""
        return len(self._raw) if self._mixed else sum(len(own.finder.held) for own in self._all.values())

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]:
        """Yield what is certain by now, in the order in which it came, and whose it is."""
        own = self._all.setdefault(stream, _Own())
        if not self._mixed and stream != self._alone:
            if self._alone in self._all and not self._all[self._alone].finder.is_clean:
                self._mix()
            self._alone = stream
        if not self._mixed:
            for piece in own.finder.pieces(data):
                yield stream, piece
            return
        view = memoryview(data).cast("B")
        while view:
            self._end_old_lines()
            opens = own.opens
            room = PIECE if opens is None else min(PIECE, opens + LONGEST_WAIT - self._end)
            self._take_in(stream, own, view[:room])
            view = view[room:]
            yield from self._leave(self._certain())

    def finish(self) -> Iterator[tuple[str, bytes]]:
        """Yield the rest."""
        if not self._mixed:
            for stream, own in self._all.items():
                yield stream, own.finder.finish()
            return
        for own in self._all.values():
            self._end_line(own)
        yield from self._leave(len(self._raw))

    @property
    def _end(self) -> int:
        return self._start + len(self._raw)

    def _mix(self) -> None:
        """Begin to keep an order: another stream prints while this one has something open."""
        own, self._start, self._mixed = self._all[self._alone], 0, True
        self._before, self._raw = own.finder.before, bytearray(own.finder.held)
        self._out = bytearray(self._raw)
        if self._raw:
            self._runs.append((self._alone, len(self._raw)))
            own.runs.append((0, len(self._raw)))

    def _take_in(self, stream: str, own: _Own, data: memoryview) -> None:
        begin = self._end
        self._raw += data
        self._out += data
        last = self._runs[-1] if self._runs else ("", 0)
        if last[0] == stream:
            self._runs[-1] = (stream, last[1] + len(data))
        else:
            self._runs.append((stream, len(data)))
        if own.runs and own.runs[-1][1] == begin:
            own.runs[-1] = (own.runs[-1][0], self._end)
        else:
            own.runs.append((begin, self._end))
        self._put_back(own, own.finder.feed(data))

    def _put_back(self, own: _Own, covered: bytes) -> None:
        """Write what is certain of one stream where it came from."""
        at = 0
        while at < len(covered):
            begin, end = own.runs.popleft()
            count = min(end - begin, len(covered) - at)
            self._out[begin - self._start : begin - self._start + count] = covered[at : at + count]
            at += count
            if begin + count < end:
                own.runs.appendleft((begin + count, end))

    def _end_old_lines(self) -> None:
        """Wait no longer for lines that have been open for too long."""
        for own in self._all.values():
            if own.opens is not None and self._end - own.opens >= LONGEST_WAIT:
                self._end_line(own)

    def _end_line(self, own: _Own) -> None:
        self._put_back(own, own.finder.finish())
        self._done += own.finder.count
        own.finder = Stream()

    def _certain(self) -> int:
        """Return how many bytes can leave; 0 while it is too few to look at them."""
        opened = [own.opens - self._start for own in self._all.values() if own.opens is not None]
        size = len(self._raw)
        certain = min([*opened, max(self._raw.rfind(b"\n", max(0, size - MARGIN)) + 1, size - MARGIN)])
        enough = certain == size or certain >= max(MARGIN, size // 2)  # each look costs all of it
        return certain if enough else 0

    def _leave(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Cover what is a secret in the order of all, and let so many bytes go."""
        if count:
            since, raw = len(self._before), self._before + bytes(self._raw)
            out = bytearray(self._before + self._out)
            for one in find(raw):
                if one.end > since and one.start < since + count:
                    if one.start >= since and out[one.start : one.end] == raw[one.start : one.end]:
                        self._done += 1
                    out[one.start : one.end] = mark(raw[one.start : one.end], one.kind)
            left, at = bytes(out[since : since + count]), 0
            self._before = open_end(raw, since + count)
            self._start += count
            del self._raw[:count], self._out[:count]
            while at < count:
                stream, size = self._runs.popleft()
                taken = min(size, count - at)
                if taken < size:
                    self._runs.appendleft((stream, size - taken))
                yield stream, left[at : at + taken]
                at += taken
        if not self._raw and not self._before and all(own.finder.is_clean for own in self._all.values()):
            self._mixed = False
