"""What vtcode shows a person: so many lines of so many characters, and where the rest is. Not what the model reads."""

from __future__ import annotations

from spillover.data import dataclass
from spillover.errors import UsageError
from spillover.limits import count_lines
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal

    Kind = Literal["inline", "code", "diff"]

LINE_CHARS = 150
ELLIPSIS = "..."
#: Marks that belong to the character before them; a longer row of them is nobody's writing.
JOINED = "\u200d\ufe0f\ufe0e"
MARKS = 16


@dataclass(frozen=True, slots=True)
class Display:
    """How many lines of which end, and the words for the others; they stand where those would."""

    lines: int
    keep: Literal["head", "tail"]
    words: str


DISPLAYS = {
    "inline": Display(30, "tail", "[... {hidden} line{s} truncated ...]"),
    "code": Display(500, "head", "... ({hidden} more lines truncated, view full output in tool logs)"),
    "diff": Display(500, "head", "... ({hidden} more lines truncated, view full diff in tool logs)"),
}


@dataclass(frozen=True, slots=True)
class Preview:
    """Both ends of a list, and how many of it are in neither."""

    head: Sequence[Any]
    tail: Sequence[Any]
    hidden: int


def render(text: str, kind: Kind = "inline") -> str:
    """A text for a person's terminal: without escape codes, at most 30 lines of it inline, 500 of code or of a diff.

    A line has at most 150 characters, its ellipsis included. The words for what is hidden come on top of the lines.
    """
    if kind not in DISPLAYS:
        raise UsageError(f"{kind!r} is nothing to display; use one of {', '.join(DISPLAYS)}.")
    display, text = DISPLAYS[kind], clean(text.encode("utf-8", "replace"))
    hidden = count_lines(text) - display.lines
    if hidden <= 0:
        return "\n".join(_from(text, 0, display.lines))
    words = display.words.format(hidden=hidden, s="" if hidden == 1 else "s")
    if display.keep == "head":
        return "\n".join([*_from(text, 0, display.lines), words])
    return "\n".join([words, *_from(text, _start_of_last(text, display.lines), display.lines)])


def spooled(path: str, *, size: int, lines: int, title: str = "output") -> str:
    """What a person is told of an output that went to a file: how large it is, and where."""
    return f"[{title.upper()}] Output too large ({max(1, round(size / 1_024))}KB, {lines} lines), spooled to: {path}"


def shortened(line: str, most: int = LINE_CHARS) -> str:
    """A line of at most so many characters; an accent stays with its letter."""
    if len(line) <= most:
        return line
    end = max(0, most - len(ELLIPSIS))
    for back in range(min(end, MARKS)):
        if not _continues(line, end - back):
            end -= back
            break
    return line[:end] + ELLIPSIS[:most]


def split(items: Sequence[Any], limit: int, head: int) -> Preview:
    """At most `limit` rows of both ends, the row that says how many are hidden included."""
    if len(items) <= limit:
        return Preview(items, items[:0], 0)
    first, last = window(limit, head)
    return Preview(items[:first], items[len(items) - last :], len(items) - first - last)


def window(limit: int, head: int) -> tuple[int, int]:
    """How many rows the head and the tail get of `limit`: one is for the gap, and at most half of the others for the head."""
    if limit <= 2:
        return 0, max(0, limit)
    first = max(1, min(head, (limit - 1) // 2))
    return first, limit - 1 - first


def hidden_lines(hidden: int) -> str:
    """The row of a gap."""
    return f"… +{hidden} line{'' if hidden == 1 else 's'}"


def _from(text: str, start: int, lines: int) -> Iterator[str]:
    for _ in range(lines):
        if start >= len(text):
            return
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield shortened(text[start : min(end, start + LINE_CHARS + 1)])
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
