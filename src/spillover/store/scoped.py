"""A store as one scope sees it: what is written belongs to that scope, and nothing of any other can be had.

"Not there" and "not yours" are the same answer, in the same words. Every store works under it, ours and others': whose
an output is stands in its record. Commands are stored, and shown, without their secrets.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.secrets.commands import shorten_command
from spillover.store.base import REF_SHAPE, BytesMissingError, Record, Store, Writer, check_ref, resolve
from spillover.store.owners import owners, seen
from spillover.store.scope import EVERY, check_scope, covers, default_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from spillover.source.blob import Blob
    from spillover.store.runs import RunRecord

    Records = list[Record]  # a method has the name of the type below
    Refs = list[str]

#: Has the shape of a ref, and no hash is all zeros: what a store says of it, it says of the whole store.
NO_REF = "tool-" + "0" * 64

#: So many records are read, newest first, to find one by words in a store where each record is a request.
LOOKED_THROUGH = 1_000


class Scoped(Struct, frozen=True):
    """The outputs of one scope (None: of the project this process works in) in a store that others may share."""

    store: Store
    scope: str | None = None

    def __post_init__(self) -> None:
        if self.scope is not None:
            check_scope(self.scope)

    @property
    def own(self) -> str:
        return default_scope() if self.scope is None else self.scope

    @property
    def view(self) -> Store:
        """What this scope can see of the store, where a store can tell by itself; otherwise all of it, and it is told here."""
        within = getattr(self.store, "within", None)
        return within(self.own) if within is not None else self.store

    @property
    def local(self) -> Scoped | None:
        """This scope's outputs that wait on this machine, where the store is a bucket; None for any other store."""
        kept = getattr(self.store, "local", None)
        return None if kept is None else Scoped(kept, self.scope)

    def _find(self) -> Any:
        """Return the view, where it finds a prefix by its own means and makes the error that it is given; else None."""
        return self.view if hasattr(self.store, "within") else None

    def writer(self) -> ScopedWriter:
        """Begin an output of this scope; of the project, where this is the view of everything."""
        try:
            scope = default_scope() if self.scope in (None, EVERY) else self.own
        except UsageError as error:  # the tool call survives
            raise StoreError(str(error)) from error
        return ScopedWriter(self.store.writer(), scope)

    def get(self, ref: str) -> Record:
        """Return the record of a ref, or of a unique prefix, as this scope sees it."""
        own = self.own
        if own == EVERY:
            return _show(self.view.get(ref))
        check_ref(ref)
        if (find := self._find()) is not None:
            if (mine := seen(find.get(ref, self._missing), own)) is None:
                raise self._missing(ref)
            return _show(mine)
        if REF_SHAPE.fullmatch(ref) and (record := self._exact(ref)) and (mine := seen(record, own)):
            return _show(mine)
        names = {record.ref: record for record in self.list()}
        return names[resolve(ref, iter(names), self._missing)]

    def known(self, ref: str) -> Record | None:
        """Return the record of a whole ref, whoever has it: to tell a notice of ours from a forged one, and for nothing else.

        A clip made in one project may pass through another (`cd elsewhere && spill run …` in a hooked shell).
        """
        at_once = getattr(self.view, "known", None)  # where every look is a request
        if at_once is not None and REF_SHAPE.fullmatch(ref):
            found: Record | None = at_once(ref)
            return found
        return self._exact(ref) if REF_SHAPE.fullmatch(ref) else None

    def open(self, ref: str) -> Blob:
        return self.opened(ref)[1]

    def opened(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes, looked up and checked once."""
        if (find := self._find()) is not None and self.own != EVERY:
            record, blob = find.opened(ref, self._missing)
            if mine := seen(record, self.own):
                return _show(mine), blob
            blob.close()
            raise self._missing(ref)
        record = self.get(ref)
        try:
            return record, self.view.open(record.ref)
        except BytesMissingError:
            raise
        except RefError:  # gone this moment
            raise self._missing(ref) from None

    def list(self) -> Iterator[Record]:
        """This scope's outputs, by its own newest calls."""
        own = self.own
        mine = (seen(record, own) for record in self.view.list())
        return iter(sorted((_show(record) for record in mine if record), key=lambda one: (-one.created, one.ref)))

    def looked_through(self) -> tuple[Records, int]:
        """Return the outputs to look for words in, newest first, and how many there are: all of them, where no record is a request."""
        if hasattr(self.view, "newest"):
            return self.newest(LOOKED_THROUGH)
        everything = [*self.list()]
        return everything, len(everything)

    def newest(self, count: int) -> tuple[Records, int]:
        """Return this scope's newest outputs, and how many it has in all; not every record is read where that costs requests."""
        own, at_once = self.own, getattr(self.view, "newest", None)
        if at_once is None:
            everything = [*self.list()]
            return everything[:count], len(everything)
        found, total = at_once(count)
        return [_show(mine) for record in found if (mine := seen(record, own))], total

    def ref_of(self, path: str) -> str | None:
        """Return the ref in a path as a notice names it, which is not opened for it; None where there is none."""
        name = path.rpartition("/")[2]
        for ending in (".txt.zst", ".txt", ".json"):
            name = name.removesuffix(ending)
        if REF_SHAPE.fullmatch(name):
            return name
        look_up = getattr(self.store, "ref_of", None)  # a store of another system's names
        return look_up(path) if look_up else None

    def damaged(self) -> Refs:
        """Return the refs whose record cannot be read, and with it whose they are: they belong to the view of everything."""
        listed = getattr(self.view, "damaged", None) if self.own == EVERY else None
        return listed() if listed else []

    def runs(self) -> Iterator[RunRecord]:
        """This scope's runs, newest first; none where the store does not remember any."""
        own, listed = self.own, getattr(self.store, "runs", None)
        return (run for run in (listed() if listed else ()) if covers(own, run.scope))

    def delete(self, ref: str) -> None:
        """Remove an output; where other scopes have it too, only from this one."""
        own, whole = self.own, self.get(ref).ref
        if own == EVERY or all(covers(own, owner.scope) for owner in owners(self.view.get(whole))):
            self.view.delete(whole)
            return
        disown = getattr(self.store, "disown", None)
        if disown is None:
            raise StoreError(f"{whole} cannot be deleted from one scope only in this store; delete it in all of them.")
        disown(whole, own)

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output, for every scope that has it."""
        self.view.pin(self.get(ref).ref, pinned)

    def where(self, ref: str) -> str | None:
        """Its path, where it has one; the one it would have, for what is not there and for what is not ours alike."""
        try:
            return self.view.where(self.get(ref).ref)
        except RefError:
            if not REF_SHAPE.fullmatch(ref):
                raise
        if self._exact(ref) is None:
            return self.view.where(ref)
        unused = ref.rpartition("-")[0] + "-" + "0" * len(ref.rpartition("-")[2])
        path = self.view.where(unused)
        return path and path.replace(unused, ref)

    def _exact(self, ref: str) -> Record | None:
        """Return the record of a whole ref, whoever owns it. A record that cannot be read belongs to nobody."""
        try:
            record = self.view.get(ref)
        except RefError:
            return None
        except StoreError:
            try:
                self.view.get(NO_REF)  # is it this record, or the whole store?
            except RefError:
                return None
            raise
        return record if record.ref == ref else None

    def _missing(self, ref: str) -> RefError:
        removed = "it was removed or never stored: run the tool again."
        if not self.own.startswith("/"):  # whoever named a scope knows where to look
            return RefError(
                f"No output is stored under {ref} in scope {self.own}. If `spill list` does not show it, {removed}"
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
        """Make it visible to its scope; the record comes back as that sees it."""
        command = None if record.command is None else shorten_command(record.command)
        published = self._inner.publish(replace(record, scope=self._scope, others=(), command=command))
        mine = seen(published, self._scope)
        if mine is None:
            raise StoreError("The store did not record whose output this is, so nobody could read it back")
        return replace(mine, path=published.path, here=published.here)


def _show(record: Record) -> Record:
    """Remove secrets from the command of a record that another program wrote."""
    if record.command is None or (clean := shorten_command(record.command)) == record.command:
        return record
    return replace(record, command=clean)
