"""The command line: arguments in, calls, exit codes out."""

from __future__ import annotations

import os
import sys

from spillover.cli import exits


def main(argv: list[str] | None = None) -> int:
    """Run `spill`; complaints go to stderr, and a closed pipe is success."""
    from spillover.cli.parser import parse  # so that what goes wrong there is told here
    from spillover.errors import SpilloverError

    _open_what_is_closed()
    try:
        try:
            function, arguments = parse(sys.argv[1:] if argv is None else argv)
        except SystemExit as ended:  # argparse has said what there is to say
            code = int(ended.code or exits.OK)
        else:
            code = function(arguments)
        sys.stdout.flush()
    except SpilloverError as error:
        return _complain(str(error), exits.USAGE)
    except BrokenPipeError:
        # Python would complain about it once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return exits.OK
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        return _complain(error.strerror or str(error), exits.UNWRITTEN)
    except Exception as error:
        if os.environ.get("SPILLOVER_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        return _complain(f"this is a bug in spill: {what}\nSPILLOVER_DEBUG=1 shows where; please report it.", exits.BUG)
    return code


def _open_what_is_closed() -> None:
    """With stdout or stderr closed, the next file we open would get its number, and what we say."""
    for fd, name in enumerate(("stdout", "stderr"), 1):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_WRONLY)
            if null != fd:
                os.dup2(null, fd)
                os.close(null)
            setattr(sys, name, os.fdopen(fd, "w", closefd=False))


def _complain(message: str, code: int) -> int:
    from spillover.cli.output import complain

    complain(message)
    return code
