"""Patterns in linear time: Hyperscan, or re2 where the extra `re2` is installed (docs/decisions/044-re2-is-an-extra.md).

Both find the same lines. Hyperscan looks through many lines at once for those that may match, and then at each of them alone. Where a line holds a match, re2 says where the first one ends as Perl would; Hyperscan knows only where
a match can end, and the farthest such place is taken.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from spillover.errors import MissingExtraError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: So many bytes are looked through together, and then at so many places where something may match.
AHEAD = 1 << 17
MANY = 256


class PatternSyntaxError(Exception):
    """What the engine says about a pattern that it does not take."""


def has_re2() -> bool:
    """Return whether re2 is installed; there are no wheels of it for musl."""
    try:
        import re2  # noqa: F401  that it can be loaded is the question
    except ImportError:
        return False
    return True


def compile_given(text: str, *, fixed: bool, ignore_case: bool) -> tuple[Any, Any]:
    """Return a pattern that a model wrote, and one that takes the rest of the line as well; raise PatternSyntaxError."""
    if not has_re2():
        try:
            return (found := _LinePattern(text, fixed=fixed, ignore_case=ignore_case)), found
        except ImportError as error:
            if not fixed:
                said = "searching for a pattern needs hyperscan or re2: pip install hyperscan; -F, or fixed=true, needs neither"
                raise MissingExtraError(said) from error
            return _plain(text, ignore_case=ignore_case)
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_nl = options.never_capture = True
    options.case_sensitive = not ignore_case
    source = re2.escape(text) if fixed else text
    try:
        re2.compile(source, options)  # alone first: in parentheses, a)(b would do
        return re2.compile(f"(?m){source}", options), re2.compile(f"(?m)(?:{source})[^\\n]*", options)
    except re2.error as error:
        raise PatternSyntaxError(error.args[0].decode(errors="replace")) from error


def _plain(text: str, *, ignore_case: bool) -> tuple[Any, Any]:
    """Return the same for a text that is no pattern, which takes any engine one look."""
    import re

    flags, source = re.IGNORECASE if ignore_case else re.NOFLAG, re.escape(text).encode()
    return re.compile(source, flags), re.compile(source + rb"[^\n]*+", flags)


def compile_own(source: str) -> Any:
    """Return a pattern of our own on bytes. Without re2 it is the standard library's, which backtracks.

    So it is only for texts that are short: commands, a line of source code, what is around a secret.
    """
    if not has_re2():
        import re

        return re.compile(source.replace(r"\z", r"\Z").encode())
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(source.encode(), options)


class _Match:
    """From where to where a match reaches."""

    __slots__ = ("_span",)

    def __init__(self, start: int, end: int) -> None:
        self._span = start, end

    def span(self) -> tuple[int, int]:
        return self._span

    def end(self) -> int:
        return self._span[1]


class _LinePattern:
    """A pattern that Hyperscan finds, one line at a time: a match never crosses a line end."""

    def __init__(self, text: str, *, fixed: bool, ignore_case: bool) -> None:
        import re

        import hyperscan

        self._last = _Line(b"", -1, 0, 0, [])
        self._ahead = _Ahead(b"", -1, 0, 0, [])
        self._empty = False
        flags = (
            hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_CASELESS if ignore_case else 0)
        )
        source = re.escape(text) if fixed else text
        try:
            self._of_line = _compile(source, flags | hyperscan.HS_FLAG_SOM_LEFTMOST)
            self._of_many = _compile(source, flags)  # knows only where a match ends, and is quicker
        except hyperscan.error as error:
            said = str(error.args[0] if error.args else error)
            self._empty = "empty buffer" in said
            if not self._empty:
                raise PatternSyntaxError(said.strip().rstrip(".")) from error

    def fullmatch(self, _text: bytes, start: int, end: int) -> bool:
        """Return whether it matches no characters at all; that is the only question anybody asks."""
        return self._empty and start == end

    def search(self, text: bytes, start: int, end: int) -> _Match | None:
        """Return the first match from `start` on."""
        at = start
        while (at := self._next_line(text, at, end)) < end:
            spans, closes = self._spans(text, at, end)
            nth = bisect_left(spans, (at, 0))
            if nth < len(spans):
                return _Match(*spans[nth])
            at = closes + 1
        return None

    def finditer(self, text: bytes, start: int, end: int) -> Iterator[_Match]:
        """Yield the first match of each line, as far as the line goes."""
        while found := self.search(text, start, end):
            closes = text.find(b"\n", found.end(), end)
            start = end if closes < 0 else closes
            yield _Match(found.span()[0], start)

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
        last = self._last
        if last.text is not text or last.end != end or not last.begins <= at <= last.closes:
            begins, closes = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at, end)
            closes = end if closes < 0 else closes
            farthest: dict[int, int] = {}

            def put(_number: int, first: int, behind: int, _flags: int, _context: object) -> None:
                farthest[first] = behind  # they come by where they end

            database, scratch = self._of_line
            database.scan(text[begins:closes], match_event_handler=put, scratch=scratch)
            spans = sorted((begins + first, begins + behind) for first, behind in farthest.items())
            self._last = last = _Line(text, end, begins, closes, spans)
        return last.spans, last.closes


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
