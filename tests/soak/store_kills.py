"""Kill a process at each system call of the store: everything it reported as stored is there, and nothing is damaged."""

import os
import random
import signal
import tempfile
import time

from store_faults import SLOW_SECONDS, Fault, limited, one
from store_session import LOG, OUTPUTS, Session, wrong_with

#: The output that each tool of the session produces.
BYTES = {**OUTPUTS, "more": LOG[:-100]}


class Kill(Fault):
    """End this process right before the `nth` call."""

    def step(self, name, caller):
        if super().step(name, caller):
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def kills(seconds, seed, *, every=None):
    """Kill sessions for a time, or one for every `every`-th call. All figures except `kills` and `calls` must be 0."""
    figures = dict.fromkeys(("kills", "calls", "raised", "hung", "torn", "unsaid", "wrong", "over", "uncounted"), 0)
    examples, dice, until = [], random.Random(f"{seed}"), time.monotonic() + seconds
    one(Fault())
    one(counting := Fault())
    figures["calls"] = len(counting.calls)
    turn = 0
    while turn < len(counting.calls) if every else time.monotonic() < until:
        nth = turn if every else dice.randrange(len(counting.calls))
        for kind, words in killed_at(nth):
            figures[kind] += 1
            examples.append((kind, nth, counting.calls[nth], words[:300]))
        figures["kills"] += 1
        turn += every or 1
    return figures | {"examples": examples[:10]}


def killed_at(nth):
    """Run a session in a new process, end it at this call, and return what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "store")
        read, write = os.pipe()
        child = os.fork()
        if not child:
            _session(root, nth, write)
        os.close(write)
        try:
            with limited(SLOW_SECONDS):
                claims = _all_of(read).decode().split()
                _, status = os.waitpid(child, 0)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return [("hung", f"for {SLOW_SECONDS} seconds")]
        finally:
            os.close(read)
        if os.WIFEXITED(status):  # it finished before that call, because some calls are not made every time
            found = [] if os.WEXITSTATUS(status) == 0 else [("raised", "in the process that was to be killed")]
        else:
            found = []
        stored = {}
        for claim in claims:
            if claim.startswith("-"):
                stored.pop(claim[1:], None)
            else:
                stored[claim] = BYTES[claim.rpartition("-")[0]]
        return found + wrong_with(root, stored)


def _session(root, nth, write):
    """Run the session and exit; never returns."""
    code = 1
    try:
        session = Session(root)
        with Kill(nth).set():
            session.run(lambda ref: os.write(write, f"{ref} ".encode()))
        code = 1 if session.wrong else 0
    finally:
        os._exit(code)


def _all_of(fd):
    data = b""
    while part := os.read(fd, 4_096):
        data += part
    return data
