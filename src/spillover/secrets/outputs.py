"""Secrets in the outputs of tools: found by their formats, and covered by marks of the same length.

    token: ghp_0123456789abcdefghij0123456789abcdef  →  token: [redacted: github token················]

A mark has as many bytes as the secret, and keeps its line ends. So sizes, line numbers, ranges and offsets stay the
same, and a part of an output that is covered by itself equals the same part of the whole.

A text is searched raw, and as somebody may read it later: without escape codes and invisible characters, and with
the escapes of JSON (nested, too), Python, HTML and URLs decoded. An ambiguous escape is decoded: that can only add to
the secrets. Each search is one pass of Hyperscan over the hints; where one is found, `re` finds the exact end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from spillover.document.clean import find_unseen, has_invisible
from spillover.patterns import PatternSet, compile_own
from spillover.secrets import (
    BESIDE_NAMES,
    BLOCK_BEGINS,
    FORMATS,
    KEY_BEGINS,
    KEY_ENDS,
    cut_at_bracket,
    is_code,
    is_plausible,
    is_variable,
    is_words,
    name_kind,
)
from spillover.source.blob import Blob, find_gap

#: Bytes of a secret behind its hint; more take longer to search. A longer secret is covered in part.
MAX_SECRET_BYTES = 8_192
#: Bytes of a private key; more take longer to search. A longer key is covered in part.
MAX_KEY_BYTES = 16_384
#: Bytes searched on each side of a range: the longest secret, and room for escapes inside of it.
MARGIN_BYTES = MAX_KEY_BYTES + MAX_SECRET_BYTES
#: Bytes at the start of a value that decide whether it is a secret; more take longer.
JUDGED_BYTES = 1_024
#: Bytes that CoveredBlob covers at once, at least; more take more time for a single line, and less for the next.
WINDOW_BYTES = 1 << 16
#: Bytes that CoveredStreams releases at once. With more, fewer bytes are searched twice; more take more memory.
PIECE_BYTES = 1 << 18
#: Bytes of several streams that are delayed; more take more memory. Parts of a secret farther apart are not covered
#: together.
DELAY_BYTES = 1 << 18
#: Levels of nested escapes that are decoded: `%25u0022`, `&amp;quot;`; more take longer. Backslashes in a row are one.
MAX_LEVELS = 3

#: What a mark says of a part that is covered because it is cut, and may be the rest of a secret.
CUT = "cut off"

_FORMATS = (*FORMATS, *BESIDE_NAMES)
#: (kind, pattern) of each format; the tests prove that these are linear.
_ROWS = tuple((row.kind, row.pattern) for row in _FORMATS)
_KEY = len(_ROWS)
_HINTS = PatternSet([*(row.hint_pattern.encode() for row in _FORMATS), KEY_BEGINS.encode()], starts=True)


class Secret(Struct, frozen=True, order=True):
    """The place and the kind of a secret."""

    start: int
    end: int
    kind: str


def find(data: bytes | bytearray) -> list[Secret]:
    """Return the secrets in a text, in order and without overlaps."""
    text = bytes(data)
    secrets = _search(text)
    for reading in _read(text):
        for secret in _search(reading.text):
            if secret.start < secret.end:
                secrets.append(Secret(*reading.span(secret.start, secret.end), secret.kind))
    return _merge(secrets)


def _search(text: bytes) -> list[Secret]:
    hits: list[tuple[int, int, int]] = []
    _HINTS.scan(text, lambda number, start, end, _flags, _context: hits.append((number, start, end)))
    secrets: list[Secret] = []
    searched: dict[int, int] = {}  # by row: the end of its last match, which holds no other secret of this row
    for number, start, end in hits:
        if number == _KEY:
            secrets.append(_find_key(text, end))
        elif end > searched.get(number, 0):
            newline = text.find(b"\n", end, end + MAX_SECRET_BYTES)
            last = newline if newline >= 0 else min(len(text), end + MAX_SECRET_BYTES)
            beside_name = number >= len(FORMATS)
            secret = None
            matched = 0
            # Most values beside a name are no secrets: a long one is matched to its end only if it begins like one.
            for limit in (min(last, end + JUDGED_BYTES), last) if beside_name else (last,):
                match = compile_own(_ROWS[number][1]).match(text, start, limit)
                secret, matched = (_judge(number, text, match), match.end(2)) if match else (None, 0)
                if secret is None or matched < limit:
                    break
            if secret is not None:
                secrets.append(secret)
            if secret is not None or not beside_name:
                searched[number] = max(matched, searched.get(number, 0))
    return secrets


def _judge(number: int, text: bytes, match: re.Match[bytes]) -> Secret | None:
    """Return the secret in a match; None if it is a word, a placeholder, a path or code."""
    kind = _ROWS[number][0]
    start, end = match.span(2)
    if number < len(FORMATS):
        value = text[start:end].rstrip(b".,:!?)]}>")
        plausible = is_plausible(kind, value) and not _is_placeholder(value)
        return Secret(start, start + len(value), kind) if plausible else None
    name = kind or name_kind(match.group(1))
    in_quotes = text[start : start + 1] in (b'"', b"'")
    start += in_quotes
    value = text[start:end]
    if not kind and not compile_own(_UNLIKE_WORDS).search(value, 0, JUDGED_BYTES):
        return None
    if not in_quotes and not kind:
        value = cut_at_bracket(value)[0]
        bracket = None if name == "password" else compile_own(_BRACKET).search(value)
        value = value[: bracket.start()] if bracket else value
        after = text[start + len(value) : start + len(value) + 1]
        if after == b"(" or is_code(value, after):  # key = make_key()
            return None
    value = value if in_quotes else value.rstrip(b".,:!?")
    return Secret(start, start + len(value), name) if _is_secret(value, kind, name) else None


def _find_key(text: bytes, start: int) -> Secret:
    """Return the content of a key block, up to MAX_KEY_BYTES if the block does not end before."""
    end = text.find(KEY_ENDS, start, start + MAX_KEY_BYTES)
    end = min(len(text), start + MAX_KEY_BYTES) if end < 0 else end
    is_covered = not text[start:end].strip(b"*\\nr \r\n")
    return Secret(start, start if is_covered else end, "private key")


def _merge(secrets: list[Secret]) -> list[Secret]:
    """Sort secrets, and join overlapping ones."""
    merged: list[Secret] = []
    for secret in sorted(secrets):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Secret(last.start, max(last.end, secret.end), last.kind)
        elif secret.start < secret.end:
            merged.append(secret)
    return merged


#: Placeholders in documentation and in code, and our own marks.
_PLACEHOLDER = (
    r"(?i)(?:x+|\*+|\.+|-+|_+|#+|null|none|nil|true|false|undefined|string|secret|token|password|passwd|changeme|example"
    r"|redacted|\[redacted\**\]?|your[-_].*|my[-_][a-z_-]*|<.*|\$[{(].*|%[sdr]?|%\(.*|%[a-z_]+%|\{.*|@.*"
    r"|.*example.*|.*placeholder.*|.*dummy.*)"
)
_MAX_COMMON_BYTES = 3  # a value of no more different bytes is no secret
_DIGITS = b"0123456789"
_LETTERS = bytes({*range(65, 91), *range(97, 123)})
_SYMBOLS = b"!#$^~"
_UNLIKE_WORDS = "[0-9!#$^~]"
_BRACKET = r"[()<>{}\[\]]"


def _is_placeholder(value: bytes) -> bool:
    if len(set(value[:JUDGED_BYTES])) <= _MAX_COMMON_BYTES:
        return True
    return compile_own(_PLACEHOLDER).fullmatch(value[:64]) is not None


def _is_secret(value: bytes, kind: str, name: str) -> bool:
    """Return whether a value beside a name may be a secret."""
    value = value[:JUDGED_BYTES]
    if _is_placeholder(value) or (value[:1] == b"$" and is_variable(value[1:].decode("latin-1"))):
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
    # A value beside "key" or "token" in a log is mostly a name, a number or a date.
    return len(value) >= 16 and digits >= 2 and letters >= 4 and b"$" not in value and not is_words(value)


def mark(secret: bytes, kind: str) -> bytes:
    """Return a mark as long as a secret, with the same line ends."""
    words = b"[redacted: %s]" % kind.encode()
    if len(secret) < len(words):
        words = b"[redacted]" if len(secret) >= 10 else b""
    if b"\n" in secret or b"\r" in secret:
        lines = compile_own("(\r?\n|\r)").split(secret)
        return b"".join(b"*" * len(part) if number % 2 == 0 else part for number, part in enumerate(lines))
    return words[:-1] + b"*" * (len(secret) - len(words)) + words[-1:] if words else b"*" * len(secret)


def find_cut(data: bytes, *, at_start: bool, at_end: bool) -> list[Secret]:
    """Return the incomplete lines at the ends where an output is cut, and the rest of a key: they cannot be judged."""
    parts: list[Secret] = []
    if at_start:
        newline = data.find(b"\n", 0, MAX_SECRET_BYTES)
        end = newline if newline >= 0 else min(len(data), MAX_SECRET_BYTES)
        key_end = data.find(KEY_ENDS, 0, MAX_KEY_BYTES)
        if key_end >= 0 and data.find(BLOCK_BEGINS, 0, key_end) < 0:
            end = max(end, key_end)
        parts.append(Secret(0, end, CUT))
    if at_end:
        start = max(0, len(data) - MAX_SECRET_BYTES)
        parts.append(Secret(max(start, data.rfind(b"\n") + 1), len(data), CUT))
    return parts


def cover(
    data: bytes, since: int = 0, upto: int | None = None, *, unjudged: Sequence[Secret] = ()
) -> tuple[bytes, int]:
    """Return the bytes from `since` to `upto` with marks for secrets, and the number of secrets that begin there.

    `unjudged`: parts that are covered whatever is in them.
    """
    upto = len(data) if upto is None else upto
    secrets = _merge([*find(data), *unjudged]) if unjudged else find(data)
    secrets = [secret for secret in secrets if secret.end > since and secret.start < upto]
    if not secrets:
        return data[since:upto] if (since, upto) != (0, len(data)) else data, 0
    out = bytearray(data)
    for secret in secrets:
        out[secret.start : secret.end] = mark(data[secret.start : secret.end], secret.kind)
    return bytes(out[since:upto]), sum(secret.start >= since for secret in secrets)


class CoveredBlob(Struct, frozen=True, eq=False):
    """A blob with its secrets covered. Every range equals the same part of the whole."""

    blob: Blob
    is_cut: bool = False  # more came than the blob has: its last line may end inside a secret
    windows: list[tuple[int, bytes]] = []  # (start, covered bytes) of the last reads: the next line is mostly in them

    @property
    def size(self) -> int:
        return self.blob.size

    @property
    def newlines(self) -> int | None:
        """The line ends of the blob, if it knows them: a mark keeps every one."""
        return getattr(self.blob, "newlines", None)

    @property
    def gap(self) -> tuple[int, int]:
        """The range that is missing, as in `BothEnds`."""
        return find_gap(self.blob)

    def read(self, start: int, end: int) -> bytes:
        start = max(0, start)
        end = min(end, self.size)
        low = 0
        high = self.size
        opens, closes = self.gap
        is_cut = self.is_cut
        if opens < closes and start < opens:
            end = min(end, opens)
            high = opens
            is_cut = True
        elif opens < closes:
            start = max(start, closes)
            low = closes
        if start >= end:
            return b""
        for at, window in self.windows:
            if at <= start and end <= at + len(window):
                return window[start - at : end - at]
        since = start
        upto = end
        if end - start < WINDOW_BYTES:
            since = max(low, start - start % WINDOW_BYTES)
            upto = min(start + 2 * WINDOW_BYTES, high)
        first = max(low, since - MARGIN_BYTES)
        last = min(upto + MARGIN_BYTES, high)
        data = self.blob.read(first, last)
        # A margin is wider than what cannot be judged, so either all of it is in these bytes, or none is requested.
        unjudged = find_cut(data, at_start=0 < low == first, at_end=is_cut and last == high)
        window = cover(data, since - first, min(upto - first, len(data)), unjudged=unjudged)[0]
        if upto - since <= 3 * WINDOW_BYTES:
            self.windows[:] = [(since, window), *self.windows[:1]]
        return window[start - since : end - since]

    def close(self) -> None:
        self.blob.close()


class CoveredStreams:
    """Cover secrets in pieces of several streams: in each stream by itself, and in the order of arrival.

    Bytes leave in that order and with a delay, so that the parts of a secret are searched together. The result depends
    on the bytes, never on the pieces in which they arrive.
    """

    def __init__(self) -> None:
        self.count = 0  # secrets covered so far
        self._delayed = bytearray()
        self._runs: deque[tuple[str, int]] = deque()  # (stream, bytes) of the delayed bytes, in order
        self._before = b""  # bytes that have left, as context
        self._stream_before: dict[str, bytes] = {}  # the same of each stream

    @property
    def waiting(self) -> int:
        """The number of delayed bytes."""
        return len(self._delayed)

    def pieces(self, data: bytes | bytearray | memoryview, stream: str) -> Iterator[tuple[str, bytes]]:
        """Take the next bytes of a stream; yield the bytes that may leave now, as (stream, bytes)."""
        view = memoryview(data).cast("B")
        self._stream_before.setdefault(stream, b"")
        full = PIECE_BYTES + (MARGIN_BYTES if len(self._stream_before) == 1 else DELAY_BYTES)
        while view:
            piece = bytes(view[: full - len(self._delayed)])
            view = view[len(piece) :]
            self._delayed += piece
            size = self._runs.pop()[1] if self._runs and self._runs[-1][0] == stream else 0
            self._runs.append((stream, size + len(piece)))
            if len(self._delayed) == full:
                yield from self._leave(PIECE_BYTES)

    def finish(self) -> Iterator[tuple[str, bytes]]:
        """Yield the delayed bytes: the output has ended."""
        yield from self._leave(len(self._delayed))

    def _leave(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Cover the first delayed bytes, and yield them."""
        raw = self._before + bytes(self._delayed)
        first = len(self._before)
        last = len(self._before) + count
        out = bytearray(raw)
        is_alone = len(self._stream_before) == 1
        for stream in () if is_alone else self._stream_before:
            self._cover_stream(stream, out, first, count)
        for secret in find(raw):
            if secret.end > first and secret.start < last:
                unchanged = out[secret.start : secret.end] == raw[secret.start : secret.end]
                self.count += secret.start >= first and unchanged
                out[secret.start : secret.end] = mark(raw[secret.start : secret.end], secret.kind)
        self._before = raw[max(0, last - MARGIN_BYTES) : last]
        if is_alone:
            self._stream_before = dict.fromkeys(self._stream_before, self._before)
        del self._delayed[:count]
        at = first
        while at < last:
            stream, size = self._runs.popleft()
            end = min(at + size, last)
            if at + size > last:
                self._runs.appendleft((stream, at + size - last))
            yield stream, bytes(out[at:end])
            at = end

    def _cover_stream(self, stream: str, out: bytearray, first: int, count: int) -> None:
        """Cover the secrets of one stream in the first `count` delayed bytes, which begin at `first` in `out`."""
        before = self._stream_before[stream]
        text = bytearray(before)
        leaving: list[tuple[int, int]] = []  # ranges of its bytes that leave now
        at = 0
        for owner, size in self._runs:
            if owner == stream:
                text += self._delayed[at : at + size]
                if at < count:
                    leaving.append((at, min(at + size, count)))
            at += size
        last = len(before) + sum(end - start for start, end in leaving)
        part, secrets = cover(bytes(text), len(before), last)
        self.count += secrets
        self._stream_before[stream] = bytes(text[max(0, last - MARGIN_BYTES) : last])
        at = 0
        for start, end in leaving:
            out[first + start : first + end] = part[at : at + end - start]
            at += end - start


