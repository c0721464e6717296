"""A value in a stored output that is JSON, as an output of its own."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.errors import UsageError
from spillover.retrieve.uri import find_value
from spillover.select.json.almost import spell
from spillover.select.json.pointer import find_value as find_in
from spillover.select.json.texts import read_string
from spillover.source.blob import MemoryBlob, Meter
from spillover.view.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.store.base import Record

#: A pointer is looked up in no larger output: all of it is in memory then.
CAP = 64 << 20


def open_value(
    document: Document, record: Record, pointer: str, hide: Callable[[bytes], bytes] | None = None
) -> tuple[Record, Document]:
    """Return the value that a pointer names as an output of its own: a string as it is meant, anything else as JSON."""
    if document.size > CAP:
        raise UsageError(
            f"{record.ref} has {document.size:,} bytes; a pointer works up to {CAP:,}. Search it instead, or read it by bytes."
        )
    data = document.blob.read(0, document.size)
    try:
        start, end = find_value(document.blob, pointer, record.ref)
    except UsageError:
        spelled = spell(data)  # a Python repr, perhaps
        found = None if spelled is None else find_in(spelled, pointer)
        if found is None:
            raise
        start, end = found
    value = _mean(data[start:end])
    if hide is not None:  # what is decoded may be a secret only now
        value = hide(value)
    meter = Meter()
    meter.feed(value, hashing=False)
    named = replace(
        record, ref=f"{record.ref}#{pointer}", bytes=len(value), lines=meter.lines, index=meter.index, partial=None,
        produced_bytes=None, produced_lines=None, segments=(), shown=(), kind="", why=(),
    )  # fmt: skip
    return named, Document(MemoryBlob(value), meter.index, meter.lines, meter.newlines, guard=document.guard)


def _mean(written: bytes) -> bytes:
    """Return what a value means, if it is a string; anything else as it is written."""
    if written[:1] == b"'":
        from ast import literal_eval  # only for reprs

        try:
            return str(literal_eval(written.decode("utf-8", "surrogatepass"))).encode("utf-8", "surrogatepass")
        except (ValueError, SyntaxError):
            return written
    return read_string(written, 1, len(written) - 1)[0] if written[:1] == b'"' else written
