"""Backspaces: what is written over a character replaces it, as on a terminal; man pages print bold and underlined that way."""

from __future__ import annotations

#: Bullets of man pages.
_OVERSTRUCK = frozenset({("+", "o"), ("o", "+")})


def write_over(text: str) -> tuple[str, int]:
    """Return the text once backspaces have had their effect, and in how many places something else stood there before."""
    lines, erased = [], 0
    for line in text.split("\n"):
        if "\b" in line:
            line, more = _apply_backspaces(line)  # noqa: PLW2901
            erased += more
        lines.append(line)
    return "\n".join(lines), erased


def _apply_backspaces(line: str) -> tuple[str, int]:
    """Apply backspaces: each goes one character to the left, and never out of the line; what comes next stands there then."""
    out: list[str] = []
    at = erased = 0
    inside = False  # what was erased: one stretch is counted once
    for char in line:
        if char == "\b":
            at -= at > 0
            inside = False
            continue
        if at == len(out):
            out.append(char)
            inside = False
        else:
            old = out[at]
            lost = not (old == char or old in " _" or char == "_" or (old, char) in _OVERSTRUCK)
            out[at] = old if char == "_" else char
            erased += lost and not inside
            inside = lost
        at += 1
    return "".join(out), erased
