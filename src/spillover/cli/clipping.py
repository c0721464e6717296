"""`spill` as a filter, and `spill run`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from spillover.api import Clipper
from spillover.cli.output import complain, facts, put, put_json, wait
from spillover.cli.setup import compare_if_failed, ends_with_newline, lower_if_failed, make_clipper_anyway
from spillover.errors import UsageError
from spillover.result import Run
from spillover.settings.settings import Call, Settings

#: The signals of Ctrl-C and of a closed pipe: a shell does not report a command that they end, either.
UNSAID_SIGNALS = (signal.SIGINT, signal.SIGPIPE)


def filter_stdin(arguments: argparse.Namespace) -> int:
    """Clip stdin and print what the model reads."""
    if arguments.version:
        from spillover import __version__

        put(f"spill {__version__}\n")
        return 0
    if sys.stdin is None:  # the command line has put /dev/null in its place
        raise UsageError("stdin cannot be read: Bad file descriptor.")
    if os.isatty(0):
        raise UsageError(
            "stdin is a terminal; pipe something in (make 2>&1 | spill), run a command (spill run -- make), or see `spill help`."
        )
    from spillover import pipeline  # not before the arguments are known to be right
    from spillover.events import record_run
    from spillover.source.intake import widen_pipe

    call = make_clipper(arguments).call(arguments.tool, query=arguments.query)
    intake = pipeline.open_intake(call)
    try:
        widen_pipe(0)
        count = 1
        while count:
            try:
                count = intake.write_from(0)
            except BlockingIOError:
                wait(0)
    except OSError as error:
        intake.abandon()
        raise UsageError(f"stdin cannot be read: {error.strerror}.") from error
    except BaseException:
        intake.abandon()
        raise
    clip = pipeline.finish(intake, call).clip
    record_run(call, clip, intake.held)
    if arguments.json:
        put_json(facts(clip))
    else:
        put(clip.text, raw=call.settings.raw, end=clip.outcome != "whole" and ends_with_newline(clip.text, call))
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Run a command; return its exit code, whatever becomes of the text."""
    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not argv:
        raise UsageError("missing COMMAND, e.g. `spill run -- make -j8`.")
    if arguments.scope:  # a `spill` inside the command works in the same one
        os.environ["SPILLOVER_SCOPE"] = arguments.scope
    from spillover.run import run as run_command
    from spillover.run import tool_name
    from spillover.source.process import Command

    tool = arguments.tool or tool_name(argv[0])
    call = make_clipper(arguments).call(tool, command=argv, query=arguments.query)
    if call.settings.warning:  # while there is time to stop it
        complain(call.settings.warning)

    ended = run_command(
        Command(
            argv=argv,
            timeout=arguments.timeout,
            interactive=True,
            die_with_parent=True,
            together=is_in_order(call.settings),
        ),
        call,
        on_exit=lambda _, call, code: compare_if_failed(lower_if_failed(call, code), code),
    )
    try:
        if arguments.json:
            put_json(run_facts(ended))
        else:
            print_run(ended, call)
        complain_of_end(ended, argv[0], arguments.timeout)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:  # the command has done its work all the same
        complain(f"what it printed could not be written: {error.strerror}")
    return ended.exit_code


def complain_of_end(ended: Run, what: str, timeout: float | None) -> None:
    """Say if a command was stopped, by us or by a signal, or if a process that it started goes on printing."""
    if ended.timed_out:
        complain(f"{what} took longer than --timeout {timeout:g}s and was stopped")
    number = ended.exit_code - 128
    if number > 0 and number not in (*UNSAID_SIGNALS, *ended.signals) and os.isatty(2):  # a program reads the exit code
        with suppress(ValueError):
            complain(f"{what} ended with exit code {ended.exit_code} ({signal.Signals(number).name})")
    if ended.still_open:
        complain(
            f"{what} has ended, but a process it started still has its {' and '.join(sorted(ended.still_open))} open; "
            "what that prints from now on is not kept"
        )


def make_clipper(arguments: argparse.Namespace) -> Clipper:
    """Report a wrong configuration on stderr; it stops no tool call."""
    chosen, wrong = make_clipper_anyway(arguments)
    if wrong:
        complain(wrong)
    return chosen


def is_one_file() -> bool:
    """Return whether our stdout and stderr go to one place, so that the order in which a command writes to them matters."""
    try:
        return os.path.sameopenfile(1, 2)
    except OSError:
        return False


def is_in_order(settings: Settings) -> bool:
    """Return whether a command writes both streams into one pipe: they meet behind us, and no form cuts each by itself."""
    return is_one_file() and (settings.form is None or settings.form.for_streams is None)


def run_facts(ended: Run) -> dict[str, object]:
    """Return a run for a program."""
    how = {"exit_code": ended.exit_code, "timed_out": ended.timed_out, "still_open": list(ended.still_open)}
    return {**how, **({"warning": ended.warning} if ended.warning else {}), **facts(ended.clip)}


def print_run(ended: Run, call: Call, pieces: Sequence[tuple[str, bytes]] = ()) -> None:
    """Print what was not cut, each stream to its own place; what was cut is one text, on stdout. `pieces`: as it came."""
    together = is_one_file()
    if not pieces and (not ended.streams or together):
        cut = ended.clip.outcome != "whole"
        put(ended.clip.text, raw=call.settings.raw, end=cut and ends_with_newline(ended.clip.text, call))
        return
    failed: dict[int, OSError] = {}
    for stream, text in pieces or ended.streams:
        fd = 2 if stream == "stderr" and not together else 1
        try:
            if fd not in failed:
                put(text, fd, raw=call.settings.raw or bool(pieces))
        except OSError as error:  # the other one may still be heard
            failed[fd] = error
    if failed:
        raise next(iter(failed.values()))
