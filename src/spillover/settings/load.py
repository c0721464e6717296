"""Files, environment and arguments, merged into Settings, with the origin of each value.

Weakest first: the defaults, the profile, the user's file, the project's file, SPILLOVER_* variables, the caller. A
project's file that the user has not trusted, and the agent in whose shell we print, can only lower the limits that
result (`narrow`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import ConfigError, SpilloverError, UsageError, find_similar, suggest
from spillover.notice.hints import hints
from spillover.notice.wording import one_line
from spillover.settings.limits import (
    DEFAULT_BYTES,
    DEFAULT_LINES,
    DEFAULT_TOKENS,
    DEFAULT_WORTH,
    LARGEST,
    SIZES,
    SMALLEST,
    TIMES,
    Agent,
    Limits,
    read_amount,
)
from spillover.settings.settings import DEADLINE_SECONDS, KEEPS, REDACT, Settings, is_url, open_store
from spillover.settings.trust import CONFIG_VARIABLE, ConfigFile, Ignored, find_files, line_of, users_file
from spillover.source.intake import MAX_STORED_BYTES
from spillover.store.folder import expand, user_folder
from spillover.store.named import NamedStore
from spillover.store.record import check_given_scope
from spillover.store.retention import Retention
from spillover.store.scopes import VARIABLE as SCOPE_VARIABLE
from spillover.store.scopes import folder_scope, working_folder

# The keys

#: The kinds of values, in the words of an error about a wrong one.
COUNT = "a whole number, e.g. 4_000; 0 sets none"
SIZE = 'a whole number of bytes, or a size with its unit, e.g. "2 GiB"'
AGE = 'a whole number of seconds, or a time with its unit (s, m, h, d, w), e.g. "7d"'
WORD = "a word in quotes"
HINTS = 'a hint in quotes, or a list of them, e.g. ["cli", "files:Read,Grep"]'
FOLDER = "the path of a folder, or a URL such as s3://bucket/prefix, in quotes"
FLAG = "true or false"
SHARE = "a number from 0 to 1, e.g. 0.1; 0 fills the limits"
UNITS: dict[str, dict[str, int]] = {COUNT: {}, SIZE: SIZES, AGE: TIMES}


class Key(Struct, frozen=True):
    """One key: the kind of its value, its default, and who may set it."""

    kind: str
    default: object = 0  # 0: no limit
    in_rules: bool = False  # whether a rule for some tools may set it
    narrows: bool = False  # whether a project may lower or choose it before the user trusts it


_RETENTION = Retention()
KEYS = {
    "lines": Key(COUNT, DEFAULT_LINES, in_rules=True, narrows=True),
    "bytes": Key(COUNT, DEFAULT_BYTES, in_rules=True, narrows=True),
    "chars": Key(COUNT, in_rules=True, narrows=True),
    "tokens": Key(COUNT, DEFAULT_TOKENS, in_rules=True, narrows=True),
    "keep": Key(WORD, "auto", in_rules=True, narrows=True),
    "hints": Key(HINTS, "path", in_rules=True),
    "cap": Key(SIZE, MAX_STORED_BYTES, in_rules=True),
    "tokenizer": Key(WORD, "estimate", in_rules=True),
    "worth": Key(SHARE, DEFAULT_WORTH, in_rules=True),
    "since": Key(WORD, "auto", in_rules=True),
    "profile": Key(WORD, ""),
    "store": Key(FOLDER),
    "deadline": Key(AGE, DEADLINE_SECONDS),
    "scope": Key(WORD, ""),
    "redact": Key(WORD, "off"),
    "stats": Key(FLAG, default=True),
    "retention.age": Key(AGE, _RETENTION.age_seconds),
    "retention.bytes": Key(SIZE, _RETENTION.bytes),
    "retention.count": Key(COUNT, _RETENTION.count),
    "retention.grace": Key(AGE, _RETENTION.grace_seconds),
    "retention.runs": Key(COUNT, _RETENTION.runs),
}
#: The keys of a [tools] table. `clip = true` in a project's file makes a tool like the rest.
RULE_KEYS = {name: key for name, key in KEYS.items() if key.in_rules} | {"clip": Key(FLAG, default=True)}
LIMITS = tuple(SMALLEST)
RETENTION_KEYS = tuple(name for name in KEYS if name.startswith("retention."))
#: Option of Settings → its keys.
OPTIONS_BY_KEY = {"limits": LIMITS} | {
    name: (name,) for name, key in KEYS.items() if key.in_rules and name not in LIMITS
}
#: The options that a profile decides where nobody sets them.
PROFILES_OWN = ("limits", "keep", "tokenizer")
#: The prefix of the keys of profiles' own options: "profiles.vtcode.banner".
PROFILES = "profiles."
#: The tables in a file whose keys are names of tools and profiles.
TABLES = ("tools", "profiles")
PREFIX = "SPILLOVER_"
VARIABLES = {PREFIX + key.upper().replace(".", "_"): key for key in KEYS}
#: Variables of ours that are no settings.
OTHER_VARIABLES = (CONFIG_VARIABLE, "SPILLOVER_CONTEXT_TOKENS", "SPILLOVER_DEBUG")
#: Keys that decide who sees an output, and how much of it: a file with a slip in one of these is refused.
PRIVATE = ("redact", "scope", "store")
#: The likeness from which an unknown key is a slip in one of these. Lower, and `state` or `[core]` costs the file.
SLIP_LIKENESS = 0.75
#: Unknown keys after which a file is refused: each takes time for a suggestion, so more would delay every call.
MAX_UNKNOWN_KEYS = 20
#: The most that an untrusted file may hold: every tool call reads it, and more takes longer.
MAX_RULES = 100
MAX_SETTINGS = 500
MAX_PATTERN_CHARS = 100
#: Characters of a value that a message quotes; more make longer messages.
QUOTED_CHARS = 80
NEEDS_TRUST = "a project may only lower limits and choose keep; to allow more, read the file, then run `spill trust`"


def profile_package() -> Any:
    """Return `spillover.profiles`, imported on first use, since it imports the settings."""
    return import_module("spillover.profiles")


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


def find_key(key: str) -> Key | None:
    """Return the row of a flat key in the tables; None if there is no such key."""
    pattern, name = split(key)
    return (KEYS if pattern is None else RULE_KEYS).get(name)


# Values


class Setting(Struct, frozen=True):
    """One value, and where it comes from."""

    key: str
    value: Any
    origin: str

    def __str__(self) -> str:
        return f"{self.key} = {_write(self.value)}"


def _write(value: object) -> str:
    try:
        return str(value).lower() if isinstance(value, bool) else repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a table in a table in a table
        return "…"


def quote(setting: Setting) -> str:
    """Return the beginning of a setting for a message."""
    return one_line(str(setting), QUOTED_CHARS)


def explain(setting: Setting, words: str) -> str:
    """Return a setting with its error; words that repeat the key and the value are removed."""
    beginning = f"{split(setting.key)[1]}={_write(setting.value)} "
    if words.startswith(beginning):
        return f"{quote(setting)} {words.removeprefix(beginning)}"
    return f"{quote(setting)}: {words}"


def parse_value(kind: str, value: object) -> Any:
    """Convert a TOML value to a kind; ValueError if it is of another one."""
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
        case str() if value and kind not in (FLAG, SHARE):
            return value
        case list() | tuple() if kind == HINTS and all(isinstance(hint, str) for hint in value):
            return list(value)
    raise ValueError(kind)


def check(setting: Setting, folder: str, environ: Mapping[str, str], text: str = "") -> Setting:
    """Return the setting with its value parsed, a path relative to `folder`; ConfigError for a wrong one."""
    if setting.key.startswith(PROFILES):
        return _check_option(setting, folder, environ, text)
    key = find_key(setting.key)
    name = split(setting.key)[1]
    kind = "" if key is None else key.kind
    try:
        value = parse_value(kind, setting.value)
        _check_value(name, value)
    except ValueError as error:
        words = str(error) if isinstance(error, UsageError) else f"expected {kind}."
        raise ConfigError(f"{setting.origin}{line_of(text, name)}: {explain(setting, words)}") from error
    if kind == FOLDER and not is_url(value):
        value = os.path.normpath(os.path.join(folder, expand(value, environ)))
    return replace(setting, value=value)


def _check_value(name: str, value: Any) -> None:
    """Raise a UsageError for a value of the right kind that cannot be used."""
    if name in LIMITS:
        Limits(**{name: value or None}).check_room()
    elif name == "hints":
        hints(value)
    elif name == "profile" and value not in profile_package().NAMES:
        raise UsageError(f"there is no such profile; use one of {', '.join(profile_package().NAMES)}.")
    elif name == "redact" and value not in REDACT:
        raise UsageError(f"use one of {', '.join(REDACT)}.")
    elif name == "scope":
        check_given_scope(value)


def _check_option(setting: Setting, folder: str, environ: Mapping[str, str], text: str) -> Setting:
    """Return the setting of a profile's option; ConfigError if the profile has no such option or value."""
    _, profile, name = setting.key.split(".", 2)
    profiles = profile_package()
    options = profiles.options(profile)
    place = f"{setting.origin}{line_of(text, name)}"
    if name not in options:
        raise ConfigError(f"{place}: {name} is not an option of {profile}; {suggest(name, options)}")
    kinds = [profiles.KINDS[kind] for kind in options[name]]
    value = setting.value
    if not any(isinstance(value, types) and (bool in types or not isinstance(value, bool)) for types, _ in kinds):
        raise ConfigError(f"{place}: {quote(setting)}: expected {' or '.join(words for _, words in kinds)}.")
    if isinstance(value, list) and not all(isinstance(table, dict) for table in value):
        raise ConfigError(f"{place}: {quote(setting)}: expected {kinds[0][1]}.")
    if name == "folder":
        return replace(setting, value=os.path.normpath(os.path.join(folder, expand(str(value), environ))))
    return setting


