"""The value behind a JSON pointer."""

from __future__ import annotations

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.source.blob import Blob

#: JSON that is larger is not parsed for one value.
LARGEST_JSON = 256 << 20


def find_value(blob: Blob, pointer: str, ref: str) -> tuple[int, int]:
    """Return where the value of a JSON pointer begins and ends, in bytes."""
    import msgspec
    import numpy as np

    if blob.size > LARGEST_JSON:
        raise UsageError(f"{blob.size:,} bytes are too many to look for a JSON value in; search for its key instead.")
    whole = blob.read(0, blob.size)
    data = np.frombuffer(whole, dtype=np.uint8)
    try:
        value: Any = msgspec.json.decode(whole, type=msgspec.Raw)
        for number, word in enumerate(_words(pointer), 1):
            value = _step(value, word, "/" + "/".join(pointer.split("/")[1 : number + 1]))
    except msgspec.DecodeError as error:
        raise UsageError(f"{ref} is not JSON, so a pointer cannot be used; read it by lines or bytes.") from error
    # A Raw is a view into what was decoded: its address tells where it stands.
    start = np.frombuffer(memoryview(value), dtype=np.uint8).ctypes.data - data.ctypes.data
    return int(start), int(start) + len(memoryview(value))


def _words(pointer: str) -> list[str]:
    return [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:]]


def _step(value: Any, word: str, place: str) -> Any:
    import msgspec

    first = bytes(memoryview(value)[:1])
    if first == b"{":
        inside = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        if word in inside:
            return inside[word]
        some = ", ".join(list(inside)[:8])
        raise UsageError(f"There is no {place[:80]} in it; the keys there are {some[:200]}.")
    if first == b"[":
        items = msgspec.json.decode(value, type=list[msgspec.Raw])
        if word.isdecimal() and word.isascii() and int(word) < len(items):
            return items[int(word)]
        raise UsageError(f"There is no {place[:80]} in it; the list has {len(items):,} items, numbered from 0.")
    raise UsageError(f"There is no {place[:80]} in it: its parent is not an object or a list.")
