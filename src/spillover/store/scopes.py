"""Scopes: the default one, and a store as one scope sees it.

A scope is a text. One that starts with "/" is a folder, a project on this machine. Any other is a name,
"tenant/project/session". The default is SPILLOVER_SCOPE, or else the root of the repository the process works in, or
else the working folder.

Outputs written through a `ScopedStore` belong to its scope, and those of other scopes cannot be read: they get the same
answer, in the same words, as outputs that do not exist. The record of an output lists its scopes. Commands are stored
and shown without their secrets.
"""

from __future__ import annotations

import builtins  # a method has the name of a type
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from spillover.errors import ConfigError, RefError, StoreError, UsageError
from spillover.secrets.commands import shorten_command
from spillover.source.blob import Blob
from spillover.store import BaseStore, Store, WrappedWriter, Writer, complete
from spillover.store.record import (
    EVERY,
    MAX_FOLDER_BYTES,
    REF_SHAPE,
    Record,
    RunRecord,
    UnknownRefError,
    check_given_scope,
    check_ref,
    check_scope,
    covers,
    newest_first,
    owners,
    resolve,
    seen_by,
)

VARIABLE = "SPILLOVER_SCOPE"
#: The entry in the root of a repository, a worktree or a submodule of git.
REPOSITORY = ".git"
#: The scope of a process whose working folder was removed, if its former name is unknown.
REMOVED = "/(deleted)"

_default: str | None = None  # determined once, so that a later chdir changes nothing


def default_scope() -> str:
    """Return the default scope of this process: SPILLOVER_SCOPE, or its project at the first call."""
    value = os.environ.get(VARIABLE)
    if value:
        try:
            return check_given_scope(value)
        except UsageError as error:
            raise ConfigError(f"{VARIABLE}: {error}") from error
    global _default  # noqa: PLW0603  a cache of one
    if _default is None:
        _default = folder_scope()
    return _default


def folder_scope(cwd: str | os.PathLike[str] | None = None) -> str:
    """Return the project of a folder, by default of the working folder: its repository's root, or itself."""
    try:
        folder = working_folder() or _removed_folder() if cwd is None else os.path.realpath(cwd)
    except (OSError, ValueError):  # not a path
        folder = REMOVED
    return _as_text(find_repository(folder, os.path.realpath(os.path.expanduser("~"))) or folder)


