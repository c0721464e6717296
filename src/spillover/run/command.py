"""Running a command: its output clipped, its exit as it was."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.clean import clean
from spillover.document.visible import cover_blob, visible
from spillover.events import record_result, record_run, together
from spillover.result import Progress, Run
from spillover.settings.settings import Call
from spillover.source import process
from spillover.source.intake import Intake
from spillover.source.process import Command

#: At most so often is progress told, and so much of the last line.
EVERY = 0.1
LAST_CHARS = 200
#: A record keeps no more of a command line.
COMMAND_CHARS = 1_000


def run(
    command: Command,
    call: Call,
    *,
    cancel: int | Callable[[], bool] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    said: str | None = None,
    settling: Callable[[Intake, Call, int], Call] | None = None,
    beside: Callable[[], Sequence[str]] = tuple,
) -> Run:
    """Run a command to its end and clip what it printed.

    `said` is the command as it is recorded, where that is not its words. `settling` is called with its exit code
    once it has ended, and returns the call to clip with. `beside` returns what else the caller prints for it.
    """
    words = (said or " ".join(os.fspath(word) for word in command.argv))[:COMMAND_CHARS]
    folder = None if command.cwd is None else os.path.abspath(command.cwd)
    call = replace(call, command=words, cwd=folder)
    intake = pipeline.open_intake(call)
    began = time.monotonic()
    try:
        ended = process.run(command, intake, cancel=cancel, tick=on_progress and _ticker(intake, on_progress))
        intake.finish()
        if settling is not None:
            call = settling(intake, call, ended.exit_code)
        form = call.settings.form
        if form is not None and form.for_streams is not None and not intake.failure:
            call = form.for_streams(intake.segments, cover_blob(call.settings, intake.blob()), call)
        streams = () if intake.overflowed else _streams(intake, call)
    except BaseException:
        intake.abandon()
        raise
    seconds = time.monotonic() - began
    begun = time.monotonic()
    with together():
        clip = pipeline.finish(intake, call).clip
    record_result(
        call,
        clip,
        texts=[clip.text, *beside()],
        failing=bool(ended.exit_code),
        seconds=time.monotonic() - begun,
    )
    record_run(call, clip, intake.held, exit_code=ended.exit_code, seconds=seconds)
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
        warning=call.settings.warning,
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


def _streams(intake: Intake, call: Call) -> tuple[tuple[str, str], ...]:
    """Return the pieces of each stream in order of arrival; nothing if frames would be left out of one without a word."""
    pieces = intake.pieces
    looks = [(stream, *visible(call.settings, piece)) for stream, piece in pieces]
    out = [(stream, text) for stream, text, _ in looks]
    left_out = sum(frames for _, _, frames in looks)
    for name in dict(pieces):
        # Halves of an escape code, or of words that read like ours, would pass apart and meet at the reader.
        whole, frames = visible(call.settings, b"".join(piece for stream, piece in pieces if stream == name))
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
