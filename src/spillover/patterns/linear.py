"""Patterns in linear time, by Hyperscan.

Many lines are scanned at once for those that may match, and then each of them alone. Hyperscan knows only where a match can
end, and the farthest such place is taken.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache

from spillover.errors import MissingExtraError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: So many bytes are looked through together, and then at so many places where something may match.
AHEAD = 1 << 17
MANY = 256


class PatternSyntaxError(Exception):
    """What the engine says about a pattern that it does not take."""


@cache
def compile_own(source: str) -> re.Pattern[bytes]:
    """Return a pattern of our own, compiled when it is first needed. This engine backtracks: each of them is linear as it is written."""
    return re.compile(source.encode())


class LinePattern:
    """A pattern that Hyperscan finds, one line at a time: a match never crosses a line end."""

    def __init__(self, text: str, *, fixed: bool, ignore_case: bool) -> None:
        try:
            import hyperscan
        except ImportError as error:
            said = "searching for a pattern needs hyperscan: pip install hyperscan; -F, or fixed=true, does not"
            raise MissingExtraError(said) from error
        self._last = _Line(b"", -1, 0, 0, [])
        self._ahead = _Ahead(b"", -1, 0, 0, [])
        self.matches_empty = False
        flags = (
            hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_CASELESS if ignore_case else 0)
        )
        source = re.escape(text) if fixed else text
        try:
            self._of_line = _compile(source, flags | hyperscan.HS_FLAG_SOM_LEFTMOST)
            self._of_many = _compile(source, flags)  # knows only where a match ends, and is quicker
        except hyperscan.error as error:
            said = str(error.args[0] if error.args else error)
            self.matches_empty = "empty buffer" in said
            if not self.matches_empty:
                raise PatternSyntaxError(said.strip().rstrip(".")) from error

    def search(self, text: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return where the first match from `start` on begins and ends."""
        at = start if self._knows_line(text, start, end) else self._next_line(text, start, end)
        while at < end:
            spans, closes = self._spans(text, at, end)
            nth = bisect_left(spans, (at, 0))
            if nth < len(spans):
                return spans[nth]
            at = self._next_line(text, closes + 1, end)
        return None

    def _knows_line(self, text: bytes, at: int, end: int) -> bool:
        """Return whether the line around a place is the one that was scanned last."""
        last = self._last
        return last.text is text and last.end == end and last.begins <= at <= last.closes

    def _next_line(self, text: bytes, at: int, end: int) -> int:
        """Return a place in the next line that may match, from `at` on; `end` where there is none.

        Looked at together, lines match wherever one alone does, and in a few places more: where a match would cross a line end.
        """
        while at < end:
            ahead = self._ahead
            if ahead.text is not text or ahead.end != end or not ahead.begins <= at < ahead.upto:
                ahead = self._ahead = self._look_ahead(text, at, end)
            nth = bisect_right(ahead.found, at)
            if nth < len(ahead.found):
                return max(at, text.rfind(b"\n", at, ahead.found[nth] - 1) + 1)
            at = ahead.upto
        return end

    def _look_ahead(self, text: bytes, at: int, end: int) -> _Ahead:
        """Look through the next lines, as far as there are not many places where something ends that may match."""
        begins = text.rfind(b"\n", 0, at) + 1
        closes = text.find(b"\n", begins + AHEAD, end)
        upto = end if closes < 0 else closes + 1
        found: list[int] = []

        def put(_number: int, _first: int, behind: int, _flags: int, _context: object) -> bool:
            found.append(begins + behind)
            return len(found) > MANY

        database, scratch = self._of_many
        try:
            database.scan(memoryview(text)[begins:upto], match_event_handler=put, scratch=scratch)
        except _stopped():
            closes = text.find(b"\n", found[-1] - 1, end)
            upto = end if closes < 0 else closes + 1
        return _Ahead(text, end, begins, upto, found)

    def _spans(self, text: bytes, at: int, end: int) -> tuple[list[tuple[int, int]], int]:
        """Return the matches in the line around a place, in order, and where it ends. It is remembered, and asked about again."""
        if not self._knows_line(text, at, end):
            begins, closes = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at, end)
            closes = end if closes < 0 else closes
            farthest: dict[int, int] = {}

            def put(_number: int, first: int, behind: int, _flags: int, _context: object) -> None:
                farthest[first] = behind  # they come by where they end

            database, scratch = self._of_line
            database.scan(text[begins:closes], match_event_handler=put, scratch=scratch)
            spans = sorted((begins + first, begins + behind) for first, behind in farthest.items())
            self._last = _Line(text, end, begins, closes, spans)
        return self._last.spans, self._last.closes


def _compile(source: str, flags: int) -> tuple[Any, Any]:
    """Return a pattern, and the working memory it needs."""
    import hyperscan

    database = hyperscan.Database()
    database.compile(expressions=[source.encode()], ids=[0], flags=[flags])
    return database, hyperscan.Scratch(database)


def _stopped() -> type[Exception]:
    """Return what Hyperscan raises where it was told to stop."""
    import hyperscan

    stopped: type[Exception] = hyperscan.ScanTerminated
    return stopped


class _Ahead:
    """Lines of a text that were looked through together, and where in them something ends that may match, in order."""

    __slots__ = ("begins", "end", "found", "text", "upto")

    def __init__(self, text: bytes, end: int, begins: int, upto: int, found: list[int]) -> None:
        self.text, self.end, self.begins, self.upto, self.found = text, end, begins, upto, found


class _Line:
    """A line of a text, and the matches in it."""

    __slots__ = ("begins", "closes", "end", "spans", "text")

    def __init__(self, text: bytes, end: int, begins: int, closes: int, spans: list[tuple[int, int]]) -> None:
        self.text, self.end, self.begins, self.closes, self.spans = text, end, begins, closes, spans
