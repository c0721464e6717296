"""How vtcode estimates tokens: the median of three guesses, from characters, words and lines; more for code.

Linear in the text, and nothing is built that grows with it. Our own `estimate` is nearer to the truth; this is for those
who want vtcode's numbers. As a counter: `Clipper(tokenizer=vtcode.estimate.tokens)`.
"""

from __future__ import annotations

import logging

from spillover.errors import UsageError
from spillover.settings.limits import count_lines

_log = logging.getLogger(__name__)

#: Characters for a token wherever only characters are looked at (seed 004, "Consistent fallback").
CHARS_PER_TOKEN = 3.5
#: How many tokens a line is worth, in the estimate and for `max_lines`. The document leaves it open; 10 is what the last
#: version had. (The source of the document's own version had 15, and 1.1 for code.)
TOKENS_PER_LINE = 10
#: Tokens of code, as a multiple of the median; left open too, and from the last version.
CODE_TOKEN_MULTIPLIER = 1.15
#: More than one character in so many is a bracket or an operator: code. Which ones the document does not say; these are
#: those of its version.
CODE_SHARE = 20
CODE_CHARS = "{}[]<>()=;:,"
#: Words longer than this on average have one extra for every so many characters more, and of the extras a tenth counts.
#: The document names LONG_WORD_SCALE_FACTOR and `extra_tokens` only; the numbers are those of its version.
LONG_WORD, CHARS_PER_EXTRA, LONG_WORD_SCALE_FACTOR = 8, 6, 10

PIECE = 1 << 16


def tokens(text: str) -> int:
    """Return about how many tokens a text has: the median of three guesses, and more for code."""
    _, median, _ = sorted((by_chars(text), by_words(text), by_lines(text)))
    return _ceil(median * CODE_TOKEN_MULTIPLIER) if is_code(text) else median


def by_chars(text: str) -> int:
    """Guess by characters: the first guess, and the fallback where there is no tokenizer."""
    return _ceil(len(text) / CHARS_PER_TOKEN)


def by_words(text: str) -> int:
    """Guess by words: a token each, and some more where they are long; where there are none, by characters."""
    words = _count_words(text)
    if not words:
        return by_chars(text)
    extra = max(0, len(text) // words - LONG_WORD) // CHARS_PER_EXTRA
    return words + words * extra // LONG_WORD_SCALE_FACTOR


def by_lines(text: str) -> int:
    """Guess by lines: so many tokens each, and one for a line that is blank."""
    import re

    filled = sum(1 for _ in re.finditer(r"\S.*", text))  # from the first word of a line to its end
    return filled * TOKENS_PER_LINE + count_lines(text) - filled


def is_code(text: str) -> bool:
    """Return whether there are brackets and operators in it as in code."""
    return sum(text.count(char) for char in CODE_CHARS) > len(text) // CODE_SHARE


def tokens_for_lines(lines: int, name: str = "max_lines") -> int:
    """Return what `max_lines` or `chunk_lines` stands for in tokens, and warn a person that it is deprecated.

    FutureWarning is the warning that Python shows by default; the logger `spillover` gets it too.
    """
    if isinstance(lines, bool) or not isinstance(lines, int) or lines < 1:
        raise UsageError(f"{name}={lines!r} is not a number of lines; use max_tokens=, a number of tokens.")
    import warnings

    mapped = lines * TOKENS_PER_LINE
    words = f"{name} is deprecated; use max_tokens={mapped}."
    _log.warning("%s", words)
    warnings.warn(words, FutureWarning, stacklevel=3)
    return mapped


def _count_words(text: str) -> int:
    """Count words a piece at a time: a list of all words takes many times the room of the text."""
    words, inside = 0, False
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        words += len(piece.split()) - (inside and not piece[0].isspace())
        inside = not piece[-1].isspace()
    return words


def _ceil(value: float) -> int:
    return -int(-value // 1)
