"""An output on its way into a bucket: the bytes first, under a name that nobody else has, then the record, if there is none.

Whoever finds the record finds the bytes. If the same output is there already, its record is brought up to date and the
bytes that came for nothing are removed. Nothing waits longer than the deadline for a sign of progress.
"""

from __future__ import annotations

import os
import time

from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.base import Record, already_taken, name_for
from spillover.store.frames import ZSTD, Packer
from spillover.store.object.bucket import PART, Bucket, Found, Missing, Taken, no_answer
from spillover.store.object.entry import Entry, decode, with_record
from spillover.store.object.keys import STORED, place_of, record_key
from spillover.store.owners import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from spillover.intake.blob import Blob

    Given = TypeVar("Given")

#: How often a record is tried that others change at the very moment.
TRIES = 50
#: How many names are tried for the bytes.
SENDS = 3
#: What a slow line may need for the parts that are under way when the last one is handed over: a second for so many bytes.
TAIL_BYTES = 1 << 20


class Progress:
    """What an upload has come to, for whoever waits for it."""

    __slots__ = ("moved", "slack", "stopped")

    def __init__(self) -> None:
        self.moved = time.monotonic()
        self.slack = 0.0
        self.stopped = False

    def step(self, slack: float = 0.0) -> None:
        if self.stopped:
            raise StoreError("the upload was abandoned")
        self.moved, self.slack = time.monotonic(), slack


def watch(what: str, deadline: float, work: Callable[[Progress], Given]) -> Given:
    """Return what the work returns; StoreError when it has not moved for the deadline."""
    from threading import Event, Thread  # wanted only once something has overflowed

    progress, done = Progress(), Event()
    results: list[Given] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(progress))
        except BaseException as error:  # noqa: BLE001  raised again below
            failed.append(error)
        finally:
            done.set()

    Thread(target=run, name="spillover-upload", daemon=True).start()
    while not done.wait(max(0.001, progress.moved + deadline + progress.slack - time.monotonic())):
        if time.monotonic() >= progress.moved + deadline + progress.slack:
            progress.stopped = True
            raise StoreError(no_answer(what, deadline))
    if failed:
        raise failed[0]
    return results[0]


def upload(
    bucket: Bucket, blob: Blob, record: Record, *, compress: bool, age_seconds: float | None, progress: Progress
) -> Record:
    """Upload an output and return its record as it is in the bucket then; StoreError when that could not be done.

    `age_seconds` is the age at which the bucket's lifecycle rule removes objects; None: it has no such rule.
    """
    ref = name_for(record.tool, record.sha256)
    record = record.renamed(ref)
    place, key = place_of(record.scope), record_key(record.scope, ref)
    entry = _bring_bytes(bucket, blob, record, place, compress=compress, progress=progress)
    # Where this fails, nobody knows whether the record arrived, so the bytes stay, until the lifecycle rule removes them.
    held = _claim(bucket, key, entry, progress, age_seconds)
    if entry.data and held.data != entry.data:
        _drop(bucket, f"{place}/{entry.data}")
    return held.record


def _bring_bytes(
    bucket: Bucket, blob: Blob, record: Record, place: str, *, compress: bool, progress: Progress
) -> Entry:
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    packer = Packer(blob, compress=compress)
    if not blob.size:
        return Entry(record, "", packer.frames(), newlines)
    ending = "zst" if packer.form == ZSTD else "txt"
    pieces = _watched(packer.pieces(), progress)
    first: list[bytes] = []
    size = 0
    for piece in pieces:
        first.append(piece)
        size += len(piece)
        if size > PART:
            break
    if size <= PART:
        name = _put_small(bucket, place, record.ref, ending, b"".join(first), progress)
    else:
        name = _new_name(record.ref, ending)
        bucket.put_pieces(f"{place}/{name}", _chain(first, pieces))
    progress.step()
    return Entry(record, name, packer.frames(), newlines)


def _new_name(ref: str, ending: str) -> str:
    return f"{STORED}/{ref}.{os.urandom(8).hex()}.{ending}"


def _put_small(bucket: Bucket, place: str, ref: str, ending: str, data: bytes, progress: Progress) -> str:
    """Put the bytes under a name that nobody has, in one request; the name they got."""
    for _ in range(SENDS):
        name = _new_name(ref, ending)
        progress.step(len(data) / TAIL_BYTES)
        try:
            bucket.create(f"{place}/{name}", data)
        except Taken:
            # Nobody else makes this name: an earlier try of ours arrived, and its answer was lost. Or the server was wrong.
            found = bucket.head(f"{place}/{name}")
            if found is None or found["size"] != len(data):
                continue
        return name
    raise StoreError(f"{bucket.url}: {SENDS} uploads in a row were refused under names that nobody has")


def _watched(pieces: Iterator[bytes], progress: Progress) -> Iterator[bytes]:
    for piece in pieces:
        progress.step(4 * PART / TAIL_BYTES)
        yield piece


def _chain(first: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    while first:
        yield first.pop(0)
    yield from rest


def _claim(bucket: Bucket, key: str, entry: Entry, progress: Progress, age_seconds: float | None) -> Entry:
    """Put the record under its key: what stands there then. StoreError when another output has it."""
    for _ in range(TRIES):
        progress.step()
        try:
            bucket.create(key, entry.encode())
        except Taken:
            pass
        else:
            return entry
        try:
            found, held = _look(bucket, key, entry.record.ref)
        except Missing:
            continue  # removed just now
        if held is None:
            made = entry  # what cannot be read is nobody's, and the same bytes are here
        else:
            if held.record.sha256 != entry.record.sha256:
                raise already_taken(entry.record.ref)
            if held.data == entry.data and held.record == entry.record:
                return held  # our own request was heard, and its answer was lost on the way
            joined = replace(merge(held.record, entry.record), others=())
            fresh = _has_fresh_bytes(bucket, place_of(entry.record.scope), held, age_seconds)
            # The record is written again even if nothing changed, so that the lifecycle rule sees it as new.
            made = with_record(held if fresh else entry, joined)
        try:
            bucket.replace(key, made.encode(), found.tag)
        except (Taken, Missing):
            continue
        return made
    raise StoreError(f"{bucket.url}/{key} keeps changing; nothing can be stored under that name")


def _look(bucket: Bucket, key: str, ref: str) -> tuple[Found, Entry | None]:
    """Return what stands under a record's key; None where it is damaged, and not only on the way here."""
    found = bucket.get(key)
    for again in (True, False):
        try:
            return found, decode(found.data, ref, found.tag)
        except ValueError:
            if again:
                found = bucket.get(key)
    return found, None


def _has_fresh_bytes(bucket: Bucket, place: str, held: Entry, age_seconds: float | None) -> bool:
    """Return whether the bytes that a record names are there, and at most half as old as the lifecycle rule allows."""
    if not held.data:
        return True
    found = bucket.head(f"{place}/{held.data}")
    if found is None or found["size"] != held.frames.stored:
        return False
    return age_seconds is None or time.time() - found["last_modified"].timestamp() <= age_seconds / 2


def _drop(bucket: Bucket, key: str) -> None:
    try:
        bucket.delete([key])
    except StoreError:
        return  # the lifecycle rule removes it
