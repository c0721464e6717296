"""What goes on as JSON, and what is almost JSON: a value with some words above and below it, and a Python repr.

A repr is spelled as JSON of the same length, byte for byte, so that what is chosen there is a choice here.
"""

from __future__ import annotations

import re

#: What the decoder says of JSON that ends too early.
TRUNCATED = "Input data was truncated"
#: A number that is cut off here is malformed to the decoder.
_NUMBER = b"0123456789+-.eE"
#: So many bytes of words may stand above a value, and below it.
WORDS = 2_000

# One token of a repr after the other. No quantifier gives anything back.
_TOKEN = re.compile(
    rb"(?P<string>[bru]?+(?:'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\"))|(?P<word>None|True|False)(?!\w)"
    rb"|(?P<call>[A-Za-z_][\w.]*+\([^()'\"]*+\))|(?P<number>-?\d[\w.+-]*+)|(?P<sign>[\[\]{}(),:])|(?P<blank>\s++)",
    re.DOTALL,
)
_BEGINS = re.compile(
    rb"^[\[{(](?=[ \t\r\n]*+(?:[\[{(\"'\]})\d-]|[A-Za-z_][\w.]*+[('\"]|(?:None|True|False)\b))", re.MULTILINE
)
#: What a repr that is cut off may end with: a part of a text, of a word or of a call.
_CUT_OFF = re.compile(rb"[bru]?+['\"][^\n]*+|[A-Za-z_][\w.]*+(?:\([^()'\"\n]*+)?+")
_WORDS = {b"None": b"null", b"True": b"true", b"False": b"false"}
#: Behind a backslash, what JSON knows too; anything else is spelled as a backslash.
_SAME = frozenset(b'"\\/bfnrt')


def goes_on(data: bytes, *, whole: bool) -> bool:
    """Return whether this is JSON as far as it goes; the last token may be cut off, and it closes only when it is whole."""
    if data.lstrip(b" \t\r\n")[:1] not in (b"[", b"{"):
        return False
    import msgspec

    try:
        msgspec.json.decode(data if whole else data.rstrip(_NUMBER), type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return not whole and str(error) == TRUNCATED
    except RecursionError:
        return False
    return whole


def spell(data: bytes, *, whole: bool = True) -> bytes | None:
    """Return a Python literal as JSON of the same length; None where it is none, or holds what JSON cannot.

    Unless it is `whole`, a text may be cut off at its end, and is left out.
    """
    out: list[bytes] = []
    at, last = 0, b""
    while at < len(data):
        match = _TOKEN.match(data, at)
        if match is None:
            if not whole and _CUT_OFF.fullmatch(data, at):
                break
            return None
        kind, token = match.lastgroup, match[0]
        at = match.end()
        if kind == "string":
            token = _spell_string(token)
        elif kind == "word":
            token = _WORDS[token]
        elif kind in ("call", "number"):  # a date, a Decimal, 1e5: as many digits
            token = b"1" * len(token)
        elif token == b"(":
            token = b"["
        elif token == b")":
            if last == b",":  # (1,)
                out[_last_comma(out)] = b" "
            token = b"]"
        out.append(token)
        last = last if kind == "blank" else token
    return b"".join(out)


def _last_comma(out: list[bytes]) -> int:
    return next(number for number in range(len(out) - 1, -1, -1) if out[number] == b",")


def _spell_string(token: bytes) -> bytes:
    """Return a string between double quotes, with escapes that JSON knows, in as many bytes."""
    opens = 0 if token[:1] in (b"'", b'"') else 1
    inner = token[opens + 1 : -1]
    if token[opens : opens + 1] == b"'":
        inner = inner.replace(b'"', b"'")
    if b"\\" in inner:
        inner = re.sub(rb"\\(.)", lambda match: match[0] if match[1][0] in _SAME else rb"\\", inner, flags=re.DOTALL)
    return b" " * opens + b'"' + inner + b'"'


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
    some = head[start:end]
    return goes_on(some, whole=whole) or goes_on(spell(some, whole=whole) or b"", whole=whole)
