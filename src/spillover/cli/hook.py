"""`spill hook`: answer a host after a tool call. It always exits with 0, and prints nothing when nothing changes.

A result that makes us fail is cut plainly all the same (`hosts.hook.PlainCut`). An event that is none changes nothing, and
neither does an answer that is late: whatever hangs, the host goes on with its own result.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import time
from typing import Any, NoReturn

from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.output import complain, put
from spillover.hosts import find
from spillover.hosts.hook import answer as answer_hook
from spillover.hosts.host import Host
from spillover.settings.limits import read_int

#: More than this no host sends for one tool call; what is larger is left as it is.
MOST_BYTES = 1 << 28
#: What lies deeper in an event is left out, or is text, where it is too deep to be parsed as usual.
DEEPEST = 100
TOO_DEEP = "[nested too deeply to be shown]"


def hook(arguments: argparse.Namespace) -> int:
    """Read the host's event from stdin and write the reply to stdout."""
    try:
        host = find(arguments.host)
        assert host.hook is not None  # the parser offers no other
        put(answer_in_time(host, host.hook.deadline_seconds))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  a hook that fails must not fail the tool call
        complain(f"nothing was changed: {type(error).__name__}: {error}")
    return exits.OK


def answer_in_time(host: Host, seconds: float) -> str:
    """Return the reply to the event on stdin, if it is complete within so many seconds; "" if not.

    A child process works on it: neither a store that hangs nor a loop that never yields can stop the clock here.
    """
    reading, writing = os.pipe()
    end = time.monotonic() + seconds
    child = os.fork()
    if not child:
        # The host may kill this process and not its child, which ends by itself then.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
        _answer_to(writing, host)
    os.close(writing)
    parts = []
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        if part := os.read(reading, 1 << 16):
            parts.append(part)
            continue
        complete = os.waitpid(child, 0)[1] == 0
        return b"".join(parts).decode() if complete else ""
    os.kill(child, signal.SIGKILL)
    complain(f"nothing was changed: no answer within {seconds:g} s; `spill doctor` checks the store.")
    return ""


def _answer_to(fd: int, host: Host) -> NoReturn:
    """Write the reply to a descriptor and end this process, with 0 if it is complete."""
    code = exits.BUG
    try:
        put(answer(host), fd)
        code = exits.OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  as above
        complain(f"nothing was changed: {type(error).__name__}: {error}")
    finally:
        os._exit(code)


def answer(host: Host) -> str:
    """Return the reply to the event on stdin; "" if nothing changes."""
    data = _stdin()
    if not data:
        return ""
    import json

    try:
        return _answer(host, json.loads(data, parse_int=read_int))
    except RecursionError:  # nested too deeply to be read, or to be written
        from spillover.mcp.message import without_the_deepest

        text = data.decode(json.detect_encoding(data), "surrogatepass")
        for word in (TOO_DEEP, None):  # where nothing else is too long, that may be
            if reply := _answer(host, json.loads(without_the_deepest(text, DEEPEST, word), parse_int=read_int)):
                return reply
        return ""


def _answer(host: Host, event: Any) -> str:
    import json

    asked = _Asked(host, event.get("cwd") if isinstance(event, dict) else None)
    reply = answer_hook(host, event, asked.clipper)
    if reply is None:
        return ""
    if asked.complaint and host.hook and host.hook.complaint_key:
        reply[host.hook.complaint_key] = f"spill: {asked.complaint}"
    # A lone surrogate, which JSON can carry and UTF-8 cannot, stays escaped.
    return json.dumps(reply, ensure_ascii=True)


def _stdin() -> bytes:
    """Return all of stdin; nothing if it is too large."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            return b""
    return b"".join(parts)


class _Asked:
    """The Clipper for a folder, and what is wrong with its configuration."""

    def __init__(self, host: Host, cwd: object) -> None:
        self.host = host
        self.cwd = cwd if isinstance(cwd, str) and os.path.isdir(cwd) else None
        self.complaint = ""

    def project(self) -> str | None:
        """Return the folder the session began in, where the host says, or else the one the tool worked in."""
        begun = os.environ.get(self.host.project_variable, "")
        return begun if os.path.isabs(begun) and os.path.isdir(begun) else self.cwd

    def clipper(self) -> Clipper:
        from spillover.cli.setup import make_clipper_anyway  # most questions need no Clipper

        # The tool call survives, and so does its bound.
        chosen, self.complaint = make_clipper_anyway(None, self.host.hints, self.cwd, self.project())
        return chosen
