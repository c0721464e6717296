"""Secrets in what tools print: found by their formats, and covered by a mark of the same length.

    token: ghp_0123456789abcdefghij0123456789abcdef  →  token: [redacted: github token················]

A mark has as many bytes as the secret, and keeps its line ends. So every size, line number, range and offset stays what it
was, and any part of an output can be covered by itself: whoever reads it byte by byte sees the same. What is looked at is
one pass of Hyperscan over the formats; `re` then finds the exact ends, in a window of bounded size.
"""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.secrets.formats import BESIDE_NAMES, FORMATS, KEY_BEGINS, KEY_ENDS, KEY_WORDS
from spillover.select.engine import Engine
from spillover.view.clean import find_unseen, leave_out_unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from spillover.intake.blob import Blob

#: How far a secret may reach to either side of the place where it is known to be one; a longer one is covered in part.
REACH = 8_192
#: The longest private key that is covered.
LONGEST_KEY = 16_384
#: Bytes that are looked at around what is wanted.
MARGIN = LONGEST_KEY + REACH
_FILL = b"*"
#: What is looked at in one go fits the processor's cache.
PIECE = 1 << 18

_ROWS = (
    *((kind, pattern) for _, kind, pattern, _ in FORMATS),
    *((kind, pattern.replace(r"\b", "", 1)) for kind, pattern, _ in BESIDE_NAMES),
)
_KEY = len(_ROWS)
_HINTS = [row[3] for row in FORMATS] + [row[2] for row in BESIDE_NAMES]
_engine = Engine([hint.replace(r"\b", "").encode() for hint in _HINTS] + [KEY_BEGINS.encode()])
_made: dict[int, Any] = {}


class Secret(Struct, frozen=True, order=True):
    """Where a secret stands, and what it is."""

    start: int
    end: int
    kind: str


def find(data: bytes | bytearray) -> list[Secret]:
    """Return the secrets in these bytes, in order; none overlaps another."""
    text = bytes(data)
    seen = leave_out_unseen(text)
    return _apart(_find(text) + (_put_back(_find(seen), text) if seen is not text else []))


def _put_back(found: list[Secret], text: bytes) -> list[Secret]:
    """Return where secrets stand in a text, by where they stand in what is seen of it: the codes of colors may be inside of one."""
    if not found:
        return []
    from bisect import bisect_right  # few outputs have one in color

    places, left_out = [], [0]  # where something is left out of what is seen, and how much up to there
    for start, end in find_unseen(text):
        places.append(start - left_out[-1])
        left_out.append(left_out[-1] + end - start)

    def back(at: int) -> int:
        return at + left_out[bisect_right(places, at)]

    return [Secret(back(one.start), back(one.end - 1) + 1, one.kind) for one in found if one.end > one.start]


def _find(text: bytes) -> list[Secret]:
    hits: list[tuple[int, int]] = []
    _engine.scan(text, lambda number, _start, end, _flags, _context: hits.append((number, end)))
    if not hits:
        return []
    found: list[Secret] = []
    searched: dict[int, int] = {}  # by row: so far it has been looked at
    for number, end in hits:
        if number == _KEY:
            found.append(_find_key(text, end))
            continue
        since = max(searched.get(number, 0), end - REACH, text.rfind(b"\n", max(0, end - REACH), max(0, end - 1)) + 1)
        if since >= end:
            continue
        upto = min(len(text), end + REACH)
        newline = text.find(b"\n", end, upto)
        upto = newline if newline >= 0 else upto
        searched[number] = upto
        found += _in_window(number, text, since, upto)
    return found


def _in_window(number: int, text: bytes, since: int, upto: int) -> list[Secret]:
    kind = _ROWS[number][0]
    found = []
    for match in _pattern(number).finditer(text, since, upto):
        start, end = match.span(2)
        value = text[start:end]
        if value[:1] == b"\\":
            start += 1
        if text[start : start + 1] in (b'"', b"'"):
            start += 1
        value = text[start:end].rstrip(b".,:!?)]}>")
        called = number >= len(FORMATS) and text[end : end + 1] == b"("  # beside a name, and code: key = make_key()
        if not called and _is_secret(value, match.group(1), number, kind):
            found.append(Secret(start, start + len(value), kind or _named(match.group(1))))
    return found


def _pattern(number: int) -> Any:
    if number not in _made:
        from spillover.base.linear import compile_own  # a window is short

        _made[number] = compile_own(_ROWS[number][1])
    return _made[number]


def _find_key(text: bytes, begun: int) -> Secret:
    """Return a block from behind its first words to before its last; all that follows, where it does not end in time."""
    end = text.find(KEY_ENDS, begun, begun + LONGEST_KEY)
    return Secret(begun, min(len(text), begun + LONGEST_KEY) if end < 0 else end, "private key")


def _apart(found: list[Secret]) -> list[Secret]:
    """Return them in order, with what overlaps as one."""
    apart: list[Secret] = []
    for one in sorted(found):
        if one.end <= one.start:
            continue
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            apart.append(one)
    return apart


#: Words that stand where a secret would, in documentation and in code.
_NOTHING = re.compile(
    rb"(?i)(?:x+|\*+|\.+|-+|_+|#+|null|none|nil|true|false|undefined|string|secret|token|password|passwd|changeme|example|redacted"
    rb"|your[-_].*|my[-_].*|<.*|\$.*|%.*|\{.*|@.*|.*example.*|.*placeholder.*|.*dummy.*)",
    re.ASCII,
)
_COMMON = 3  # of bytes that are alike, so many kinds at least


