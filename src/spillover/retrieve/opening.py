"""Opening a stored output: its record, and its bytes with their lines."""

from __future__ import annotations

from spillover.errors import StoreError
from spillover.view.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices
    from spillover.source.blob import Blob
    from spillover.store.base import Record


def opened(choices: Choices, ref: str) -> tuple[Record, Document]:
    """Return the record and the bytes of a ref; RefError and StoreError say what to do."""
    record, blob = choices.outputs.open_record(ref)
    try:
        return record, _document(choices, record, blob)
    except BaseException:
        blob.close()
        raise


def _document(choices: Choices, record: Record, blob: Blob) -> Document:
    """The bytes with their lines, if those are the ones that the record tells of."""
    blob = choices.without_secrets(blob)
    if not record.index.before or record.index.block < 1:
        raise StoreError(f"The record of {record.ref} is damaged: it has no line index.")
    known = getattr(blob, "newlines", None)  # a store that checks what it gives out, and where every read is a request
    if known is not None and blob.size == record.bytes:
        return Document(blob, record.index, record.lines, known, guard=choices.guard())
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    document = Document(blob, record.index, record.lines, newlines, guard=choices.guard())
    if blob.size != record.bytes or (blob.size and document.number(blob.size - 1) != record.lines):
        raise StoreError(
            f"The bytes of {record.ref} and its record do not match: they have changed, or are not "
            f"all there. `spill verify {record.ref}` says more."
        )
    return document
