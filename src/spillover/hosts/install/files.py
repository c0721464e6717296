"""Change files of other programs atomically, with a backup, and restore them byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgspec import Struct

from spillover.errors import UsageError
from spillover.hosts.install.edits import Edit, OwnFile

BACKUP = ".spillover-backup"
MOST_BYTES = 1 << 24  # no configuration is larger


class Target(Struct, frozen=True):
    """A file, what we put into it, and the folder it must not lead out of."""

    path: str
    edit: Edit
    within: str | None = None
    base: str = ""  # a folder that was there before any agent; those below it are removed with the last file in them


class Change(Struct, frozen=True):
    """What will become of a file; None: there is none."""

    path: str
    real: str
    before: str | None
    after: str | None
    backup: str | None = None  # which is no longer needed then
    keep: bool = True  # a backup of what was there
    base: str = ""

    @property
    def is_noop(self) -> bool:
        """Whether the file stays as it is."""
        return self.before == self.after


def plan_install(target: Target) -> Change:
    """Return the change that installs us; an empty one if we are installed already."""
    real = _real(target)
    before = _read(real)
    with _naming_file(target.path):
        # A file that is all ours needs no backup of an earlier version of ours.
        return Change(target.path, real, before, target.edit.insert(before), keep=not isinstance(target.edit, OwnFile))


def plan_removal(target: Target) -> Change:
    """Return the change that removes us: the exact original if nobody else changed the file, else only our part."""
    real = _real(target)
    before = _read(real)
    edit = target.edit
    with _naming_file(target.path):
        if before is None or not edit.contains(before):
            return Change(target.path, real, before, before)
        for backup in _backups(real):
            kept = _read(backup)
            if kept is not None and _is_installed_over(edit, kept, before):
                return Change(target.path, real, before, kept, backup, keep=False, base=target.base)
        if edit.insert(None) == before:
            return Change(target.path, real, before, None, keep=False, base=target.base)
        return Change(
            target.path, real, before, edit.remove(before), keep=not isinstance(edit, OwnFile), base=target.base
        )


def is_installed(target: Target) -> bool:
    """Return whether we are installed in the file; UsageError if that cannot be determined."""
    text = _read(_real(target))
    with _naming_file(target.path):
        return text is not None and target.edit.contains(text)


def apply(change: Change) -> None:
    """Apply the change atomically; keep the mode, and a backup of what was there."""
    if change.is_noop:
        return
    if _read(change.real) != change.before:
        raise UsageError(f"{change.path} was changed by somebody else just now; run this again.")
    try:
        os.makedirs(os.path.dirname(change.real), exist_ok=True)
        mode = None if change.before is None else stat.S_IMODE(os.stat(change.real).st_mode)
        if change.before is not None and change.keep:
            _keep(change.real, change.before, mode)
        if change.after is None:
            os.unlink(change.real)
            _remove_empty(os.path.dirname(change.real), os.path.realpath(change.base) if change.base else "")
            return
        temporary = os.path.join(
            os.path.dirname(change.real), f".{os.path.basename(change.real)}.spillover-{os.getpid()}"
        )
        try:
            _write(temporary, change.after, mode)
            os.replace(temporary, change.real)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        if change.backup is not None:
            os.unlink(change.backup)
    except OSError as error:
        raise UsageError(f"{change.path} cannot be changed: {error.strerror}.") from error


def _remove_empty(folder: str, base: str) -> None:
    """Remove a folder and those above it, as long as they are empty and below the base."""
    with suppress(OSError):  # it is not empty
        while base and folder.startswith(os.path.join(base, "")):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _is_installed_over(edit: Edit, kept: str, before: str) -> bool:
    """Return whether putting ours into what was kept gives what is there now."""
    try:
        return not edit.contains(kept) and edit.insert(kept) == before
    except UsageError:
        return False


def _real(target: Target) -> str:
    """Return where the file really is: a link is followed, but not out of the project, and not to nowhere."""
    real = os.path.realpath(target.path)
    if os.path.lexists(target.path) and not os.path.isfile(real):
        raise UsageError(f"{target.path} is not a file; nothing was changed.")
    if target.within is not None and not real.startswith(os.path.join(os.path.realpath(target.within), "")):
        raise UsageError(f"{target.path} leads out of {target.within}, to {real}; nothing was changed.")
    return real


def _read(path: str) -> str | None:
    """Return what is in a file, line ends as they are; None where there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{path} is too large for a configuration; nothing was changed.")
        return data.decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8; nothing was changed.") from error


def _backups(real: str) -> Iterator[str]:
    """Yield the backups there are, newest first."""
    count = 0
    while os.path.isfile(_backup(real, count)):
        count += 1
    yield from (_backup(real, number) for number in reversed(range(count)))


def _backup(real: str, number: int) -> str:
    return f"{real}{BACKUP}" + (f"-{number + 1}" if number else "")


def _keep(real: str, text: str, mode: int | None) -> None:
    """Write a backup, unless there is one with the same content; older backups stay."""
    number = 0
    while os.path.lexists(_backup(real, number)):
        if _read(_backup(real, number)) == text:
            return
        number += 1
    _write(_backup(real, number), text, mode)


def _write(path: str, text: str, mode: int | None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666 if mode is None else 0o600)
    with open(fd, "wb") as file:
        if mode is not None:
            os.fchmod(fd, mode)
        file.write(text.encode())
        file.flush()
        os.fsync(fd)


@contextmanager
def _naming_file(path: str) -> Iterator[None]:
    """Add the file's name to what an edit finds wrong."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
