"""Run a filter, and copy what it reads to the process that runs the line: `python keep.py SOCKET NUMBER FILTER …`.

The filter takes the place of this process, so that its exit code, its signals and its place in the pipeline are its
own. A process beside it copies. Whatever goes wrong with the copy, the filter reads what it would have read. Only the
standard library is imported, and little of it: this stands in the way of every `| tail`.
"""

import _socket  # `socket` takes 3 ms more
import os
import select
import signal
import sys
from contextlib import suppress

READ_BYTES = 1 << 16


def main(path: str, number: str, argv: list[str]) -> None:
    """Become the filter, with a copy of its input going to the socket."""
    with suppress(OSError):
        _copy_input(path, number)
    _restore()
    try:
        os.execvp(argv[0], argv)  # noqa: S606  that is the job
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        message = f"{argv[0]}: {'command not found' if missing else error.strerror}\n"
        os.write(2, message.encode("utf-8", "surrogateescape"))
        os._exit(127 if missing else 126)


def _copy_input(path: str, number: str) -> None:
    """Put a pipe in the place of stdin, and a process that fills it."""
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.connect(path)
    link.send(f"{number}\n".encode())
    reading_end, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        # The copier is a grandchild: the filter may wait for its children, and has none.
        if os.fork() == 0:
            with suppress(OSError):
                os.close(reading_end)
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 1)
                os.dup2(null, 2)
                _copy(link.fileno(), writing_end)
        os._exit(0)
    os.close(writing_end)
    link.close()
    os.waitpid(child, 0)
    os.dup2(reading_end, 0)
    os.close(reading_end)


def _copy(link: int, filter_input: int) -> None:
    """Copy until the input ends, or the filter has: then the program before it gets SIGPIPE, as without us."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(filter_input, 0)  # only for its end
    while True:
        ready = dict(poll.poll())
        if filter_input in ready:
            return
        data = os.read(0, READ_BYTES)
        if not data:
            return
        if link >= 0:
            try:
                _write_all(link, data)
            except OSError:  # nobody reads the copy any more
                link = -1
        _write_all(filter_input, data)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _restore() -> None:
    """Undo what Python does at its start: it ignores two signals, and in the locale C it sets LC_CTYPE."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    with suppress(OSError), open("/proc/self/environ", "rb") as file:
        values = [entry[len(b"LC_CTYPE=") :] for entry in file.read().split(b"\0") if entry.startswith(b"LC_CTYPE=")]
        os.environb.pop(b"LC_CTYPE", None)
        if values:
            os.environb[b"LC_CTYPE"] = values[0]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
