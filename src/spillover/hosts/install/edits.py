"""What of ours stands in files of other programs: inserted, found and removed as text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from spillover.errors import UsageError
from spillover.hosts.install import json_text
from spillover.hosts.jsonc import blank


class Edit(Protocol):
    """What of ours stands in a file."""

    def insert(self, before: str | None) -> str:
        """Return the text with ours in it; UsageError if that cannot be done."""
        ...

    def contains(self, text: str) -> bool:
        """Return whether ours is in the text."""
        ...

    def remove(self, text: str) -> str | None:
        """Return the text without ours; None if nothing is left."""
        ...

    def preview(self) -> str:
        """Return what is inserted, for somebody who has to do it by hand."""
        ...


class OwnFile(Struct, frozen=True):
    """A file that is all ours, as its first line says."""

    text: str
    key: str = ""  # what stands in it whatever else does, where its first line says nothing

    def insert(self, before: str | None) -> str:
        if before is not None and not self.contains(before):
            raise UsageError("a file of that name exists and is not ours; move it away first.")
        return self.text

    def contains(self, text: str) -> bool:
        return self.key in text if self.key else text.split("\n", 1)[0] == self.text.split("\n", 1)[0]

    def remove(self, text: str) -> None:
        """Return nothing: the file is all ours."""

    def preview(self) -> str:
        return self.text


class JsonEntry(Struct, frozen=True):
    """A value under keys of a JSON file; "[]" for one of a list. `ours` knows it again, also changed."""

    keys: tuple[str, ...]
    value: Any
    ours: Callable[[Any], bool]
    #: Further in, where somebody may have put it together with something else: taken out of there alone.
    inner: tuple[str, ...] = ()
    ours_inside: Callable[[Any], bool] = bool

    def insert(self, before: str | None) -> str:
        text = before if before and before.strip() else "{}\n"
        if self.contains(text):
            return text
        try:
            return json_text.insert(text, self.keys, self.value)
        except ValueError as error:
            raise UsageError(f"{error}. Fix it first, or add this by hand:\n{self.preview()}") from error

    def contains(self, text: str) -> bool:
        return text != self.remove(text)

    def remove(self, text: str) -> str:
        try:
            json.loads(blank(text or "{}"))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"it is not JSON, not even with comments ({error}). Fix it first, or add this by hand:\n{self.preview()}"
            ) from error
        if not text.strip():
            return text
        text = json_text.remove(text, self.keys, self.ours)
        return json_text.remove(text, (*self.keys, *self.inner), self.ours_inside) if self.inner else text

    def preview(self) -> str:
        value = self.value
        for key in reversed(self.keys):
            value = [value] if key == "[]" else {key: value}
        return json.dumps(value, indent=2)


class TextBlock(Struct, frozen=True):
    """Lines between two marks, at the end of a file."""

    first: str
    lines: str
    last: str

    def insert(self, before: str | None) -> str:
        text = before or ""
        place = self._place(text)
        there = text if place is None else text[place[0] :]  # lines that are in already stay as they are
        line_end = "\r\n" if "\r\n" in there[: there.find("\n") + 1] else "\n"
        block = line_end.join([self.first, *self.lines.strip("\n").split("\n"), self.last]) + line_end
        if place:
            return text[: place[0]] + block + text[place[1] :]
        apart = "" if not text else line_end if text.endswith("\n") else line_end * 2
        return text + apart + block

    def contains(self, text: str) -> bool:
        return self.first in text

    def remove(self, text: str) -> str:
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

    def preview(self) -> str:
        return self.lines


class Several(Struct, frozen=True):
    """Several entries in one file."""

    entries: tuple[JsonEntry, ...]

    def insert(self, before: str | None) -> str:
        for entry in self.entries:
            before = entry.insert(before)
        return before or ""

    def contains(self, text: str) -> bool:
        return any(entry.contains(text) for entry in self.entries)

    def remove(self, text: str) -> str:
        for entry in reversed(self.entries):
            text = entry.remove(text)
        return text

    def preview(self) -> str:
        return "\n".join(entry.preview() for entry in self.entries)


class TomlTable(Struct, frozen=True):
    """A table in a TOML file that its host rewrites, known by its name and content wherever the marks around it have gone."""

    name: str  # "mcp_servers.spillover"
    lines: str  # what stands under its header
    first: str
    last: str
    ours: Callable[[Any], bool]

    def insert(self, before: str | None) -> str:
        text = before or ""
        there = self._find(text)
        if there is not None:
            if not self.ours(there):
                raise UsageError(f"there is another [{self.name}]; rename that one first.")
            return text
        line_end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
        block = line_end.join([self.first, f"[{self.name}]", *self.lines.split("\n"), self.last]) + line_end
        apart = "" if not text else line_end if text.endswith("\n") else line_end * 2
        after = text + apart + block
        self._parse(after, f"[{self.name}] cannot be added to it")
        return after

    def contains(self, text: str) -> bool:
        there = self._find(text)
        return self.first in text or (there is not None and self.ours(there))

    def remove(self, text: str) -> str:
        """Return the text without our table and our marks. What the host has put between them stays."""
        lines = text.splitlines(keepends=True)
        kept: list[str] = []
        inside = False
        for line in lines:
            words = line.strip()
            if words.startswith("["):
                inside = self._is_header(words)
                if inside:
                    self._drop_blank(kept)
            if words in (self.first, self.last):
                if words == self.first:
                    self._drop_blank(kept)
                inside = False
            elif not inside:
                kept.append(line)
            elif words.startswith("#"):  # somebody else's, before what comes next
                inside = False
                kept.append(line)
            elif not words:  # what follows the table is not ours
                inside = False
                if kept:
                    kept.append(line)
        return "".join(kept)

    def preview(self) -> str:
        return f"[{self.name}]\n{self.lines}"

    def _is_header(self, words: str) -> bool:
        name = words.partition("#")[0].strip().strip("[]").replace('"', "").replace("'", "").replace(" ", "")
        return name == self.name or name.startswith(f"{self.name}.")

    @staticmethod
    def _drop_blank(kept: list[str]) -> None:
        """Drop the empty line that came with us."""
        if kept and not kept[-1].strip():
            kept.pop()

    def _find(self, text: str) -> Any:
        """Return our table as it is there; None where there is none."""
        found: Any = self._parse(text)
        for key in self.name.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def _parse(self, text: str, wrong: str = "it is not valid TOML") -> Any:
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{wrong} ({error}). Fix it first, or add this by hand:\n{self.preview()}") from error
