"""Results that are objects: what is in them as data, and the same objects with other texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import Enum

from msgspec import Struct
from msgspec.structs import force_setattr

from spillover.settings.integers import spell_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: A text of base64 only is media, if it has so many characters.
MEDIA_CHARS = 1_000
_BASE64 = dict.fromkeys(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
#: An object nested more deeply is not written; well below Python's recursion limit.
MAX_DEPTH = 200
#: Values that are short, or have no text.
PLAIN = (bool, int, float, type(None))
#: Text as a rule, where they are a value of their own; media as likely, where they are inside of an object.
BYTES = (bytes, bytearray, memoryview)
#: An object that refers to the same few objects again and again grows without end as JSON: it may become this many times as
#: large as it is in memory, once it has this many containers.
MAX_GROWTH, MIN_CONTAINERS = 8, 1 << 16


class TooDeepError(ValueError):
    """An object that is nested too deeply, or that refers to the same objects too often."""


def encode(value: Any, leave: tuple[type, ...] = ()) -> str:
    """Return an object as JSON with lines, so that parts of it can be named; TooDeepError if it would not end."""
    return json.dumps(as_data(value, leave), ensure_ascii=False, indent=1)


def write(value: Any, leave: tuple[type, ...] = ()) -> str | None:
    """Return an object as JSON with lines; None where it cannot be written."""
    try:
        return encode(value, leave)
    except (TypeError, ValueError, RecursionError):
        return None


class _Tally:
    """The containers that were written, and the size in memory of those that differ."""

    def __init__(self) -> None:
        self.containers, self.size = 0, 0
        self.seen: set[int] = set()

    def add(self, container: Any, entries: int) -> None:
        self.containers += 1
        if id(container) not in self.seen:
            self.seen.add(id(container))
            self.size += 1 + entries
        if self.containers > MIN_CONTAINERS and self.containers > MAX_GROWTH * self.size:
            raise TooDeepError


def as_data(value: Any, leave: tuple[type, ...] = (), depth: int = 0, tally: _Tally | None = None) -> Any:
    """Return what JSON can hold of an object: fields by name, and what has neither fields nor entries as its own text."""
    if depth > MAX_DEPTH:
        raise TooDeepError
    if isinstance(value, leave):
        return None
    if isinstance(value, Enum):  # hosts write the name or the value, and the value may be long
        value = value.value
    if isinstance(value, int):
        return spell_int(value)
    if isinstance(value, (str, *PLAIN)):
        return value
    if isinstance(value, BYTES):
        return bytes(value).decode("utf-8", "backslashreplace")
    tally = tally or _Tally()
    if isinstance(value, Mapping):
        tally.add(value, len(value))
        return {_spell_key(key): as_data(inner, leave, depth + 1, tally) for key, inner in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)) and not hasattr(value, "_fields"):
        tally.add(value, len(value))
        return [as_data(inner, leave, depth + 1, tally) for inner in value]
    fields = fields_of(value)
    if fields is None:
        return str(value)
    tally.add(value, len(fields))
    return {name: as_data(inner, leave, depth + 1, tally) for name, inner in fields.items()}


def _spell_key(key: Any) -> str:
    return str(spell_int(key) if isinstance(key, int) else key)


def fields_of(value: Any) -> dict[str, Any] | None:
    """Return the fields of a dataclass, a Struct, a Pydantic model, an attrs class, a named tuple, or an object without a text of its own."""
    cls: Any = type(value)
    if isinstance(value, type):
        return None
    names = getattr(cls, "__dataclass_fields__", None) or getattr(cls, "__struct_fields__", None)
    names = names or getattr(cls, "_fields", None)
    if names is None and hasattr(cls, "__attrs_attrs__"):
        names = [attribute.name for attribute in cls.__attrs_attrs__]
    if names is not None:
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if is_model(value):
        return {**value.__dict__, **(getattr(value, "__pydantic_extra__", None) or {})}
    if not is_plain(value):
        return None
    slots = (name for base in cls.__mro__ for name in _as_names(base.__dict__.get("__slots__", ())))
    return {**{name: getattr(value, name) for name in slots if hasattr(value, name)}, **getattr(value, "__dict__", {})}


def _as_names(slots: Any) -> tuple[str, ...]:
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def is_plain(value: Any) -> bool:
    """Return whether an object has no text of its own, so that nobody knows what a host will show of it."""
    cls: Any = type(value)
    return cls.__str__ is object.__str__ and cls.__repr__ is object.__repr__


def find_opaque(value: Any, leave: tuple[type, ...] = (), depth: int = 0, seen: dict[int, object] | None = None) -> str:
    """Return the class of the first object with bytes in it that are media as likely as text; nothing where there is none."""
    if depth > MAX_DEPTH or isinstance(value, (str, *PLAIN, *BYTES, *leave)):
        return ""
    # An object that contains itself twice has 2 to the power of MAX_DEPTH ways down.
    seen = {} if seen is None else seen
    if id(value) in seen:
        return ""
    seen[id(value)] = value  # held, so that no other object gets its id
    if isinstance(value, Mapping):
        inner: Any = value.values()
    elif isinstance(value, (list, tuple, AbstractSet)):
        inner = value
    else:
        inner = (fields_of(value) or {}).values()
        if is_plain(value) and any(isinstance(one, BYTES) for one in inner):
            return type(value).__name__
    return next(filter(None, (find_opaque(one, leave, depth + 1, seen) for one in inner)), "")


def is_model(value: Any) -> bool:
    """Return whether this is a Pydantic model; nothing is imported for it."""
    return hasattr(type(value), "model_fields") and hasattr(value, "model_copy")


def change_texts(value: Any, change: Callable[[str], str], leave: tuple[type, ...] = ()) -> Any:
    """Return the same object with its texts changed, in order; the very same where nothing changes.

    Objects are copied, not made anew: no constructor runs, and no check. What cannot be copied raises.
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
        entries = {key: change_texts(inner, change, leave) for key, inner in value.items()}
        return value if _same(entries.values(), value.values()) else _copy_mapping(value, entries)
    if isinstance(value, (list, tuple)):
        items = [change_texts(inner, change, leave) for inner in value]
        if _same(items, value):
            return value
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    fields = fields_of(value)
    if fields is None:
        return value
    changed = {name: change_texts(inner, change, leave) for name, inner in fields.items()}
    changed = {name: inner for name, inner in changed.items() if inner is not fields[name]}
    return copy_object(value, changed) if changed else value


