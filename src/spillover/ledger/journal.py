"""The journal: a file of lines beside the store. Append, rotate, read.

    <store>/.ledger/journal                      the newest lines
    <store>/.ledger/journal.<when>-<random>      what was rotated away, the oldest first by name

A line is one write to a file that is opened to append: lines of 200 writers stand behind each other, and none is torn. Who
finds the file full renames it; the oldest files go when all of them are too large together. It is as private as the store:
its folder is reached through the store's own, which is checked, no link is followed, and files are 0600.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager, suppress

from spillover.errors import StoreError
from spillover.ledger.entry import LINE_BYTES, Entry, decode, shorten_scope
from spillover.store.folder import READ, TEMP, Folder, is_ours, make_file, make_folder, open_folder, shut
from spillover.store.scope import EVERY, covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LEDGER, JOURNAL = ".ledger", "journal"
#: A file is renamed when it is this large; all of them together are at most so large. A line has about 200 bytes.
FILE_BYTES, ALL_BYTES = 8 << 20, 64 << 20
#: So much is read at once.
BLOCK = 1 << 20
_APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


def place_of(store: Any) -> str | None:
    """Return the folder beside which a store's journal is kept, on this machine; None for a store without one."""
    here = getattr(store, "here", None)
    return here if isinstance(here, str) else None


def append(place: str, line: bytes, *, file_bytes: int = FILE_BYTES, all_bytes: int = ALL_BYTES) -> None:
    """Add a line. OSError or StoreError says why not."""
    with Folder(place, make=True) as folder:
        _refuse_links(folder)
        ledger = _open_ledger(folder, make=True)
        try:
            fd = _open_journal(ledger, folder.path)
            try:
                facts = os.fstat(fd)
                if facts.st_size and os.pread(fd, 1, facts.st_size - 1) != b"\n":
                    line = b"\n" + line  # a full disk left half a line: it ends here
                os.write(fd, line)
            finally:
                os.close(fd)
            if facts.st_size + len(line) >= file_bytes:
                _rotate(ledger, facts.st_ino, all_bytes)
        finally:
            shut(ledger)


def blocks(place: str, *, block: int = BLOCK) -> Iterator[bytes]:
    """Yield the journal in pieces of whole lines, the oldest first. What has no end of line yet is left out."""
    with _files(place) as (ledger, names, newest):
        for name in names:
            with suppress(FileNotFoundError):  # rotated away meanwhile
                yield from _lines_of(_open_segment(ledger, name, newest), block)
        if newest >= 0:
            yield from _lines_of(os.dup(newest), block)


def read(
    place: str,
    *,
    since: float = 0.0,
    scope: str = EVERY,
    newest: bool = False,
    fitting: bool = True,
    block: int = BLOCK,
) -> Iterator[Entry]:
    """Yield the entries of a scope, the oldest or the newest first; what is damaged is skipped.

    `fitting=False` leaves out the clips of output that fitted.
    """
    own = shorten_scope(scope)
    for piece in _backwards(place, block) if newest else blocks(place, block=block):
        lines = piece.split(b"\n")
        for line in reversed(lines) if newest else lines:
            entry = decode(line) if line else None
            if entry is None or (not fitting and (entry.operation, entry.outcome) == ("clip", "whole")):
                continue
            if entry.when >= since and covers(own, entry.scope):
                yield entry


def size(place: str) -> int:
    """Return how many bytes of lines there are; with every line it is another number."""
    total = 0
    with _files(place) as (ledger, names, newest):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(name, dir_fd=ledger, follow_symlinks=False).st_size
        return total + (os.fstat(newest).st_size if newest >= 0 else 0)


