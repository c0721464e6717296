"""vtcode: 25,000 tokens of a tool's output, half from the beginning and half from the end, by whole lines."""

from __future__ import annotations

from math import ceil

from spillover.budget import Budget
from spillover.config.place import CONTEXT_TOKENS
from spillover.form import Form, Told, lost_words
from spillover.limits import Limits
from spillover.profiles.base import made, store_for
from spillover.profiles.vtcode_estimate import CHARS_PER_TOKEN, tokens_for_lines
from spillover.select.ends import char_after, char_before, keeping
from spillover.select.span import Span
from spillover.store.named import name_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip
    from spillover.select.span import Fill, Selector
    from spillover.store.base import Record, Store
    from spillover.view.document import Document

MAX_TOKENS = 25_000
#: What is larger goes to the file, however few tokens it has.
SPOOL_BYTES = 200_000
#: The same as settings, for `profile = "vtcode"`.
SETTINGS = {"tokens": MAX_TOKENS, "bytes": SPOOL_BYTES, "keep": "ends"}
FOLDER = ".vtcode/tool-output"
AGE_SECONDS = 7 * 24 * 60 * 60
#: What may say how large the context window is, its own variable first.
WINDOW_VARIABLES = ("VTCODE_CONTEXT_TOKEN_LIMIT", CONTEXT_TOKENS)
SHAPE = r"[A-Za-z0-9_.-]+_\d+\.txt"
#: Lines cost what their characters say; where the tokenizer says more, the halves shrink, at most so often.
TRIES = 8


def clipper(
    *,
    max_tokens: int | None = None,
    max_lines: int | None = None,
    chunk_lines: int | None = None,
    model: str | None = None,
    banner: bool = True,
    folder: str = FOLDER,
    store: Store | None = None,
    **given: Any,
) -> Clipper:
    """The truncation of vtcode; `max_tokens` for one call. `banner`: whether the first line says where all of it is."""
    if max_tokens is None and max_lines is not None:
        max_tokens = tokens_for_lines(max_lines, "max_lines")
    elif max_tokens is None and chunk_lines is not None:
        max_tokens = tokens_for_lines(chunk_lines, "chunk_lines")
    defaults = {
        "limits": Limits(tokens=MAX_TOKENS if max_tokens is None else max_tokens, bytes=SPOOL_BYTES),
        "keep": "ends",
        "wording": form(banner=banner),
        "store": store_for(store, folder=folder, names=_name, shape=SHAPE, age_seconds=AGE_SECONDS, profile="vtcode"),
    }
    return made(defaults | ({"tokens": f"model:{model}"} if model else {}), given)


def budget(window: int = 128_000, **choices: Any) -> Budget:
    """The budget manager of vtcode: the window its own variable names, warnings at 75 % and 85 %, limits by pressure."""
    return Budget.from_env(window, variables=WINDOW_VARIABLES, **choices)


def form(*, banner: bool = True) -> Form:
    """The count of lines where they are missing, and a first line for the reader who has to go back."""

    def words(told: Told) -> tuple[str, str, str]:
        missing = told.total.lines - told.shown.lines
        what = f"{missing} lines" if missing else f"{told.total.bytes - told.shown.bytes} bytes"
        between = f"\n[... {what} truncated ...]\n"
        if told.parts and told.parts[0].endswith("\n"):
            between = between[1:]
        if not banner:
            return "", between, ""
        said = f"[OUTPUT] Output too large ({_size(told.total.bytes)}, {told.total.lines} lines), "
        saved = told.place is not None and told.stored is None
        return f"{said}{f'spooled to: {told.place}' if saved else lost_words(told)}\n", between, ""

    return Form(words, {"ends": both_halves})


def metadata(clip: Clip, clipper: Clipper) -> dict[str, object]:
    """What its tools say beside the text: the budget that was applied, and where all of it is."""
    facts: dict[str, object] = {"applied_max_tokens": clipper.limits.tokens, "truncated": clip.outcome != "whole"}
    return facts | ({"spool_path": clip.path} if clip.path else {})


def both_halves(limits: Limits) -> Selector:
    """Whole lines for half of the tokens from either end, a line at least; of one that is too long, the part that fits."""
    tokens = limits.tokens or MAX_TOKENS

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        if len(document.sections) > 1 or document.gap[0] < document.gap[1]:
            return keeping(0.5)(document, fill)
        half = tokens // 2
        for _ in range(TRIES):
            spans = _halves(document, half)
            full = fill(spans)
            if full <= 1:
                return spans
            half = int(half / full * 0.98)
        return keeping(0.5)(document, fill)

    return select


def _halves(document: Document, half: int) -> list[Span]:
    reach = int(half * CHARS_PER_TOKEN) + 1
    head = document.blob.read(0, reach)
    tail = document.blob.read(max(0, document.size - reach), document.size)
    upto, since = _from_start(head, half), document.size - len(tail) + _from_end(tail, half)
    return [Span(0, document.size)] if upto >= since else [Span(0, upto), Span(since, document.size)]


def _from_start(data: bytes, half: int) -> int:
    at = used = 0
    while (end := data.find(b"\n", at) + 1) and used + _cost(end - at - 1) <= half:
        used, at = used + _cost(end - at - 1), end
    return at or char_before(data, min(len(data), int(half * CHARS_PER_TOKEN)), 0)


def _from_end(data: bytes, half: int) -> int:
    used, at = 0, len(data)
    while at > 0:
        start = data.rfind(b"\n", 0, at - 1) + 1
        cost = _cost(at - start)
        if used + cost > half or start == 0:
            break
        used, at = used + cost, start
    return at if at < len(data) else char_after(data, max(0, len(data) - int(half * CHARS_PER_TOKEN)), len(data))


def _cost(size: int) -> int:
    return ceil(size / CHARS_PER_TOKEN)


def _size(size: int) -> str:
    return f"{max(1, round(size / 1_024))}KB"


def _name(record: Record) -> str:
    return f"{name_part(record.tool, 'tool').replace('-', '_')}_{int(record.created * 1_000_000)}.txt"
