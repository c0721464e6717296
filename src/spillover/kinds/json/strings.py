"""Where the text of a JSON string may be cut: not in a character, an escape, or a pair of escapes that is one character."""

from __future__ import annotations

import re

# Both are matched at one place, and no quantifier gives anything back.
_HALF = re.compile(rb"\\u[dD][89abAB]..\Z", re.DOTALL)
_OTHER_HALF = re.compile(rb"\\u[dD][c-fC-F]")
_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


def safe_cut(data: bytes, start: int, at: int) -> int:
    """Return the last place up to `at`, in a string whose text begins at `start`, where nothing is cut in two."""
    while at > start and 0x80 <= data[at] < 0xC0:
        at -= 1
    for back in range(1, 6):  # an escape has at most six bytes
        here = at - back
        if here >= start and data[here] == 0x5C and _escapes(data, start, here):
            size = 6 if data[here + 1] == 0x75 else 2
            at = here if back < size else at
            break
    half = at - 6
    if half >= start and _HALF.match(data, half, at) and _escapes(data, start, half) and _OTHER_HALF.match(data, at):
        return half
    return at


def _escapes(data: bytes, start: int, at: int) -> bool:
    """Return whether the backslash here begins an escape: an even number of them stand before it."""
    before = data[max(start, at - 64) : at]
    if before.count(b"\\") == 64:
        before = data[start:at]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0


def start_of(data: bytes, inside: int) -> int:
    """Return where the text of the string begins that holds the byte at `inside`, or the byte before it."""
    at = inside
    while True:
        at = data.rfind(b'"', 0, at)
        if at < 0 or _escapes(data, 0, at):
            return at + 1


def end_of(data: bytes, inside: int) -> int:
    """Return where the text of the string ends that goes on at `inside`, which stands in no escape."""
    match = _REST.match(data, inside)
    return match.end() if match else inside
