"""What to look for, checked before any work, and the texts that every match must hold. Pure: no output is touched here."""

from __future__ import annotations

import re
from re import _constants, _parser  # type: ignore[attr-defined]  # the stdlib's parser, unknown to typeshed

from msgspec import Struct

from spillover.base.linear import PatternSyntaxError, compile_given
from spillover.errors import PatternError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATTERN_CHARS = 4_000
NEEDLES = 8  # each is a pass over the bytes, and about twelve passes take as long as re2
WIDE = 1_000  # a match of more characters than this may have any number of them
NEEDLE_CHARS = 2  # a single character is everywhere


class Pattern(Struct, frozen=True):
    """What to look for, checked. Every match holds one of the `needles`, if there are any; without a regex, it is one."""

    source: str
    fixed: bool
    ignore_case: bool
    needles: tuple[bytes, ...]
    regex: Any
    line_regex: Any  # the same and the rest of the line: every match is a line
    wide: bool = False  # how far the engine looks ahead has no bound


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
# What the stdlib's parser takes for something else than re2 does: most escapes, classes in classes.
_UNLIKE = re.compile(r"\\[^\WdDwWsSbBnrtfv]|\[.*(?:\[|--|&&|~~|\|\|)", re.DOTALL)
# Whether no characters match depends on the neighbours only: here an end, a word and a gap meet in every way.
_NEIGHBOURS = (b"", b" ", b"aa  a")


def compile_pattern(text: str, *, fixed: bool = False, ignore_case: bool = False) -> Pattern:
    """Return the pattern, or a PatternError that says what to write instead. The syntax is re2's."""
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
    try:
        regex, line_regex = compile_given(text, fixed=fixed, ignore_case=ignore_case)
    except PatternSyntaxError as error:
        why = str(error)
        too_large = any(said in why for said in ("repetition size", "too large", "Resource limit"))
        remedy = "repeat less" if too_large else "correct it, or search for it as plain text: -F, or fixed=true"
        raise PatternError(f"{shown} is not a valid pattern ({why}); {remedy}.") from error
    if any(regex.fullmatch(near, at, at) for near in _NEIGHBOURS for at in range(len(near) + 1)):
        only_empty = len(text) > 1 and text.startswith("^") and text.endswith("$")
        where = "empty lines" if only_empty else "everywhere, even an empty string"
        raise PatternError(f"{shown} would match {where}; use + instead of *, or say what to look for.")
    complete: bool = False
    needles: tuple[str, ...] = ()
    if fixed and not ignore_case:
        complete, needles = True, (text,)
    alike = not any(_UNLIKE.search(token[0]) for token in tokens)
    if not fixed and not ignore_case and alike:
        complete, needles = _needles(text)
    wide = not fixed and (not alike or _is_wide(text))
    encoded = tuple(needle.encode() for needle in needles)
    return Pattern(text, fixed, ignore_case, encoded, None if complete else regex, line_regex, wide)


def _is_wide(text: str) -> bool:
    """Return whether a match may have any length."""
    try:
        return bool(_parser.parse(text).getwidth()[1] > WIDE)
    except (re.error, RecursionError, OverflowError):
        return True


def _needles(text: str) -> tuple[bool, tuple[str, ...]]:
    """Return texts of which every match holds one, and whether a match is nothing but one of them."""
    try:
        parsed = _parser.parse(text)
        complete, needles = _needles_in(parsed)
    except (re.error, RecursionError, OverflowError):
        return False, ()
    useful = parsed.state.flags == re.UNICODE and (complete or _worth(needles)[0] >= NEEDLE_CHARS)
    return (complete, needles) if useful else (False, ())


def _needles_in(nodes: Any) -> tuple[bool, tuple[str, ...]]:
    complete = True
    best: tuple[str, ...] = ("",)
    run: tuple[str, ...] = ("",)  # all that can stand since the last place that may hold anything
    for kind, value in nodes:
        known = False  # whether that is all it holds there
        here: tuple[str, ...] = ("",)  # what a match holds at this place
        if kind is _constants.LITERAL:
            known, here = True, (chr(value),)
        elif kind is _constants.IN and all(member is _constants.LITERAL for member, _ in value):
            known, here = True, tuple(chr(code) for _, code in value)
        elif kind is _constants.SUBPATTERN and not value[1]:  # no flags of its own
            known, here = _needles_in(value[3])
        elif kind is _constants.BRANCH:
            branches = [_needles_in(branch) for branch in value[1]]
            known, here = all(whole for whole, _ in branches), tuple(needle for _, some in branches for needle in some)
        elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and value[0] > 0:
            here = _needles_in(value[2])[1]
        if known and len(run) * len(here) <= NEEDLES:
            run = tuple(left + right for left in run for right in here)
        else:
            complete, best, run = False, max(best, run, here, key=_worth), ("",)
    return complete, run if complete else max(best, run, key=_worth)


def _worth(needles: tuple[str, ...]) -> tuple[int, int]:
    """Return the longer the rarer; then, the fewer the better."""
    return min(map(len, needles)) if len(needles) <= NEEDLES else 0, -len(needles)
