"""The outputs and runs of a store as rows. A record is read once, and again only when its file has changed.

Ten thousand records take seconds to read, and a page needs the newest at once. So they are read newest first, by the
times of their files: a few for the first answer, the others while the page polls.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from spillover import journal
from spillover.errors import StoreError
from spillover.journal import RETRIEVALS, Entry
from spillover.store.directory import DirStore, RunFolder
from spillover.store.folder import PIN, RECORD, RUNS, Folder, parse_name
from spillover.store.record import Record, RunRecord, covers, seen_by
from spillover.store.scopes import ScopedStore

#: Records that are read for the first answer: with more, the list appears later.
FIRST_RECORDS = 200
#: Records that each later request reads: with more, one request takes longer; with fewer, the whole list does.
PIECE_RECORDS = 500
#: Journal entries that are read, the newest: with more, older retrievals are shown, and the page starts later.
MAX_ENTRIES = 50_000
#: Characters of a command in a row: with more, the list takes longer to load.
COMMAND_CHARS = 400
#: Exit codes of a command's newest runs, which the page draws as dots.
MAX_EXITS = 30
#: The id of a run whose output is not stored under a ref.
RUN_PREFIX = "run:"


class Row(Struct, frozen=True, kw_only=True):
    """An output, or a run whose output is not stored."""

    id: str
    ref: str | None
    tool: str
    command: str
    project: str
    kind: str = ""
    outcome: str  # "whole", "stored", "lost"; "partial": stored in part; "removed": no longer there
    created: float
    bytes: int
    lines: int
    shown: int  # lines the model saw, at least in part
    exit: int | None = None
    seconds: float | None = None
    tokens: int | None = None  # of the whole output
    shown_tokens: int | None = None  # all that reached the model
    retrievals: int = 0
    pinned: bool = False


class Retrieval(Struct, frozen=True):
    """A read, search, outline or comparison of an output."""

    created: float
    operation: str
    lines: tuple[tuple[int, int], ...]
    tokens: int
    host: str
    failed: bool


class Library:
    """The rows of a scope. Safe to use from several threads."""

    def __init__(self, outputs: ScopedStore) -> None:
        self.outputs = outputs
        self.scope = outputs.scope
        self.folder = journal.folder_of(outputs.store)  # None: the store has none on this machine
        self.problem = ""  # why the store cannot be read
        self.version = 0  # increases whenever a row may have changed
        self._lock = threading.RLock()
        self._times: tuple[int | None, ...] = ()
        self._stamps: dict[str, tuple[int, bool]] = {}  # ref → time of its record, whether it is pinned
        self._waiting: list[str] = []  # refs whose records are to be read
        self._records: dict[str, Row] = {}
        self._runs: dict[str, RunRecord] = {}  # by name, newest first, without their bytes
        self._clips: dict[str, Entry] = {}
        self._retrievals: dict[str, dict[Retrieval, None]] = {}  # by ref, oldest first
        self._newest_entry = 0.0
        self._rows: dict[str, Row] = {}  # by id, newest first
        self._rows_version = -1
        self._row_versions: dict[str, int] = {}  # id → the version in which its row changed
        self._removal_versions: dict[str, int] = {}  # id → the version in which it was removed

    def update(self) -> None:
        """Bring the rows up to date if anything was stored, run, read back or removed since the last call."""
        with self._lock:
            times = self._file_times()
            if times != self._times or not times:
                self._times = times
                self.refresh()

    def _file_times(self) -> tuple[int | None, ...]:
        """Return numbers that change with the store; () where only reading it would tell."""
        if self.folder is None:
            return ()
        times: list[int | None] = []
        for path in (self.folder, f"{self.folder}/{RUNS}"):
            try:
                times.append(os.stat(path).st_mtime_ns)
            except OSError:
                times.append(None)
        try:
            times.append(journal.size(self.folder))
        except (OSError, StoreError):
            times.append(None)
        return tuple(times)

    def refresh(self, max_records: int = FIRST_RECORDS) -> None:
        """Bring the rows up to date; the records that are not read now wait for `read_more`."""
        with self._lock:
            problem = self.problem
            try:
                self._refresh(max_records)
                self.problem = ""
            except FileNotFoundError:
                self._forget("The store is not there: no output has been kept yet, or its folder was removed.")
            except StoreError as error:
                self._forget(str(error))
            self.version += problem != self.problem

    def read_more(self, max_records: int = PIECE_RECORDS) -> None:
        """Read some of the records that wait."""
        with self._lock:
            store = self.outputs.store
            if self._waiting and isinstance(store, DirStore):
                with suppress(FileNotFoundError, StoreError), Folder(store.path) as folder:
                    self._read_records(folder, max_records)

    def page(self, first: int, count: int) -> dict[str, Any]:
        """Return some of the rows, and how many there are."""
        with self._lock:
            rows = self.rows()
            return {"rows": rows[first : first + count], "all": len(rows), **self._state()}

    def changes(self, since: int) -> dict[str, Any]:
        """Return the rows that changed after a version, and the ids of those that were removed."""
        with self._lock:
            rows = [row for row in self.rows() if self._row_versions[row.id] > since]
            removed = [id_ for id_, version in self._removal_versions.items() if version > since]
            return {"rows": rows, "removed": removed, **self._state()}

    def _state(self) -> dict[str, Any]:
        return {"version": self.version, "ready": not self._waiting, "problem": self.problem}

    def rows(self) -> list[Row]:
        """Return every row, newest first."""
        return [*self._current_rows().values()]

    def row(self, id_: str) -> Row | None:
        """Return the row of an output or a run."""
        return self._current_rows().get(id_)

    def stamp(self, id_: str) -> object:
        """Return a value that changes with the record of an output; None if it is not listed."""
        with self._lock:
            return self._stamps.get(id_) or (id_.removeprefix(RUN_PREFIX) in self._runs or None)

    def retrievals(self, ref: str) -> list[Retrieval]:
        """Return the retrievals of an output, newest first."""
        with self._lock:
            return [*reversed(self._retrievals.get(ref, {}))]

    def runs(self) -> list[tuple[str, RunRecord]]:
        """Return the runs by name, newest first, without their bytes."""
        with self._lock:
            return [*self._runs.items()]

    def commands(self) -> list[dict[str, Any]]:
        """Return every command that was run, with its runs in numbers; the one that ran last comes first."""
        groups: dict[tuple[str, str], list[RunRecord]] = {}
        for _, run in self.runs():
            groups.setdefault((run.scope, run.command or run.tool), []).append(run)
        return [
            {
                "command": command,
                "project": project,
                "runs": len(runs),
                "failed": sum(run.exit_code not in (0, None) for run in runs),
                "last": runs[0].created,
                "exits": [run.exit_code for run in reversed(runs[:MAX_EXITS])],
            }
            for (project, command), runs in groups.items()
        ]

    def _current_rows(self) -> dict[str, Row]:
        with self._lock:
            if self._rows_version != self.version:
                runs = {run.ref: run for run in reversed(self._runs.values()) if run.ref}
                rows = [self._complete(row, runs.get(row.id)) for row in self._records.values()]
                rows += [
                    _run_row(name, run)
                    for name, run in self._runs.items()
                    if run.ref is None or run.ref not in self._stamps
                ]
                rows.sort(key=lambda row: (-row.created, row.id))
                self._replace_rows({row.id: row for row in rows})
            return self._rows

    def _replace_rows(self, rows: dict[str, Row]) -> None:
        """Set the rows, and note which of them changed or were removed in this version."""
        earlier = self._rows
        self._row_versions |= {id_: self.version for id_, row in rows.items() if earlier.get(id_) != row}
        self._removal_versions = {id_: at for id_, at in self._removal_versions.items() if id_ not in rows}
        self._removal_versions |= dict.fromkeys(earlier.keys() - rows.keys(), self.version)
        self._rows = rows
        self._rows_version = self.version

    def _complete(self, row: Row, run: RunRecord | None) -> Row:
        """Return the row of a record with what its run and the journal say."""
        entry = self._clips.get(row.id)
        return replace(
            row,
            exit=run and run.exit_code,
            seconds=run and run.seconds,
            tokens=entry and entry.produced,
            shown_tokens=entry and entry.received,
            retrievals=len(self._retrievals.get(row.id, ())),
            pinned=self._stamps.get(row.id, (0, False))[1],
        )

    def _forget(self, problem: str) -> None:
        for table in (self._stamps, self._records, self._runs, self._clips, self._retrievals, self._waiting):
            table.clear()
        self._newest_entry = 0.0
        self.problem = problem

    def _refresh(self, max_records: int) -> None:
        store = self.outputs.store
        if not isinstance(store, DirStore):  # each record may be a request: the newest only
            rows = {record.ref: _record_row(record) for record in self.outputs.newest(max_records)[0]}
            self.version += rows != self._records
            self._records = rows
            self._stamps = dict.fromkeys(rows, (0, False))
        else:
            with Folder(store.path) as folder:
                self._read_stamps(folder)
                self._read_records(folder, max_records)
                self._read_runs(folder)
        self._read_journal()

    def _read_stamps(self, folder: Folder) -> None:
        """Drop the rows of records that were removed, and list those that are new or have changed."""
        stamps = _stamps(folder)
        for ref in self._records.keys() - stamps.keys():
            del self._records[ref]
            self.version += 1
        changes = {ref for ref, stamp in stamps.items() if self._stamps.get(ref) != stamp}
        self._waiting = sorted((changes | {*self._waiting}) & stamps.keys(), key=lambda ref: -stamps[ref][0])
        self._stamps = stamps

    def _read_records(self, folder: Folder, max_records: int) -> None:
        refs = self._waiting[:max_records]
        del self._waiting[:max_records]
        for ref in refs:
            self._records.pop(ref, None)
            with suppress(OSError, StoreError):  # removed meanwhile, or damaged: `spill verify` reports that
                record = seen_by(folder.read_record(ref), self.scope)
                if record is not None:
                    self._records[ref] = _record_row(record)
        self.version += bool(refs)

    def _read_runs(self, folder: Folder) -> None:
        runs: dict[str, RunRecord] = {}
        with suppress(FileNotFoundError), RunFolder(folder) as stored_runs:
            for name in stored_runs.names():
                run = self._runs.get(name) or stored_runs.read(name)
                if run is not None and covers(self.scope, run.scope):
                    runs[name] = run if run.data is None else replace(run, data=None)
        self.version += runs.keys() != self._runs.keys()
        self._runs = runs

    def _read_journal(self) -> None:
        if self.folder is None:
            return
        entries: list[Entry] = []
        with suppress(OSError, StoreError):
            lines = journal.read(self.folder, since=self._newest_entry, scope=self.scope, newest=True)
            entries.extend(islice(lines, MAX_ENTRIES))
        for entry in reversed(entries):  # those of the newest millisecond come again
            if entry.operation == "clip" and entry.ref:
                self.version += self._clips.get(entry.ref) != entry
                self._clips[entry.ref] = entry
            elif entry.operation in RETRIEVALS and entry.ref:
                facts = (entry.operation, entry.lines, entry.received, entry.host, entry.outcome == "failed")
                retrieval = Retrieval(entry.when, *facts)
                retrievals = self._retrievals.setdefault(entry.ref, {})
                self.version += retrieval not in retrievals
                retrievals[retrieval] = None
        if entries:
            self._newest_entry = entries[0].when


def _stamps(folder: Folder) -> dict[str, tuple[int, bool]]:
    """Return the time of each record's file, and whether it is pinned."""
    times: dict[str, int] = {}
    pins: set[str] = set()
    with os.scandir(folder.fd) as files:
        for file in files:
            ref, ending = parse_name(file.name) or ("", "")
            if ending == RECORD:
                with suppress(OSError):
                    times[ref] = file.stat(follow_symlinks=False).st_mtime_ns
            elif ending == PIN:
                pins.add(ref)
    return {ref: (time, ref in pins) for ref, time in times.items()}


def _record_row(record: Record) -> Row:
    return Row(
        id=record.ref,
        ref=record.ref,
        tool=record.tool,
        command=(record.command or "")[:COMMAND_CHARS],
        project=record.scope or "",
        kind=record.kind or "log",
        outcome="partial" if record.partial else "stored",
        created=record.created,
        bytes=record.produced_bytes or record.bytes,
        lines=record.produced_lines or record.lines,
        shown=sum(last - first + 1 for first, last in record.shown),
    )


def _run_row(name: str, run: RunRecord) -> Row:
    return Row(
        id=RUN_PREFIX + name,
        ref=None,
        tool=run.tool,
        command=(run.command or "")[:COMMAND_CHARS],
        project=run.scope,
        outcome="removed" if run.outcome == "stored" else run.outcome,
        created=run.created,
        bytes=run.bytes,
        lines=run.lines,
        shown=run.lines if run.outcome == "whole" else 0,
        exit=run.exit_code,
        seconds=run.seconds,
    )
