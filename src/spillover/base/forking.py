"""Make os.fork() safe while another thread is importing part of this package.

Most of the package is imported on first use. A thread that imports a module holds its import lock, and a fork copies the
lock but not the thread that would release it, so the child could never import that module. A fork therefore waits until
no thread is inside an import that we started. Our other locks are never held while waiting for anything.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

#: In seconds. An import takes less than one; a thread that needs longer may be waiting for the one that forks.
PATIENCE = 10.0
TICK = 0.001
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_IMPORTING = "<frozen importlib._bootstrap>"
#: Standard library modules that acquire a lock before a fork and release it after. A module that is imported while the
#: fork is already under way only does the second half, so we acquire its lock ourselves.
_HELD = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}


def before_fork() -> None:
    """Wait until no other thread is inside an import that we started."""
    if not _others_import():
        return
    new = {name: lock for name, lock in _HELD.items() if not _is_loaded(name)}
    until = time.monotonic() + PATIENCE
    while _others_import() and time.monotonic() < until:
        time.sleep(TICK)
    for name, lock in new.items():
        if _is_loaded(name):
            _take(getattr(sys.modules[name], lock, None))


def _is_loaded(name: str) -> bool:
    return name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False)


def _take(lock: Any) -> None:
    """Acquire a lock unless this thread already holds it."""
    if hasattr(lock, "_is_owned"):  # an RLock
        if not lock._is_owned():  # noqa: SLF001  as threading.Condition does
            lock.acquire()
    elif lock is not None:
        lock.acquire(blocking=False)


def _others_import() -> bool:
    frames = sys._current_frames()  # noqa: SLF001  the documented way to inspect other threads
    me = sys._getframe()  # noqa: SLF001
    return any(frame is not me and _is_importing(frame) for frame in frames.values())


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether the stack of this frame has an import that our code started."""
    importing = False
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _IMPORTING:
            importing = True
        elif importing and name.startswith(_HERE):
            return True
        frame = frame.f_back
    return False