def _refuse_links(folder: Folder) -> None:
    """Refuse a store that takes no output because its folder for what is on its way is somewhere else."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(TEMP, dir_fd=folder.fd, follow_symlinks=False).st_mode):
            raise StoreError(f"{folder.path}/{TEMP} is not a folder of ours.")


def _open_ledger(folder: Folder, *, make: bool = False) -> int:
    path = f"{folder.path}/{LEDGER}"
    try:
        return open_folder(path, LEDGER, folder.fd)
    except FileNotFoundError:
        if not make:
            raise
    make_folder(LEDGER, folder.fd)
    return open_folder(path, LEDGER, folder.fd)


def _open_journal(ledger: int, root: str) -> int:
    for _ in range(3):  # renamed, or made, by somebody else at this moment
        try:
            fd = os.open(JOURNAL, _APPEND, dir_fd=ledger)
        except FileNotFoundError:
            with suppress(FileExistsError):
                shut(make_file(JOURNAL, ledger))
            continue
        if not is_ours(os.fstat(fd)):
            shut(fd)
            break
        return fd
    raise StoreError(f"{root}/{LEDGER}/{JOURNAL} is not a plain file of ours.")


def _rotate(ledger: int, inode: int, all_bytes: int) -> None:
    """Rename the journal that is full, unless somebody has just done so, and remove the oldest files."""
    with suppress(FileNotFoundError):
        if os.stat(JOURNAL, dir_fd=ledger, follow_symlinks=False).st_ino != inode:
            return
        name = f"{JOURNAL}.{time.time_ns():020d}-{os.urandom(4).hex()}"
        os.rename(JOURNAL, name, src_dir_fd=ledger, dst_dir_fd=ledger)
    total = 0
    for name in reversed(_segments(ledger)):
        with suppress(FileNotFoundError):
            total += os.stat(name, dir_fd=ledger, follow_symlinks=False).st_size
            if total > all_bytes:
                os.unlink(name, dir_fd=ledger)


def _segments(ledger: int) -> list[str]:
    begin = JOURNAL + "."
    return sorted(name for name in os.listdir(ledger) if name.startswith(begin) and name[len(begin) :][:20].isdecimal())


@contextmanager
def _files(place: str) -> Iterator[tuple[int, list[str], int]]:
    """Give the folder, the names of what was rotated away, and a descriptor of the newest file; -1 where there is none."""
    ledger = newest = -1
    try:
        with suppress(FileNotFoundError), Folder(place) as folder:
            ledger = _open_ledger(folder)
        names: list[str] = []
        if ledger >= 0:
            # The newest first: what is rotated away from here on is then seen under one of its two names.
            with suppress(FileNotFoundError):
                newest = _open_segment(ledger, JOURNAL)
            names = _segments(ledger)
        yield ledger, names, newest
    finally:
        shut(newest)
        shut(ledger)


def _open_segment(ledger: int, name: str, other: int = -1) -> int:
    """Return a descriptor of a file of ours; FileNotFoundError for anything else, and for the file that `other` is."""
    try:
        fd = os.open(name, READ, dir_fd=ledger)
    except OSError as error:  # a link, or what is not ours to read
        raise FileNotFoundError(name) from error
    facts = os.fstat(fd)
    if not is_ours(facts) or (other >= 0 and os.fstat(other).st_ino == facts.st_ino):
        shut(fd)
        raise FileNotFoundError(name)
    return fd


def _lines_of(fd: int, block: int) -> Iterator[bytes]:
    """Yield whole lines, in pieces; takes the descriptor."""
    try:
        at, rest = 0, b""
        while data := os.pread(fd, block, at):
            at += len(data)
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            elif len(rest) < LINE_BYTES:
                rest += data[:LINE_BYTES]  # no line of ours is so long: what remains is damaged
    finally:
        shut(fd)


def _backwards(place: str, block: int) -> Iterator[bytes]:
    """Yield the same from the end."""
    with _files(place) as (ledger, names, newest):
        if newest >= 0:
            yield from _lines_backwards(os.dup(newest), block)
        for name in reversed(names):
            with suppress(FileNotFoundError):
                yield from _lines_backwards(_open_segment(ledger, name, newest), block)


def _lines_backwards(fd: int, block: int) -> Iterator[bytes]:
    try:
        at, rest = os.fstat(fd).st_size, b""
        while at > 0:
            begin = max(0, at - block)
            data = os.pread(fd, at - begin, begin) + rest
            at = begin
            cut = data.find(b"\n") + 1 if begin else 0
            if begin and not cut:
                rest = data[:LINE_BYTES]
                continue
            rest = data[:cut]
            yield data[cut : data.rfind(b"\n") + 1]
    finally:
        shut(fd)
