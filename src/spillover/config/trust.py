"""Which configuration files the user has trusted, and with which content.

A folder of the user's own with a small file for each: named after the path, it holds the SHA-256 of the content and the path.
So two processes that trust at once do not meet, and asking about one file opens one file.
"""

from __future__ import annotations

import os

from msgspec import Struct

from spillover.base.folders import user_folder
from spillover.config.guard import not_private, take
from spillover.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    State = Literal["trusted", "changed", "untrusted"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGITS = 64
_AGAIN = "nothing in it counts; remove it, then run `spill trust` where you need it"


class Entry(Struct, frozen=True):
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


def record(path: str, data: bytes, environ: Mapping[str, str], uid: int) -> None:
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


def remove(path: str, environ: Mapping[str, str], uid: int) -> bool:
    """Remove the trust in a file; return whether it was trusted."""
    try:
        with _Opened(trust_folder(environ), uid) as fd:
            os.unlink(_name(path), dir_fd=fd)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigError(f"{trust_folder(environ)} cannot be written: {error.strerror}.") from error
    return True


def entries(environ: Mapping[str, str], uid: int) -> tuple[list[Entry], list[str]]:
    """Return everything that was trusted, by path, and what is wrong with the records."""
    found, wrong = [], []
    try:
        with _Opened(trust_folder(environ), uid) as fd:
            for name in _names(fd):
                try:
                    entry = _entry(fd, name, uid)
                except ConfigError as error:
                    wrong.append(str(error))
                else:
                    found += [entry] if entry else []
    except FileNotFoundError:
        pass
    except ConfigError as error:
        wrong.append(str(error))
    return sorted(found, key=lambda entry: entry.path), wrong


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
    if wrong := not_private(os.fstat(fd), uid, folder):
        os.close(fd)
        raise ConfigError(f"{folder}: {wrong}. Until then nothing in it counts.")
    return fd


def _entry(fd: int, name: str, uid: int) -> Entry | None:
    taken = take(name, uid=uid, dir_fd=fd)
    if taken is None:
        return None
    digest, _, path = taken.data.partition(b"\n")
    entry = Entry(os.fsdecode(path), digest.decode("ascii", "replace"))
    as_written = len(entry.sha256) == _DIGITS and _is_hex(entry.sha256) and _name(entry.path) == name
    if taken.wrong or not as_written:
        why = taken.wrong or "it is not as `spill trust` wrote it"
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
    from hashlib import sha256  # only where there is a file, and somebody has trusted one

    return sha256(data).hexdigest()
