"""What a person would see of bytes: control codes and broken UTF-8 cleaned away, invisible characters spelled out.

Everything here works inside one line, so a cut at a line end never changes what the rest looks like. A newline in is a
newline out; only a line that carriage returns divide into rows is shown as several. Every pattern is linear: it is
possessive, or looks no further than a few characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import stringzilla
from stringzilla import find, find_first_of

from spillover.document.progress import fold

#: C0 control bytes and DEL, all but tab and newline.
CONTROLS = bytes([*range(9), *range(11, 32), 127])
_CONTROLS_TEXT = CONTROLS.decode()
#: What is left of them once escape codes, carriage returns and backspaces have had their effect.
_DROPPED = bytes(c for c in CONTROLS if c not in b"\r\b")
#: Stands behind a carriage return where the line was erased as well, until `progress.fold` has seen it.
_ERASED = b"\x18"
_DROPPED_BUT_ERASED = bytes(c for c in _DROPPED if c not in _ERASED)

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
#: Bullets of man pages, which are written as two characters in one place.
_OVERSTRUCK = frozenset({("+", "o"), ("o", "+")})
_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD) | {0x2028: 0x20, 0x2029: 0x20}


def is_plain(data: bytes | str) -> bool:
    """Return whether bytes, or a text that is ASCII, would be shown as they are (broken UTF-8 aside)."""
    if find_first_of(data, _CONTROLS_TEXT if isinstance(data, str) else CONTROLS) >= 0:
        return False
    if data.isascii():
        return True
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    # A pattern of both would look at every byte in turn, thirty times slower than looking for one thing after another.
    if any(find(raw, separator) >= 0 for separator in (b"\xe2\x80\xa8", b"\xe2\x80\xa9")):
        return False
    return not has_invisible(raw) and (find(raw, b"\xc2") < 0 or not _C1_BYTES.search(raw))


def find_unseen(data: bytes) -> list[tuple[int, int]]:
    """Return the start and the end of every escape code and run of control bytes."""
    if find_first_of(data, _DROPPED) < 0:
        return []
    return [match.span() for match in _UNSEEN.finditer(data)]


def count_chars(data: bytes) -> int:
    """Return how many characters the bytes hold before any cleaning, counted at memory speed."""
    return int(stringzilla.utf8_count(data))


def clean(data: bytes) -> str:
    """Return the text a person would see."""
    return clean_and_count(data)[0]


def flatten(data: bytes) -> str:
    """Return the clean text with every line as one line: its last row, and the rows before it that tell of trouble."""
    return clean_and_count(data, flat=True)[0]


def clean_and_count(data: bytes, *, flat: bool = False) -> tuple[str, int]:
    """Return the text a person would see, and how many overwritten frames are left out of it."""
    if is_plain(data):
        return data.decode("utf-8", "replace"), 0
    controls = _DROPPED
    if b"\x1b" in data:
        if _ERASE.search(data):
            data = _ERASE.sub(b"\r" + _ERASED, data.translate(None, _ERASED))
            controls = _DROPPED_BUT_ERASED
        data = _ESCAPE.sub(b"", data)
    data = data.replace(b"\r\n", b"\n").translate(None, controls)
    text = data.decode("utf-8", "replace")
    frames = overwritten = 0
    if not text.isascii():
        text = _C1.sub("", text)
        if "\u2028" in text or "\u2029" in text:  # translating takes thirty times as long as looking
            text = text.translate(_SEPARATORS)
    if "\r" in text:
        text, frames = fold(text, flat=flat, erased=_ERASED.decode())
    if "\b" in text:
        text, overwritten = apply_backspaces(text)
    if has_invisible(data):
        text = make_visible(text, data)
    return text, frames + overwritten


def every_line(text: str) -> str:
    """Return a text with each line end that some reader knows as a newline, and with what is written over left in."""
    lines = "\n".join(text.splitlines()) + ("\n" if text[-1:] in ("\n", "\r") else "")
    raw = lines.encode("utf-8", "surrogatepass")
    if find_first_of(raw, _DROPPED) >= 0:
        raw = _ESCAPE.sub(b"", raw).translate(None, _DROPPED)
    return raw.replace(b"\b", b"").decode("utf-8", "replace")


def keep_line_ends(text: str, data: bytes) -> str:
    """Return the clean text of bytes with their own line ends: CRLF where it was, if every CR is part of one."""
    # One byte is found at memory speed, two are not.
    if b"\r" not in data or data.count(b"\r") != data.count(b"\r\n") or text.count("\n") != data.count(b"\n"):
        return text
    ends = ("\r\n" if line.endswith(b"\r") else "\n" for line in data.split(b"\n"))
    *lines, last = text.split("\n")
    return "".join(line + end for line, end in zip(lines, ends, strict=False)) + last


def show_controls(data: bytes) -> str:
    """Return the bytes as text with every control character made visible (␛ ␍ ␀)."""
    text = data.decode("utf-8", "replace").translate(_PICTURES)
    return make_visible(text, data) if not data.isascii() and has_invisible(data) else text


def apply_backspaces(text: str) -> tuple[str, int]:
    """Return a text once backspaces have had their effect, and in how many places something else stood there before.

    A character written over another replaces it, as on a terminal; man pages print bold and underlined that way.
    """
    lines = []
    total = 0
    for line in text.split("\n"):
        if "\b" in line:
            result, count = _apply_to_line(line)
            lines.append(result)
            total += count
        else:
            lines.append(line)
    return "\n".join(lines), total


def _apply_to_line(line: str) -> tuple[str, int]:
    """Apply the backspaces of a line: each goes one character to the left, and never out of the line."""
    out: list[str] = []
    at = count = 0
    in_stretch = False  # what was overwritten: one stretch is counted once
    for char in line:
        if char == "\b":
            at -= at > 0
            in_stretch = False
            continue
        if at == len(out):
            out.append(char)
            in_stretch = False
        else:
            old = out[at]
            replaces = not (old == char or old in " _" or char == "_" or (old, char) in _OVERSTRUCK)
            out[at] = old if char == "_" else char
            count += replaces and not in_stretch
            in_stretch = replaces
        at += 1
    return "".join(out), count


# Characters nobody sees: bidi controls, tags, zero-width characters, runs of variation selectors. They reorder what a
# person reads, or carry text that only a model reads. Each becomes `<U+202E>` and the like. What writing needs stays:
# joiners in emoji and in Arabic and Indic words, one variation selector behind a symbol or an ideograph, a soft hyphen
# between letters, a byte order mark at the start of a line.

# Symbols and emoji, which joiners and selectors may follow; ideographs; scripts whose letters join, or need no spaces.
_EMOJI = "\u00a9\u00ae\u203c-\u204a\u20e3\u2122-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPH = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_VARIED = f"{_EMOJI}{_IDEOGRAPH}\u2190-\u2bff\u1000-\u109f\ua840-\uaa7f"
_JOINING = "\u0590-\u0dff\u1000-\u109f\u1780-\u18af\ufb1d-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff"
_MONGOLIAN = "\u1820-\u18aa"
_LETTER = r"[^\W\d_]"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINER = "\u200b-\u200d"
#: The flags of England, Scotland and Wales, spelled with tags behind a black flag.
_FLAGS = "|".join("".join(chr(0xE0000 + ord(char)) for char in f"gb{land}\x7f") for land in ("eng", "sct", "wls"))

# Patterns are compiled when they are first needed, which for most is never.
#: Always made visible: the default-ignorable characters of Unicode for which there is no rule below, and annotations.
_ALWAYS = (
    "[\u034f\u061c\u115f\u1160\u17b4\u17b5\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_TAGS = f"((?<=\U0001f3f4)(?:{_FLAGS}))|[\U000e0000-\U000e007f]"

# What these find is out of place. Each begins with the character itself, so that finding it is quick, and then looks
# back over it. Selectors come first: whether a joiner is in place may depend on the selector before it.
_RARE_OUT_OF_PLACE = (
    rf"[\ufe00-\ufe0e](?!(?<=[{_VARIED}].)(?![{_SELECTOR}]))",
    rf"[\U000e0100-\U000e01ef](?!(?<=[{_IDEOGRAPH}].)(?![{_SELECTOR}]))",
    rf"[\u180b-\u180f](?!(?<=[{_MONGOLIAN}].)(?![\u180b-\u180f]))",
)
_OUT_OF_PLACE = {
    "\ufe0f": rf"\ufe0f(?!(?<=[0-9#*].)\u20e3)(?!(?<=[{_EMOJI}{_IDEOGRAPH}].)(?![{_SELECTOR}]))",
    "\u200b\u200c\u200d": (
        rf"[{_JOINER}](?!(?<=[{_JOINING}][\u200c\u200d])(?![{_JOINER}]))(?!(?<=[{_UNSPACED}]\u200b)(?![{_JOINER}]))"
        rf"(?!(?<=[{_EMOJI}]\u200d)[{_EMOJI}])(?!(?<=[{_EMOJI}]\ufe0f\u200d)[{_EMOJI}])"
    ),
    "\u00ad": rf"\u00ad(?!(?<={_LETTER}.){_LETTER})",
    "\ufeff": r"(?m:\ufeff(?<!^.))",
}

# The same characters in UTF-8, as beginnings to look for one after the other, each at memory speed: a pattern of all of
# them takes thirty times as long. Where a beginning is one of ordinary text as well, what may follow it.
_COMMON = (b"\xe2\x80\x8b", b"\xe2\x80\x8c", b"\xe2\x80\x8d", b"\xef\xb8\x8f", b"\xef\xbb\xbf", b"\xc2\xad")
_RARE_LEADS = b"\xcd\xd8\xe1\xf0\xf3"
_RARE: dict[bytes, Sequence[int]] = {
    b"\xcd\x8f": (), b"\xd8\x9c": (), b"\xe1\x85": (0x9F, 0xA0), b"\xe1\x9e": (0xB4, 0xB5),
    b"\xe1\xa0": range(0x8B, 0x90), b"\xf0\x9b\xb2": (), b"\xf0\x9d\x85": (), b"\xf3\xa0": (),
}  # fmt: skip
_LESS_RARE: dict[bytes, Sequence[int]] = {
    b"\xe2\x80": (0x8E, 0x8F, *range(0xAA, 0xAF)), b"\xe2\x81": range(0xA0, 0xB0), b"\xe3\x85\xa4": (),
    b"\xef\xb8": range(0x80, 0x8F), b"\xef\xbe\xa0": (), b"\xef\xbf": range(0xB0, 0xBC),
}  # fmt: skip


def has_invisible(raw: bytes) -> bool:
    """Return whether UTF-8 may hold characters that nobody sees, in place or not."""
    return any(find(raw, char) >= 0 for char in _COMMON) or _has_rare(raw)


def _has_rare(raw: bytes) -> bool:
    tables = (_LESS_RARE, _RARE) if find_first_of(raw, _RARE_LEADS) >= 0 else (_LESS_RARE,)
    return any(
        find(raw, start) >= 0 and (not ends or any(find(raw, start + bytes((end,))) >= 0 for end in ends))
        for table in tables
        for start, ends in table.items()
    )


def make_visible(text: str, raw: bytes) -> str:
    """Return the text with its invisible characters spelled out; `raw` is what it was decoded from."""
    if _has_rare(raw):
        for pattern in (_TAGS, _ALWAYS, *_RARE_OUT_OF_PLACE):
            text = re.sub(pattern, _spell, text)
    for chars, pattern in _OUT_OF_PLACE.items():
        if any(char in text for char in chars):
            text = re.sub(pattern, _spell, text)
    return text


def _spell(match: re.Match[str]) -> str:
    in_place = match[1] if match.re.groups else None
    return in_place or f"<U+{ord(match[0]):04X}>"
