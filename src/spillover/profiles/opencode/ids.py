"""opencode's names for files: `tool_`, the time in twelve hexadecimal digits, then fourteen of base 62."""

from __future__ import annotations

from threading import Lock

#: Files of this shape are removed by age. opencode removes all of `tool_*`; one with a dot or a blank is a person's, and stays.
SHAPE = r"tool_[0-9A-Za-z]+"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PER_MS = 4_096
_lock = Lock()
_last = 0


def ascending(seconds: float, sha256: str) -> str:
    """Return a name that sorts after those made before it. It ends in the hash, so that no output can hold its own name.

    The time has six bytes, so it wraps every 795 days: age is read from the file, never from the name.
    """
    global _last  # noqa: PLW0603  ascending is a promise about the names before
    with _lock:
        _last = max(_last + 1, int(seconds * 1_000) * PER_MS)
        moment = _last
    number, drawn = int(sha256, 16), ""
    for _ in range(14):
        number, digit = divmod(number, len(DIGITS))
        drawn += DIGITS[digit]
    return f"tool_{moment & 0xFFFFFFFFFFFF:012x}{drawn}"
