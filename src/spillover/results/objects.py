"""Python objects: what hosts may write of them, and the same objects with other strings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from spillover.settings.limits import spell_int

#: A string of base64 with this many characters is media; a shorter one may be a secret, and is read.
MIN_MEDIA_CHARS = 1_000
_BASE64 = dict.fromkeys(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
#: An object that is nested more deeply is not written; well below Python's recursion limit.
MAX_DEPTH = 200
#: An object that refers to the same few objects again and again grows without end as JSON: once it has this many
#: containers, it may become at most this many times as large as it is in memory.
MIN_TANGLED_CONTAINERS = 1 << 16
MAX_GROWTH = 8
#: Text as a rule where they are a value of their own; media as likely where they are inside of an object.
BYTES = (bytes, bytearray, memoryview)
_WITHOUT_TEXT = (bool, int, float, type(None))


class TooDeepError(ValueError):
    """An object that is nested too deeply, or that refers to the same objects too often."""


class _Tally:
    """The containers that were written, and the size in memory of the different ones."""

    def __init__(self) -> None:
        self.containers = 0
        self.size = 0
        self.ids: set[int] = set()

    def add(self, container: Any, entries: int) -> None:
        self.containers += 1
        if id(container) not in self.ids:
            self.ids.add(id(container))
            self.size += 1 + entries
        if self.containers > MIN_TANGLED_CONTAINERS and self.containers > MAX_GROWTH * self.size:
            raise TooDeepError


def to_json(value: Any, leave: tuple[type, ...] = ()) -> str | None:
    """Return an object as JSON with lines, so that parts of it can be named; None where it cannot be written."""
    try:
        return encode_json(value, leave)
    except Exception:  # noqa: BLE001  somebody else's `__str__`, inside of it
        return None


def list_forms(value: Any, leave: tuple[type, ...] = ()) -> list[str]:
    """Return the texts that hosts may write of an object: JSON, and `str()` if that may say more; none if both fail."""
    forms = []
    try:
        forms.append(encode_json(value, leave))
    except (TooDeepError, RecursionError):
        return []
    except Exception:  # noqa: BLE001  somebody else's `__str__`, inside of it
        forms = []
    if not forms or not is_collection(value):
        try:
            forms.append(str(value))
        except RecursionError:
            return forms
        except Exception as error:  # noqa: BLE001  somebody else's code; a host would meet the same
            forms.append(f"{type(value).__name__}: {spell(error)}")
    return forms


def spell(value: object) -> str:
    """Return `str(value)`; the class of an object where that fails."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001  somebody else's code
        return f"<{type(value).__name__}>"


def is_collection(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple, set, frozenset)) and not hasattr(value, "_fields")


def encode_json(value: Any, leave: tuple[type, ...] = ()) -> str:
    """Return an object as JSON with lines; TooDeepError if it would not end, whatever its own code raises otherwise."""
    return json.dumps(_to_data(value, leave, 0, _Tally()), ensure_ascii=False, indent=1)


def _to_data(value: Any, leave: tuple[type, ...], depth: int, tally: _Tally) -> Any:
    """Return an object as data of JSON: fields by name; without fields and entries, its `str()`."""
    if depth > MAX_DEPTH:
        raise TooDeepError
    if isinstance(value, leave):
        return None
    if isinstance(value, Enum):  # hosts write the name or the value, and the value may be long
        value = value.value
    if isinstance(value, int):
        return spell_int(value)
    if isinstance(value, (str, *_WITHOUT_TEXT)):
        return value
    if isinstance(value, BYTES):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        tally.add(value, len(value))
        return {_spell_key(key): _to_data(inner, leave, depth + 1, tally) for key, inner in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)) and not hasattr(value, "_fields"):
        tally.add(value, len(value))
        return [_to_data(inner, leave, depth + 1, tally) for inner in value]
    fields = fields_of(value)
    if fields is None:
        return str(value)
    tally.add(value, len(fields))
    return {name: _to_data(inner, leave, depth + 1, tally) for name, inner in fields.items()}


def _spell_key(key: Any) -> str:
    return str(spell_int(key) if isinstance(key, int) else key)


def fields_of(value: Any) -> dict[str, Any] | None:
    """Return the fields of a dataclass, Struct, model, attrs class or named tuple, or of one without its own text."""
    cls: Any = type(value)
    if isinstance(value, type):
        return None
    names = getattr(cls, "__dataclass_fields__", None) or getattr(cls, "__struct_fields__", None)
    names = names or getattr(cls, "_fields", None)
    if names is None and hasattr(cls, "__attrs_attrs__"):
        names = [attribute.name for attribute in cls.__attrs_attrs__]
    if names is not None:
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if _is_model(value):
        return {**value.__dict__, **(getattr(value, "__pydantic_extra__", None) or {})}
    if not _is_mute(value):
        return None
    slots: list[str] = []
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        slots += [names] if isinstance(names, str) else names
    fields = {name: getattr(value, name) for name in slots if name[:2] != "__" and hasattr(value, name)}
    return fields | getattr(value, "__dict__", {})


