"""`spill://REF`: the name of a stored output, or with a fragment of a part of it, as docs/format.md defines it.

    spill://bash-7f3a9c2e41d05b86                 all of it
    spill://bash-7f3a9c2e41d05b86#L10-20          lines, from 1, the last one included; #L10 is one line
    spill://bash-7f3a9c2e41d05b86#bytes=1-4000    bytes, the same way
    spill://bash-7f3a9c2e41d05b86#/items/0/name   a value in JSON (RFC 6901)

Where an output is kept and who may read it is no part of its name: both are the reader's own configuration.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.errors import UsageError
from spillover.store.base import check_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.source.blob import Blob

SCHEME = "spill://"
#: JSON that is larger is not parsed for one value.
LARGEST_JSON = 256 << 20
_LINES = re.compile(r"L(\d{1,18})(?:-L?(\d{1,18}))?", re.ASCII)
_BYTES = re.compile(r"bytes=(\d{1,18})-(\d{1,18})", re.ASCII)


class Named(Struct, frozen=True):
    """What a URI names: an output, and at most one part of it."""

    ref: str
    lines: str | None = None
    bytes: str | None = None
    pointer: str | None = None


def parse(uri: str) -> Named:
    """Return what a URI names; RefError or UsageError says what is wrong with it."""
    ref, hashed, fragment = uri[len(SCHEME) :].partition("#")
    ref = check_ref(ref.rstrip("/"))
    if not hashed:
        return Named(ref)
    if found := _LINES.fullmatch(fragment):
        return Named(ref, lines=f"{found[1]}:{found[2] or found[1]}")
    if found := _BYTES.fullmatch(fragment):
        return Named(ref, bytes=f"{found[1]}:{found[2]}")
    if not fragment or fragment.startswith("/"):
        from urllib.parse import unquote  # few name a value

        return Named(ref, pointer=unquote(fragment))
    raise UsageError(
        f"#{fragment[:60]} names no part of an output; use #L10-20, #bytes=1-4000 or a JSON pointer such as #/items/0."
    )


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
