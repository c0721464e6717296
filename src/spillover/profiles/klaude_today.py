"""klaude as it is today: above 40,000 characters or 2,000 lines, both ends in that unit, in a system reminder."""

from __future__ import annotations

from spillover.config.place import temp_folder
from spillover.data import dataclass, replace
from spillover.errors import StoreError, UsageError
from spillover.form import Form, Told
from spillover.limits import Limits, count_lines
from spillover.profiles.base import lost_words_without_path, made, store_for
from spillover.select.exact import ends
from spillover.select.span import Span
from spillover.store.memory import MemoryStore
from spillover.store.named import name_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, NoReturn

    from spillover.clipper import Clipper
    from spillover.select.span import Fill, Selector
    from spillover.store.base import Record, Store
    from spillover.view.document import Document

    Policy = Literal["never", "on_threshold"]
else:
    Policy = str

MAX_LENGTH, MAX_LINES = 40_000, 2_000
HEAD_CHARS = TAIL_CHARS = 10_000
HEAD_LINES = TAIL_LINES = 1_000
#: What it says where a tool said nothing.
EMPTY = "<system-reminder>Tool ran without output or errors</system-reminder>"
#: By the tool: "pass" leaves its output alone, since it bounds that itself; all others are cut to both "ends".
STRATEGIES = {"Read": "pass"}
AGE_SECONDS = 7 * 24 * 60 * 60
SHAPE = r"klaude-[a-z0-9._-]+-[0-9a-f]{16}\.log"


@dataclass(frozen=True, slots=True)
class OffloadResult:
    """What offloading gives back."""

    output: str
    was_truncated: bool = False
    path: str | None = None
    original_length: int = 0
    truncated_chars: int = 0


def today_clipper(
    *,
    max_length: int = MAX_LENGTH,
    max_lines: int = MAX_LINES,
    head_chars: int = HEAD_CHARS,
    tail_chars: int = TAIL_CHARS,
    head_lines: int = HEAD_LINES,
    tail_lines: int = TAIL_LINES,
    policy: Policy = "on_threshold",
    folder: str | None = None,
    store: Store | None = None,
    **given: Any,
) -> Clipper:
    """Today's klaude. `policy="never"` cuts as well, but keeps nothing."""
    if (
        min(head_chars, tail_chars, head_lines, tail_lines) < 0
        or not head_chars + tail_chars
        or not head_lines + tail_lines
    ):
        raise UsageError("how much is shown of either end is a number of 0 or more, and of one of them more than 0.")
    if policy not in ("never", "on_threshold"):
        raise UsageError(f'policy={policy!r} is none of its policies; use "never" or "on_threshold".')
    kept = store_for(
        store,
        folder=folder or temp_folder("klaude"),
        names=_name,
        shape=SHAPE,
        age_seconds=AGE_SECONDS,
        profile="klaude",
    )
    most = max(max_length, head_chars + tail_chars)
    words = Form(_words, {"ends": lambda _: _cut(most, (head_chars, tail_chars), (head_lines, tail_lines))})
    defaults = {
        "limits": Limits(chars=most, lines=max(max_lines, head_lines + tail_lines)),
        "keep": "ends",
        "wording": words,
        "store": Keepless() if policy == "never" else kept,
        "rules": {tool: {"clip": False} for tool, strategy in STRATEGIES.items() if strategy == "pass"},
        "raw": False,  # escape codes are taken out of what it shows, and CRLF becomes LF
    }
    return made(defaults, given)


def strategy_for(tool_name: str | None) -> str:
    """What is done to the output of a tool: "pass" or "ends"."""
    return STRATEGIES.get(tool_name or "", "ends")


def offload(output: str, tool_name: str | None = None, **choices: Any) -> OffloadResult:
    """Its entry point: the text as it is, or both ends of it and the file with the whole. Takes what `today_clipper` takes."""
    whole = OffloadResult(output, original_length=len(output))
    if strategy_for(tool_name) == "pass":
        return whole
    clipper = today_clipper(**choices)
    chars, lines = clipper.limits.chars, clipper.limits.lines
    assert chars is not None
    assert lines is not None
    if len(output) <= chars and count_lines(output) <= lines:
        return whole
    if len(output) > chars:  # cut by characters it is shown as it came
        clipper = replace(clipper, raw=True)
    clip = clipper.clip(output, tool=tool_name)
    hidden = clip.total.chars - clip.shown.chars
    return OffloadResult(clip.text, clip.outcome != "whole", clip.path if clip.ref else None, len(output), hidden)


def text_or_reminder(output: str) -> str:
    """What the model gets of a tool that said nothing: a reminder that it did run."""
    return output or EMPTY


class Keepless(MemoryStore):
    """A store for those who want nothing kept: it takes no output."""

    __slots__ = ()

    def writer(self) -> NoReturn:
        """Raises StoreError."""
        raise StoreError('the policy is "never"')


def _words(told: Told) -> tuple[str, str, str]:
    unit = "chars" if told.total.chars > (told.limits.chars or 0) or not told.whole_lines else "lines"
    if unit == "lines":
        shown = [part.count("\n") + 1 for part in told.parts]
        total, hidden = told.total.lines, told.total.lines - sum(shown)
    else:
        shown = [len(part) for part in told.parts]
        total, hidden = told.total.chars, told.total.chars - told.shown.chars
    first, last = shown[0] if shown else 0, sum(shown[1:])
    kept = (
        f"Full output saved to: {told.place} " if told.place and told.stored is None else lost_words_without_path(told)
    )
    before = (
        f"<system-reminder>Output truncated due to length. Showing first {first} and last {last} {unit} "
        f"of {total} {unit}. {kept}</system-reminder>\n\n"
    )
    after = "" if len(told.parts) > 1 else f"\n\n<...{hidden} {unit} omitted...>\n\n"
    return before, f"\n\n<...{hidden} {unit} omitted...>\n\n", after


def _cut(most: int, chars: tuple[int, int], lines: tuple[int, int]) -> Selector:
    def select(document: Document, fill: Fill) -> Sequence[Span]:
        """By characters where there are too many of them, which is the stricter cut; else by lines."""
        if document.chars > most or document.size > 2 * document.reach or len(document.sections) > 1:
            return ends(*chars)(document, fill)
        return _ends_of_lines(document.blob.read(0, document.size), *lines)

    return select


def _ends_of_lines(data: bytes, head: int, tail: int) -> list[Span]:
    """So many lines of either end, each part without the newline behind it."""
    size = len(data) - data.endswith(b"\n")
    opens, closes = 0, size
    for _ in range(head):
        found = data.find(b"\n", opens, size)
        opens = size + 1 if found < 0 else found + 1
    for _ in range(tail):
        closes = data.rfind(b"\n", 0, max(closes, 0))
    parts = (Span(0, min(max(0, opens - 1), size)), Span(closes + 1, size))
    return (
        [Span(0, size)]
        if parts[0].end >= parts[1].start and tail
        else [part for part in parts if part.start < part.end]
    )


def _name(record: Record) -> str:
    return f"klaude-{name_part((record.tool or '').lower(), 'tool')}-{record.sha256[:16]}.log"
