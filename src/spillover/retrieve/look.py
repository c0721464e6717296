"""Opening a stored output to read it or to search it, within the limits of whoever asks."""

from __future__ import annotations

from spillover.errors import UsageError
from spillover.notice import one_line
from spillover.retrieve.last import matches, named
from spillover.select.ends import most
from spillover.view.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices
    from spillover.result import Clip
    from spillover.store.base import Record


def opened(choices: Choices, ref: str) -> tuple[Record, Document]:
    """The record and the bytes of a ref, or of `last…`; RefError and StoreError say what to do."""
    record = choices.store.get(named(choices.store, ref))
    blob = choices.store.open(record.ref)
    newlines = record.lines - (blob.size > 0 and blob.read(blob.size - 1, blob.size) != b"\n")
    return record, Document(blob, record.index, record.lines, newlines)


def read(
    choices: Choices, ref: str, *, lines: str | int | None = None, bytes_: str | None = None, columns: str | None = None
) -> Clip:
    """A part of a stored output."""
    from spillover.retrieve.read import Reader  # searching does not need it

    if bytes_ is not None and (lines is not None or columns is not None):
        raise UsageError("bytes stand alone; lines and columns go together.")
    record, document = opened(choices, ref)
    try:
        reader = Reader(document, record, choices)
        if bytes_ is not None:
            return reader.byte_range(bytes_)
        return reader.lines(lines) if columns is None else reader.columns(columns, lines)
    finally:
        document.blob.close()


def grep(
    choices: Choices,
    ref: str,
    pattern: str,
    *,
    context: int = 0,
    ignore_case: bool = False,
    fixed: bool = False,
    start: str | int = 1,
) -> Clip:
    """Where a pattern stands in a stored output."""
    from spillover.retrieve.grep import CONTEXT, Search  # the engine costs milliseconds
    from spillover.retrieve.pattern import compile_pattern

    if not 0 <= context <= CONTEXT:
        raise UsageError(f"context={context} is not between 0 and {CONTEXT:,} lines.")
    compiled = compile_pattern(pattern, fixed=fixed, ignore_case=ignore_case)
    record, document = opened(choices, ref)
    try:
        return Search(document, record, choices, compiled, context).answer(start)
    finally:
        document.blob.close()


def outline(choices: Choices, ref: str) -> Clip:
    """A map of a stored output."""
    from spillover.retrieve.outline import Outline  # it knows all kinds of output

    record, document = opened(choices, ref)
    try:
        return Outline(document, record, choices).answer()
    finally:
        document.blob.close()


def listing(choices: Choices, *, tool: str | None = None, query: str = "") -> str:
    """What is stored, newest first, a line each; as many as fit, and how many there are."""
    rows = [_row(record) for record in choices.store.list() if tool in (None, record.tool) and matches(record, query)]

    def text(count: int) -> str:
        return "".join(rows[:count]) + f"[{count:,} of {len(rows):,} stored outputs.]"

    def fill(count: int) -> float:
        return choices.limits.fill(text(count), choices.count, byte_bound=choices.byte_bound)

    return text(most(len(rows), fill))


def _row(record: Record) -> str:
    part = ", in part" if record.partial else ""
    command = f": {one_line(record.command, 80)}" if record.command else ""
    return f"{record.ref} ({record.lines:,} lines, {record.bytes:,} bytes{part}){command}\n"
