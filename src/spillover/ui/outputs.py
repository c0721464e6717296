"""One output, opened: its lines, search, replay, what-if, comparison with an earlier run; and the figures of all.

Looking is not a retrieval: nothing here is stored, or recorded in the journal.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, islice
from typing import Any
from weakref import finalize

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from spillover import journal
from spillover.api import Clipper
from spillover.document.clean import clean, flatten, show_controls
from spillover.document.document import Document, Section, cover_blob, visible_text
from spillover.document.forgery import digest_notice
from spillover.errors import RefError, SpilloverError, StoreError, UsageError
from spillover.journal import Entry
from spillover.kinds.cut import cut_again, restore_call
from spillover.kinds.kind import describe as recognize
from spillover.kinds.log.outline import survey
from spillover.kinds.selection import Span
from spillover.pipeline import fits
from spillover.result import Clip
from spillover.retrieve.read import open_output
from spillover.retrieve.scan import compile_pattern, count, scan
from spillover.settings.limits import Size
from spillover.settings.load import load
from spillover.settings.settings import Call
from spillover.since import Earlier, LineRanges
from spillover.since.compare import compare
from spillover.source.blob import MemoryBlob, Meter
from spillover.stats import Sums, add_up
from spillover.store.directory import DirStore, RunFolder
from spillover.store.folder import Folder, explain_errors
from spillover.store.record import Record, RunRecord, covers, mint
from spillover.types import HintName
from spillover.ui.library import RUN_PREFIX, Library

#: Outputs that stay open: a page asks for the same one again and again. Each holds a file and a line index.
MAX_OPEN = 8
#: Bytes of a line in a row; the rest of a longer one is asked for by column. With more, wide outputs scroll slowly.
LINE_BYTES = 2_000
#: Lines in one answer.
MAX_LINES = 1_000
#: Bytes up to which lines are read in one piece: more would hold a line of a gigabyte in memory.
PIECE_BYTES = 1 << 20
#: Parts of streams and reasons in one answer; an output rarely has more than a hundred.
MAX_PARTS = 5_000
#: Matches that are sent, and bytes of each; all are counted.
MAX_HITS = 5_000
HIT_BYTES = 400
#: Searching through all outputs ends after this; the page says how many were searched.
SEARCH_SECONDS = 5.0
#: Failures are counted in this many runs of a command, in outputs up to this size: opening its view reads them all.
COUNTED_RUNS = 40
COUNTED_BYTES = 64 << 20
#: Lines that are new or gone which are sent; all are counted.
MAX_CHANGED_LINES = 400
#: Tools and commands that have a row of figures.
MAX_FIGURE_ROWS = 20
DAY_SECONDS = 86_400

#: Settings that can be tried, by their names in the configuration.
SETTINGS = ("tokens", "lines", "bytes", "chars", "keep", "worth", "profile", "query")
HINTS: tuple[HintName, ...] = ("cli", "path")
#: Why the clip that the model got cannot be shown.
NO_RECIPE = (
    "Its record does not say what made that clip, as for a selector, a counter or a profile, "
    "and for clips of several parts."
)
CHANGED = "The same settings give another clip now: spillover, or what it knew about this output, has changed since."


class Output(Struct, frozen=True, weakref=True):
    """An output that is open."""

    id: str
    record: Record
    document: Document
    whole: bool  # it fitted, and the model saw all of it
    segment_ends: tuple[int, ...] = ()  # in bytes; () where all of it is one stream

    def stream(self, offset: int) -> str:
        """Return the stream that a byte came from; "" where all of it is one stream."""
        if not self.segment_ends:
            return ""
        return self.record.segments[min(bisect_right(self.segment_ends, offset), len(self.segment_ends) - 1)][0]


class Outputs:
    """The outputs of a library, opened by their ids."""

    def __init__(self, call: Call, library: Library) -> None:
        self.call = call.for_retrieval()
        self.library = library
        self._open_again = lru_cache(MAX_OPEN)(lambda id_, _stamp: self._open(id_))
        self._count_failures = cache(lambda id_: _count_failures(self.get(id_)))

    def get(self, id_: str) -> Output:
        """Return an output; raise RefError if it was removed."""
        stamp = self.library.stamp(id_)
        return self._open(id_) if stamp is None else self._open_again(id_, stamp)

    def _open(self, id_: str) -> Output:
        if id_.startswith(RUN_PREFIX):
            return self._open_run(id_)
        record, document = open_output(self.call, id_)
        ends = tuple(accumulate(size for _, size in record.segments)) if len(record.segments) > 1 else ()
        output = Output(id_, record, document, whole=False, segment_ends=ends)
        finalize(output, document.blob.close)  # once nothing refers to it: several threads may read it
        return output

    def _open_run(self, id_: str) -> Output:
        run = self._read_run(id_.removeprefix(RUN_PREFIX))
        if run is None or not covers(self.library.scope, run.scope):
            raise RefError("This run is no longer remembered.")
        if run.data is None:
            raise StoreError(f"The output of this run was not kept: {run.reason or 'it has been removed'}.")
        meter = Meter()
        meter.feed(run.data)
        record = Record(
            ref=mint(run.tool, meter.sha256),
            tool=run.tool,
            sha256=meter.sha256,
            bytes=meter.bytes,
            lines=meter.lines,
            created=run.created,
            command=run.command,
            index=meter.index,
            scope=run.scope,
            shown=((1, meter.lines),) if meter.lines else (),
        )
        blob = cover_blob(self.call.settings, MemoryBlob(run.data))
        return Output(id_, record, Document(blob, meter.index, meter.lines, meter.newlines), whole=True)

    def _read_run(self, name: str) -> RunRecord | None:
        store = self.call.settings.store
        if not isinstance(store, DirStore):
            return None
        missing = suppress(FileNotFoundError)
        with explain_errors(store.path), missing, Folder(store.path) as folder, RunFolder(folder) as runs:
            return runs.read(name)
        return None

    def find(self, text: str) -> dict[str, Any]:
        """Return the ids of outputs that contain a text, in upper or lower case, and how many were searched."""
        pattern = compile_pattern(text, fixed=True, ignore_case=True)
        rows = self.library.rows()
        deadline = time.monotonic() + SEARCH_SECONDS
        ids = []
        searched = 0
        for row in rows:
            if time.monotonic() > deadline:
                break
            searched += 1
            try:
                output = self._open(row.id)  # its blob is open for as long as something refers to it
                if next(scan(output.document.blob, pattern), None) is not None:
                    ids.append(row.id)
            except (RefError, StoreError):  # lost, or removed meanwhile
                continue
        return {"ids": ids, "searched": searched, "all": len(rows)}

    def runs(self, command: str, project: str) -> list[dict[str, Any]]:
        """Return the runs of one command, newest first."""
        runs = [
            (name, run)
            for name, run in self.library.runs()
            if (run.command or run.tool) == command and run.scope == project
        ]
        return [self._describe_run(name, run, count_failures=at < COUNTED_RUNS) for at, (name, run) in enumerate(runs)]

    def _describe_run(self, name: str, run: RunRecord, *, count_failures: bool) -> dict[str, Any]:
        id_ = run.ref if run.ref and self.library.row(run.ref) else RUN_PREFIX + name
        failures = None
        if count_failures and run.bytes <= COUNTED_BYTES:
            with suppress(SpilloverError):  # its output was not kept
                failures = self._count_failures(id_) if run.bytes else 0
        return {
            "id": id_,
            "created": run.created,
            "exit": run.exit_code,
            "seconds": run.seconds,
            "bytes": run.bytes,
            "lines": run.lines,
            "outcome": run.outcome,
            "failures": failures,
        }


def _count_failures(output: Output) -> int:
    return survey(output.document.blob).failures.lines


def describe(output: Output, library: Library) -> dict[str, Any]:
    """Return everything that is known about an output but its lines."""
    record = output.record
    facts = record.as_dict()
    del facts["segments"]  # as lines in `streams`
    return {
        **facts,
        "row": library.row(output.id),
        "ref": None if output.whole else record.ref,
        "produced_lines": record.produced_lines or record.lines,
        "produced_bytes": record.produced_bytes or record.bytes,
        "kind": record.kind or recognize(replace(output.document, sections=(Section(0, output.document.size),))),
        "shown": record.shown[:MAX_PARTS],
        "why": record.why[:MAX_PARTS],
        "whole": output.whole,
        "streams": _streams(output),
        "retrievals": library.retrievals(record.ref),
    }


def _streams(output: Output) -> list[tuple[str, int, int]]:
    """Return the lines of each stream's parts; neighbours of one stream are one part."""
    parts: list[tuple[str, int, int]] = []
    start = 0
    for (stream, _), end in zip(output.record.segments[:MAX_PARTS], output.segment_ends, strict=False):
        stop = min(end, output.document.size)
        if start < stop:
            first = output.document.number(start)
            if parts and parts[-1][0] == stream:
                first = parts.pop()[1]
            parts.append((stream, first, output.document.number(stop - 1)))
        start = end
    return parts