def _parse_option(key: str, text: str) -> object:
    """Parse a word of the shell as TOML; return it unchanged if it is none, or if the option takes a word."""
    import tomllib  # 10 ms with its parser, and few set such an option

    _, profile, name = key.split(".", 2)
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
    profiles = profile_package()
    takes_words = any(str in profiles.KINDS[kind][0] for kind in profiles.options(profile).get(name, ()))
    return text if takes_words and not isinstance(value, str) else value


# Files


def flatten(file: ConfigFile, environ: Mapping[str, str]) -> Iterator[Setting | Ignored]:
    """Yield every setting of a file, and what is wrong with it; a trusted file is refused for one that `stops`."""
    unknown = 0
    for pair in _pairs(file):
        if isinstance(pair, Ignored):
            unknown += not pair.stops
            if unknown > MAX_UNKNOWN_KEYS:
                yield file.refuse("", f"more than {MAX_UNKNOWN_KEYS} keys are unknown; {pair.why}.")
                return
            yield pair
            continue
        key, value = pair
        try:
            yield check(Setting(key, value, file.path), os.path.dirname(file.path), environ, file.text)
        except ConfigError as error:
            yield Ignored(file.path, key, file.without_path(str(error)), str(error), stops=True)


def _pairs(file: ConfigFile) -> Iterator[tuple[str, object] | Ignored]:
    """Yield each flat key of a file with its unparsed value."""
    general = {key: value for key, value in file.table.items() if key not in TABLES}
    yield from _flatten_table(file, "", general, KEYS)
    profiles = file.table.get("profiles", {})
    if profiles:
        names = profile_package().NAMES
        options = [f"{PROFILES}{name}.{option}" for name in names for option in profile_package().options(name)]
        yield from _flatten_table(file, "profiles", profiles, options, PROFILES)
    rules = file.table.get("tools", {})
    if not isinstance(rules, dict):
        yield file.refuse_table("tools", "tools", rules)
        return
    for pattern, rule in rules.items():
        if isinstance(rule, dict) and all(value == {} for value in rule.values()):
            yield in_rule(pattern, "clip"), True  # this tool is like the rest, so that no later pattern applies
        for pair in _flatten_table(file, pattern, rule, RULE_KEYS):
            if isinstance(pair, Ignored):
                yield replace(pair, key=in_rule(pattern, pair.key) if isinstance(rule, dict) else f"tools.{pattern}")
            else:
                yield in_rule(pattern, pair[0]), pair[1]


