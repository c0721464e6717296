"""Ranges as people write them: 120:180, 120:+50, -50:, 7. Counted from 1, both ends included."""

from __future__ import annotations

import re

from spillover.errors import UsageError

_RANGE = re.compile(r"(?P<first>-?[\d_,]+)?(?P<colon>:(?P<plus>\+)?(?P<last>-?[\d_,]+)?)?", re.ASCII)


def parse(text: str | int, total: int, unit: str = "lines") -> tuple[int, int]:
    """First and last, inside 1 to `total`; a range with nothing in it is last < first. Wrong ones say how to write one."""
    found = _RANGE.fullmatch(str(text).strip())
    if not found or found["first"] == found["colon"] == None or (found["plus"] and not found["last"]):  # noqa: E711  both are None
        raise UsageError(
            f"{text!r} is no range of {unit}; write 120:180, 120:+50 (50 from 120 on), -50: (the last 50) or 120."
        )
    first = _place(found["first"], 1, total)
    if not found["colon"]:
        last = first
    elif found["plus"]:
        last = max(1, first) + abs(_number(found["last"])) - 1
    else:
        last = _place(found["last"], total, total)
    if _number(found["first"] or "1") == 0:
        raise UsageError(f"{unit} are counted from 1; {text!r} begins at 0.")
    return max(1, first), min(last, total)


def _place(text: str | None, default: int, total: int) -> int:
    if text is None:
        return default
    number = _number(text)
    return total + 1 + number if number < 0 else number


def _number(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.lstrip("-") or len(digits) > 19:
        raise UsageError(f"{text[:40]!r} is no number.")
    return int(digits)
