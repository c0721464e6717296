"""Compressing what is stored: which outputs, and the steps in which a plain file gives way to a compressed one.

The compressed file is written aside, synced, read back and held against the hash in the record. Then it gets its name,
which never overwrites, and only then the plain file is taken away, unless somebody stored the same output again
meanwhile. So kill -9 at any moment, and whoever reads at any moment, finds one of the two, and each is whole.
"""

from __future__ import annotations

import os
from contextlib import suppress

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.folder import DATA, MARKER, PACKED, PIN, RECORD, Folder
from spillover.store.frames import ZSTD, PackedBlob, Packer, encode_table, zstd
from spillover.store.reading import FileBlob, read_record
from spillover.store.retention import STEP_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.source.blob import Blob

    Seen = dict[str, os.stat_result]

#: A file takes so much of a disk at least; who would not save that stays plain.
BLOCK = 4_096


class Compressed(Struct, frozen=True):
    """What compressing did."""

    outputs: int = 0
    bytes_before: int = 0
    bytes_after: int | None = 0  # None when it was only asked what would be done
    damaged: int = 0  # outputs that are not what their record says; they are left as they are


def compress(
    folder: Folder, now: float, *, older_than_seconds: float, ends_at_seconds: float | None, dry_run: bool = False
) -> Compressed:
    """Compress what is older; what is past `ends_at_seconds` is left to the next sweep."""
    zstd()  # or say at once what to install
    if folder.facts(MARKER) is None:  # an empty folder that is not ours yet
        return Compressed()
    if dry_run:
        sizes = [seen[DATA].st_size for _, seen in _old(folder, now, older_than_seconds, ends_at_seconds)]
        return Compressed(len(sizes), sum(sizes), None)
    outputs = before = after = damaged = 0
    for ref, seen in _old(folder, now, older_than_seconds, ends_at_seconds):
        try:
            size = _packed(folder, ref, seen, now)
        except FileNotFoundError:
            continue  # deleted meanwhile
        except _DamagedError:
            damaged += 1
            continue
        if size is not None:
            outputs, before, after = outputs + 1, before + seen[DATA].st_size, after + size
    return Compressed(outputs, before, after, damaged)


class _DamagedError(Exception):
    """An output is not what its record says."""


def _old(folder: Folder, now: float, older_than: float, ends_at: float | None) -> Iterator[tuple[str, Seen]]:
    """Yield the plain outputs of that age, if they are large enough to gain by it."""
    for ref in sorted(folder.refs()):
        seen = folder.look(ref)
        if RECORD not in seen or DATA not in seen or seen[DATA].st_size <= BLOCK:
            continue
        if seen[DATA].st_nlink > 1:  # the same bytes under another name: nothing would be saved
            continue
        age = now - max(seen[RECORD].st_mtime, seen[DATA].st_mtime)
        if age >= older_than and (ends_at is None or age <= ends_at or PIN in seen):
            yield ref, seen


def _packed(folder: Folder, ref: str, seen: Seen, now: float) -> int | None:
    """Return the size of an output that is compressed now; None where it stays as it is."""
    left = seen.get(PACKED)  # by somebody who was killed, or is not done yet
    if left and (now - left.st_ctime <= STEP_SECONDS or not folder.take(ref + PACKED, left)):
        return None
    try:
        sha256 = read_record(folder, ref).sha256
    except StoreError as error:
        raise _DamagedError from error
    plain = FileBlob(folder.open(ref + DATA))
    temp, fd = folder.make_temp()
    try:
        with os.fdopen(fd, "w+b") as file:  # it is locked while it is open
            packer = Packer(plain)
            if packer.form != ZSTD:
                return None
            for part in packer.pieces():
                file.write(part)
            file.write(encode_table(packer.frames()))
            file.flush()
            size = os.fstat(fd).st_size
            if size > plain.size - BLOCK:
                return None
            back = PackedBlob(FileBlob(os.dup(fd)), ref + PACKED)
            if _sha256(back) != sha256:
                raise _DamagedError
            # A plain file that has been safe for days makes room for this one: here, unlike in a tool call, there is time.
            os.fsync(fd)
            os.utime(fd, ns=(seen[DATA].st_atime_ns, seen[DATA].st_mtime_ns))  # it is no younger than before
            made = os.fstat(fd)
            folder.claim(temp, ref + PACKED)
            os.fsync(folder.fd)
            gone = folder.take(ref + DATA, seen[DATA])
            if not gone:
                folder.take(ref + PACKED, made)
    except FileExistsError:
        return None  # another one is at it, where there are no locks
    finally:
        plain.close()
        folder.drop_temp(temp)
    folder.tidy(ref)
    return size if gone else None


def _sha256(blob: Blob) -> str:
    import hashlib

    made, at = hashlib.sha256(), 0
    try:
        with suppress(StoreError):  # then it is another hash
            while part := blob.read(at, at + (1 << 20)):
                made.update(part)
                at += len(part)
    finally:
        blob.close()
    return made.hexdigest()