def _flatten_table(
    file: ConfigFile, name: str, table: object, keys: Iterable[str], prefix: str = ""
) -> Iterator[tuple[str, object] | Ignored]:
    """Yield the keys of a table, and of the tables in it, with their unparsed values."""
    if not isinstance(table, dict):
        yield file.refuse_table(prefix.rstrip(".") or name, name, table)
        return
    for word, value in table.items():
        key = prefix + word
        if key in keys:
            yield key, value
        elif any(known_key.startswith(key + ".") for known_key in keys):
            yield from _flatten_table(file, key.removeprefix(PROFILES), value, keys, key + ".")
        else:
            suffixes = [known_key.removeprefix(prefix) for known_key in keys if known_key.startswith(prefix)]
            siblings = [suffix.partition(".")[0] for suffix in suffixes]
            siblings += TABLES if keys is KEYS and not prefix else ()
            problem = "not a key of a rule" if keys is RULE_KEYS else "not a key"
            words = f"{one_line(key, QUOTED_CHARS)} is {problem}; {suggest(word, dict.fromkeys(siblings))}"
            is_slip = bool(find_similar(word, PRIVATE, SLIP_LIKENESS))  # the author of the file relies on it
            yield replace(file.refuse(key, words, word), stops=is_slip)


# Narrowing


