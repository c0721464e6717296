"""Run a filter, and pass what it reads to whoever runs the line, too. A program of its own: `python keep.py SOCKET NUMBER FILTER …`.

The filter takes the place of this process, so that its exit code, its signals and its place in the pipeline are its own. A
process beside it copies. Whatever goes wrong with the copy, the filter reads what it would have read. Only what is built into
Python is imported: this stands in the way of every `| tail`.
"""

import os
import signal
import sys
from contextlib import suppress

READ = 1 << 16


def main(path: str, number: str, argv: list[str]) -> None:
    """Become the filter, with a copy of its input going to the socket."""
    with suppress(OSError):
        _copy_input(path, number)
    _restore()
    try:
        os.execvp(argv[0], argv)  # noqa: S606  that is the job
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        os.write(
            2, f"{argv[0]}: {'command not found' if missing else error.strerror}\n".encode("utf-8", "surrogateescape")
        )
        os._exit(127 if missing else 126)


def _copy_input(path: str, number: str) -> None:
    """Put a pipe in the place of stdin, and a process that fills it."""
    import _socket

    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.connect(path)
    link.send(f"{number}\n".encode())
    reads, writes = os.pipe()
    first = os.fork()
    if first == 0:
        # Not a child of the filter, which did not ask for one.
        if os.fork() == 0:
            with suppress(OSError):
                os.close(reads)
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 1)
                os.dup2(null, 2)
                _copy(link.fileno(), writes)
        os._exit(0)
    os.close(writes)
    link.close()
    os.waitpid(first, 0)
    os.dup2(reads, 0)
    os.close(reads)


def _copy(link: int, filter_in: int) -> None:
    """Copy until the input ends, or the filter has had enough: then whoever writes is told so by SIGPIPE, as without us."""
    import select

    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(filter_in, 0)  # only for its end
    while True:
        ready = dict(poll.poll())
        if filter_in in ready:
            return
        data = os.read(0, READ)
        if not data:
            return
        if link >= 0:
            try:
                _send(link, data)
            except OSError:  # nobody keeps it any more
                link = -1
        _send(filter_in, data)


def _send(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _restore() -> None:
    """Undo what Python does at its start: it ignores two signals, and in the locale C it sets LC_CTYPE."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    with suppress(OSError), open("/proc/self/environ", "rb") as given:
        as_given = [each for each in given.read().split(b"\0") if each.startswith(b"LC_CTYPE=")]
        os.environb.pop(b"LC_CTYPE", None)
        if as_given:
            os.environb[b"LC_CTYPE"] = as_given[0].partition(b"=")[2]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
