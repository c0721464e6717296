"""Showing on stderr how far a command has come: one line that is rewritten, or few lines that get rarer."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from spillover.run import Progress

#: Where nothing can be rewritten: the first line after so many seconds, each wait twice the one before, and no more than so many.
FIRST, MOST = 2.0, 20


class Live:
    """Bounded by itself, however much the command prints."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._wait = FIRST
        self._due = time.monotonic() + FIRST
        self._told = 0

    def show(self, progress: Progress) -> None:
        line = f"{progress.bytes:,} bytes · {progress.last}"
        if self._terminal:
            width = max(20, os.get_terminal_size(self._out.fileno()).columns - 1)
            self._out.write(f"\r\x1b[K{line[:width]}")
            self._out.flush()
        elif self._told < MOST and time.monotonic() >= self._due:
            self._told += 1
            self._wait *= 2
            self._due = time.monotonic() + self._wait
            self._out.write(f"{line[:200]}\n")
            self._out.flush()

    def end(self) -> None:
        """Leave no half line behind."""
        if self._terminal:
            self._out.write("\r\x1b[K")
            self._out.flush()
