"""The filter `spill`, and the commands `run` and `sh`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from spillover import __version__, pipeline
from spillover.api import Clipper
from spillover.cli.output import EXIT_OK, wait, write, write_error, write_json
from spillover.cli.parsing import FILTER, Command, add_json, add_selection, parse_duration, strip_dashes
from spillover.cli.setup import (
    compare_if_failed,
    has_room_for_newline,
    lower_if_failed,
    make_clipper_or_defaults,
)
from spillover.errors import UsageError
from spillover.events import record_run
from spillover.result import Clip, Run
from spillover.run import run as run_command
from spillover.run import tool_name
from spillover.settings.settings import Call, Settings
from spillover.source import process
from spillover.source.intake import widen_pipe

#: The signals of Ctrl-C and of a closed pipe: a shell does not report a command that they end, either.
UNREPORTED_SIGNALS = (signal.SIGINT, signal.SIGPIPE)


def filter_stdin(arguments: argparse.Namespace) -> int:
    """Clip stdin and print what the model reads."""
    if arguments.version:
        write(f"spill {__version__}\n")
        return EXIT_OK
    if sys.stdin is None:  # the command line has put /dev/null in its place
        raise UsageError("stdin cannot be read: Bad file descriptor.")
    if os.isatty(0):
        raise UsageError(
            "stdin is a terminal; pipe something in (make 2>&1 | spill), run a command (spill run -- make), "
            "or see `spill help`."
        )
    call = make_clipper_or_defaults(arguments).call(arguments.tool, query=arguments.query)
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
    record_run(call, clip, intake.buffer)
    if arguments.json:
        write_json(clip.as_dict())
    else:
        _write_clip(clip, call)
    return EXIT_OK


def _write_clip(clip: Clip, call: Call) -> None:
    """Print what the model reads; a text that was cut ends in a newline if there is room for it."""
    end_line = clip.outcome != "whole" and has_room_for_newline(clip.text, call)
    write(clip.text, raw=call.settings.raw, end_line=end_line)


def run(arguments: argparse.Namespace) -> int:
    """Run a command; return its exit code, whatever becomes of the text."""
    argv = strip_dashes(arguments.command)
    if not argv:
        raise UsageError("missing COMMAND, e.g. `spill run -- make -j8`.")
    _pass_on_scope(arguments)
    call = _make_call(make_clipper_or_defaults(arguments), arguments, argv[0], argv)
    result = run_command(
        process.Command(
            argv=argv,
            timeout=arguments.timeout,
            interactive=True,
            die_with_parent=True,
            together=is_in_order(call.settings),
        ),
        call,
        on_exit=lambda _, call, code: compare_if_failed(lower_if_failed(call, code), code),
    )
    return _report(result, call, arguments, argv[0])


def sh(arguments: argparse.Namespace) -> int:
    """Run a shell line; return its exit code, whatever becomes of the text."""
    from spillover.run.line import is_interactive, run_line

    words = strip_dashes(arguments.line)
    if len(words) != 1:
        raise UsageError("sh takes one line, in quotes: spill sh 'make 2>&1 | tail -20'.")
    (line,) = words
    _pass_on_scope(arguments)
    shell = arguments.shell or _find_shell()
    terminal = os.isatty(0) and os.isatty(1)
    if terminal and not arguments.json and arguments.timeout is None and is_interactive(line):
        return _become(shell, line)
    clipper = make_clipper_or_defaults(arguments)
    call = _make_call(clipper, arguments, shell, line)
    result = run_line(
        line,
        clipper,
        call=call,
        shell=shell,
        timeout=arguments.timeout,
        interactive=True,
        die_with_parent=True,
        together=is_in_order(call.settings),
    )
    inputs = [
        {"filters": item.filters, "exits": dict(item.exits), "lines": item.lines, "ref": item.ref}
        for item in result.inputs
    ]
    return _report(
        result.run, call, arguments, "the line", facts={"kept": inputs}, pieces=result.pieces, notes=result.notes
    )


def _pass_on_scope(arguments: argparse.Namespace) -> None:
    """Set the scope for a `spill` inside the command."""
    if arguments.scope:
        os.environ["SPILLOVER_SCOPE"] = arguments.scope


def _make_call(clipper: Clipper, arguments: argparse.Namespace, program: str, command: str | Sequence[str]) -> Call:
    """Return the call of a command, and print the warning about it while there is time to stop it."""
    call = clipper.call(arguments.tool or tool_name(program), command=command, query=arguments.query)
    if call.settings.warning:
        write_error(call.settings.warning)
    return call


def _report(
    result: Run,
    call: Call,
    arguments: argparse.Namespace,
    subject: str,
    *,
    facts: Mapping[str, object] = MappingProxyType({}),
    pieces: Sequence[tuple[str, bytes]] = (),
    notes: Sequence[str] = (),
) -> int:
    """Print a run, with `facts` in its JSON or `notes` below its text; return its exit code even if that fails."""
    try:
        if arguments.json:
            write_json({**run_facts(result), **facts})
        else:
            print_run(result, call, pieces)
            with suppress(OSError):  # a closed stderr is no reason to fail
                for note in notes:
                    write(f"{note}\n", 2)
        report_end(result, subject, arguments.timeout)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:  # the command has done its work all the same
        write_error(f"what it printed could not be written: {error.strerror}")
    return result.exit_code


def _become(shell: str, line: str) -> int:
    """Run the line in our place: a prompt that waits until its program has ended helps nobody."""
    try:
        os.execvp(shell, [shell, "-c", line])  # noqa: S606  that is the job
    except (OSError, ValueError) as error:
        raise UsageError(f"{shell} cannot be started: {getattr(error, 'strerror', error)}.") from None


def _find_shell() -> str:
    """Return bash, which is what agents write for; sh if there is none."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return "bash" if any(os.access(os.path.join(folder, "bash"), os.X_OK) for folder in folders) else "sh"


