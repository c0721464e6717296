"""Whether a line opens as a notice or a marker of ours does, to the eye: whatever the case, the brackets or the alphabet.

Every line is read once from its start to its first words, so the time is linear. No pattern engine is needed.
"""

# ruff: noqa: RUF001  letters that look like others are what this is about

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: The first two words of a notice, with letters as `_letter` has them.
OPENINGS = ("outputcllpped", "outputcleaned")
#: The one word of the shortest notice, which a number follows.
TINY = "cllpped"
NEXT = "next"
#: What may stand behind three ASCII dots in a bracket, and read like a marker.
HIDDEN = ("llne", "byte", "the")
#: At most LETTERS letters are looked at, within NEAR characters.
LETTERS, NEAR = 48, 2_000
#: How a character that shows nothing is written out, and how many digits it has at most.
VISIBLE, CODE_DIGITS = "<U+", 6

OPENS = frozenset("[({<")
#: Of ASCII, only these may stand before the first word; any other sign there is plainly not ours (`+[Output…`, `"[Output…`).
BEFORE = frozenset(" \t|*_.") | OPENS
#: Typographic quotes, which show a text to be quoted as the ASCII ones do.
QUOTES = frozenset("“”„‟‘’‚‛«»‹›「」『』")
ELLIPSES = frozenset("…⋯‥․⋮⁝·•")
#: Letters that show nothing, and letters that look like a bracket: passed over before the first word.
BLANK = frozenset("\u115f\u1160\u3164\uffa0匚ㄈ")

#: Letters of other alphabets by the Latin one they look like. Full-width, mathematical and accented letters need no table.
_LOOK = {
    "a": "аαɑᴀ", "b": "ьвβᴃ", "c": "сϲᴄⲥꮯꓚ", "d": "ԁᴅɗꭰꓓ", "e": "еҽεᴇꭼꓰ", "f": "ϝꜰғƒ", "g": "ɡԍɢ", "h": "һнʜհ",
    "j": "јϳᴊ", "k": "кκᴋ", "l": "іιıӏɩɪʟןꭵᎥꓲꓡ", "m": "мᴍ", "n": "ոηɴп", "o": "оοσօᴏⲟⲞꓳøØ", "p": "рρᴘⲣꮲꓑ", "q": "ԛգ", "r": "гᴦʀ",
    "s": "ѕꜱ", "t": "тτᴛꭲꞇꓔⲧ", "u": "υսᴜʋцμꓴ", "v": "νѵᴠ", "w": "ԝωᴡш", "x": "хχ", "y": "уүγʏ", "z": "ᴢζ",
}  # fmt: skip
#: In ASCII, too, one of these may stand for another.
_ALIKE = {"i": "l", "1": "l", "0": "o", "|": "l", "!": "l"}
#: Signs that look like a letter.
_SIGNS = frozenset("|!")
_LETTERS = {other: latin for latin, others in _LOOK.items() for other in others}


def reads_like(line: str, openings: Sequence[str] = ()) -> str:
    """Return what a line reads like: "notice", "gap", "next" (the second line of a notice), or "" for none of ours."""
    rest = line.lstrip(" \t")
    if VISIBLE in rest:
        rest = _unseen(rest)
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
    letters, plain = _letters(rest, at)
    if not bracket:
        is_next = letters.startswith(NEXT) and rest[at + len(NEXT) :][:1] in (":", "：") and line.rstrip().endswith("]")
        return "next" if is_next else ""
    if dots:
        shown_so = dots.startswith("...") and (letters.startswith(HIDDEN) or plain[:1].isdigit())
        return "gap" if shown_so else ""
    if letters.startswith((*OPENINGS, *openings)) or (letters.startswith(TINY) and plain[len(TINY) :][:1].isdigit()):
        return "notice"
    return ""


def _unseen(text: str) -> str:
    """Return the text without the characters that show nothing, which `document.invisible` writes as <U+200B>."""
    first, *others = text.split(VISIBLE)
    shown = [first]
    for part in others:
        code, closed, rest = part.partition(">")
        known = closed and len(code) <= CODE_DIGITS and code.isalnum()
        shown.append(rest if known else VISIBLE + part)
    return "".join(shown).lstrip(" \t")


def folded(words: str) -> str:
    """Reduce words to what is compared: letters and digits, each as the Latin letter it looks like."""
    return _letters(words, 0)[0]


def _letters(text: str, at: int) -> tuple[str, str]:
    """Return the letters and digits from `at` on, as they look and as they are; LETTERS of them, and no further than NEAR."""
    near = text[at : at + NEAR]
    if not near.isascii():
        import unicodedata  # hardly any line gets here

        near = unicodedata.normalize(
            "NFKD", near
        )  # circled, squared, full-width and accented letters are letters first
    letters = (char for char in near if (char.isalnum() or char in _SIGNS) and char not in BLANK)
    plain = list(islice(letters, LETTERS))
    return "".join(map(_letter, plain)), "".join(plain)


def _is_drawn_letter(char: str) -> bool:
    """Return whether a sign is a letter in a circle, a square or the like."""
    import unicodedata  # hardly any line gets here

    return not char.isalnum() and unicodedata.normalize("NFKD", char)[:1].isalnum()


def _letter(char: str) -> str:
    if not char.isascii():
        import unicodedata  # hardly any line gets here

        char = unicodedata.normalize("NFKD", char.lower())[:1]
        char = _LETTERS.get(char, char)
    char = char.lower()
    return _ALIKE.get(char, char)