def narrow(
    values: Mapping[str, Setting], changes: Iterable[Setting], is_fixed: Callable[[Setting], bool]
) -> tuple[dict[str, Setting], list[Ignored]]:
    """Apply the changes that lower a limit or choose `keep`; return the values, and the changes that are ignored.

    New rules come last, so that they overrule none. A change of a fixed value is dropped silently.
    """
    narrowed = dict(values)
    ignored = []
    for change in changes:
        pattern, name = split(change.key)
        current = narrowed.get(change.key) or narrowed.get(name) or Setting(change.key, value=True, origin="default")
        why = _why_wider(change, current.value)
        if why:
            ignored.append(Ignored(change.origin, one_line(str(change), QUOTED_CHARS), why))
        elif not is_fixed(current) and (name != "clip" or pattern not in _patterns(narrowed)):
            narrowed[change.key] = change
    return narrowed, ignored


def _why_wider(change: Setting, current: Any) -> str:
    """Return the reason why a change could let more through than the current value; "" if it cannot."""
    pattern, name = split(change.key)
    if pattern is not None and len(pattern) > MAX_PATTERN_CHARS:
        return f"the pattern has more than {MAX_PATTERN_CHARS} characters"
    if name == "clip":
        return "" if change.value is current is True else NEEDS_TRUST
    key = find_key(change.key)
    if key is None or not key.narrows:
        return NEEDS_TRUST
    if name == "keep":
        return "" if change.value in KEEPS else f"there is no such part; use one of {', '.join(KEEPS)}"
    if change.value != current and (change.value == 0 or 0 < current < change.value):
        return f"that is more than the {current:,} that hold without it; {NEEDS_TRUST}"
    return ""


def _why_too_long(file: ConfigFile) -> str:
    """Return the reason to ignore an untrusted file as too long; "" if it is short enough."""
    rules = file.table.get("tools", {})
    tables = [rule for rule in rules.values() if isinstance(rule, dict)] if isinstance(rules, dict) else []
    if len(tables) > MAX_RULES:
        return f"it has more than {MAX_RULES} rules; {NEEDS_TRUST}"
    if len(file.table) + sum(map(len, tables)) > MAX_SETTINGS:
        return f"it has more than {MAX_SETTINGS} settings; {NEEDS_TRUST}"
    return ""


