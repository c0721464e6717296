"""Whose configuration counts: reading small files safely, and what the user has trusted.

A small file may have been put there by somebody else: reading it never hangs, and says whose words it holds. What is
trusted is kept in a folder of the user's own, a small file for each: named after the path, it holds the SHA-256 of the
content and the path. So two processes that trust at once do not meet, and asking about one file opens one file.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from spillover.errors import ConfigError
from spillover.store.folder import user_folder

State = Literal["trusted", "changed", "untrusted"]

#: A configuration is smaller than this; no more of a file is read.
MAX_BYTES = 1 << 16
#: A FIFO would wait for a writer, a lease for its holder, a terminal would become ours.
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGITS = 64
_AGAIN = "nothing in it counts; remove it, then run `spill trust` where you need it"


class SmallFile(Struct, frozen=True):
    """What is in a file, which file it is, and why it must not be used ("" if it may be)."""

    data: bytes = b""
    id: tuple[int, int] = (0, 0)
    problem: str = ""


def read_small(path: str, *, uid: int | None, links: bool = False, dir_fd: int | None = None) -> SmallFile | None:
    """Read the file at this path if it is regular, small, and writable only by `uid` and root; None if there is none.

    Everything is asked of the open descriptor, so a file that is swapped meanwhile changes nothing.
    Without a `uid`, it may be anybody's: the user has named it.
    """
    try:
        fd = os.open(path, _OPEN if links else _OPEN | os.O_NOFOLLOW, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _explain_unopened(path, error, links=links, dir_fd=dir_fd)
    try:
        found = os.fstat(fd)
        data = _read(fd) if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        return SmallFile(problem=f"it cannot be read: {error.strerror}")
    finally:
        os.close(fd)
    id_ = (found.st_dev, found.st_ino)
    if not stat.S_ISREG(found.st_mode):
        return SmallFile(b"", id_, "it is not a regular file")
    if len(data) > MAX_BYTES:
        return SmallFile(data[:MAX_BYTES], id_, f"it is larger than {MAX_BYTES:,} bytes")
    problem = describe_writers(found, uid, path)
    if links and not problem and uid is not None and (owner := _link_owner(path)) not in (None, uid, 0):
        problem = f"it is a symbolic link that belongs to uid {owner}, not to you (uid {uid})"
    return SmallFile(data, id_, problem)


def describe_writers(found: os.stat_result, uid: int | None, path: str) -> str:
    """Return who else than `uid` and root can have written it, in words; "" if nobody."""
    if uid is None:
        return ""
    if found.st_uid not in (uid, 0):
        return f"it belongs to uid {found.st_uid}, not to you (uid {uid})"
    if found.st_mode & _OTHERS_WRITE:
        who, mode = ("others", "go-w") if found.st_mode & stat.S_IWOTH else ("its group", "g-w")
        return f"{who} may write to it; run `chmod {mode} {shlex.quote(path)}`"
    return ""


def _read(fd: int) -> bytes:
    """Read at most one byte more than the largest size that is allowed."""
    data = b""
    while len(data) <= MAX_BYTES and (more := os.read(fd, MAX_BYTES + 1 - len(data))):
        data += more
    return data


def _explain_unopened(path: str, error: OSError, *, links: bool, dir_fd: int | None) -> SmallFile | None:
    try:
        mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=links).st_mode
    except OSError:  # also where a folder above may not be entered: nothing is known to be there
        return None
    if stat.S_ISLNK(mode):
        return SmallFile(problem="it is a symbolic link, and those are not followed here")
    if error.errno == errno.ENXIO:  # a socket
        return SmallFile(problem="it is not a regular file")
    return SmallFile(problem=f"it cannot be read: {error.strerror}")


def _link_owner(path: str) -> int | None:
    try:
        found = os.lstat(path)
    except OSError:  # it went meanwhile, and what was opened has been checked by itself
        return None
    return found.st_uid if stat.S_ISLNK(found.st_mode) else None


class TrustedFile(Struct, frozen=True):
    """A file that was trusted, and the SHA-256 of what was in it then."""

    path: str
    sha256: str


def trust_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of trust records: beside the outputs, which may be moved to where others can write."""
    return user_folder(environ, "XDG_STATE_HOME", ".local/state") + "-trust"


