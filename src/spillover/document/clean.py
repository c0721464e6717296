"""What a person would see: escape codes, control bytes and broken UTF-8 cleaned away, progress bars folded, rows apart.

Everything here works inside one line, so a cut at a line end never changes what the rest looks like. A newline in is a
newline out; only a line that carriage returns divide into rows is shown as several.
"""

from __future__ import annotations

import re

import stringzilla

from spillover.document.invisible import has_invisible, make_visible

#: C0 control bytes and DEL, all but tab and newline.
CONTROLS = bytes([*range(9), *range(11, 32), 127])
_CONTROLS_TEXT = CONTROLS.decode()
#: What is left of them once escape codes, carriage returns and backspaces have had their effect.
_DROPPED = bytes(c for c in CONTROLS if c not in b"\r\b")
#: Stands behind a carriage return where the line was erased as well, until frames.py has looked at it.
_ERASED = b"\x18"
_DROPPED_BUT_THAT = bytes(c for c in _DROPPED if c not in _ERASED)

# CSI … final byte | OSC, DCS, SOS, PM, APC … BEL or ST | two-character codes. None reaches over a line end, and a
# string that is never closed gives up only its opening, so that it cannot swallow the rest of the line.
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])?")
# All that leaves no trace in a text: those, and control bytes.
_UNSEEN = re.compile(_ESCAPE.pattern + rb"|[%s]+" % re.escape(_DROPPED))
# Back to the first column and erase what stands there, or erase the whole line wherever the cursor is.
_ERASE = re.compile(rb"(?:\r|\x1b\[[01]?G)(?:\x1b\[[0-9;]*+m)*+\x1b\[0?K|\x1b\[2K")
_C1_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
_C1 = re.compile("[\x80-\x9f]")
#: Line ends of Unicode that nobody counts as lines; left in, the text would have more lines for some readers.
_SEPARATORS = str.maketrans({"\u2028": " ", "\u2029": " "})


def is_plain(data: bytes | str) -> bool:
    """Return whether bytes, or a text that is ASCII, would be shown as they are (broken UTF-8 aside)."""
    if stringzilla.find_first_of(data, _CONTROLS_TEXT if isinstance(data, str) else CONTROLS) >= 0:
        return False
    if data.isascii():
        return True
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    # A pattern of both would look at every byte in turn, thirty times slower than looking for one thing after another.
    if any(stringzilla.find(raw, separator) >= 0 for separator in (b"\xe2\x80\xa8", b"\xe2\x80\xa9")):
        return False
    return not has_invisible(raw) and (stringzilla.find(raw, b"\xc2") < 0 or not _C1_BYTES.search(raw))


def leave_out_unseen(data: bytes) -> bytes:
    """Return the bytes without escape codes and control bytes; the very same where they have none."""
    if stringzilla.find_first_of(data, _DROPPED) < 0:
        return data
    return (_ESCAPE.sub(b"", data) if b"\x1b" in data else data).translate(None, _DROPPED)


def find_unseen(data: bytes) -> list[tuple[int, int]]:
    """Return the start and the end of everything that is left out."""
    if stringzilla.find_first_of(data, _DROPPED) < 0:
        return []
    return [match.span() for match in _UNSEEN.finditer(data)]


def chars_of(data: bytes) -> int:
    """Return how many characters the bytes hold as they came, counted at memory speed."""
    return int(stringzilla.utf8_count(data))


def clean(data: bytes) -> str:
    """Return the text a person would see."""
    return look(data)[0]


def flat(data: bytes) -> str:
    """Return the same with every line as one line, for those who count lines: what stands there in the end, and bad news."""
    return look(data, flat=True)[0]


def look(data: bytes, *, flat: bool = False) -> tuple[str, int]:
    """Return the text a person would see, and how many overwritten frames are left out of it."""
    if is_plain(data):
        return data.decode("utf-8", "replace"), 0
    dropped = _DROPPED
    if b"\x1b" in data:
        if _ERASE.search(data):
            data, dropped = _ERASE.sub(b"\r" + _ERASED, data.translate(None, _ERASED)), _DROPPED_BUT_THAT
        data = _ESCAPE.sub(b"", data)
    data = data.replace(b"\r\n", b"\n").translate(None, dropped)
    text, frames, erased = data.decode("utf-8", "replace"), 0, 0
    if not text.isascii():
        text = _C1.sub("", text)
        if "\u2028" in text or "\u2029" in text:  # translating takes thirty times as long as looking
            text = text.translate(_SEPARATORS)
    if "\r" in text:
        from spillover.document.frames import fold  # most outputs have none of these

        text, frames = fold(text, flat=flat, erased=_ERASED.decode())
    if "\b" in text:
        from spillover.document.erased import write_over

        text, erased = write_over(text)
    if has_invisible(data):
        text = make_visible(text, data)
    return text, frames + erased


def every_line(text: str) -> str:
    """Return all that any reader may take for a line of a text: ended where only some end lines, and with what is written over."""
    lines = "\n".join(text.splitlines()) + ("\n" if text[-1:] in ("\n", "\r") else "")
    raw = lines.encode("utf-8", "surrogatepass")
    return leave_out_unseen(raw).replace(b"\b", b"").decode("utf-8", "replace")


def keep_line_ends(text: str, data: bytes) -> str:
    """Return what is seen of bytes with the line ends that they have: CRLF where it was, if every CR is part of one."""
    # One byte is found at memory speed, two are not.
    if b"\r" not in data or data.count(b"\r") != data.count(b"\r\n") or text.count("\n") != data.count(b"\n"):
        return text
    ends = ("\r\n" if line.endswith(b"\r") else "\n" for line in data.split(b"\n"))
    *lines, last = text.split("\n")
    return "".join(line + end for line, end in zip(lines, ends, strict=False)) + last


def exact(data: bytes) -> str:
    """Return the bytes with every control character made visible (␛ ␍ ␀), for those who ask for the raw thing."""
    text = data.decode("utf-8", "replace").translate(_PICTURES)
    return make_visible(text, data) if not data.isascii() and has_invisible(data) else text


_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD) | {0x2028: 0x20, 0x2029: 0x20}
