"""Make each system call of the store fail in turn, once or from then on, with every possible error."""

import errno
import fcntl
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from unittest.mock import patch

from store_session import Session

REASONS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, errno.EACCES, errno.ENOENT, errno.EMFILE, errno.EROFS)
#: The functions that the store calls, by module.
CALLS = (
    *((os, name) for name in (
        "open", "close", "read", "write", "pread", "pwrite", "lseek", "ftruncate", "dup", "fsync", "fstat", "stat", "utime",
        "mkdir", "chmod", "fchmod", "link", "rename", "replace", "unlink", "scandir", "fdopen", "urandom",
    )),
    (fcntl, "flock"),
)  # fmt: skip
OURS = ("spillover.store.", "spillover.source.")
SLOW_SECONDS = 30


class Fault:
    """Fail the `nth` call from our code and, with `on`, all later calls of that function. Without `nth`, only count calls."""

    def __init__(self, nth=None, reason=errno.EIO, *, on=False):
        self.nth, self.reason, self.on = nth, reason, on
        self.calls, self.failing, self.injected = [], None, 0

    def step(self, name, caller):
        if not caller.startswith(OURS):
            return False
        self.calls.append(name)
        if len(self.calls) - 1 == self.nth:
            self.failing = name
        elif not (self.on and name == self.failing):
            return False
        self.injected += 1
        return True

    @contextmanager
    def set(self):
        patches = [patch.object(module, name, self._around(module, name)) for module, name in CALLS]
        for each in patches:
            each.start()
        try:
            yield
        finally:
            for each in patches:
                each.stop()

    def _around(self, module, name):
        real = getattr(module, name)

        def call(*args, **options):
            if self.step(name, sys._getframe(1).f_globals.get("__name__", "")):
                if name == "close":  # the kernel closes it anyway
                    real(*args, **options)
                raise OSError(self.reason, os.strerror(self.reason))
            return real(*args, **options)

        return call


def faults(seconds, seed, *, every=None):
    """Run sessions for a time, or one for every `every`-th call. All figures but `sessions`, `calls` and `injected` must be 0."""
    figures = dict.fromkeys(
        ("sessions", "calls", "injected", "raised", "hung", "torn", "unsaid", "wrong", "over", "uncounted", "leaked"), 0
    )
    examples, dice, until = [], random.Random(f"{seed}"), time.monotonic() + seconds
    counting = Fault()
    one(counting)
    one(counting := Fault())  # count in the second run, when everything has been imported
    figures["calls"] = len(counting.calls)
    turn = 0
    while turn < len(counting.calls) if every else time.monotonic() < until:
        nth = turn if every else dice.randrange(len(counting.calls))
        fault = Fault(nth, dice.choice(REASONS), on=dice.random() < 0.4)
        found = one(fault)
        figures["sessions"] += 1
        figures["injected"] += fault.injected
        for kind, words in found:
            figures[kind] += 1
            examples.append((kind, nth, fault.failing, os.strerror(fault.reason), fault.on, words[:300]))
        turn += every or 1
    return figures | {"examples": examples[:10]}


def one(fault):
    """Run a session with this fault and return what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(os.path.join(folder, "store"))
        before = descriptors()
        try:
            with limited(SLOW_SECONDS), fault.set():
                session.run()
        except TimeoutError:
            session.wrong.append(("hung", f"for {SLOW_SECONDS} seconds"))
        found = session.judge()
        if (left := descriptors() - before) > 0:
            found.append(("leaked", f"{left} descriptors"))
        return found


def descriptors():
    import gc

    gc.collect()
    return len(os.listdir("/dev/fd"))


@contextmanager
def limited(seconds):
    """Raise TimeoutError if the block takes longer. Works only in the main thread."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