def read_lines(output: Output, first: int, count: int, *, raw: bool = False) -> list[tuple[str, int, str]]:
    """Return lines: the text of each, its bytes, and the stream where there are two."""
    document = output.document
    first = max(1, first)
    last = min(document.lines, first + min(count, MAX_LINES) - 1)
    if last < first:
        return []
    start, end = document.start(first), document.start(last + 1)
    if end - start <= PIECE_BYTES:
        lines = document.blob.read(start, end).removesuffix(b"\n").split(b"\n")
        starts = [*accumulate((len(line) + 1 for line in lines[:-1]), initial=start)]
        sizes = [len(line) for line in lines]
    else:  # some are very long
        starts = [document.start(number) for number in range(first, last + 1)]
        lines = [document.blob.read(at, at + LINE_BYTES + 1).split(b"\n", 1)[0] for at in starts]
        room = [after - at for at, after in zip(starts, [*starts[1:], end], strict=True)]
        sizes = [len(line) if len(line) <= LINE_BYTES else size for line, size in zip(lines, room, strict=True)]
    return [
        (_show(line[:LINE_BYTES], raw=raw), size, output.stream(at))
        for line, size, at in zip(lines, sizes, starts, strict=True)
    ]


def read_column(output: Output, line: int, column: int, *, raw: bool = False) -> dict[str, Any]:
    """Return a piece of a long line, from a column (in bytes, from 1) on."""
    document = output.document
    start, end = document.start(line), document.start(line + 1)
    at = min(max(start, start + column - 1), end)
    data = document.blob.read(at, min(at + LINE_BYTES, end)).split(b"\n", 1)[0]
    return {"column": at - start + 1, "text": _show(data, raw=raw)}