def state_of(path: str, data: bytes, environ: Mapping[str, str], uid: int) -> tuple[State, str]:
    """Return whether the user has trusted this file with this content, and what is wrong with its record, if anything."""
    folder = trust_folder(environ)
    try:
        fd = _open_folder(folder, uid)
        if fd is None:
            return "untrusted", ""
        try:
            entry = _entry(fd, _name(path), uid)
        finally:
            os.close(fd)
    except ConfigError as error:
        return "untrusted", str(error)
    if entry is None:
        return "untrusted", ""
    return ("trusted" if entry.sha256 == _sha256(data) else "changed"), ""


def trust(path: str, data: bytes, environ: Mapping[str, str], uid: int) -> None:
    """Record that this file with this content is trusted."""
    folder = trust_folder(environ)
    temporary = f".{os.getpid()}-{os.urandom(8).hex()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with _Opened(folder, uid) as fd:
            os.fchmod(fd, 0o700)
            try:
                with open(os.open(temporary, _NEW, 0o600, dir_fd=fd), "wb") as file:
                    file.write(f"{_sha256(data)}\n".encode() + os.fsencode(path))
                os.rename(temporary, _name(path), src_dir_fd=fd, dst_dir_fd=fd)
            except OSError:
                if temporary in os.listdir(fd):
                    os.unlink(temporary, dir_fd=fd)
                raise
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}.") from error


def untrust(path: str, environ: Mapping[str, str], uid: int) -> bool:
    """Remove the trust in a file; return whether it was trusted."""
    try:
        with _Opened(trust_folder(environ), uid) as fd:
            os.unlink(_name(path), dir_fd=fd)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigError(f"{trust_folder(environ)} cannot be written: {error.strerror}.") from error
    return True


def list_trusted(environ: Mapping[str, str], uid: int) -> tuple[list[TrustedFile], list[str]]:
    """Return everything that was trusted, by path, and what is wrong with the records."""
    found, problem = [], []
    try:
        with _Opened(trust_folder(environ), uid) as fd:
            for name in _names(fd):
                try:
                    entry = _entry(fd, name, uid)
                except ConfigError as error:
                    problem.append(str(error))
                else:
                    found += [entry] if entry else []
    except FileNotFoundError:
        pass
    except ConfigError as error:
        problem.append(str(error))
    return sorted(found, key=lambda entry: entry.path), problem


class _Opened:
    """The folder, checked and open; FileNotFoundError where nothing was ever trusted."""

    def __init__(self, folder: str, uid: int) -> None:
        self.folder, self.uid = folder, uid

    def __enter__(self) -> int:
        fd = _open_folder(self.folder, self.uid)
        if fd is None:
            raise FileNotFoundError(self.folder)
        self.fd = fd
        return fd

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def _open_folder(folder: str, uid: int) -> int | None:
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return None
    except OSError as error:  # a file, or a link to anywhere
        raise ConfigError(f"{folder} is not a folder of yours ({error.strerror}): {_AGAIN}.") from error
    if problem := describe_writers(os.fstat(fd), uid, folder):
        os.close(fd)
        raise ConfigError(f"{folder}: {problem}. Until then nothing in it counts.")
    return fd


def _entry(fd: int, name: str, uid: int) -> TrustedFile | None:
    taken = read_small(name, uid=uid, dir_fd=fd)
    if taken is None:
        return None
    digest, _, path = taken.data.partition(b"\n")
    entry = TrustedFile(os.fsdecode(path), digest.decode("ascii", "replace"))
    as_written = len(entry.sha256) == _DIGITS and _is_hex(entry.sha256) and _name(entry.path) == name
    if taken.problem or not as_written:
        why = taken.problem or "it is not as `spill trust` wrote it"
        raise ConfigError(
            f"a record of trust ({name}) does not count: {why}. Run `spill trust` again where you need it."
        )
    return entry


def _names(fd: int) -> Iterator[str]:
    return (name for name in sorted(os.listdir(fd)) if len(name) == _DIGITS and _is_hex(name))


def _is_hex(text: str) -> bool:
    return not text.strip("0123456789abcdef")


def _name(path: str) -> str:
    return _sha256(os.fsencode(path))


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()
