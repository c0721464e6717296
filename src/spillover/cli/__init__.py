"""The command line: arguments in, calls, exit codes out."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress

from spillover.cli.output import (
    EXIT_BUG,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_UNWRITTEN,
    EXIT_USAGE,
    write_error,
)
from spillover.cli.parsing import parse
from spillover.errors import SpilloverError, StoreError


def main(argv: list[str] | None = None) -> int:
    """Run `spill` and return its exit code. Messages go to stderr, and a closed pipe is success."""
    _open_closed_streams()
    _restore_locale()
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except StoreError as error:
        message = str(error).rstrip(".")
        remedy = "" if ";" in message else "; `spill doctor` checks the store"
        return _fail(f"{message}{remedy}.", EXIT_USAGE)
    except SpilloverError as error:
        return _fail(str(error), EXIT_USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain while it ends
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not error.filename and _is_folder_removed():
            return _fail("the working folder was removed; change to another one.", EXIT_USAGE)
        path = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
        return _fail(f"{error.strerror or error}{path}", EXIT_UNWRITTEN)
    except Exception as error:  # noqa: BLE001  a bug of ours, which is reported as one
        if os.environ.get("SPILLOVER_DEBUG"):
            return _fail(traceback.format_exc(), EXIT_BUG)
        problem = f"{type(error).__name__}: {error}"
        return _fail(f"this is a bug in spill: {problem}\nSPILLOVER_DEBUG=1 shows where; please report it.", EXIT_BUG)


def _run(argv: list[str]) -> int:
    try:
        command, arguments = parse(argv)
    except SystemExit as end:  # argparse has printed the help, or what is wrong
        code = int(end.code or EXIT_OK)
    else:
        code = command.run(arguments)
    sys.stdout.flush()
    return code


def _fail(message: str, code: int) -> int:
    write_error(message)
    return code


def _is_folder_removed() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _open_closed_streams() -> None:
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


def _restore_locale() -> None:
    """Undo the LC_CTYPE that Python sets itself in the locale C: a command of ours should not inherit it."""
    if not os.environ.get("LC_CTYPE", "").lower().endswith(("utf-8", "utf8")):
        return
    with suppress(OSError), open("/proc/self/environ", "rb") as file:  # the environment before Python started
        before = [entry for entry in file.read().split(b"\0") if entry.startswith(b"LC_CTYPE=")]
        if not before:
            del os.environ["LC_CTYPE"]
        else:
            os.environb[b"LC_CTYPE"] = before[0].partition(b"=")[2]
