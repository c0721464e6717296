"""klaude: above 40,000 characters, the first 10,000 and the last 10,000, the file named first."""

from __future__ import annotations

import abc
import time

from spillover.config.place import temp_folder
from spillover.data import dataclass
from spillover.errors import UsageError
from spillover.form import Form, Told
from spillover.limits import Limits
from spillover.profiles.base import lost_words_without_path, made, store_for
from spillover.profiles.klaude_today import OffloadResult, Policy, offload, strategy_for, today_clipper
from spillover.profiles.klaude_ui import TruncationUIExtra, renderable, show
from spillover.select.exact import both_ends, ends, first_chars
from spillover.store.named import name_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.select.span import Selector
    from spillover.store.base import Record, Store

__all__ = [
    "OffloadResult",
    "Policy",
    "SmartTruncationStrategy",
    "TruncationResult",
    "TruncationStrategy",
    "TruncationUIExtra",
    "clipper",
    "form",
    "offload",
    "renderable",
    "show",
    "strategy_for",
    "today_clipper",
    "truncate_tool_output",
    "ui_extra",
]

TOOL_OUTPUT_MAX_LENGTH = 40_000
TOOL_OUTPUT_DISPLAY_HEAD = TOOL_OUTPUT_DISPLAY_TAIL = 10_000
#: The same as settings, for `profile = "klaude"`.
SETTINGS = {
    "chars": TOOL_OUTPUT_DISPLAY_HEAD + TOOL_OUTPUT_DISPLAY_TAIL,
    "trigger.chars": TOOL_OUTPUT_MAX_LENGTH,
    "keep": "ends",
}
TOOL_OUTPUT_TRUNCATION_DIR = "klaude"  # in the temporary folder
#: It leaves cleaning up to the system; ours ends by age, as everything does that is kept here.
AGE_SECONDS = 7 * 24 * 60 * 60
SHAPE = r"[A-Za-z0-9._-]+-[A-Za-z0-9._-]+-\d+\.txt"
DIGITS = 8


def clipper(
    *,
    max_length: int = TOOL_OUTPUT_MAX_LENGTH,
    head_chars: int = TOOL_OUTPUT_DISPLAY_HEAD,
    tail_chars: int = TOOL_OUTPUT_DISPLAY_TAIL,
    folder: str | None = None,
    store: Store | None = None,
    clock: Callable[[], float] = time.time,
    **given: Any,
) -> Clipper:
    """What klaude does to an output. `clock` is where the timestamp in a file's name comes from."""
    if min(head_chars, tail_chars, max_length) < 0 or head_chars + tail_chars == 0:
        raise UsageError("head_chars and tail_chars are numbers of 0 or more, and one of them is more than 0.")
    shown = head_chars + tail_chars
    kept = store_for(
        store,
        folder=folder or temp_folder(TOOL_OUTPUT_TRUNCATION_DIR),
        names=_names(clock),
        shape=SHAPE,
        age_seconds=AGE_SECONDS,
        profile="klaude",
    )
    defaults = {
        "limits": Limits(chars=shown),
        "trigger": Limits(chars=max(max_length, shown)),
        "keep": "ends",
        "wording": form(head_chars, tail_chars),
        "store": kept,
    }
    return made(defaults, given)


def form(head_chars: int = TOOL_OUTPUT_DISPLAY_HEAD, tail_chars: int = TOOL_OUTPUT_DISPLAY_TAIL) -> Form:
    """Its message: the file first, and what follows said again before the end. Only the beginning where none is kept."""

    def cut(limits: Limits) -> Selector:
        """Both ends as chosen; where the limits were changed since, halves of those."""
        return ends(head_chars, tail_chars) if limits.chars == head_chars + tail_chars else both_ends(limits)

    return Form(_words, {"ends": cut, "head": first_chars}, lost="head")


@dataclass(frozen=True, slots=True)
class TruncationResult:
    """What a strategy gives back."""

    output: str
    was_truncated: bool
    saved_file_path: str | None = None
    original_length: int = 0  # characters
    truncated_length: int = 0  # of them, those that are not shown
    ref: str | None = None  # what it is stored under here; the document has no such name
    reason: str | None = None  # why nothing is stored


class TruncationStrategy(abc.ABC):
    """How the output of a tool is brought down; write your own by this one method."""

    @abc.abstractmethod
    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bring one output down."""


class SmartTruncationStrategy(TruncationStrategy):
    """Both ends for the model, all of it in a file. Takes what `clipper` takes."""

    def __init__(self, **choices: Any) -> None:
        self.clipper = clipper(**choices)

    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Bring one output down; whatever happens to the file, there is a result."""
        trigger = self.clipper.for_tool(tool_name).trigger
        if trigger is not None and trigger.chars is not None and len(output) <= trigger.chars:
            return TruncationResult(output, was_truncated=False, original_length=len(output))
        clip = self.clipper.clip(output, tool=tool_name, call_id=call_id)
        if clip.outcome == "whole":
            return TruncationResult(output, was_truncated=False, original_length=len(output))
        return TruncationResult(
            clip.text,
            was_truncated=True,
            saved_file_path=clip.path if clip.ref else None,
            original_length=len(output),
            truncated_length=clip.total.chars - clip.shown.chars,
            ref=clip.ref,
            reason=clip.reason,
        )


def truncate_tool_output(
    output: str, tool_name: str | None = None, call_id: str | None = None, *, strategy: TruncationStrategy | None = None
) -> TruncationResult:
    """Bring the output of a tool down, by its own strategy if that is not given another."""
    return (strategy or SmartTruncationStrategy()).truncate(output, tool_name, call_id)


def ui_extra(result: TruncationResult) -> TruncationUIExtra | None:
    """What the terminal is told of a result; None when nothing was cut."""
    if not result.was_truncated:
        return None
    return TruncationUIExtra(result.saved_file_path, result.original_length, result.truncated_length)


def _words(told: Told) -> tuple[str, str, str]:
    hidden = told.total.chars - told.shown.chars
    if told.place is None:
        return "", "\n\n", f"\n\n... ({hidden} characters truncated) ...\n\n[{lost_words_without_path(told)}]"
    where = f"full output saved to {told.place}" if told.stored is None else lost_words_without_path(told)
    first, last = len(told.parts[0]) if told.parts else 0, sum(map(len, told.parts[1:]))
    before = (
        f"[Output truncated: {hidden} chars hidden, {where}. Use Read tool or rg to get details. "
        f"Showing first {first} and last {last} chars below.]\n\n"
    )
    return before, f"\n\n... ({hidden} characters truncated) ...\n\n[Last {last} chars below]\n", ""


def _names(clock: Callable[[], float]) -> Callable[[Record], str]:
    def name(record: Record) -> str:
        call = name_part(record.call_id, record.sha256[:DIGITS])
        return f"{name_part(record.tool, 'tool')}-{call}-{int(clock())}.txt"

    return name
