"""vtcode: 25,000 tokens of a tool's output, half from the beginning and half from the end, by whole lines.

`estimate_tokens` is its own estimate: the median of three guesses, from characters, words and lines; more for code.
Ours is nearer to the truth; `Clipper(tokenizer=vtcode.estimate_tokens)` counts as vtcode does.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Sequence
from math import ceil
from typing import Any, Literal

from spillover.api import Clipper
from spillover.budget import CONTEXT_VARIABLE, Budget
from spillover.document.clean import clean
from spillover.document.document import Document
from spillover.errors import UsageError
from spillover.kinds.ends import char_after, char_before, keep_ends
from spillover.kinds.selection import Fill, Span
from spillover.notice.form import CutFacts, Form, HiddenPart, Words, lost_words
from spillover.profiles import has_whole_file, make, open_outputs
from spillover.result import Clip
from spillover.settings.limits import Limits, count_lines
from spillover.store import Store
from spillover.store.named import name_part
from spillover.store.record import Record
from spillover.types import Keep, Selector

__all__ = [
    "MAX_TOKENS",
    "both_halves",
    "budget",
    "by_chars",
    "by_lines",
    "by_words",
    "clipper",
    "estimate_tokens",
    "form",
    "is_code",
    "metadata",
    "render",
    "tokens_for_lines",
]

_log = logging.getLogger(__name__)

MAX_TOKENS = 25_000
#: The same as settings, for `profile = "vtcode"`.
SETTINGS = {"tokens": MAX_TOKENS, "keep": "ends"}
FOLDER = ".vtcode/tool-output"
AGE_SECONDS = 7 * 24 * 60 * 60
#: What may say how large the context window is, its own variable first.
WINDOW_VARIABLES = ("VTCODE_CONTEXT_TOKEN_LIMIT", CONTEXT_VARIABLE)
#: Below half of the window a call may have this many times its limit: 35,000 tokens instead of 25,000.
STRETCH = 1.4
FILE_SHAPE = r"[A-Za-z0-9_.-]+_\d+\.txt"
#: Lines cost what their characters say; where the tokenizer says more, the halves shrink, at most this often. With
#: more tries, fewer outputs are cut by both ends instead.
MAX_TRIES = 8
#: Bytes that are read for a token of one half: a line of three characters and CRLF takes five. More costs time.
BYTES_PER_TOKEN = 6
MIN_REACH_BYTES = 1 << 16
#: What a person sees: characters of a line; lines inline, of a code block, and of a diff.
MAX_LINE_LENGTH = 150
INLINE_STREAM_MAX_LINES = 30
MAX_CODE_LINES = 500
MAX_DIFF_LINES = 500

#: Characters for a token wherever only characters are looked at (seed 004, "Consistent fallback").
CHARS_PER_TOKEN = 3.5
#: How many tokens a line is worth, in the estimate and for `max_lines`. The document leaves it open; its last version
#: had 10. (The source of the document's own version had 15, and 1.1 for code.)
TOKENS_PER_LINE = 10
#: Tokens of code, as a multiple of the median; left open too, and from the last version.
CODE_TOKEN_MULTIPLIER = 1.15
#: A text is code if more than one character in 20 is a bracket or an operator. The document does not say which; its
#: version has these.
CODE_SHARE = 20
CODE_CHARS = "{}[]<>()=;:,"
#: Words longer than 8 characters on average have an extra for every 6 more, and a tenth of the extras counts. The
#: document only names LONG_WORD_SCALE_FACTOR and `extra_tokens`; the numbers are from its version.
LONG_WORD_CHARS = 8
CHARS_PER_EXTRA = 6
LONG_WORD_SCALE_FACTOR = 10
#: Characters whose words are counted at once; more costs memory.
PIECE_CHARS = 1 << 16

BANNER = "[OUTPUT] Output too large ({size}, {lines} lines), {place}\n"
TRUNCATED_BY_BUDGET = "[... content truncated by token budget ...]\n"
TRUNCATED = "[... content truncated ...]\n"

#: What is added where all that is missing says again what stands above.
REPEATS = {
    "same": ": the line above, repeated",
    "like": ": the line above with other numbers",
    "block": ": the {lines} lines above, repeated",
}


def clipper(
    *,
    max_tokens: int | None = None,
    max_lines: int | None = None,
    chunk_lines: int | None = None,
    model: str | None = None,
    banner: bool = True,
    keep: Keep | Selector = "ends",
    folder: str = FOLDER,
    store: Store | str | os.PathLike[str] | None = None,
    **options: Any,
) -> Clipper:
    """Return a Clipper that truncates as vtcode does.

    `max_tokens`: the budget of one call. `banner`: whether the first lines say where the full output is.
    """
    for name, lines in (("max_lines", max_lines), ("chunk_lines", chunk_lines)):
        if lines is not None:  # deprecated, with a warning even where it does not count
            mapped = tokens_for_lines(lines, name)
            max_tokens = mapped if max_tokens is None else max_tokens
    defaults = {
        "limits": Limits(tokens=MAX_TOKENS if max_tokens is None else max_tokens),
        "keep": keep,
        "wording": form(banner=banner),
        "store": open_outputs(store, folder=folder, names=_name, shape=FILE_SHAPE, age_seconds=AGE_SECONDS),
    }
    return make(defaults | ({"tokenizer": f"model:{model}"} if model else {}), options)


def default_folders() -> list[str]:
    return [FOLDER]


def budget(window: int = 128_000, **options: Any) -> Budget:
    """Return vtcode's budget manager: its own variable for the window, warnings at 75 % and 85 %."""
    return Budget.from_env(window, variables=WINDOW_VARIABLES, **{"stretch": STRETCH, **options})


