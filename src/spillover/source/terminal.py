"""Job control as in a shell: signals are passed to the child's group, and the terminal is lent to it when it reads.

`DeadManSwitch` and `drain_later` each start a short shell script beside the command, without forking ourselves, so
threads do not matter. The script has a session of its own, where no signal from our terminal or to our group reaches
it, and only the descriptors that it needs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any, Self

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
#: The signals by which the kernel stops a group that reads or sets a terminal it does not have.
TERMINAL_REQUESTS = (signal.SIGTTIN, signal.SIGTTOU)

_SHELL = "/bin/sh"
#: Reads the group. Then the pipe ends when its writer was killed. A stopped process would not hear TERM.
_END_GROUP = """read -r group || exit; read -r word
kill -s TERM -- "-$group"; kill -s CONT -- "-$group"; sleep "$1"; kill -s KILL -- "-$group"
"""
#: Each `cat` holds one pipe; the shell ends at once, so that its parent does not wait for them.
_DRAIN = "exec 3<&0 4<&1 </dev/null >/dev/null; cat <&3 4<&- & cat <&4 3<&- &"


class Signals:
    """Passes our signals to the child's group inside a `with`. Python lets only the main thread handle signals."""

    def __init__(self, *, interactive: bool) -> None:
        self.received: list[int] = []
        self._names = (*FORWARDED, "SIGTSTP") if interactive else FORWARDED
        self._group: int | None = None
        self._early: list[int] = []  # signals received before the group was known
        self._handlers: dict[int, Any] = {}

    @property
    def handled(self) -> bool:
        """Whether any signal reaches us."""
        return bool(self._handlers)

    def __enter__(self) -> Self:
        with contextlib.suppress(ValueError):  # another thread: the main one decides
            for name in self._names:
                signum = getattr(signal, name)
                if signal.getsignal(signum) not in (signal.SIG_IGN, None):  # nohup stays nohup
                    self._handlers[signum] = signal.signal(signum, self._pass_on)
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._handlers.items():
            signal.signal(signum, handler)

    def forward_to(self, group: int) -> None:
        """Pass signals to this group from now on, and any that came while it was starting."""
        self._group = group
        for signum in self._early:
            self._pass_on(signum, None)

    def _pass_on(self, signum: int, _frame: object) -> None:
        if self._group is None:
            self._early.append(signum)
        elif signum == signal.SIGTSTP:  # Ctrl-Z, while the terminal is still ours
            signal_group(self._group, signum)
            stop()
            signal_group(self._group, signal.SIGCONT)
        else:
            self.received.append(signum)
            signal_group(self._group, signum)


class Terminal:
    """The terminal, lent to a child that reads or sets it. Until then our own group has it, for a pager behind us."""

    def __init__(self, child: int, *, lend: bool) -> None:
        self._child = child
        self._fd = _open_terminal() if lend else None
        self._lent = False

    @property
    def available(self) -> bool:
        """Whether there is a terminal to lend."""
        return self._fd is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            self._take_back()
            os.close(self._fd)
            self._fd = None

    def serve(self) -> None:
        """Lend the terminal to a child that was stopped for using it; stop with a child that Ctrl-Z stopped."""
        if self._fd is None:
            return
        try:
            status = os.waitid(os.P_PID, self._child, os.WSTOPPED | os.WNOHANG)
        except ChildProcessError:
            return
        if status is None:
            return
        requests = status.si_status in TERMINAL_REQUESTS
        if requests and self._owner() == os.getpgrp():
            self._lent = self._give(self._child)
        elif requests or self._lent:
            self._take_back()
            stop(status.si_status if requests else signal.SIGTSTP, whole_job=True)
        else:
            return  # it was stopped by hand, and will be continued by hand
        signal_group(self._child, signal.SIGCONT)

    def _take_back(self) -> None:
        if self._lent and self._owner() == self._child:
            self._give(os.getpgrp())
        self._lent = False

    def _owner(self) -> int | None:
        assert self._fd is not None
        try:
            return os.tcgetpgrp(self._fd)
        except OSError:
            return None  # it has hung up

    def _give(self, group: int) -> bool:
        assert self._fd is not None
        # A group in the background gets SIGTTOU for this call, and would stop.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(self._fd, group)
        except OSError:
            return False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return True


class DeadManSwitch:
    """Ends a process group soon after us, even after `kill -9`. If it cannot start, the command runs without it."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._shell: subprocess.Popen[bytes] | None = None
        self._pipe = -1

    def __enter__(self) -> Self:
        """Start before the command does, so that it is watched from the beginning."""
        with contextlib.suppress(OSError):
            reader, self._pipe = os.pipe()
            try:
                self._shell = _start_shell(reader, subprocess.DEVNULL, _END_GROUP, str(max(1, round(self._grace))))
            finally:
                os.close(reader)
        return self

    def watch(self, group: int) -> None:
        """Watch this process group."""
        if self._shell is not None:
            with contextlib.suppress(OSError):  # the shell was killed
                os.write(self._pipe, b"%d\n" % group)

    def __exit__(self, *_: object) -> None:
        """End the watching shell too: the command has ended by itself."""
        if self._shell is not None:
            self._shell.kill()
            self._shell.wait()
        if self._pipe >= 0:
            os.close(self._pipe)


def drain_later(fds: list[int]) -> None:
    """Have one or two pipes read to their end and discarded: writing to a pipe without a reader raises SIGPIPE."""
    for fd in fds:
        os.set_blocking(fd, True)
    first, second = (*fds, subprocess.DEVNULL)[:2]
    with contextlib.suppress(OSError):  # without a shell, its writer gets SIGPIPE
        _start_shell(first, second, _DRAIN).wait()


def stop(signum: int = signal.SIGTSTP, *, whole_job: bool = False) -> None:
    """Stop like a process without a handler, so that the shell notices; return at its `fg` or `bg`."""
    handler = signal.signal(signum, signal.SIG_DFL)
    if whole_job:
        os.killpg(0, signum)
    else:
        os.kill(os.getpid(), signum)
    signal.signal(signum, handler)


def signal_group(group: int, signum: int) -> None:
    """Send a signal to a group that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signum)


def _start_shell(stdin: int, stdout: int, script: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [_SHELL, "-c", script, "spill", *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _open_terminal() -> int | None:
    """Open the terminal that controls us, wherever stdin comes from: passwords are read there."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
