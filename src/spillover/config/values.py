"""Settings one by one: which keys there are, what they can be set to, and what is wrong with a value."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

from spillover.base.folders import expand
from spillover.base.units import LARGEST, SIZES, TIMES, read_amount
from spillover.choices import REDACT
from spillover.config.place import is_url
from spillover.errors import ConfigError, UsageError
from spillover.limits import Limits
from spillover.notice.hints import hints
from spillover.notice.words import one_line
from spillover.profiles import KINDS, options
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
FOLDER = "the path of a folder, or a URL such as s3://bucket/prefix, in quotes"
FLAG = "true or false"
SHARE = "a number from 0 to 1, e.g. 0.1; 0 fills the limits"

UNITS: dict[str, dict[str, int]] = {COUNT: {}, SIZE: SIZES, AGE: TIMES}
QUOTED_CHARS = 80  # a complaint quotes no more of a value

LIMITS = ("lines", "bytes", "chars", "tokens")
TRIGGER = tuple(f"trigger.{name}" for name in LIMITS)
_CHOSEN = {**dict.fromkeys((*LIMITS, *TRIGGER), COUNT), "keep": WORD, "hints": HINTS, "cap": SIZE, "tokenizer": WORD}
_CHOSEN |= {"worth": SHARE, "since": WORD}
#: Every key there is: in one of the [tools] tables, and outside of them.
RULE_KEYS = {**_CHOSEN, "clip": FLAG}
_KEPT = {
    "retention.age": AGE,
    "retention.bytes": SIZE,
    "retention.count": COUNT,
    "retention.grace": AGE,
    "retention.runs": COUNT,
}
KEYS = {
    **_CHOSEN,
    "profile": WORD,
    "store": FOLDER,
    "deadline": AGE,
    "scope": WORD,
    "redact": WORD,
    "stats": FLAG,
    **_KEPT,
}
#: What the keys of the tables of the profiles' own options begin with: "profiles.vtcode.banner".
OPTIONS = "profiles."
#: Which keys make up a choice.
CHOICES = {
    "limits": LIMITS,
    "trigger": TRIGGER,
    "keep": ("keep",),
    "hints": ("hints",),
    "cap": ("cap",),
    "tokenizer": ("tokenizer",),
    "worth": ("worth",),
    "since": ("since",),
}


class Setting(Struct, frozen=True):
    """One value, as it would be written in TOML, and where it comes from."""

    key: str
    value: object
    origin: str

    def __str__(self) -> str:
        return f"{self.key} = {_write(self.value)}"


def check(setting: Setting, folder: str, environ: Mapping[str, str], text: str = "") -> Setting:
    """Return the setting if it is valid; a path in it is relative to `folder`."""
    if setting.key.startswith(OPTIONS):
        return _check_option(setting, folder, environ, text)
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
        elif name == "redact" and value not in REDACT:
            raise UsageError(f"use one of {', '.join(REDACT)}.")
        elif name == "scope":
            from spillover.store.scope import from_outside  # most leave it to the project

            from_outside(value)
    except ValueError as error:
        words = str(error) if isinstance(error, UsageError) else f"expected {kind}."
        raise ConfigError(f"{setting.origin}{line_of(text, name)}: {join_words(setting, words)}") from error
    if kind == FOLDER and not is_url(value):
        return replace(setting, value=os.path.normpath(os.path.join(folder, expand(value, environ))))
    return setting


def read_option(key: str, text: str) -> object:
    """Return the value that a word of the shell stands for: TOML, or the word itself where that is what the option takes."""
    import tomllib  # only for those who set one

    _, profile, name = key.split(".", 2)
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
    takes_words = any(str in KINDS[kind][0] for kind in options(profile).get(name, ()))
    return text if takes_words and not isinstance(value, str) else value


def _check_option(setting: Setting, folder: str, environ: Mapping[str, str], text: str) -> Setting:
    """Return an option of a profile if the profile has it and takes such a value."""
    _, profile, name = setting.key.split(".", 2)
    known = options(profile)
    where = f"{setting.origin}{line_of(text, name)}"
    if name not in known:
        raise ConfigError(f"{where}: {name} is not an option of {profile}; {nearest(name, known)}")
    kinds = [KINDS[kind] for kind in known[name]]
    value = setting.value
    if not any(isinstance(value, types) and (bool in types or not isinstance(value, bool)) for types, _ in kinds):
        raise ConfigError(f"{where}: {short(setting)}: expected {' or '.join(words for _, words in kinds)}.")
    if isinstance(value, list) and not all(isinstance(each, dict) for each in value):
        raise ConfigError(f"{where}: {short(setting)}: expected {kinds[0][1]}.")
    if name == "folder":
        return replace(setting, value=os.path.normpath(os.path.join(folder, expand(str(value), environ))))
    return setting


def read(kind: str, value: object) -> Any:
    """Convert a value; ValueError if it is not of this kind."""
    match value:
        case bool() if kind == FLAG:
            return value
        case False if kind in UNITS:
            return 0
        case int() | float() | str() if kind == SHARE and not isinstance(value, bool):
            share = float(value)
            if 0 <= share <= 1:
                return share
        case int() if kind in UNITS and value is not True and 0 <= value <= LARGEST:
            return value
        case str() if kind in UNITS:
            return read_amount(value, UNITS[kind])
        case str() if value and kind != FLAG:
            return value
        case list() | tuple() if kind == HINTS and all(isinstance(one, str) for one in value):
            return tuple(value)
    raise ValueError(kind)


def in_rule(pattern: str, key: str) -> str:
    """Return the flat key of a key in a rule; quoted, as in TOML, if it contains a dot."""
    return f'tools."{pattern}".{key}' if "." in pattern or pattern.startswith('"') else f"tools.{pattern}.{key}"


def split(key: str) -> tuple[str | None, str]:
    """Split a flat key into the pattern, if there is one, and the key within its rule."""
    rest = key.removeprefix("tools.")
    if rest == key:
        return None, key
    pattern, _, within = rest[1:].rpartition('".') if rest.startswith('"') else rest.partition(".")
    return pattern, within


def kind_of(key: str) -> str:
    pattern, within = split(key)
    return (KEYS if pattern is None else RULE_KEYS).get(within, "")


def line_of(text: str, key: str) -> str:
    """Return the line of a key in a file, as ":12"; "" if that is not certain."""
    key = "".join(key.split())
    found = [number for number, line in enumerate(text.split("\n"), 1) if key and _sets("".join(line.split()), key)]
    return f":{found[0]}" if len(found) == 1 else ""


def _sets(line: str, key: str) -> bool:
    """Return whether a line, without its spaces, seems to set this key. No regular expression: the line may be hostile."""
    at = line.find(key)
    while at >= 0:
        before, after = line[at - 1 : at], line[at + len(key) :][:2].lstrip("\"'")
        if not (before.isalnum() or before in ("_", "-")) and after[:1] in ("=", ".", "]"):
            return True
        at = line.find(key, at + 1)
    return False


def nearest(word: str, known: Iterable[str], prefix: str = "", otherwise: str | None = None) -> str:
    """Ask whether the nearest of the known words is meant; where none is near, name them all, or say something else."""
    from difflib import get_close_matches  # only for a complaint

    near = get_close_matches(word, list(known), n=1)
    if near:
        return f"did you mean {prefix}{near[0]}?"
    return f"use {', '.join(prefix + one for one in known)}." if otherwise is None else otherwise


def join_words(setting: Setting, words: str) -> str:
    """Return a setting and what is wrong with it, without the value once more where the words begin with it."""
    again = f"{split(setting.key)[1]}={_write(setting.value)} "
    return f"{short(setting)} {words.removeprefix(again)}" if words.startswith(again) else f"{short(setting)}: {words}"


def short(setting: Setting) -> str:
    return one_line(str(setting), QUOTED_CHARS)


def _write(value: object) -> str:
    try:
        return str(value).lower() if isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a table in a table in a table
        return "…"