def _lower_to_shown(values: dict[str, Setting], agent: Agent) -> dict[str, Setting]:
    """Return the values with every limit lowered to the agent's own and to the rule for its shell."""
    patterns = _patterns(values)
    shell = next((pattern for pattern in patterns if fnmatchcase(agent.shell_tool, pattern)), None)
    changes = []
    for name in LIMITS:
        limit = _effective(values, shell, name)
        bound = agent.bounds().get(name, 0)
        if bound and not _is_callers(limit) and not 0 < limit.value <= bound:
            limit = Setting(name, bound, f"{agent.title} (as seen in {agent.seen_in})")
        if limit.value:
            keys = [name, *(in_rule(pattern, name) for pattern in patterns)]
            changes += [replace(limit, key=key) for key in keys if key in values]
    narrowed, _ = narrow(values, changes, _is_callers)
    counter = _effective(values, shell, "tokenizer")  # the agent's hook counts by the rule for its shell
    for key in ("tokenizer", *(in_rule(pattern, "tokenizer") for pattern in patterns)):
        if key in narrowed and not _is_callers(narrowed[key]):
            narrowed[key] = replace(counter, key=key)
    return narrowed


def _patterns(values: Iterable[str]) -> list[str]:
    """Return the patterns of all rules, in their order."""
    return [*dict.fromkeys(pattern for key in values if (pattern := split(key)[0]) is not None)]


def _effective(values: Mapping[str, Setting], pattern: str | None, name: str) -> Setting:
    """Return the setting that a rule makes, or the one for all tools."""
    return (None if pattern is None else values.get(in_rule(pattern, name))) or values[name]


def _is_callers(setting: Setting) -> bool:
    return setting.origin.startswith("--")


# Merging


class Loaded(Struct, frozen=True):
    """The merged values by flat key ("tokens", "tools.bash*.keep"), the files they came from, and what is ignored."""

    values: Mapping[str, Setting]
    files: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    project: str | None = None  # the folder whose project is the scope if none is set

    def settings(self, **options: Any) -> Settings:
        """Return Settings of these values and options; ConfigError names the origin of a value that cannot be used."""
        profile = self._value("profile")
        settings = self._start_with_profile(profile) if profile else self._start()
        settings = settings.but(scope=self._scope(), redact=self._value("redact"), stats=self._value("stats"))
        for option, keys in OPTIONS_BY_KEY.items():
            if profile and option in PROFILES_OWN and not any(map(self._is_set, keys)):
                continue
            with self._blame(*keys, *(LIMITS if option == "tokenizer" else ())):
                settings = settings.but(**{option: self._limits() if option == "limits" else self._value(keys[0])})
        rules: dict[str, dict[str, Any]] = {}
        for pattern in _patterns(self.values):
            rule = {split(key)[1]: key for key in self.values if split(key)[0] == pattern}
            rules[pattern] = {name: self._value(key) for name, key in rule.items()}
            with self._blame(*rule.values()):
                settings.but(rules={pattern: rules[pattern]})
        return settings.but(**{"rules": rules, **options})

    def _start(self) -> Settings:
        with self._blame("store", "deadline"):
            deadline = self._value("deadline")
            return Settings(store=open_store(self._value("store"), self.retention(), deadline_seconds=deadline))

    def _start_with_profile(self, profile: str) -> Settings:
        prefix = f"{PROFILES}{profile}."
        options = [key for key in self.values if key.startswith(prefix)]
        changes = {key.removeprefix(prefix): self._value(key) for key in options}
        if self._is_set("store"):
            changes["store"] = self._start().store
        if self._is_set("keep"):  # stronger than the part that a profile chooses for a command
            changes["keep"] = self._value("keep")
        with self._blame("profile", *options):
            settings: Settings = profile_package().find_profile(profile).clipper(**changes).settings
        if isinstance(settings.store, NamedStore) and any(map(self._is_set, RETENTION_KEYS)):
            return settings.but(store=replace(settings.store, retention=self.retention()))
        return settings

    @property
    def complaint(self) -> str:
        """The first unknown key of the files that count, and the number of others; "" if there is none."""
        complaints = [ignored.complaint for ignored in self.ignored if ignored.complaint]
        more = f" ({len(complaints) - 1} more: see `spill config`)" * (len(complaints) > 1)
        return f"{complaints[0]}{more} The rest of the file counts." if complaints else ""

    def retention(self) -> Retention:
        """Return the retention of the store."""
        return Retention(
            age_seconds=self._value("retention.age") or None,
            bytes=self._value("retention.bytes") or None,
            count=self._value("retention.count") or None,
            grace_seconds=self._value("retention.grace"),
            runs=self._value("retention.runs"),
        )

    def _value(self, key: str) -> Any:
        return self.values[key].value

    def _limits(self) -> Limits:
        sizes = {name: self._value(name) or None for name in LIMITS}
        if not any(sizes.values()):
            raise UsageError(f"{', '.join(LIMITS)} are all 0; set one of them.")
        return Limits(**sizes)

    def _is_set(self, key: str) -> bool:
        """Return whether a key is set by a file, a variable or the caller."""
        return not self.values[key].origin.startswith(("default", "profile "))

    def _scope(self) -> str | None:
        scope = self._value("scope")
        if scope or self.project is None:
            return scope or None
        # A scope in the variable that cannot be used is not replaced by another.
        return None if os.environ.get(SCOPE_VARIABLE) else folder_scope(self.project)

    @contextmanager
    def _blame(self, *keys: str) -> Iterator[None]:
        """Add the origin of the values to an error."""
        try:
            yield
        except SpilloverError as error:
            settings = [self.values[key] for key in keys if self.values[key].origin != "default"]
            if len(settings) != 1:
                origins = "; ".join(f"{setting.origin}: {quote(setting)}" for setting in settings)
                raise ConfigError(f"{origins}: {error}" if origins else str(error)) from error
            (setting,) = settings
            is_typed = setting.origin.removeprefix("--").replace("-", ".") == setting.key  # an option or an argument
            words = str(error) if is_typed else explain(setting, str(error))
            raise ConfigError(f"{setting.origin}: {words}") from error


