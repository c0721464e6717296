"""Read a descriptor into an intake."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from spillover.intake.take import Intake

READ_BYTES = 1 << 18
#: The size to ask of the kernel for a pipe: a larger one needs fewer switches between the writer and us.
PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


def widen(fd: int) -> None:
    """Ask for a larger pipe; it does not matter if that is refused, or if it is not a pipe."""
    with suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE_BYTES)


def move(fd: int, intake: Intake, stream: str = "stdout") -> int:
    """Move the next bytes of `fd` into the intake and return how many; 0 at its end. Blocks where the descriptor does."""
    chunk = os.read(fd, READ_BYTES)
    intake.write(chunk, stream)
    return len(chunk)
