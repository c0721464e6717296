"""The same bytes as somebody may read them later: decoded, and without what nobody sees; each place leads back to where it came from.

Escapes are those of JSON (also nested), Python, HTML and addresses. What is ambiguous is decoded: the bytes as they came
are looked at as well, so a reading can only add to what is found.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain

from spillover.base.linear import compile_own
from spillover.view.clean import find_unseen
from spillover.view.invisible import has_invisible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Edit = tuple[int, int, bytes]

#: Escapes inside of escapes: `%25u0022`, `&amp;quot;`. Any number of backslashes in front of one counts once.
LEVELS = 3
_NAMED = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"a": b"\a", b"0": b"\0", b"e": b"\x1b",
    b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": b" ", b"equals": b"=",
    b"colon": b":", b"lowbar": b"_", b"hyphen": b"-", b"period": b".",
}  # fmt: skip
#: One at a time, each from its first byte: a run of backslashes is taken whole, and never given back.
_ESCAPE = (
    r"""\\++(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|(["'/ntrbfva0e_`$&=?#:.@-]))"""
    r"|\\\\++|%u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})"
    r"|&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(quot|apos|amp|lt|gt|nbsp|equals|colon|lowbar|hyphen|period));"
)
#: What is not seen and no control byte: zero-width characters and joiners, bidi controls, selectors, tags, soft hyphens.
_INVISIBLE = (
    r"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xef(?:\xbb\xbf|\xb8[\x80-\x8f]|\xbe\xa0|\xbf[\xb0-\xbb])|\xc2[\x80-\x9f\xad]"
    r"|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])|\xe3\x85\xa4|\xf3\xa0[\x80-\x87][\x80-\xbf]|\xf0\x9d\x85[\xb3-\xba]"
)


class Reading:
    """A text made of another one, and where its bytes came from."""

    def __init__(self, source: bytes, edits: Iterable[Edit], parent: Reading | None = None) -> None:
        self._parent, self._starts, self._ends, self._behind = parent, [], [], []
        pieces: list[bytes] = []
        at = size = 0
        for start, end, new in edits:
            if start < at:
                continue
            pieces += (source[at:start], new)
            size += start - at
            self._starts.append(size)
            size += len(new)
            self._ends.append(size)
            self._behind.append((start, end))
            at = end
        self.text = b"".join([*pieces, source[at:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of this text stands in the bytes as they came; an escape belongs to it whole."""
        first, last = self._source(start)[0], self._source(end - 1)[1]
        return (first, last) if self._parent is None else self._parent.span(first, last)

    def _source(self, at: int) -> tuple[int, int]:
        nth = bisect_right(self._starts, at) - 1
        if nth < 0:
            return at, at + 1
        start, end = self._behind[nth]
        if at < self._ends[nth]:
            return start, end
        place = end + at - self._ends[nth]
        return place, place + 1


def readings(text: bytes) -> Iterator[Reading]:
    """Yield each other way to read these bytes; nothing for most texts."""
    parent: Reading | None = None
    for level in range(LEVELS + 1):
        source = text if parent is None else parent.text
        yield from _seen(source, parent)
        if level == LEVELS or not any(sign in source for sign in (b"\\", b"%", b"&")):
            return
        reading = Reading(source, _decode(source), parent)
        if reading.text == source:
            return
        yield reading
        parent = reading


def _seen(source: bytes, parent: Reading | None) -> Iterator[Reading]:
    """Yield what is seen of a text: without codes and invisible characters, and with backspaces in effect."""
    unseen: Iterable[tuple[int, int]] = find_unseen(source)
    if has_invisible(source) or b"\xc2" in source:
        unseen = sorted(chain(unseen, (match.span() for match in compile_own(_INVISIBLE).finditer(source))))
    if spans := [*unseen]:
        reading = Reading(source, ((start, end, b"") for start, end in spans), parent)
        yield reading
        source, parent = reading.text, reading
    if b"\b" in source:
        backspaces = [match.start() for match in compile_own("\b").finditer(source)]
        yield Reading(source, ((at, at + 1, b"") for at in backspaces), parent)
        yield Reading(source, ((start, end, b"") for start, end in _overwritten(source, backspaces)), parent)


def _overwritten(source: bytes, backspaces: list[int]) -> Iterator[tuple[int, int]]:
    """Yield what backspaces take away, with them: each the character before it that is still there, in its line."""
    gone: list[tuple[int, int]] = []  # apart, in order
    for at in backspaces:
        start = at
        if gone and gone[-1][1] == at:
            start = gone.pop()[0]
        floor = gone[-1][1] if gone else 0
        while start > floor and source[start - 1 : start] != b"\n":
            start -= 1
            if source[start] & 0xC0 != 0x80:  # the first byte of a character
                break
        if gone and gone[-1][1] == start:
            start = gone.pop()[0]
        gone.append((start, at + 1))
    yield from gone


def _decode(source: bytes) -> Iterator[Edit]:
    for match in compile_own(_ESCAPE).finditer(source):
        short, braced, long, byte, octal, name, wide, percent, hexadecimal, decimal, entity = match.groups()
        if name or entity:
            new = _NAMED.get(name or entity, name)
        elif byte or percent or octal:
            new = bytes((int(octal, 8) if octal else int(byte or percent, 16),))
        elif decimal:
            new = _spell(int(decimal))
        elif digits := short or braced or long or wide or hexadecimal:
            new = _spell(int(digits, 16))
        else:  # several backslashes in front of something else
            new = b"\\"
        yield match.start(), match.end(), new


def _spell(code: int) -> bytes:
    return chr(code).encode("utf-8", "surrogatepass") if code <= 0x10FFFF else b"?"
