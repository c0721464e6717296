"""Running a line of shell: what it prints clipped, what its own `| tail` throws away kept, the exit code behind a pipe told."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.result import Run
from spillover.run.command import run
from spillover.run.filters import Keeper, Kept
from spillover.settings.limits import SMALLEST, Limits
from spillover.settings.settings import Call
from spillover.shell.pipes import Pipe, find_pipes
from spillover.source.intake import Intake
from spillover.source.process import Command

#: Shells whose pipelines are understood; in any other the line runs as it came.
KNOWN = ("bash", "sh", "dash")
#: The lines that we add take at most one part in so many of the limits.
MOST_SHARE = 4


class Line(Struct, frozen=True):
    """A line that has ended."""

    run: Run
    kept: tuple[Kept, ...] = ()
    notes: tuple[str, ...] = ()
    pieces: tuple[tuple[str, bytes], ...] = ()  # (stream, bytes) in order of arrival, where it is shown as it came


def run_line(
    line: str,
    clipper: Clipper,
    *,
    call: Call | None = None,
    shell: str = "bash",
    timeout: float | None = None,
    interactive: bool = False,
    die_with_parent: bool = False,
    together: bool = False,
) -> Line:
    """Run a line as `bash -c` does, and clip what it prints. `call`: what holds for it, where that is not its own tool.

    `together`: its streams are one pipe, in the order written.
    """
    if "\0" in line:
        raise UsageError("a line of shell cannot hold a NUL byte.")
    call = call or clipper.call(command=line)
    pipes = _pipes(line, shell)
    keeper = Keeper(pipes, clipper, line, shell) if pipes else None
    kept: tuple[Kept, ...] = ()
    notes: list[str] = []
    pieces: tuple[tuple[str, bytes], ...] = ()

    def settle(intake: Intake, call: Call, exit_code: int) -> Call:
        nonlocal kept, notes, pieces
        kept = keeper.settle(intake) if keeper else ()
        told = [note for each in kept if (note := each.note(exit_code))]
        notes, call = _leave_room(told, call)
        shown = pipeline.raw_if_harmless(intake, call)
        pieces = () if shown is call else tuple(intake.pieces)
        return shown

    try:
        argv = [shell, "-c", keeper.rewrite(line) if keeper else line]
        ended = run(
            Command(
                argv=argv,
                timeout=timeout,
                interactive=interactive,
                die_with_parent=die_with_parent,
                together=together,
            ),
            call,
            said=f"{shell} -c {line}",
            settling=settle,
            beside=lambda: notes,
        )
        if keeper:
            keeper.note()
    finally:
        if keeper:
            keeper.close()
    return Line(ended, kept, tuple(notes), pieces if ended.clip.outcome == "whole" else ())


def _pipes(line: str, shell: str) -> list[Pipe]:
    """Return the pipelines to look into: their filters are programs, and no function that the shell inherits hides them."""
    name = os.path.basename(shell)
    if name not in KNOWN or not any(each in line for each in ("tail", "head", "grep", "sed", "wc", "rg")):
        return []
    from shutil import which  # few lines come this far

    return [
        pipe
        for pipe in find_pipes(line)
        if which(pipe.program)
        and f"BASH_FUNC_{pipe.program}%%" not in os.environ
        and not (name != "bash" and "|&" in line)
    ]


def _leave_room(notes: list[str], call: Call) -> tuple[list[str], Call]:
    """Return the notes that there is room for, and call whose limits leave it."""
    while notes:
        text = "".join(f"{note}\n" for note in notes)
        cost = {
            "lines": len(notes),
            "bytes": len(text.encode()),
            "chars": len(text),
            "tokens": call.settings.count(text) + 1,
        }
        limits, trigger = _lower(call.limits, cost), call.trigger and _lower(call.trigger, cost)
        if limits is not None and (trigger is None) == (call.trigger is None):
            try:
                call.settings.check_room(limits)
            except UsageError:  # as the user's own tokenizer counts
                pass
            else:
                return notes, replace(call, limits=limits, trigger=trigger)
        notes = notes[:-1]
    return [], call


def _lower(limits: Limits, cost: Mapping[str, int]) -> Limits | None:
    given = dict(limits.given())
    if any(value < MOST_SHARE * cost[name] or value - cost[name] < SMALLEST[name] for name, value in given.items()):
        return None
    return replace(limits, **{name: value - cost[name] for name, value in given.items()})
