"""What holds here, from every source.

Weakest first: the defaults, the user's file, the project's file, SPILLOVER_* variables, what the caller gives.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from spillover import profiles
from spillover.choices import Choices
from spillover.config.files import NAMED, files_for
from spillover.config.place import CONTEXT_TOKENS, own
from spillover.config.values import (
    CHOICES,
    FLAG,
    HINTS,
    KEYS,
    LIMITS,
    UNITS,
    Setting,
    checked,
    in_rule,
    kind_of,
    nearest,
    read,
    short,
    split,
)
from spillover.data import dataclass, replace
from spillover.errors import ConfigError, SpilloverError, UsageError
from spillover.intake.take import CAP
from spillover.limits import DEFAULT_BYTES, DEFAULT_LINES, DEFAULT_TOKENS, Limits
from spillover.store.directory import DirStore
from spillover.store.retention import Retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypeVar

    Made = TypeVar("Made")

PREFIX = "SPILLOVER_"
VARIABLES = {PREFIX + key.upper().replace(".", "_"): key for key in KEYS}
#: Ours too, but no settings.
OTHERS = (NAMED, CONTEXT_TOKENS, "SPILLOVER_DEBUG")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds, by flat key ("tokens", "trigger.chars", "tools.bash*.keep"), and the files that were read."""

    values: Mapping[str, Setting]
    files: tuple[str, ...] = ()

    def choices(self) -> dict[str, Any]:
        """The same as arguments for a Clipper; what a Clipper would not take is a ConfigError."""
        values = {key: read(kind_of(key), setting.value) for key, setting in self.values.items() if key != "profile"}
        age, size, count, old = (values[f"retention.{name}"] or None for name in ("age", "bytes", "count", "compress"))
        with self._blaming("store"):
            kept = Retention(age_seconds=age, bytes=size, count=count, compress_seconds=old)
            store = DirStore(values["store"], kept)
        chosen: dict[str, Any] = {"store": store}
        for name, keys in CHOICES.items():
            held_against = LIMITS if name in ("trigger", "tokens") else ()
            with self._blaming(*keys, *held_against):
                chosen[name] = _choice(name, values)
                Choices(**chosen)
        rules: dict[str, dict[str, Any]] = {}
        for pattern, ruled in _by_pattern(values).items():
            with self._blaming(*(in_rule(pattern, key) for key in ruled)):
                named = (name for name, keys in CHOICES.items() if ruled.keys() & keys)
                rule = {name: _choice(name, {**values, **ruled}) for name in named}
                rules[pattern] = rule | {key: ruled[key] for key in ruled if key == "clip"}
                Choices(**chosen, rules={pattern: rules[pattern]})
        return {**chosen, "rules": rules}

    def made(self, clipper: Callable[..., Made], **others: Any) -> Made:
        """A Clipper with these choices, and with the words and the file names of the profile where there is one."""
        profile = self.values["profile"].value
        make: Callable[..., Made] = profiles.named(str(profile)).clipper if profile else clipper
        with self._blaming("profile"):
            return make(**{**self.choices(), **others})

    @contextmanager
    def _blaming(self, *keys: str) -> Iterator[None]:
        """Whatever cannot be used, say where it was set."""
        try:
            yield
        except SpilloverError as error:
            said = [self.values[key] for key in keys if self.values[key].origin != "default"]
            where = "; ".join(f"{setting.origin}: {short(setting)}" for setting in said)
            raise ConfigError(f"{where}: {error}") from error


def load(
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    given_origin: Callable[[str], str] = lambda key: "--" + key.replace(".", "-"),
) -> Settings:
    """What holds here, from every source; `given` are the caller's values by flat key, None where it has none."""
    environ = os.environ if environ is None else environ
    here = _here() if cwd is None else os.path.abspath(cwd)
    files = files_for(here, environ)
    caller = [(key, given_origin(key), value) for key, value in (given or {}).items() if value is not None]
    merged: dict[str, Setting] = {}
    for key, origin, value in (*caller, *_variables(environ)):
        merged.setdefault(key, _said(key, origin, value, here, environ))
    said = dict(merged)
    for setting in (setting for file in reversed(files) for setting in file.settings(environ)):
        # What was said for all tools is stronger than what a file says for one.
        stronger = said.get(split(setting.key)[1])
        merged.setdefault(setting.key, replace(stronger, key=setting.key) if stronger else setting)
    for setting in (*_from_profile(merged.get("profile")), *_defaults(environ)):
        merged.setdefault(setting.key, setting)
    return Settings({key: merged[key] for key in KEYS} | merged, tuple(file.path for file in files))


def _from_profile(chosen: Setting | None) -> Iterator[Setting]:
    """What a profile says, which is everything about how much: a limit it does not name is none."""
    if chosen is None:
        return
    said = {**dict.fromkeys(LIMITS, 0), **profiles.named(str(chosen.value)).SETTINGS}
    for key, value in said.items():
        yield Setting(key, value, f"profile {chosen.value}")


def _defaults(environ: Mapping[str, str]) -> Iterator[Setting]:
    limits = {"lines": DEFAULT_LINES, "bytes": DEFAULT_BYTES, "tokens": DEFAULT_TOKENS}
    kept = Retention()
    retention = {"retention.age": kept.age_seconds, "retention.bytes": kept.bytes, "retention.count": kept.count}
    others = {"profile": "", "keep": "auto", "hints": "path", "cap": CAP, "tokenizer": "estimate"}
    store = {"store": own(environ, "XDG_STATE_HOME", ".local/state")}
    for key, value in (dict.fromkeys(KEYS, 0) | limits | retention | others | store).items():
        yield Setting(key, value, "default")


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    for name, text in environ.items():
        if name in VARIABLES and text:  # an empty one is how a shell takes it back
            yield VARIABLES[name], name, text
        elif name.startswith(PREFIX) and name not in (*VARIABLES, *OTHERS):
            known = [one.removeprefix(PREFIX) for one in (*VARIABLES, NAMED)]
            raise ConfigError(f"{name} is no variable; {nearest(name.removeprefix(PREFIX), known, PREFIX)}")


def _said(key: str, origin: str, value: object, here: str, environ: Mapping[str, str]) -> Setting:
    """A setting from a variable or the caller, where a text may stand for any value."""
    kind = kind_of(key)
    if not kind:
        raise ConfigError(f"{origin}: {key} is no key; {nearest(key, KEYS)}")
    if isinstance(value, str) and kind == HINTS:
        value = value.replace(";", " ").split()
    elif isinstance(value, str) and kind in (*UNITS, FLAG):
        with suppress(ValueError):
            value = {"true": True, "false": False}.get(value.lower(), value) if value.isalpha() else int(value)
    return checked(Setting(key, value, origin), here, environ)


def _choice(name: str, values: Mapping[str, Any]) -> Any:
    keys = CHOICES[name]
    if name not in ("limits", "trigger"):
        return values[keys[0]]
    sizes = {key.rpartition(".")[2]: values[key] or None for key in keys}
    if name == "limits" and not any(sizes.values()):
        raise UsageError(f"{', '.join(LIMITS)} are all 0; set one of them.")
    return Limits(**sizes) if any(sizes.values()) else None


def _by_pattern(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        pattern, within = split(key)
        if pattern is not None:
            rules.setdefault(pattern, {})[within] = value
    return rules


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it: no project then, and the tool call goes on
        return os.sep
