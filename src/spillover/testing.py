"""Helpers for your tests and ours: the store contract, a store that fails on demand, strict selectors, odd chunks.

In production, a selector that raises does not end the tool call: both ends are shown, and `Clip.why` and the notice say
so. To make it a failure of your tests, your own selectors and ours alike:

    @pytest.fixture(autouse=True)
    def _selectors_may_not_fail():
        with strict_selectors():
            yield

To check a store of your own against the contract, add a class to your tests:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            return MyStore()       # a new, empty store each time
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from spillover.errors import StoreError, UsageError
from spillover.show import fit
from spillover.source.blob import Blob
from spillover.store import Store, WrappedStore, Writer
from spillover.store.contract import HOSTILE_REFS, StoreContract, byte_by_byte, chunked, content, put, record_of
from spillover.store.record import Record

__all__ = [
    "HOSTILE_REFS",
    "FailingStore",
    "StoreContract",
    "byte_by_byte",
    "chunked",
    "content",
    "peak_memory",
    "put",
    "record_of",
    "strict_selectors",
]


@contextmanager
def strict_selectors() -> Iterator[None]:
    """Let a selector that raises end the call with its own exception, in every thread, while the block lasts."""
    before, fit.SURVIVED = fit.SURVIVED, ()
    try:
        yield
    finally:
        fit.SURVIVED = before


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, not counting its parent."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage includes what the parent had when it forked
        return next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


class FailingStore(WrappedStore):
    """A store that fails at a chosen point, with a chosen reason, and otherwise passes every call to `inner`."""

    def __init__(
        self,
        inner: Store,
        *,
        on: Literal["writer", "write", "publish"] = "write",
        after_bytes: int = 0,
        reason: str = "No space left on device",
    ) -> None:
        if on not in ("writer", "write", "publish"):
            raise UsageError(f'on={on!r} is unknown; use "writer", "write" or "publish".')
        super().__init__(inner)
        self.on = on
        self.after_bytes = after_bytes
        self.reason = reason

    def writer(self) -> Writer:
        if self.on == "writer":
            raise StoreError(self.reason)
        return _FailingWriter(self, self.inner.writer())


class _FailingWriter:
    def __init__(self, store: FailingStore, inner: Writer) -> None:
        self.store, self.inner, self.written = store, inner, 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += len(data)
        if self.store.on == "write" and self.written > self.store.after_bytes:
            raise StoreError(self.store.reason)
        self.inner.write(data)

    def fileno(self) -> None:
        """Return None, so that every byte passes through `write`."""

    def blob(self) -> Blob:
        return self.inner.blob()

    def publish(self, record: Record) -> Record:
        if self.store.on == "publish":
            self.inner.abandon()
            raise StoreError(self.store.reason)
        return self.inner.publish(record)

    def abandon(self) -> None:
        self.inner.abandon()
