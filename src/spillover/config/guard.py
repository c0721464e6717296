"""Reading a small file that somebody else may have put there: nothing hangs, and it is known whose words it holds."""

from __future__ import annotations

import errno
import os
import stat

from msgspec import Struct

#: A configuration is smaller than this; no more of a file is read.
MOST_BYTES = 1 << 16
#: A FIFO would wait for a writer, a lease for its holder, a terminal would become ours.
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Taken(Struct, frozen=True):
    """What is in a file, which file it is, and why it must not be used ("" if it may be)."""

    data: bytes = b""
    id: tuple[int, int] = (0, 0)
    wrong: str = ""


def take(path: str, *, uid: int | None, links: bool = False, dir_fd: int | None = None) -> Taken | None:
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
        return Taken(wrong=f"it cannot be read: {error.strerror}")
    finally:
        os.close(fd)
    id_ = (found.st_dev, found.st_ino)
    if not stat.S_ISREG(found.st_mode):
        return Taken(b"", id_, "it is not a regular file")
    if len(data) > MOST_BYTES:
        return Taken(data[:MOST_BYTES], id_, f"it is larger than {MOST_BYTES:,} bytes")
    wrong = not_private(found, uid, path)
    if links and not wrong and uid is not None and (owner := _link_owner(path)) not in (None, uid, 0):
        wrong = f"it is a symbolic link that belongs to uid {owner}, not to you (uid {uid})"
    return Taken(data, id_, wrong)


def not_private(found: os.stat_result, uid: int | None, path: str) -> str:
    """Return who else than `uid` and root can have written it, in words; "" if nobody."""
    if uid is None:
        return ""
    if found.st_uid not in (uid, 0):
        return f"it belongs to uid {found.st_uid}, not to you (uid {uid})"
    if found.st_mode & _OTHERS_WRITE:
        who, mode = ("others", "go-w") if found.st_mode & stat.S_IWOTH else ("its group", "g-w")
        return f"{who} may write to it; run `chmod {mode} {_quote(path)}`"
    return ""


def _read(fd: int) -> bytes:
    """Read at most one byte more than the largest size that is allowed."""
    data = b""
    while len(data) <= MOST_BYTES and (more := os.read(fd, MOST_BYTES + 1 - len(data))):
        data += more
    return data


def _explain_unopened(path: str, error: OSError, *, links: bool, dir_fd: int | None) -> Taken | None:
    try:
        mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=links).st_mode
    except OSError:  # also where a folder above may not be entered: nothing is known to be there
        return None
    if stat.S_ISLNK(mode):
        return Taken(wrong="it is a symbolic link, and those are not followed here")
    if error.errno == errno.ENXIO:  # a socket
        return Taken(wrong="it is not a regular file")
    return Taken(wrong=f"it cannot be read: {error.strerror}")


def _link_owner(path: str) -> int | None:
    try:
        found = os.lstat(path)
    except OSError:  # it went meanwhile, and what was opened has been checked by itself
        return None
    return found.st_uid if stat.S_ISLNK(found.st_mode) else None


def _quote(path: str) -> str:
    from shlex import quote  # only for a complaint

    return quote(path)
