"""Measuring a file while it is being written: a thread that follows the writer through the page cache."""

from __future__ import annotations

import os
import threading
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
        self._fd = os.dup(fd)
        self._meter = meter
        self._told = meter.bytes
        self._ends: SimpleQueue[int | None] = SimpleQueue()
        self._error: Exception | None = None
        self._last = meter.bytes
        self._thread = threading.Thread(target=self._run, name="spillover-meter", daemon=True)
        self._thread.start()

    def upto(self, end: int) -> None:
        """The file is written up to here."""
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
        self._thread.join()

    def _run(self) -> None:
        try:
            while (end := self._ends.get()) is not None:
                while self._meter.bytes < end:
                    self._feed(end)
        except Exception as error:  # noqa: BLE001  whatever it is: nothing may be called measured that was not
            self._error = error
        finally:
            os.close(self._fd)

    def _feed(self, end: int) -> None:
        at = self._meter.bytes
        base = at - at % ALLOCATIONGRANULARITY
        with (
            mmap(self._fd, min(WINDOW, end - base), access=ACCESS_READ, offset=base) as window,
            memoryview(window) as view,
        ):
            self._meter.feed(view[at - base :])
