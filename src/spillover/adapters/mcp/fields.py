"""Strings of a message that are no text of a result: names, descriptions, addresses, log lines. Each fits, or is stored."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.adapters.mcp.message import written
from spillover.adapters.mcp.schema import DEEP, cut
from spillover.notice.sentences import cut_data
from spillover.pipeline import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.choices import Choices

#: Media: a host shows it as what it is, and does not count it as text.
MEDIA = frozenset({"image", "audio"})
#: Under this key, where there is room for it, data that was cut says so.
SAID = "spillover"
#: What only a host reads, and gives back as it came.
OPAQUE = frozenset({"nextCursor", "requestState"})
#: In lists, and in what a server says of itself, a string up to so many characters passes whatever the limits are:
#: without its description a tool cannot be used.
LISTED_CHARS = 20_000
#: A name longer than this is nobody's.
NAME_CHARS = 1_000


def fits(text: str, choices: Choices) -> bool:
    limits = choices.trigger or choices.limits
    return limits.hold(text, choices.count, byte_bound=choices.byte_bound)


def fill(text: str, choices: Choices) -> float:
    return choices.limits.fill(text, choices.count, byte_bound=choices.byte_bound)


def lines_of(data: Any) -> str:
    """Return data as it is stored: line by line, so that it can be read in part."""
    import json

    return json.dumps(data, indent=1, ensure_ascii=False)


def with_share(choices: Choices, part: float) -> Choices:
    return replace(choices, limits=choices.limits.share(part), trigger=None)


def bound_strings(value: Any, choices: Choices, *, free: int = 0, depth: int = 0) -> Any:
    """Return the same value; a string above the limits, and above `free` characters, is its clip: stored, and saying so."""
    if isinstance(value, str):
        return value if len(value) <= free or fits(value, choices) else clip(value, choices).text
    if isinstance(value, list):
        if depth > DEEP:
            return _as_text(value, choices, free)
        return [bound_strings(item, choices, free=free, depth=depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if depth > DEEP or any(len(key) > NAME_CHARS for key in value):
        return _as_text(value, choices, free)
    return {
        key: item if is_exact(value, key) else bound_strings(item, choices, free=free, depth=depth + 1)
        for key, item in value.items()
    }


def _as_text(value: Any, choices: Choices, free: int) -> Any:
    """Return what is too deep, or has keys too long, to be bounded part by part: text, where it is too large."""
    text = written(value)
    return value if len(text) <= max(free, NAME_CHARS) else clip(text, choices).text


def is_exact(parent: dict[str, Any], key: str) -> bool:
    """Return whether a part of an object is media, or opaque to everybody: it is passed as it came."""
    value = parent[key]
    if not isinstance(value, str):
        return False
    if key == "data":
        return parent.get("type") in tuple(MEDIA)  # of whatever kind: in a schema, "type" may be an object
    if key == "blob":
        return isinstance(parent.get("uri"), str)
    return key in OPAQUE or (key == "src" and value.startswith("data:image/"))


def bound_data(value: Any, choices: Choices) -> Any:
    """Return the same, and all of it together within the limits: what is left above them is cut as data, stored, and says so."""
    if fits(written(value), choices):
        return value
    smaller = bound_strings(value, with_share(choices, 0.5))
    if fits(written(smaller), choices):
        return smaller
    kept = clip(lines_of(value), choices)
    said = cut_data(choices.ways, kept.total.bytes, kept.ref, kept.reason)
    if not isinstance(value, dict):
        return kept.text if isinstance(value, str) else cut(value, True, lambda text: fill(text, choices)) or []
    words = written({SAID: said})
    return {SAID: said, **(cut(value, True, lambda text: fill(text + words, choices)) or {})}
