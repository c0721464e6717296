"""Blocks as hosts have them, told from data: a list of files or videos may have a "type", too, and is no media for it."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.blocks.shapes import SHORT_CHARS, TEXT_PATHS, TEXT_TYPES, places_of
from spillover.wrap.shape import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Blocks as MCP, Anthropic and OpenAI have them.
BLOCK_TYPES = {
    *TEXT_TYPES,
    *TEXT_PATHS,
    *("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document"),
    *("resource", "resource_link"),
}
#: Where they have their media, which are left alone.
MEDIA_KEYS = frozenset(
    {"data", "base64", "blob", "source", "image_url", "input_audio", "file", "file_data", "file_id", "url", "resource"}
)


def are_blocks(parts: Any, fill: Callable[[str], float]) -> bool:
    """Return whether these are blocks, or messages, that fit once their texts are clipped. `fill` says how full a text makes the limits."""
    if not isinstance(parts, (list, tuple)) or not parts or not all(map(is_block, parts)):
        return False
    rest = [one for part in parts for one in _beside(part)]
    written = write(rest)
    return not rest or (written is not None and fill(written) <= 1)


def is_block(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    is_message = isinstance(part.get("role"), str) and isinstance(part.get("content"), (str, list))
    return is_message if kind is None else isinstance(kind, str) and kind in BLOCK_TYPES


def _beside(block: Any) -> list[Any]:
    """Return what a block has beside its text and its media: all that is long, and all of a block that has neither."""
    if not isinstance(block, Mapping):
        return []
    places = places_of(block)
    text = {place.path[0] for place in places}
    long = {key: value for key, value in block.items() if key not in text and _is_long(value)}
    media = MEDIA_KEYS & long.keys() if block.get("type") not in TEXT_TYPES else frozenset()
    if not places and not media:
        return [block]
    long = {key: value for key, value in long.items() if key not in media}
    inner = [each for place in places for each in (place.inner if isinstance(place.inner, list) else [place.inner])]
    below = [one for each in inner for one in _beside(each)]
    return [*([long] if long else []), *below]


def _is_long(value: Any) -> bool:
    return len(value if isinstance(value, str) else write(value) or "") > SHORT_CHARS
