"""One output, opened: its record, its lines wherever they are, and what is known of it."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from typing import Any
from weakref import finalize

from msgspec import Struct
from msgspec.structs import replace

from spillover.document.clean import flatten, show_controls
from spillover.document.document import Document, cover_blob
from spillover.errors import RefError, StoreError
from spillover.retrieve.read import open_output
from spillover.settings.settings import Call
from spillover.source.blob import MemoryBlob, Meter
from spillover.store.directory import DirStore, RunFolder
from spillover.store.folder import Folder, explain_errors
from spillover.store.record import Record, covers, mint
from spillover.ui.library import RUN_PREFIX, Library, facts_of

#: So many outputs stay open: a page asks for the same one again and again.
OPEN = 8
#: Of a line, so many bytes are in a row; the rest of a longer one is asked for by column.
LINE_BYTES = 2_000
#: No answer has more lines, and lines are read in one piece up to so many bytes.
MOST_LINES, PIECE = 1_000, 1 << 20
#: Parts of streams and reasons that are told; an output has rarely more than a hundred.
MOST_PARTS = 5_000


class Output(Struct, frozen=True, weakref=True):
    """An output that is open."""

    id: str
    record: Record
    document: Document
    whole: bool  # it fitted, and the model saw all of it
    ends: tuple[int, ...] = ()  # where each piece of a stream ends, in bytes

    def stream(self, offset: int) -> str:
        """Return the stream that a byte came from."""
        if not self.ends:
            return "stdout"
        return self.record.segments[min(bisect_right(self.ends, offset), len(self.ends) - 1)][0]


class Outputs:
    """The outputs of a scope, opened when they are asked for."""

    def __init__(self, call: Call, library: Library) -> None:
        self.call, self.library = call.for_retrieval(), library
        self._open: OrderedDict[str, Output] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id_: str) -> Output:
        """Return an output; RefError says that it is gone."""
        with self._lock:
            held = self._open.get(id_)
            if held is not None and self.library.row(id_) is not None:
                self._open.move_to_end(id_)
                return held
        made = self._run(id_) if id_.startswith(RUN_PREFIX) else self._stored(id_)
        with self._lock:
            self._open[id_] = made
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
        return made

    def _stored(self, ref: str) -> Output:
        record, document = open_output(self.call, ref)
        ends = tuple(accumulate(size for _, size in record.segments)) if len(record.segments) > 1 else ()
        made = Output(ref, record, document, whole=False, ends=ends)
        finalize(made, document.blob.close)  # once nobody reads it any more: several threads may
        return made

    def _run(self, id_: str) -> Output:
        store = self.call.settings.store
        run = None
        if isinstance(store, DirStore):
            with explain_errors(store.path):
                try:
                    with Folder(store.path) as folder, RunFolder(folder) as runs:
                        run = runs.read(id_.removeprefix(RUN_PREFIX))
                except FileNotFoundError:
                    run = None
        if run is None or not covers(self.library.own, run.scope):
            raise RefError("This run is no longer remembered.")
        if run.data is None:
            raise StoreError(f"The output of this run was not kept: {run.reason or 'it has been removed'}.")
        meter = Meter()
        meter.feed(run.data)
        record = Record(
            ref=mint(run.tool, meter.sha256), tool=run.tool, sha256=meter.sha256, bytes=meter.bytes, lines=meter.lines,
            created=run.created, command=run.command, index=meter.index, scope=run.scope,
            shown=((1, meter.lines),) if meter.lines else (),
        )  # fmt: skip
        blob = cover_blob(self.call.settings, MemoryBlob(run.data))
        return Output(id_, record, Document(blob, meter.index, meter.lines, meter.newlines), whole=True)


def describe(output: Output, library: Library) -> dict[str, Any]:
    """Return everything that is known of an output but its lines."""
    record = output.record
    return {
        "row": library.row(output.id),
        "id": output.id,
        "ref": None if output.whole else record.ref,
        "tool": record.tool,
        "command": record.command or "",
        "project": record.scope or "",
        "created": record.created,
        "bytes": record.bytes,
        "lines": record.lines,
        "produced": [record.produced_lines or record.lines, record.produced_bytes or record.bytes],
        "partial": record.partial,
        "kind": record.kind or kind_of(output),
        "shown": [*record.shown[:MOST_PARTS]],
        "why": [*record.why[:MOST_PARTS]],
        "whole": output.whole,
        "streams": _streams(output),
        "back": facts_of(library.retrievals(record.ref)),
    }


def kind_of(output: Output) -> str:
    """Return what an output is taken for."""
    from spillover.document.document import Section
    from spillover.kinds.kind import describe as describe_kind

    document = output.document
    return describe_kind(replace(document, sections=(Section(0, document.size),)))


def _streams(output: Output) -> list[tuple[str, int, int]]:
    """Return where each stream's pieces are, as lines; neighbours of one stream are one."""
    out: list[tuple[str, int, int]] = []
    at = 0
    for stream, size in output.record.segments[:MOST_PARTS] if output.ends else ():
        if size and at < output.document.size:
            first = output.document.number(at)
            last = output.document.number(min(at + size, output.document.size) - 1)
            if out and out[-1][0] == stream:
                out[-1] = (stream, out[-1][1], last)
            else:
                out.append((stream, first, last))
        at += size
    return out


def read_lines(output: Output, first: int, count: int, *, raw: bool = False) -> list[list[Any]]:
    """Return lines as a page shows them: text, bytes in all, and the stream where there are two."""
    document = output.document
    first = max(1, first)
    last = min(document.lines, first + min(count, MOST_LINES) - 1)
    if last < first:
        return []
    start, end = document.start(first), document.start(last + 1)
    if end - start <= PIECE:
        lines = document.blob.read(start, end).removesuffix(b"\n").split(b"\n")
        sizes = [len(line) for line in lines]
    else:  # giants among them
        starts = [document.start(number) for number in range(first, last + 1)]
        lines = [document.blob.read(at, at + LINE_BYTES + 1).split(b"\n", 1)[0] for at in starts]
        sizes = [upto - at for at, upto in zip(starts, [*starts[1:], end], strict=True)]
        sizes = [len(line) if len(line) <= LINE_BYTES else size for line, size in zip(lines, sizes, strict=True)]
    rows: list[list[Any]] = []
    at = start
    for line, size in zip(lines, sizes, strict=True):
        row: list[Any] = [_show(line[:LINE_BYTES], raw=raw), size]
        if output.ends:
            row.append(output.stream(at))
        rows.append(row)
        at += size + 1
    return rows


def read_column(output: Output, line: int, column: int, *, raw: bool = False) -> dict[str, Any]:
    """Return a piece of a long line, from a column (in bytes, from 1) on."""
    document = output.document
    start, end = document.start(line), document.start(line + 1)
    at = min(max(start, start + column - 1), end)
    data = document.blob.read(at, min(at + LINE_BYTES, end)).split(b"\n", 1)[0]
    return {"line": line, "column": at - start + 1, "text": _show(data, raw=raw), "bytes": end - start}


def _show(data: bytes, *, raw: bool) -> str:
    """Return one line: as the model sees it, or with every control character visible."""
    return show_controls(data) if raw else flatten(data).replace("\n", " ")
