"""Measuring a file while it is being written: threads that follow the writer through the page cache.

One hashes, the other counts. Neither waits for the other, so with two cores to run on the hash alone sets the pace.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, mmap
from queue import SimpleQueue

from spillover.errors import StoreError
from spillover.intake.meter import Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Mapped at a time; what is mapped counts as memory in use.
WINDOW = 4 << 20
#: Below this much news the threads are not woken.
STEP = 1 << 20


class Follower:
    """Feeds a meter with what stands in a file, up to where the writer says it has come."""

    def __init__(self, fd: int, meter: Meter) -> None:
        self._fd, self._own = _duplicate(fd)
        self._told = self._last = meter.bytes
        self._readers = (_Reader(self._fd, meter.bytes, meter.hash), _Reader(self._fd, meter.bytes, meter.tally))

    def upto(self, end: int) -> None:
        """Note that the file is written up to here."""
        self._last = end
        if end - self._told >= STEP:
            self._told = end
            for reader in self._readers:
                reader.ends.put(end)

    def finish(self) -> None:
        """Measure the rest; raises StoreError when the file could not be read back."""
        for reader in self._readers:
            reader.ends.put(self._last)
        self.stop()
        for reader in self._readers:
            if reader.error:
                raise StoreError(f"what was stored could not be read back: {reader.error}")

    def stop(self) -> None:
        for reader in self._readers:
            reader.ends.put(None)
        for reader in self._readers:
            reader.wait()
        if self._own:
            self._own = False  # it may be told to stop again
            with suppress(OSError):  # nothing was written by way of it
                os.close(self._fd)


class _Reader:
    """Hands on what stands in a file, in a thread of its own, up to the ends it is told; None is the last of them."""

    def __init__(self, fd: int, at: int, take: Callable[[memoryview], None]) -> None:
        self.ends: SimpleQueue[int | None] = SimpleQueue()
        self.error: Exception | None = None
        self._fd, self._at, self._take = fd, at, take
        self._thread: threading.Thread | None = threading.Thread(target=self._run, name="spillover-meter", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads here: everything is measured at the end
            self._thread = None

    def wait(self) -> None:
        if self._thread:
            self._thread.join()
        else:
            self._run()

    def _run(self) -> None:
        try:
            while (end := self.ends.get()) is not None:
                while self._at < end:
                    self._at += self._read(end)
        except Exception as error:  # noqa: BLE001  whatever it is: nothing may be called measured that was not
            self.error = error

    def _read(self, end: int) -> int:
        """Hand on the next bytes; return how many."""
        at = self._at
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
            self._take(memoryview(part))
            return len(part)
        with window, memoryview(window) as view, view[at - base :] as part_of_it:
            self._take(part_of_it)
            return len(part_of_it)


def _duplicate(fd: int) -> tuple[int, bool]:
    """Return a descriptor of our own, so that the writer may close its; where there are no more, the writer's has to do."""
    try:
        return os.dup(fd), True
    except OSError:
        return fd, False
