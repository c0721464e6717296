"""Patterns in linear time, by Hyperscan: many at once, or one that a model wrote.

Compiling our largest table takes 0.2 s of CPU, loading it less than a millisecond, so a compiled table is cached in the
user's cache directory. A cached file that is damaged, incomplete, or that somebody else could have written is ignored
and replaced: a bad cache costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from threading import local
from types import ModuleType
from typing import Any

from msgspec import Struct

from spillover.errors import MissingExtraError
from spillover.store.folder import user_folder

#: At the start of each cached file, so that one of another version is ignored.
MAGIC = b"spillover cache 1\n"
DIGEST_BYTES = 32
#: No file of ours is larger; a larger one is not read.
MAX_CACHE_BYTES = 16 << 20
#: A temporary file older than this was left by a process that was killed.
STALE_SECONDS = 3_600
PART_PREFIX = ".part-"
#: Bytes of lines that are scanned together for those that may match, and the number of such lines after which the scan
#: stops. More of either makes a search with few matches faster, and the first match of a dense one slower.
AHEAD_BYTES = 1 << 17
AHEAD_MATCHES = 256
#: Bytes of /proc/cpuinfo that describe the first processor.
CPUINFO_BYTES = 8_192


@cache
def compile_own(source: str) -> re.Pattern[bytes]:
    """Compile a pattern of our own when it is first needed. `re` backtracks: each is linear as it is written."""
    return re.compile(source.encode())


class PatternSet:
    """Patterns, numbered in order. The first scan of a process loads them from the cache, or compiles them."""

    def __init__(
        self, patterns: Sequence[bytes], *, caseless: Sequence[bool] = (), once: bool = False, starts: bool = False
    ) -> None:
        self._patterns = list(patterns)
        self._caseless = list(caseless) or [False] * len(patterns)
        self._once = once
        self._starts = starts
        self._database: Any = None
        self._thread = local()

    def scan(self, data: bytes | memoryview, on_match: Callable[[int, int, int, int, Any], bool | None]) -> None:
        """Call `on_match` (number, start, end, flags, context) for every match; `once`: for the first of each pattern.

        Where a match starts is known only with `starts`; otherwise it is 0. `on_match` returns True to end the scan.
        """
        if not hasattr(self._thread, "scratch"):
            self.prepare()
            self._thread.scratch = _load_engine().Scratch(self._database)
        with suppress(_load_engine().ScanTerminated):
            self._database.scan(data, match_event_handler=on_match, scratch=self._thread.scratch)

    def prepare(self) -> None:
        """Load or compile the patterns, without a lock: two threads may do it twice, but no fork copies a held lock."""
        if self._database is None:
            name = self._cache_name()
            cached = _deserialize(load_cached(name))
            database = cached or self._compile()
            self._database = self._database or database
            if cached is None:
                _save_database(name, database)

    def _compile(self) -> Any:
        engine = _load_engine()
        flags = engine.HS_FLAG_MULTILINE
        flags |= engine.HS_FLAG_SINGLEMATCH if self._once else 0
        flags |= engine.HS_FLAG_SOM_LEFTMOST if self._starts else 0
        database = engine.Database()
        database.compile(
            expressions=self._patterns,
            ids=list(range(len(self._patterns))),
            flags=[flags | (engine.HS_FLAG_CASELESS if caseless else 0) for caseless in self._caseless],
        )
        return database

    def _cache_name(self) -> str:
        """Return a name that changes with the patterns, the engine and the processor."""
        table = (self._patterns, self._caseless, self._once, self._starts)
        version = getattr(_load_engine(), "__version__", "")
        key = repr((table, version, os.uname().machine, _describe_processor()))
        return f"patterns-{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def _load_engine() -> ModuleType:
    try:
        import hyperscan
    except ImportError as error:
        raise MissingExtraError(
            "searching for a pattern needs hyperscan: pip install hyperscan; -F, or fixed=true, does not"
        ) from error
    return hyperscan


def _describe_processor() -> str:
    """Return what the first processor can do: Hyperscan compiles for the features it finds."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(CPUINFO_BYTES).split(b"\n")
    except OSError:
        return ""
    return repr([line for line in lines if line.startswith((b"flags", b"Features", b"model name"))][:2])


