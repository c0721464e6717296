"""A store as one scope sees it: what is written belongs to that scope, and nothing of any other can be had.

"Not there" and "not yours" are the same answer, in the same words. Every store works under it, ours and others': whose
an output is stands in its record. Commands are stored, and shown, without their secrets.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
from collections.abc import Iterator

from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.secrets.commands import shorten_command
from spillover.source.blob import Blob
from spillover.store import BaseStore, Store, Writer, complete
from spillover.store.base import REF_SHAPE, BytesMissingError, Record, UnknownRefError, check_ref, resolve
from spillover.store.owners import owners, seen
from spillover.store.runs import RunRecord
from spillover.store.scope import EVERY, check_scope, covers, default_scope


class ScopedStore(BaseStore):
    """The outputs of one scope (None: of the project this process works in) in a store that others may share."""

    __slots__ = ("_scope", "store")

    def __init__(self, store: Store, scope: str | None = None) -> None:
        self.store = complete(store)
        self._scope = None if scope is None else check_scope(scope)

    @property
    def scope(self) -> str:
        return default_scope() if self._scope is None else self._scope

    @property
    def folder(self) -> str | None:
        return self.store.folder

    @property
    def local(self) -> ScopedStore | None:
        local = self.store.local
        return None if local is None else ScopedStore(local, self._scope)

    def for_scope(self, scope: str) -> ScopedStore:
        """Return the same store as another scope sees it."""
        return ScopedStore(self.store, scope)

    def writer(self) -> ScopedWriter:
        """Start storing an output of this scope; of the project, if this is the view of everything."""
        try:
            scope = default_scope() if self._scope in (None, EVERY) else self.scope
        except UsageError as error:  # the tool call survives
            raise StoreError(str(error)) from error
        return ScopedWriter(self.store.writer(), scope)

    def get(self, ref: str) -> Record:
        """Return the record of a ref, or of a unique prefix, as this scope sees it."""
        check_ref(ref)
        scope, view = self.scope, self._view()
        try:
            if view.scope == scope:
                return self._show(ref, view.get(ref))
            if (record := view.get_any_scope(ref)) and (mine := seen(record, scope)):
                return _redact(mine)
            records = {record.ref: record for record in self.list()}
            return records[resolve(ref, iter(records))]
        except UnknownRefError:
            raise self._missing(ref) from None

    def open(self, ref: str) -> Blob:
        return self.open_record(ref)[1]

    def open_record(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes, looked up and checked once."""
        view = self._view()
        if view.scope != self.scope:
            record = self.get(ref)
            try:
                return record, view.open(record.ref)
            except BytesMissingError:
                raise
            except RefError:  # removed since the record was read
                raise self._missing(ref) from None
        try:
            record, blob = view.open_record(ref)
        except UnknownRefError:
            raise self._missing(ref) from None
        try:
            return self._show(ref, record), blob
        except RefError:
            blob.close()
            raise

    def get_any_scope(self, ref: str) -> Record | None:
        return self._view().get_any_scope(ref)

    def list(self) -> Iterator[Record]:
        """Return this scope's outputs, by its own newest calls."""
        scope = self.scope
        mine = (seen(record, scope) for record in self._view().list())
        return iter(sorted((_redact(record) for record in mine if record), key=lambda one: (-one.created, one.ref)))

    def newest(self, count: int | None = None) -> tuple[builtins.list[Record], int]:
        scope, view = self.scope, self._view()
        if view.scope != scope:
            return super().newest(count)
        records, total = view.newest(count)
        return [_redact(mine) for record in records if (mine := seen(record, scope))], total

    def find_ref(self, path: str) -> str | None:
        """Return the ref in a path as a notice names it; None if there is none. The path is not opened."""
        name = path.rpartition("/")[2]
        for ending in (".txt.zst", ".txt", ".json"):
            name = name.removesuffix(ending)
        return name if REF_SHAPE.fullmatch(name) else self.store.find_ref(path)

    def damaged(self) -> builtins.list[str]:
        """Return the refs whose record cannot be read, and with it whose they are: only the view of everything has them."""
        return self.store.damaged() if self.scope == EVERY else []

    def remember(self, run: RunRecord) -> None:
        self.store.remember(run)

    def runs(self) -> Iterator[RunRecord]:
        """Return this scope's runs, newest first."""
        scope = self.scope
        return (run for run in self.store.runs() if covers(scope, run.scope))

    def delete(self, ref: str) -> None:
        """Remove an output; if other scopes have it too, only from this one."""
        scope, view, whole = self.scope, self._view(), self.get(ref).ref
        if scope == EVERY or all(covers(scope, owner.scope) for owner in owners(view.get(whole))):
            view.delete(whole)
        else:
            self.store.release(whole, scope)

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output, for every scope that has it."""
        self._view().pin(self.get(ref).ref, pinned)

    def where(self, ref: str) -> str | None:
        """Return the path of an output; the same one for what is not there and for what belongs to others."""
        view = self._view()
        try:
            return view.where(self.get(ref).ref)
        except RefError:
            if not REF_SHAPE.fullmatch(ref):
                raise
        if view.get_any_scope(ref) is None:
            return view.where(ref)
        unused = ref.rpartition("-")[0] + "-" + "0" * len(ref.rpartition("-")[2])
        path = view.where(unused)
        return path and path.replace(unused, ref)

    def _view(self) -> BaseStore:
        """Return what this scope may see of the store, or the whole store if that does not tell scopes apart."""
        return self.store.for_scope(self.scope)

    def _show(self, ref: str, record: Record) -> Record:
        """Return a record as this scope sees it; RefError if it is not this scope's."""
        mine = seen(record, self.scope)
        if mine is None:
            raise self._missing(ref)
        return _redact(mine)

    def _missing(self, ref: str) -> RefError:
        if self.scope == EVERY:
            return UnknownRefError(ref)
        removed = "it was removed or never stored: run the tool again."
        if not self.scope.startswith("/"):  # whoever named a scope knows where to look
            return RefError(
                f"No output is stored under {ref} in scope {self.scope}. If `spill list` does not show it, {removed}"
            )
        return RefError(
            f"No output is stored under {ref} in this project. `spill list` shows what is stored here, `spill list --all-scopes` "
            f"what is stored anywhere. If it is in neither, {removed}"
        )


class ScopedWriter:
    """An output on its way in, that will belong to a scope."""

    __slots__ = ("_inner", "_scope", "abandon", "blob", "fileno", "write")

    def __init__(self, inner: Writer, scope: str) -> None:
        self._inner, self._scope = inner, scope
        self.write, self.fileno, self.blob, self.abandon = inner.write, inner.fileno, inner.blob, inner.abandon

    def publish(self, record: Record) -> Record:
        """Make it visible to its scope; the record comes back as that scope sees it."""
        command = None if record.command is None else shorten_command(record.command)
        published = self._inner.publish(replace(record, scope=self._scope, others=(), command=command))
        mine = seen(published, self._scope)
        if mine is None:
            raise StoreError("The store did not record whose output this is, so nobody could read it back")
        return replace(mine, path=published.path, only_here=published.only_here)


def _redact(record: Record) -> Record:
    """Remove secrets from the command of a record that another program wrote."""
    if record.command is None or (clean := shorten_command(record.command)) == record.command:
        return record
    return replace(record, command=clean)
