"""The last resort when clipping itself fails: both ends of a text, and a line that says why.

Nothing here reads a configuration, opens a store or chooses lines, since any of that may be what has failed.
"""

from __future__ import annotations

import logging

from spillover.document.clean import clean
from spillover.document.document import cover_blob, cover_bytes
from spillover.document.forgery import MARK, Guard
from spillover.errors import StoreError
from spillover.notice.wording import failed
from spillover.result import Clip
from spillover.settings.limits import DEFAULT_TOKENS, Limits, Size
from spillover.settings.settings import Call
from spillover.source.blob import read_ends
from spillover.source.intake import Intake

_log = logging.getLogger(__name__)

#: What may fail without ending a tool call; `testing.strict_selectors` lets nothing pass.
SURVIVED: tuple[type[Exception], ...] = (Exception,)
#: A token has at least one byte, and so has a character: within this many bytes every default limit holds.
MAX_BYTES = DEFAULT_TOKENS
MAX_LINES = 1_000
#: Bytes reserved for the line that says why, the marker of the gap, and a mark.
WORDS_BYTES = 200


def mark(text: str) -> str:
    """Return the text with lines that look like a notice marked; no store is asked, so none counts as ours."""
    try:
        return Guard(lambda _: ())(text)
    except Exception:  # noqa: BLE001  this may be what failed
        return text


def shorten(text: str, error: BaseException, limits: Limits | None, *, shares: int = 1, missing: int = 0) -> str | None:
    """Return both ends of a text, for one of `shares` texts that share the limits; None if it fits as it is.

    `missing`: bytes that are gone from the middle of it already.
    """
    sizes = dict(limits.given()) if limits else {}
    max_lines = min(sizes.pop("lines", MAX_LINES), MAX_LINES) // shares
    max_bytes = (min([MAX_BYTES, *sizes.values()]) - 1) // shares
    safe_text = mark(text)
    data = safe_text.encode("utf-8", "replace")
    if not missing and len(data) <= max_bytes and data.count(b"\n") < max_lines:
        return None if safe_text == text else safe_text
    side, rows = max(0, max_bytes - WORDS_BYTES) // 2, max(1, max_lines // 2 - 1)
    head = _decode(b"\n".join(data[:side].split(b"\n")[:rows]))
    tail = _decode(b"\n".join(data[len(data) - side :].split(b"\n")[-rows:]))
    raw = text.encode("utf-8", "replace")
    marks = (head.count(MARK) + tail.count(MARK)) if len(raw) < len(data) else 0  # ours, not the tool's
    shown_bytes = len(head.encode()) + len(tail.encode()) - marks * len(MARK)
    notice, gap = failed(len(raw) + missing, shown_bytes, type(error).__name__)
    lines = "\n".join((notice, head, gap, mark(tail))).split("\n")
    # Where there is hardly any room, the notice has it.
    return _decode("\n".join(lines[:max_lines]).encode()[:max_bytes])


def clip_plainly(intake: Intake, call: Call, error: Exception) -> Clip:
    """Return a clip of an output whose clipping has failed, from what is still at hand."""
    reason = f"spill failed ({type(error).__name__})"
    _log.warning("Clipping an output of %s failed (%s bytes): %r", call.tool, f"{intake.bytes:,}", error)
    if intake.overflowed:
        intake.fail(StoreError(reason))
    try:
        head, tail = _read_covered_ends(intake, call)
    except Exception:
        if call.settings.redact == "off":
            raise
        head = tail = b""  # covering may be what failed: then nothing is shown that was not searched
    text = _view(head) + _view(tail)
    missing = max(0, intake.bytes - len(text.encode("utf-8", "replace"))) if intake.overflowed else 0
    shorter = shorten(text, error, call.limits, missing=missing)
    is_lost = shorter not in (None, mark(text))
    lines = intake.meter.lines if intake.overflowed else head.count(b"\n") + (head[-1:] not in (b"", b"\n"))
    return Clip(
        text if shorter is None else shorter,
        "lost" if is_lost else "whole",
        reason=reason if is_lost else None,
        _total=Size(lines, intake.bytes),
        _count=call.settings.count,
        _limits=call.limits,
    )


def _read_covered_ends(intake: Intake, call: Call) -> tuple[bytes, bytes]:
    """Return all of an output that fitted, or its first and last bytes, with secrets covered as settings say."""
    if not intake.overflowed:
        return cover_bytes(call.settings, intake.buffer), b""
    return read_ends(cover_blob(call.settings, intake.blob()).read, intake.bytes, MAX_BYTES)


def _view(data: bytes) -> str:
    """Return what a person would see of bytes; where that fails, what can be printed."""
    try:
        return clean(data)
    except Exception:  # noqa: BLE001  this may be what failed
        return "".join(char for char in _decode(data) if char.isprintable() or char in "\n\t")


def _decode(data: bytes) -> str:
    """Return bytes as text; half a character at an edge is left out."""
    return data.decode("utf-8", "ignore")