def _show(data: bytes, *, raw: bool) -> str:
    """Return one line: as the model sees it, or with every control character visible."""
    return show_controls(data) if raw else flatten(data).replace("\n", " ")


def search(output: Output, text: str, *, ignore_case: bool) -> dict[str, Any]:
    """Return the line, column and text of each match, and how many there are, as `spill grep` counts them."""
    pattern = compile_pattern(text, fixed=False, ignore_case=ignore_case)
    blob = output.document.blob
    hits = [*islice(scan(blob, pattern, index=output.record.index), MAX_HITS + 1)]
    total = count(blob, pattern) if len(hits) > MAX_HITS else None
    return {
        "total": total.hits if total else len(hits),
        "exact": total.exact if total else True,
        "hits": [
            (hit.line, hit.start - hit.line_start + 1, clean(blob.read(hit.start, min(hit.end, hit.start + HIT_BYTES))))
            for hit in hits[:MAX_HITS]
        ],
    }


def replay(clipper: Clipper, output: Output) -> dict[str, Any]:
    """Return the clip that the model got, by the call in its record.

    `match` is "words" if the record proves that these were the words, or "lines" if these were the lines. Otherwise it
    is "", and there is no text but a `reason`: any other clip would be taken for that one.
    """
    started = time.monotonic()
    record = output.record
    call = clipper.call(record.tool, command=record.command or "")
    if output.whole:
        return _describe_clip(_show_whole(call, output), call, started) | {"match": "words"}
    restored = restore_call(call, record.made) if record.made else None
    if restored is None:
        return _without_text(NO_RECIPE)
    recorded_call, (ref, how, reason) = restored
    earlier = None
    try:
        if ref:
            earlier = _open_earlier(call, ref, how, reason)
        excerpt, clip = cut_again(record, output.document, recorded_call, earlier)
    except SpilloverError as error:
        return _without_text(f"It was compared with {ref}, which cannot be read any more: {error}")
    finally:
        if earlier is not None:
            earlier.close()
    rendered = excerpt.rendered
    facts = _describe_clip(clip, recorded_call, started)
    if rendered.notice and digest_notice(rendered.notice, rendered.text) in record.notices:
        return facts | {"match": "words"}
    if clip.ranges == record.shown and _has_whole_lines(output, rendered.spans):
        return facts | {"match": "lines"}
    return _without_text(CHANGED)


