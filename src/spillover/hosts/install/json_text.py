"""Insert an entry into JSON text, or remove it: every other byte stays, and indentation and line ends are those of the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from spillover.hosts.jsonc import blank

_SPACE = " \t\r\n"
_read = json.JSONDecoder().raw_decode


class Child(Struct, frozen=True):
    """A member of an object or an item of an array: where it starts, where its value starts, where it ends."""

    key: str | None
    start: int
    at: int
    end: int


def insert(text: str, keys: Sequence[str], value: Any) -> str:
    """Return the text with `value` under these keys, which must not be there; "[]" as the last one appends to an array.

    Comments stay where they are: positions are found in the text without them, which is as long.
    """
    plain = blank(text)
    at = _skip(plain, 0)
    for depth, key in enumerate(keys):
        if plain[at] != ("[" if key == "[]" else "{"):
            raise ValueError(f"{'.'.join(keys[:depth]) or 'it'} is not {'a list' if key == '[]' else 'an object'}")
        child = _child(plain, at, key)
        if child is None:
            for further in reversed(keys[depth + 1 :]):
                value = [value] if further == "[]" else {further: value}
            start, end, new = _insertion(plain, at, None if key == "[]" else key, value)
            return (
                text[:start] + new + text[max(end, start) :] if plain == text else _keep_comments(text, start, end, new)
            )
        at = child.at
    raise ValueError(f"there is another {'.'.join(keys)}")


def _keep_comments(text: str, start: int, end: int, new: str) -> str:
    """Return the text with `new` in the place of what is blank there; a comment among that stays, before it."""
    between = text[start:end]
    return text[:start] + (between.rstrip() if between.strip() else "") + new + text[end:]


def remove(text: str, keys: Sequence[str], wanted: Callable[[Any], bool]) -> str:
    """Return the text without what is wanted under these keys ("[]" is each item of an array), and without what is then empty."""
    plain = blank(text)
    while path := _path(plain, _skip(plain, 0), keys, wanted):
        while len(path) > 1 and len(_children(plain, path[-1][0])) == 1:
            path.pop()  # it is the only one in there
        at, number = path[-1]
        children = _children(plain, at)
        if len(children) == 1:
            start, end = at + 1, _skip(plain, children[0].end)
        elif number == 0:
            start, end = children[0].start, children[1].start
        else:
            start, end = children[number - 1].end, children[number].end
        text = text[:start] + text[end:]
        plain = blank(text)
    return text


def _path(text: str, at: int, keys: Sequence[str], wanted: Callable[[Any], bool]) -> list[tuple[int, int]]:
    """Return where the first of what is wanted is: each container on the way, and the number of the child in it."""
    if text[at] not in "{[":
        return []
    for number, child in enumerate(_children(text, at)):
        if keys[0] != "[]" and child.key != keys[0]:
            continue
        if len(keys) == 1:
            if wanted(_read(text, child.at)[0]):
                return [(at, number)]
        elif further := _path(text, child.at, keys[1:], wanted):
            return [(at, number), *further]
    return []


def _child(text: str, at: int, key: str) -> Child | None:
    if key == "[]":
        return None
    return next((child for child in reversed(_children(text, at)) if child.key == key), None)


def _children(text: str, at: int) -> list[Child]:
    """Return what is in the container that opens at `at`; the text is valid JSON."""
    found = []
    named, at = text[at] == "{", _skip(text, at + 1)
    while text[at] not in "}]":
        key, start = None, at
        if named:
            key, at = _read(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _read(text, at)[1]
        found.append(Child(key, start, at, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _insertion(text: str, at: int, key: str | None, value: Any) -> tuple[int, int, str]:
    """One more in the container that opens at `at`, behind the others, laid out as they are: from where to where, and what."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    children = _children(text, at)
    unit = _unit(text)
    if children:
        last = children[-1]
        before = _skip(text, children[-2].end) + 1 if len(children) > 1 else at + 1  # behind the comma
        space = text[before : last.start]
        if "\n" not in space:  # all on one line
            return last.end, last.end, ", " + _write(key, value, None)
        inner = space.rpartition("\n")[2]
        lines = _write(key, value, unit).split("\n")
        space = line_end + inner if space.strip(" \t\r\n") or space.count("\n") > 1 else space
        return last.end, last.end, "," + space + f"{line_end}{inner}".join(lines)
    outer = text[text.rfind("\n", 0, at) + 1 : at]
    outer = outer[: len(outer) - len(outer.lstrip(" \t"))]
    lines = _write(key, value, unit).split("\n")
    inside = line_end + outer + unit + f"{line_end}{outer}{unit}".join(lines) + line_end + outer
    return at + 1, _skip(text, at + 1), inside


def _write(key: str | None, value: Any, unit: str | None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _unit(text: str) -> str:
    """Return what one step of indentation is here."""
    at = _skip(text, 0)
    inner = text[at + 1 : _skip(text, at + 1)]
    step = inner.rpartition("\n")[2] if "\n" in inner else ""
    return step or "  "