def option_of(key: str) -> str:
    """Return the command-line option that sets a key."""
    return "--profile-option" if key.startswith(PROFILES) else "--" + key.replace(".", "-")


def load(
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    arguments: Mapping[str, object] | None = None,
    argument_origin: Callable[[str], str] = option_of,
    agents: Sequence[Agent] = (),
    uid: int | None = None,
) -> Loaded:
    """Return the settings from every source; `arguments` are the caller's values by flat key, None for unset ones.

    `agents` are the agents in whose shell we print: limits are lowered to theirs, except for limits on the command line
    and in a profile, which behaves like its own system wherever it runs. Files count only if they belong to `uid`, by
    default the user of this process, or to root.
    """
    environ = os.environ if environ is None else environ
    folder = (working_folder() or os.sep) if cwd is None else os.path.realpath(cwd)
    files, ignored = find_files(folder, environ, os.geteuid() if uid is None else uid)
    caller = [(key, argument_origin(key), value) for key, value in (arguments or {}).items() if value is not None]
    direct: dict[str, Setting] = {}
    for key, origin, value in (*caller, *_variables(environ)):
        direct.setdefault(key, _parse_direct(key, origin, value, folder, environ))
    loaded = replace(merge(files, direct, environ, ignored), project=cwd)
    if not agents or loaded.values["profile"].value:
        return loaded
    values = dict(loaded.values)
    for agent in agents:
        values = _lower_to_shown(values, agent)
    return replace(loaded, values=values)


def merge(
    files: Sequence[ConfigFile],
    direct: Mapping[str, Setting],
    environ: Mapping[str, str],
    ignored: Iterable[Ignored] = (),
) -> Loaded:
    """Merge files, the weakest first, below the `direct` values of variables and the caller."""
    merged = dict(direct)
    complaints = list(ignored)
    for setting in (setting for file in reversed(files) if file.trusted for setting in flatten(file, environ)):
        if isinstance(setting, Setting):
            # A value for all tools from a variable or the caller is stronger than one for some tools from a file.
            stronger = direct.get(split(setting.key)[1])
            merged.setdefault(setting.key, replace(stronger, key=setting.key) if stronger else setting)
        elif setting.stops:
            raise ConfigError(setting.complaint)
        else:
            complaints.append(setting)
    for setting in (*_from_profile(merged.get("profile")), *_defaults(environ)):
        merged.setdefault(setting.key, setting)
    values = {key: merged[key] for key in KEYS} | merged
    loaded = Loaded(values, tuple(file.path for file in files), tuple(complaints))
    for file in files:
        loaded = loaded if file.trusted else _narrow_by(loaded, file, direct, environ)
    return loaded