def _is_mute(value: Any) -> bool:
    """Return whether an object has no text of its own, so that nobody knows what a host will show of it."""
    cls: Any = type(value)
    return cls.__str__ is object.__str__ and cls.__repr__ is object.__repr__


def _is_model(value: Any) -> bool:
    """Return whether this is a Pydantic model; nothing is imported for it."""
    return hasattr(type(value), "model_fields") and hasattr(value, "model_copy")


def find_opaque(value: Any, leave: tuple[type, ...] = ()) -> str:
    """Return the class of the first object with bytes that are media as likely as text; nothing where there is none."""
    waiting = [value]
    visited: dict[int, object] = {}  # the objects too, so that no other one gets their id
    while waiting:
        value = waiting.pop()
        if isinstance(value, (str, *_WITHOUT_TEXT, *BYTES, *leave)) or id(value) in visited:
            continue
        visited[id(value)] = value
        if isinstance(value, Mapping):
            inner = list(value.values())
        elif isinstance(value, (list, tuple, AbstractSet)):
            inner = list(value)
        else:
            inner = list((fields_of(value) or {}).values())
            if _is_mute(value) and any(isinstance(field, BYTES) for field in inner):
                return type(value).__name__
        waiting += reversed(inner)
    return ""


def map_strings(value: Any, change: Callable[[str], str], leave: tuple[type, ...] = ()) -> Any:
    """Return the same object with its strings changed, in order; the very same where nothing changes.

    Objects are copied: no constructor runs, and no check. What cannot be copied raises.
    """
    if isinstance(value, leave):
        return value
    if isinstance(value, str):
        new = change(value)
        return value if new == value else new
    if isinstance(value, (bytes, bytearray)):
        text = value.decode("utf-8", "surrogateescape")
        new = change(text)
        return value if new == text else type(value)(new.encode("utf-8", "surrogateescape"))
    if isinstance(value, Mapping):
        entries = {key: map_strings(inner, change, leave) for key, inner in value.items()}
        return value if _are_same(entries.values(), value.values()) else _copy_mapping(value, entries)
    if isinstance(value, (list, tuple)):
        items = [map_strings(inner, change, leave) for inner in value]
        if _are_same(items, value):
            return value
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    fields = fields_of(value)
    if fields is None:
        return value
    changes = {name: map_strings(inner, change, leave) for name, inner in fields.items()}
    changes = {name: inner for name, inner in changes.items() if inner is not fields[name]}
    return copy_with(value, changes) if changes else value


def cover_strings(value: Any, cover: Callable[[str], str], name: str = "", *, keys: bool = True) -> Any:
    """Return data of JSON with its strings covered, each read with its name, and its `keys`. Media stay."""
    if isinstance(value, str):
        if is_media(value):
            return value
        opening = f'"{name}": "'
        line = cover(opening + value) if name else ""
        if line.startswith(opening) and len(line) > len(opening):
            return line.removeprefix(opening)
        return cover(value)
    if isinstance(value, list):
        return [cover_strings(inner, cover, name, keys=keys) for inner in value]
    if isinstance(value, dict):
        entries = {key: cover_strings(inner, cover, key, keys=keys) for key, inner in value.items()}
        if not keys:
            return entries
        return {cover(key) if isinstance(key, str) else key: inner for key, inner in entries.items()}
    return value


def is_media(text: str) -> bool:
    """Return whether a text is one line of base64, with or without `data:…`, that is too long to be a secret."""
    head, comma, data = text.partition(",")
    if comma and head.removeprefix("data:").removesuffix(";base64").replace("/", "").isalnum():
        text = data
    if len(text) < MIN_MEDIA_CHARS or text[: MIN_MEDIA_CHARS // 2].translate(_BASE64):
        return False
    return not text.rstrip("=").translate(_BASE64)


def _are_same(new: Any, old: Any) -> bool:
    return all(first is second for first, second in zip(new, old, strict=True))


def _copy_mapping(value: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    if type(value) is dict:
        return entries
    twin: Any = copy(value)
    for key, inner in entries.items():
        twin[key] = inner
    return twin


def copy_with(value: Any, changes: Mapping[str, Any]) -> Any:
    """Return a copy of an object with some fields changed."""
    if _is_model(value):
        return value.model_copy(update=changes)
    if hasattr(value, "_replace"):  # a named tuple
        return value._replace(**changes)
    twin = copy(value)
    set_field = force_setattr if isinstance(value, Struct) else object.__setattr__
    for name, inner in changes.items():
        set_field(twin, name, inner)  # also where it is frozen
    return twin
