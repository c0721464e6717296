"""What a server writes to stderr: as it comes to a file or a host, with control characters made visible on a terminal."""

from __future__ import annotations

import os
import threading
from codecs import getincrementaldecoder
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

STDERR = 2
READ = 1 << 16


def shows_terminal() -> bool:
    """Return whether what is written to our stderr is read by a person's terminal, which would obey escape codes."""
    with suppress(OSError):
        return os.isatty(STDERR)
    return False


def pass_on(stream: FileIO) -> threading.Thread:
    """Show all that a server writes, harmless, until it has ended; beside everything else."""
    thread = threading.Thread(target=_pump, args=(stream,), name="spillover-stderr", daemon=True)
    thread.start()
    return thread


def _pump(stream: FileIO) -> None:
    from spillover.view.clean import exact

    decode = getincrementaldecoder("utf-8")("replace").decode
    with suppress(OSError, ValueError), stream:
        while True:
            data = os.read(stream.fileno(), READ)
            text = exact(decode(data, not data).replace("\r\n", "\n").encode())
            left = memoryview(text.encode("utf-8", "surrogatepass"))
            while left:
                left = left[os.write(STDERR, left) :]
            if not data:
                return
