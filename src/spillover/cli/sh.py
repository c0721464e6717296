"""`spill sh`: a line of shell, as an agent wrote it."""

from __future__ import annotations

import os
from contextlib import suppress

from spillover.cli.clipping import complain_of_end, is_in_order, make_clipper, print_run, run_facts
from spillover.cli.output import complain, put, put_json
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def sh(arguments: argparse.Namespace) -> int:
    """Run a line; return its exit code, whatever becomes of the text."""
    words = arguments.line[1:] if arguments.line[:1] == ["--"] else arguments.line
    if len(words) != 1:
        raise UsageError("sh takes one line, in quotes: spill sh 'make 2>&1 | tail -20'.")
    (line,) = words
    if arguments.scope:  # a `spill` inside the line works in the same one
        os.environ["SPILLOVER_SCOPE"] = arguments.scope
    from spillover.run import tool_name
    from spillover.run.line import run_line

    shell = arguments.shell or _find_shell()
    if not arguments.json and arguments.timeout is None and _talks_to_a_person(line):
        return _become(shell, line)
    clipper = make_clipper(arguments)
    call = clipper.call(arguments.tool or tool_name(shell), command=line, query=arguments.query)
    ended = run_line(
        line,
        clipper,
        call=call,
        shell=shell,
        timeout=arguments.timeout,
        interactive=True,
        die_with_parent=True,
        together=is_in_order(call.settings),
    )
    run = ended.run
    try:
        if arguments.json:
            kept = [
                {"filters": each.filters, "exits": dict(each.exits), "lines": each.lines, "ref": each.ref}
                for each in ended.inputs
            ]
            put_json({**run_facts(run), "kept": kept})
            return run.exit_code
        print_run(run, call, ended.pieces)
        with suppress(OSError):  # the line has done its work all the same
            for note in ended.notes:
                put(f"{note}\n", 2)
        if run.warning:  # the profile's own
            complain(run.warning)
        complain_of_end(run, "the line", arguments.timeout)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:
        complain(f"what it printed could not be written: {error.strerror}")
    return run.exit_code


def _talks_to_a_person(line: str) -> bool:
    """Return whether a line talks to a person, and there is a terminal for it to talk on."""
    if not (os.isatty(0) and os.isatty(1)):
        return False
    from spillover.run.line import is_interactive  # agents have no terminal

    return is_interactive(line)


def _become(shell: str, line: str) -> int:
    """Run the line in our place: a prompt that is kept until its program has ended helps nobody."""
    try:
        os.execvp(shell, [shell, "-c", line])  # noqa: S606  that is the job
    except (OSError, ValueError) as error:
        raise UsageError(f"{shell} cannot be started: {getattr(error, 'strerror', error)}.") from None


def _find_shell() -> str:
    """Return bash, which is what agents write for; sh where there is none."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return "bash" if any(os.access(os.path.join(folder, "bash"), os.X_OK) for folder in folders) else "sh"
