"""The runs of a store: a small file for each call, also for one whose output fitted or could not be kept.

    .runs/<when>-<random>     the facts of the run, with the bytes of an output that fitted

So `last` is the newest run, whatever became of it. A file is written once and never changed: no lock is needed, and one
that was cut short by a full disk or a kill is skipped. Nothing here hashes: every tool call pays for it.
An output that fitted becomes an ordinary one, with a ref, when somebody asks for it (retrieve.last).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress

from spillover.store.folder import READ, Folder, is_ours, make_file, make_folder, open_folder, shut, write_all
from spillover.store.record import RunRecord, decode_run, encode_run

RUNS = ".runs"
#: Only one call in so many looks for old ones, so that the others do not have to list the folder.
PRUNE_ONE_IN = 16
#: No run of ours is larger: what fits is a few times the limits at most.
LARGEST = 64 << 20
_NAME_CHARS = 20 + 1 + 8


def write_run(folder: Folder, run: RunRecord, most: int, age_seconds: float | None) -> None:
    """Note a run; now and then, remove those that are too many or too old."""
    fd = _open_runs(folder, make=True)
    try:
        random = os.urandom(4)
        _write(fd, f"{int(run.created * 1e9):020d}-{random.hex()}", run)
        if random[0] % PRUNE_ONE_IN == 0:
            _prune(fd, most, None if age_seconds is None else run.created - age_seconds)
    finally:
        shut(fd)


def read_runs(folder: Folder) -> Iterator[RunRecord]:
    """Yield every run that can be read, newest first."""
    try:
        fd = _open_runs(folder)
    except FileNotFoundError:
        return
    try:
        for name in reversed(_names(fd)):
            with suppress(OSError, ValueError):  # gone meanwhile, not ours, or cut short
                yield _read(fd, name)
    finally:
        shut(fd)


def forget_bytes(folder: Folder, ref: str, scope: str | None = None) -> None:
    """Drop the bytes of an output that was removed from the runs it fitted in; of one scope, or of all."""
    try:
        fd = _open_runs(folder)
    except FileNotFoundError:
        return
    try:
        for name in _names(fd):
            with suppress(OSError, ValueError):
                run = _read(fd, name)
                if not run.has_bytes_of(ref, scope):
                    continue
                os.unlink(name, dir_fd=fd)
                _write(fd, name, run.without_bytes(ref))
    finally:
        shut(fd)


def clear_runs(folder: Folder, most: int, oldest: float | None) -> None:
    """Remove the runs that are too many, or older than `oldest`."""
    with suppress(FileNotFoundError):
        fd = _open_runs(folder)
        try:
            _prune(fd, most, oldest)
        finally:
            shut(fd)


def _write(fd: int, name: str, run: RunRecord) -> None:
    file = make_file(name, fd)
    try:
        write_all(file, encode_run(run))
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=fd)
        raise
    finally:
        shut(file)


def _open_runs(folder: Folder, *, make: bool = False) -> int:
    try:
        return open_folder(f"{folder.path}/{RUNS}", RUNS, folder.fd)
    except FileNotFoundError:
        if not make:
            raise
    make_folder(RUNS, folder.fd)
    return open_folder(f"{folder.path}/{RUNS}", RUNS, folder.fd)


def _names(fd: int) -> list[str]:
    return sorted(name for name in os.listdir(fd) if len(name) == _NAME_CHARS and name[:20].isdecimal())


def _prune(fd: int, most: int, oldest: float | None) -> None:
    names = _names(fd)
    many = len(names) - most
    for number, name in enumerate(names):
        if number >= many and (oldest is None or int(name[:20]) / 1e9 >= oldest):
            break  # all that follow are newer
        with suppress(OSError):  # gone already
            os.unlink(name, dir_fd=fd)


def _read(fd: int, name: str) -> RunRecord:
    file = os.open(name, READ, dir_fd=fd)
    try:
        found = os.fstat(file)
        if not is_ours(found) or found.st_size > LARGEST:
            raise ValueError("not a run of ours")
        with os.fdopen(os.dup(file), "rb") as opened:
            return decode_run(opened.read(LARGEST))
    finally:
        shut(file)


def read_unknown_runs(folder: Folder, known: Collection[str]) -> tuple[list[str], dict[str, RunRecord]]:
    """Return the names of all runs, newest first, and the runs that are not known yet by their names."""
    try:
        fd = _open_runs(folder)
    except FileNotFoundError:
        return [], {}
    try:
        names, found = _names(fd)[::-1], {}
        for name in names:
            if name not in known:
                with suppress(OSError, ValueError):  # as above
                    found[name] = _read(fd, name)
        return names, found
    finally:
        shut(fd)


def read_run(folder: Folder, name: str) -> RunRecord | None:
    """Return the run of this name; None where there is none, or it cannot be read."""
    if len(name) != _NAME_CHARS or not name[:20].isdecimal() or not name.isascii() or "/" in name:
        return None
    try:
        fd = _open_runs(folder)
    except FileNotFoundError:
        return None
    try:
        return _read(fd, name)
    except (OSError, ValueError):
        return None
    finally:
        shut(fd)
