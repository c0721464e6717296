"""Secrets in what tools print: found by their formats, and covered by a mark of the same length.

    token: ghp_0123456789abcdefghij0123456789abcdef  →  token: [redacted: github token················]

A mark has as many bytes as the secret, and keeps its line ends. So every size, line number, range and offset stays what it
was, and any part of an output can be covered by itself: whoever reads it byte by byte sees the same.

A text is looked at as it came, and as somebody may read it later: without escape codes and invisible characters, and with
the escapes of JSON, of Python, of HTML and of addresses decoded (`secrets/readings.py`). Each of these is one pass of Hyperscan
over the formats; where one begins, `re` is matched at that place for the exact end.
"""

from __future__ import annotations

from msgspec import Struct

from spillover.base.linear import compile_own
from spillover.secrets.commands import cut_at_bracket, is_code, is_plausible, is_variable, is_words, name_kind
from spillover.secrets.formats import BESIDE_NAMES, FORMATS, KEY_BEGINS, KEY_ENDS, KEY_WORDS
from spillover.secrets.readings import readings
from spillover.select.engine import Engine
from spillover.source.blob import find_gap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from spillover.source.blob import Blob

#: How far a secret may reach behind the place where it is known to be one; a longer one is covered in part.
REACH = 8_192
#: So many bytes of a value say whether it is a secret.
JUDGED = 1_024
#: The longest private key that is covered.
LONGEST_KEY = 16_384
#: Bytes that are looked at around what is wanted: the longest secret, and as much again for escapes inside of it.
MARGIN = LONGEST_KEY + REACH
_FILL = b"*"
#: So much at least is covered at once, for the lines that are read next.
WINDOW = 1 << 16
#: What is looked at in one go fits the processor's cache.
PIECE = 1 << 18

_ROWS = (*((kind, pattern) for _, kind, pattern, _ in FORMATS), *((kind, pattern) for kind, pattern, _ in BESIDE_NAMES))
_KEY = len(_ROWS)
_HINTS = [*(row[3] for row in FORMATS), *(row[2] for row in BESIDE_NAMES), KEY_BEGINS]
_engine = Engine([hint.encode() for hint in _HINTS], starts=True)


class Secret(Struct, frozen=True, order=True):
    """Where a secret stands, and what it is."""

    start: int
    end: int
    kind: str


def find(data: bytes | bytearray) -> list[Secret]:
    """Return the secrets in these bytes, in order; none overlaps another."""
    text = bytes(data)
    found = _find(text)
    for reading in readings(text):
        found += [
            Secret(*reading.span(one.start, one.end), one.kind) for one in _find(reading.text) if one.end > one.start
        ]
    return _merge(found)


def _find(text: bytes) -> list[Secret]:
    hits: list[tuple[int, int, int]] = []
    _engine.scan(text, lambda number, start, end, _flags, _context: hits.append((number, start, end)))
    found: list[Secret] = []
    searched: dict[int, int] = {}  # by row: what is inside of the last secret is no other one
    for number, start, end in hits:
        if number == _KEY:
            found.append(_find_key(text, end))
        elif end > searched.get(number, 0):
            newline = text.find(b"\n", end, end + REACH)
            upto = newline if newline >= 0 else min(len(text), end + REACH)
            # Beside a name may stand anything, and mostly no secret: the whole of a long one is looked at once it is one.
            secret, behind = None, 0
            for most in (upto,) if number < len(FORMATS) else (min(upto, end + JUDGED), upto):
                match = compile_own(_ROWS[number][1]).match(text, start, most)
                secret, behind = (_judge(number, text, match), match.end(2)) if match else (None, 0)
                if secret is None or behind < most:
                    break
            if secret is not None:
                found.append(secret)
            if secret is not None or number < len(FORMATS):
                searched[number] = max(behind, searched.get(number, 0))
    return found


def _judge(number: int, text: bytes, match: Any) -> Secret | None:
    """Return the secret that a row of the table matches; None if it is a word, a placeholder, a path or a piece of code."""
    kind, before = _ROWS[number][0], match.group(1)
    start, end = match.span(2)
    if number < len(FORMATS):
        value = text[start:end].rstrip(b".,:!?)]}>")
        plausible = is_plausible(kind, value) and not _is_nothing(value)
        return Secret(start, start + len(value), kind) if plausible else None
    name = kind or name_kind(before)
    quoted = text[start : start + 1] in (b'"', b"'")
    start += quoted
    value = text[start:end]
    if not kind and not compile_own(_UNLIKE_WORDS).search(value, 0, JUDGED):
        return None
    if not quoted and not kind:
        value = cut_at_bracket(value)[0]
        bracket = None if name == "password" else compile_own(_BRACKET).search(value)
        value = value[: bracket.start()] if bracket else value
        after = text[start + len(value) : start + len(value) + 1]
        if after == b"(" or is_code(value, after):  # key = make_key()
            return None
    value = value if quoted else value.rstrip(b".,:!?")
    return Secret(start, start + len(value), name) if _is_secret(value, kind, name) else None


