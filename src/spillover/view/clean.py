"""What a person would see: escape codes, overwritten progress frames, control bytes and broken UTF-8 cleaned away.

Everything here works inside one line: a newline in is a newline out, so line N of the view is line N of the output,
and a cut at a line end never changes what the rest looks like.
"""

from __future__ import annotations

import re

import stringzilla

#: C0 control bytes and DEL, all but tab and newline.
CONTROLS = bytes([*range(9), *range(11, 32), 127])
_CONTROLS_TEXT = CONTROLS.decode()
#: What is left of them once escape codes, carriage returns and backspaces have had their effect.
_DROPPED = bytes(c for c in CONTROLS if c not in b"\r\b")

# CSI … final byte | OSC, DCS, SOS, PM, APC … BEL or ST | two-character codes. None reaches over a line end, and a
# string that is never closed gives up only its opening, so that it cannot swallow the rest of the line.
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])?")
_C1_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
_C1 = re.compile("[\x80-\x9f]")
#: Line ends of Unicode that nobody counts as lines; left in, the text would have more lines for some readers.
_SEPARATORS = str.maketrans({"\u2028": " ", "\u2029": " "})


def is_plain(data: bytes | str) -> bool:
    """Whether bytes, or a text that is ASCII, would be shown as they are (broken UTF-8 aside)."""
    if stringzilla.find_first_of(data, _CONTROLS_TEXT if isinstance(data, str) else CONTROLS) >= 0:
        return False
    if data.isascii():
        return True
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    # A pattern of both would look at every byte in turn, thirty times slower than looking for one thing after another.
    rare = any(stringzilla.find(raw, separator) >= 0 for separator in (b"\xe2\x80\xa8", b"\xe2\x80\xa9"))
    return not rare and (stringzilla.find(raw, b"\xc2") < 0 or not _C1_BYTES.search(raw))


def chars_of(data: bytes) -> int:
    """How many characters the bytes hold as they came, counted at memory speed."""
    return int(stringzilla.utf8_count(data))


def clean(data: bytes) -> str:
    """The text a person would see."""
    if is_plain(data):
        return data.decode("utf-8", "replace")
    if b"\x1b" in data:
        data = _ESCAPE.sub(b"", data)
    if b"\r" in data:
        data = _last_frames(data)
    text = data.translate(None, _DROPPED).decode("utf-8", "replace")
    if "\b" in text:
        text = _rubbed_out(text)
    if not text.isascii():
        text = _C1.sub("", text)
        if "\u2028" in text or "\u2029" in text:  # translating takes thirty times as long as looking
            text = text.translate(_SEPARATORS)
    return text


def exact(data: bytes) -> str:
    """The bytes with every control character made visible (␛ ␍ ␀), for those who ask for the raw thing."""
    return data.decode("utf-8", "replace").translate(_PICTURES)


_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD) | {0x2028: 0x20, 0x2029: 0x20}


def _last_frames(data: bytes) -> bytes:
    """Of every line that was overwritten by carriage returns, the last state."""
    data = data.replace(b"\r\n", b"\n")
    kept: list[bytes] = []
    done = 0
    while (at := data.find(b"\r", done)) >= 0:
        start = data.rfind(b"\n", done, at) + 1 or done
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[start:end].rstrip(b"\r")
        kept += (data[done:start], line[line.rfind(b"\r") + 1 :])
        done = end
    kept.append(data[done:])
    return b"".join(kept)


def _rubbed_out(text: str) -> str:
    """Backspaces applied: each takes back the character before it (man pages write N, backspace, N for bold)."""
    left: list[str] = []
    for char in text:
        if char != "\b":
            left.append(char)
        elif left and left[-1] != "\n":
            left.pop()
    return "".join(left)
