"""Running a command: its output clipped, its exit as it was."""

from __future__ import annotations

import contextlib
import os
import time

from msgspec import Struct

from spillover import pipeline
from spillover.events import record_result, record_run, together
from spillover.result import Clip
from spillover.source import process
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.choices import Choices
    from spillover.source.intake import Intake
    from spillover.source.process import Command

#: At most so often is progress told, and so much of the last line.
EVERY = 0.1
LAST_CHARS = 200
#: A record keeps no more of a command line.
COMMAND_CHARS = 1_000


class Progress(Struct, frozen=True):
    """The progress of a running command."""

    bytes: int
    last: str  # the last line so far, cleaned, at most LAST_CHARS


class Run(Struct, frozen=True):
    """A command that has ended."""

    exit_code: int
    clip: Clip
    timed_out: bool = False
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    signals: tuple[int, ...] = ()  # received while it ran, and passed on to it
    streams: tuple[tuple[str, str], ...] = ()  # (stream, text) in order of arrival, when nothing was cut
    still_open: tuple[str, ...] = ()  # streams that a process it started still had open when we stopped reading
    warning: str | None = None  # what a profile said about the command before it ran


def run(
    command: Command,
    choices: Choices,
    *,
    call_id: str | None = None,
    cancel: int | Callable[[], bool] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    said: str | None = None,
    settling: Callable[[Intake, Choices, int], Choices] | None = None,
    beside: Callable[[], Sequence[str]] = tuple,
) -> Run:
    """Run a command to its end and clip what it printed.

    `said` is the command as it is recorded, where that is not its words. `settling` is called with its exit code
    once it has ended, and returns the choices to clip with. `beside` returns what else the caller prints for it.
    """
    words = (said or " ".join(os.fspath(word) for word in command.argv))[:COMMAND_CHARS]
    intake = pipeline.begin(choices)
    began = time.monotonic()
    try:
        ended = process.run(command, intake, cancel=cancel, tick=on_progress and _ticker(intake, on_progress))
        intake.finish()
        if settling is not None:
            choices = settling(intake, choices, ended.exit_code)
        if choices.form is not None and choices.form.for_streams is not None and not intake.failure:
            choices = choices.form.for_streams(intake.segments, choices.without_secrets(intake.blob()), choices)
        streams = () if intake.overflowed else _streams(intake, choices)
    except BaseException:
        intake.abandon()
        raise
    seconds = time.monotonic() - began
    folder = None if command.cwd is None else os.path.abspath(command.cwd)
    begun = time.monotonic()
    with together():
        clip = pipeline.settle_anyway(intake, choices, call_id=call_id, command=words, cwd=folder)
    record_result(
        choices,
        clip,
        texts=[clip.text, *beside()],
        command=words,
        failing=bool(ended.exit_code),
        seconds=time.monotonic() - begun,
    )
    record_run(
        choices,
        clip,
        intake.held,
        command=words,
        call_id=call_id,
        cwd=folder,
        exit_code=ended.exit_code,
        seconds=seconds,
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
        still_open=ended.still_open,
        warning=choices.warning,
    )


async def in_thread(call: Callable[[int | Callable[[], bool]], Run]) -> Run:
    """Call `call(cancel)` in a thread. When cancelled, end the command first, and wait for its end."""
    import asyncio
    import contextvars

    told = tell = -1
    given_up = False
    with contextlib.suppress(OSError):  # without a descriptor to wait for, it looks now and then
        told, tell = os.pipe()

    def work() -> Run | None:
        try:
            return None if given_up else call(told if told >= 0 else lambda: given_up)
        finally:
            _close(told)  # this thread's alone: whoever awaits may be gone by now

    try:
        running = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, work)
    except BaseException:
        _close(told)
        _close(tell)
        raise
    try:
        return await asyncio.shield(running)  # type: ignore[arg-type]  # None only for whoever has given up
    except asyncio.CancelledError:
        given_up = True
        if tell >= 0:
            os.write(tell, b"x")
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):  # we know already
                await asyncio.wait([running])
        with contextlib.suppress(Exception, asyncio.CancelledError):  # of no use to anybody now
            running.result()
        raise
    finally:
        given_up = True
        _close(tell)  # a loop that is closed throws us away right here; this too tells the thread


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


def tool_name(argv0: str) -> str:
    """Return the tool name of a command: its own name, without the folder."""
    return os.path.basename(argv0) or argv0


def _streams(intake: Intake, choices: Choices) -> tuple[tuple[str, str], ...]:
    """Return the pieces of each stream in order of arrival; nothing if frames would be left out of one without a word."""
    pieces = intake.pieces
    looks = [(stream, *choices.look(piece)) for stream, piece in pieces]
    out = [(stream, text) for stream, text, _ in looks]
    left_out = sum(frames for _, _, frames in looks)
    for name in dict(pieces):
        # Halves of an escape code, or of words that read like ours, would pass apart and meet at the reader.
        whole, frames = choices.look(b"".join(piece for stream, piece in pieces if stream == name))
        left_out += frames
        if whole != "".join(text for stream, text in out if stream == name):
            first = next(number for number, (stream, _) in enumerate(out) if stream == name)
            out[first] = (name, whole)
            out = [each for number, each in enumerate(out) if each[0] != name or number == first]
    return () if left_out else tuple(out)


def _ticker(intake: Intake, tell: Callable[[Progress], None]) -> Callable[[], None]:
    """Return a function that reports progress, at most once every EVERY seconds and only if there is news."""
    due, told = time.monotonic() + EVERY, 0

    def tick() -> None:
        nonlocal due, told
        if time.monotonic() < due or intake.received == told:
            return
        due, told = time.monotonic() + EVERY, intake.received
        last = clean(intake.last_bytes(4 * LAST_CHARS)).rstrip("\n").rpartition("\n")[2]
        tell(Progress(intake.received, last[-LAST_CHARS:]))

    return tick