def _find_key(text: bytes, begun: int) -> Secret:
    """Return a block from behind its first words to before its last; all that follows, where it does not end in time."""
    end = text.find(KEY_ENDS, begun, begun + LONGEST_KEY)
    end = min(len(text), begun + LONGEST_KEY) if end < 0 else end
    is_covered = not text[begun:end].strip(b"*\\nr \r\n")
    return Secret(begun, begun if is_covered else end, "private key")


def _merge(found: list[Secret]) -> list[Secret]:
    """Return them in order, with what overlaps as one."""
    merged: list[Secret] = []
    for one in sorted(found):
        if one.end <= one.start:
            continue
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            merged.append(one)
    return merged


#: Words that stand where a secret would, in documentation and in code.
_NOTHING = (
    r"(?i)(?:x+|\*+|\.+|-+|_+|#+|null|none|nil|true|false|undefined|string|secret|token|password|passwd|changeme|example|redacted|\[redacted\**\]?"
    r"|your[-_].*|my[-_][a-z_-]*|<.*|\$[{(].*|%[sdr]?|%\(.*|%[a-z_]+%|\{.*|@.*|.*example.*|.*placeholder.*|.*dummy.*)"
)
_COMMON = 3  # of bytes that are alike, so many kinds at least
_DIGITS = b"0123456789"
_LETTERS = bytes({*range(65, 91), *range(97, 123)})
_SYMBOLS = b"!#$^~"
_UNLIKE_WORDS = "[0-9!#$^~]"
_BRACKET = r"[()<>{}\[\]]"


def _is_nothing(value: bytes) -> bool:
    return len(set(value[:JUDGED])) <= _COMMON or compile_own(_NOTHING).fullmatch(value[:64]) is not None


def _is_secret(value: bytes, kind: str, name: str) -> bool:
    """Return whether a value beside a name can be one."""
    value = value[:JUDGED]
    if _is_nothing(value) or (value[:1] == b"$" and is_variable(value[1:].decode("latin-1"))):
        return False
    digits = len(value) - len(value.translate(None, _DIGITS))
    letters = len(value) - len(value.translate(None, _LETTERS))
    odd = len(value) > len(value.translate(None, _SYMBOLS))
    if kind:
        return kind in ("authorization", "key") or digits > 0 or odd or any(byte in b"%&*+=" for byte in value)
    if not letters or not (digits or odd) or b"://" in value or (value[-1:] in (b":", b"=") and len(value) < 16):
        return False
    if value[:1] in (b"/", b".", b"~", b"-"):
        return False
    if name == "password":
        return len(value) >= 6
    # What stands beside "key" or "token" in a log is mostly a name, a number or a date.
    return len(value) >= 16 and digits >= 2 and letters >= 4 and b"$" not in value and not is_words(value)


def mark(secret: bytes, kind: str) -> bytes:
    """Return what stands in the place of a secret: as long as it is, with its line ends where they were."""
    words = b"[redacted: %s]" % kind.encode()
    if len(secret) < len(words):
        words = b"[redacted]" if len(secret) >= 10 else b""
    if b"\n" in secret or b"\r" in secret:
        lines = compile_own("(\r?\n|\r)").split(secret)
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


class Covered(Struct, frozen=True, eq=False):
    """Bytes open for random access, without the secrets in them; every range is the same, whoever asks for it and how."""

    blob: Blob
    held: list[tuple[int, bytes]] = []  # what was covered last: where it starts; the next line is mostly in it

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def newlines(self) -> int | None:
        """What the blob knows of itself; a mark keeps every line end."""
        return getattr(self.blob, "newlines", None)

    @property
    def gap(self) -> tuple[int, int]:
        """What is not here, as in `BothEnds`."""
        return find_gap(self.blob)

    def read(self, start: int, end: int) -> bytes:
        start, end, least, most = max(0, start), min(end, self.size), 0, self.size
        opens, closes = self.gap
        if opens < closes and start < opens:
            end, most = min(end, opens), opens
        elif opens < closes:
            start, least = max(start, closes), closes
        if start >= end:
            return b""
        for at, window in self.held:
            if at <= start and end <= at + len(window):
                return window[start - at : end - at]
        since, upto = (
            (start, end) if end - start >= WINDOW else (max(least, start - start % WINDOW), start + 2 * WINDOW)
        )
        upto = min(upto, most)
        first = max(least, since - MARGIN)
        data = self.blob.read(first, min(upto + MARGIN, most))
        window = cover(data, since - first, min(upto - first, len(data)))[0]
        if upto - since <= 3 * WINDOW:
            self.held[:] = [(since, window), *self.held[:1]]
        return window[start - since : end - since]

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
