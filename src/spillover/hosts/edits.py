"""Our part of a file of another program, edited as text: every other byte stays, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from spillover.errors import UsageError


class OwnFile(Struct, frozen=True):
    """A file that is all ours, as its first line says, or a word in it."""

    text: str
    word: str = ""

    def insert(self, before: str | None) -> str:
        if before is not None and not self.contains(before):
            raise UsageError("a file of that name exists and is not ours; move it away first.")
        return self.text

    def contains(self, text: str) -> bool:
        return self.word in text if self.word else text.split("\n", 1)[0] == self.text.split("\n", 1)[0]

    def remove(self, text: str) -> None:
        """Leave nothing: the file is all ours."""

    def preview(self) -> str:
        return self.text


class JsonEntry(Struct, frozen=True):
    """A value under keys of a JSON file; "[]" is an item of a list. `is_ours` recognises it, changed or not."""

    keys: tuple[str, ...]
    value: Any
    is_ours: Callable[[Any], bool]
    #: Inside of a value that is ours in part: what is removed from it alone.
    inner: tuple[str, ...] = ()
    is_ours_inside: Callable[[Any], bool] = bool

    def insert(self, before: str | None) -> str:
        text = before if before and before.strip() else "{}\n"
        if self.contains(text):
            return text
        try:
            return insert_json(text, self.keys, self.value)
        except ValueError as error:
            raise UsageError(f"{error}. Fix it first, or add this by hand:\n{self.preview()}") from error

    def contains(self, text: str) -> bool:
        return text != self.remove(text)

    def remove(self, text: str) -> str:
        try:
            json.loads(blank_comments(text or "{}"))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"it is not JSON, not even with comments ({error}). Fix it first, or add this by hand:\n"
                f"{self.preview()}"
            ) from error
        if not text.strip():
            return text
        text = remove_json(text, self.keys, self.is_ours)
        return remove_json(text, (*self.keys, *self.inner), self.is_ours_inside) if self.inner else text

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
        beside = text if place is None else text[place[0] :]  # our own lines, if they are in already, say it
        line_end = _line_end(beside)
        block = line_end.join([self.first, *self.lines.strip("\n").split("\n"), self.last]) + line_end
        if place:
            return text[: place[0]] + block + text[place[1] :]
        return text + _gap(text, line_end) + block

    def contains(self, text: str) -> bool:
        return self.first in text

    def remove(self, text: str) -> str:
        place = self._place(text)
        if place is None:
            return text
        before, after = text[: place[0]], text[place[1] :]
        # The empty line before them came with them.
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


class JsonEntries(Struct, frozen=True):
    """Several entries of one file."""

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
    """A table of a TOML file. Its agent rewrites the file, so the table is found by name where the marks are gone."""

    name: str  # "mcp_servers.spillover"
    lines: str  # below its header
    first: str
    last: str
    is_ours: Callable[[Any], bool]

    def insert(self, before: str | None) -> str:
        text = before or ""
        table = self._find(text)
        if table is not None:
            if not self.is_ours(table):
                raise UsageError(f"there is another [{self.name}]; rename that one first.")
            return text
        line_end = _line_end(text)
        block = line_end.join([self.first, f"[{self.name}]", *self.lines.split("\n"), self.last]) + line_end
        after = text + _gap(text, line_end) + block
        self._parse(after, f"[{self.name}] cannot be added to it")
        return after

    def contains(self, text: str) -> bool:
        table = self._find(text)
        return self.first in text or (table is not None and self.is_ours(table))

    def remove(self, text: str) -> str:
        """Return the text without our table and our marks. What the agent has put between them stays."""
        lines_to_keep: list[str] = []
        inside = False
        for line in text.splitlines(keepends=True):
            words = line.strip()
            if words.startswith("["):
                inside = self._is_header(words)
                if inside:
                    self._drop_blank(lines_to_keep)
            if words in (self.first, self.last):
                if words == self.first:
                    self._drop_blank(lines_to_keep)
                inside = False
            elif not inside:
                lines_to_keep.append(line)
            elif words.startswith("#"):  # somebody else's, before what comes next
                inside = False
                lines_to_keep.append(line)
            elif not words:  # what follows the table is not ours
                inside = False
                if lines_to_keep:
                    lines_to_keep.append(line)
        return "".join(lines_to_keep)

    def preview(self) -> str:
        return f"[{self.name}]\n{self.lines}"

    def _is_header(self, words: str) -> bool:
        name = words.partition("#")[0].strip().strip("[]").replace('"', "").replace("'", "").replace(" ", "")
        return name == self.name or name.startswith(f"{self.name}.")

    @staticmethod
    def _drop_blank(lines_to_keep: list[str]) -> None:
        """Drop the empty line that we put before our part."""
        if lines_to_keep and not lines_to_keep[-1].strip():
            lines_to_keep.pop()

    def _find(self, text: str) -> Any:
        """Return the table of our name; None if there is none."""
        value = self._parse(text)
        for key in self.name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def _parse(self, text: str, problem: str = "it is not valid TOML") -> Any:
        import tomllib

        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{problem} ({error}). Fix it first, or add this by hand:\n{self.preview()}") from error


def _line_end(text: str) -> str:
    """Return the line end of the first line of a text."""
    return "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"


def _gap(text: str, line_end: str) -> str:
    """Return the line ends that leave an empty line between a text and ours."""
    if not text:
        return ""
    return line_end if text.endswith("\n") else line_end * 2


#: Each has `insert`, which returns a text with our part in it; `contains`; `remove`, None if nothing is left; and
#: `preview`, for somebody who has to insert it by hand. A file that cannot be edited is a UsageError.
Edit = OwnFile | JsonEntry | JsonEntries | TextBlock | TomlTable


# JSON as text

# Tokens of JSON with comments. No quantifier gives anything back, and a string or a comment that is not closed is a
# token too: otherwise each quote in it would be followed to the end again.
_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,|[^"/,]++|.', re.DOTALL)
_SPACE = " \t\r\n"
_decode = json.JSONDecoder().raw_decode


def read_jsonc(text: str) -> Any:
    """Return the value of JSON with comments and trailing commas; ValueError if it is not even that."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(blank_comments(text.removeprefix("\ufeff")))


