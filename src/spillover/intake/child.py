"""A child process as a source: its streams in one pipe, or told apart and interleaved by whole lines; its end as it was."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

from msgspec import Struct
from msgspec.structs import force_setattr

from spillover.errors import UsageError
from spillover.intake.beside import DeadManSwitch, read_on
from spillover.intake.pipe import WholeLines, move, widen
from spillover.intake.take import Intake
from spillover.intake.terminal import Signals, Terminal, signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NOT_FOUND, NOT_RUNNABLE, TIMED_OUT = 127, 126, 124
#: Between asking a group to end and ending it.
GRACE = 2.0
#: After the child has ended, how long a descendant that holds its pipes is listened to.
LINGER = 1.0
#: How often the end is looked for where the kernel cannot tell us.
TICK = 0.05
#: The longest single wait: a signal that comes in the instant before one is only heard after it.
LONGEST = 1.0


class Ended(Struct, frozen=True):
    """How a command ended."""

    exit_code: int  # as a shell reports it: 128 + n for signal n, 126 and 127 when it could not be started
    timed_out: bool = False
    signals: tuple[int, ...] = ()  # received while it ran, and passed on to it
    still_open: tuple[str, ...] = ()  # streams that a process it started still had open when we stopped reading


class Command(Struct, frozen=True, kw_only=True):
    """What to run, and how."""

    argv: Sequence[str | os.PathLike[str]]
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    input: bytes | None = None  # what it reads; None: nothing
    interactive: bool = False  # it has our own stdin, and the terminal where that is one
    timeout: float | None = None
    grace: float = GRACE
    die_with_parent: bool = False  # it ends with us, even where we are killed
    together: bool = False  # both of its streams are one pipe, so that their order is kept, and they are not told apart

    def __post_init__(self) -> None:
        if isinstance(self.argv, (str, bytes)) or not self.argv:
            raise UsageError(
                'a command is a list of words, e.g. ["pytest", "-x"]; for a shell line use ["sh", "-c", line].'
            )
        try:
            force_setattr(self, "argv", tuple(os.fsdecode(word) for word in self.argv))
        except TypeError as error:
            raise UsageError(f"a command is a list of words: {error}.") from error
        if self.timeout is not None and not self.timeout > 0:  # also false for NaN
            raise UsageError(f"timeout={self.timeout} leaves no time to run; use seconds above 0.")
        if self.cwd is not None and not os.path.isdir(self.cwd):
            raise UsageError(f"cwd={os.fspath(self.cwd)!r} is not a directory.")


def run(
    command: Command,
    intake: Intake,
    *,
    cancel: int | Callable[[], bool] | None = None,
    tick: Callable[[], None] | None = None,
) -> Ended:
    """Run to the end and drain everything. `cancel` ends the command: a descriptor that can be read, or a call that is true."""
    with contextlib.ExitStack() as stack:
        signals = stack.enter_context(
            Signals(interactive=command.interactive)
        )  # before it starts, or one could be missed
        switch = stack.enter_context(DeadManSwitch(command.grace)) if command.die_with_parent else None
        try:
            child = _start(command)
        except OSError as error:
            missing = _is_missing(command, error)
            why = "command not found" if missing else (error.strerror or str(error))
            intake.write(f"{command.argv[0]}: {why}\n".encode("utf-8", "replace"), "stderr")
            return Ended(NOT_FOUND if missing else NOT_RUNNABLE)
        except (ValueError, TypeError) as error:  # a NUL byte in an argument, a number in the environment
            raise UsageError(f"{command.argv[0]!r} cannot be run: {error}.") from error
        try:
            if switch:
                switch.watch(child.pid)
            signals.go_to(child.pid)
            terminal = stack.enter_context(Terminal(child.pid, lend=command.interactive and signals.heard))
            watch = _Watch(command, child, intake, cancel, tick, terminal)
            stack.callback(watch.close)
            return watch.until_ended(signals.received)
        except BaseException:
            kill(child, command.grace)
            raise


def _start(command: Command) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command.argv),
        stdin=None if command.interactive else subprocess.PIPE if command.input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if command.together else subprocess.PIPE,
        cwd=command.cwd,
        env=command.env,
        bufsize=0,
        process_group=0,
    )


def _is_missing(command: Command, error: OSError) -> bool:
    """Return whether there is no such command. A folder of the PATH that may not be entered is passed over, as a shell does."""
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
        cancel: int | Callable[[], bool] | None,
        tick: Callable[[], None] | None,
        terminal: Terminal,
    ) -> None:
        self.child, self.intake, self.tick, self.terminal = child, intake, tick, terminal
        self.cancel = cancel if isinstance(cancel, int) else None
        self.is_cancelled = cancel if callable(cancel) else None
        self.grace = command.grace
        self.deadline = None if command.timeout is None else time.monotonic() + command.timeout
        self.kill_at: float | None = None
        self.timed_out = False
        self.ending = False
        self.input = memoryview(command.input or b"")
        assert child.stdout is not None
        self.streams = {child.stdout.fileno(): "stdout"}
        if child.stderr is not None:
            self.streams[child.stderr.fileno()] = "stderr"
            intake.keep_lines_whole(WholeLines())
        self.poll = select.poll()
        for fd in self.streams:
            with contextlib.suppress(
                OSError
            ):  # what poll says can be read is read without waiting, also where it might
                os.set_blocking(fd, False)
            widen(fd)
            self.poll.register(fd, select.POLLIN)
        self.piece = 1 << 16
        if child.stdin is not None:
            try:
                os.set_blocking(child.stdin.fileno(), False)
            except OSError:
                self.piece = select.PIPE_BUF  # for so much there is room in what poll says can be written
            self.poll.register(child.stdin.fileno(), select.POLLOUT)
        if self.cancel is not None:
            self.poll.register(self.cancel, select.POLLIN)
        self.pidfd = _pidfd(child.pid)
        if self.pidfd is not None:
            self.poll.register(self.pidfd, select.POLLIN)

    def until_ended(self, received: list[int]) -> Ended:
        while self.child.poll() is None:
            self._step(self._patience())
        self._drain()
        code = self.child.returncode
        exit_code = TIMED_OUT if self.timed_out else 128 - code if code < 0 else code
        still_open = tuple(self.streams.values())
        return Ended(exit_code, timed_out=self.timed_out, signals=tuple(received), still_open=still_open)

    def _patience(self, until: float | None = None) -> float:
        """Return how long the next wait may take."""
        waits = [at - time.monotonic() for at in (self.deadline, self.kill_at, until) if at is not None]
        looks = self.pidfd is None and until is None  # for its end
        if looks or self.tick or self.is_cancelled or self.terminal.there:
            waits.append(TICK)
        return max(0.0, min([*waits, LONGEST]))

    def _step(self, patience: float) -> None:
        """Wait for something and handle it."""
        for fd, _ in self.poll.poll(patience * 1000):
            if fd in self.streams:
                self._read(fd)
            elif self.child.stdin is not None and fd == self.child.stdin.fileno():
                self._feed()
            elif fd == self.cancel:
                self.poll.unregister(fd)
                self._end_group()
        if self.is_cancelled and self.is_cancelled():
            self.is_cancelled = None
            self._end_group()
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            self.deadline, self.timed_out = None, True
            self._end_group()
        if self.kill_at is not None and now >= self.kill_at:
            self.kill_at = None
            kill(self.child, self.grace)
        self.terminal.look()
        if self.tick:
            self.tick()

    def _read(self, fd: int) -> None:
        try:
            moved = move(fd, self.intake, self.streams[fd])
        except BlockingIOError:
            return
        if not moved:
            self.poll.unregister(fd)
            del self.streams[fd]

    def _feed(self) -> None:
        """Write its input to it."""
        assert self.child.stdin is not None
        fd = self.child.stdin.fileno()
        try:
            self.input = self.input[os.write(fd, self.input[: self.piece]) :] if self.input else self.input
        except BlockingIOError:
            return
        except OSError:  # it does not want to read any further
            self.input = self.input[:0]
        if not self.input:
            self.poll.unregister(fd)
            self.child.stdin.close()
            self.child.stdin = None

    def _drain(self) -> None:
        """Read what the child left in the pipes, and listen for LINGER to whoever else holds them."""
        if self.pidfd is not None:
            self.poll.unregister(self.pidfd)
        self.deadline = None  # it has ended in time
        owed = self.intake.received + sum(map(_waiting, self.streams))
        until = time.monotonic() + LINGER
        while self.streams:
            if self.kill_at is not None:  # a group that was asked to end has its time for it
                until = self.kill_at + LINGER
            if time.monotonic() >= until and self.intake.received >= owed:
                break
            self._step(self._patience(until))
        if self.ending:
            kill(self.child, self.grace)

    def _end_group(self) -> None:
        """Ask the group to end; the clock for killing it starts now."""
        self.ending = True
        signal_group(self.child.pid, signal.SIGTERM)
        signal_group(self.child.pid, signal.SIGCONT)  # a stopped process would never hear it
        self.kill_at = time.monotonic() + self.grace

    def close(self) -> None:
        if self.streams and self.child.returncode is not None:
            read_on([*self.streams])
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # to flush what nobody reads
                    stream.close()
        if self.pidfd is not None:
            os.close(self.pidfd)


def kill(child: subprocess.Popen[bytes], grace: float) -> None:
    """End the child and its group, now."""
    signal_group(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace)


def _waiting(fd: int) -> int:
    """Return how many bytes wait in a pipe."""
    try:
        import fcntl  # only after a command has ended
        import termios

        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)
    except (OSError, ImportError):  # no descriptor is left to load them with; what comes within LINGER is taken anyway
        return 0


def _pidfd(pid: int) -> int | None:
    """Return a descriptor that can be read once the child has ended; None where there is no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
