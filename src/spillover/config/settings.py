"""What holds here, from every source.

Weakest first: the defaults, the user's file, the project's file, SPILLOVER_* variables, what the caller gives.
A project's file that the user has not trusted narrows what holds without it (`config.narrow`), and nothing more.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from msgspec import Struct
from msgspec.structs import replace

from spillover import profiles
from spillover.base.folders import user_folder
from spillover.choices import Choices
from spillover.config.files import NAMED, files_for, users_file
from spillover.config.place import CONTEXT_TOKENS, DEADLINE_SECONDS, open_store
from spillover.config.values import (
    CHOICES,
    FLAG,
    HINTS,
    KEYS,
    LIMITS,
    OPTIONS,
    UNITS,
    Setting,
    check,
    in_rule,
    join_words,
    kind_of,
    nearest,
    read,
    read_option,
    short,
    split,
)
from spillover.errors import ConfigError, SpilloverError, UsageError
from spillover.intake.take import CAP
from spillover.limits import DEFAULT_BYTES, DEFAULT_LINES, DEFAULT_TOKENS, DEFAULT_WORTH, Limits
from spillover.store.named import NamedStore
from spillover.store.retention import Retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from spillover.config.file import File, Ignored

    Made = TypeVar("Made")

PREFIX = "SPILLOVER_"
VARIABLES = {PREFIX + key.upper().replace(".", "_"): key for key in KEYS}
RETENTION = tuple(f"retention.{name}" for name in ("age", "bytes", "count", "grace", "runs"))
#: What a profile decides where nobody sets it.
PROFILES_OWN = ("limits", "trigger", "keep", "tokenizer", "store")
TEXTS = ("profile", "scope")  # used as they are, and empty where nobody says
#: Ours too, but no settings.
OTHERS = (NAMED, CONTEXT_TOKENS, "SPILLOVER_DEBUG")


class Settings(Struct, frozen=True):
    """What holds, by flat key ("tokens", "trigger.chars", "tools.bash*.keep"), the files that were read, and what was ignored."""

    values: Mapping[str, Setting]
    files: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    project: str | None = None  # a folder: its project is the scope, where nobody names one

    def choices(self) -> dict[str, Any]:
        """Return the settings as arguments for a Clipper; ConfigError for what a Clipper would refuse."""
        ours = {key: each for key, each in self.values.items() if key not in TEXTS and not key.startswith(OPTIONS)}
        values = {key: read(kind_of(key), each.value) for key, each in ours.items()}
        with self._blaming("store", "deadline"):
            store = open_store(values["store"], self.retention(), deadline_seconds=values["deadline"])
        chosen: dict[str, Any] = {
            "store": store,
            "scope": self._scope(),
            "redact": self.values["redact"].value,
            "stats": values["stats"],
        }
        for name, keys in CHOICES.items():
            held_against = LIMITS if name in ("trigger", "tokenizer") else ()
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
        """Make a Clipper with these choices, and with the wording and file names of the profile if there is one."""
        profile = self.values["profile"].value
        make: Callable[..., Made] = profiles.named(str(profile)).clipper if profile else clipper
        chosen = self.choices()
        if profile:  # its options may set the limits, and a command may choose `keep`
            own = {name for name in PROFILES_OWN if not any(map(self._is_set, CHOICES.get(name, (name,))))}
            chosen = {name: value for name, value in chosen.items() if name not in own}
        options = [key for key in self.values if key.startswith(f"{OPTIONS}{profile}.")]
        chosen |= {key.removeprefix(f"{OPTIONS}{profile}."): self.values[key].value for key in options}
        with self._blaming("profile", *options):
            made = make(**{**chosen, **others})
        store = getattr(made, "store", None)
        if isinstance(store, NamedStore) and any(map(self._is_set, RETENTION)):
            made = replace(made, store=replace(store, retention=self.retention()))  # type: ignore[type-var]  # a Clipper
        return made

    @property
    def complaint(self) -> str:
        """Say which keys of a file that counts are unknown; "" where none is."""
        complaints = [one.complaint for one in self.ignored if one.complaint]
        more = f" ({len(complaints) - 1} more: see `spill config`)" * (len(complaints) > 1)
        return f"{complaints[0]}{more} The rest of the file counts." if complaints else ""

    def retention(self) -> Retention:
        """Return how long outputs are kept."""
        age, size, count, grace, runs = (read(kind_of(key), self.values[key].value) for key in RETENTION)
        return Retention(
            age_seconds=age or None, bytes=size or None, count=count or None, grace_seconds=grace, runs=runs
        )

    def _is_set(self, key: str) -> bool:
        """Return whether somebody sets this key: neither the defaults nor the profile."""
        return not self.values[key].origin.startswith(("default", "profile "))

    def _scope(self) -> str | None:
        said = self.values["scope"].value
        if said or self.project is None:
            return str(said) if said else None
        from spillover.store.scope import VARIABLE, folder_scope  # for a host that names a folder

        # One that was set and cannot be used is not replaced by another.
        return None if os.environ.get(VARIABLE) else folder_scope(self.project)

    @contextmanager
    def _blaming(self, *keys: str) -> Iterator[None]:
        """Say in an error where the value was set."""
        try:
            yield
        except SpilloverError as error:
            said = [self.values[key] for key in keys if self.values[key].origin != "default"]
            where = "; ".join(f"{setting.origin}: {short(setting)}" for setting in said)
            if len(said) == 1:
                typed = said[0].origin.removeprefix("--").replace("-", ".") == said[0].key  # an option or an argument
                words = str(error) if typed else join_words(said[0], str(error))
                raise ConfigError(f"{said[0].origin}: {words}") from error
            raise ConfigError(f"{where}: {error}" if where else str(error)) from error


def load(
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    given_origin: Callable[[str], str] = lambda key: (
        "--profile-option" if key.startswith(OPTIONS) else "--" + key.replace(".", "-")
    ),
    uid: int | None = None,
) -> Settings:
    """Return the settings from every source; `given` are the caller's values by flat key, None if not given.

    Files count only if they belong to `uid`, which is the user of this process, or to root.
    """
    environ = os.environ if environ is None else environ
    here = _here() if cwd is None else os.path.realpath(cwd)
    files, ignored = files_for(here, environ, os.geteuid() if uid is None else uid)
    caller = [(key, given_origin(key), value) for key, value in (given or {}).items() if value is not None]
    said: dict[str, Setting] = {}
    for key, origin, value in (*caller, *_variables(environ)):
        said.setdefault(key, _read_given(key, origin, value, here, environ))
    return replace(settle(files, said, environ, ignored), project=cwd)


def settle(
    files: Sequence[File], said: Mapping[str, Setting], environ: Mapping[str, str], ignored: Sequence[Ignored] = ()
) -> Settings:
    """Return the settings with these files, weakest first, below what was `said` by variables and the caller."""
    merged = dict(said)
    ignored = list(ignored)
    for setting in (setting for file in reversed(files) if file.trusted for setting in file.settings(environ)):
        if not isinstance(setting, Setting):
            ignored.append(setting)
            continue
        # What was said for all tools is stronger than what a file says for one.
        stronger = said.get(split(setting.key)[1])
        merged.setdefault(setting.key, replace(stronger, key=setting.key) if stronger else setting)
    for setting in (*_from_profile(merged.get("profile")), *_defaults(environ)):
        merged.setdefault(setting.key, setting)
    made = Settings({key: merged[key] for key in KEYS} | merged, tuple(file.path for file in files), tuple(ignored))
    for file in files:
        made = made if file.trusted else _narrow_by(made, file, said, environ)
    return made


def needs_trust(file: File, environ: Mapping[str, str]) -> tuple[Ignored, ...]:
    """Return what of a project's file would be ignored if it were not trusted."""
    user, _ = users_file(environ, os.geteuid())
    return settle([*([user] if user else []), replace(file, trusted=False)], {}, environ).ignored


