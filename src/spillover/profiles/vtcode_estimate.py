"""How vtcode estimates tokens: the median of three guesses, from characters, words and lines; more for code.

Linear in the text, and nothing is built that grows with it. Our own `estimate` is nearer to the truth; this is for those
who want vtcode's numbers. As a counter: `Clipper(tokens=vtcode_estimate.tokens)`.
"""

from __future__ import annotations

from spillover.data import dataclass
from spillover.errors import UsageError
from spillover.limits import count_lines

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """The numbers of an estimate. To vary one, copy: `replace(SEED, tokens_per_line=15)`."""

    chars_per_token: float = CHARS_PER_TOKEN
    tokens_per_line: int = TOKENS_PER_LINE
    code_multiplier: float = CODE_TOKEN_MULTIPLIER
    code_chars: str = CODE_CHARS
    long_words: bool = True


#: As the document has it.
SEED = Method()
#: The last version before it was removed.
LAST = Method(chars_per_token=4.0, code_chars="(){}[]=+-/*;:,", long_words=False)


def tokens(text: str, method: Method = SEED) -> int:
    """About how many tokens a text has; none for a blank one, and at least one for any other."""
    words = _words(text)
    if not words:  # where the document guesses by characters instead: its version had left before that
        return 0
    _, median, _ = sorted(
        (by_chars(text, method.chars_per_token), by_words(text, words, method), by_lines(text, method))
    )
    return _ceil(median * method.code_multiplier) if is_code(text, method) else median


def by_chars(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """The first guess, and the fallback where there is no tokenizer."""
    return _ceil(len(text) / chars_per_token)


def by_words(text: str, words: int, method: Method = SEED) -> int:
    """The second: a token a word, and some more where words are long."""
    extra = max(0, len(text) // words - LONG_WORD) // CHARS_PER_EXTRA if method.long_words else 0
    return words + words * extra // LONG_WORD_SCALE_FACTOR


def by_lines(text: str, method: Method = SEED) -> int:
    """The third: so many tokens a line, and one for a line that is blank."""
    import re

    filled = sum(1 for _ in re.finditer(r"\S.*", text))  # from the first word of a line to its end
    return filled * method.tokens_per_line + count_lines(text) - filled


def is_code(text: str, method: Method = SEED) -> bool:
    """Whether there are brackets and operators in it as in code."""
    return sum(text.count(char) for char in method.code_chars) > len(text) // CODE_SHARE


def tokens_for_lines(lines: int, name: str = "max_lines", tokens_per_line: int = TOKENS_PER_LINE) -> int:
    """What `max_lines` or `chunk_lines` stands for in tokens, with a DeprecationWarning for whoever called our caller."""
    if isinstance(lines, bool) or not isinstance(lines, int) or lines < 1:
        raise UsageError(f"{name}={lines!r} is not a whole number of lines; use max_tokens=, a number of tokens.")
    import warnings

    mapped = lines * tokens_per_line
    warnings.warn(f"{name} is deprecated; use max_tokens={mapped}.", DeprecationWarning, stacklevel=3)
    return mapped


def _words(text: str) -> int:
    """How many words, a piece at a time: a list of all words takes many times the room of the text."""
    words, inside = 0, False
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        words += len(piece.split()) - (inside and not piece[0].isspace())
        inside = not piece[-1].isspace()
    return words


def _ceil(value: float) -> int:
    return -int(-value // 1)