def _without_text(reason: str) -> dict[str, Any]:
    return {"text": "", "match": "", "reason": reason}


def _open_earlier(call: Call, ref: str, how: str, reason: str) -> Earlier:
    """Return the earlier run that a clip was compared with; `reason`: why it could not be compared."""
    if reason:
        return Earlier(ref, how, reason)
    record, document = open_output(call, ref)
    return Earlier(record.ref, how, document=document)


def _has_whole_lines(output: Output, spans: Sequence[Span]) -> bool:
    """Return whether no line is shown in part: line numbers do not say which part that was."""
    document = output.document
    edges = {edge for span in spans for edge in (span.start, span.end)} - {0, document.size}
    return all(b"\n" in document.blob.read(edge - 1, edge + 1) for edge in edges)


def try_settings(clipper: Clipper, output: Output, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the clip with some settings changed, for example `{"tokens": "800", "keep": "tail"}`."""
    started = time.monotonic()
    unknown = [name for name in values if name not in SETTINGS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} cannot be tried; use {', '.join(SETTINGS)}.")
    options = {name: value for name, value in values.items() if value and name != "query"}
    variant = clipper.but(hints=HINTS)
    if options:
        variant = Clipper(settings=load(arguments=options, argument_origin=str).settings(hints=HINTS))
        variant = variant.but(store=clipper.settings.store, scope=clipper.settings.scope, rules={})
    record = output.record
    call = variant.call(record.tool, command=record.command or "", query=values.get("query"))
    if output.document.size <= call.limits.window:
        clip = _show_whole(call, output)
        if fits(clip.text, call, raw_bytes=output.document.size):
            return _describe_clip(clip, call, started)
    _, clip = cut_again(record, output.document, call)
    return _describe_clip(clip, call, started)


def _show_whole(call: Call, output: Output) -> Clip:
    data = output.document.blob.read(0, output.document.size)
    text = visible_text(call.settings, data)
    total = Size(output.document.lines, len(data), len(text), call.settings.count(text) if text else 0)
    return Clip(text, _total=total, _count=call.settings.count, _limits=call.limits)


def _describe_clip(clip: Clip, call: Call, started: float) -> dict[str, Any]:
    received = call.settings.count(clip.text) if clip.text else 0
    return {
        **clip.as_dict(),
        "why": [astuple(reason) for reason in clip.why],
        "received": received,
        "produced": max(clip.total.tokens, received),
        "milliseconds": round((time.monotonic() - started) * 1000),
    }


def compare_outputs(new: Output, old: Output) -> dict[str, Any]:
    """Return what became of an output since an earlier one."""
    difference = compare(new.document, old.document)
    return {
        "new": _read_ranges(new, difference.new),
        "numbers": _read_ranges(new, difference.numbers),
        "gone": _read_ranges(old, difference.removals),
        "same": difference.same_lines,
        "lines": difference.lines,
        "unchanged": difference.unchanged,
    }


def _read_ranges(output: Output, lines: LineRanges) -> dict[str, Any]:
    rows: list[tuple[int, str]] = []
    for first, last in lines.ranges:
        count = min(last - first + 1, MAX_CHANGED_LINES - len(rows))
        rows += [(first + number, row[0]) for number, row in enumerate(read_lines(output, first, count))]
    return {"lines": lines.lines, "rows": rows}


def add_up_days(library: Library, days: int) -> dict[str, Any]:
    """Return the sums of `spill stats` over the last days: in all, by day, by tool and by command."""
    since = time.time() - days * DAY_SECONDS

    def entries() -> Iterable[Entry | None]:
        return journal.read_all(library.folder) if library.folder is not None else ()

    def group(by: str) -> list[dict[str, Any]]:
        groups = add_up(entries(), by=by, since=since, scope=library.scope).groups
        return [{"names": group.names, **_figures(group.sums)} for group in groups]

    stats = add_up(entries(), since=since, scope=library.scope)
    return {
        "total": _figures(stats.total),
        "damaged": stats.damaged,
        "days": group("day"),
        "tools": group("tool")[:MAX_FIGURE_ROWS],
        "commands": group("command")[:MAX_FIGURE_ROWS],
    }


def _figures(sums: Sums) -> dict[str, int]:
    return {**asdict(sums), "net": sums.net, "received": sums.received}
