"""Running a command: its output clipped, its exit as it was."""

from __future__ import annotations

import os
import time

from spillover import pipeline
from spillover.data import dataclass
from spillover.intake import child
from spillover.result import Clip
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.choices import Choices
    from spillover.intake.child import Command
    from spillover.intake.take import Intake

#: At most so often is progress told, and so much of the last line.
EVERY = 0.1
LAST_CHARS = 200
#: A record keeps no more of a command line.
COMMAND_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running command has come."""

    bytes: int
    last: str  # the last line so far, cleaned, at most LAST_CHARS


@dataclass(frozen=True, slots=True)
class Run:
    """A command that has ended."""

    exit_code: int
    clip: Clip
    timed_out: bool = False
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    signals: tuple[int, ...] = ()  # what we were sent, and passed on, while it ran
    streams: tuple[tuple[str, str], ...] = ()  # (stream, text) in order of arrival, when nothing was cut


def run(
    command: Command,
    choices: Choices,
    *,
    call_id: str | None = None,
    cancel: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run a command to its end and clip what it printed."""
    intake = pipeline.begin(choices)
    try:
        ended = child.run(command, intake, cancel=cancel, tick=on_progress and _ticker(intake, on_progress))
        intake.finish()
        streams = () if intake.spilled else _streams(intake)
    except BaseException:
        intake.abandon()
        raise
    clip = pipeline.settle(
        intake, choices, call_id=call_id, command=" ".join(os.fspath(word) for word in command.argv)[:COMMAND_CHARS]
    )
    size = {name: sum(count for stream, count in intake.segments if stream == name) for name in ("stdout", "stderr")}
    if ended.signals and not command.interactive:
        import signal  # what we passed on was meant for this program as well, which now has its own handlers back

        signal.raise_signal(ended.signals[0])
    return Run(
        ended.exit_code,
        clip,
        timed_out=ended.timed_out,
        stdout_bytes=size["stdout"],
        stderr_bytes=size["stderr"],
        signals=ended.signals,
        streams=streams if clip.outcome == "whole" else (),
    )


def tool_name(argv0: str) -> str:
    """What a command's outputs are called: its own name, without the folder."""
    return os.path.basename(argv0) or argv0


def _streams(intake: Intake) -> tuple[tuple[str, str], ...]:
    data = intake.held
    out, at = [], 0
    for stream, count in intake.segments:
        out.append((stream, clean(data[at : at + count])))
        at += count
    return tuple(out)


def _ticker(intake: Intake, tell: Callable[[Progress], None]) -> Callable[[], None]:
    """Tells how far it has come, not more often than EVERY and only when there is something new."""
    due, told = time.monotonic() + EVERY, 0

    def tick() -> None:
        nonlocal due, told
        if time.monotonic() < due or intake.bytes == told:
            return
        due, told = time.monotonic() + EVERY, intake.bytes
        last = clean(intake.last(4 * LAST_CHARS)).rstrip("\n").rpartition("\n")[2]
        tell(Progress(intake.bytes, last[-LAST_CHARS:]))

    return tick
