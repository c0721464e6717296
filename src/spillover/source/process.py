"""A child process as a source: its streams in one pipe, or apart and interleaved by whole lines."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import force_setattr

from spillover.errors import UsageError
from spillover.source.intake import Intake, widen_pipe
from spillover.source.terminal import DeadManSwitch, Signals, Terminal, drain_later, signal_group

#: Exit codes, as a shell and `timeout` have them.
NOT_FOUND = 127
NOT_RUNNABLE = 126
TIMED_OUT = 124
#: Seconds from SIGTERM to SIGKILL for a group. More delay the end of a call that timed out.
GRACE_SECONDS = 2.0
#: Seconds that the pipes of a child that has ended are read while a descendant holds them. More delay such calls.
LINGER_SECONDS = 1.0
#: Seconds between two checks for the end if the kernel cannot announce it. More delay the end of a call.
TICK_SECONDS = 0.05
#: Seconds of a single wait, at most: a signal just before a wait is handled after it. More delay that.
MAX_WAIT_SECONDS = 1.0
#: Bytes of input written at once; more need fewer calls.
INPUT_BYTES = 1 << 16


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
    interactive: bool = False  # it has our own stdin, and the terminal if that is one
    timeout: float | None = None
    grace: float = GRACE_SECONDS
    die_with_parent: bool = False  # it ends with us, even if we are killed
    together: bool = False  # one pipe for both streams, which keeps their order and not their names

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
    """Run a command to its end, with its output into an intake.

    `cancel` ends it: a descriptor that can be read, or a function that returns true. `tick` is called about
    every TICK_SECONDS.
    """
    with contextlib.ExitStack() as stack:
        signals = stack.enter_context(Signals(interactive=command.interactive))  # first, or one could be missed
        switch = stack.enter_context(DeadManSwitch(command.grace)) if command.die_with_parent else None
        try:
            child = _start(command)
        except OSError as error:
            missing = _is_missing(command, error)
            problem = "command not found" if missing else (error.strerror or str(error))
            intake.write(f"{command.argv[0]}: {problem}\n".encode("utf-8", "replace"), "stderr")
            return Ended(NOT_FOUND if missing else NOT_RUNNABLE)
        except (ValueError, TypeError) as error:  # a NUL byte in an argument, a number in the environment
            raise UsageError(f"{command.argv[0]!r} cannot be run: {error}.") from error
        try:
            if switch:
                switch.watch(child.pid)
            signals.forward_to(child.pid)
            terminal = stack.enter_context(Terminal(child.pid, lend=command.interactive and signals.handled))
            watcher = _Watcher(command, child, intake, cancel, tick, terminal)
            stack.callback(watcher.close)
            return watcher.watch(signals.received)
        except BaseException:
            _kill(child, command.grace)
            raise


def _start(command: Command) -> subprocess.Popen[bytes]:
    stdin = subprocess.PIPE if command.input else subprocess.DEVNULL
    return subprocess.Popen(
        list(command.argv),
        stdin=None if command.interactive else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if command.together else subprocess.PIPE,
        cwd=command.cwd,
        env=command.env,
        bufsize=0,
        process_group=0,
    )


def _is_missing(command: Command, error: OSError) -> bool:
    """Return whether there is no such command; folders of the PATH that may not be entered are skipped."""
    if isinstance(error, FileNotFoundError):
        return True
    name = os.fsdecode(command.argv[0])
    return "/" not in name and not any(
        os.path.exists(os.path.join(folder, name)) for folder in os.get_exec_path(command.env)
    )


class _Watcher:
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
        self.child = child
        self.intake = intake
        self.tick = tick
        self.terminal = terminal
        self.cancel_fd = cancel if isinstance(cancel, int) else None
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
            intake.keep_lines_whole()
        self.poll = select.poll()
        for fd in self.streams:
            with contextlib.suppress(OSError):  # what poll reports can be read without waiting all the same
                os.set_blocking(fd, False)
            widen_pipe(fd)
            self.poll.register(fd, select.POLLIN)
        self.input_bytes = INPUT_BYTES
        if child.stdin is not None:
            try:
                os.set_blocking(child.stdin.fileno(), False)
            except OSError:
                self.input_bytes = select.PIPE_BUF  # a pipe that poll reports as writable takes this much
            self.poll.register(child.stdin.fileno(), select.POLLOUT)
        if self.cancel_fd is not None:
            self.poll.register(self.cancel_fd, select.POLLIN)
        self.pidfd = _open_pidfd(child.pid)
        if self.pidfd is not None:
            self.poll.register(self.pidfd, select.POLLIN)

    def watch(self, received: list[int]) -> Ended:
        """Serve the child until it and its pipes have ended."""
        while self.child.poll() is None:
            self._wait(self._timeout())
        self._drain()
        code = self.child.returncode
        exit_code = 128 - code if code < 0 else code
        if self.timed_out:
            exit_code = TIMED_OUT
        still_open = tuple(self.streams.values())
        return Ended(exit_code, timed_out=self.timed_out, signals=tuple(received), still_open=still_open)

    def _timeout(self, until: float | None = None) -> float:
        """Return the longest time that the next wait may take."""
        now = time.monotonic()
        timeouts = [at - now for at in (self.deadline, self.kill_at, until) if at is not None]
        polls_for_end = self.pidfd is None and until is None
        if polls_for_end or self.tick or self.is_cancelled or self.terminal.available:
            timeouts.append(TICK_SECONDS)
        return max(0.0, min([*timeouts, MAX_WAIT_SECONDS]))

    def _wait(self, timeout: float) -> None:
        """Wait for something to happen and handle it."""
        for fd, _ in self.poll.poll(timeout * 1000):
            if fd in self.streams:
                self._read(fd)
            elif self.child.stdin is not None and fd == self.child.stdin.fileno():
                self._write_input()
            elif fd == self.cancel_fd:
                self.poll.unregister(fd)
                self._end_group()
        if self.is_cancelled and self.is_cancelled():
            self.is_cancelled = None
            self._end_group()
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            self.deadline = None
            self.timed_out = True
            self._end_group()
        if self.kill_at is not None and now >= self.kill_at:
            self.kill_at = None
            _kill(self.child, self.grace)
        self.terminal.serve()
        if self.tick:
            self.tick()

    def _read(self, fd: int) -> None:
        try:
            count = self.intake.write_from(fd, self.streams[fd])
        except BlockingIOError:
            return
        if not count:
            self.poll.unregister(fd)
            del self.streams[fd]

    def _write_input(self) -> None:
        assert self.child.stdin is not None
        fd = self.child.stdin.fileno()
        try:
            self.input = self.input[os.write(fd, self.input[: self.input_bytes]) :] if self.input else self.input
        except BlockingIOError:
            return
        except OSError:  # it has closed its stdin
            self.input = self.input[:0]
        if not self.input:
            self.poll.unregister(fd)
            self.child.stdin.close()
            self.child.stdin = None

    def _drain(self) -> None:
        """Read the rest of the pipes, including the output of other processes within LINGER_SECONDS."""
        if self.pidfd is not None:
            self.poll.unregister(self.pidfd)
        self.deadline = None  # it has ended in time
        target_bytes = self.intake.received + sum(map(_count_waiting, self.streams))
        until = time.monotonic() + LINGER_SECONDS
        while self.streams:
            if self.kill_at is not None:  # a group that received SIGTERM has its time to end
                until = self.kill_at + LINGER_SECONDS
            if time.monotonic() >= until and self.intake.received >= target_bytes:
                break
            self._wait(self._timeout(until))
        if self.ending:
            _kill(self.child, self.grace)

    def _end_group(self) -> None:
        """Send SIGTERM to the group, and set the time of SIGKILL."""
        self.ending = True
        signal_group(self.child.pid, signal.SIGTERM)
        signal_group(self.child.pid, signal.SIGCONT)  # a stopped process receives nothing else
        self.kill_at = time.monotonic() + self.grace

    def close(self) -> None:
        """Close the pipes; a process that still writes to one is read by a shell from now on."""
        if self.streams and self.child.returncode is not None:
            drain_later([*self.streams])
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # flushing fails if the reader is gone
                    stream.close()
        if self.pidfd is not None:
            os.close(self.pidfd)


def _kill(child: subprocess.Popen[bytes], grace: float) -> None:
    """Kill the child and its group."""
    signal_group(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace)


def _count_waiting(fd: int) -> int:
    """Return the number of bytes that wait in a pipe; 0 if the system does not say."""
    try:
        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)
    except OSError:
        return 0


def _open_pidfd(pid: int) -> int | None:
    """Return a descriptor that can be read once the child has ended; None if the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
