"""MCP over pipes: a message is a line. Our own stdin and stdout for a client, a child process for a server."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from io import FileIO
from typing import Any

from spillover.document.clean import show_controls
from spillover.errors import UsageError
from spillover.source.intake import widen_pipe

#: Bytes that are read ahead of their reader, and written ahead of the other side. More costs memory.
BUFFER_BYTES = 1 << 20
#: A server has this long to end by itself once its stdin is closed, and as long again after SIGTERM; a longer time
#: delays the end of a client that waits for us.
CLOSE_SECONDS = 2.0
TERM_SECONDS = 2.0
#: Processes of a server's group that outlive it have this long before SIGKILL, and its last output to arrive.
GROUP_SECONDS = 0.1
#: Between two looks at what is still to be written.
TICK_SECONDS = 0.01
STDERR = 2
#: Bytes of a server's stderr that are read at once.
CHUNK_BYTES = 1 << 16
#: Ends the group of a server when we cannot: our end of its stdin closes however we end, `kill -9` included.
GUARD = 'read done || { kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"; } 2>/dev/null'


class LineReader(asyncio.Protocol):
    """Reads lines from a pipe; it pauses while nobody takes them."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.parts: list[bytes] = []
        self.ready = asyncio.Event()
        self.waiting = 0
        self.bytes_read = 0
        self.ended = False
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting += len(data)
        self.bytes_read += len(data)
        *whole, rest = data.split(b"\n")
        if whole:
            self.parts.append(whole[0])
            whole[0] = b"".join(self.parts)
            self.parts = [rest] if rest else []
            self.lines += whole
            self.ready.set()
            if self.waiting > BUFFER_BYTES:
                self.transport.pause_reading()
        else:  # a line has to be had whole, however long
            self.parts.append(rest)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  asyncio passes it
        self.end()

    def end(self) -> None:
        """Note that there will be no more messages."""
        if self.parts:
            self.lines.append(b"".join(self.parts))
            self.parts = []
        self.ended = True
        self.ready.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while self.lines:
                yield self.lines.popleft()
            if self.ended:
                return
            self.ready.clear()
            self.waiting = 0
            self.transport.resume_reading()
            await self.ready.wait()


