"""Many patterns in one pass: Hyperscan, compiled when first needed, with working memory of its own for each thread."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Engine:
    """Patterns, numbered as they come. The first scan of a process compiles them."""

    def __init__(self, patterns: Sequence[bytes], *, caseless: Sequence[bool] = (), once: bool = False) -> None:
        self._patterns, self._once = patterns, once
        self._caseless = caseless or [False] * len(patterns)
        self._making = threading.Lock()
        self._database: Any = None
        self._own = threading.local()

    def scan(self, data: bytes | memoryview, found: Callable[[int, int, int, int, Any], bool | None]) -> None:
        """Tell `found` (number, start, end, flags, context) of every match; `once`: of the first of each pattern."""
        if not hasattr(self._own, "scratch"):
            import hyperscan

            self._own.scratch = hyperscan.Scratch(self._compiled())
        self._database.scan(data, match_event_handler=found, scratch=self._own.scratch)

    def _compiled(self) -> Any:
        import hyperscan

        with self._making:
            if self._database is None:
                flags = hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_SINGLEMATCH if self._once else 0)
                made = hyperscan.Database()
                made.compile(
                    expressions=list(self._patterns),
                    ids=list(range(len(self._patterns))),
                    flags=[flags | (hyperscan.HS_FLAG_CASELESS if either else 0) for either in self._caseless],
                )
                self._database = made
            return self._database
