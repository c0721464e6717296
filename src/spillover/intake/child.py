"""A child process as a source: its streams told apart and kept in order of arrival, its end as it was."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

from spillover.data import dataclass
from spillover.errors import UsageError
from spillover.intake.pipe import move, widen
from spillover.intake.take import Intake
from spillover.intake.terminal import Signals, Terminal, signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NOT_FOUND, NOT_RUNNABLE, TIMED_OUT = 127, 126, 124
#: Between asking a group to end and ending it.
GRACE = 2.0
#: After the child has ended, how long its pipes may stay silent, and how long in all a descendant may still talk.
IDLE, LINGER = 0.1, 1.0
#: How often the end is looked for where the kernel cannot tell us.
TICK = 0.05
#: The longest single wait: a signal that comes in the instant before one is only heard after it.
LONGEST = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    exit_code: int  # as a shell reports it: 128 + n for signal n, 126 and 127 when it could not be started
    timed_out: bool = False
    signals: tuple[int, ...] = ()  # what we were sent, and passed on, while it ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how."""

    argv: Sequence[str | os.PathLike[str]]
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    input: bytes | None = None  # what it reads; None: nothing
    interactive: bool = False  # it has our own stdin, and the terminal where that is one
    timeout: float | None = None
    grace: float = GRACE

    def __post_init__(self) -> None:
        if isinstance(self.argv, (str, bytes)) or not self.argv:
            raise UsageError(
                'a command is a list of words, e.g. ["pytest", "-x"]; for a shell line use ["sh", "-c", line].'
            )
        try:
            object.__setattr__(self, "argv", tuple(os.fsdecode(word) for word in self.argv))
        except TypeError as error:
            raise UsageError(f"a command is a list of words: {error}.") from error
        if self.timeout is not None and not self.timeout > 0:  # also false for NaN
            raise UsageError(f"timeout={self.timeout} leaves no time to run; use seconds above 0.")
        if self.cwd is not None and not os.path.isdir(self.cwd):
            raise UsageError(f"cwd={os.fspath(self.cwd)!r} is not a directory.")


def run(
    command: Command, intake: Intake, *, cancel: int | None = None, tick: Callable[[], None] | None = None
) -> Ended:
    """Run to the end and drain everything. `cancel` is a descriptor that ends the command when it can be read."""
    with Signals(interactive=command.interactive) as signals:  # from before it starts, or one could be missed
        try:
            child = _start(command)
        except OSError as error:
            missing = _is_missing(command, error)
            why = "command not found" if missing else (error.strerror or str(error))
            intake.write(f"{command.argv[0]}: {why}\n".encode("utf-8", "replace"), "stderr")
            return Ended(NOT_FOUND if missing else NOT_RUNNABLE)
        except (ValueError, TypeError) as error:  # a NUL byte in an argument, a number in the environment
            raise UsageError(f"{command.argv[0]!r} cannot be run: {error}.") from error
        signals.go_to(child.pid)
        with Terminal(child.pid, lend=command.interactive and signals.heard) as terminal:
            watch = _Watch(command, child, intake, cancel, tick, terminal)
            try:
                return watch.until_ended(signals.received)
            except BaseException:
                watch.kill()
                raise
            finally:
                watch.close()


def _start(command: Command) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command.argv),
        stdin=None if command.interactive else subprocess.PIPE if command.input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=command.cwd,
        env=command.env,
        bufsize=0,
        process_group=0,
    )


def _is_missing(command: Command, error: OSError) -> bool:
    """Whether there is no such command. A folder of the PATH that may not be entered is passed over, as a shell does."""
    name = os.fsdecode(command.argv[0])
    if isinstance(error, FileNotFoundError) or "/" in name:
        return isinstance(error, FileNotFoundError)
    return not any(os.path.exists(os.path.join(folder, name)) for folder in os.get_exec_path(command.env))


