"""klaude: above 40,000 characters, the first 10,000 and the last 10,000, the file named first."""

from __future__ import annotations

import abc
import os
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from spillover.api import Clipper
from spillover.errors import MissingExtraError, UsageError
from spillover.kinds.ends import both_ends, first_chars, head_and_tail, last_chars
from spillover.notice.form import CutFacts, Form, HiddenPart, Words
from spillover.profiles import has_whole_file, lost_words_without_path, make, name_call, open_outputs
from spillover.settings.limits import Limits
from spillover.store import Store
from spillover.store.folder import temp_folder
from spillover.types import Keep, Selector

__all__ = [
    "TOOL_OUTPUT_DISPLAY_HEAD",
    "TOOL_OUTPUT_DISPLAY_TAIL",
    "TOOL_OUTPUT_MAX_LENGTH",
    "TOOL_OUTPUT_TRUNCATION_DIR",
    "SmartTruncationStrategy",
    "ToolResultUIExtra",
    "ToolResultUIExtraType",
    "TruncationResult",
    "TruncationStrategy",
    "TruncationUIExtra",
    "clipper",
    "form",
    "renderable",
    "show",
    "truncate_tool_output",
    "ui_extra",
]

TOOL_OUTPUT_MAX_LENGTH = 40_000
TOOL_OUTPUT_DISPLAY_HEAD = TOOL_OUTPUT_DISPLAY_TAIL = 10_000
#: The same as settings, for `profile = "klaude"`.
SETTINGS = {
    "chars": TOOL_OUTPUT_DISPLAY_HEAD + TOOL_OUTPUT_DISPLAY_TAIL,
    "keep": "ends",
}
TOOL_OUTPUT_TRUNCATION_DIR = "klaude"  # in the temporary folder
#: klaude leaves cleaning up to the system; here files end by age, like everything else that is stored.
AGE_SECONDS = 7 * 24 * 60 * 60
FILE_SHAPE = r"[A-Za-z0-9._-]+-[A-Za-z0-9._-]+-\d+\.txt"


def clipper(
    *,
    max_length: int = TOOL_OUTPUT_MAX_LENGTH,
    head_chars: int = TOOL_OUTPUT_DISPLAY_HEAD,
    tail_chars: int = TOOL_OUTPUT_DISPLAY_TAIL,
    folder: str | None = None,
    keep: Keep | Selector = "ends",
    store: Store | str | os.PathLike[str] | None = None,
    clock: Callable[[], float] = time.time,
    **options: Any,
) -> Clipper:
    """Return a Clipper that truncates as klaude does. `clock` gives the timestamp in a file's name."""
    if min(head_chars, tail_chars, max_length) < 0 or head_chars + tail_chars == 0:
        raise UsageError(
            "head_chars, tail_chars and max_length must be 0 or more, and head_chars or tail_chars more than 0."
        )
    outputs = open_outputs(
        store,
        folder=folder or default_folders()[0],
        names=lambda record: f"{name_call(record)}-{int(clock())}.txt",
        shape=FILE_SHAPE,
        age_seconds=AGE_SECONDS,
    )
    defaults = {
        "limits": Limits(chars=head_chars + tail_chars),
        "keep": keep,
        "wording": form(head_chars, tail_chars, max_length),
        "store": outputs,
    }
    return make(defaults, options)


def default_folders() -> list[str]:
    """Return the folder of its outputs."""
    return [temp_folder(TOOL_OUTPUT_TRUNCATION_DIR)]


def form(
    head_chars: int = TOOL_OUTPUT_DISPLAY_HEAD,
    tail_chars: int = TOOL_OUTPUT_DISPLAY_TAIL,
    max_length: int = TOOL_OUTPUT_MAX_LENGTH,
) -> Form:
    """Return its message and its cut: both ends, or only the beginning where no file could be written."""

    def cut(limits: Limits) -> Selector:
        """Cut to both ends as chosen, or to halves of limits that were changed since."""
        return head_and_tail(head_chars, tail_chars) if limits.chars == head_chars + tail_chars else both_ends(limits)

    cuts = {"ends": cut, "head": first_chars, "tail": last_chars}
    return Form(_words, cuts, trigger=Limits(chars=max(max_length, head_chars + tail_chars)), lost="head")


class TruncationResult(Struct, frozen=True):
    """A truncated output, and where the whole is."""

    output: str
    was_truncated: bool
    saved_file_path: str | None = None
    original_length: int = 0  # characters
    truncated_length: int = 0  # characters that are hidden
    ref: str | None = None  # what it is stored under here; the document has no such name
    reason: str | None = None  # why nothing is stored


