"""What could not be brought up yet: a folder on this machine, with what is kept here only until `push` takes it along."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover.base.folders import user_folder
from spillover.errors import RefError, SpilloverError, StoreError
from spillover.store.base import Record
from spillover.store.directory import DirStore
from spillover.store.folder import Folder, explain_errors
from spillover.store.object.upload import upload, watch
from spillover.store.owners import merge, owners
from spillover.store.reading import open_bytes, read_record
from spillover.store.retention import Retention
from spillover.store.tally import remove

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.object.bucket import Bucket

#: How long a tool call may be busy with what earlier ones have left.
ALONG_SECONDS = 1.0
#: What waits here is not removed by age: it is nowhere else. It is bounded all the same.
RETENTION = Retention(age_seconds=None, bytes=5 << 30, count=10_000, grace_seconds=7 * 86_400)


class Pushed(Struct, frozen=True):
    """What a push did."""

    outputs: int = 0
    bytes: int = 0
    left: int = 0  # still on this machine only
    why: str = ""


def spool_of(url: str) -> str:
    """Return the folder where outputs wait for this store."""
    import hashlib  # wanted only once something has overflowed

    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return os.path.join(user_folder(os.environ, "XDG_STATE_HOME", ".local/state") + "-spool", name)


def waiting(spool: DirStore) -> list[str]:
    """Return the refs of what waits here."""
    with suppress(OSError), Folder(os.fspath(spool.root)) as folder:
        return sorted(folder.refs())
    return []


def push(
    spool: DirStore, bucket: Bucket, *, compress: bool, age_seconds: float | None, seconds: float | None = None
) -> Pushed:
    """Bring over what waits here: all of it, or what can be done in so many seconds. What fails stays, with the reason."""
    refs = waiting(spool)
    until = None if seconds is None else time.monotonic() + seconds
    outputs = size = 0
    why = ""
    for ref in refs:
        if until is not None and time.monotonic() >= until:
            break
        try:
            moved = _move(spool, bucket, ref, compress=compress, age_seconds=age_seconds)
        except (RefError, FileNotFoundError):
            continue  # another process was faster
        except SpilloverError as error:
            why = str(error)
            if isinstance(error, StoreError) and "one ref never names two" in why:
                continue
            break  # what one meets, the next one would meet
        outputs, size = outputs + (moved is not None), size + (moved or 0)
    if outputs:
        _log.info("Pushed %s outputs of %s bytes to %s.", f"{outputs:,}", f"{size:,}", bucket.url)
    return Pushed(outputs, size, len(waiting(spool)) if refs else 0, why)


def _move(spool: DirStore, bucket: Bucket, ref: str, *, compress: bool, age_seconds: float | None) -> int | None:
    """Bring one over, for every scope that has it; its bytes, or None where somebody has stored it again meanwhile."""
    with explain_errors(os.fspath(spool.root)), Folder(os.fspath(spool.root)) as folder:
        seen = folder.look(ref)  # before it is read: whoever adds a call to it touches it
        record = read_record(folder, ref)
        blob = open_bytes(folder, ref)
        try:
            for each in by_scope(record):
                watch(
                    bucket.url,
                    bucket.deadline,
                    lambda progress, each=each: upload(  # type: ignore[misc]
                        bucket, blob, each, compress=compress, age_seconds=age_seconds, progress=progress
                    ),
                )
        finally:
            blob.close()
        return record.bytes if remove(folder, ref, seen) else None


def by_scope(record: Record) -> list[Record]:
    """Return a record for each scope that has the output, with that scope's own call."""
    if not (several := owners(record)):
        return [record]
    return [
        replace(record, scope=one.scope, created=one.created, call_id=one.call_id, command=one.command, others=())
        for one in several
    ]


def merge_all(records: list[Record]) -> Record:
    """Return one record of the same bytes from those of several scopes."""
    first, *rest = records
    for record in rest:
        if record.sha256 == first.sha256:
            first = merge(first, record)
    return first
