"""What is left of an output that was removed: its ref, and the hash it stood for, so that no other output gets that ref.

    .gone/<ref>      the SHA-256 of what had this ref

The same output may come again under it. A tombstone goes after KEEP_SECONDS, or when there are more than MOST.
"""

from __future__ import annotations

import os
from contextlib import suppress

from spillover.base import patterns
from spillover.store.base import REF_SHAPE, already_taken
from spillover.store.folder import READ, Folder, is_ours, shut, write_all
from spillover.store.reading import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.base import Record

GONE = ".gone"
KEEP_SECONDS = 30 * 86_400
MOST = 10_000
_HASH = patterns.compile(rb"[0-9a-f]{64}\n")


def bury(folder: Folder, ref: str) -> None:
    """Remember whose ref this is, before the output goes. A disk too full for it does not keep anybody from cleaning up."""
    with suppress(OSError):
        sha256 = read_record(folder, ref).sha256
        if buried(folder, ref) == sha256:
            os.utime(f"{GONE}/{ref}", dir_fd=folder.fd, follow_symlinks=False)
            return
        with suppress(FileExistsError):
            os.mkdir(GONE, 0o700, dir_fd=folder.fd)
            os.chmod(GONE, 0o700, dir_fd=folder.fd)  # whatever the umask is
        temp, fd = folder.make_temp()
        try:
            try:
                write_all(fd, sha256.encode() + b"\n")
            finally:
                os.close(fd)
            os.replace(temp, f"{GONE}/{ref}", src_dir_fd=folder.temp, dst_dir_fd=folder.fd)
        except OSError:
            folder.drop_temp(temp)


def buried(folder: Folder, ref: str) -> str | None:
    """Return the hash of the removed output that had this ref; None where none is remembered."""
    try:
        fd = os.open(f"{GONE}/{ref}", READ, dir_fd=folder.fd)
    except OSError:
        return None
    try:
        found = os.read(fd, 80) if is_ours(os.fstat(fd)) else b""
    except OSError:
        return None
    finally:
        shut(fd)
    return found[:64].decode() if _HASH.fullmatch(found) else None


def refuse_another(folder: Folder, ref: str, record: Record) -> None:
    """Raise StoreError where this ref was another output's."""
    before = buried(folder, ref)
    if before is not None and before != record.sha256:
        raise already_taken(ref)


def clear(folder: Folder, now: float) -> None:
    """Remove old tombstones, and the oldest of too many."""
    found = []
    try:
        with os.scandir(f"{folder.path}/{GONE}") as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    facts = entry.stat(follow_symlinks=False)
                    if REF_SHAPE.fullmatch(entry.name) and is_ours(facts):
                        found.append((facts.st_mtime, entry.name))
    except OSError:
        return
    found.sort()
    for number, (mtime, name) in enumerate(found):
        if now - mtime > KEEP_SECONDS or len(found) - number > MOST:
            with suppress(OSError):
                os.unlink(f"{GONE}/{name}", dir_fd=folder.fd)
