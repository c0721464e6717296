"""What is almost JSON: a value with some words above and below it, and a Python repr.

A repr is read as the JSON that has the same length, byte by byte: quotes, `True`, `None` and parentheses have their like in it.
So what stands where in one stands there in the other, and nothing is parsed twice.
"""

from __future__ import annotations

import re

from spillover.base import patterns

#: So many bytes of words may stand above a value, and below it.
WORDS = 2_000

# A quoted text, and the words of Python; every quantifier is possessive, and what is not closed is not looked for twice:
# a quote that opens nothing ends the search for the one after it.
_TOKEN = patterns.compile(rb"'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|\b(?:True|False|None)\b|[()'\"]", re.DOTALL)
_ESCAPE = patterns.compile(rb"\\(?:x[0-9a-fA-F]|[^x])|\"", re.DOTALL)
_BEGINS = patterns.compile(rb"^[\[{(](?=[ \t\r\n]*+[\[{(\"'\]})\d-])", re.MULTILINE)
_PLAIN = {b"True": b"true", b"False": b"false", b"None": b"null", b"(": b"[", b")": b"]"}
#: What may follow a backslash in JSON, too.
_SAME = frozenset(b'"\\/bfnrt')


def read_repr(data: bytes) -> bytes:
    """Return the JSON of the same length; what is no repr becomes no JSON."""
    return _TOKEN.sub(_translate, data)


def _translate(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if len(text) == 1 and text in b"'\"":
        return b"\x00"  # it opens nothing, and JSON has no such byte
    if text[0] not in b"'\"":
        return _PLAIN[text]
    return b'"' + _ESCAPE.sub(_escape, text[1:-1]) + b'"'


def _escape(match: re.Match[bytes]) -> bytes:
    """Return an escape of JSON that is as long as one of Python; what is only a quote here would end a text there."""
    text = match[0]
    if text == b'"':
        return b"'"
    if text[1] in _SAME:
        return text
    return b"\\\\" + text[2:] if text[1] == 0x78 else b"\\/"


def begin(data: bytes) -> int:
    """Return where a value may begin that stands below a few words; behind all of it, where none does."""
    opens = _BEGINS.search(data, 0, WORDS)
    return len(data) if opens is None else opens.start()


def ends(tail: bytes) -> int:
    """Return where the last value ends that has only a few words behind it; 0 where there is none."""
    return max(tail.rfind(closing, max(0, len(tail) - WORDS)) for closing in (b"]", b"}", b")")) + 1


def find(data: bytes) -> tuple[int, int]:
    """Return from where to where one value may reach in some text; the same twice where it cannot."""
    start, end = begin(data), ends(data)
    return (start, end) if start < end else (0, 0)


def is_almost(head: bytes, tail: bytes, *, whole: bool) -> bool:
    """Return whether an output with this head and this tail is a repr, or one value with a few words around it."""
    start, end = find(head) if whole else (begin(head), len(head))
    if start == end or not (whole or ends(tail)):
        return False
    from spillover.select.json.begin import goes_on  # most outputs do not begin like this

    some = head[start:end]
    return goes_on(some, whole=whole) or goes_on(read_repr(some), whole=whole)
