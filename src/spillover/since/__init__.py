"""What changed since an earlier run of the same command."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from spillover.document.document import Document


class LineRanges(Struct, frozen=True):
    """Lines of one output that the other does not have: how many, which ones, and where in its bytes they are many."""

    lines: int
    ranges: tuple[tuple[int, int], ...]  # line numbers from 1, first to last; the first of them only
    cells: tuple[int, ...]  # how many of them begin in each CELL of bytes


class Compared(Struct, frozen=True):
    """What became of an output since an earlier one. `new`, `numbers` and `same` add up to its lines."""

    new: LineRanges
    numbers: LineRanges  # lines that differ from lines of the earlier output in numbers only
    gone: LineRanges  # lines of the earlier output that the new one does not have, not even with other numbers
    lines: int
    lines_before: int
    before: Any  # the `Shapes` of the earlier output: they take numpy, and this module does not

    @property
    def same(self) -> int:
        return self.lines - self.new.lines - self.numbers.lines

    @property
    def cells(self) -> tuple[int, ...]:
        """How many new lines begin in each CELL of the output; where none is new, lines with other numbers."""
        return self.new.cells if self.new.lines else self.numbers.cells

    @property
    def unchanged(self) -> bool:
        """Whether both outputs say the same: nothing new, nothing gone, and no other numbers."""
        return not (self.new.lines or self.numbers.lines or self.gone.lines)

    def mark(self, document: Document, start: int, end: int) -> tuple[Any, Any]:
        """Return SAME, NUMBERS or NEW for each line in these bytes, which are whole lines, and its content key."""
        marks: tuple[Any, Any] = self.before.mark(document, start, end)
        return marks


class Earlier(Struct, frozen=True):
    """An earlier output. `compared` is None until both are there, and stays None where they cannot be compared."""

    ref: str
    ending: str = ""  # how that run ended, where it was named by "last" or "good"
    reason: str = ""  # why it cannot be compared
    document: Document | None = None
    compared: Compared | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether the output says the same as the earlier one."""
        return self.compared is not None and self.compared.unchanged

    def close(self) -> None:
        """Close the earlier output."""
        if self.document is not None:
            self.document.blob.close()
