"""Noting what reached the model: a line in the journal for each clip and each retrieval. It never fails the call it notes.

Whoever hands a text to its reader notes it. Where several clips are made for one result, as for the fields of an object, they
are made inside `gather`, and the result is noted once, as the model gets it.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager
from contextvars import ContextVar

from spillover.hosts import cut_of, name_of
from spillover.journal import Entry, append, folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spillover.choices import Choices
    from spillover.journal import EntryOutcome, Operation
    from spillover.limits import Size
    from spillover.result import Clip
    from spillover.store.base import Record

#: Turns the journal off for a whole process, also where no configuration is read.
VARIABLE = "SPILLOVER_STATS"
SHELLS = ("bash", "sh", "dash", "zsh")
#: The clips that are gathered for one result; None where each is a result by itself.
_gathered: ContextVar[list[Clip] | None] = ContextVar("gathered", default=None)


@contextmanager
def gather() -> Iterator[list[Clip]]:
    """Make clips inside that are parts of one result: none is noted, and all of them are in the list."""
    clips: list[Clip] = []
    token = _gathered.set(clips)
    try:
        yield clips
    finally:
        _gathered.reset(token)


def is_wanted(choices: Choices, *, whole: bool) -> bool:
    """Return whether a result is noted: what fitted only where somebody asks for all of it (`stats=True`)."""
    return choices.stats is not False and (not whole or choices.stats is True) and _gathered.get() is None


def note_clip(
    choices: Choices,
    clip: Clip,
    *,
    texts: Sequence[str] | None = None,
    command: str | None = None,
    host: str | None = None,
    cut: Mapping[str, int] | None = None,
    failing: bool = False,
    framed: bool = False,
    seconds: float = 0.0,
) -> None:
    """Note a clip. `texts` is what reached the model, where that is not the clip's own text.

    `framed`: more of the output stands around it, which was not cut. `host` and its `cut` are those of the agent that runs this
    process, where nobody says.
    """
    held = _gathered.get()
    if held is not None:
        held.append(clip)
        return
    if not is_wanted(choices, whole=clip.outcome == "whole"):
        return
    try:
        received = sum(map(choices.count, filter(None, (clip.text,) if texts is None else texts)))
        whole = clip.outcome == "whole"
        produced = received if whole else max(clip.total.tokens, clip.shown.tokens)
        shown = received if whole else min(clip.shown.tokens, received)
        if framed and not whole and (around := received - choices.count(clip.text)) > 0:
            produced, shown = produced + around, min(shown + around, received)
        bounds = cut_of(os.environ, failing=failing) if cut is None else cut
        _write(
            choices,
            "clip",
            clip.outcome,
            tool=choices.tool,
            command=command,
            host=host,
            ref=clip.ref,
            kind="" if whole else clip.kind,
            produced=produced,
            base=_base(produced, clip.total, bounds),
            shown=shown,
            notice=received - shown,
            seconds=seconds,
        )
    except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on
        _complain(error)


def note_retrieval(
    choices: Choices,
    operation: Operation,
    text: str,
    *,
    clip: Clip | None = None,
    record: Record | None = None,
    seconds: float = 0.0,
) -> None:
    """Note that somebody went back: how, and what came of it. Without a clip, the text says why nothing did."""
    held = _gathered.get()
    if held is not None:
        if clip is not None:
            held.append(clip)
        return
    if choices.stats is False:
        return
    try:
        told = clip is not None and record is not None and operation in ("read", "grep")
        lines, near = _compare(clip, record) if told else ((), None)  # type: ignore[arg-type]  # neither is None then
        _write(
            choices,
            operation,
            "failed" if clip is None else clip.outcome,
            tool=choices.tool if record is None else record.tool,
            command=None if record is None else record.command,
            ref=record.ref if record else clip.ref if clip else None,
            kind=record.kind if record else "",
            shown=choices.count(text) if text else 0,
            lines=lines,
            near=near,
            seconds=seconds,
        )
    except Exception as error:  # noqa: BLE001  as above
        _complain(error)


def note_schemas(choices: Choices, text: str, *, host: str | None = None) -> None:
    """Note what our own tools cost a session before any of them is called: their descriptions, as a request holds them."""
    if choices.stats is False or not text:
        return
    try:
        _write(choices, "schema", "whole", tool="", host=host, shown=choices.count(text))
    except Exception as error:  # noqa: BLE001  as above
        _complain(error)


def _write(
    choices: Choices,
    operation: Operation,
    outcome: EntryOutcome,
    *,
    tool: str,
    command: str | None = None,
    host: str | None = None,
    ref: str | None = None,
    kind: str = "",
    produced: int = 0,
    base: int = 0,
    shown: int = 0,
    notice: int = 0,
    lines: tuple[tuple[int, int], ...] = (),
    near: int | None = None,
    seconds: float = 0.0,
) -> None:
    folder = folder_of(choices.store)
    if folder is None or os.environ.get(VARIABLE, "").lower() == "false":
        return
    from spillover.secrets.commands import shorten_command
    from spillover.store.scope import EVERY, default_scope

    entry = Entry(
        operation=operation,
        outcome=outcome,
        when=time.time(),
        scope=default_scope() if choices.scope in (None, EVERY) else choices.scope,
        tool=tool,
        host=name_of(os.environ) if host is None else host,
        command=shorten_command(_line_of(command)) if command else "",
        kind=kind,
        ref=ref or "",
        produced=produced,
        base=base,
        shown=shown,
        notice=notice,
        milliseconds=round(seconds * 1000),
        lines=lines,
        near=near,
    )
    append(folder, entry)


def _line_of(command: str) -> str:
    """Return the line that a shell was given, where the command is a shell."""
    shell, _, rest = command.partition(" -c ")
    return rest if rest and shell.rpartition("/")[2] in SHELLS else command


def _base(produced: int, total: Size, bounds: Mapping[str, int]) -> int:
    """Return how many of the tokens the host would have shown without us."""
    share = min((most / size for name, most in bounds.items() if (size := getattr(total, name)) > most), default=1.0)
    return int(produced * share)


def _compare(clip: Clip, record: Record) -> tuple[tuple[tuple[int, int], ...], int | None]:
    """Return the lines that were fetched, and how far those of them that had not been shown are from what had."""
    if "#" in (clip.ref or ""):  # lines of a value inside of it
        return (), None
    hidden = [part for first, last in clip.ranges for part in _outside(first, last, record.shown)]
    if not hidden:
        return clip.ranges, None
    if not record.shown:  # nothing of it was, as of what a `| tail` drops
        return clip.ranges, record.lines
    far = (
        max(first - shown_last, shown_first - last)
        for first, last in hidden
        for shown_first, shown_last in record.shown
    )
    return clip.ranges, min(far)


def _outside(first: int, last: int, shown: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range of lines that are in none of the others, which are in order."""
    for shown_first, shown_last in shown:
        if shown_last < first or shown_first > last:
            continue
        if shown_first > first:
            yield first, shown_first - 1
        first = shown_last + 1
    if first <= last:
        yield first, last


def _complain(error: Exception) -> None:
    logging.getLogger(__name__).info(
        "A line could not be written to the journal, so `spill stats` does not count this call: %s", error
    )
