"""Characters nobody sees, made visible: bidi controls, tags, zero-width characters, runs of variation selectors.

They reorder what a person reads, or carry text that only a model reads. Each becomes `<U+202E>` and the like. What
writing needs stays: joiners in emoji and in Arabic and Indic words, one variation selector behind a symbol or an
ideograph, a soft hyphen between letters, a byte order mark at the start of a line.

No pattern here repeats anything or looks further than a few characters, so the time is linear in the text.
"""

from __future__ import annotations

import re

from stringzilla import find, find_first_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
_E2_80, _EF_B8, _EF_BF = b"\xe2\x80", b"\xef\xb8", b"\xef\xbf"
_COMMON = (b"\xe2\x80\x8b", b"\xe2\x80\x8c", b"\xe2\x80\x8d", b"\xef\xb8\x8f", b"\xef\xbb\xbf", b"\xc2\xad")
_RARE_LEADS = b"\xcd\xd8\xe1\xf0\xf3"
_RARE: dict[bytes, Sequence[int]] = {
    b"\xcd\x8f": (), b"\xd8\x9c": (), b"\xe1\x85": (0x9F, 0xA0), b"\xe1\x9e": (0xB4, 0xB5), b"\xe1\xa0": range(0x8B, 0x90),
    b"\xf0\x9b\xb2": (), b"\xf0\x9d\x85": (), b"\xf3\xa0": (),
}  # fmt: skip
_LESS_RARE: dict[bytes, Sequence[int]] = {
    _E2_80: (0x8E, 0x8F, *range(0xAA, 0xAF)), b"\xe2\x81": range(0xA0, 0xB0), b"\xe3\x85\xa4": (),
    _EF_B8: range(0x80, 0x8F), b"\xef\xbe\xa0": (), _EF_BF: range(0xB0, 0xBC),
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
    """Return the text with what nobody would see spelled out; `raw` is what it was decoded from."""
    if _has_rare(raw):
        for pattern in (_TAGS, _ALWAYS, *_RARE_OUT_OF_PLACE):
            text = re.sub(pattern, _spell, text)
    for chars, pattern in _OUT_OF_PLACE.items():
        if any(char in text for char in chars):
            text = re.sub(pattern, _spell, text)
    return text


def _spell(found: re.Match[str]) -> str:
    in_place = found[1] if found.re.groups else None
    return in_place or f"<U+{ord(found[0]):04X}>"