class WriteFlow(asyncio.BaseProtocol):
    """Knows when a pipe that we write to is full, and when it is closed."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.free.set()
        self.closed = False
        self.error: Exception | None = None

    def pause_writing(self) -> None:
        self.free.clear()

    def resume_writing(self) -> None:
        self.free.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        self.error = error
        self.free.set()


class Pipes:
    """Two pipes: lines in, lines out."""

    def __init__(self, name: str, lines: LineReader, out: Any, flow: WriteFlow) -> None:
        self.name = name
        self.lines = lines
        self._out = out
        self._flow = flow

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.lines.__aiter__()

    @property
    def reads(self) -> bool:
        """Whether anybody reads what is sent."""
        return not self._flow.closed

    async def send(self, line: bytes) -> None:
        """Write a line, and wait while the reader is far behind; ConnectionError if it has gone."""
        if self._flow.closed or self._out.is_closing():
            raise BrokenPipeError(f"{self.name} has stopped reading")
        self._out.write(line + b"\n")
        await self._flow.free.wait()

    @property
    def failed(self) -> OSError | None:
        """The error that something could not be written with, unless the reader has gone."""
        error = self._flow.error
        return error if isinstance(error, OSError) and not isinstance(error, ConnectionError) else None

    async def flush(self) -> None:
        """Wait until everything is written, or the reader has gone or stopped reading."""
        for _ in range(int(CLOSE_SECONDS / TICK_SECONDS)):
            if self._flow.closed or not self._out.get_write_buffer_size():
                return
            await asyncio.sleep(TICK_SECONDS)

    def close(self) -> None:
        """Close the pipe once everything in its buffer has been sent."""
        self._out.close()


class FileWriter:
    """Writes to what cannot be waited for, a file or a device, as a transport does to a pipe."""

    def __init__(self, file: Any, flow: WriteFlow) -> None:
        self._file = file
        self._flow = flow

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._flow.connection_lost(error)

    def is_closing(self) -> bool:
        return self._flow.closed

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self._file.close()


async def connect_pipes(name: str, reading: Any, writing: Any) -> Pipes:
    """Return lines over two open files."""
    loop = asyncio.get_running_loop()
    for file in (reading, writing):
        widen_pipe(file.fileno())
    _, lines = await loop.connect_read_pipe(LineReader, reading if _is_pollable(reading) else _pipe_from_file(reading))
    if not _is_pollable(writing):
        flow = WriteFlow()
        return Pipes(name, lines, FileWriter(writing, flow), flow)
    out, flow = await loop.connect_write_pipe(WriteFlow, writing)
    out.set_write_buffer_limits(BUFFER_BYTES)
    return Pipes(name, lines, out, flow)


def _is_pollable(file: Any) -> bool:
    """Return whether the kernel can say when there is more: of pipes, sockets and terminals."""
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(file.fileno())


def _pipe_from_file(file: Any) -> Any:
    """Return a plain file as a pipe; a thread reads it."""
    facts = os.fstat(file.fileno())
    if not stat.S_ISREG(facts.st_mode) and facts.st_rdev != os.stat(os.devnull).st_rdev:
        raise UsageError("MCP needs a pipe on stdin; this one is neither a pipe nor a file.")
    read_end, write_end = os.pipe()

    def pump() -> None:
        with suppress(OSError), open(write_end, "wb", 0) as pipe:
            while data := file.read(BUFFER_BYTES):
                rest = memoryview(data)
                while rest:
                    rest = rest[pipe.write(rest) :]

    threading.Thread(target=pump, daemon=True).start()
    return open(read_end, "rb", 0)


async def connect_client() -> Pipes:
    """Return the client that started us. Nothing else that is printed may come between its messages."""
    if sys.stdin is None:  # and its number may be somebody else's by now
        raise UsageError("stdin is closed; an MCP client is expected there.")
    reading = os.fdopen(os.dup(0), "rb", 0)
    writing = os.fdopen(os.dup(1), "wb", 0)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return await connect_pipes("the client", reading, writing)


class ServerProcess:
    """A server that we run: it has a group of its own, and nothing of it outlives us."""

    modern = True  # it has our client's messages as they are, of whatever version

    def __init__(self, name: str, argv: Sequence[str]) -> None:
        self.name = name
        self.argv = list(argv)
        self.ending: asyncio.Task[str] | None = None
        self.errors: threading.Thread | None = None

    async def start(self) -> None:
        try:
            self.process = subprocess.Popen(  # noqa: ASYNC220  it does not wait
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if shows_terminal() else None,
                bufsize=0,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"cannot start the MCP server: {self.argv[0]}: {reason}. Check its command.") from error
        if self.process.stderr is not None:
            self.errors = show_stderr(self.process.stderr)  # type: ignore[arg-type]  # it has no buffer
        self.guard = subprocess.Popen(  # noqa: ASYNC220
            ["/bin/sh", "-c", GUARD, "spill-guard", str(self.process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.exited = asyncio.Event()
        self.pipes = await connect_pipes(self.name, self.process.stdout, self.process.stdin)
        threading.Thread(target=self._watch, args=(asyncio.get_running_loop(),), daemon=True).start()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for its end, without taking its number from the process table: that is still its group's name."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self.process.wait()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._note_exit, loop)

    def _note_exit(self, loop: asyncio.AbstractEventLoop, bytes_before: int = -1) -> None:
        """Read what it printed last; do not wait for children of its own that hold stdout open."""
        self.exited.set()
        if bytes_before == self.pipes.lines.bytes_read:
            self.pipes.lines.end()
        elif not self.pipes.lines.ended:
            loop.call_later(GROUP_SECONDS, self._note_exit, loop, self.pipes.lines.bytes_read)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.pipes.__aiter__()

    async def send(self, line: bytes) -> None:
        await self.pipes.send(line)

    async def close(self) -> str:
        """End it and all of its group, once; how it ended, in words."""
        self.ending = self.ending or asyncio.ensure_future(self._end())
        return await asyncio.shield(self.ending)

    async def _end(self) -> str:
        """Close its stdin, then signal its group, until it has ended."""
        self.pipes.close()
        by_itself = await self._wait_exit(CLOSE_SECONDS)
        if not by_itself:
            self._signal(signal.SIGTERM)
            await self._wait_exit(TERM_SECONDS)
        self._signal(signal.SIGTERM)
        if _has_others(self.process.pid):
            await asyncio.sleep(GROUP_SECONDS)
        self._signal(signal.SIGKILL)
        await self.exited.wait()
        code = self.process.wait()
        if self.errors is not None:  # its last words; a child of its own may hold the pipe open
            await asyncio.to_thread(self.errors.join, TERM_SECONDS)
        with suppress(OSError):
            self.guard.communicate(b"done\n")
        return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    async def _wait_exit(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.exited.wait(), seconds)
        return self.exited.is_set()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


def _has_others(group: int) -> bool:
    """Return whether anybody but the leader is in a group; where that cannot be seen, somebody may be."""
    try:
        entries = [name for name in os.listdir("/proc") if name.isdecimal() and int(name) != group]
    except OSError:
        return True
    for name in entries:
        with suppress(OSError, ValueError, IndexError):
            if os.getpgid(int(name)) == group:
                return True
    return False


def shows_terminal() -> bool:
    """Return whether what is written to our stderr is read by a person's terminal, which would obey escape codes."""
    with suppress(OSError):
        return os.isatty(STDERR)
    return False


def show_stderr(stream: FileIO) -> threading.Thread:
    """Show all that a server writes, harmless, until it has ended; beside everything else."""
    thread = threading.Thread(target=_pump, args=(stream,), name="spillover-stderr", daemon=True)
    thread.start()
    return thread


def _pump(stream: FileIO) -> None:
    """Copy a stream to stderr, with control characters as visible ones."""
    decode = getincrementaldecoder("utf-8")("replace").decode
    with suppress(OSError, ValueError), stream:
        while True:
            data = os.read(stream.fileno(), CHUNK_BYTES)
            text = show_controls(decode(data, not data).replace("\r\n", "\n").encode())
            rest = memoryview(text.encode("utf-8", "surrogatepass"))
            while rest:
                rest = rest[os.write(STDERR, rest) :]
            if not data:
                return
