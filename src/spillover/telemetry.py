"""What OpenTelemetry and the log hear of a clip and of a retrieval: facts, never content.

Nothing is imported for it: it speaks only where the program has loaded OpenTelemetry itself. On a span that is recording, a
clip is an event; otherwise it is a span of its own, named after the GenAI conventions (`execute_tool`). docs/operations.md
lists the names.
"""

from __future__ import annotations

import logging
import sys

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.result import Clip

NAME = "spillover"
#: name → (unit, what it counts)
COUNTERS = {
    "spillover.clips": ("{clip}", "Outputs that were clipped, by outcome."),
    "spillover.stored": ("By", "Bytes that were stored."),
    "spillover.tokens.hidden": ("{token}", "Tokens that were not shown (estimated)."),
    "spillover.tokens.fetched": ("{token}", "Tokens that were fetched back."),
    "spillover.retrievals": ("{call}", "Calls that went back to a stored output."),
    "spillover.failures": ("{clip}", "Outputs that were lost, stored in part, or kept on one machine only."),
}
DURATION = "spillover.duration"
_made: dict[str, Any] = {}


def is_on() -> bool:
    """Return whether the program has loaded OpenTelemetry."""
    return "opentelemetry.trace" in sys.modules or "opentelemetry.metrics" in sys.modules


def facts_of(clip: Clip, tool: str, call_id: str | None = None) -> dict[str, str | int]:
    """Return what is reported about a clip, by attribute. No word of the output is among it."""
    total, shown = clip.total, clip.shown
    told: dict[str, str | int | None] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": call_id,
        "spillover.outcome": clip.outcome,
        "spillover.ref": clip.ref,
        "spillover.digest": f"sha256:{clip.sha256}" if clip.sha256 else None,
        "spillover.kind": clip.kind or None,
        "spillover.bytes": total.bytes,
        "spillover.lines": total.lines,
        "spillover.tokens": total.tokens,
        "spillover.shown.bytes": shown.bytes,
        "spillover.shown.lines": shown.lines,
        "spillover.shown.tokens": shown.tokens,
        "spillover.reason": clip.reason,
    }
    return {name: value for name, value in told.items() if value is not None}


def tell_clip(clip: Clip, tool: str, seconds: float, call_id: str | None = None) -> None:
    """Tell of a clip. Whatever goes wrong in somebody's exporter never fails the tool call."""
    if clip.outcome != "whole":
        _log.debug("Clipped an output of %s: %s.", tool, _list_facts(facts_of(clip, tool, call_id)))
    if not is_on():
        return
    try:
        facts = facts_of(clip, tool, call_id)
        _trace("spillover.clip", f"execute_tool {tool}", facts, seconds)
        labels = {"gen_ai.tool.name": tool, "spillover.outcome": clip.outcome}
        _count("spillover.clips", 1, labels)
        if clip.outcome == "stored":
            _count("spillover.stored", clip.total.bytes, labels)
        if clip.outcome != "whole":
            _count("spillover.tokens.hidden", max(0, clip.total.tokens - clip.shown.tokens), labels)
        if clip.reason is not None:
            _count("spillover.failures", 1, labels)
        _time(seconds, {**labels, "spillover.operation": "clip"})
    except Exception as error:  # noqa: BLE001  an exporter is somebody else's
        _log.info("OpenTelemetry rejected the event of a clip: %s", error)


def tell_retrieval(kind: str, ref: str, tokens: int, seconds: float) -> None:
    """Tell that somebody went back: how (read, grep, outline), to what, and how much it was."""
    if not is_on():
        return
    try:
        facts: dict[str, str | int] = {
            "spillover.operation": kind,
            "spillover.ref": ref,
            "spillover.shown.tokens": tokens,
        }
        _trace("spillover.retrieval", f"execute_tool {kind}_output", facts, seconds)
        labels = {"spillover.operation": kind}
        _count("spillover.retrievals", 1, labels)
        _count("spillover.tokens.fetched", tokens, labels)
        _time(seconds, labels)
    except Exception as error:  # noqa: BLE001  as above
        _log.info("OpenTelemetry rejected the event of a retrieval: %s", error)


def _trace(event: str, name: str, facts: dict[str, str | int], seconds: float) -> None:
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return
    span = trace.get_current_span()
    if span.is_recording():
        span.add_event(event, facts)
        return
    import time

    now = time.time_ns()
    own = trace.get_tracer(NAME).start_span(name, attributes=facts, start_time=now - int(seconds * 1e9))
    own.end(end_time=now)


def _count(name: str, amount: int, labels: dict[str, str]) -> None:
    if meter := _meter():
        if name not in _made:
            unit, about = COUNTERS[name]
            _made[name] = meter.create_counter(name, unit=unit, description=about)
        _made[name].add(amount, labels)


def _time(seconds: float, labels: dict[str, str]) -> None:
    if meter := _meter():
        if DURATION not in _made:
            _made[DURATION] = meter.create_histogram(DURATION, unit="s", description="How long it took.")
        _made[DURATION].record(seconds, labels)


def _meter() -> Any:
    metrics = sys.modules.get("opentelemetry.metrics")
    return None if metrics is None else metrics.get_meter(NAME)


def _list_facts(facts: dict[str, str | int]) -> str:
    return ", ".join(
        f"{name.removeprefix('spillover.')} {value}" for name, value in facts.items() if not name.startswith("gen_ai.")
    )
