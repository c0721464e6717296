"""Random outputs around a limit: few and many lines, long ones, letters of one to four bytes, every kind of line end.

`Random` in, text out. Limits are small here, so that a thousand outputs take a second.
"""

import os
from random import Random

ALPHABETS = (
    "ab",
    "abc def  ",
    "x=[]{}();:, ",
    "aé",
    "ñ€ ",
    "😀a",
    "e\N{COMBINING ACUTE ACCENT}👩\N{ZERO WIDTH JOINER}💻",
    "a\t\x00",
    "漢字",
    "a\x0b\x0c\x85\N{LINE SEPARATOR}b",  # what Python, but none of the systems, ends a line at
)
ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n")


def seeded(seed):
    """Return what decides: the same in every run, or, with EXPLORE=1, something else each time."""
    return Random(None if os.environ.get("EXPLORE") else seed)


def alphabets(random):
    """Return one byte a letter for half of all words, so that characters, units and bytes are often the same."""
    return ALPHABETS if random.random() < 0.5 else ALPHABETS[:3]


def word(random, most):
    letters = random.choice(alphabets(random))
    return "".join(random.choices(letters, k=random.randint(0, most)))


def long_line(random, size):
    """A line of about so many characters, made of a few short pieces."""
    piece = word(random, 12) or "z"
    return (piece * (size // len(piece) + 1))[: max(size, 0)]


def lines(random, count, most):
    end = random.choice(ENDS)
    return end.join(word(random, most) for _ in range(count))


def log(random, count):
    """Lines as programs print them: none is blank, none ends with white space, and the last one has no newline."""
    verbs = ("build", "läuft", "test_名前", "link", "x")
    return "\n".join(f"{random.choice(verbs)} {random.randrange(10 ** random.randint(1, 9))}" for _ in range(count))


def around(random, limit):
    """A number that is likely to be near the limit, or far from it on either side."""
    near = max(limit + random.randint(-2, 2), 0)
    return random.choice((near, near, random.randint(0, limit), random.randint(limit, 3 * limit + 3)))


#: The names of `near_limits`.
NEAR = ("a line less", "as many lines", "a line more", "many more lines", "less", "as much", "one more", "much more")


def near_limits(max_lines, max_size):
    """Return outputs on both sides of two large limits: so many short lines, and lines of 99 up to so many characters."""
    counted = ["\n".join(f"line {number}" for number in range(max_lines + more)) for more in (-1, 0, 1, 500)]
    sized = ["\n".join(["x" * 99] * 2_000)[: max_size + more] + "y" for more in (-2, -1, 0, 5_000)]
    return counted + sized


def output(random, max_lines, max_chars):
    """One output for these two limits; pass a limit that is never reached as something small all the same."""
    kind = random.randrange(10)
    if kind == 0:
        text = random.choice(("", "", "\n", " ", "\n\n\n", " \t\n \n", "\r\n", "\r", "a", "é", "😀"))
    elif kind == 1:
        text = random.choice(("\n", " \n", "\r\n")) * around(random, max_lines)
    elif kind <= 4:
        text = lines(random, around(random, max_lines), 2 * max_chars // max(max_lines, 1) + 2)
    elif kind == 5:
        text = long_line(random, around(random, max_chars))
    elif kind == 6:  # a long line first, last or inside
        parts = [word(random, 6) for _ in range(random.randint(0, max_lines + 2))]
        parts.insert(
            random.choice((0, len(parts), random.randint(0, len(parts)))), long_line(random, around(random, max_chars))
        )
        text = "\n".join(parts)
    elif kind == 7:  # exactly so many characters, lines of any length
        text = fit(lines(random, max_lines, 3 * max_chars // max(max_lines, 1) + 2), around(random, max_chars))
    elif kind == 8:  # exactly so many bytes
        text = fit(lines(random, max_lines, 2 * max_chars // max(max_lines, 1) + 2), around(random, max_chars), "utf-8")
    else:  # many lines, few characters
        text = "\n".join(random.choices(("", "a", "é", " ", "b\r"), k=around(random, max_lines)))
    return text + random.choice(("", "", "\n", "\n", "\r\n", "\n\n", "\r"))


def fit(text, size, encoding=None):
    """Return a text of exactly so many characters, or bytes, made of this one."""
    measure = len if encoding is None else lambda part: len(part.encode(encoding))
    while text and measure(text) > size:
        text = text[: max(len(text) - max(measure(text) - size, 4) // 4, 0)]
    return text + "x" * (size - measure(text))