def _deserialize(data: bytes | None) -> Any:
    """Return compiled patterns; None if there are none, or this engine refuses them."""
    if data is None:
        return None
    engine = _load_engine()
    try:
        database = engine.loadb(data, engine.HS_MODE_BLOCK)
        engine.Scratch(database)  # refused here if it was made for another processor
    except (engine.error, ValueError, TypeError, MemoryError):
        return None
    return database


def _save_database(name: str, database: Any) -> None:
    engine = _load_engine()
    try:
        data = engine.dumpb(database)
    except engine.error:
        return
    save_cached(name, data)


def load_cached(name: str) -> bytes | None:
    """Return what was saved under this name, or None if there is nothing that can be trusted."""
    folder = _cache_folder()
    try:
        if not _is_private(os.lstat(folder), is_type=stat.S_ISDIR):
            return None
        handle = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(handle)
            if not _is_private(status, is_type=stat.S_ISREG) or status.st_size > MAX_CACHE_BYTES:
                return None
            data = os.read(handle, status.st_size)  # one that is read in part fails the digest
        finally:
            os.close(handle)
    except OSError:
        return None
    head = data[: len(MAGIC) + DIGEST_BYTES]
    payload = data[len(head) :]
    return payload if head == MAGIC + _digest(name, payload) else None