class TruncationStrategy(abc.ABC):
    """How the output of a tool is truncated; to write your own, implement this one method."""

    @abc.abstractmethod
    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Truncate one output."""


class SmartTruncationStrategy(TruncationStrategy):
    """Both ends for the model, all of it in a file. Takes what `clipper` takes."""

    def __init__(self, **options: Any) -> None:
        self.clipper = clipper(**options)

    def truncate(self, output: str, tool_name: str | None = None, call_id: str | None = None) -> TruncationResult:
        """Truncate one output. It never raises: when the file cannot be written, the result says so."""
        trigger = self.clipper.call(tool_name).trigger
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
    """Truncate the output of a tool, by SmartTruncationStrategy or by another strategy."""
    return (strategy or SmartTruncationStrategy()).truncate(output, tool_name, call_id)


class ToolResultUIExtraType(StrEnum):
    """The kind of facts that a terminal gets about a tool's result."""

    TRUNCATION = "truncation"


class TruncationUIExtra(Struct, frozen=True):
    """The facts of a cut."""

    saved_file_path: str | None  # None: nothing could be saved
    original_length: int
    truncated_length: int


class ToolResultUIExtra(Struct, frozen=True):
    """What a terminal gets about a tool's result: a kind, and the facts under the name of that kind."""

    type: ToolResultUIExtraType
    truncation: TruncationUIExtra | None = None


def ui_extra(result: TruncationResult) -> ToolResultUIExtra | None:
    """Return the facts of a cut for the terminal; None when nothing was cut."""
    if not result.was_truncated:
        return None
    facts = TruncationUIExtra(result.saved_file_path, result.original_length, result.truncated_length)
    return ToolResultUIExtra(ToolResultUIExtraType.TRUNCATION, facts)


def renderable(extra: ToolResultUIExtra) -> Any:
    """Return the lines for a terminal (extra: rich); whatever stands in a path is shown, never interpreted."""
    try:
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("the terminal renderer needs the extra: pip install 'spillover[rich]'") from error

    cut = extra.truncation
    if cut is None:
        return Text()
    text = Text.assemble(
        ("✂ Output truncated: ", "bold yellow"),
        f"{cut.original_length:,} characters, {cut.original_length - cut.truncated_length:,} shown to the model, ",
        (f"{cut.truncated_length:,} hidden", "bold"),
        "\n  ",
    )
    if cut.saved_file_path is None:
        return text.append("The full output could not be saved.", "red")
    path = "".join(char if char.isprintable() else "\ufffd" for char in cut.saved_file_path)
    return text.append("Full output: ").append(path, "cyan underline")


def show(extra: ToolResultUIExtra, console: Any = None) -> None:
    """Print it on a terminal."""
    text = renderable(extra)
    if console is None:
        from rich.console import Console

        console = Console()
    console.print(text, soft_wrap=True, highlight=False)  # a path that is wrapped cannot be opened by a click


def _words(cut: CutFacts) -> Words:
    """Return the words of the document for a cut, with the shown amount if that is not the two ends."""
    first, last = _ends(cut)
    only_ends = first + last == sum(map(len, cut.parts))
    amount = f"first {first} and last {last}" if only_ends else f"{cut.shown.chars} of {cut.total.chars}"
    below = f"[Last {last} chars below]\n" if only_ends and cut.place else ""

    def gap(missing: HiddenPart) -> str:
        return f"\n\n... ({missing.chars} characters truncated) ...\n\n{below}"

    opening = gap(cut.before) if cut.before.bytes else ""
    closing = gap(cut.behind) if cut.behind.bytes else ""
    if cut.place is None:
        return opening, gap, f"{closing.rstrip()}\n\n[{lost_words_without_path(cut)}]"
    place = f"full output saved to {cut.place}" if has_whole_file(cut) else lost_words_without_path(cut)
    before = (
        f"[Output truncated: {cut.hidden.chars} chars hidden, {place}. Use Read tool or rg to get details. "
        f"Showing {amount} chars below.]\n\n"
    )
    return before + opening, gap, closing


def _ends(cut: CutFacts) -> tuple[int, int]:
    """Return the number of characters that are shown from the beginning on, and up to the end."""
    if not cut.parts:
        return 0, 0
    first = 0 if cut.before.bytes else len(cut.parts[0])
    alone = len(cut.parts) == 1 and first
    return first, 0 if cut.behind.bytes or alone else len(cut.parts[-1])
