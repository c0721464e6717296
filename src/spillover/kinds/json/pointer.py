"""JSON pointers (RFC 6901): which one names the value at a place, and where the value is that one names."""

from __future__ import annotations

import re

from spillover.document.document import OBJECT, UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.document.document import Work

#: With more tokens than this before a value, it has no pointer worth finding.
MOST_TOKENS = 300_000
#: A longer pointer is no help to anybody.
MOST_CHARS = 120

# One token after the other: a string, a sign, or a run of anything else but blanks. No quantifier gives anything back.
_TOKEN = re.compile(rb'\s*+("(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)
_BOM = b"\xef\xbb\xbf"


def find_pointer(data: bytes, offset: int, work: Work = UNBOUNDED) -> str | None:
    """Return the pointer of the value that begins at `offset`; None where it is too far in, or too long to be of use."""
    for start, _, path in _walk(data, offset, work):
        if start >= offset:
            pointer = "".join(f"/{part}" for part in path)
            return pointer if start == offset and len(pointer) <= MOST_CHARS and pointer.isprintable() else None
    return None


def find_value(data: bytes, pointer: str) -> tuple[int, int] | None:
    """Return where the value that a pointer names begins and ends; None where there is none."""
    wanted = pointer.split("/")[1:]
    if pointer and not pointer.startswith("/"):
        return None
    opened = -1
    for start, end, path in _walk(data, len(data), UNBOUNDED, limit=None):
        if opened >= 0:
            if end and path == wanted:  # its closing bracket
                return opened, end
        elif path == wanted and start >= 0:
            if data[start] not in b"[{":
                return start, end
            opened = start
    return None


def _walk(data: bytes, upto: int, work: Work, limit: int | None = MOST_TOKENS) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each value with its path: where it begins, where it ends. A container comes twice: `(start, 0)`, `(-1, end)`."""
    path: list[str] = []
    kinds: list[int] = []  # of the containers around: 0x7B or 0x5B
    key = False  # whether the next string is a key
    at = len(_BOM) if data.startswith(_BOM) else 0
    for count in range(1, len(data) + 1):
        match = _TOKEN.match(data, at)
        if match is None:  # the end, or no JSON
            return
        if limit is not None and count > limit:
            return
        if count % 1_000 == 0:
            work.spend(1_000 * OBJECT)
        start, end = match.span(1)
        at = end
        first = data[start]
        if first in b"{[":
            yield start, 0, path
            kinds.append(first)
            path.append("0" if first == 0x5B else "")
            key = first == 0x7B
        elif first in b"}]":
            if not kinds:
                return
            kinds.pop()
            path.pop()
            yield -1, end, path
        elif first == 0x2C:
            if not kinds:
                return
            if kinds[-1] == 0x5B:
                path[-1] = str(int(path[-1]) + 1)
            key = kinds[-1] == 0x7B
        elif first == 0x3A:
            key = False
        elif key:
            path[-1] = _name(data[start + 1 : end - 1])
        else:
            yield start, end, path
        if start > upto:
            return


def _name(raw: bytes) -> str:
    """Return a key as a pointer spells it."""
    if b"\\" in raw:
        import json

        text: str = json.loads(b'"' + raw + b'"')
    else:
        text = raw.decode("utf-8", "replace")
    return text.replace("~", "~0").replace("/", "~1")
