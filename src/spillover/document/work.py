"""A budget of work, so that selecting what to show always ends, whatever the output is.

Work is counted, not timed, so that the same bytes give the same text on every machine. One unit is roughly the cost of
reading one byte, ten nanoseconds; a loop that creates objects spends the cost of those as well.
"""

from __future__ import annotations

from threading import Lock

#: The most that selecting may cost: about two seconds plus four passes over the output.
BASE = 200_000_000
PER_BYTE = 4
#: The cost of a small object (a span, a line, a cell), of a parsed tag, and of a rendered piece.
OBJECT = 100
TAG = 500
PIECE = 3_000
#: The cost of a row started by a carriage return, which may turn out to be a frame of a progress bar.
ROW = 300
#: The fixed cost of a few calls into numpy, however short the arrays are.
ARRAYS = 20_000


class TooMuchWork(Exception):  # noqa: N818  not an error: both ends are shown instead
    """Raised when the budget is spent."""


class Work:
    """The units left in a budget. `Work()` has no limit."""

    __slots__ = ("_lock", "left")

    def __init__(self, units: int | None = None) -> None:
        self.left = units
        if units is not None:
            self._lock = Lock()

    def __repr__(self) -> str:
        return f"Work({'' if self.left is None else self.left})"

    def spend(self, units: int) -> None:
        """Subtract from the budget; raise TooMuchWork when it is exhausted."""
        if self.left is not None:
            self.left -= units
            if self.left < 0:
                raise TooMuchWork

    def spend_together(self, units: int) -> None:
        """Subtract from the budget under a lock, for several threads at once."""
        if self.left is not None:
            with self._lock:
                self.spend(units)


UNBOUNDED = Work()


def budget(size: int) -> Work:
    """Return the budget for selecting from `size` bytes."""
    return Work(BASE + PER_BYTE * size)