def working_folder() -> str | None:
    """Return the folder this process works in; None if it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _removed_folder() -> str:
    """Return the former name of a working folder that was removed; REMOVED if the system does not have it."""
    try:
        return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")
    except OSError:
        return REMOVED


def find_repository(start: str, home: str) -> str | None:
    """Return the nearest folder upward with a repository in it, by its name only; None if there is none.

    The search stays on one filesystem, and below the home folder unless it starts there: a repository for dotfiles in
    a home would turn all folders below into one project. A repository counts only if it belongs to us, to root or to
    the owner of the first folder; otherwise anybody could turn all of /tmp into one project.
    """
    device = None
    trusted = {0, os.geteuid()}
    with suppress(OSError):
        facts = os.lstat(start)
        device = facts.st_dev
        trusted.add(facts.st_uid)
    folder = start
    while True:
        with suppress(OSError):
            if folder != start and (folder == home or device not in (None, os.lstat(folder).st_dev)):
                return None
            if os.lstat(os.path.join(folder, REPOSITORY)).st_uid in trusted:
                return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _as_text(path: str) -> str:
    """Return a path as a scope, with %XX for invisible characters; a hash for a path that is too long."""
    path = "/" + path.strip("/")
    if not path.isprintable() or "%" in path:
        path = "".join(char if char.isprintable() and char != "%" else _escape(char) for char in path)
    if len(path.encode()) > MAX_FOLDER_BYTES:
        return "/sha256/" + hashlib.sha256(path.encode()).hexdigest()
    return path


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


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
        """Return the view of another scope."""
        return ScopedStore(self.store, scope)

    def writer(self) -> ScopedWriter:
        """Start storing an output of this scope; of the project, if this is the view of everything."""
        try:
            scope = default_scope() if self._scope in (None, EVERY) else self.scope
        except UsageError as error:  # a StoreError does not end the tool call
            raise StoreError(str(error)) from error
        return ScopedWriter(self.store.writer(), scope)

    def get(self, ref: str) -> Record:
        """Return the record of a ref, or of a unique prefix, as this scope sees it."""
        check_ref(ref)
        scope = self.scope
        view = self._view()
        try:
            if view.scope == scope:
                return self._show(ref, view.get(ref))
            if (record := view.get_any_scope(ref)) and (visible := seen_by(record, scope)):
                return _redact(visible)
            records = {record.ref: record for record in self.list()}
            return records[resolve(ref, iter(records))]
        except UnknownRefError:
            raise self._missing(ref) from None

    def open(self, ref: str) -> Blob:
        return self.open_record(ref)[1]

    def open_record(self, ref: str) -> tuple[Record, Blob]:
        """Return the record and the bytes of a ref, with one lookup."""
        view = self._view()
        try:
            if view.scope != self.scope:
                record = self.get(ref)
                return record, view.open(record.ref)
            record, blob = view.open_record(ref)
        except UnknownRefError:  # perhaps removed since the record was read
            raise self._missing(ref) from None
        try:
            return self._show(ref, record), blob
        except RefError:
            blob.close()
            raise

    def get_any_scope(self, ref: str) -> Record | None:
        return self._view().get_any_scope(ref)

    def list(self) -> Iterator[Record]:
        """Return this scope's outputs, in the order of its own newest calls."""
        return iter(newest_first(self._show_all(self._view().list())))

    def newest(self, count: int | None = None) -> tuple[builtins.list[Record], int]:
        view = self._view()
        if view.scope != self.scope:
            return super().newest(count)
        records, total = view.newest(count)
        return [*self._show_all(records)], total

    def find_ref(self, path: str) -> str | None:
        """Return the ref in a path from a notice; None if there is none. The path is not opened."""
        name = path.rpartition("/")[2]
        for ending in (".txt.zst", ".txt", ".json"):
            name = name.removesuffix(ending)
        return name if REF_SHAPE.fullmatch(name) else self.store.find_ref(path)

    def damaged(self) -> builtins.list[str]:
        """Return the refs of unreadable records; their scope is unknown, so only the view of everything lists them."""
        return self.store.damaged() if self.scope == EVERY else []

    def remember(self, run: RunRecord) -> None:
        self.store.remember(run)

    def runs(self) -> Iterator[RunRecord]:
        """Return this scope's runs, newest first."""
        scope = self.scope
        return (run for run in self.store.runs() if covers(scope, run.scope))

    def delete(self, ref: str) -> None:
        """Remove an output; if other scopes have it too, only from this one."""
        scope = self.scope
        view = self._view()
        whole = self.get(ref).ref
        if scope == EVERY or all(covers(scope, owner.scope) for owner in owners(view.get(whole))):
            view.delete(whole)
        else:
            self.store.release(whole, scope)

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output, for every scope that has it."""
        self._view().pin(self.get(ref).ref, pinned)

    def where(self, ref: str) -> str | None:
        """Return the path of an output, without a hint whether it is missing or belongs to another scope."""
        view = self._view()
        try:
            return view.where(self.get(ref).ref)
        except RefError:
            if not REF_SHAPE.fullmatch(ref):
                raise
        if view.get_any_scope(ref) is None:
            return view.where(ref)
        # The path of a ref that cannot exist does not reveal that another scope has this one.
        unused = ref.rpartition("-")[0] + "-" + "0" * len(ref.rpartition("-")[2])
        path = view.where(unused)
        return path and path.replace(unused, ref)

    def _view(self) -> BaseStore:
        """Return the part of the store that this scope may see; the whole store if it does not tell scopes apart."""
        return self.store.for_scope(self.scope)

    def _show(self, ref: str, record: Record) -> Record:
        """Return a record with this scope's calls only; RefError if it belongs to others."""
        visible = seen_by(record, self.scope)
        if visible is None:
            raise self._missing(ref)
        return _redact(visible)

    def _show_all(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records of this scope, with its own calls only."""
        scope = self.scope
        return (_redact(visible) for record in records if (visible := seen_by(record, scope)))

    def _missing(self, ref: str) -> RefError:
        if self.scope == EVERY:
            return UnknownRefError(ref)
        remedy = "it was removed or never stored: run the tool again."
        if not self.scope.startswith("/"):
            return RefError(
                f"No output is stored under {ref} in scope {self.scope}. If `spill list` does not show it, {remedy}"
            )
        return RefError(
            f"No output is stored under {ref} in this project. `spill list` shows what is stored here, "
            f"`spill list --all-scopes` what is stored anywhere. If it is in neither, {remedy}"
        )


class ScopedWriter(WrappedWriter):
    """An output that will belong to a scope."""

    __slots__ = ("_scope",)

    def __init__(self, inner: Writer, scope: str) -> None:
        super().__init__(inner)
        self._scope = scope

    def publish(self, record: Record) -> Record:
        """Make the output visible to its scope, and return the record as that scope sees it."""
        command = None if record.command is None else shorten_command(record.command)
        published = self.inner.publish(replace(record, scope=self._scope, others=(), command=command))
        visible = seen_by(published, self._scope)
        if visible is None:
            raise StoreError("The store did not record whose output this is, so nobody could read it back")
        return replace(visible, path=published.path, only_here=published.only_here)


def _redact(record: Record) -> Record:
    """Remove secrets from the command of a record that another program wrote."""
    if record.command is None or (clean := shorten_command(record.command)) == record.command:
        return record
    return replace(record, command=clean)
