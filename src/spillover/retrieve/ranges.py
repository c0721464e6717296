"""Ranges as people write them: 120:180, 120-180, 120:+50, 120-, -50:, -50, 7. Counted from 1, both ends included."""

from __future__ import annotations

import re

from spillover.errors import UsageError

_NUMBER = r"-?[\d_,]+"
_RANGE = re.compile(rf"(?P<first>{_NUMBER})?(?P<colon>:(?P<plus>\+)?(?P<last>{_NUMBER})?)?", re.ASCII)
_DASHED = re.compile(r"([\d_,]+) ?[-\u2013] ?([\d_,]*)", re.ASCII)
#: Several ranges in one text: 1-3,7.
_SEVERAL = re.compile(r"(\d++)[-:\u2013](\d++)(?:[,; ]++\d++(?:[-:\u2013]\d++)?)++", re.ASCII)
_PAIR = re.compile(r"(\d+),(\d+)", re.ASCII)
#: A comma or an underscore is for thousands: 12,345. Anything else may be meant for two numbers.
_THOUSANDS = re.compile(r"-?(?:\d{1,3}(?:[,_]\d{3})+|\d+)", re.ASCII)
HOW = "write 120:180, 120:+50 (50 lines from 120 on), -50: (the last 50) or 120"
_DIGITS = 19
_ENDS = re.compile(r"[-:\u2013]")


def parse(text: str | int, total: int, unit: str = "lines") -> tuple[int, int]:
    """Return the first and the last of a range, inside 1 to `total`; one with nothing in it has last < first.

    UsageError says how to write what was meant.
    """
    written = str(text).strip()
    several = _SEVERAL.fullmatch(written)
    if several and not all(map(_THOUSANDS.fullmatch, _ENDS.split(written))):
        one = f"{several[1]}:{several[2]}"
        raise UsageError(f"{_quote(text)} is more than one range of {unit}; ask for one at a time, e.g. {one}.")
    if dashed := _DASHED.fullmatch(written):
        written = f"{dashed[1]}:{dashed[2]}"
    found = _RANGE.fullmatch(written)
    if not found or (found["first"] is None and found["colon"] is None) or (found["plus"] and not found["last"]):
        raise UsageError(f"{_quote(text)} is not a range of {unit}; {_how(unit)}.")
    first = _place(found["first"], 1, total, unit)
    if not found["colon"]:
        # -5 is what `tail -5` shows.
        last = total if written.startswith("-") else first
    elif found["plus"]:
        last = max(1, first) + abs(_number(found["last"], unit)) - 1
    else:
        last = _place(found["last"], total, total, unit)
        if found["first"] and found["last"]:
            _check_order(found["first"], found["last"], unit)
    if _number(found["first"] or "1", unit) == 0:
        raise UsageError(f"{unit.capitalize()} are counted from 1: write 1, or 1:100.")
    return max(1, first), min(last, total)


def _check_order(first: str, last: str, unit: str) -> None:
    """Refuse a range that ends before it begins, whatever the size of the output."""
    low, high = _number(first, unit), _number(last, unit)
    if high != 0 and (low < 0) == (high < 0) and high < low:
        raise UsageError(f"{first}:{last} ends before it begins; write {last}:{first}.")


def _place(text: str | None, default: int, total: int, unit: str) -> int:
    if text is None:
        return default
    number = _number(text, unit)
    return total + 1 + number if number < 0 else number


def _number(text: str, unit: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.lstrip("-"):
        raise UsageError(f"{_quote(text)} is not a number; {_how(unit)}.")
    if len(digits) > _DIGITS:
        raise UsageError(f"{_quote(text)} is larger than any number of {unit}; {_how(unit)}.")
    if not _THOUSANDS.fullmatch(text):
        pair = _PAIR.fullmatch(text)
        meant = f"write {pair[1]}:{pair[2]} for {unit} {pair[1]} to {pair[2]}" if pair else _how(unit)
        raise UsageError(f"{_quote(text)} is not a number; {meant}.")
    return int(digits)


def _how(unit: str) -> str:
    return HOW.replace("lines", unit)


def _quote(text: object) -> str:
    return repr(text)[:42]
