"""What a JSON value holds at its top: its keys, or how many items, each with its kind and its place."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.select.json.scan import Marks

#: A larger value would have to be held in memory.
LARGEST = 16 << 20
#: So many are told apart.
MOST = 200
#: A value is of the kind that its first byte says.
KINDS = {b"{": "object", b"[": "array", b'"': "string", b"t": "true", b"f": "false", b"n": "null"}
#: What one of them is called, where there are several inside.
INSIDE = {"object": "keys", "array": "items"}

_KEY = re.compile(rb'\s*+("(?:[^"\\]|\\.)*+")\s*+:')


class Member(Struct, frozen=True):
    """A key with its value, or an item: bytes `start` to `end`."""

    name: str  # as it is written; "" for an item
    kind: str
    count: int  # of what is inside
    start: int
    end: int

    def __str__(self) -> str:
        inside = f", {self.count:,} {INSIDE[self.kind]}" if self.kind in INSIDE else ""
        return f"{self.name}: {self.kind}{inside}" if self.name else f"{self.kind}{inside}"


def members(data: bytes) -> tuple[int, list[Member]]:
    """Return how many there are at the top of a value that opens with a bracket, and the first of them."""
    import msgspec

    from spillover.select.json.scan import marks

    try:
        msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return 0, []
    found = marks(data)
    if not found.levels:  # a string or a number
        return 0, []
    places = found.levels[0][: MOST + 1].tolist()

    def member(start: int, end: int) -> Member:
        name, at = b"", start
        if data[places[0] : places[0] + 1] == b"{":
            key = _KEY.match(data, start)
            assert key is not None, "it is valid"
            name, at = key[1], key.end()
        value = data[at:end].strip()
        at = data.index(value, at)
        end = at + len(value)
        kind = KINDS.get(data[at : at + 1], "number")
        return Member(name.decode("utf-8", "replace"), kind, _inside(data, found, at, end), at, end)

    if not data[places[0] + 1 : places[1]].strip():  # nothing inside
        return 0, []
    return len(found.levels[0]) - 1, [member(start + 1, end) for start, end in pairwise(places)]


def _inside(data: bytes, found: Marks, start: int, end: int) -> int:
    """Return how many members a value has itself; 0 for one that is no container."""
    within = found.inside(2, start, end) if data[start : start + 1] in (b"{", b"[") else None
    if within is None or len(within) < 2:
        return 0
    return len(within) - 1 if data[within[0] + 1 : within[1]].strip() else 0