def report_end(result: Run, subject: str, timeout: float | None) -> None:
    """Report a command that was stopped, by us or by a signal, or a process it started that goes on printing."""
    if result.timed_out:
        write_error(f"{subject} took longer than --timeout {timeout:g}s and was stopped")
    number = result.exit_code - 128
    unreported = (*UNREPORTED_SIGNALS, *result.signals)
    if number > 0 and number not in unreported and os.isatty(2):  # a program reads the exit code
        with suppress(ValueError):
            write_error(f"{subject} ended with exit code {result.exit_code} ({signal.Signals(number).name})")
    if result.still_open:
        streams = " and ".join(sorted(result.still_open))
        write_error(
            f"{subject} has ended, but a process it started still has its {streams} open; "
            "what that prints from now on is not kept"
        )


def is_one_file() -> bool:
    """Return whether our stdout and stderr go to one place, so that the order of a command's writes matters."""
    try:
        return os.path.sameopenfile(1, 2)
    except OSError:
        return False


def is_in_order(settings: Settings) -> bool:
    """Return whether a command writes both streams into one pipe: they meet behind us, and no form cuts each alone."""
    return is_one_file() and (settings.form is None or settings.form.for_streams is None)


def run_facts(result: Run) -> dict[str, object]:
    """Return the facts about a run, for a program."""
    facts = {"exit_code": result.exit_code, "timed_out": result.timed_out, "still_open": list(result.still_open)}
    warning = {"warning": result.warning} if result.warning else {}
    return {**facts, **warning, **result.clip.as_dict()}


def print_run(result: Run, call: Call, pieces: Sequence[tuple[str, bytes]] = ()) -> None:
    """Print each stream of an uncut output to its own place; a cut one is one text, on stdout.

    `pieces` are the output in order of arrival, to be printed unchanged.
    """
    one_file = is_one_file()
    if not pieces and (not result.streams or one_file):
        _write_clip(result.clip, call)
        return
    errors: dict[int, OSError] = {}
    for stream, text in pieces or result.streams:
        fd = 2 if stream == "stderr" and not one_file else 1
        try:
            if fd not in errors:
                write(text, fd, raw=call.settings.raw or bool(pieces))
        except OSError as error:  # the other stream may still be open
            errors[fd] = error
    if errors:
        raise next(iter(errors.values()))


def _add_clip_options(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--tool", metavar="NAME", help="name of the tool, for the ref and for rules per tool")
    parser.add_argument("--query", metavar="WORDS", help="what you want to know; lines that answer it are shown first")
    add_json(parser)
    parser.add_argument(
        "--since",
        metavar="REF",
        help="show what is new since an earlier run: last, good (the newest with exit code 0), a ref, or off",
    )


def _add_filter_options(parser: argparse.ArgumentParser) -> None:
    _add_clip_options(parser)
    parser.add_argument("--version", action="store_true", help="print the version")


def _add_timeout(parser: argparse.ArgumentParser, subject: str) -> None:
    parser.add_argument(
        "--timeout",
        type=parse_duration,
        metavar="TIME",
        help=f"stop the {subject} after this long, e.g. 90, 90s or 5m; exit code 124",
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    _add_clip_options(parser)
    _add_timeout(parser, "command")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command to run, with its arguments"
    )


def _add_sh_options(parser: argparse.ArgumentParser) -> None:
    _add_clip_options(parser)
    _add_timeout(parser, "line")
    parser.add_argument(
        "--shell", metavar="SHELL", help="the shell that runs the line; default: bash, or sh without bash"
    )
    parser.add_argument("line", nargs=argparse.REMAINDER, metavar="LINE", help="a shell line, in quotes")


COMMANDS = {
    FILTER: Command(
        "Bound tool output for LLM agents: lossy on the model, lossless on disk. Without a command, spill is a filter.",
        _add_filter_options,
        filter_stdin,
        ("make 2>&1 | spill --tokens 4000", "spill run -- pytest -x", "spill grep last 'FAILED|Error' -C 2"),
        usage="spill [options] < OUTPUT\n       spill COMMAND ...",
    ),
    "run": Command(
        "Run a command, clip its output, and exit with its exit code.",
        _add_run_options,
        run,
        (
            "spill run -- pytest -x",
            "spill run --tokens 4000 --timeout 10m -- make -j8",
            "spill run --since last -- pytest",
        ),
        usage="spill run [options] -- COMMAND [ARGUMENT ...]",
    ),
    "sh": Command(
        "Run a shell line; keep what its `| tail` or `| grep` drops.",
        _add_sh_options,
        sh,
        ("spill sh 'pytest 2>&1 | tail -20'", "spill sh --tokens 4000 'cd app && make 2>&1 | grep -i error'"),
        usage="spill sh [options] 'LINE'",
    ),
}
