"""Text of a tool that opens a line as our notices and markers do is marked as the tool's. Pure: text in, text out.

What the model reads opens a line like a notice in two cases only: we wrote it for this output, or it is, letter for
letter, a notice we gave for an output that is still stored (its record holds the hash). A line is compared as the eye
does, whatever the case, the brackets or the alphabet. Every line is read once from its start to its first words, so the
time is linear, and no pattern engine is needed. See docs/notices.md, "What cannot be forged".
"""

# ruff: noqa: RUF001  letters that look like others are what this is about

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Literal

from stringzilla import find

#: The notices that were given for a ref, as `digest_notice` wrote them; none where nothing is stored under it.
FindNotices = Callable[[str], Sequence[str]]
#: What a line of a tool imitates: a notice, a gap marker, or the second line of a notice.
Imitation = Literal["notice", "gap", "next", ""]

#: Put before a tool's line that opens like one of ours.
MARK = "[tool text] "
#: A text of ASCII without any of these has no line to mark; most have none of the first, and no more is looked at.
BRACKETS = ("[", "(", "{", "<", "]")
NEEDLES = ("clipped", "utput c", "[...", "next:", "<u+")
#: Characters of a text that are compared at once: small letters of all of a large text would need as much fresh memory.
BLOCK_CHARS = 1 << 16
OVERLAP_CHARS = max(map(len, NEEDLES))
#: The store is asked for at most this many refs for one output.
MAX_LOOKUPS = 16
#: No notice has more lines, or more characters.
NOTICE_LINES = 4
NOTICE_CHARS = 1 << 14
#: The shape of a ref (`store.record` mints it): how long its name may be, how many digits follow.
NAME_CHARS = 32
MIN_REF_DIGITS = 12
MAX_REF_DIGITS = 64
_HEX = "0123456789abcdef"
_IN_REF = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
#: The number of digits of its SHA-256 that are kept of a notice.
DIGEST_DIGITS = 16

#: The first two words of a notice, with letters as `_latin_letter` has them.
OPENINGS = ("outputcllpped", "outputcleaned")
#: The one word of the shortest notice, which a number follows.
TINY = "cllpped"
NEXT = "next"
#: What may stand behind three ASCII dots in a bracket, and read like a marker.
HIDDEN = ("llne", "byte", "the")
#: At most LETTERS letters are compared, within NEAR_CHARS characters.
LETTERS = 48
NEAR_CHARS = 2_000
#: How a character that shows nothing is written out, and how many digits it has at most.
VISIBLE, CODE_DIGITS = "<U+", 6

OPENS = frozenset("[({<")
#: Of ASCII, only these may stand before the first word; any other sign there is plainly not ours (`+[Output…`).
BEFORE = frozenset(" \t|*_.") | OPENS
#: Typographic quotes, which show a text to be quoted as the ASCII ones do.
QUOTES = frozenset("“”„‟‘’‚‛«»‹›「」『』")
ELLIPSES = frozenset("…⋯‥․⋮⁝·•")
#: Letters that show nothing, and letters that look like a bracket: passed over before the first word.
BLANK = frozenset("\u115f\u1160\u3164\uffa0匚ㄈ")

#: Letters of other alphabets by the Latin one they look like. Full-width and accented letters need no table.
_LOOK = {
    "a": "аαɑᴀ", "b": "ьвβᴃ", "c": "сϲᴄⲥꮯꓚ", "d": "ԁᴅɗꭰꓓ", "e": "еҽεᴇꭼꓰ", "f": "ϝꜰғƒ", "g": "ɡԍɢ", "h": "һнʜհ",
    "j": "јϳᴊ", "k": "кκᴋ", "l": "іιıӏɩɪʟןꭵᎥꓲꓡ", "m": "мᴍ", "n": "ոηɴп", "o": "оοσօᴏⲟⲞꓳøØ",
    "p": "рρᴘⲣꮲꓑ", "q": "ԛգ", "r": "гᴦʀ",
    "s": "ѕꜱ", "t": "тτᴛꭲꞇꓔⲧ", "u": "υսᴜʋцμꓴ", "v": "νѵᴠ", "w": "ԝωᴡш", "x": "хχ", "y": "уүγʏ", "z": "ᴢζ",
}  # fmt: skip
#: In ASCII, too, one of these may stand for another.
_ALIKE = {"i": "l", "1": "l", "0": "o", "|": "l", "!": "l"}
#: Signs that look like a letter.
_SIGNS = frozenset("|!")
_LATIN = {letter: latin for latin, letters in _LOOK.items() for letter in letters}