def cover_value(value: Any, cover: Callable[[str], str], name: str = "", *, keys: bool = True) -> Any:
    """Return data of JSON with its texts covered, and its `keys`; a text under a name is looked at with the name. Media stay."""
    if isinstance(value, str):
        if is_media(value):
            return value
        beside = f'"{name}": "'
        covered = cover(beside + value) if name else ""
        return (
            covered.removeprefix(beside) if covered.startswith(beside) and len(covered) > len(beside) else cover(value)
        )
    if isinstance(value, list):
        return [cover_value(inner, cover, name, keys=keys) for inner in value]
    if isinstance(value, dict):
        inside = {key: cover_value(inner, cover, key, keys=keys) for key, inner in value.items()}
        return {cover(key) if isinstance(key, str) else key: inner for key, inner in inside.items()} if keys else inside
    return value


def is_media(text: str) -> bool:
    """Return whether a text is nothing but base64 in one line, with or without the address of data, and too long to be a secret."""
    head, comma, data = text.partition(",")
    if comma and head.removeprefix("data:").removesuffix(";base64").replace("/", "").isalnum():
        text = data
    if len(text) < MEDIA_CHARS or text[: MEDIA_CHARS // 2].translate(_BASE64):
        return False
    return not text.rstrip("=").translate(_BASE64)


def _same(new: Any, old: Any) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))


def _copy_mapping(value: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    if type(value) is dict:
        return entries
    from copy import copy

    twin: Any = copy(value)
    for key, inner in entries.items():
        twin[key] = inner
    return twin


def copy_object(value: Any, changed: dict[str, Any]) -> Any:
    """Return a copy of an object with some fields changed."""
    if is_model(value):
        return value.model_copy(update=changed)
    if hasattr(value, "_replace"):  # a named tuple
        return value._replace(**changed)
    from copy import copy

    twin = copy(value)
    set_field = force_setattr if isinstance(value, Struct) else object.__setattr__
    for name, inner in changed.items():
        set_field(twin, name, inner)  # also where it is frozen
    return twin


def declared_kind(function: Callable[..., Any]) -> str:
    """Return "dict" or "list" where a function says that it returns one, else nothing."""
    import typing

    declared = getattr(function, "__annotations__", {}).get("return")
    if isinstance(declared, str):  # what it says, as it is written
        word = declared.partition("[")[0].rpartition(".")[2].strip()
        return {"dict": "dict", "Dict": "dict", "list": "list", "List": "list"}.get(word, "")
    kind = typing.get_origin(declared) or declared
    if kind is dict or typing.is_typeddict(declared):
        return "dict"
    return "list" if kind is list else ""