def metadata(clip: Clip, clipper: Clipper) -> dict[str, object]:
    """Return the metadata of its tools: the budget that was applied, and the path of the full output."""
    applied = clip.limits or clipper.settings.limits
    cut = clip.shown.bytes < clip.total.bytes
    facts: dict[str, object] = {"applied_max_tokens": applied.tokens, "truncated": cut}
    return facts | ({"spool_path": clip.path} if clip.path else {})


def both_halves(limits: Limits) -> Selector:
    """Return a selector for whole lines of both ends, or the parts that fit of lines that are too long."""
    tokens = limits.tokens or MAX_TOKENS

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        if len(document.sections) > 1 or document.gap[0] < document.gap[1]:
            return keep_ends(0.5)(document, fill)
        half = tokens // 2
        for _ in range(MAX_TRIES):
            spans = _take_halves(document, half)
            fullness = fill(spans)
            if fullness <= 1:
                return spans
            half = int(half / fullness * 0.98)
        return keep_ends(0.5)(document, fill)

    return select


def _take_halves(document: Document, half: int) -> list[Span]:
    """Return the lines of both ends with `half` tokens each."""
    reach = max(half * BYTES_PER_TOKEN, MIN_REACH_BYTES)
    head = document.blob.read(0, min(reach, document.size))
    tail = document.blob.read(max(0, document.size - reach), document.size)
    first_end = _find_head_end(head, half)
    last_start = document.size - len(tail) + _find_tail_start(tail, half)
    if first_end >= last_start:
        return [Span(0, document.size)]
    return [Span(0, first_end), Span(last_start, document.size)]


def _find_head_end(data: bytes, half: int) -> int:
    """Return the end of the first lines with `half` tokens, or of the part of a long one that fits."""
    at = 0
    tokens = 0
    while end := data.find(b"\n", at) + 1:
        tokens += _count_tokens(data[at:end])
        if tokens > half:
            break
        at = end
    return at or char_before(data, min(len(data), int(half * CHARS_PER_TOKEN)), 0)


def _find_tail_start(data: bytes, half: int) -> int:
    """Return the start of the last lines with `half` tokens, or of the part of a long one that fits."""
    tokens = 0
    at = len(data)
    while start := data.rfind(b"\n", 0, max(0, at - 1)) + 1:
        tokens += _count_tokens(data[start:at])
        if tokens > half:
            break
        at = start
    return at if at < len(data) else char_after(data, max(0, len(data) - int(half * CHARS_PER_TOKEN)), len(data))


def _count_tokens(line: bytes) -> int:
    """Return the tokens of a line by its bytes; how it ends costs nothing, in the head as in the tail."""
    end = 2 if line.endswith(b"\r\n") else int(line.endswith(b"\n"))
    return ceil((len(line) - end) / CHARS_PER_TOKEN)


def form(*, banner: bool = True) -> Form:
    """Return its words: a count of the lines wherever some are missing, below the banner."""

    def words(cut: CutFacts) -> Words:
        first, last, in_all = _count_shown(cut) if banner else ("", "", "")

        def gap(missing: HiddenPart) -> str:
            newline = "" if missing.at_line_start else "\n"
            return f"{newline}{_name_gap(missing)}\n{last}"

        opening = gap(cut.before) if cut.before.bytes else ""
        closing = gap(cut.behind).rstrip("\n") if cut.behind.bytes else ""
        if not banner:
            return opening, gap, closing
        place = f"spooled to: {cut.place}" if has_whole_file(cut) else lost_words(cut)
        size = f"{max(1, round(cut.total.bytes / 1_024))}KB"
        lines = BANNER.format(size=size, lines=cut.total.lines, place=place)
        lines += TRUNCATED_BY_BUDGET if cut.limits.tokens else TRUNCATED
        return f"{lines}{first}{in_all}{opening}", gap, closing

    return Form(words, {"ends": both_halves, "signal": _select_definitions})


def _select_definitions(_: Limits) -> Selector:
    from spillover.kinds.source import select_definitions  # what overflowed loads numpy

    return select_definitions


def _name_tokens(tokens: int) -> str:
    """Return about how many tokens: "~12.5k", "~800"."""
    return f"~{tokens / 1_000:.1f}".removesuffix(".0") + "k" if tokens >= 1_000 else f"~{tokens}"


