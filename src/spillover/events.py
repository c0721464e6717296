"""Records of what reached the model, in the journal, the list of runs and OpenTelemetry. No failure here fails a call.

The pipeline records every clip. A caller that builds one result from several clips, such as the fields of an object,
or adds to a clip, collects them with `together` and records the result that the model gets.

OpenTelemetry receives facts, never content, and only if the program has loaded it: nothing here imports it. On a span
that is recording, a clip is an event; otherwise it is a span of its own, named after the GenAI conventions
(`execute_tool`). docs/operations.md lists the names.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from spillover.document.document import cover_bytes
from spillover.journal import Entry, EntryOutcome, Operation, append, folder_of
from spillover.result import Clip
from spillover.secrets.commands import shorten_command
from spillover.settings.limits import Size
from spillover.settings.settings import Call, Settings
from spillover.store.record import EVERY, Record, RunRecord
from spillover.store.scopes import default_scope, working_folder

Facts = dict[str, str | int]

#: The environment variable that turns the journal off, even where no configuration is read.
VARIABLE = "SPILLOVER_STATS"
SHELLS = ("bash", "sh", "dash", "zsh")
NAME = "spillover"
#: The OpenTelemetry counters: name → (unit, description)
COUNTERS = {
    "spillover.clips": ("{clip}", "Outputs that were clipped, by outcome."),
    "spillover.stored": ("By", "Bytes that were stored."),
    "spillover.tokens.hidden": ("{token}", "Tokens that were not shown (estimated)."),
    "spillover.tokens.fetched": ("{token}", "Tokens that were fetched back."),
    "spillover.retrievals": ("{call}", "Calls that went back to a stored output."),
    "spillover.failures": ("{clip}", "Outputs that were lost, stored in part, or kept on one machine only."),
}
DURATION = "spillover.duration"
_log = logging.getLogger(__name__)
_instruments: dict[str, Any] = {}
#: The clips that are parts of one result; None where every clip is a result.
_parts: ContextVar[list[Clip] | None] = ContextVar("parts", default=None)


@contextmanager
def together() -> Iterator[list[Clip]]:
    """Collect the clips of a block as parts of one result, in a list instead of the journal."""
    clips: list[Clip] = []
    token = _parts.set(clips)
    try:
        yield clips
    finally:
        _parts.reset(token)


def record_clip(call: Call, clip: Clip, *, seconds: float = 0.0) -> None:
    """Record a clip of the pipeline: log it, trace it and add it to the journal."""
    if clip.outcome == "whole" and not call.settings.stats and "opentelemetry" not in sys.modules:
        return  # the common case: it fits, and nothing counts or traces it
    if clip.outcome != "whole":
        facts = _clip_facts(clip, call.tool, call.id)
        words = (f"{name.removeprefix('spillover.')} {fact}" for name, fact in facts.items() if name[:7] != "gen_ai.")
        _log.debug("Clipped an output of %s: %s.", call.tool, ", ".join(words))
    if _is_traced():
        _trace_clip(clip, call.tool, seconds, call.id)
    record_result(call, clip, seconds=seconds)


def has_line(settings: Settings, *, whole: bool) -> bool:
    """Return whether a result is written to the journal; one that fits is only with `stats=True`."""
    return settings.stats is not False and (not whole or settings.stats is True) and _parts.get() is None


def record_result(
    call: Call,
    clip: Clip,
    *,
    texts: Sequence[str] | None = None,
    host: str | None = None,
    cut: Mapping[str, int] | None = None,
    failing: bool = False,
    framed: bool = False,
    seconds: float = 0.0,
) -> None:
    """Record a result in the journal.

    `texts` reached the model instead of the clip's own text. `framed`: they include a part of the output that was not
    cut. `host` and `cut` name an agent and its own limits; by default, those of the agent that runs this process.
    """
    parts = _parts.get()
    if parts is not None:
        parts.append(clip)
        return
    whole = clip.outcome == "whole"
    if not has_line(call.settings, whole=whole):
        return
    try:
        received = sum(map(call.settings.count, filter(None, (clip.text,) if texts is None else texts)))
        produced = received if whole else max(clip.total.tokens, clip.shown.tokens)
        shown_tokens = received if whole else min(clip.shown.tokens, received)
        if framed and not whole and (frame_tokens := received - call.settings.count(clip.text)) > 0:
            produced += frame_tokens
            shown_tokens = min(shown_tokens + frame_tokens, received)
        if cut is None:
            agent = call.settings.agent
            cut = agent.bounds(failing=failing) if agent else {}
        _append(
            call.settings,
            "clip",
            clip.outcome,
            tool=call.tool,
            command=call.command,
            host=host,
            ref=clip.ref,
            kind="" if whole else clip.kind,
            produced=produced,
            base=_host_share(produced, clip.total, cut),
            shown=shown_tokens,
            notice=received - shown_tokens,
            seconds=seconds,
        )
    except Exception as error:  # noqa: BLE001  a store may raise anything; the tool call goes on
        _complain(error)


def record_retrieval(
    call: Call,
    operation: Operation,
    text: str,
    *,
    clip: Clip | None = None,
    record: Record | None = None,
    seconds: float = 0.0,
) -> None:
    """Record a call that went back to a stored output; without a clip, the text is an error."""
    if clip is not None and record is not None and _is_traced():
        _trace_retrieval(operation, clip.ref or record.ref, call.settings.count(text), seconds)
    parts = _parts.get()
    if parts is not None:
        if clip is not None:
            parts.append(clip)
        return
    if call.settings.stats is False:
        return
    try:
        lines: tuple[tuple[int, int], ...] = ()
        near = None
        if clip is not None and record is not None and operation in ("read", "grep"):
            lines, near = _compare_lines(clip, record)
        _append(
            call.settings,
            operation,
            "failed" if clip is None else clip.outcome,
            tool=call.tool if record is None else record.tool,
            command=None if record is None else record.command,
            ref=record.ref if record else clip.ref if clip else None,
            kind=record.kind if record else "",
            shown=call.settings.count(text) if text else 0,
            lines=lines,
            near=near,
            seconds=seconds,
        )
    except Exception as error:  # noqa: BLE001  as above
        _complain(error)


def record_schemas(settings: Settings, text: str, *, host: str | None = None) -> None:
    """Record the tokens of our own tool schemas, which a session pays for before it calls any."""
    if settings.stats is False or not text:
        return
    try:
        _append(settings, "schema", "whole", tool="", host=host, shown=settings.count(text))
    except Exception as error:  # noqa: BLE001  as above
        _complain(error)


def record_run(
    call: Call,
    clip: Clip,
    data: bytes,
    *,
    exit_code: int | None = None,
    seconds: float | None = None,
) -> None:
    """Add a call to the runs of its store, with the `data` of an output that fitted.

    Do not pass calls that only read stored outputs (`shell.is_retrieval`). A failure is logged, and the model keeps
    its result.
    """
    try:
        output = data if clip.outcome == "whole" else None
        if output and call.settings.redact == "stored":
            output = cover_bytes(call.settings, output)
        call.settings.outputs.remember(
            RunRecord(
                scope=_scope(call.settings),
                tool=call.tool,
                created=time.time(),
                outcome=clip.outcome,
                bytes=clip.total.bytes,
                lines=clip.total.lines,
                exit_code=exit_code,
                seconds=seconds,
                command=shorten_command(call.command) if call.command else None,
                call_id=call.id,
                cwd=call.cwd or working_folder(),
                ref=clip.ref,
                reason=clip.reason or call.preview or None,
                data=output,
            )
        )
    except Exception as error:  # noqa: BLE001  as above
        _log.warning("a run could not be recorded, so `last` does not find it: %s", error)


def _append(
    settings: Settings,
    operation: Operation,
    outcome: EntryOutcome,
    *,
    host: str | None = None,
    command: str | None = None,
    ref: str | None = None,
    seconds: float = 0.0,
    **facts: Any,
) -> None:
    folder = folder_of(settings.store)
    if folder is None or os.environ.get(VARIABLE, "").lower() == "false":
        return
    entry = Entry(
        operation=operation,
        outcome=outcome,
        when=time.time(),
        scope=_scope(settings),
        host=host if host is not None else settings.agent.title if settings.agent else "",
        command=shorten_command(_shell_line(command)) if command else "",
        ref=ref or "",
        milliseconds=round(seconds * 1000),
        **facts,
    )
    append(folder, entry)


def _scope(settings: Settings) -> str:
    return default_scope() if settings.scope in (None, EVERY) else settings.scope


def _shell_line(command: str) -> str:
    """Return LINE of a command `sh -c LINE`, and any other command unchanged."""
    shell, _, rest = command.partition(" -c ")
    return rest if rest and shell.rpartition("/")[2] in SHELLS else command


def _host_share(produced: int, total: Size, bounds: Mapping[str, int]) -> int:
    """Return the tokens that the host would have shown without us."""
    share = min((bound / size for name, bound in bounds.items() if (size := getattr(total, name)) > bound), default=1.0)
    return int(produced * share)


def _compare_lines(clip: Clip, record: Record) -> tuple[tuple[tuple[int, int], ...], int | None]:
    """Return the fetched lines, and the distance of the hidden ones among them to the nearest shown line."""
    if "#" in (clip.ref or ""):  # the lines are those of a JSON value, not of the output
        return (), None
    new_ranges = [part for first, last in clip.ranges for part in _outside(first, last, record.shown)]
    if not new_ranges:
        return clip.ranges, None
    if not record.shown:  # e.g. what a `| tail` drops
        return clip.ranges, record.lines
    distances = (
        max(first - shown_last, shown_first - last)
        for first, last in new_ranges
        for shown_first, shown_last in record.shown
    )
    return clip.ranges, min(distances)


def _outside(first: int, last: int, shown_ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range of lines outside the shown ranges, which are sorted."""
    for shown_first, shown_last in shown_ranges:
        if shown_last < first or shown_first > last:
            continue
        if shown_first > first:
            yield first, shown_first - 1
        first = shown_last + 1
    if first <= last:
        yield first, last


