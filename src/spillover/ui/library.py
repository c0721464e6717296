"""The outputs and runs that are there, as rows. A record is read once, and again only when its file has changed.

Ten thousand records take seconds to read, and a page wants the newest at once: so they are read newest first, by the time of
their files, a few at first and the others while the page polls.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from spillover import journal
from spillover.errors import StoreError
from spillover.journal import RETRIEVALS
from spillover.store.directory import DirStore, RunFolder
from spillover.store.folder import PIN, RECORD, RUNS, Folder, parse_name
from spillover.store.record import covers, seen_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from spillover.journal import Entry
    from spillover.store.record import Record, RunRecord
    from spillover.store.scopes import ScopedStore

    Row = dict[str, Any]

#: So many records are read before the first answer; the others follow in pieces of this many.
FIRST, PIECE = 200, 500
#: Of the journal, so many of the newest lines are looked at.
ENTRIES = 50_000
#: The id of a run whose output is not stored under a ref.
RUN_PREFIX = "run:"
#: Of a command, so much is in a row.
COMMAND_CHARS = 400


class Library:
    """What a scope has in a store. Safe to use from several threads."""

    def __init__(self, outputs: ScopedStore) -> None:
        self.outputs, self.own = outputs, outputs.scope
        self.problem = ""  # why the store cannot be read
        self._lock = threading.RLock()
        self._stamps: dict[str, tuple[int, bool]] = {}  # ref → time of its record, whether it is pinned
        self._records: dict[str, Row] = {}
        self._runs: dict[str, RunRecord] = {}  # by name, newest first, without their bytes
        self._run_of: dict[str, RunRecord] = {}  # the newest of each ref
        self._clips: dict[str, Entry] = {}
        self._back: dict[str, list[Entry]] = {}
        self._newest_entry = 0.0
        self._waiting: list[str] = []
        self._stamp: tuple[object, ...] | None = None
        self._rows: tuple[int, list[Row]] = (-1, [])
        self._changed: dict[str, int] = {}  # id → the version that its row is of
        self._gone: dict[str, int] = {}  # id → the version that it was removed in
        self.version = 0  # another one whenever a row may have changed

    @property
    def place(self) -> str | None:
        """Where the journal is."""
        return journal.folder_of(self.outputs.store)

    def stamp(self) -> tuple[object, ...]:
        """Return what differs once something has been stored, run, read back or removed; it costs three looks."""
        place = self.place
        if place is None:
            return ()
        looks: list[object] = []
        for path in (place, f"{place}/{RUNS}"):
            try:
                looks.append(os.stat(path).st_mtime_ns)
            except OSError:
                looks.append(None)
        try:
            looks.append(journal.size(place))
        except (OSError, StoreError):
            looks.append(None)
        return tuple(looks)

    def update(self) -> None:
        """Bring the rows up to date if something has been stored, run, read back or removed since the last call."""
        with self._lock:
            stamp = self.stamp()
            if stamp != self._stamp or not stamp:
                self._stamp = stamp
                self.refresh()

    def refresh(self, most: int = FIRST) -> None:
        """Bring the rows up to date; at most so many records are read, the others wait for `read_more`."""
        with self._lock:
            before = self.problem
            try:
                self._refresh(most)
                self.problem = ""
            except FileNotFoundError:
                self._forget("The store is not there: no output has been kept yet, or its folder was removed.")
            except StoreError as error:
                self._forget(str(error))
            self.version += before != self.problem

    def read_more(self, most: int = PIECE) -> None:
        """Read some of the records that wait."""
        with self._lock:
            store = self.outputs.store
            if self._waiting and isinstance(store, DirStore):
                with suppress(FileNotFoundError, StoreError), Folder(store.path) as folder:
                    self._read(folder, most)

    def page(self, first: int, count: int) -> dict[str, Any]:
        """Return some of the rows, and how many there are."""
        with self._lock:
            every = self.rows()
            return {"rows": every[first : first + count], "all": len(every), **self._state()}

    def changes(self, since: int) -> dict[str, Any]:
        """Return the rows that have changed since a version, and the ids of those that are gone."""
        with self._lock:
            changed = [row for row in self.rows() if self._changed[row["id"]] > since]
            gone = [id_ for id_, version in self._gone.items() if version > since]
            return {"rows": changed, "gone": gone, **self._state()}

    def _state(self) -> dict[str, Any]:
        return {"version": self.version, "ready": not self._waiting, "problem": self.problem}

    def rows(self) -> list[Row]:
        """Return every row, newest first."""
        with self._lock:
            if self._rows[0] != self.version:
                found = [self._with_run(row) for row in self._records.values()]
                for name, run in self._runs.items():
                    if run.ref is None or run.ref not in self._stamps:
                        found.append(_row_of_run(name, run))
                found.sort(key=lambda row: (-row["created"], row["id"]))
                self._compare(self._rows[1], found)
                self._rows = (self.version, found)
            return self._rows[1]

    def _compare(self, before: list[Row], after: list[Row]) -> None:
        """Note which rows have changed, and which are gone, with this version."""
        old = {row["id"]: row for row in before}
        new = {row["id"]: row for row in after}
        self._changed |= {id_: self.version for id_, row in new.items() if old.get(id_) != row}
        self._gone = {id_: version for id_, version in self._gone.items() if id_ not in new}
        self._gone |= dict.fromkeys(old.keys() - new.keys(), self.version)

    def row(self, id_: str) -> Row | None:
        """Return the row of an output."""
        with self._lock:
            if id_ in self._records:
                return self._with_run(self._records[id_])
            name = id_.removeprefix(RUN_PREFIX)
            run = self._runs.get(name) if name != id_ else None
            return None if run is None else _row_of_run(name, run)

    def retrievals(self, ref: str) -> list[Entry]:
        """Return what was fetched back of an output, the newest first."""
        with self._lock:
            return [*self._back.get(ref, ())]

    def runs(self) -> list[tuple[str, RunRecord]]:
        """Return the runs by name, newest first; none of them has its bytes."""
        with self._lock:
            return [*self._runs.items()]

    def _forget(self, why: str) -> None:
        if self._records or self._runs or self.problem != why:
            self.version += 1
        self._stamps, self._records, self._runs, self._run_of, self._waiting = {}, {}, {}, {}, []
        self._clips, self._back, self._newest_entry = {}, {}, 0.0
        self.problem = why

    def _refresh(self, most: int) -> None:
        store = self.outputs.store
        if not isinstance(store, DirStore):  # each look may be a request: as many as fit a page
            rows = {record.ref: _row_of_record(record) for record in self.outputs.newest(most)[0]}
            self.version += rows != self._records
            self._records, self._stamps = rows, dict.fromkeys(rows, (0, False))
            self._read_journal()
            return
        with Folder(store.path) as folder:
            stamps = _stamps(folder)
            for ref in self._records.keys() - stamps.keys():
                del self._records[ref]
                self.version += 1
            changed = [ref for ref, stamp in stamps.items() if self._stamps.get(ref) != stamp]
            self._waiting = sorted({*changed, *self._waiting} & stamps.keys(), key=lambda ref: -stamps[ref][0])
            self._stamps = stamps
            self._read(folder, most)
            self._read_runs(folder)
        self._read_journal()

    def _read(self, folder: Folder, most: int) -> None:
        some, self._waiting = self._waiting[:most], self._waiting[most:]
        for ref in some:
            try:
                mine = seen_by(folder.read_record(ref), self.own)
            except (OSError, StoreError):  # gone meanwhile, or damaged: `spill verify` says so
                mine = None
            if mine is None:
                self._records.pop(ref, None)
            else:
                self._records[ref] = _row_of_record(mine)
        self.version += bool(some)

    def _read_runs(self, folder: Folder) -> None:
        from msgspec.structs import replace

        names: list[str] = []
        new: dict[str, RunRecord] = {}
        with suppress(FileNotFoundError), RunFolder(folder) as stored:
            names = stored.names()
            new = {name: run for name in names if name not in self._runs and (run := stored.read(name))}
        mine = {name: replace(run, data=None) for name, run in new.items() if covers(self.own, run.scope)}
        known = {**self._runs, **mine}
        runs = {name: known[name] for name in names if name in known}
        if runs.keys() != self._runs.keys():
            self.version += 1
        self._runs = runs
        self._run_of = {run.ref: run for run in reversed(runs.values()) if run.ref}

    def _read_journal(self) -> None:
        place = self.place
        if place is None:
            return
        new: list[Entry] = []
        with suppress(OSError, StoreError):
            for entry in journal.read(place, since=self._newest_entry, scope=self.own, newest=True):
                new.append(entry)
                if len(new) >= ENTRIES:
                    break
        for entry in reversed(new):  # lines of the same millisecond come again
            if entry.operation == "clip" and entry.ref:
                self._clips[entry.ref] = entry
                self.version += 1
            elif entry.operation in RETRIEVALS and entry.ref:
                back = self._back.setdefault(entry.ref, [])
                if entry not in back[:50]:
                    back.insert(0, entry)
                    self.version += 1
        if new:
            self._newest_entry = new[0].when

    def _with_run(self, row: Row) -> Row:
        run = self._run_of.get(row["id"])
        entry = self._clips.get(row["id"])
        more: Row = {"back": len(self._back.get(row["id"], ()))}
        if run is not None:
            more |= {"exit": run.exit_code, "seconds": run.seconds}
        if entry is not None:
            more |= {"tokens": entry.produced, "shown_tokens": entry.received, "host": entry.host}
        return {**row, "pinned": self._stamps.get(row["id"], (0, False))[1], **more}


def _stamps(folder: Folder) -> dict[str, tuple[int, bool]]:
    times: dict[str, int] = {}
    pins: set[str] = set()
    with os.scandir(folder.fd) as found:
        for entry in found:
            parsed = parse_name(entry.name)
            if parsed and parsed[1] == RECORD:
                with suppress(OSError):
                    times[parsed[0]] = entry.stat(follow_symlinks=False).st_mtime_ns
            elif parsed and parsed[1] == PIN:
                pins.add(parsed[0])
    return {ref: (when, ref in pins) for ref, when in times.items()}


def _row_of_record(record: Record) -> Row:
    shown = sum(last - first + 1 for first, last in record.shown)
    return {
        "id": record.ref,
        "ref": record.ref,
        "tool": record.tool,
        "command": (record.command or "")[:COMMAND_CHARS],
        "project": record.scope or "",
        "kind": record.kind or "log",
        "outcome": "partial" if record.partial else "stored",
        "created": record.created,
        "bytes": record.produced_bytes or record.bytes,
        "lines": record.produced_lines or record.lines,
        "shown": shown,
        "exit": None,
        "seconds": None,
        "tokens": None,
        "shown_tokens": None,
        "host": "",
    }


def _row_of_run(name: str, run: RunRecord) -> Row:
    return {
        "id": RUN_PREFIX + name,
        "ref": None,
        "tool": run.tool,
        "command": (run.command or "")[:COMMAND_CHARS],
        "project": run.scope,
        "kind": "",
        "outcome": run.outcome if run.outcome != "stored" else "removed",
        "created": run.created,
        "bytes": run.bytes,
        "lines": run.lines,
        "shown": run.lines if run.outcome == "whole" else 0,
        "exit": run.exit_code,
        "seconds": run.seconds,
        "tokens": None,
        "shown_tokens": None,
        "host": "",
        "back": 0,
        "pinned": False,
    }


def facts_of(entries: Iterable[Entry]) -> list[Row]:
    """Return retrievals as a page shows them."""
    return [
        {
            "when": entry.when,
            "how": entry.operation,
            "lines": [*entry.lines],
            "tokens": entry.received,
            "host": entry.host,
            "near": entry.near,
            "failed": entry.outcome == "failed",
        }
        for entry in entries
    ]
