"""The command line: arguments in, calls, exit codes out."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from spillover.cli import exits


def main(argv: list[str] | None = None) -> int:
    """Run `spill` and return its exit code."""
    return _run(sys.argv[1:] if argv is None else argv)


def _run(argv: list[str]) -> int:
    """Run one command; complaints go to stderr, and a closed pipe is success."""
    from spillover.cli.parser import parse  # so that what goes wrong there is told here
    from spillover.errors import SpilloverError, StoreError

    _open_what_is_closed()
    _undo_coercion()
    try:
        try:
            function, arguments = parse(argv)
        except SystemExit as ended:  # argparse has said what there is to say
            code = int(ended.code or exits.OK)
        else:
            code = function(arguments)
        sys.stdout.flush()
    except StoreError as error:
        said = str(error).rstrip(".")
        remedy = "" if ";" in said else "; `spill doctor` checks the store"
        return _complain(f"{said}{remedy}.", exits.USAGE)
    except SpilloverError as error:
        return _complain(str(error), exits.USAGE)
    except BrokenPipeError:
        # Python would complain about it once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return exits.OK
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not error.filename and _is_nowhere():
            return _complain("the working folder was removed; change to another one.", exits.USAGE)
        where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
        return _complain(f"{error.strerror or error}{where}", exits.UNWRITTEN)
    except Exception as error:  # noqa: BLE001  a bug of ours, which is said to be one
        if os.environ.get("SPILLOVER_DEBUG"):
            from traceback import format_exc

            return _complain(format_exc(), exits.BUG)
        what = f"{type(error).__name__}: {error}"
        return _complain(f"this is a bug in spill: {what}\nSPILLOVER_DEBUG=1 shows where; please report it.", exits.BUG)
    return code


def _is_nowhere() -> bool:
    """Return whether somebody has removed the working folder."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _open_what_is_closed() -> None:
    """Open /dev/null for each standard stream that is closed, or the next file we open would get its number."""
    if sys.stdin is None:
        null = os.open(os.devnull, os.O_RDONLY)  # not inherited: for a command of ours it stays closed
        if null != 0:
            os.dup2(null, 0, inheritable=False)
            os.close(null)
    for fd, name in enumerate(("stdout", "stderr"), 1):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_WRONLY)
            if null != fd:
                os.dup2(null, fd)
                os.close(null)
            setattr(sys, name, os.fdopen(fd, "w", closefd=False))


def _undo_coercion() -> None:
    """Put LC_CTYPE back where Python has set it itself, as it does in the locale C: commands of ours were not given it."""
    if not os.environ.get("LC_CTYPE", "").lower().endswith(("utf-8", "utf8")):
        return
    with suppress(OSError), open("/proc/self/environ", "rb") as given:  # as it was before Python began
        as_given = [each for each in given.read().split(b"\0") if each.startswith(b"LC_CTYPE=")]
        if not as_given:
            del os.environ["LC_CTYPE"]
        else:
            os.environb[b"LC_CTYPE"] = as_given[0].partition(b"=")[2]


def _complain(message: str, code: int) -> int:
    from spillover.cli.output import complain

    complain(message)
    return code
