"""Reading files in a folder: the record of an output, and plain bytes."""

from __future__ import annotations

import os
from contextlib import suppress

from spillover.errors import StoreError
from spillover.store.folder import DATA, PIN, RECORD, Folder, explain_errors, shut_on_error
from spillover.store.record import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.record import Record


#: A record that is larger is none of ours, and is not given the memory: that of a terabyte has a third of this.
LARGEST = 1 << 29


class FileBlob:
    """The bytes of an open file, read where they are wanted."""

    __slots__ = ("_file", "size")

    def __init__(self, fd: int) -> None:
        with shut_on_error(fd):
            self.size = os.fstat(fd).st_size
            self._file = os.fdopen(fd, "rb", buffering=0)

    def read(self, start: int, end: int) -> bytes:
        if self._file.closed:
            raise StoreError("These bytes have already been closed.")
        at, end = max(start, 0), min(end, self.size)
        parts = []
        with explain_errors():
            while at < end and (part := os.pread(self._file.fileno(), end - at, at)):
                parts.append(part)
                at += len(part)
        if at < end:  # whoever reads on from here would never come to the end
            raise StoreError(
                f"The file became shorter while it was being read: {self.size:,} bytes before, {at:,} now."
            )
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        with suppress(OSError):  # nothing was written by way of it
            self._file.close()


def read_record(folder: Folder, ref: str) -> Record:
    """Return the record of an output; FileNotFoundError when there is none, StoreError when it is damaged."""
    file = FileBlob(folder.open(ref + RECORD))
    try:
        if file.size > LARGEST:
            raise StoreError(f"The record of {ref} is damaged: it has {file.size:,} bytes.")
        data = file.read(0, file.size)
    finally:
        file.close()
    try:
        return decode(data, ref=ref, pinned=folder.facts(ref + PIN) is not None)
    except ValueError as error:
        raise StoreError(
            f"The record of {ref} is damaged: {error}. Its bytes may be whole: {folder.path}/{ref}{DATA}"
        ) from error
