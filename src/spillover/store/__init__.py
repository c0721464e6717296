"""Stores of whole outputs: the Protocol that every store follows, and a base class with defaults."""

from __future__ import annotations

import builtins  # a method has the name of a type
from collections.abc import Iterator
from contextlib import closing
from typing import Protocol, Self

from spillover.errors import RefError, StoreError
from spillover.source.blob import Blob, measure
from spillover.store.record import EVERY, REF_SHAPE, BytesMissingError, Record, RunRecord

#: A ref that no output has. If a store fails for this one, too, the whole store is unreadable.
NO_REF = "tool-" + "0" * 64
#: The answer of `verify` for a record without its bytes.
BYTES_MISSING = "its bytes are missing"


class Writer(Protocol):
    """An output that is being stored. It is not visible before `publish`."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of it, or raise StoreError and append nothing."""

    def fileno(self) -> int | None:
        """Return the file descriptor of the bytes written so far, if there is one."""

    def blob(self) -> Blob:
        """Return the bytes written so far, so that lines can be selected before they are published."""

    def publish(self, record: Record) -> Record:
        """Make it visible, all at once, and return the record with its ref. Raises StoreError."""

    def abandon(self) -> None:
        """Leave nothing behind. Safe to call at any time, more than once, and after `publish`."""


class Store(Protocol):
    """A store of whole outputs."""

    def writer(self) -> Writer:
        """Start storing an output; raises StoreError if the store cannot take any."""

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix; raises RefError."""

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref; raises RefError, or StoreError when they cannot be read."""

    def list(self) -> Iterator[Record]:
        """Return every stored output, newest first."""

    def delete(self, ref: str) -> None:
        """Remove one output; raises RefError when there is none."""

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output."""

    def where(self, ref: str) -> str | None:
        """Return a path that other tools can open, if there is one; for a complete ref, also before it is published."""


class BaseStore:
    """Base class of stores: the methods of `Store` for you to write, and defaults for all others.

    Override a default where your store can do better, for example with fewer requests.
    """

    __slots__ = ()

    def writer(self) -> Writer:
        """Start storing an output."""
        raise NotImplementedError

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix."""
        raise NotImplementedError

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref."""
        raise NotImplementedError

    def list(self) -> Iterator[Record]:
        """Return every stored output, newest first."""
        raise NotImplementedError

    def delete(self, ref: str) -> None:
        """Remove one output."""
        raise NotImplementedError

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output."""
        raise NotImplementedError

    def where(self, ref: str) -> str | None:
        """Return a path that other tools can open, if there is one."""
        raise NotImplementedError

    @property
    def scope(self) -> str:
        """The scope that this object shows: EVERY, unless the store tells scopes apart."""
        return EVERY

    @property
    def folder(self) -> str | None:
        """The folder on this machine for outputs and the journal; None if there is none."""
        return None

    @property
    def local(self) -> BaseStore | None:
        """The store of the outputs that are only on this machine, if this one is elsewhere."""
        return None

    def for_scope(self, scope: str) -> Self:  # noqa: ARG002  most stores do not tell scopes apart
        """Return the part of the store that a scope may see, or the whole store; its `scope` names that part."""
        return self

    def open_record(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes of a ref."""
        record = self.get(ref)
        return record, self.open(record.ref)

    def get_any_scope(self, ref: str) -> Record | None:
        """Return the record of a complete ref in any scope; None if there is none, or it cannot be read.

        It serves only to recognize forged notices: a clip of one project may pass through another.
        """
        if not REF_SHAPE.fullmatch(ref):
            return None
        try:
            record = self.get(ref)
        except RefError:
            return None
        except StoreError:
            try:
                self.get(NO_REF)  # does the whole store fail?
            except RefError:
                return None
            raise
        return record if record.ref == ref else None

    def newest(self, count: int | None = None) -> tuple[builtins.list[Record], int]:
        """Return the newest outputs, and the number of all; without `count`, all that a search should read."""
        records = [*self.list()]
        return records[:count], len(records)

    def damaged(self) -> builtins.list[str]:
        """Return the refs whose record cannot be read."""
        return []

    def release(self, ref: str, scope: str) -> None:  # noqa: ARG002  see for_scope
        """Remove an output from one scope only."""
        raise StoreError(f"{ref} cannot be deleted from one scope only in this store; delete it in all of them.")

    def find_ref(self, path: str) -> str | None:  # noqa: ARG002  see for_scope
        """Return the ref of the output at a path, for a store with names of its own; the path is not opened."""
        return None

    def remember(self, run: RunRecord) -> None:
        """Remember a run, if the store remembers any."""

    def runs(self) -> Iterator[RunRecord]:
        """Return the remembered runs, newest first."""
        return iter(())


class WrappedStore(BaseStore):
    """A store that passes every call to another one, which may have the methods of `Store` only."""

    __slots__ = ("inner",)

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def writer(self) -> Writer:
        return self.inner.writer()

    def get(self, ref: str) -> Record:
        return self.inner.get(ref)

    def open(self, ref: str) -> Blob:
        return self.inner.open(ref)

    def list(self) -> Iterator[Record]:
        return self.inner.list()

    def delete(self, ref: str) -> None:
        self.inner.delete(ref)

    def pin(self, ref: str, pinned: bool = True) -> None:
        self.inner.pin(ref, pinned)

    def where(self, ref: str) -> str | None:
        return self.inner.where(ref)


class WrappedWriter:
    """A writer around another one, for a store that publishes differently."""

    __slots__ = ("abandon", "blob", "fileno", "inner", "write")

    def __init__(self, inner: Writer) -> None:
        self.inner = inner
        self.write = inner.write
        self.fileno = inner.fileno
        self.blob = inner.blob
        self.abandon = inner.abandon


def complete(store: Store) -> BaseStore:
    """Return a BaseStore unchanged, and any other store wrapped as one."""
    return store if isinstance(store, BaseStore) else WrappedStore(store)


def verify(store: Store, ref: str) -> str | None:
    """Read a stored output completely and return a sentence about its damage; None if it is whole."""
    try:
        record, blob = complete(store).open_record(ref)
        with closing(blob):
            meter = measure(blob)
    except BytesMissingError:
        store.get(ref)  # RefError if it was removed meanwhile
        return BYTES_MISSING
    except StoreError as error:
        return str(error)
    if meter.bytes != record.bytes:
        return f"{record.bytes:,} bytes were stored; {meter.bytes:,} are there."
    if meter.sha256 != record.sha256:
        return f"Its bytes have changed: their SHA-256 is {meter.sha256}; that of what was stored is {record.sha256}."
    if meter.lines != record.lines:
        return f"Its record counts {record.lines:,} lines; there are {meter.lines:,}."
    return None
