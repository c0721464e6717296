"""Settings with their units, as a person reads them."""

from __future__ import annotations

from spillover.settings.load import AGE, COUNT, FLAG, LIMITS, SIZE, find_key, split

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIMES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
#: Counts that are not limits of a size.
_COUNTED = {"retention.count": "outputs", "retention.runs": "runs"}


def with_unit(key: str, value: object) -> str:
    """Return the value of a setting with its unit; "" where it sets nothing."""
    row, name = find_key(key), split(key)[1]
    kind = "" if row is None else row.kind
    if kind == FLAG or isinstance(value, bool):
        return str(value).lower()
    if kind not in (COUNT, SIZE, AGE):
        return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value == 0 else str(value)
    amount = int(str(value))
    if amount == 0:
        return ""
    if kind == AGE:
        return count_time(amount)
    unit = _COUNTED.get(name) or name.rpartition(".")[2]
    return (
        count_bytes(amount)
        if kind == SIZE or unit == "bytes"
        else f"{amount:,} {unit if unit in (*LIMITS, *_COUNTED.values()) else ''}".strip()
    )


def count_bytes(amount: int) -> str:
    """Return a number of bytes in the largest unit that holds it without a fraction; small ones as they are."""
    for size, unit in _SIZES:
        if amount >= size and amount % size == 0:
            return f"{amount // size:,} {unit}"
    return f"{amount:,} bytes"


def count_time(seconds: float) -> str:
    """Return a time in the largest unit that holds it without a fraction."""
    for size, unit in _TIMES:
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return f"{seconds:g} second{'s' * (seconds != 1)}"


def count_of(number: int, what: str) -> str:
    """Return a number with what it counts: "1 call", "2,000 calls"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
