"""Amounts with a unit, as people write them: "2 GiB", "7d"."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
TIMES = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LARGEST = (1 << 63) - 1  # TOML promises no more of a number


def read_amount(text: str, units: Mapping[str, int]) -> int:
    """Return an amount in bytes or seconds; ValueError where the text is none."""
    text = text.strip()
    unit = text.lstrip("0123456789._ ")
    if unit.lower() not in units:
        raise ValueError(unit)
    amount = float(text.removesuffix(unit)) * units[unit.lower()]
    if amount and not 1 <= amount <= LARGEST:  # less than 1 would become 0, and that means none
        raise ValueError(text)
    return int(amount)
