"""Settings one by one: which keys there are, what they can be set to, and what is wrong with a value."""

from __future__ import annotations

import os

from spillover.config.place import expanded
from spillover.data import dataclass, replace
from spillover.errors import ConfigError, UsageError
from spillover.limits import Limits
from spillover.notice import hints, one_line
from spillover.profiles import NAMES as PROFILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

#: What a key can be set to, in the words of a complaint about anything else.
COUNT = "a whole number, e.g. 4_000; 0 sets none"
SIZE = 'a whole number of bytes, or a size with its unit, e.g. "2 GiB"'
AGE = 'a whole number of seconds, or a time with its unit (s, m, h, d, w), e.g. "7d"'
WORD = "a word in quotes"
HINTS = 'a hint in quotes, or a list of them, e.g. ["cli", "files:Read,Grep"]'
FOLDER = "the path of a folder, in quotes"
FLAG = "true or false"

UNITS: dict[str, dict[str, int]] = {
    COUNT: {},
    SIZE: {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
    | {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40},
    AGE: {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800},
}
LARGEST = (1 << 63) - 1  # TOML promises no more of a number
QUOTED_CHARS = 80  # a complaint quotes no more of a value

LIMITS = ("lines", "bytes", "chars", "tokens")
TRIGGER = tuple(f"trigger.{name}" for name in LIMITS)
_CHOSEN = {**dict.fromkeys((*LIMITS, *TRIGGER), COUNT), "keep": WORD, "hints": HINTS, "cap": SIZE, "tokenizer": WORD}
#: Every key there is: in one of the [tools] tables, and outside of them.
RULE_KEYS = {**_CHOSEN, "clip": FLAG}
_KEPT = {"retention.age": AGE, "retention.bytes": SIZE, "retention.count": COUNT, "retention.compress": AGE}
KEYS = {**_CHOSEN, "profile": WORD, "store": FOLDER, **_KEPT}
#: Which keys make up a choice.
CHOICES = {
    "limits": LIMITS,
    "trigger": TRIGGER,
    "keep": ("keep",),
    "hints": ("hints",),
    "cap": ("cap",),
    "tokens": ("tokenizer",),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, as it would be written in TOML, and where it comes from."""

    key: str
    value: object
    origin: str

    def __str__(self) -> str:
        return f"{self.key} = {_written(self.value)}"


def checked(setting: Setting, folder: str, environ: Mapping[str, str], text: str = "") -> Setting:
    """The setting, if it can be used; a path in it starts from `folder`."""
    kind = kind_of(setting.key)
    name = split(setting.key)[1].removeprefix("trigger.")
    try:
        value = read(kind, setting.value)
        if name in LIMITS:
            Limits(**{name: value or None}).check_room()
        elif kind == HINTS:
            hints(value)
        elif name == "profile" and value not in PROFILES:
            raise UsageError(f"there is no such profile; use one of {', '.join(PROFILES)}.")
    except ValueError as error:
        words = str(error) if isinstance(error, UsageError) else f"expected {kind}."
        raise ConfigError(f"{setting.origin}{line_of(text, name)}: {short(setting)}: {words}") from error
    if kind == FOLDER:
        return replace(setting, value=os.path.normpath(os.path.join(folder, expanded(value, environ))))
    return setting


def read(kind: str, value: object) -> Any:
    """A value in our own terms; ValueError where it is not of this kind."""
    match value:
        case bool() if kind == FLAG:
            return value
        case False if kind in UNITS:
            return 0
        case int() if kind in UNITS and value is not True and 0 <= value <= LARGEST:
            return value
        case str() if kind in UNITS:
            return _amount(value.strip(), UNITS[kind])
        case str() if value and kind != FLAG and not (kind == FOLDER and "://" in value):
            return value
        case list() | tuple() if kind == HINTS and all(isinstance(one, str) for one in value):
            return tuple(value)
    raise ValueError(kind)


def _amount(text: str, units: Mapping[str, int]) -> int:
    unit = text.lstrip("0123456789._ ")
    if unit.lower() not in units:
        raise ValueError(unit)
    amount = float(text.removesuffix(unit)) * units[unit.lower()]
    if amount and not 1 <= amount <= LARGEST:  # less than 1 would become 0, and that means none
        raise ValueError(text)
    return int(amount)


def in_rule(pattern: str, key: str) -> str:
    """The flat key of a key in a rule; quoted, as in TOML, where a dot would make it two."""
    return f'tools."{pattern}".{key}' if "." in pattern or pattern.startswith('"') else f"tools.{pattern}.{key}"


def split(key: str) -> tuple[str | None, str]:
    """The pattern in a flat key, where there is one, and the key within its rule."""
    rest = key.removeprefix("tools.")
    if rest == key:
        return None, key
    pattern, _, within = rest[1:].rpartition('".') if rest.startswith('"') else rest.partition(".")
    return pattern, within


def kind_of(key: str) -> str:
    pattern, within = split(key)
    return (KEYS if pattern is None else RULE_KEYS).get(within, "")


def line_of(text: str, key: str) -> str:
    """Where a key stands in a file, as ":12"; nothing where that is not certain."""
    import re  # only for a complaint

    pattern = re.compile(rf"""(?<![\w-]){re.escape(key)}["']?\s*[=.\]]""")
    found = [number for number, line in enumerate(text.split("\n"), 1) if key and pattern.search(line)]
    return f":{found[0]}" if len(found) == 1 else ""


def nearest(word: str, known: Iterable[str], prefix: str = "") -> str:
    from difflib import get_close_matches  # only for a complaint

    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {prefix}{near[0]}?" if near else f"use {', '.join(prefix + one for one in known)}."


def short(setting: Setting) -> str:
    return one_line(str(setting), QUOTED_CHARS)


def _written(value: object) -> str:
    try:
        return str(value).lower() if isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a table in a table in a table
        return "…"
