"""Measuring a file while it is being written: a thread that follows the writer through the page cache."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, mmap
from queue import SimpleQueue

from spillover.errors import StoreError
from spillover.intake.meter import Meter

#: Mapped at a time; what is mapped counts as memory in use.
WINDOW = 4 << 20
#: Below this much news the thread is not woken.
STEP = 1 << 20


class Follower:
    """Feeds a meter with what stands in a file, up to where the writer says it has come."""

    def __init__(self, fd: int, meter: Meter) -> None:
        self._fd, self._own = _duplicate(fd)
        self._meter = meter
        self._told = meter.bytes
        self._ends: SimpleQueue[int | None] = SimpleQueue()
        self._error: Exception | None = None
        self._last = meter.bytes
        self._thread: threading.Thread | None = threading.Thread(target=self._run, name="spillover-meter", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads here: everything is measured at the end
            self._thread = None

    def upto(self, end: int) -> None:
        """Note that the file is written up to here."""
        self._last = end
        if end - self._told >= STEP:
            self._told = end
            self._ends.put(end)

    def finish(self) -> None:
        """Measure the rest; raises StoreError when the file could not be read back."""
        self._ends.put(self._last)
        self.stop()
        if self._error:
            raise StoreError(f"what was stored could not be read back: {self._error}")

    def stop(self) -> None:
        self._ends.put(None)
        if self._thread:
            self._thread.join()
        else:
            self._run()

    def _run(self) -> None:
        try:
            while (end := self._ends.get()) is not None:
                while self._meter.bytes < end:
                    self._feed(end)
        except Exception as error:  # noqa: BLE001  whatever it is: nothing may be called measured that was not
            self._error = error
        finally:
            if self._own:
                self._own = False  # it may be told to stop again
                with suppress(OSError):  # nothing was written by way of it
                    os.close(self._fd)

    def _feed(self, end: int) -> None:
        at = self._meter.bytes
        base = at - at % ALLOCATIONGRANULARITY
        try:
            window = mmap(self._fd, min(WINDOW, end - base), access=ACCESS_READ, offset=base)
        except (
            OSError,
            ValueError,
        ):  # it takes a descriptor of its own, and there may be no more; or the file is short
            part = os.pread(self._fd, min(STEP, end - at), at)
            if not part:
                raise StoreError("the file is shorter than what was written") from None
            self._meter.feed(part)
            return
        with window, memoryview(window) as view:
            self._meter.feed(view[at - base :])


def _duplicate(fd: int) -> tuple[int, bool]:
    """Return a descriptor of our own, so that the writer may close its; where there are no more, the writer's has to do."""
    try:
        return os.dup(fd), True
    except OSError:
        return fd, False
