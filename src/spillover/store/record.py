"""A record as the JSON that stands beside the bytes, and back. Pure: bytes in, Record out."""

from __future__ import annotations

from spillover.intake.meter import LineIndex
from spillover.store.base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = 1


def to_json(record: Record) -> bytes:
    """All but the ref and the pin: those are names of files, so that they cannot say two things."""
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
        "index": {"block": record.index.block, "before": record.index.before},
    }
    return json.dumps(facts, allow_nan=False).encode("ascii") + b"\n"


def from_json(data: bytes, *, ref: str, pinned: bool) -> Record:
    """The record that was written for this ref; raises ValueError, with the reason, for anything else."""
    import json  # see to_json

    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(facts, dict) or facts.get("spillover") != FORMAT:
        raise ValueError("it is not a record of this version")
    try:
        record = Record(
            ref=ref,
            tool=_text(facts["tool"]),
            call_id=_text_or_none(facts["call_id"]),
            command=_text_or_none(facts["command"]),
            created=_moment(facts["created"]),
            bytes=_count(facts["bytes"]),
            lines=_count(facts["lines"]),
            sha256=_text(facts["sha256"]),
            partial=_text_or_none(facts["partial"]),
            produced_bytes=_count_or_none(facts["produced_bytes"]),
            produced_lines=_count_or_none(facts["produced_lines"]),
            segments=tuple((_text(stream), _count(size)) for stream, size in facts["segments"]),
            shown=tuple((_count(first), _count(last)) for first, last in facts["shown"]),
            kind=_text(facts.get("kind", "")),  # records of the first version have neither
            why=tuple((_count(first), _count(last), _text(why)) for first, last, why in facts.get("why", ())),
            index=LineIndex(_count(facts["index"]["block"]), tuple(map(_count, facts["index"]["before"]))),
            pinned=pinned,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a value is missing or wrong ({error})") from error
    if record.index.block == 0:
        raise ValueError("its line index has blocks of no size")
    if not record.sha256.startswith(ref.rpartition("-")[2]):
        raise ValueError("it belongs to another output")
    return record


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r:.40} is no count")
    return value


def _count_or_none(value: Any) -> int | None:
    return None if value is None else _count(value)


def _moment(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) < 1e12:  # also false for NaN
        raise TypeError(f"{value!r:.40} is no moment")
    return float(value)
