"""What changed since an earlier run of the same command."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from spillover.document.document import Document


class LineRanges(Struct, frozen=True):
    """Lines of one output that the other does not have: their number, their ranges, and their density."""

    lines: int
    ranges: tuple[tuple[int, int], ...]  # (first line, last line) from 1, of the first MAX_RANGES ranges
    cells: tuple[int, ...]  # lines that begin in each CELL_BYTES of the output


class Compared(Struct, frozen=True):
    """The differences of an output from an earlier one."""

    new: LineRanges
    numbers: LineRanges  # lines that differ from lines of the earlier output in numbers only
    removals: LineRanges  # lines of the earlier output that the new one does not have, not even with other numbers
    lines: int
    lines_before: int
    before: Any  # the `Shapes` of the earlier output: they need numpy, which this module does not load

    @property
    def same_lines(self) -> int:
        """The number of lines that both outputs have."""
        return self.lines - self.new.lines - self.numbers.lines

    @property
    def cells(self) -> tuple[int, ...]:
        """The new lines that begin in each CELL_BYTES of the output; if none is new, the lines with other numbers."""
        return self.new.cells if self.new.lines else self.numbers.cells

    @property
    def unchanged(self) -> bool:
        """Whether the outputs have the same lines, with the same numbers."""
        return not (self.new.lines or self.numbers.lines or self.removals.lines)

    def mark(self, document: Document, start: int, end: int) -> tuple[Any, Any]:
        """Return the mark (SAME, NUMBERS or NEW) and the content key of each line in a range of whole lines."""
        marks: tuple[Any, Any] = self.before.mark(document, start, end)
        return marks


class Earlier(Struct, frozen=True):
    """An earlier output. `compared` is None before the comparison, and if the outputs cannot be compared."""

    ref: str
    ending: str = ""  # the exit code of the run, if it was found by "last" or "good"
    reason: str = ""  # why it cannot be compared
    document: Document | None = None
    compared: Compared | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether the output repeats the earlier one."""
        return self.compared is not None and self.compared.unchanged

    def close(self) -> None:
        """Close the earlier output."""
        if self.document is not None:
            self.document.blob.close()