def _name_gap(missing: HiddenPart) -> str:
    if not missing.lines:
        return f"[... {missing.bytes} bytes truncated ...]"
    repeats = missing.repeats
    repetition = REPEATS.get(repeats.kind, "").format(lines=repeats.note) if repeats else ""
    return f"[... {missing.lines} lines truncated{repetition} ...]"


def _count_shown(cut: CutFacts) -> tuple[str, str, str]:
    """Return the words before the first part, before the last one, and, where there are others, for all of them."""
    parts = cut.parts
    whole = len(parts) == 1 and not cut.before.bytes
    if not parts or len(parts) > 2 or (cut.before.bytes and len(parts) > 1) or (cut.behind.bytes and not whole):
        return "", "", f"{_name_tokens(sum(map(cut.count, parts)))} tokens shown\n"
    first = "" if cut.before.bytes else f"First {_name_tokens(cut.count(parts[0]))} tokens shown\n"
    return first, "" if whole else f"Last {_name_tokens(cut.count(parts[-1]))} tokens shown\n", ""


def render(
    text: str,
    kind: Literal["inline", "code", "diff"] = "inline",
    *,
    code_fence_max_lines: int = MAX_CODE_LINES,
    diff_max_lines: int = MAX_DIFF_LINES,
) -> str:
    """Return a text for a person's terminal: its last 30 lines inline, the first 500 of code or of a diff.

    It has no escape codes, and a line at most 150 characters, its dots included. The words for what is hidden come on
    top of the lines.
    """
    limits = {"inline": INLINE_STREAM_MAX_LINES, "code": code_fence_max_lines, "diff": diff_max_lines}
    if kind not in limits:
        raise UsageError(f"kind={kind!r} is unknown; use one of {', '.join(limits)}.")
    for name, value in (("code_fence_max_lines", code_fence_max_lines), ("diff_max_lines", diff_max_lines)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}={value!r} is not a number of lines; use 1 or more.")
    limit = limits[kind]
    lines = clean(text.encode("utf-8", "replace")).removesuffix("\n").split("\n")
    more = len(lines) - limit
    if more <= 0:
        return "\n".join(map(_shorten, lines))
    if kind == "inline":
        plural = "" if more == 1 else "s"
        return "\n".join([f"[... {more} line{plural} truncated ...]", *map(_shorten, lines[-limit:])])
    place = "view full output in tool logs" if kind == "code" else "view full diff in tool logs"
    return "\n".join([*map(_shorten, lines[:limit]), f"... ({more} more lines truncated, {place})"])


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 3]}..."


def _name(record: Record) -> str:
    return f"{name_part(record.tool, 'tool').replace('-', '_')}_{int(record.created * 1_000_000)}.txt"


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: the median of three guesses, and more for code."""
    _, median, _ = sorted((by_chars(text), by_words(text), by_lines(text)))
    return ceil(median * CODE_TOKEN_MULTIPLIER) if is_code(text) else median


def by_chars(text: str) -> int:
    """Guess by characters: the first guess, and the fallback where there is no tokenizer."""
    return ceil(len(text) / CHARS_PER_TOKEN)


def by_words(text: str) -> int:
    """Guess by words: a token each, and some more where they are long; where there are none, by characters."""
    words = _count_words(text)
    if not words:
        return by_chars(text)
    extra = max(0, len(text) // words - LONG_WORD_CHARS) // CHARS_PER_EXTRA
    return words + words * extra // LONG_WORD_SCALE_FACTOR


def by_lines(text: str) -> int:
    """Guess by lines: TOKENS_PER_LINE each, and one for a line that is blank."""
    with_words = sum(1 for _ in re.finditer(r"\S.*", text))  # from the first word of a line to its end
    return with_words * TOKENS_PER_LINE + count_lines(text) - with_words


def is_code(text: str) -> bool:
    """Return whether there are brackets and operators in it as in code."""
    return sum(text.count(char) for char in CODE_CHARS) > len(text) // CODE_SHARE


def tokens_for_lines(lines: int, name: str = "max_lines") -> int:
    """Return the tokens that `max_lines` or `chunk_lines` stands for, and warn a person that it is deprecated.

    FutureWarning is the warning that Python shows by default; the logger `spillover` gets it too.
    """
    if isinstance(lines, bool) or not isinstance(lines, int) or lines < 1:
        raise UsageError(f"{name}={lines!r} is not a number of lines; use max_tokens=, a number of tokens.")
    mapped = lines * TOKENS_PER_LINE
    words = f"{name} is deprecated; use max_tokens={mapped}."
    _log.warning("%s", words)
    warnings.warn(words, FutureWarning, stacklevel=3)
    return mapped


def _count_words(text: str) -> int:
    """Count words a piece at a time: a list of all words takes many times the room of the text."""
    words = 0
    inside = False
    for start in range(0, len(text), PIECE_CHARS):
        piece = text[start : start + PIECE_CHARS]
        words += len(piece.split()) - (inside and not piece[0].isspace())
        inside = not piece[-1].isspace()
    return words
