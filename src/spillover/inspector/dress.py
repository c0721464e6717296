"""Structured kinds in their own dress: JSON as a tree, one container at a time, and tables as rows of cells."""

from __future__ import annotations

import csv
import json
from bisect import bisect_left

from spillover.errors import UsageError
from spillover.inspector.outputs import kind_of, read_lines
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
PAGE, TEXT_CHARS, KEY_CHARS, PREVIEW_CHARS = 200, 300, 120, 160
#: So many members are looked at for one page.
SCANNED = 50_000
#: Cells of a row, and characters of a cell.
CELLS, CELL_CHARS = 100, 200
NO_VALUE = "There is no such value."
_BOM = b"\xef\xbb\xbf"
_SIGNS = {"csv": ",", "tsv": "\t"}


def draw(output: Output, spans: Sequence[tuple[int, int]], shown: Sequence[Sequence[int]]) -> Tree | Records:
    """Return the tree of a JSON output; of many values, one a line, a list of trees. `spans`, `shown`: bytes and lines the model saw."""
    if (output.record.kind or kind_of(output)) == "ndjson":
        return Records(output, spans, shown)
    return Tree(output, spans, 0, output.document.size)


class Tree:
    """A JSON value, and which of its bytes the model saw."""

    def __init__(self, output: Output, spans: Sequence[tuple[int, int]], start: int, end: int) -> None:
        if end - start > CAP:
            raise UsageError(
                f"The tree shows JSON of up to {CAP:,} bytes; this has {end - start:,}. All its lines are here."
            )
        self.data, self.base = output.document.blob.read(start, end), start
        self.whole, self.spans = output.whole, spans
        try:
            json.loads(self.data.removeprefix(_BOM))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"This is not one JSON value ({error}). All its lines are here.") from error
        self.members = Members(self.data, marks(self.data))
        self._ends = [end for _, end in spans]

    def root(self) -> dict[str, Any]:
        start = len(_BOM) if self.data.startswith(_BOM) else 0
        start += len(self.data) - start - len(self.data[start:].lstrip())
        return self._node("", start, start, len(self.data.rstrip()), 1)

    def named(self, key: str) -> dict[str, Any]:
        return {**self.root(), "key": key}

    def children(self, start: int, end: int, depth: int, first: int, *, fold: bool = True) -> dict[str, Any]:
        """Return members of the container at these bytes, from one of them on; `fold`: those left out beside each other as one."""
        start, end = start - self.base, end - self.base
        if not 0 <= start < end <= len(self.data) or depth < 1 or first < 0:
            raise UsageError(NO_VALUE)
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
        place = {"start": self.base + start, "end": self.base + end, "depth": depth}
        node: dict[str, Any] = {"key": key, **place, "seen": self._seen(at, end)}
        inside = self.members.inside(start, end, depth) if opening in (b"[", b"{") else None
        if opening in (b"[", b"{"):
            return {
                **node,
                "type": "object" if opening == b"{" else "array",
                "count": 0 if inside is None else len(inside) - 1,
                **self._preview(start + 1, end - 1),
            }
        text = flat(self.data[start : min(end, start + 4 * TEXT_CHARS)])[:TEXT_CHARS]
        kind = "string" if opening == b'"' else "word" if opening in (b"t", b"f", b"n") else "number"
        return {**node, "type": kind, "text": text, "cut": end - start > len(text.encode())}

    def _preview(self, start: int, end: int) -> dict[str, Any]:
        """Return how a container begins, on one line: which of many it is can be told without opening each."""
        begins = " ".join(flat(self.data[start : min(end, start + 4 * PREVIEW_CHARS)]).split())
        return {"text": begins[:PREVIEW_CHARS], "cut": len(begins) > PREVIEW_CHARS or end - start > 4 * PREVIEW_CHARS}

    def _seen(self, at: int, end: int) -> str:
        """Return whether the model saw all of these bytes, some, or none."""
        if self.whole:
            return "all"
        at, end = self.base + at, self.base + end
        number, held = bisect_left(self._ends, at + 1), 0
        while number < len(self.spans) and self.spans[number][0] < end:
            held += min(end, self.spans[number][1]) - max(at, self.spans[number][0])
            number += 1
        return "none" if held <= 0 else "all" if held >= end - at else "part"


class Records:
    """Many JSON values, one a line: a list of trees, each drawn when it is opened."""

    def __init__(self, output: Output, spans: Sequence[tuple[int, int]], shown: Sequence[Sequence[int]]) -> None:
        self.output, self.spans, self.shown = output, spans, shown

    def root(self) -> dict[str, Any]:
        document = self.output.document
        seen = "all" if self.output.whole else "part" if self.shown else "none"
        return {"key": "", "start": 0, "end": document.size, "depth": 0, "seen": seen, "type": "array", "count": document.lines}  # fmt: skip

    def children(self, start: int, end: int, depth: int, first: int, *, fold: bool = True) -> dict[str, Any]:
        """Return lines from one on, those left out beside each other as one; or members of the container at these bytes."""
        document = self.output.document
        if depth:
            if not 0 <= start < end <= document.size:
                raise UsageError(NO_VALUE)
            return self._tree(document.number(start)).children(start, end, depth, first, fold=fold)
        rows: list[dict[str, Any]] = []
        number = first
        while number < document.lines and len(rows) < PAGE:
            until = self._next_shown(number) if fold else number
            if until > number:
                rows.append({"run": until - number, "from": number})
            else:
                rows.append(self._node(number + 1))
            number = max(until, number + 1)
        return {"next": number, "all": document.lines, "rows": rows}

    def _next_shown(self, number: int) -> int:
        """Return the first line from here on that the model saw, from 0; how many there are where it saw no other."""
        lines = self.output.document.lines
        if self.output.whole:
            return number
        return min((max(number, one[0] - 1) for one in self.shown if one[1] > number), default=lines)

    def _tree(self, line: int) -> Tree:
        document = self.output.document
        return Tree(self.output, self.spans, document.start(line), document.start(line + 1))

    def _node(self, line: int) -> dict[str, Any]:
        try:
            return self._tree(line).named(f"{line:,}")
        except UsageError:  # a line that is no JSON, or too long: as text
            document = self.output.document
            start, end = document.start(line), document.start(line + 1)
            data = document.blob.read(start, min(end, start + 4 * TEXT_CHARS))
            text = flat(data).rstrip("\n")[:TEXT_CHARS]
            place = {"key": f"{line:,}", "start": start, "end": end, "depth": 1}
            seen = "all" if self._next_shown(line - 1) == line - 1 else "none"
            return {**place, "seen": seen, "type": "word", "text": text, "cut": end - start > len(text.encode()) + 1}


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