_NAMED = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"a": b"\a", b"0": b"\0",
    b"e": b"\x1b", b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": b" ", b"equals": b"=",
    b"colon": b":", b"lowbar": b"_", b"hyphen": b"-", b"period": b".",
}  # fmt: skip
#: A run of backslashes matches as a whole: the pattern never backtracks.
_ESCAPE = (
    r"""\\++(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|(["'/ntrbfva0e_`$&=?#:.@-]))"""
    r"|\\\\++|%u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})"
    r"|&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(quot|apos|amp|lt|gt|nbsp|equals|colon|lowbar|hyphen|period));"
)
#: Invisible characters: zero-width characters and joiners, bidi controls, selectors, tags, soft hyphens.
_INVISIBLE = (
    r"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xef(?:\xbb\xbf|\xb8[\x80-\x8f]|\xbe\xa0|\xbf[\xb0-\xbb])|\xc2[\x80-\x9f\xad]"
    r"|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])|\xe3\x85\xa4|\xf3\xa0[\x80-\x87][\x80-\xbf]|\xf0\x9d\x85[\xb3-\xba]"
)


class _Reading:
    """A text with some parts replaced, and the places in the source where its bytes came from."""

    def __init__(self, source: bytes, edits: Iterable[tuple[int, int, bytes]], parent: _Reading | None) -> None:
        self._parent = parent
        self._starts: list[int] = []  # of each new part
        self._ends: list[int] = []
        self._replaced: list[tuple[int, int]] = []  # what each stands for, in the source
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
            self._replaced.append((start, end))
            at = end
        self.text = b"".join([*pieces, source[at:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the original bytes behind a part of this text; an escape counts as a whole."""
        first = self._source(start)[0]
        last = self._source(end - 1)[1]
        return (first, last) if self._parent is None else self._parent.span(first, last)

    def _source(self, at: int) -> tuple[int, int]:
        nth = bisect_right(self._starts, at) - 1
        if nth < 0:
            return at, at + 1
        start, end = self._replaced[nth]
        if at < self._ends[nth]:
            return start, end
        place = end + at - self._ends[nth]
        return place, place + 1


def _read(text: bytes) -> Iterator[_Reading]:
    """Yield the other readings of a text, cleaned and decoded; most texts have none."""
    parent: _Reading | None = None
    for level in range(MAX_LEVELS + 1):
        source = text if parent is None else parent.text
        yield from _clean(source, parent)
        if level == MAX_LEVELS or not any(sign in source for sign in (b"\\", b"%", b"&")):
            return
        reading = _Reading(source, _decode(source), parent)
        if reading.text == source:
            return
        yield reading
        parent = reading


def _clean(source: bytes, parent: _Reading | None) -> Iterator[_Reading]:
    """Yield a text without codes and invisible characters, and with backspaces in effect."""
    unseen = [*find_unseen(source)]
    if has_invisible(source) or b"\xc2" in source:
        unseen = sorted([*unseen, *(match.span() for match in compile_own(_INVISIBLE).finditer(source))])
    if unseen:
        reading = _Reading(source, ((start, end, b"") for start, end in unseen), parent)
        yield reading
        source = reading.text
        parent = reading
    if b"\b" in source:
        backspaces = [match.start() for match in compile_own("\b").finditer(source)]
        yield _Reading(source, ((at, at + 1, b"") for at in backspaces), parent)
        yield _Reading(source, ((start, end, b"") for start, end in _overwritten(source, backspaces)), parent)


def _overwritten(source: bytes, backspaces: list[int]) -> list[tuple[int, int]]:
    """Return the ranges of backspaces with the characters of their line that they erase."""
    erased: list[tuple[int, int]] = []  # in order, none next to another
    for at in backspaces:
        start = at
        if erased and erased[-1][1] == at:
            start = erased.pop()[0]
        floor = erased[-1][1] if erased else 0
        while start > floor and source[start - 1 : start] != b"\n":
            start -= 1
            if source[start] & 0xC0 != 0x80:  # the first byte of a character
                break
        if erased and erased[-1][1] == start:
            start = erased.pop()[0]
        erased.append((start, at + 1))
    return erased


def _decode(source: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (start, end, decoded bytes) of each escape."""
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
