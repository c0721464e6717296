"""Show progress on stderr: one line that is rewritten, or a few lines at growing intervals."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from spillover.cli.output import make_harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from spillover.run.command import Progress

#: Where nothing can be rewritten: the first line after so many seconds, each wait twice the one before, and no more than so many.
FIRST, MOST = 2.0, 20


class Live:
    """The progress display; bounded, however much the command prints."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._wait = FIRST
        self._due = time.monotonic() + FIRST
        self._told = 0

    def show(self, progress: Progress) -> None:
        with suppress(OSError):  # a terminal that is gone is no reason to end the command
            self._show(progress)

    def _show(self, progress: Progress) -> None:
        line = make_harmless(f"{progress.bytes:,} bytes · {progress.last}")
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
        """End the line."""
        if self._terminal:
            with suppress(OSError):
                self._out.write("\r\x1b[K")
                self._out.flush()
