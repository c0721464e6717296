"""`spill` as a filter, and `spill run`."""

from __future__ import annotations

import os
import sys

from spillover.cli.output import complain, facts, put, put_json, wait
from spillover.cli.setup import clipper
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.run import Run


def filter_stdin(arguments: argparse.Namespace) -> int:
    """Stdin in, what the model reads out."""
    if arguments.version:
        from spillover import __version__

        put(f"spill {__version__}\n")
        return 0
    if os.isatty(0):
        raise UsageError("nothing comes in; pipe something into it (make 2>&1 | spill), or see `spill --help`.")
    from spillover import pipeline  # not before the arguments are known to be right
    from spillover.intake.pipe import move, widen

    choices = clipper(arguments).for_tool(arguments.tool)
    intake = pipeline.begin(choices)
    try:
        widen(0)
        moved = 1
        while moved:
            try:
                moved = move(0, intake)
            except BlockingIOError:
                wait(0)
    except OSError as error:
        intake.abandon()
        raise UsageError(f"stdin cannot be read: {error.strerror}.") from error
    except BaseException:
        intake.abandon()
        raise
    clip = pipeline.settle(intake, choices)
    if arguments.json:
        put_json(facts(clip))
    else:
        put(clip.text)
    return 0


def run(arguments: argparse.Namespace) -> int:
    """The command's own exit code, whatever becomes of the text."""
    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not argv:
        raise UsageError("there is no command; write e.g. `spill run -- make -j8`.")
    live = None
    if arguments.live:
        from spillover.cli.live import Live

        live = Live(sys.stderr)
    ended = clipper(arguments).run(
        argv, tool=arguments.tool, timeout=arguments.timeout, interactive=True, on_progress=live.show if live else None
    )
    if live:
        live.end()
    try:
        if arguments.json:
            put_json({"exit_code": ended.exit_code, "timed_out": ended.timed_out, **facts(ended.clip)})
        else:
            _put(ended)
        if ended.timed_out:
            complain(f"{argv[0]} was ended after {arguments.timeout:g} seconds")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:  # the command has done its work all the same
        complain(f"what it printed could not be written: {error.strerror}")
    return ended.exit_code


def _put(ended: Run) -> None:
    """What was not cut goes out as it came, each stream to its own place; what was cut is one text, on stdout."""
    if not ended.streams or os.path.sameopenfile(1, 2):
        put(ended.clip.text)
        return
    for stream, text in ended.streams:
        put(text, 2 if stream == "stderr" else 1)
