"""Whether bytes begin as JSON does: the head of an output, which is cut off anywhere, or a small output as a whole."""

from __future__ import annotations

import re

#: A string that is cut off, and longer than this, is none.
LONGEST = 1 << 16
#: Most of what begins like JSON and is none is found out in so many bytes, and nothing is loaded to look further.
FIRST = 1 << 10
#: What the decoder says of JSON that ends too early.
TRUNCATED = "Input data was truncated"

# All of these are linear: a quantifier is possessive, or what follows it is nothing that it matches.
_SPACE = re.compile(rb"[ \t\r\n]*+")
_VALUE = re.compile(
    rb'"(?:[^"\\\x00-\x1f]|\\.)*+"|-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?(?![\w.])|(?:true|false|null)(?!\w)'
)
_KEY = _SPACE.pattern + rb'"(?:[^"\\\x00-\x1f]|\\.)*+"' + _SPACE.pattern + rb":"


def _filled(value: bytes) -> tuple[bytes, bytes]:
    """Return patterns for one entry of an object and one item of an array, with blanks around it."""
    item = _SPACE.pattern + rb"(?:" + value + rb")" + _SPACE.pattern
    return _KEY + item, item


def _around(value: bytes) -> bytes:
    """Return a pattern for a value, or for an object or an array of such values; each says at its first byte which it is."""
    entry, item = _filled(value)
    several = [rb"(?:" + one + rb"(?:," + one + rb")*+|" + _SPACE.pattern + rb")" for one in (entry, item)]
    return value + rb"|\{" + several[0] + rb"\}|\[" + several[1] + rb"\]"


#: One entry of an object, or of an array, and the comma behind it: plain values, and records of those and of small records.
_ENTRY = re.compile(_filled(_around(_around(_VALUE.pattern)))[0] + b",")
_ITEM = re.compile(_filled(_around(_around(_VALUE.pattern)))[1] + b",")


def goes_on(data: bytes, *, whole: bool) -> bool:
    """Return whether this is JSON as far as it goes; the last token may be cut off, and it closes only when it is whole."""
    if (
        len(data) > FIRST
        and data[:1] in (b"[", b"{")
        and _goes_on(data[:FIRST], whole=False)
        and _decodes(data, whole=whole)
    ):
        return True
    return _goes_on(data, whole=whole)


def _decodes(data: bytes, *, whole: bool) -> bool:
    """Return whether a decoder finds nothing wrong with it, in a twentieth of the time; False also where it cannot tell."""
    import msgspec

    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return not whole and str(error) == TRUNCATED
    except RecursionError:
        return False
    return whole


def _goes_on(data: bytes, *, whole: bool) -> bool:
    at, wants = 0, "value"
    depth: list[bytes] = []
    while True:
        # Most of it is entries of plain values and of small records, and each is one step.
        if wants in ("key", "first key"):
            while plain := _ENTRY.match(data, at):
                wants, at = "key", plain.end()
        elif depth and depth[-1] == b"[" and wants in ("value", "first"):
            while plain := _ITEM.match(data, at):
                wants, at = "value", plain.end()
        space = _SPACE.match(data, at)
        at = space.end() if space else at
        if at >= len(data):
            return not depth if whole else bool(depth)
        char = data[at : at + 1]
        if not depth and at:
            return False
        if wants in ("value", "first") and char in b"{[":
            depth.append(char)
            wants = "first key" if char == b"{" else "first"
            at += 1
            continue
        if char in b"}]":
            opens = wants == "comma" or (wants == "first" and char == b"]") or (wants == "first key" and char == b"}")
            if not opens or not depth or depth.pop() != (b"{" if char == b"}" else b"["):
                return False
            wants, at = "comma", at + 1
            continue
        if wants in ("comma", "colon"):
            if char != (b"," if wants == "comma" else b":"):
                return False
            wants = "value" if wants == "colon" or depth[-1] == b"[" else "key"
            at += 1
            continue
        match = _VALUE.match(data, at)
        if match is None:
            cut = data.find(b"\n", at) < 0 and len(data) - at < LONGEST
            return not whole and cut and char in b'"-0123456789tfn'
        if wants in ("key", "first key"):
            if char != b'"':
                return False
            wants = "colon"
        else:
            wants = "comma"
        at = match.end()
