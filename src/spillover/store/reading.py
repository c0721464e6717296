"""Reading an output in a folder: its record, and its bytes, plain or compressed."""

from __future__ import annotations

import os

from spillover.errors import StoreError
from spillover.store.folder import BYTES, DATA, PACKED, PIN, RECORD, Folder, told
from spillover.store.record import from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.intake.blob import Blob
    from spillover.store.base import Record


class FileBlob:
    """The bytes of an open file, read where they are wanted."""

    __slots__ = ("_file", "size")

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, "rb", buffering=0)
        self.size = os.fstat(fd).st_size

    def read(self, start: int, end: int) -> bytes:
        if self._file.closed:
            raise StoreError("These bytes were closed before.")
        at, end = max(start, 0), min(end, self.size)
        parts = []
        with told():
            while at < end and (part := os.pread(self._file.fileno(), end - at, at)):
                parts.append(part)
                at += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._file.close()


def open_bytes(folder: Folder, ref: str) -> Blob:
    """The bytes of an output; FileNotFoundError when there are none."""
    for ending in BYTES:
        try:
            blob = FileBlob(folder.open(ref + ending))
        except FileNotFoundError:
            continue
        if ending == DATA:
            return blob
        from spillover.store.compress import PackedBlob  # most outputs are plain

        return PackedBlob(blob, ref + PACKED)
    raise FileNotFoundError(ref)


def read_record(folder: Folder, ref: str) -> Record:
    """The record of an output; FileNotFoundError when there is none, StoreError when it is damaged."""
    with os.fdopen(folder.open(ref + RECORD), "rb", buffering=0) as file:
        data = file.read()
    try:
        return from_json(data, ref=ref, pinned=folder.facts(ref + PIN) is not None)
    except ValueError as error:
        raise StoreError(
            f"The record of {ref} is damaged: {error}. Its bytes may be whole: {folder.path}/{ref}{DATA}"
        ) from error