def _narrow_by(settings: Settings, file: File, said: Mapping[str, Setting], environ: Mapping[str, str]) -> Settings:
    """Return the settings narrowed by an untrusted file. Its rules come after all others, so that none is overruled."""
    from spillover.config.file import Ignored  # most have no such file
    from spillover.config.narrow import narrow

    applied, ignored = narrow(file, settings.values, said, environ)
    made = replace(settings, values={**settings.values, **applied}, ignored=(*settings.ignored, *ignored))
    try:
        if applied:
            made.made(Choices)
    except SpilloverError as error:  # each narrows, and together they cannot be used: no reason to stop a command
        why = Ignored(file.path, "", f"it cannot be used together with what holds here ({str(error).rstrip('.')})")
        return replace(settings, ignored=(*settings.ignored, why))
    return made


def _from_profile(chosen: Setting | None) -> Iterator[Setting]:
    """Yield the settings of a profile; a limit that it does not set is removed."""
    if chosen is None:
        return
    said = {**dict.fromkeys(LIMITS, 0), **profiles.named(str(chosen.value)).SETTINGS}
    for key, value in said.items():
        yield Setting(key, value, f"profile {chosen.value}")


def _defaults(environ: Mapping[str, str]) -> Iterator[Setting]:
    limits = {"lines": DEFAULT_LINES, "bytes": DEFAULT_BYTES, "tokens": DEFAULT_TOKENS}
    kept = Retention()
    retention = {
        "retention.age": kept.age_seconds,
        "retention.bytes": kept.bytes,
        "retention.count": kept.count,
        "retention.grace": kept.grace_seconds,
        "retention.runs": kept.runs,
    }
    others: dict[str, object] = {
        "profile": "",
        "keep": "auto",
        "hints": "path",
        "cap": CAP,
        "tokenizer": "estimate",
        "scope": "",
        "deadline": DEADLINE_SECONDS,
        "redact": "off",
        "stats": True,
        "worth": DEFAULT_WORTH,
        "since": "auto",
    }
    store = {"store": user_folder(environ, "XDG_STATE_HOME", ".local/state")}
    for key, value in (dict.fromkeys(KEYS, 0) | limits | retention | others | store).items():
        yield Setting(key, value, "default")


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    for name, text in environ.items():
        if name in VARIABLES and text:  # an empty one is how a shell takes it back
            yield VARIABLES[name], name, text
        elif name.startswith(PREFIX) and name not in (*VARIABLES, *OTHERS):
            known = [one.removeprefix(PREFIX) for one in (*VARIABLES, NAMED)]
            raise ConfigError(f"{name} is not a variable; {nearest(name.removeprefix(PREFIX), known, PREFIX)}")


def _read_given(key: str, origin: str, value: object, here: str, environ: Mapping[str, str]) -> Setting:
    """Return a setting from a variable or the caller, where a text may stand for any value."""
    if key.startswith(OPTIONS):
        return check(Setting(key, read_option(key, str(value)), origin), here, environ)
    kind = kind_of(key)
    if not kind:
        raise ConfigError(f"{origin}: {key} is not a key; {nearest(key, KEYS)}")
    if isinstance(value, str) and kind == HINTS:
        value = value.replace(";", " ").split()
    elif isinstance(value, str) and kind in (*UNITS, FLAG):
        with suppress(ValueError):
            value = {"true": True, "false": False}.get(value.lower(), value) if value.isalpha() else int(value)
    return check(Setting(key, value, origin), here, environ)


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
