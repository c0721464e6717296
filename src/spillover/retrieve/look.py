"""Opening a stored output to read it or to search it, within the limits of whoever asks."""

from __future__ import annotations

import time

from msgspec.structs import replace

from spillover.errors import UsageError
from spillover.events import record_retrieval
from spillover.notice.words import lines_of, one_line
from spillover.retrieve.names import Part, Target, matches, resolve
from spillover.retrieve.opening import opened
from spillover.select.ends import most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from spillover.choices import Choices
    from spillover.journal import Operation
    from spillover.result import Clip
    from spillover.store.base import Record
    from spillover.view.document import Document


def _answer(
    choices: Choices,
    target: Target,
    make: Callable[[Choices, Record, Document], Clip],
    kind: Operation,
) -> Clip:
    """Answer as below, and record it."""
    begun = time.monotonic()
    record: Record | None = None

    def noting(choices: Choices, found: Record, document: Document) -> Clip:
        nonlocal record
        record = found
        return make(choices, found, document)

    clip = _make_answer(choices, target, noting)
    record_retrieval(choices, kind, clip.text, clip=clip, record=record, seconds=time.monotonic() - begun)
    return clip


def _make_answer(choices: Choices, target: Target, make: Callable[[Choices, Record, Document], Clip]) -> Clip:
    """Answer for what a name means; for `last`, which run it is stands above the answer."""
    choices = choices.within_budget()
    pointer = target.part.pointer

    def answer(choices: Choices) -> Clip:
        record, document = opened(choices, target.ref)
        try:
            if pointer is None:
                return make(choices, record, document)
            from spillover.retrieve.part import open_value

            return make(
                choices, *open_value(document, record, pointer, None if choices.redact == "off" else choices.cover)
            )
        finally:
            document.blob.close()

    if not target.note:
        return answer(choices)
    line = target.note + "\n"
    rest = choices.limits.without(line, choices.count)
    if rest is None:  # no room for more than the answer itself
        return answer(choices)
    clip = answer(replace(choices, limits=rest))
    choices.spend(line)
    return replace(clip, text=line + clip.text)


def read(
    choices: Choices,
    ref: str,
    *,
    lines: str | int | None = None,
    bytes_: str | None = None,
    columns: str | None = None,
    pointer: str | None = None,
) -> Clip:
    """A part of a stored output; with a pointer, of one value in it."""
    from spillover.retrieve.read import Reader  # searching does not need it

    target = resolve(ref, choices.outputs, part="any")
    if pointer is not None:
        if not isinstance(pointer, str) or not pointer.startswith("/"):
            raise UsageError(f"pointer={pointer!r} is not a JSON pointer; write e.g. /stdout or /rows/0/log.")
        target = replace(target, part=Part(pointer=pointer))
    part = target.part
    if part.lines or part.bytes:
        if not (lines is bytes_ is columns is None):
            raise UsageError("the ref already names a part; leave out the other range, or what follows the #.")
        lines, bytes_ = part.lines, part.bytes
    if bytes_ is not None and (lines is not None or columns is not None):
        raise UsageError("use bytes alone, or lines and columns together.")

    def answer(choices: Choices, record: Record, document: Document) -> Clip:
        reader = Reader(document, record, choices)
        if bytes_ is not None:
            return reader.byte_range(bytes_)
        return reader.lines(lines) if columns is None else reader.columns(columns, lines)

    return _answer(choices, target, answer, "read")


def grep(
    choices: Choices,
    ref: str,
    pattern: str,
    *,
    context: int = 0,
    ignore_case: bool = False,
    fixed: bool = False,
    start: str | int = 1,
    shape: Mapping[str, Any] | None = None,
) -> Clip:
    """Where a pattern stands in a stored output; `shape` is how that is shown (`retrieve.grep.Shape`), instead of `context`."""
    from spillover.retrieve.grep import CONTEXT, Search, Shape  # the engine costs milliseconds
    from spillover.retrieve.pattern import compile_pattern

    if not 0 <= context <= CONTEXT:
        raise UsageError(f"context={context} is not between 0 and {CONTEXT:,} lines.")
    shown = Shape(before=context, after=context) if shape is None else Shape(**shape)
    compiled = compile_pattern(pattern, fixed=fixed, ignore_case=ignore_case)

    def answer(choices: Choices, record: Record, document: Document) -> Clip:
        return Search(document, record, choices, compiled, shown).answer(start)

    return _answer(choices, resolve(ref, choices.outputs, part="value"), answer, "grep")


def outline(choices: Choices, ref: str) -> Clip:
    """A map of a stored output."""
    from spillover.retrieve.outline import Outline  # it knows all kinds of output

    def answer(choices: Choices, record: Record, document: Document) -> Clip:
        return Outline(document, record, choices).answer()

    return _answer(choices, resolve(ref, choices.outputs, part="value"), answer, "outline")


def diff(choices: Choices, ref: str, since: str | None = None) -> Clip:
    """What is new in a stored output against an earlier one; without one, against the run before it of the same command."""
    from spillover.retrieve.diff import diff as compare  # few ask

    begun = time.monotonic()
    record, clip = compare(choices, ref, since)
    record_retrieval(choices, "diff", clip.text, clip=clip, record=record, seconds=time.monotonic() - begun)
    return clip


def listing(choices: Choices, *, tool: str | None = None, query: str = "") -> str:
    """What is stored, newest first, a line each; as many as fit, and how many there are."""
    choices = choices.within_budget()
    records, total = choices.outputs.newest()
    rows = [_row(record) for record in records if tool in (None, record.tool) and matches(record, query)]
    filtered = tool is not None or query != ""
    among = f" among the newest {len(records):,} of {total:,}" if filtered and total > len(records) else ""
    number = len(rows) if filtered else total
    said = f"{number:,} stored output{'s' * (number != 1)}{among}.]"

    def text(count: int) -> str:
        return "".join(rows[:count]) + f"[{count:,} of {said}"

    def fill(count: int) -> float:
        return choices.limits.fill(text(count), choices.count)

    listed = text(most(len(rows), fill))
    choices.spend(listed)
    return listed


def _row(record: Record) -> str:
    part = ", in part" if record.partial else ""
    command = f": {one_line(record.command, 80)}" if record.command else ""
    return f"{record.ref} ({lines_of(record.lines)}, {record.bytes:,} bytes{part}){command}\n"
