"""Small processes beside a command: one ends it if we are killed, one keeps its pipes readable after we have gone.

Both are a shell of a few words, started without forking ourselves, so threads do not matter. Each has a session of its own,
where no signal from our terminal or to our group reaches it, and none of our descriptors but those it is for.
"""

from __future__ import annotations

import contextlib
import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_SHELL = "/bin/sh"
#: It is told the group. Then the pipe ends when whoever holds its other end was killed. A stopped process would not hear TERM.
_END = """read -r group || exit; read -r word
kill -s TERM -- "-$group"; kill -s CONT -- "-$group"; sleep "$1"; kill -s KILL -- "-$group"
"""
#: Each `cat` holds one pipe; the shell ends at once, so that nobody has to wait for them.
_READ_ON = "exec 3<&0 4<&1 </dev/null >/dev/null; cat <&3 4<&- & cat <&4 3<&- &"


class DeadManSwitch:
    """Ends a process group soon after us, even after `kill -9`. If it cannot be started, the command runs without it."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._shell: subprocess.Popen[bytes] | None = None
        self._pipe = -1

    def __enter__(self) -> Self:
        """Start before the command does, so that it is watched from the beginning."""
        with contextlib.suppress(OSError):
            listens, self._pipe = os.pipe()
            try:
                words = [_SHELL, "-c", _END, "spill", str(max(1, round(self._grace)))]
                self._shell = _start(words, listens, subprocess.DEVNULL)
            finally:
                os.close(listens)
        return self

    def watch(self, group: int) -> None:
        """Watch this process group."""
        if self._shell is not None:
            with contextlib.suppress(OSError):  # somebody ended the shell
                os.write(self._pipe, b"%d\n" % group)

    def __exit__(self, *_: object) -> None:
        """End the watching shell too: the command has ended by itself."""
        if self._shell is not None:
            self._shell.kill()
            self._shell.wait()
        if self._pipe >= 0:
            os.close(self._pipe)


def read_on(fds: list[int]) -> None:
    """Have these pipes read to their end and discarded: writing to a pipe that nobody reads raises SIGPIPE."""
    for fd in fds:
        os.set_blocking(fd, True)
    first, second = (*fds, subprocess.DEVNULL)[:2]
    with contextlib.suppress(OSError):  # nothing else can be done for it
        _start([_SHELL, "-c", _READ_ON], first, second).wait()


def _start(words: list[str], stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True
    )