def save_cached(name: str, payload: bytes) -> None:
    """Save a file of the cache, for this user alone. A disk that is full or closed is ignored."""
    folder = _cache_folder()
    part = os.path.join(folder, f"{PART_PREFIX}{os.getpid()}-{os.urandom(6).hex()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_private(os.lstat(folder), is_type=stat.S_ISDIR):
            return
        _remove_stale(folder)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        with open(handle, "wb", buffering=0) as file:
            view = memoryview(MAGIC + _digest(name, payload) + payload)
            while view:
                view = view[file.write(view) :]
        os.replace(part, os.path.join(folder, name))
    except BaseException as error:  # an interrupt leaves no file behind
        with contextlib.suppress(OSError):
            os.unlink(part)
        if not isinstance(error, OSError):
            raise


def _cache_folder() -> str:
    return user_folder(os.environ, "XDG_CACHE_HOME", ".cache")


def _is_private(status: os.stat_result, *, is_type: Callable[[int], bool]) -> bool:
    """Return whether it is of this type and nobody but this user can have written it."""
    return is_type(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _digest(name: str, payload: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + payload).digest()


def _remove_stale(folder: str) -> None:
    with os.scandir(folder) as entries:
        parts = [entry for entry in entries if entry.name.startswith(PART_PREFIX)]
    for part in parts:
        if time.time() - part.stat(follow_symlinks=False).st_mtime > STALE_SECONDS:
            os.unlink(part.path)


class PatternSyntaxError(Exception):
    """The engine refused a pattern; the message is its reason."""


class LinePattern:
    """A pattern that Hyperscan finds, one line at a time: a match never crosses a line end.

    Many lines are scanned at once for those that may match, and then each of them alone. Hyperscan knows only where a
    match can end, and the farthest such place counts.
    """

    def __init__(self, text: str, *, fixed: bool, ignore_case: bool) -> None:
        engine = _load_engine()
        self._stopped: type[Exception] = engine.ScanTerminated
        self._line = _Line(b"", 0, -1, 0, [])
        self._ahead = _Ahead(b"", 0, -1, 0, [])
        self.matches_empty = False
        flags = engine.HS_FLAG_UTF8 | engine.HS_FLAG_MULTILINE
        flags |= engine.HS_FLAG_CASELESS if ignore_case else 0
        source = re.escape(text) if fixed else text
        try:
            self._line_scanner = _compile_alone(engine, source, flags | engine.HS_FLAG_SOM_LEFTMOST)
            self._ahead_scanner = _compile_alone(engine, source, flags)  # knows only where a match ends, and is quicker
        except engine.error as error:
            reason = str(error.args[0] if error.args else error)
            self.matches_empty = "empty buffer" in reason
            if not self.matches_empty:
                raise PatternSyntaxError(reason.strip().rstrip(".")) from error

    def search(self, text: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return where the first match from `start` on begins and ends."""
        at = start if self._line.covers(text, start, end) else self._find_line(text, start, end)
        while at < end:
            line = self._read_line(text, at, end)
            nth = bisect_left(line.spans, (at, 0))
            if nth < len(line.spans):
                return line.spans[nth]
            at = self._find_line(text, line.last + 1, end)
        return None

    def _find_line(self, text: bytes, at: int, end: int) -> int:
        """Return a place in the next line that may match, from `at` on; `end` if there is none.

        Scanned together, lines match wherever one alone does, and in a few places more: where a match would cross a
        line end.
        """
        while at < end:
            ahead = self._ahead
            if ahead.text is not text or ahead.end != end or not ahead.first <= at < ahead.limit:
                ahead = self._ahead = self._look_ahead(text, at, end)
            nth = bisect_right(ahead.ends, at)
            if nth < len(ahead.ends):
                return max(at, text.rfind(b"\n", at, ahead.ends[nth] - 1) + 1)
            at = ahead.limit
        return end

    def _look_ahead(self, text: bytes, at: int, end: int) -> _Ahead:
        """Scan the next lines, up to AHEAD_MATCHES places where something ends that may match."""
        first = text.rfind(b"\n", 0, at) + 1
        last = text.find(b"\n", first + AHEAD_BYTES, end)
        limit = end if last < 0 else last + 1
        ends: list[int] = []

        def add(_number: int, _start: int, match_end: int, _flags: int, _context: object) -> bool:
            ends.append(first + match_end)
            return len(ends) > AHEAD_MATCHES

        database, scratch = self._ahead_scanner
        try:
            database.scan(memoryview(text)[first:limit], match_event_handler=add, scratch=scratch)
        except self._stopped:
            last = text.find(b"\n", ends[-1] - 1, end)
            limit = end if last < 0 else last + 1
        return _Ahead(text, end, first, limit, ends)

    def _read_line(self, text: bytes, at: int, end: int) -> _Line:
        """Return the line around a place with its matches. The last one read is remembered: it is searched again."""
        if not self._line.covers(text, at, end):
            first, last = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at, end)
            last = end if last < 0 else last
            ends: dict[int, int] = {}

            def add(_number: int, start: int, match_end: int, _flags: int, _context: object) -> None:
                ends[start] = match_end  # they come in the order of their ends

            database, scratch = self._line_scanner
            database.scan(text[first:last], match_event_handler=add, scratch=scratch)
            spans = sorted((first + start, first + match_end) for start, match_end in ends.items())
            self._line = _Line(text, end, first, last, spans)
        return self._line


def _compile_alone(engine: ModuleType, source: str, flags: int) -> tuple[Any, Any]:
    """Return a compiled pattern, and the working memory it needs."""
    database = engine.Database()
    database.compile(expressions=[source.encode()], ids=[0], flags=[flags])
    return database, engine.Scratch(database)


class _Ahead(Struct, frozen=True):
    """Lines of a text that were scanned together, and where in them something ends that may match, in order."""

    text: bytes
    end: int  # of the search
    first: int
    limit: int
    ends: list[int]


class _Line(Struct, frozen=True):
    """A line of a text, and the matches in it."""

    text: bytes
    end: int  # of the search
    first: int
    last: int
    spans: list[tuple[int, int]]

    def covers(self, text: bytes, at: int, end: int) -> bool:
        return self.text is text and self.end == end and self.first <= at <= self.last
