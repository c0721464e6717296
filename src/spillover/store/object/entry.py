"""A record as an object: the JSON of a folder's record, with the frames and the key of the bytes.

Pure: bytes in, bytes out.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import UsageError
from spillover.store.base import Record
from spillover.store.frames import Frames, from_json
from spillover.store.object.keys import parse
from spillover.store.record import read_facts, to_json, to_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The format of a record in a bucket.
FORMAT = 2


class Entry(Struct, frozen=True):
    """A record, where its bytes are, and which version of it this is."""

    record: Record
    data: str = ""  # the key of the object with the bytes, in the folder of the scope; "" where there are none
    frames: Frames = Frames()
    newlines: int = 0
    tag: str | None = None  # of the object that was read; not part of it

    def encode(self) -> bytes:
        stored = {"data": self.data, **self.frames.to_json(), "newlines": self.newlines}
        return to_json(self.record, spillover=FORMAT, object=stored)


def decode(data: bytes, ref: str, tag: str | None = None) -> Entry:
    """Return the entry under a key; ValueError, with the reason, for anything else."""
    facts = read_facts(data, FORMAT)
    record = to_record(facts, ref=ref, pinned=False)
    try:
        stored: dict[str, Any] = facts["object"]
        name, newlines = stored["data"], stored["newlines"]
        frames = from_json(stored, record.bytes)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a value is missing or wrong ({error})") from error
    if not isinstance(name, str) or not belongs_to(name, ref) or (not name and record.bytes):
        raise ValueError("its bytes would be elsewhere")
    if newlines not in (record.lines, record.lines - 1):
        raise ValueError("its lines do not add up")
    return Entry(record, name, frames, newlines, tag)


def belongs_to(data: str, ref: str) -> bool:
    """Return whether this can be the key of an object with the bytes of a ref, in the folder of its scope: no other is ever opened for it."""
    if not data:
        return True
    found = parse(data)
    return found is not None and not found.place and found.ref == ref and found.end in ("zst", "txt")


def with_record(entry: Entry, record: Record) -> Entry:
    """Return the same bytes with another record."""
    if record.sha256 != entry.record.sha256:
        raise UsageError("a record of other bytes")
    return replace(entry, record=record)
