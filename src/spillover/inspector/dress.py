"""Structured kinds in their own dress: JSON as a tree, one container at a time, and tables as rows of cells."""

from __future__ import annotations

import csv
import json
from bisect import bisect_left

from spillover.errors import UsageError
from spillover.inspector.outputs import read_lines
from spillover.select.json.members import Members
from spillover.select.json.scan import marks
from spillover.view.clean import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.inspector.outputs import Output

#: A tree is made of no larger output: all of it is in memory then.
CAP = 32 << 20
#: So many members are shown at once, and so much of each.
PAGE, TEXT_CHARS, KEY_CHARS = 200, 300, 120
#: So many members are looked at for one page.
SCANNED = 50_000
#: Cells of a row, and characters of a cell.
CELLS, CELL_CHARS = 100, 200
_BOM = b"\xef\xbb\xbf"
_SIGNS = {"csv": ",", "tsv": "\t"}


class Tree:
    """A JSON output, and which of its bytes the model saw."""

    def __init__(self, output: Output, spans: Sequence[tuple[int, int]]) -> None:
        document = output.document
        if document.size > CAP:
            raise UsageError(
                f"A tree is drawn of JSON up to {CAP:,} bytes; this has {document.size:,}. Its lines are all here."
            )
        self.data = document.blob.read(0, document.size)
        self.whole, self.spans = output.whole, spans
        try:
            json.loads(self.data.removeprefix(_BOM))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"This is not one JSON value ({error}); its lines are all here.") from error
        self.members = Members(self.data, marks(self.data))
        self._ends = [end for _, end in spans]

    def root(self) -> dict[str, Any]:
        start = len(_BOM) if self.data.startswith(_BOM) else 0
        start += len(self.data) - start - len(self.data[start:].lstrip())
        return self._node("", start, start, len(self.data.rstrip()), 1)

    def children(self, start: int, end: int, depth: int, first: int, *, fold: bool = True) -> dict[str, Any]:
        """Return members of the container at these bytes, from one of them on; `fold`: those left out beside each other as one."""
        if not 0 <= start < end <= len(self.data) or depth < 1 or first < 0:
            raise UsageError("There is no such value.")
        inside = self.members.inside(start, end, depth)
        if inside is None:
            return {"next": first, "all": 0, "rows": []}
        rows: list[dict[str, Any]] = []
        count, number = len(inside) - 1, first
        while number < count and len(rows) < PAGE and number < first + SCANNED:
            child = self.members.child(inside, number)
            if fold and self._seen(child.at, child.end) == "none":
                if not (rows and "run" in rows[-1]):
                    rows.append({"run": 0, "from": number})
                rows[-1]["run"] += 1
            else:
                key = str(number)
                if self.data[start] == 0x7B:
                    key = flat(self.data[child.at : child.start].rstrip().removesuffix(b":").rstrip()[1:-1])[:KEY_CHARS]
                rows.append(self._node(key, child.at, child.start, child.end, depth + 1))
            number += 1
        return {"next": number, "all": count, "rows": rows}

    def _node(self, key: str, at: int, start: int, end: int, depth: int) -> dict[str, Any]:
        opening = self.data[start : start + 1]
        node: dict[str, Any] = {"key": key, "start": start, "end": end, "depth": depth, "seen": self._seen(at, end)}
        inside = self.members.inside(start, end, depth) if opening in (b"[", b"{") else None
        if opening in (b"[", b"{"):
            return {
                **node,
                "type": "object" if opening == b"{" else "array",
                "count": 0 if inside is None else len(inside) - 1,
            }
        text = flat(self.data[start : min(end, start + 4 * TEXT_CHARS)])[:TEXT_CHARS]
        kind = "string" if opening == b'"' else "word" if opening in (b"t", b"f", b"n") else "number"
        return {**node, "type": kind, "text": text, "cut": end - start > len(text.encode())}

    def _seen(self, at: int, end: int) -> str:
        """Return whether the model saw all of these bytes, some, or none."""
        if self.whole:
            return "all"
        number, held = bisect_left(self._ends, at + 1), 0
        while number < len(self.spans) and self.spans[number][0] < end:
            held += min(end, self.spans[number][1]) - max(at, self.spans[number][0])
            number += 1
        return "none" if held <= 0 else "all" if held >= end - at else "part"


def read_table(output: Output, kind: str, first: int, count: int) -> dict[str, Any]:
    """Return lines of a table as cells; a line that is longer than a row is cut."""
    sign = _SIGNS.get(kind) or _guess(output)
    rows = []
    for text, *_ in read_lines(output, first, count):
        try:
            cells = next(csv.reader([text], delimiter=sign), [])
        except csv.Error:
            cells = [text]
        rows.append([cell[:CELL_CHARS] for cell in cells[:CELLS]])
    return {"from": first, "rows": rows}


def _guess(output: Output) -> str:
    head = "".join(text for text, *_ in read_lines(output, 1, 3))
    return max(",;\t|", key=head.count)
