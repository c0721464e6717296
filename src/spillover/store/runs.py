"""The runs of a store: a small file for each call, also for one whose output fitted or could not be kept.

    .runs/<when>-<random>     a line of numbers, then the words of the run, then the bytes of an output that fitted

So `last` is the newest run, whatever became of it. A file is written once and never changed: no lock is needed, and one
that was cut short by a full disk or a kill is skipped. Nothing here hashes or parses JSON: every tool call pays for it.
An output that fitted becomes an ordinary one, with a ref, when somebody asks for it (retrieve.last).
"""

from __future__ import annotations

import os
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover.store.base import mint
from spillover.store.folder import READ, Folder, is_ours, make_file, make_folder, open_folder, shut, write_all
from spillover.store.scope import covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from spillover.store.base import Record

    Bytes = bytes  # a field of that name is in the way below

RUNS = ".runs"
#: Only one call in so many looks for old ones, so that the others do not have to list the folder.
PRUNE_ONE_IN = 16
#: No run of ours is larger: what fits is a few times the limits at most.
LARGEST = 64 << 20
_FORMAT = b"spillover-run 1"
_NAME_CHARS = 20 + 1 + 8


class RunRecord(Struct, frozen=True, kw_only=True):
    """One call of a tool, and what became of its output."""

    scope: str
    tool: str
    created: float
    outcome: str  # "whole", "stored" or "lost"
    bytes: int
    lines: int
    exit_code: int | None = None
    seconds: float | None = None
    command: str | None = None
    call_id: str | None = None
    cwd: str | None = None
    ref: str | None = None  # where it was stored
    reason: str | None = None  # why it was not
    data: Bytes | None = None  # all of it, where it fitted


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
                if not is_of(run, ref, scope):
                    continue
                os.unlink(name, dir_fd=fd)
                _write(fd, name, without_bytes(run, ref))
    finally:
        shut(fd)


def is_of(run: RunRecord, ref: str, scope: str | None) -> bool:
    """Return whether a run holds the bytes of this output, as far as a scope may say."""
    if run.data is None or (scope is not None and not covers(scope, run.scope)):
        return False
    import hashlib  # only where something is removed

    return mint(run.tool, hashlib.sha256(run.data).hexdigest()) == ref


def is_run_of(run: RunRecord, record: Record) -> bool:
    """Return whether a run printed this output: it was stored then, or later, or fitted and has the same bytes."""
    if run.ref == record.ref or run.data is None:
        return run.ref == record.ref
    return len(run.data) == record.bytes and is_of(run, record.ref, None)


def without_bytes(run: RunRecord, ref: str) -> RunRecord:
    return replace(run, data=None, ref=ref)


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
        write_all(file, _encode(run))
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
            return _decode(opened.read(LARGEST))
    finally:
        shut(file)


def _encode(run: RunRecord) -> bytes:
    words = [run.scope, run.tool, run.outcome, run.command, run.call_id, run.cwd, run.ref, run.reason]
    parts = [None if word is None else word.encode("utf-8", "surrogatepass") for word in words] + [run.data]
    numbers = [repr(run.created), run.bytes, run.lines, run.exit_code, run.seconds]
    sizes = [-1 if part is None else len(part) for part in parts]
    head = " ".join(str(value) for value in (*numbers, *sizes))
    return b"%s %s\n" % (_FORMAT, head.encode()) + b"".join(part for part in parts if part)


def _decode(data: bytes) -> RunRecord:
    """Read a run back; ValueError for anything that is not one, or not all of one."""
    head, _, body = data.partition(b"\n")
    if not head.startswith(_FORMAT + b" "):
        raise ValueError("not a run of this version")
    created, size, lines, exit_code, seconds, *sizes = head.decode("ascii")[len(_FORMAT) + 1 :].split(" ")
    parts: list[bytes | None] = []
    at = 0
    for length in map(int, sizes):
        parts.append(None if length < 0 else body[at : at + length])
        at += max(0, length)
    if len(parts) != 9 or at != len(body):
        raise ValueError("cut short")
    scope, tool, outcome, command, call_id, cwd, ref, reason = (
        None if part is None else part.decode("utf-8", "surrogatepass") for part in parts[:-1]
    )
    if scope is None or tool is None or outcome not in ("whole", "stored", "lost"):
        raise ValueError("a value is missing")
    return RunRecord(
        scope=scope,
        tool=tool,
        created=float(created),
        outcome=outcome,
        bytes=int(size),
        lines=int(lines),
        exit_code=None if exit_code == "None" else int(exit_code),
        seconds=None if seconds == "None" else float(seconds),
        command=command,
        call_id=call_id,
        cwd=cwd,
        ref=ref,
        reason=reason,
        data=parts[-1],
    )


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
