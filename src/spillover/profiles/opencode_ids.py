"""opencode's names for files: `tool_`, the time in twelve hexadecimal digits, then fourteen of base 62."""

from __future__ import annotations

from threading import Lock

#: Of the files that end by age. It sweeps all of `tool_*`; a name with a dot or a blank was given by a person, and stays.
SHAPE = r"tool_[0-9A-Za-z]+"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PER_MS = 4_096
_lock = Lock()
_last = 0


def ascending(seconds: float, sha256: str) -> str:
    """A name that sorts behind those made before it. Its end is drawn from the hash: no output can hold its own name.

    Six bytes of it are all the time gets, so it starts anew every 795 days: age is read from the file, never from here.
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