def blank_comments(text: str) -> str:
    """Return plain JSON of the same length: spaces for comments and for commas before a closing bracket."""
    without = "".join(_blank(token[0]) for token in _TOKEN.finditer(text))
    # A comment may have stood between a comma and its bracket.
    return "".join(
        " " if token[0] == "," and without.startswith(("}", "]"), _skip(without, token.end())) else token[0]
        for token in _TOKEN.finditer(without)
    )


def _blank(token: str) -> str:
    if token.startswith("//") or (token.startswith("/*") and token[2:].endswith("*/")):
        return "".join(char if char in "\r\n" else " " for char in token)
    return token


class Child(Struct, frozen=True):
    """A member of an object or an item of an array, as offsets in the text."""

    key: str | None
    start: int
    value: int
    end: int


def insert_json(text: str, keys: Sequence[str], value: Any) -> str:
    """Return the text with a value under keys that are not there; "[]" as the last key appends to an array.

    Offsets are found in the text with blank comments, which is as long.
    """
    plain = blank_comments(text)
    at = _skip(plain, 0)
    for depth, key in enumerate(keys):
        if plain[at] != ("[" if key == "[]" else "{"):
            raise ValueError(f"{'.'.join(keys[:depth]) or 'it'} is not {'a list' if key == '[]' else 'an object'}")
        child = next((child for child in reversed(_children(plain, at)) if child.key == key != "[]"), None)
        if child is None:
            for inner in reversed(keys[depth + 1 :]):
                value = [value] if inner == "[]" else {inner: value}
            start, end, new = _lay_out(plain, at, None if key == "[]" else key, value)
            comment = text[start:end].rstrip()
            return text[:start] + comment + new + text[end:]
        at = child.value
    raise ValueError(f"there is another {'.'.join(keys)}")


def remove_json(text: str, keys: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """Return the text without our values under keys ("[]" is each item of an array), and without what is empty then."""
    plain = blank_comments(text)
    while path := _find_path(plain, _skip(plain, 0), keys, is_ours):
        while len(path) > 1 and len(_children(plain, path[-1][0])) == 1:
            path.pop()  # nothing else is in there
        at, number = path[-1]
        children = _children(plain, at)
        if len(children) == 1:
            start, end = at + 1, _skip(plain, children[0].end)
        elif number == 0:
            start, end = children[0].start, children[1].start
        else:
            start, end = children[number - 1].end, children[number].end
        text = text[:start] + text[end:]
        plain = blank_comments(text)
    return text


def _find_path(text: str, at: int, keys: Sequence[str], is_ours: Callable[[Any], bool]) -> list[tuple[int, int]]:
    """Return the way to our first value: each container, and the number of the child in it."""
    if text[at] not in "{[":
        return []
    for number, child in enumerate(_children(text, at)):
        if keys[0] not in ("[]", child.key):
            continue
        if len(keys) == 1:
            if is_ours(_decode(text, child.value)[0]):
                return [(at, number)]
        elif path := _find_path(text, child.value, keys[1:], is_ours):
            return [(at, number), *path]
    return []


def _children(text: str, at: int) -> list[Child]:
    """Return the children of the container that opens at an offset; the text is valid JSON."""
    children = []
    has_keys = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        start = at
        key = None
        if has_keys:
            key, at = _decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _decode(text, at)[1]
        children.append(Child(key, start, at, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return children


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _lay_out(text: str, at: int, key: str | None, value: Any) -> tuple[int, int, str]:
    """Return the range of text that a new last child of a container replaces, and its text in their layout."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    first_indent = text[_skip(text, 0) + 1 : _skip(text, _skip(text, 0) + 1)]
    unit = (first_indent.rpartition("\n")[2] if "\n" in first_indent else "") or "  "
    children = _children(text, at)
    if not children:
        line = text[text.rfind("\n", 0, at) + 1 : at]
        outer = line[: len(line) - len(line.lstrip(" \t"))]
        lines = _dump(key, value, unit).split("\n")
        new = line_end + outer + unit + f"{line_end}{outer}{unit}".join(lines) + line_end + outer
        return at + 1, _skip(text, at + 1), new
    last = children[-1]
    before = _skip(text, children[-2].end) + 1 if len(children) > 1 else at + 1  # behind the comma
    space = text[before : last.start]
    if "\n" not in space:  # all on one line
        return last.end, last.end, ", " + _dump(key, value, None)
    indent = space.rpartition("\n")[2]
    lines = _dump(key, value, unit).split("\n")
    space = line_end + indent if space.count("\n") > 1 else space
    return last.end, last.end, "," + space + f"{line_end}{indent}".join(lines)


def _dump(key: str | None, value: Any, unit: str | None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"
