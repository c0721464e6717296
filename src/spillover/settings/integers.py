"""Integers with more digits than Python reads or writes (`sys.set_int_max_str_digits`): they stay as text, and raise nothing."""

from __future__ import annotations

#: Python writes as many digits as these bits have, wherever its limit stands.
ALWAYS_BITS = 2_000


def read_int(digits: str) -> int | str:
    """Return the integer, as `json.loads(parse_int=…)` asks for it; its digits where it has too many."""
    try:
        return int(digits)
    except ValueError:
        return digits


def spell_int(value: int) -> int | str:
    """Return an integer that can be written: itself, or as hexadecimal, which has no such limit."""
    if value.bit_length() <= ALWAYS_BITS:
        return value
    try:
        str(value)
    except ValueError:
        return hex(value)
    return value
