"""From a descriptor into an intake: read while it may fit, spliced straight into the store once it cannot."""

from __future__ import annotations

import os
from contextlib import suppress

from spillover.errors import StoreError
from spillover.intake.take import Intake

READ = 1 << 16
#: Asked of the kernel for a pipe: fewer switches between the one who writes and us.
PIPE = 1 << 20
_F_SETPIPE_SZ = 1031


def widen(fd: int) -> None:
    """Ask for a larger pipe; it does not matter if that is refused, or if it is not a pipe."""
    with suppress(OSError, ImportError):  # where no descriptor is left, nothing can be loaded either
        import fcntl  # only commands and filters need it

        fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE)


def move(fd: int, intake: Intake, stream: str = "stdout") -> int:
    """Move what stands in `fd` into the intake; 0 at its end. Blocks where the descriptor does."""
    room = intake.room()
    if room > 0 and _SPLICE:
        moved = _splice(fd, intake, stream, min(room, PIPE))
        if moved is not None:
            return moved
    chunk = os.read(fd, READ)
    intake.write(chunk, stream)
    return len(chunk)


_SPLICE = hasattr(os, "splice")


def _splice(fd: int, intake: Intake, stream: str, count: int) -> int | None:
    """Move bytes without copying them through our memory; return None if the kernel cannot."""
    assert intake.sink is not None
    try:
        target = intake.sink.fileno()
    except StoreError:
        return None  # the next write says why
    if target is None:
        return None
    try:
        moved = os.splice(fd, target, count)
    except BlockingIOError:
        raise
    except OSError:  # not a pipe, a file system that cannot, a full disk: writing says what is wrong, if anything is
        return None
    if moved:
        intake.passed(stream, moved)
    return moved
