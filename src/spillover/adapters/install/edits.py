"""What we put into files of other programs: insert it, find it, remove it, as text."""

from __future__ import annotations

from msgspec import Struct

from spillover.base.jsonc import blank
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Whole(Struct, frozen=True):
    """A file that is all ours, as its first line says."""

    text: str
    key: str = ""  # what stands in it whatever else does, where its first line says nothing

    def put(self, before: str | None) -> str:
        if before is not None and not self.has(before):
            raise UsageError("a file of that name exists and is not ours; move it away first.")
        return self.text

    def has(self, text: str) -> bool:
        return self.key in text if self.key else text.split("\n", 1)[0] == self.text.split("\n", 1)[0]

    def taken(self, text: str) -> None:
        """Return nothing: the file is all ours."""

    def shown(self) -> str:
        return self.text


class Entry(Struct, frozen=True):
    """A value under keys of a JSON file; "[]" for one of a list. `ours` knows it again, also changed."""

    keys: tuple[str, ...]
    value: Any
    ours: Callable[[Any], bool]
    #: Further in, where somebody may have put it together with something else: taken out of there alone.
    inner: tuple[str, ...] = ()
    ours_inside: Callable[[Any], bool] = bool

    def put(self, before: str | None) -> str:
        from spillover.adapters.install.json_text import put

        text = before if before and before.strip() else "{}\n"
        if self.has(text):
            return text
        try:
            return put(text, self.keys, self.value)
        except ValueError as error:
            where = ".".join(self.keys).removesuffix(".[]")
            raise UsageError(
                f"{error} around {where}, or something else is there. Add this by hand:\n{self.shown()}"
            ) from error

    def has(self, text: str) -> bool:
        return text != self.taken(text)

    def taken(self, text: str) -> str:
        import json

        from spillover.adapters.install.json_text import take

        try:
            json.loads(blank(text or "{}"))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"it is not JSON, not even with comments ({error}). Fix it first, or add this by hand:\n{self.shown()}"
            ) from error
        if not text.strip():
            return text
        text = take(text, self.keys, self.ours)
        return take(text, (*self.keys, *self.inner), self.ours_inside) if self.inner else text

    def shown(self) -> str:
        import json

        value = self.value
        for key in reversed(self.keys):
            value = [value] if key == "[]" else {key: value}
        return json.dumps(value, indent=2)


class Marked(Struct, frozen=True):
    """Lines between two marks, at the end of a file."""

    first: str
    lines: str
    last: str

    def put(self, before: str | None) -> str:
        text = before or ""
        place = self._place(text)
        there = text if place is None else text[place[0] :]  # lines that are in already stay as they are
        line_end = "\r\n" if "\r\n" in there[: there.find("\n") + 1] else "\n"
        block = line_end.join([self.first, *self.lines.strip("\n").split("\n"), self.last]) + line_end
        if place:
            return text[: place[0]] + block + text[place[1] :]
        apart = "" if not text else line_end if text.endswith("\n") else line_end * 2
        return text + apart + block

    def has(self, text: str) -> bool:
        return self.first in text

    def taken(self, text: str) -> str:
        place = self._place(text)
        if place is None:
            return text
        before, after = text[: place[0]], text[place[1] :]
        # The empty line before it came with it.
        for line_end in ("\r\n\r\n", "\n\n"):
            if before.endswith(line_end):
                return before[: -len(line_end) // 2] + after
        return before + after

    def _place(self, text: str) -> tuple[int, int] | None:
        start = text.find(self.first)
        if start < 0:
            return None
        end = text.find(self.last, start)
        if end < 0:
            raise UsageError(
                f"it has the line «{self.first}», but not the «{self.last}» that belongs to it; fix that first."
            )
        end += len(self.last)
        for line_end in ("\r\n", "\n"):
            if text.startswith(line_end, end):
                return start, end + len(line_end)
        return start, end

    def shown(self) -> str:
        return self.lines


class Several(Struct, frozen=True):
    """Several entries in one file."""

    entries: tuple[Entry, ...]

    def put(self, before: str | None) -> str:
        for entry in self.entries:
            before = entry.put(before)
        return before or ""

    def has(self, text: str) -> bool:
        return any(entry.has(text) for entry in self.entries)

    def taken(self, text: str) -> str:
        for entry in reversed(self.entries):
            text = entry.taken(text)
        return text

    def shown(self) -> str:
        return "\n".join(entry.shown() for entry in self.entries)
