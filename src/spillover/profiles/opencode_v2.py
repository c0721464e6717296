"""opencode's second design: one place that bounds every tool's result; both ends are shown, the marker inside the budget."""

from __future__ import annotations

from math import ceil

from spillover.form import Form, Told
from spillover.limits import Limits
from spillover.notice import REASON_CHARS, one_line
from spillover.profiles import opencode
from spillover.profiles.base import made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.store.base import Store

SAVED = "... output truncated; full content saved to {place} ..."
IN_PART = "... output truncated; only its beginning saved to {place}: {why} ..."
LOST = "... output truncated; full content not kept: {why} ..."
#: The two blank lines around the marker, and as many newlines.
AROUND = 4


def clipper(
    *, config: Mapping[str, Any] | None = None, folder: str | None = None, store: Store | None = None, **given: Any
) -> Clipper:
    """Both ends within 2,000 lines / 51,200 bytes, and the marker inside them."""
    kept = opencode.outputs(folder, store)
    defaults = {"limits": opencode.limits(config), "keep": "ends", "notice": "inside", "wording": Form(_words)}
    return made({**defaults, "store": kept}, given)


def bound(output: Mapping[str, Any], clipper: Clipper, *, call_id: str | None = None) -> dict[str, Any]:
    """A result `{structured, content}` within the limits; `{output, outputPaths}`.

    Its texts are one, without anything between them, and media stand behind it as they were. Where there is no content,
    the text is the JSON of what is structured.
    """
    content = output.get("content") or []
    texts = [part["text"] for part in content if part.get("type") == "text"]
    text = "".join(texts) if content else _json(output.get("structured"))
    clip = clipper.clip(text, call_id=call_id)
    if clip.outcome == "whole":
        return {"output": output, "outputPaths": []}
    marker = _marker(clip.path or clip.ref, clip.reason)
    shown = {"type": "text", "text": preview(text, marker, clipper.limits)}
    media = [part for part in content if part.get("type") != "text"]
    paths = [clip.path] if clip.path else []
    return {"output": {**output, "content": [shown, *media]}, "outputPaths": paths}


def preview(text: str, marker: str, limits: Limits) -> str:
    """Both ends of a text with the marker between them, all of it within the limits; the marker alone where they are tiny."""
    text = text.encode("utf-8", "replace").decode()  # half a pair is no character, and shows as one that is
    lines, size = limits.lines or 0, limits.bytes or 0
    room = size - len(marker.encode()) - AROUND
    if lines <= AROUND or room <= 0:
        return _first(marker, size)
    head, tail = _ends(text, lines - AROUND, room)
    return f"{head}\n\n{marker}\n\n{tail}" if tail else f"{head}\n\n{marker}"


def _ends(text: str, lines: int, size: int) -> tuple[str, str]:
    """So many lines of either end; where they are too long, so many bytes of these."""
    every = text.split("\n")
    if len(every) <= lines and len(text.encode()) <= size:
        return text, ""
    if len(every) <= lines:
        return _first(text, ceil(size / 2)), _last(text, size // 2)
    head, tail = "\n".join(every[: ceil(lines / 2)]), "\n".join(every[len(every) - lines // 2 :])
    before, behind = len(head.encode()), len(tail.encode())
    if before + behind <= size:
        return head, tail
    # An end that needs less than half leaves the rest to the other one; neither reaches over what is between them.
    return _first(head, max(ceil(size / 2), size - behind)), _last(tail, max(size // 2, size - before))


def _first(text: str, size: int) -> str:
    """The characters at the beginning that fit into so many bytes."""
    return text[:size].encode()[:size].decode("utf-8", "ignore")


def _last(text: str, size: int) -> str:
    """Those at the end."""
    data = text[max(0, len(text) - size) :].encode()
    return data[max(0, len(data) - size) :].decode("utf-8", "ignore")


def _marker(place: str | None, reason: str | None) -> str:
    why = one_line(reason or "", REASON_CHARS)
    if place is None:
        return LOST.format(why=why)
    return IN_PART.format(place=place, why=why) if reason else SAVED.format(place=place)


def _words(told: Told) -> tuple[str, str, str]:
    marker = _marker(told.place, told.reason)
    if not told.parts:
        return marker, "", ""
    if len(told.parts) > 1:
        return "", f"\n\n{marker}\n\n", ""
    return "", "", f"\n\n{marker}"


def _json(structured: object) -> str:
    import json  # only results without any content need it

    return json.dumps(structured, indent=2, ensure_ascii=False, default=str)