def _complain(error: Exception) -> None:
    _log.info("A line could not be written to the journal, so `spill stats` does not count this call: %s", error)


def _is_traced() -> bool:
    """Return whether the program has loaded OpenTelemetry."""
    return "opentelemetry.trace" in sys.modules or "opentelemetry.metrics" in sys.modules


def _clip_facts(clip: Clip, tool: str, call_id: str | None) -> Facts:
    """Return the attributes that are reported about a clip, without a word of the output."""
    facts: dict[str, str | int | None] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": call_id,
        "spillover.outcome": clip.outcome,
        "spillover.ref": clip.ref,
        "spillover.digest": f"sha256:{clip.sha256}" if clip.sha256 else None,
        "spillover.kind": clip.kind or None,
        "spillover.bytes": clip.total.bytes,
        "spillover.lines": clip.total.lines,
        "spillover.tokens": clip.total.tokens,
        "spillover.shown.bytes": clip.shown.bytes,
        "spillover.shown.lines": clip.shown.lines,
        "spillover.shown.tokens": clip.shown.tokens,
        "spillover.reason": clip.reason,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _trace_clip(clip: Clip, tool: str, seconds: float, call_id: str | None) -> None:
    try:
        _trace("spillover.clip", f"execute_tool {tool}", _clip_facts(clip, tool, call_id), seconds)
        labels = {"gen_ai.tool.name": tool, "spillover.outcome": clip.outcome}
        _count("spillover.clips", 1, labels)
        if clip.outcome == "stored":
            _count("spillover.stored", clip.total.bytes, labels)
        if clip.outcome != "whole":
            _count("spillover.tokens.hidden", max(0, clip.total.tokens - clip.shown.tokens), labels)
        if clip.reason is not None:
            _count("spillover.failures", 1, labels)
        _time(seconds, {**labels, "spillover.operation": "clip"})
    except Exception as error:  # noqa: BLE001  an exporter may raise anything
        _log.info("OpenTelemetry rejected the event of a clip: %s", error)


