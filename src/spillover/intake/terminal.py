"""Job control, as a shell does it: signals go on to the child's group, the terminal is lent to it once it asks."""

from __future__ import annotations

import contextlib
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
#: What the kernel stops a group with that wants the terminal and does not have it: to read it, or to set it.
WANTED = (signal.SIGTTIN, signal.SIGTTOU)


class Signals:
    """While it runs, what we are sent goes to the child's group; Python lets only the main thread listen."""

    def __init__(self, *, interactive: bool) -> None:
        self.received: list[int] = []
        self._names = (*FORWARDED, "SIGTSTP") if interactive else FORWARDED
        self._group: int | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    @property
    def heard(self) -> bool:
        """Whether we are told of any."""
        return bool(self._before)

    def __enter__(self) -> Self:
        with contextlib.suppress(ValueError):  # another thread: whoever has the main one decides
            for name in self._names:
                signum = getattr(signal, name)
                if signal.getsignal(signum) not in (signal.SIG_IGN, None):  # nohup stays nohup
                    self._before[signum] = signal.signal(signum, self._pass_on)
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)

    def go_to(self, group: int) -> None:
        """Pass signals to this group from now on, and those that came while it was starting."""
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
    """Not lent before the child asks: till then it stays with our own group, where a pager behind us may need it."""

    def __init__(self, child: int, *, lend: bool) -> None:
        self._child = child
        self._fd = _controlling() if lend else None
        self._lent = False

    @property
    def there(self) -> bool:
        """Whether there is one to lend."""
        return self._fd is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            self._take_back()
            os.close(self._fd)
            self._fd = None

    def look(self) -> None:
        """Whether the child was stopped: because it wants the terminal, or by Ctrl-Z while it had it."""
        if self._fd is None:
            return
        try:
            info = os.waitid(os.P_PID, self._child, os.WSTOPPED | os.WNOHANG)
        except ChildProcessError:
            return
        if info is None:
            return
        wants = info.si_status in WANTED
        if wants and self._owner() == os.getpgrp():
            self._lent = self._give(self._child)
        elif wants or self._lent:
            self._take_back()
            stop(info.si_status if wants else signal.SIGTSTP, whole_job=True)
        else:
            return  # somebody stopped it by hand, and will let it go on by hand
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
        # Whoever is in the background gets SIGTTOU for this call, and would stop.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(self._fd, group)
        except OSError:
            return False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return True


def stop(signum: int = signal.SIGTSTP, *, whole_job: bool = False) -> None:
    """Stop like a process without a handler, so that the shell notices; return at its `fg` or `bg`."""
    handler = signal.signal(signum, signal.SIG_DFL)
    if whole_job:
        os.killpg(0, signum)
    else:
        os.kill(os.getpid(), signum)
    signal.signal(signum, handler)


def signal_group(group: int, signum: int) -> None:
    """Send a signal to a group that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signum)


def _controlling() -> int | None:
    """Return the terminal we are attached to, wherever stdin comes from: a password is asked for there."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
