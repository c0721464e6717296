"""Files that save time and can be made again: private, checked before use, and of no consequence when missing.

They are kept in the user's cache directory. A file that is damaged, incomplete, or that somebody else could have written is
ignored and replaced, so a bad cache costs time and nothing else.
"""

from __future__ import annotations

import os
import stat

from spillover.store.folders import user_folder

#: At the start of each file, so that one of another version is ignored.
MAGIC = b"spillover cache 1\n"
DIGEST_BYTES = 32
#: No file of ours is larger; a larger one is not read.
MOST_BYTES = 16 << 20
#: A temporary file older than this was left by a process that was killed.
STALE_SECONDS = 3_600
PART = ".part-"


def load(name: str) -> bytes | None:
    """Return what was saved under this name, or None where there is nothing that can be trusted."""
    folder = _folder()
    try:
        if not _is_private(os.lstat(folder), folder=True):
            return None
        handle = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not _is_private(found) or found.st_size > MOST_BYTES:
            return None
        data = _read(handle, found.st_size)
    except OSError:
        return None
    finally:
        _close(handle)
    head, payload = data[: len(MAGIC) + DIGEST_BYTES], data[len(MAGIC) + DIGEST_BYTES :]
    return payload if head == MAGIC + _digest(name, payload) else None


def save(name: str, payload: bytes) -> None:
    """Save something under this name, for this user alone. A disk that is full or closed is ignored."""
    folder = _folder()
    part = os.path.join(folder, f"{PART}{os.getpid()}-{os.urandom(6).hex()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_private(os.lstat(folder), folder=True):
            return
        _remove_stale(folder)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        try:
            _write(handle, MAGIC + _digest(name, payload) + payload)
        finally:
            os.close(handle)
        os.replace(part, os.path.join(folder, name))
    except OSError:
        _unlink(part)
    except BaseException:  # an interrupt leaves no file behind
        _unlink(part)
        raise


def _folder() -> str:
    return user_folder(os.environ, "XDG_CACHE_HOME", ".cache")


def _is_private(found: os.stat_result, *, folder: bool = False) -> bool:
    """Return whether nobody but this user can have written it."""
    kind = stat.S_ISDIR if folder else stat.S_ISREG
    return kind(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _digest(name: str, payload: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(name.encode() + b"\n" + payload).digest()


def _read(handle: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.read(handle, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _remove_stale(folder: str) -> None:
    import time

    with os.scandir(folder) as entries:
        old = [
            entry.path
            for entry in entries
            if entry.name.startswith(PART) and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS
        ]
    for path in old:
        _unlink(path)


def _close(handle: int) -> None:
    import contextlib

    with contextlib.suppress(OSError):  # nothing was written by way of it
        os.close(handle)


def _unlink(path: str) -> None:
    import contextlib

    with contextlib.suppress(OSError):
        os.unlink(path)
