"""What to look for, checked before any work. Pure: no output is touched here."""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.base.linear import LinePattern, PatternSyntaxError
from spillover.errors import PatternError

PATTERN_CHARS = 4_000
_SPECIAL = frozenset("\\^$.|?*+()[]{}")


class Pattern(Struct, frozen=True):
    """What to look for, checked: a text, or a regular expression."""

    source: str
    fixed: bool
    ignore_case: bool
    text: bytes | None
    regex: LinePattern | None


_LINEAR = "this engine runs in linear time and has no"
_REFUSED = {
    "(?=": f"{_LINEAR} look-ahead (?=…); write what follows into the pattern: foo(?=bar) becomes foobar",
    "(?!": f"{_LINEAR} negative look-ahead (?!…); search for the rest of it and pass over the hits you do not want",
    "(?<=": f"{_LINEAR} look-behind (?<=…); write what stands before into the pattern: (?<=foo)bar becomes foobar",
    "(?<!": f"{_LINEAR} negative look-behind (?<!…); search for the rest of it and pass over the hits you do not want",
    "(?P=": f"{_LINEAR} backreferences such as (?P=name); write the repeated part out",
    "\\1": f"{_LINEAR} backreferences such as \\1; write the repeated part out",
    "\\n": "a match never crosses a line end; search for one of the lines and read around the hit",
    "\\A": "lines are searched one by one; ^ is the start of a line",
    "\\z": "lines are searched one by one; $ is the end of a line",
    "\\Z": "lines are searched one by one; $ is the end of a line",
    "(?-m": "lines are searched one by one, so that m cannot be switched off; leave it out",
    "\\C": "\\C would match a part of a character; use a dot",
    "\\Q": "there is no quoting with \\Q; ask for a fixed search, or escape single characters",
}
# A class, an escape, the opening of a group, or any character. The name of the opening or escape is what is refused.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[0-7]{3}|(?P<named>\\.|\(\?(?:P=|<?[=!]))|(?P<off>\(\?\w*-\w*m)|.",
    re.DOTALL,
)


def compile_pattern(text: str, *, fixed: bool = False, ignore_case: bool = False) -> Pattern:
    """Return the pattern, or a PatternError that says what to write instead. The syntax is Hyperscan's."""
    shown = repr(text if len(text) <= 80 else text[:80] + "…")
    if not text:
        raise PatternError("An empty pattern would match everywhere; say what to look for.")
    if len(text) > PATTERN_CHARS:
        raise PatternError(
            f"A pattern has at most {PATTERN_CHARS:,} characters, not {len(text):,}; search for a part of {shown}."
        )
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise PatternError(f"{shown} holds half a character (a lone surrogate), which is in no output; leave it out.")
    tokens = [] if fixed else list(_TOKEN.finditer(text))
    refused = ["\\n"] * ("\n" in text) + ["(?-m" if token["off"] else token["named"] for token in tokens]
    for name in refused:
        if why := _REFUSED.get(re.sub(r"\\[1-9]", r"\\1", name or "")):
            raise PatternError(f"{shown}: {why}.")
    if not ignore_case and (fixed or not _SPECIAL.intersection(text)):
        return Pattern(text, fixed, ignore_case, text.encode(), None)
    try:
        regex = LinePattern(text, fixed=fixed, ignore_case=ignore_case)
    except PatternSyntaxError as error:
        why = str(error)
        too_large = any(said in why for said in ("repetition size", "too large", "Resource limit"))
        remedy = "repeat less" if too_large else "correct it, or search for it as plain text: -F, or fixed=true"
        raise PatternError(f"{shown} is not a valid pattern ({why}); {remedy}.") from error
    if regex.matches_empty:
        only_empty = len(text) > 1 and text.startswith("^") and text.endswith("$")
        where = "empty lines" if only_empty else "everywhere, even an empty string"
        raise PatternError(f"{shown} would match {where}; use + instead of *, or say what to look for.")
    return Pattern(text, fixed, ignore_case, None, regex)