def _is_secret(value: bytes, before: bytes, number: int, kind: str) -> bool:
    """Return whether a value can be one: not a word, a placeholder, a path or a piece of code."""
    if len(value) > REACH or len(set(value)) <= _COMMON or _NOTHING.fullmatch(value[:64]):
        return False
    digits = sum(byte in b"0123456789" for byte in value)
    if number < len(FORMATS):
        return kind != "api key" or digits > 1
    if kind in ("password", "authorization", "bearer token", "key", "aws secret"):
        return kind in ("authorization", "key") or digits > 0 or any(byte in b"!#$%^&*+=~" for byte in value)
    letters = sum(chr(byte).isalpha() for byte in value)
    if not digits or not letters or any(byte in b"()<>{}[]$" for byte in value):
        return False
    if value[:1] in (b"/", b".", b"~", b"-") or b"://" in value or (value[-1:] in (b":", b"=") and len(value) < 16):
        return False
    name = before.lower()
    if b"pass" in name or b"pwd" in name:
        return digits < len(value) and len(value) >= 6
    # What stands beside "key" or "token" in a log is mostly a name, a number or a date.
    return len(value) >= 16 and digits >= 2 and letters >= 4 and not _is_words(value)


def _is_words(value: bytes) -> bool:
    """Return whether a value reads as words and numbers: identifiers, dates, versions, paths."""
    parts = [part for part in re.split(rb"[-_./:@+=]", value) if part]
    return all(
        part.isdigit() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle())) for part in parts
    )


def _named(before: bytes) -> str:
    small = before.lower()
    at = {word: small.rfind(word.encode()) for word in ("pass", "token", "secret", "key", "credential", "pwd")}
    word = max(at, key=lambda each: at[each])
    return "password" if word in ("pass", "pwd") else word


def mark(secret: bytes, kind: str) -> bytes:
    """Return what stands in the place of a secret: as long as it is, with its line ends where they were."""
    words = b"[redacted: %s]" % kind.encode()
    if len(secret) < len(words):
        words = b"[redacted]" if len(secret) >= 10 else b""
    if b"\n" in secret or b"\r" in secret:
        lines = re.split(rb"(\r?\n|\r)", secret)
        return b"".join(_FILL * len(part) if number % 2 == 0 else part for number, part in enumerate(lines))
    return words[:-1] + _FILL * (len(secret) - len(words)) + words[-1:] if words else _FILL * len(secret)


def cover(data: bytes, since: int = 0, upto: int | None = None) -> tuple[bytes, int]:
    """Return these bytes from `since` to `upto` with marks in the place of secrets, and how many secrets begin there."""
    upto = len(data) if upto is None else upto
    found = [one for one in find(data) if one.end > since and one.start < upto]
    if not found:
        return data[since:upto] if (since, upto) != (0, len(data)) else data, 0
    out = bytearray(data)
    for one in found:
        out[one.start : one.end] = mark(bytes(data[one.start : one.end]), one.kind)
    return bytes(out[since:upto]), sum(one.start >= since for one in found)


class Covered(Struct, frozen=True):
    """Bytes open for random access, without the secrets in them; every range is the same, whoever asks for it and how."""

    blob: Blob

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def newlines(self) -> int | None:
        """What the blob knows of itself; a mark keeps every line end."""
        return getattr(self.blob, "newlines", None)

    @property
    def gap(self) -> tuple[int, int]:
        """What is not here, as in `intake.blob.Ends`."""
        return getattr(self.blob, "gap", (0, 0))

    def read(self, start: int, end: int) -> bytes:
        start, end, least, most = max(0, start), min(end, self.size), 0, self.size
        opens, closes = self.gap
        if opens < closes and start < opens:
            end, most = min(end, opens), opens
        elif opens < closes:
            start, least = max(start, closes), closes
        if start >= end:
            return b""
        first = max(least, start - MARGIN)
        data = self.blob.read(first, min(end + MARGIN, most))
        return cover(data, start - first, min(end - first, len(data)))[0]

    def close(self) -> None:
        self.blob.close()


class Stream:
    """Covers secrets in bytes that come in pieces: a line is held back until it is complete, or very long."""

    def __init__(self) -> None:
        self.before = b""  # covered already; only looked at
        self.held = bytearray()
        self.count = 0

    @property
    def is_clean(self) -> bool:
        """Whether what comes next is looked at by itself."""
        return not self.held and not self.before

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Return what is certain by now."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes | bytearray | memoryview) -> Iterator[bytes]:
        """Yield the same, piece by piece: a large buffer is not copied as a whole."""
        view = memoryview(data).cast("B")
        for at in range(0, len(view), PIECE):
            seen = len(self.held)
            self.held += view[at : at + PIECE]
            # No secret reaches over a line end but a private key, and of that the start is looked at again.
            certain = max(self.held.rfind(b"\n", seen) + 1, len(self.held) - MARGIN)
            if certain >= MARGIN or self.held[certain - 1 : certain] == b"\n":  # each look costs all of what is held
                yield self._take(certain)

    def finish(self) -> bytes:
        """Return the rest."""
        return self._take(len(self.held))

    def _take(self, count: int) -> bytes:
        if not count:
            return b""
        since = len(self.before)
        raw = self.before + bytes(self.held)
        out, found = cover(raw, since, since + count)
        self.count += found
        self.before = open_end(raw, since + count)
        del self.held[:count]
        return out


def open_end(raw: bytes, upto: int) -> bytes:
    """Return what has to be looked at again before that which follows: nothing at a line end, unless a private key may be open there."""
    first = max(0, upto - MARGIN)
    if raw[upto - 1 : upto] == b"\n" and raw.find(KEY_WORDS, first, upto) < 0:
        return b""
    return raw[first:upto]
