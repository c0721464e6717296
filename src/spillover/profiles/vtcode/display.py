"""What vtcode shows a person: so many lines of so many characters, and where the rest is. Not what the model reads."""

from __future__ import annotations

from spillover.base.data import dataclass
from spillover.errors import UsageError
from spillover.limits import count_lines
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Kind = Literal["inline", "code", "diff"]

LINE_CHARS = 150
INLINE_LINES, CODE_LINES, DIFF_LINES = 30, 500, 500
ELLIPSIS = "..."
#: Marks that belong to the character before them; a longer row of them is nobody's writing.
JOINED = "\u200d\ufe0f\ufe0e"
MARKS = 16


@dataclass(frozen=True, slots=True)
class Display:
    """Which end is shown, and the words for the other lines; they stand where those would."""

    keep: Literal["head", "tail"]
    words: str


DISPLAYS = {
    "inline": Display("tail", "[... {hidden} line{s} truncated ...]"),
    "code": Display("head", "... ({hidden} more lines truncated, view full output in tool logs)"),
    "diff": Display("head", "... ({hidden} more lines truncated, view full diff in tool logs)"),
}


def render(
    text: str, kind: Kind = "inline", *, code_fence_max_lines: int = CODE_LINES, diff_max_lines: int = DIFF_LINES
) -> str:
    """Return a text for a person's terminal: without escape codes, at most 30 lines inline, 500 of code or of a diff.

    A line has at most 150 characters, its ellipsis included. The words for what is hidden come on top of the lines.
    """
    limits = {"inline": INLINE_LINES, "code": code_fence_max_lines, "diff": diff_max_lines}
    if kind not in limits:
        raise UsageError(f"kind={kind!r} is unknown; use one of {', '.join(limits)}.")
    for name, value in (("code_fence_max_lines", code_fence_max_lines), ("diff_max_lines", diff_max_lines)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}={value!r} is not a number of lines; use 1 or more.")
    display, lines, text = DISPLAYS[kind], limits[kind], clean(text.encode("utf-8", "replace"))
    hidden = count_lines(text) - lines
    if hidden <= 0:
        return "\n".join(_read_lines(text, 0, lines))
    words = display.words.format(hidden=hidden, s="" if hidden == 1 else "s")
    if display.keep == "head":
        return "\n".join([*_read_lines(text, 0, lines), words])
    return "\n".join([words, *_read_lines(text, _start_of_last(text, lines), lines)])


def shorten(line: str, most: int = LINE_CHARS) -> str:
    """Return a line of at most so many characters; an accent stays with its letter."""
    if len(line) <= most:
        return line
    end = max(0, most - len(ELLIPSIS))
    for back in range(min(end, MARKS)):
        if not _continues(line, end - back):
            end -= back
            break
    return line[:end] + ELLIPSIS[:most]


def _read_lines(text: str, start: int, lines: int) -> Iterator[str]:
    for _ in range(lines):
        if start >= len(text):
            return
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield shorten(text[start : min(end, start + LINE_CHARS + 1)])
        start = end + 1


def _start_of_last(text: str, lines: int) -> int:
    at = len(text) - text.endswith("\n")
    for _ in range(lines):
        at = text.rfind("\n", 0, at)
    return at + 1


def _continues(text: str, at: int) -> bool:
    """Whether a cut here would part an accent, or half of an emoji, from what it belongs to."""
    import unicodedata

    return text[at] in JOINED or text[at - 1] == "\u200d" or unicodedata.combining(text[at]) > 0
