"""Words shared by every sentence: counts, and somebody else's words on one line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: A reason is somebody else's words; no more of them than this. A remedy comes last, so that a longer one loses its middle.
REASON_CHARS = 400


def lines_of(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def frames_of(count: int) -> str:
    return f"{count:,} overwritten frame" if count == 1 else f"{count:,} overwritten frames"


#: How much longer than the result a text may be that is mostly whitespace.
WIDEST = 64


def one_line(text: str, most: int) -> str:
    """Return somebody else's words, short and on one line. At most WIDEST times as many characters are looked at."""
    begins = text[: WIDEST * most]
    if not begins.isprintable():
        begins = "".join(char if char.isprintable() else " " for char in begins)
    line = " ".join(begins.split())
    if len(line) <= most and len(begins) < len(text):
        return line[: most - 1] + "…"
    line = line.rstrip(".")
    return line if len(line) <= most else line[: most - 1] + "…"


def shorten_reason(reason: str | None, most: int = REASON_CHARS) -> str:
    """Return a reason on one line. Of one that is too long, whole sentences or both ends are shown."""
    line = one_line(reason or "", WIDEST * most)
    if len(line) <= most:
        return line
    sentences = line.rfind(". ", 0, most - 2) + 1
    if sentences:
        return f"{line[:sentences]} …"
    head = most // 2  # what happened, and what to do about it
    return line[:head] + "…" + line[len(line) - (most - head - 1) :]


def _signs(numbers: Iterable[int]) -> str:
    added, removed = numbers
    return f"+{added:,} \N{MINUS SIGN}{removed:,}"
