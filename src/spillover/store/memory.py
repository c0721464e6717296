"""MemoryStore: outputs in this process, for tests and for processes that end soon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Lock

from msgspec.structs import replace

from spillover.errors import StoreError, UsageError
from spillover.source.blob import MemoryBlob
from spillover.store import BaseStore
from spillover.store.record import Record, RefTakenError, RunRecord, merge, name_for, newest_first, released_by, resolve

#: Runs that are remembered; more take more memory.
MAX_RUNS = 100


class MemoryStore(BaseStore):
    """Outputs in memory; above `max_bytes`, the oldest that are not pinned are removed."""

    __slots__ = ("__weakref__", "_lock", "_outputs", "_runs", "max_bytes")

    def __init__(self, *, max_bytes: int | None = None) -> None:
        if max_bytes is not None and max_bytes < 1:
            raise UsageError(f"MemoryStore(max_bytes={max_bytes}) has room for nothing; use 1 or more, or None.")
        self.max_bytes = max_bytes
        self._outputs: dict[str, tuple[Record, bytes]] = {}  # in order of arrival, the oldest first
        self._lock = Lock()
        self._runs: list[RunRecord] = []  # the newest first

    def writer(self) -> MemoryWriter:
        return MemoryWriter(self)

    def get(self, ref: str) -> Record:
        return self._find(ref)[0]

    def open(self, ref: str) -> MemoryBlob:
        return MemoryBlob(self._find(ref)[1])

    def list(self) -> Iterator[Record]:
        with self._lock:
            records = [record for record, _ in self._outputs.values()]
        return iter(newest_first(records))

    def remember(self, run: RunRecord) -> None:
        """Remember a run. A store with a limit does not remember the output that fitted."""
        with self._lock:
            if self.max_bytes is not None and run.data:
                run = replace(run, data=None, reason="the store has no room for it")
            self._runs = [run, *self._runs[: MAX_RUNS - 1]]

    def runs(self) -> Iterator[RunRecord]:
        with self._lock:
            return iter(self._runs)

    def delete(self, ref: str) -> None:
        with self._lock:
            whole = self._resolve(ref)
            del self._outputs[whole]
            self._forget(whole)

    def release(self, ref: str, scope: str) -> None:
        """Remove an output from a scope, and from the store if no other scope has it."""
        with self._lock:
            whole = self._resolve(ref)
            record, data = self._outputs[whole]
            remaining = released_by(record, scope)
            self._forget(whole, scope)
            if remaining is None:
                del self._outputs[whole]
            else:
                self._outputs[whole] = remaining, data

    def pin(self, ref: str, pinned: bool = True) -> None:
        with self._lock:
            whole = self._resolve(ref)
            record, data = self._outputs[whole]
            self._outputs[whole] = replace(record, pinned=pinned), data

    def where(self, ref: str) -> None:
        """Return None: there is no file that another tool could open."""

    def _forget(self, ref: str, scope: str | None = None) -> None:
        """Remove the bytes of an output from its runs."""
        self._runs = [run.without_bytes(ref) if run.has_bytes_of(ref, scope) else run for run in self._runs]

    def _find(self, ref: str) -> tuple[Record, bytes]:
        with self._lock:
            return self._outputs[self._resolve(ref)]

    def _resolve(self, ref: str) -> str:
        return resolve(ref, iter(self._outputs))

    def add(self, record: Record, data: bytes) -> Record:
        """Add an output and return its record; the oldest outputs make room for it."""
        with self._lock:
            ref = name_for(record.tool, record.sha256)
            present, _ = self._outputs.get(ref, (None, b""))
            if present is None:
                self._make_room(len(data))
            elif present.sha256 != record.sha256:
                raise RefTakenError(ref)
            else:
                record = merge(present, record)
            self._outputs.pop(ref, None)  # insert it again at the end, as the youngest
            self._outputs[ref] = record.with_ref(ref), data
            return self._outputs[ref][0]

    def _make_room(self, more_bytes: int) -> None:
        if self.max_bytes is None:
            return
        loose = [(ref, len(data)) for ref, (record, data) in self._outputs.items() if not record.pinned]
        room = self.max_bytes - sum(len(data) for _, data in self._outputs.values())
        if room + sum(size for _, size in loose) < more_bytes:
            raise StoreError(f"The store holds at most {self.max_bytes:,} bytes, and what is pinned leaves too few.")
        for ref, size in loose:
            if room >= more_bytes:
                break
            del self._outputs[ref]
            room += size


class MemoryWriter:
    """An output on its way into memory."""

    __slots__ = ("_data", "_store")

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._data: bytearray | None = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        buffer = self._open()
        limit = self._store.max_bytes
        if limit is not None and len(buffer) + memoryview(data).nbytes > limit:
            raise StoreError(f"The store holds at most {limit:,} bytes.")
        buffer += data

    def fileno(self) -> None:
        """Return None: there is no descriptor."""

    def blob(self) -> MemoryBlob:
        return MemoryBlob(bytes(self._open()))

    def publish(self, record: Record) -> Record:
        data = bytes(self._open())
        self.abandon()
        return self._store.add(record.with_created(time.time()), data)

    def abandon(self) -> None:
        self._data = None

    def _open(self) -> bytearray:
        if self._data is None:
            raise StoreError("This output has already been published or abandoned.")
        return self._data
