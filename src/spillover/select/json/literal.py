"""A Python repr spelled as JSON: `[{'id': 1, 'name': None}, …]`, as database servers answer.

What Python wrote is spelled as JSON of the same length, byte for byte, so that what is chosen there is a choice here.
"""

from __future__ import annotations

import re

from spillover.base import patterns
from spillover.base.data import replace
from spillover.intake.blob import Held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.select.span import Fill, Span
    from spillover.select.wanted import Wanted
    from spillover.view.document import Document

#: Above this size, a repr keeps the head and tail of its strings.
CAP = 16 << 20
#: A repr is one line, or hardly more.
LINES = 3
# One token after the other. No quantifier gives anything back.
_TOKEN = patterns.compile(
    rb"(?P<string>[bru]?+(?:'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\"))|(?P<word>None|True|False)(?!\w)"
    rb"|(?P<call>[A-Za-z_][\w.]*+\([^()'\"]*+\))|(?P<number>-?\d[\w.+-]*+)|(?P<sign>[\[\]{}(),:])|(?P<blank>\s++)",
    re.DOTALL,
)
_WORDS = {b"None": b"null", b"True": b"true", b"False": b"false"}
#: Behind a backslash, what JSON knows too; anything else is spelled as a backslash.
_SAME = frozenset(b'"\\/bfnrt')


def select(document: Document, fill: Fill, wanted: Wanted) -> tuple[Document, list[Span]] | None:
    """Return what is shown of a repr with tuples of one, bytes or calls in it, and the document it was chosen in."""
    if document.lines > LINES or len(document.sections) > 1 or document.gap[0] != document.gap[1]:
        return None
    head = document.blob.read(0, 4_096).lstrip()
    if head[:1] not in (b"[", b"{", b"(") or (b"'" not in head and b"(" not in head):
        return None
    other = respell(document)
    if other is None:
        return None
    from spillover.select.json.value import select as select_value  # most outputs are none

    spans = select_value(other, fill, wanted)
    return None if spans is None else (other, spans)


def respell(document: Document) -> Document | None:
    """Return an output that is a repr as JSON of the same length, so that places in one are places in the other."""
    if document.size > CAP or document.gap[0] != document.gap[1]:
        return None
    data = document.blob.read(0, document.size)
    document.work.spend(10 * len(data))
    spelled = spell(data)
    return None if spelled is None else replace(document, blob=Held(spelled))


def spell(data: bytes) -> bytes | None:
    """Return a Python literal as JSON of the same length; None where it is none, or holds what JSON cannot."""
    out: list[bytes] = []
    at, last = 0, b""
    while at < len(data):
        match = _TOKEN.match(data, at)
        if match is None:
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
