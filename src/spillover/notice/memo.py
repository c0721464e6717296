"""What is known of a document that is rendered again and again until it fits: its lines, and how parts of it are shown."""

from __future__ import annotations

import sys
from bisect import bisect_left
from itertools import accumulate

from spillover.source.blob import MemoryBlob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.document.document import Document
    from spillover.kinds.selection import Hidden
    from spillover.notice.clipped import Gap

    Array = Any  # of numpy; its own types say little about what is in one

#: Up to this size, an output in memory is looked at as a whole.
ONE_THREAD = 1 << 20
#: Once so many places were numbered one by one, it pays to know where all lines of a small output end.
MANY = 256
NEWLINE = 0x0A


class Memo:
    """What is known of the document by now: the same places come up again while it is fitted."""

    __slots__ = ("_data", "_newlines", "_plain", "gaps", "lines", "looks", "many", "marks", "numbers", "offsets")

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}  # of lines, by offset
        self.offsets: list[int] = []  # the same offsets in order
        self._data: bytes | None = None
        self._newlines: list[int] | Array | None = None
        self.many = 1 if sys.modules.get("numpy") else MANY
        self._plain: str | None = None
        self.looks: dict[tuple[int, int], tuple[str, int]] = {}
        self.gaps: dict[tuple[int, int], Gap] = {}
        self.lines: dict[str, str] = {}  # of leads
        self.marks: dict[tuple[int, int, int, int], tuple[str, Hidden | None]] = {}

    def plain(self, document: Document) -> str:
        """Return all of a small output of which every part is shown as it is; "" where that is not so."""
        if self._plain is None:
            self._plain = document.plain_text() if document.size <= ONE_THREAD else ""
        return self._plain

    def held(self, document: Document) -> bytes:
        """Return all of an output that is in memory; b"" where it is not."""
        if self._data is None:
            small = isinstance(document.blob, MemoryBlob) and document.size <= ONE_THREAD
            self._data = document.blob.data if small else b""  # type: ignore[attr-defined]
        return self._data

    def counts(self, document: Document, more: int = 0) -> bool:
        """Return whether `count` can be asked, and for so many places more is quicker than looking at one after the other."""
        known = self._newlines is not None or len(self.numbers) + more >= self.many
        return known and self.held(document) != b""

    def count(self, offsets: Sequence[int]) -> list[int]:
        """Return the numbers of the lines that hold these bytes of an output in memory."""
        newlines = self.newlines()
        if not isinstance(newlines, list):
            return (newlines.searchsorted(offsets) + 1).tolist()  # type: ignore[no-any-return]
        return [bisect_left(newlines, offset) + 1 for offset in offsets]

    def newlines(self) -> list[int] | Array:
        """Return where the lines of an output end that is in memory."""
        if self._newlines is None:  # one line has none, which is an answer, too
            data = self._data or b""
            if sys.modules.get("numpy"):  # None where it must not be imported
                import numpy as np

                self._newlines = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE)
            else:
                lengths = accumulate(map(len, data.split(b"\n")))
                self._newlines = [length + number for number, length in enumerate(lengths)][:-1]
        return self._newlines
