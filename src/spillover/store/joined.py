"""Joined: several stores read as one, for a person or a model who has a ref or a path and not the settings of the call.

New outputs go into the first store. An output that several of them hold is one output: it is read from the first that
has it, and removed, pinned or disowned in all of them.
"""

from __future__ import annotations

import os
from contextlib import suppress

from msgspec import Struct

from spillover.errors import RefError, StoreError
from spillover.store import BaseStore
from spillover.store.directory import DirStore
from spillover.store.folder import DATA, MARKER
from spillover.store.named import INNER, NamedStore
from spillover.store.record import REF_SHAPE, UnknownRefError, check_ref, merge, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins  # a method has the name of a type
    from collections.abc import Iterator
    from typing import Any

    from spillover.source.blob import Blob
    from spillover.store.record import Record, RunRecord

    Stores = list[DirStore | NamedStore]  # a method has the name of the type below


class Joined(BaseStore, Struct, frozen=True):
    """Stores of this machine under one roof."""

    stores: tuple[DirStore | NamedStore, ...]

    @property
    def folder(self) -> str | None:
        """The folder that new outputs are written to."""
        return self.stores[0].folder

    def writer(self) -> Any:
        return self.stores[0].writer()

    def remember(self, run: RunRecord) -> None:
        self.stores[0].remember(run)

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix, with the scopes of every store that has the output."""
        return self._find(ref)[0]

    def open(self, ref: str) -> Blob:
        record, stores = self._find(ref)
        return stores[0].open(record.ref)

    def list(self) -> Iterator[Record]:
        """Return every output, newest first."""
        records: dict[str, Record] = {}
        for record in (record for store in self.stores for record in store.list()):
            records[record.ref] = _merge(records[record.ref], record) if record.ref in records else record
        return iter(sorted(records.values(), key=lambda record: (-record.created, record.ref)))

    def runs(self) -> Iterator[RunRecord]:
        """Return every run that is remembered, newest first."""
        return iter(sorted((run for store in self.stores for run in store.runs()), key=lambda run: -run.created))

    def damaged(self) -> builtins.list[str]:
        """Return the refs whose record cannot be read."""
        return sorted({ref for store in self.stores for ref in store.damaged()})

    def delete(self, ref: str) -> None:
        stores = [store for store in self.stores if ref in store.damaged()]
        if not stores:
            record, stores = self._find(ref)
            ref = record.ref
        for store in stores:
            store.delete(ref)

    def release(self, ref: str, scope: str) -> None:
        record, stores = self._find(ref)
        for store in stores:
            store.release(record.ref, scope)

    def pin(self, ref: str, pinned: bool = True) -> None:
        record, stores = self._find(ref)
        for store in stores:
            store.pin(record.ref, pinned)

    def where(self, ref: str) -> str | None:
        """Return the path of an output; of one that is not there, the path it would have."""
        with suppress(RefError):
            record, stores = self._find(ref)
            return stores[0].where(record.ref)
        return self.stores[0].where(ref)

    def find_ref(self, path: str) -> str | None:
        """Return the ref of the output with this path."""
        named = (store.find_ref(path) for store in self.stores)
        return next((ref for ref in named if ref), None)

    def _find(self, ref: str) -> tuple[Record, Stores]:
        """Return the record that is meant, and the stores that have it, the first one first."""
        check_ref(ref)
        stores = [store for store in self.stores if _has(store, ref)]
        if not stores:  # the start of one, perhaps
            whole = resolve(ref, iter(dict.fromkeys(record.ref for store in self.stores for record in store.list())))
            stores = [store for store in self.stores if _has(store, whole)]
            ref = whole
        if not stores:  # gone this moment
            raise UnknownRefError(ref)
        record = stores[0].get(ref)
        for store in stores[1:]:
            record = _merge(record, store.get(ref))
        return record, stores


def _has(store: DirStore | NamedStore, ref: str) -> bool:
    """Return whether a store has an output under this whole ref. A record that cannot be read is one all the same."""
    if not REF_SHAPE.fullmatch(ref):
        return False
    try:
        return store.get(ref).ref == ref
    except RefError:
        return False


def _merge(held: Record, other: Record) -> Record:
    """Return one record for the same bytes in two stores."""
    with suppress(StoreError):  # it has more scopes than a record can name: those of the first count
        return merge(other, held) if held.sha256 == other.sha256 else held
    return held


def store_of(path: str) -> DirStore | NamedStore | None:
    """Return the store that an output's path is in, by the marker that every store of ours has."""
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isfile(os.path.join(folder, INNER, MARKER)):
        return NamedStore(folder, lambda _: "")
    ours = name.endswith(DATA) and REF_SHAPE.fullmatch(name.removesuffix(DATA))
    return DirStore(folder) if ours and os.path.isfile(os.path.join(folder, MARKER)) else None
