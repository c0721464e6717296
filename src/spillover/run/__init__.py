"""Run a command: its output is clipped, and its exit code stays."""

from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.clean import clean
from spillover.document.document import cover_blob, visible
from spillover.events import record_result, record_run, together
from spillover.result import Progress, Run
from spillover.secrets.commands import COMMAND_CHARS
from spillover.settings.settings import Call
from spillover.shell import is_retrieval
from spillover.source import process
from spillover.source.intake import Intake
from spillover.source.process import Command

#: Between two reports of progress; with a longer time they are further behind the command.
PROGRESS_SECONDS = 0.1
#: Characters of the last line in a report of progress; more would be cut by most who show it.
LAST_LINE_CHARS = 200


def run(
    command: Command,
    call: Call,
    *,
    cancel: int | Callable[[], bool] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    recorded_as: str | None = None,
    on_exit: Callable[[Intake, Call, int], Call] | None = None,
    list_notes: Callable[[], Sequence[str]] = tuple,
) -> Run:
    """Run a command to its end and clip what it printed.

    `recorded_as` is its line in the record, where that is not its words. `on_exit` gets its exit code before its output
    is clipped, and returns the call to clip with. `list_notes` returns what the caller prints beside the output.
    """
    line = recorded_as or " ".join(os.fspath(word) for word in command.argv)
    folder = None if command.cwd is None else os.path.abspath(command.cwd)
    call = replace(call, command=line[:COMMAND_CHARS], cwd=folder)
    intake = pipeline.open_intake(call)
    started = time.monotonic()
    try:
        end = process.run(command, intake, cancel=cancel, tick=on_progress and _make_ticker(intake, on_progress))
        intake.finish()
        if on_exit is not None:
            call = on_exit(intake, call, end.exit_code)
        form = call.settings.form
        if form is not None and form.for_streams is not None and not intake.failure:
            call = form.for_streams(intake.segments, cover_blob(call.settings, intake.blob()), call)
        streams = () if intake.overflowed else _list_streams(intake, call)
    except BaseException:
        intake.abandon()
        raise
    finished = time.monotonic()
    with together():
        clip = pipeline.finish(intake, call).clip
    record_result(
        call,
        clip,
        texts=[clip.text, *list_notes()],
        failing=bool(end.exit_code),
        seconds=time.monotonic() - finished,
    )
    if not is_retrieval(call.tool, call.command or None):
        record_run(call, clip, intake.buffer, exit_code=end.exit_code, seconds=finished - started)
    if end.signals and not command.interactive:
        signal.raise_signal(end.signals[0])  # what we passed on was for this program too, whose handlers are back
    stream_bytes: Counter[str] = Counter()
    for stream, size in intake.segments:
        stream_bytes[stream] += size
    return Run(
        end.exit_code,
        clip,
        timed_out=end.timed_out,
        stdout_bytes=stream_bytes["stdout"],
        stderr_bytes=stream_bytes["stderr"],
        signals=end.signals,
        streams=streams if clip.outcome == "whole" else (),
        still_open=end.still_open,
        warning=call.settings.warning,
    )


async def run_in_thread(function: Callable[[int | Callable[[], bool]], Run]) -> Run:
    """Call `function(cancel)` in a thread. When cancelled, end the command first, and wait for its end."""
    import asyncio

    reading_end = writing_end = -1
    canceled = False
    with contextlib.suppress(OSError):  # without a descriptor to wait for, `cancel` is called now and then
        reading_end, writing_end = os.pipe()

    def work() -> Run | None:
        try:
            return None if canceled else function(reading_end if reading_end >= 0 else lambda: canceled)
        finally:
            _close(reading_end)  # this thread's alone: the loop may be gone by now

    try:
        running = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, work)
    except BaseException:
        _close(reading_end)
        _close(writing_end)
        raise
    try:
        return await asyncio.shield(running)  # type: ignore[arg-type]  # None only after a cancellation
    except asyncio.CancelledError:
        canceled = True
        if writing_end >= 0:
            os.write(writing_end, b"x")
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):  # the first one is enough
                await asyncio.wait([running])
        with contextlib.suppress(Exception, asyncio.CancelledError):  # nobody awaits its result any more
            running.result()
        raise
    finally:
        canceled = True
        _close(writing_end)  # a loop that is closed leaves here at once; this too reaches the thread


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


def tool_name(argv0: str) -> str:
    """Return the tool name of a command: its own name, without the folder."""
    return os.path.basename(argv0) or argv0


def _list_streams(intake: Intake, call: Call) -> tuple[tuple[str, str], ...]:
    """Return (stream, text) in order of arrival; nothing if frames of a progress bar would be left out unmarked."""
    pieces = [(stream, piece, *visible(call.settings, piece)) for stream, piece in intake.pieces]
    texts = [(stream, text) for stream, _, text, _ in pieces]
    left_out = sum(frames for *_, frames in pieces)
    for name in {stream: None for stream, *_ in pieces}:
        # Halves of an escape code, or of words that read like ours, would pass apart and meet at the reader.
        whole, frames = visible(call.settings, b"".join(piece for stream, piece, *_ in pieces if stream == name))
        left_out += frames
        if whole != "".join(text for stream, text in texts if stream == name):
            first = next(number for number, (stream, _) in enumerate(texts) if stream == name)
            texts[first] = (name, whole)
            texts = [piece for number, piece in enumerate(texts) if piece[0] != name or number == first]
    return () if left_out else tuple(texts)


def _make_ticker(intake: Intake, report: Callable[[Progress], None]) -> Callable[[], None]:
    """Return a function that reports progress if there is some, at most once every PROGRESS_SECONDS."""
    due = time.monotonic() + PROGRESS_SECONDS
    reported_bytes = 0

    def tick() -> None:
        nonlocal due, reported_bytes
        if time.monotonic() < due or intake.received == reported_bytes:
            return
        due = time.monotonic() + PROGRESS_SECONDS
        reported_bytes = intake.received
        last_line = clean(intake.last_bytes(4 * LAST_LINE_CHARS)).rstrip("\n").rpartition("\n")[2]
        report(Progress(reported_bytes, last_line[-LAST_LINE_CHARS:]))

    return tick