def _trace_retrieval(operation: str, ref: str, tokens: int, seconds: float) -> None:
    labels = {"spillover.operation": operation}
    try:
        facts: Facts = {**labels, "spillover.ref": ref, "spillover.shown.tokens": tokens}
        _trace("spillover.retrieval", f"execute_tool {operation}_output", facts, seconds)
        _count("spillover.retrievals", 1, labels)
        _count("spillover.tokens.fetched", tokens, labels)
        _time(seconds, labels)
    except Exception as error:  # noqa: BLE001  as above
        _log.info("OpenTelemetry rejected the event of a retrieval: %s", error)


def _trace(event: str, name: str, facts: Facts, seconds: float) -> None:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event(event, facts)
        return
    now = time.time_ns()
    new_span = trace.get_tracer(NAME).start_span(name, attributes=facts, start_time=now - int(seconds * 1e9))
    new_span.end(end_time=now)


def _count(name: str, amount: int, labels: dict[str, str]) -> None:
    if meter := _meter():
        if name not in _instruments:
            unit, description = COUNTERS[name]
            _instruments[name] = meter.create_counter(name, unit=unit, description=description)
        _instruments[name].add(amount, labels)


def _time(seconds: float, labels: dict[str, str]) -> None:
    if meter := _meter():
        if DURATION not in _instruments:
            _instruments[DURATION] = meter.create_histogram(DURATION, unit="s", description="How long it took.")
        _instruments[DURATION].record(seconds, labels)


def _meter() -> Any:
    metrics = sys.modules.get("opentelemetry.metrics")
    return None if metrics is None else metrics.get_meter(NAME)