def needs_trust(file: ConfigFile, environ: Mapping[str, str]) -> tuple[Ignored, ...]:
    """Return the settings of a project's file that are ignored unless it is trusted."""
    user, _ = users_file(environ, os.geteuid())
    return merge([*([user] if user else []), replace(file, trusted=False)], {}, environ).ignored


def _narrow_by(loaded: Loaded, file: ConfigFile, direct: Mapping[str, Setting], environ: Mapping[str, str]) -> Loaded:
    """Return the settings narrowed by an untrusted file; errors in it are ignored."""
    if why := _why_too_long(file):
        return replace(loaded, ignored=(*loaded.ignored, Ignored(file.path, "", why)))
    settings = list(flatten(replace(file, text=""), environ))
    changes = [setting for setting in settings if isinstance(setting, Setting)]
    errors = [
        replace(error, key=one_line(error.key, QUOTED_CHARS), complaint="", stops=False)
        for error in settings
        if isinstance(error, Ignored)
    ]
    origins = {setting.origin for setting in direct.values()}
    values, wider = narrow(loaded.values, changes, lambda setting: setting.origin in origins)
    narrowed = replace(loaded, values=values, ignored=(*loaded.ignored, *errors, *wider))
    try:
        narrowed.settings()
    except SpilloverError as error:  # each narrows, but together they cannot be used
        why = f"it cannot be used together with what holds here ({str(error).rstrip('.')})"
        return replace(loaded, ignored=(*loaded.ignored, Ignored(file.path, "", why)))
    return narrowed


def _from_profile(profile: Setting | None) -> Iterator[Setting]:
    """Yield the settings of a profile; a limit that it does not set is removed."""
    if profile is None:
        return
    values = {**dict.fromkeys(LIMITS, 0), **profile_package().find_profile(str(profile.value)).SETTINGS}
    for key, value in values.items():
        yield Setting(key, value, f"profile {profile.value}")


def _defaults(environ: Mapping[str, str]) -> Iterator[Setting]:
    for name, key in KEYS.items():
        default = user_folder(environ, "XDG_STATE_HOME", ".local/state") if name == "store" else key.default
        yield Setting(name, default, "default")


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str, object]]:
    for name, text in environ.items():
        if name in VARIABLES and text:  # an empty variable is unset
            yield VARIABLES[name], name, text
        elif name.startswith(PREFIX) and name not in (*VARIABLES, *OTHER_VARIABLES):
            names = [variable.removeprefix(PREFIX) for variable in (*VARIABLES, CONFIG_VARIABLE)]
            raise ConfigError(f"{name} is not a variable; {suggest(name.removeprefix(PREFIX), names, PREFIX)}")


def _parse_direct(key: str, origin: str, value: object, folder: str, environ: Mapping[str, str]) -> Setting:
    """Return a setting of a variable or the caller, whose value may be written as text."""
    if key.startswith(PROFILES):
        return check(Setting(key, _parse_option(key, str(value)), origin), folder, environ)
    row = find_key(key)
    if row is None:
        raise ConfigError(f"{origin}: {key} is not a key; {suggest(key, KEYS)}")
    if isinstance(value, str) and row.kind == HINTS:
        value = value.replace(";", " ").split()
    elif isinstance(value, str) and row.kind in (*UNITS, FLAG):
        with suppress(ValueError):
            value = {"true": True, "false": False}.get(value.lower(), value) if value.isalpha() else int(value)
    return check(Setting(key, value, origin), folder, environ)
