"""A record as the JSON that stands beside the bytes, and back. Pure: bytes in, Record out.

It ends with a hash of itself, so that a record that was changed by accident is not believed. Its numbers are checked as well,
because anybody who can write to the store can also write the hash.
"""

from __future__ import annotations

from itertools import pairwise

from msgspec import ValidationError, convert
from msgspec.structs import asdict, astuple, replace

from spillover.errors import UsageError
from spillover.store.base import Record, is_hash
from spillover.store.scope import from_outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = 1
#: No number of ours is larger: a size that is claims what cannot be.
LARGEST = 1 << 62
#: An index of larger blocks would have us read as much for one line.
LARGEST_BLOCK = 1 << 24
#: A time is in seconds from 1970 and below this.
LATEST = 1e12
_CHECK, _DIGITS, _END = b', "check": "', 64, b'"}\n'


def to_json(record: Record, **more: Any) -> bytes:
    """Return all but the ref and the pin: those are names of files, so that they cannot say two things. `more` stands below."""
    import json  # 2 ms, wanted only once something has overflowed

    facts = {
        "spillover": FORMAT,
        "tool": record.tool,
        "call_id": record.call_id,
        "command": record.command,
        "created": record.created,
        "bytes": record.bytes,
        "lines": record.lines,
        "sha256": record.sha256,
        "partial": record.partial,
        "produced_bytes": record.produced_bytes,
        "produced_lines": record.produced_lines,
        "segments": record.segments,
        "shown": record.shown,
        "kind": record.kind,
        "why": record.why,
        "notices": record.notices,
        **({"made": record.made} if record.made else {}),
        "scope": record.scope,
        "others": [astuple(owner) for owner in record.others],
        **({} if record.redacted is None else {"redacted": record.redacted}),
        "index": asdict(record.index),
        **more,
    }
    text = json.dumps(facts, allow_nan=False).encode("ascii")[:-1]
    return text + _CHECK + _hash(text) + _END


def from_json(data: bytes, *, ref: str, pinned: bool) -> Record:
    """Return the record that was written for this ref; raises ValueError, with the reason, for anything else."""
    return to_record(read_facts(data), ref=ref, pinned=pinned)


def read_facts(data: bytes, number: int = FORMAT) -> dict[str, Any]:
    """Return what a record says, if it is one and nobody has changed it; ValueError says what it is instead."""
    import json  # see to_json

    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(facts, dict) or facts.get("spillover") != number:
        raise ValueError("it is not a record of this version")
    if not _is_as_written(data):
        raise ValueError("it was changed after it was written")
    return facts


def to_record(facts: dict[str, Any], *, ref: str, pinned: bool) -> Record:
    """Return the record of this ref that says so; ValueError for what cannot be true of it."""
    own = {"ref": ref, "pinned": pinned, "path": None, "here": None}  # never from the file
    try:
        record = convert({**facts, **own}, Record)
        others = tuple(replace(owner, scope=from_outside(owner.scope)) for owner in record.others)
        record = replace(record, scope=None if record.scope is None else from_outside(record.scope), others=others)
    except (ValidationError, UsageError) as error:
        raise ValueError(f"a value is missing or wrong ({error})") from error
    if not is_hash(record.sha256) or not record.sha256.startswith(ref.rpartition("-")[2]):
        raise ValueError("it belongs to another output")
    if wrong := _contradiction(record):
        raise ValueError(wrong)
    return record


def _contradiction(record: Record) -> str:
    """Return what cannot be true of its numbers; "" where nothing is known to be wrong."""
    block, before = record.index.block, record.index.before
    produced = record.bytes if record.produced_bytes is None else record.produced_bytes
    lines = record.lines if record.produced_lines is None else record.produced_lines
    sizes = [size for _, size in record.segments]
    if any(not 0 <= number <= LARGEST for number in (record.bytes, produced, lines, record.redacted or 0, *sizes)):
        return "a number is too large, or below zero"
    if any(not abs(moment) < LATEST for moment in (record.created, *[owner.created for owner in record.others])):
        return "a time is none"
    if not 0 < block <= LARGEST_BLOCK or len(before) != record.bytes // block + 1:
        return "its line index does not have an entry for each block"
    steps = [after - earlier for earlier, after in pairwise(before)]
    if before[0] or any(not 0 <= step <= block for step in steps) or not 0 <= record.lines - before[-1] <= block:
        return "its line index and its lines do not go together"
    if record.lines > record.bytes or (record.bytes > 0) != (record.lines > 0):
        return "it has more lines than bytes, or none"
    if produced < record.bytes or lines < record.lines:
        return "less came than is stored"
    if record.segments and sum(sizes) not in (record.bytes, produced):
        return "its segments do not add up to its bytes"
    ranges = [(0, 0), *record.shown]
    if any(not earlier[1] < after[0] <= after[1] <= lines for earlier, after in pairwise(ranges)):
        return "the ranges that were shown are not in order"
    if any(not 0 < first <= last <= lines for first, last, _ in record.why):
        return "a reason is for lines that are not there"
    return ""


def _hash(text: bytes) -> bytes:
    import hashlib  # wanted only once something has overflowed

    return hashlib.sha256(text).hexdigest().encode()


def _is_as_written(data: bytes) -> bool:
    digits = len(data) - len(_END) - _DIGITS
    text = data[: max(0, digits - len(_CHECK))]
    return data == text + _CHECK + _hash(text) + _END
