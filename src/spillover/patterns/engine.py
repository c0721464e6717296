"""Many patterns in one pass: Hyperscan, compiled when first needed, with working memory of its own for each thread.

Compiling our largest table takes 0.2 s of CPU, loading it less than a millisecond, so the compiled form is cached on disk.
"""

from __future__ import annotations

import os
from threading import local

from spillover.patterns import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Engine:
    """Patterns, numbered in order. The first scan of a process loads them from the cache, or compiles them."""

    def __init__(
        self, patterns: Sequence[bytes], *, caseless: Sequence[bool] = (), once: bool = False, starts: bool = False
    ) -> None:
        self._patterns, self._once, self._starts = patterns, once, starts
        self._caseless = caseless or [False] * len(patterns)
        self._database: Any = None
        self._own = local()

    def scan(self, data: bytes | memoryview, found: Callable[[int, int, int, int, Any], bool | None]) -> None:
        """Call `found` (number, start, end, flags, context) for every match; `once`: for the first of each pattern.

        Where a match starts is known only with `starts`; otherwise it is 0.
        """
        if not hasattr(self._own, "scratch"):
            self.prepare()
            import hyperscan

            self._own.scratch = hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=found, scratch=self._own.scratch)

    def prepare(self) -> None:
        """Load or compile the patterns. Without a lock: two threads may do it twice, but a fork never copies a held lock."""
        if self._database is None:
            name = self._cache_name()
            loaded = _deserialize(cache.load(name))
            database = loaded or self._compile()
            self._database = self._database or database
            if loaded is None:
                _save(name, database)

    def _compile(self) -> Any:
        import hyperscan

        flags = hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_SINGLEMATCH if self._once else 0)
        flags |= hyperscan.HS_FLAG_SOM_LEFTMOST if self._starts else 0
        database = hyperscan.Database()
        database.compile(
            expressions=list(self._patterns),
            ids=list(range(len(self._patterns))),
            flags=[flags | (hyperscan.HS_FLAG_CASELESS if either else 0) for either in self._caseless],
        )
        return database

    def _cache_name(self) -> str:
        """Return a name that changes with the patterns, the engine and the processor."""
        import hashlib

        import hyperscan

        made_of = (list(self._patterns), list(self._caseless), self._once, self._starts)
        key = repr((made_of, getattr(hyperscan, "__version__", ""), os.uname().machine, _processor()))
        return f"patterns-{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def _processor() -> str:
    """Return what the first processor can do: Hyperscan compiles for the features it finds."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(8_192).split(b"\n")
    except OSError:
        return ""
    return repr([line for line in lines if line.startswith((b"flags", b"Features", b"model name"))][:2])


def _deserialize(data: bytes | None) -> Any:
    """Return the compiled patterns, or None where there are none or this engine does not take them."""
    if data is None:
        return None
    import hyperscan

    try:
        database = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
        hyperscan.Scratch(database)  # refused here where it was made for another processor
    except (hyperscan.error, ValueError, TypeError, MemoryError):
        return None
    return database


def _save(name: str, database: Any) -> None:
    import hyperscan

    try:
        data = hyperscan.dumpb(database)
    except hyperscan.error:
        return
    cache.save(name, data)