def may_imitate(text: str) -> bool:
    """Return whether a line may have to be marked: one look at memory speed, and most texts need no other."""
    if not text.isascii():
        return True
    for bracket in BRACKETS:  # a generator would cost as much as the loop
        if bracket in text:
            break
    else:
        return False
    for at in range(0, len(text), BLOCK_CHARS):
        block = text[at : at + BLOCK_CHARS + OVERLAP_CHARS].lower()
        for needle in NEEDLES:
            if find(block, needle) >= 0:
                return True
    return False


class Guard:
    """Marks the lines of one output. `openings`: the words that a notice opens with in a wording of the user's."""

    __slots__ = ("_find_notices", "_notices", "_openings")

    def __init__(self, find_notices: FindNotices, openings: Sequence[str] = ()) -> None:
        self._find_notices = find_notices
        self._openings = tuple(openings)
        self._notices: dict[str, Sequence[str]] = {}

    def suspects(self, text: str) -> bool:
        return bool(self._openings) or may_imitate(text)

    def __call__(self, text: str) -> str:
        """The text, with MARK before every line that reads like ours and is not; the very same where there is none."""
        if not self.suspects(text):
            return text
        lines = text.split("\n")
        imitations = {number: kind for number, line in enumerate(lines) if (kind := imitates(line, self._openings))}
        if not imitations:
            return text
        genuine = self._find_genuine(lines, imitations)
        if len(genuine) == len(imitations):
            return text
        for number in imitations.keys() - genuine:
            lines[number] = MARK + lines[number]
        return "\n".join(lines)

    def _find_genuine(self, lines: Sequence[str], imitations: Mapping[int, str]) -> set[int]:
        """Return the numbers of the lines that are ours: notices we gave, and the markers that were given with them."""
        genuine: set[int] = set()
        gaps = [number for number, kind in imitations.items() if kind == "gap"]
        notices: set[str] = set()
        for at in (number for number, kind in imitations.items() if kind == "notice"):
            notice, entries = self._read_notice(lines, at)
            if not notice:
                continue
            end = at + notice.count("\n") + 1
            genuine.update(number for number in range(at, end) if number in imitations)
            if notice not in notices:  # a second copy of it vouches for itself alone
                notices.add(notice)
                genuine.update(_find_markers(lines, gaps[bisect_left(gaps, end) :], entries))
        return genuine

    def _read_notice(self, lines: Sequence[str], at: int) -> tuple[str, list[str]]:
        """Return the notice of ours at this line, and what its record keeps of its markers; "" if there is none."""
        for end in range(at + 1, min(at + NOTICE_LINES, len(lines)) + 1):
            notice = "\n".join(lines[at:end])
            if len(notice) > NOTICE_CHARS:
                break
            entries = [entry.partition("-") for ref in refs_in(notice) for entry in self._look_up(ref)]
            own_digest = digest(notice) if entries else ""
            markers = [rest for notice_digest, _, rest in entries if notice_digest == own_digest]
            if markers:
                return notice, markers
        return "", []

    def _look_up(self, ref: str) -> Sequence[str]:
        if ref not in self._notices:
            self._notices[ref] = self._find_notices(ref) if len(self._notices) < MAX_LOOKUPS else ()
        return self._notices[ref]


def _find_markers(lines: Sequence[str], gaps: Sequence[int], entries: Sequence[str]) -> Sequence[int]:
    """Return the gap lines that an entry vouches for ("3-9f86d081884c7d65": three markers and their digest)."""
    for count, _, markers_digest in (entry.partition("-") for entry in entries if entry):
        first = gaps[: int(count)]
        if len(first) == int(count) and digest("\n".join(lines[number] for number in first)) == markers_digest:
            return first
    return ()