class _Watch:
    """The loop around a running child."""

    def __init__(
        self,
        command: Command,
        child: subprocess.Popen[bytes],
        intake: Intake,
        cancel: int | None,
        tick: Callable[[], None] | None,
        terminal: Terminal,
    ) -> None:
        self.child, self.intake, self.tick, self.cancel, self.terminal = child, intake, tick, cancel, terminal
        self.grace = command.grace
        self.deadline = None if command.timeout is None else time.monotonic() + command.timeout
        self.kill_at: float | None = None
        self.timed_out = False
        self.ending = False
        self.input = memoryview(command.input or b"")
        assert child.stdout is not None
        assert child.stderr is not None
        self.streams = {child.stdout.fileno(): "stdout", child.stderr.fileno(): "stderr"}
        self.poll = select.poll()
        for fd in self.streams:
            os.set_blocking(fd, False)
            widen(fd)
            self.poll.register(fd, select.POLLIN)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            self.poll.register(child.stdin.fileno(), select.POLLOUT)
        if cancel is not None:
            self.poll.register(cancel, select.POLLIN)
        self.pidfd = _pidfd(child.pid)
        if self.pidfd is not None:
            self.poll.register(self.pidfd, select.POLLIN)

    def until_ended(self, received: list[int]) -> Ended:
        while self.child.poll() is None:
            self._step(self._patience())
        self._drain()
        code = self.child.returncode
        exit_code = TIMED_OUT if self.timed_out else 128 - code if code < 0 else code
        return Ended(exit_code, timed_out=self.timed_out, signals=tuple(received))

    def _patience(self) -> float:
        """How long the next wait may take."""
        waits = [at - time.monotonic() for at in (self.deadline, self.kill_at) if at is not None]
        if self.pidfd is None or self.tick or self.terminal.there:
            waits.append(TICK)
        return max(0.0, min([*waits, LONGEST]))

    def _step(self, patience: float) -> bool:
        """Wait for something and handle it; whether any stream had something to say."""
        ready = self.poll.poll(patience * 1000)
        spoke = False
        for fd, _ in ready:
            if fd in self.streams:
                spoke = True
                self._read(fd)
            elif self.child.stdin is not None and fd == self.child.stdin.fileno():
                self._feed()
            elif fd == self.cancel:
                self.poll.unregister(fd)
                self._end_group()
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            self.deadline, self.timed_out = None, True
            self._end_group()
        if self.kill_at is not None and now >= self.kill_at:
            self.kill_at = None
            self.kill()
        self.terminal.look()
        if self.tick:
            self.tick()
        return spoke

    def _read(self, fd: int) -> None:
        try:
            moved = move(fd, self.intake, self.streams[fd])
        except BlockingIOError:
            return
        if not moved:
            self.poll.unregister(fd)
            del self.streams[fd]

    def _feed(self) -> None:
        """Pass on what it is to read."""
        assert self.child.stdin is not None
        fd = self.child.stdin.fileno()
        try:
            self.input = self.input[os.write(fd, self.input[: 1 << 16]) :] if self.input else self.input
        except BlockingIOError:
            return
        except OSError:  # it does not want to read any further
            self.input = self.input[:0]
        if not self.input:
            self.poll.unregister(fd)
            self.child.stdin.close()
            self.child.stdin = None

    def _drain(self) -> None:
        """Everything the child wrote is in the pipes by now; a descendant that keeps them open is not waited for long."""
        if self.pidfd is not None:
            self.poll.unregister(self.pidfd)
        owed = self.intake.bytes + sum(_waiting(fd) for fd in self.streams)
        until = time.monotonic() + LINGER
        while self.streams:
            spoke = self._step(IDLE)
            if self.kill_at is not None:
                continue  # the group was asked to end and has until then
            if not spoke or (time.monotonic() >= until and self.intake.bytes >= owed):
                break
        if self.ending:
            self.kill()

    def _end_group(self) -> None:
        """Ask first; the clock for the harder way starts now."""
        self.ending = True
        signal_group(self.child.pid, signal.SIGTERM)
        signal_group(self.child.pid, signal.SIGCONT)  # a stopped process would never hear it
        self.kill_at = time.monotonic() + self.grace

    def kill(self) -> None:
        signal_group(self.child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(self.grace)

    def close(self) -> None:
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()
        if self.pidfd is not None:
            os.close(self.pidfd)


def _waiting(fd: int) -> int:
    """How many bytes stand in a pipe."""
    import fcntl  # only after a command has ended
    import termios

    return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)


def _pidfd(pid: int) -> int | None:
    """A descriptor that can be read once the child has ended; None where there is no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