def digest_notice(notice: str, text: str) -> str:
    """Return what a record keeps of a notice at the top of a text: its digest, and that of the markers below it."""
    lines = text.split("\n")[notice.count("\n") + 1 :]
    # A marker has an ellipsis, or three dots.
    markers = [line for line in lines if (not line.isascii() or line.count(".") > 2) and imitates(line) == "gap"]
    suffix = f"-{len(markers)}-{digest(chr(10).join(markers))}" if markers else ""
    return digest(notice) + suffix


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def refs_in(notice: str) -> list[str]:
    """Return the refs of our shape that a notice names, by themselves or in a path: in order, each once."""
    words = "".join(char if char in _IN_REF else " " for char in notice).split()
    pairs = (pair for word in words for pair in pairwise(word.split("-")))
    refs: dict[str, None] = {}
    for name, rest in pairs:
        digits = rest[: len(rest) - len(rest.lstrip(_HEX))]
        if 0 < len(name) <= NAME_CHARS and MIN_REF_DIGITS <= len(digits) <= MAX_REF_DIGITS:
            refs[f"{name}-{digits}"] = None
    return list(refs)


def imitates(line: str, openings: Sequence[str] = ()) -> Imitation:
    """Return what a line reads like: "notice", "gap", "next" (the second line of a notice), or "" for none of ours."""
    rest = line.lstrip(" \t")
    if VISIBLE in rest:
        rest = _without_codes(rest)
    first = rest[:1]
    if first.isascii() and first not in OPENS and first not in BEFORE and first not in ("n", "N"):
        return ""
    bracket, dots, at = False, "", 0
    for char in rest:
        if char.isascii():
            if char.isalnum():
                break
            if char not in BEFORE:
                return ""
            bracket = bracket or char in OPENS
            dots = dots + char if char == "." and bracket and len(dots) < len("...") else dots
        elif char in ELLIPSES:
            dots = char if bracket else dots
        elif (char.isalnum() and char not in BLANK) or _is_drawn_letter(char):
            break
        elif char in QUOTES:
            return ""
        elif char.isprintable():  # any other sign, brackets of all kinds among them
            bracket = True
        at += 1
    else:
        return ""
    if bracket and dots in ELLIPSES:
        return "gap"
    letters, plain = _read_letters(rest, at)
    if not bracket:
        is_next = letters.startswith(NEXT) and rest[at + len(NEXT) :][:1] in (":", "：") and line.rstrip().endswith("]")
        return "next" if is_next else ""
    if dots:
        is_marker = dots.startswith("...") and (letters.startswith(HIDDEN) or plain[:1].isdigit())
        return "gap" if is_marker else ""
    if letters.startswith((*OPENINGS, *openings)) or (letters.startswith(TINY) and plain[len(TINY) :][:1].isdigit()):
        return "notice"
    return ""


def _without_codes(text: str) -> str:
    """Return the text without the characters that show nothing, which `clean` writes as <U+200B>."""
    first, *parts = text.split(VISIBLE)
    pieces = [first]
    for part in parts:
        code, bracket, rest = part.partition(">")
        is_code = bracket and len(code) <= CODE_DIGITS and code.isalnum()
        pieces.append(rest if is_code else VISIBLE + part)
    return "".join(pieces).lstrip(" \t")


def as_latin(words: str) -> str:
    """Reduce words to what is compared: letters and digits, each as the Latin letter it looks like."""
    return _read_letters(words, 0)[0]


def _read_letters(text: str, at: int) -> tuple[str, str]:
    """Return the letters and digits from `at` on, as they look and as they are; LETTERS of them, within NEAR_CHARS."""
    near = text[at : at + NEAR_CHARS]
    if not near.isascii():  # circled, squared, full-width and accented letters are letters first
        near = unicodedata.normalize("NFKD", near)
    letters = (char for char in near if (char.isalnum() or char in _SIGNS) and char not in BLANK)
    plain = list(islice(letters, LETTERS))
    return "".join(map(_latin_letter, plain)), "".join(plain)


def _is_drawn_letter(char: str) -> bool:
    """Return whether a sign is a letter in a circle, a square or the like."""
    return not char.isalnum() and unicodedata.normalize("NFKD", char)[:1].isalnum()


def _latin_letter(char: str) -> str:
    if not char.isascii():
        char = unicodedata.normalize("NFKD", char.lower())[:1]
        char = _LATIN.get(char, char)
    char = char.lower()
    return _ALIKE.get(char, char)
