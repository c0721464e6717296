"""Files, environment and arguments, merged into what holds here, with the origin of each value.

Weakest first: the defaults, the user's file, the project's file, SPILLOVER_* variables, what the caller gives.
A project's file that the user has not trusted narrows what holds without it (`narrow`), and nothing more. So does the
agent in whose shell we print (`Bound`).
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

from spillover.errors import ConfigError, SpilloverError, UsageError
from spillover.notice.hints import hints
from spillover.notice.words import one_line
from spillover.settings.limits import (
    DEFAULT_BYTES,
    DEFAULT_LINES,
    DEFAULT_TOKENS,
    DEFAULT_WORTH,
    LARGEST,
    SIZES,
    TIMES,
    Bound,
    Limits,
    read_amount,
)
from spillover.settings.place import DEADLINE_SECONDS, is_url, open_store
from spillover.settings.settings import KEEPS, REDACT, Settings
from spillover.settings.trust import SmallFile, read_small, state_of
from spillover.source.intake import MAX_STORED_BYTES
from spillover.store.folder import expand, user_folder
from spillover.store.named import NamedStore
from spillover.store.record import check_given_scope
from spillover.store.retention import Retention
from spillover.store.scopes import VARIABLE, folder_scope

# Which keys there are

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
_CHOSEN = {**dict.fromkeys(LIMITS, COUNT), "keep": WORD, "hints": HINTS, "cap": SIZE, "tokenizer": WORD}
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
    name = split(setting.key)[1]
    try:
        value = read(kind, setting.value)
        if name in LIMITS:
            Limits(**{name: value or None}).check_room()
        elif kind == HINTS:
            hints(value)
        elif name == "profile" and value not in profile_package().NAMES:
            raise UsageError(f"there is no such profile; use one of {', '.join(profile_package().NAMES)}.")
        elif name == "redact" and value not in REDACT:
            raise UsageError(f"use one of {', '.join(REDACT)}.")
        elif name == "scope":
            check_given_scope(value)
    except ValueError as error:
        words = str(error) if isinstance(error, UsageError) else f"expected {kind}."
        raise ConfigError(f"{setting.origin}{line_of(text, name)}: {explain_value(setting, words)}") from error
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
    takes_words = any(
        str in profile_package().KINDS[kind][0] for kind in profile_package().options(profile).get(name, ())
    )
    return text if takes_words and not isinstance(value, str) else value


def _check_option(setting: Setting, folder: str, environ: Mapping[str, str], text: str) -> Setting:
    """Return an option of a profile if the profile has it and takes such a value."""
    _, profile, name = setting.key.split(".", 2)
    profiles = profile_package()
    known = profiles.options(profile)
    where = f"{setting.origin}{line_of(text, name)}"
    if name not in known:
        raise ConfigError(f"{where}: {name} is not an option of {profile}; {nearest(name, known)}")
    kinds = [profiles.KINDS[kind] for kind in known[name]]
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


def nearest(
    word: str, known: Iterable[str], prefix: str = "", otherwise: str | None = None, likeness: float = 0.6
) -> str:
    """Ask whether the nearest of the known words is meant; where none is so near, name them all, or say something else."""
    from difflib import get_close_matches  # takes 5 ms to import, and only a complaint needs it

    near = get_close_matches(word, list(known), n=1, cutoff=likeness)
    if near:
        return f"did you mean {prefix}{near[0]}?"
    return f"use {', '.join(prefix + one for one in known)}." if otherwise is None else otherwise


def explain_value(setting: Setting, words: str) -> str:
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


# Files

#: The tables in a file whose keys are not ours to choose.
TABLES = ("tools", "profiles")
#: Who sees an output, and what of it: a slip in one of these is not passed over.
PRIVATE = ("redact", "scope", "store")
#: So alike a key and one of these are if one was meant. With less, `state` or `[core]` costs the file.
SLIP = 0.75
#: A suggestion for each takes its time, and a file with more was written for another program.
MOST_UNKNOWN = 20
#: A line with more dots may be a key with as many parts, and for those the parser's time grows with the square.
MOST_DOTS = 100


class Ignored(Struct, frozen=True):
    """What a file says in vain: one key of it, or all of it where the key is empty; and why."""

    path: str
    key: str
    why: str
    complaint: str = ""  # for whoever wrote a file that counts, with the line


class File(Struct, frozen=True):
    """One file, read; `table` is ours in it. What a file says that is not `trusted` may only narrow (`narrow`, below)."""

    path: str
    table: dict[str, Any]
    text: str
    trusted: bool = True

    def settings(self, environ: Mapping[str, str]) -> Iterator[Setting | Ignored]:
        """Yield every setting, and each key that there is not; ConfigError where the file cannot be used."""
        unknown = 0
        for key, value in self._pairs():
            if isinstance(value, Ignored):
                unknown += 1
                if unknown > MOST_UNKNOWN:
                    raise ConfigError(f"{self.path}: more than {MOST_UNKNOWN} keys are unknown; {value.why}.")
                yield replace(value, key=key)
            else:
                yield check(Setting(key, value, self.path), os.path.dirname(self.path), environ, self.text)

    def _pairs(self) -> Iterator[tuple[str, object]]:
        yield from self._flat({key: value for key, value in self.table.items() if key not in TABLES}, KEYS)
        for name, table in self.inner("profiles", self.table.get("profiles", {})).items():
            profiles = profile_package()
            if name in profiles.NAMES:
                known = dict.fromkeys((OPTIONS + f"{name}.{option}" for option in profiles.options(name)), "")
                yield from self._flat(self.inner(name, table), known, OPTIONS + f"{name}.")
            else:
                yield from self._flat({name: table}, dict.fromkeys(map(OPTIONS.__add__, profiles.NAMES), ""), OPTIONS)
        for pattern, rule in self.inner("tools", self.table.get("tools", {})).items():
            empty = True
            for key, value in self._flat(self.inner(pattern, rule), RULE_KEYS):
                empty = False
                yield in_rule(pattern, key), value
            if empty:  # it says that this tool is like the rest, whatever the patterns after it say
                yield in_rule(pattern, "clip"), True

    def inner(self, name: str, value: object) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        raise self._refuse(name, f"{short(Setting(name, value, self.path))}: expected a table of keys.")

    def _flat(self, table: dict[str, Any], known: Mapping[str, str], under: str = "") -> Iterator[tuple[str, object]]:
        for key, value in table.items():
            name = under + key
            if name in known:
                yield name, value
            elif any(one.startswith(name + ".") for one in known):
                yield from self._flat(self.inner(name, value), known, name + ".")
            else:
                beside = [one.removeprefix(under).partition(".")[0] for one in known if one.startswith(under)]
                beside += TABLES if known is KEYS and not under else ()
                what = "not a key of a rule" if known is RULE_KEYS else "not a key"
                words = f"{one_line(name, QUOTED_CHARS)} is {what}; {nearest(key, dict.fromkeys(beside))}"
                refusal = self._refuse(key, words)
                if nearest(key, PRIVATE, otherwise="", likeness=SLIP):  # the reader of the file relies on it
                    raise refusal
                yield name, Ignored(self.path, name, words.rstrip("."), str(refusal))

    def _refuse(self, key: str, words: str) -> ConfigError:
        return ConfigError(f"{self.path}{line_of(self.text, key)}: {words}")


def parse(path: str, data: bytes, *, trusted: bool = True) -> File | None:
    """Return the configuration in a file; None if it has none of ours (`speaks_of_us` tells quickly)."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > MOST_DOTS:
            raise ConfigError(f"{path}:{number}: more than {MOST_DOTS} dots in one line; break it up.")
    import tomllib  # with the parser 10 ms, and most have no file

    try:
        text = data.decode()
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {one_line(str(error), 2 * QUOTED_CHARS)}.") from error
    whole = File(path, table, text, trusted)
    if os.path.basename(path) != PYPROJECT:
        return whole
    tool = table.get("tool")
    ours = tool.get("spillover") if isinstance(tool, dict) else None
    return None if ours is None else replace(whole, table=whole.inner("spillover", ours))


#: What a configuration is called, by itself and as a part of another file.
FILE, PYPROJECT = "spillover.toml", "pyproject.toml"
NAMED = "SPILLOVER_CONFIG"
CHANGED = "it has changed since you trusted it; read it again, then run `spill trust`"


def files_for(here: str, environ: Mapping[str, str], uid: int) -> tuple[list[File], list[Ignored]]:
    """Return the files to read (the user's, then the named one or the project's), and what is ignored and why."""
    named = environ.get(NAMED)
    if named in ("", "none"):
        return [], []
    user, user_file_id = users_file(environ, uid)
    if named is None:
        project, ignored = _project(here, environ, uid, user_file_id)
    else:
        project, ignored = _read_named(os.path.join(here, expand(named, environ)), named, user_file_id), []
    return [file for file in (user, project) if file], ignored


def users_file(environ: Mapping[str, str], uid: int) -> tuple[File | None, tuple[int, int] | None]:
    """Return the user's own file, and its device and inode. Many keep it in a repository of dotfiles, with a link to it."""
    path = os.path.join(user_folder(environ, "XDG_CONFIG_HOME", ".config"), FILE)
    taken = read_small(path, uid=uid, links=True)
    return (None, None) if taken is None else (_read_own(path, taken), taken.id)


def find_project(folder: str, environ: Mapping[str, str]) -> str:
    """Return the topmost folder to search for a project's file: the repository's root, else home, else this folder."""
    home = os.path.realpath(expand("~", environ))
    at = folder
    while not os.path.lexists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if at == home and at != above:  # a home that is "/" is none
            return home
        if at == above:
            return folder
        at = above
    return at


def candidates(here: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield where a project's configuration may be, the nearest first."""
    top = find_project(here, environ)
    while True:
        for name in (FILE, PYPROJECT):
            yield os.path.join(here, name)
        if here == top:
            return
        here = os.path.dirname(here)


def speaks_of_us(path: str, data: bytes) -> bool:
    """Return whether a file can contain our configuration; most projects have a pyproject.toml without it."""
    return os.path.basename(path) != PYPROJECT or b"tool.spillover" in data


def _read_own(path: str, taken: SmallFile) -> File | None:
    """Return a file of the user's own. Whatever is wrong with it is an error: skipping it would be a surprise."""
    if taken.problem:
        raise ConfigError(f"{path} is not used: {taken.problem}.")
    if not speaks_of_us(path, taken.data):
        return None
    return parse(path, taken.data)


def _read_named(path: str, named: str, users: tuple[int, int] | None) -> File | None:
    taken = read_small(path, uid=None, links=True)  # who names a file answers for whose it is
    if taken is None:
        raise ConfigError(f'{NAMED}: there is no configuration at {named}; name another file, or "none".')
    return None if taken.id == users else _read_own(path, taken)


def _project(
    here: str, environ: Mapping[str, str], uid: int, users: tuple[int, int] | None
) -> tuple[File | None, list[Ignored]]:
    """Return the nearest file that may be used. An untrusted one never stops a command, whatever is in it."""
    ignored: list[Ignored] = []
    for path in candidates(here, environ):
        taken = read_small(path, uid=uid)
        if taken is None or ((taken.data or not taken.problem) and not speaks_of_us(path, taken.data)):
            continue
        if taken.id == users:
            return None, ignored
        if taken.problem:
            ignored.append(Ignored(path, "", taken.problem))
            continue
        state, wrong = state_of(path, taken.data, environ, uid)
        if wrong:
            ignored.append(Ignored(path, "", wrong))
        try:
            file = parse(path, taken.data, trusted=state == "trusted")
        except ConfigError as error:
            if state == "trusted":
                raise
            ignored.append(Ignored(path, "", str(error).removeprefix(f"{path} ").rstrip(".")))
            return None, ignored
        if file is not None:
            if state == "changed":
                ignored.append(Ignored(path, "", CHANGED))
            return file, ignored
    return None, ignored


# What a project's file may say before the user has trusted it

#: Everything that is not here needs trust, and so does every key that is added one day.
ALLOWED = frozenset({*LIMITS, "keep"})
#: More than this nobody writes by hand; reading it at every tool call would take its time.
MOST_RULES, MOST_SETTINGS, PATTERN_CHARS = 100, 500, 100

NEEDS_TRUST = "a project may only lower limits and choose keep; to allow more, read the file, then run `spill trust`"


def narrow(
    file: File, held: Mapping[str, Setting], said: Mapping[str, Setting], environ: Mapping[str, str]
) -> tuple[dict[str, Setting], list[Ignored]]:
    """Return which settings of a file apply, over those in effect without it, and what is ignored.

    What the caller or the environment has `said` for all tools stays, as it does for any file.
    """
    if too_many := _too_many(file):
        return {}, [Ignored(file.path, "", too_many)]
    applied: dict[str, Setting] = {}
    ignored: list[Ignored] = []
    order: dict[str, None] = {}

    def judge(setting: Setting) -> None:
        if why := _why_not(setting, lambda key: applied.get(key) or held.get(key)):
            ignored.append(Ignored(file.path, _clean(str(setting)), why))
        elif split(setting.key)[1] not in said:
            applied[setting.key] = setting

    for one in _one_by_one(file, environ):
        if isinstance(one, Ignored):
            ignored.append(one)
            continue
        order[one.key] = None
        pattern, name = split(one.key)
        if name == "clip" and _is_empty(file.table["tools"][pattern]):
            applied.update({} if any(split(key)[0] == pattern for key in held) else {one.key: one})
        else:
            judge(one)
    return {key: applied[key] for key in order if key in applied}, ignored


def _why_not(setting: Setting, held: Callable[[str], Setting | None]) -> str:
    """Return why a setting would not narrow; "" if it does, or changes nothing."""
    pattern, name = split(setting.key)
    if name not in ALLOWED:
        return NEEDS_TRUST
    if name == "keep":
        return "" if setting.value in KEEPS else f"there is no such part; use one of {', '.join(KEEPS)}"

    def size(key: str) -> int:
        """Return the value in effect for this rule, or for all tools if the rule does not set it."""
        holds = (held(in_rule(pattern, key)) if pattern is not None else None) or held(key)
        return int(read(kind_of(key), holds.value if holds else 0))

    new, old = int(read(kind_of(setting.key), setting.value)), size(name)
    if new == old:
        return ""
    if new == 0 or 0 < old < new:
        return f"that is more than the {old:,} that hold without it; {NEEDS_TRUST}"
    return ""


def _one_by_one(file: File, environ: Mapping[str, str]) -> Iterator[Setting | Ignored]:
    """Yield each setting by itself, so that a mistake costs only its own key."""
    rules = file.table.get("tools", {})
    for key, value in file.table.items():
        if key != "tools" or not isinstance(rules, dict):
            yield from _settings(file, {key: value}, key, environ)
    for pattern, rule in rules.items() if isinstance(rules, dict) else ():
        if len(pattern) > PATTERN_CHARS:
            yield Ignored(
                file.path, _clean(f"tools.{pattern}"), f"the pattern has more than {PATTERN_CHARS} characters"
            )
        elif isinstance(rule, dict) and not _is_empty(rule):
            for key, value in rule.items():
                yield from _settings(file, {"tools": {pattern: {key: value}}}, in_rule(pattern, key), environ)
        else:
            yield from _settings(file, {"tools": {pattern: rule}}, f"tools.{pattern}", environ)


def _settings(
    file: File, table: dict[str, object], key: str, environ: Mapping[str, str]
) -> Iterator[Setting | Ignored]:
    part = replace(file, table=table, text="")
    found: list[Setting | Ignored]
    try:
        found = list(part.settings(environ))
    except ConfigError as error:
        found = [Ignored(file.path, key, str(error).removeprefix(f"{file.path}: ").rstrip("."))]
    for one in found:
        yield replace(one, key=_clean(one.key), complaint="") if isinstance(one, Ignored) else one


def _too_many(file: File) -> str:
    rules = file.table.get("tools", {})
    if not isinstance(rules, dict):
        return ""
    if len(rules) > MOST_RULES:
        return f"it has more than {MOST_RULES} rules; {NEEDS_TRUST}"
    if len(file.table) + sum(len(rule) for rule in rules.values() if isinstance(rule, dict)) > MOST_SETTINGS:
        return f"it has more than {MOST_SETTINGS} settings; {NEEDS_TRUST}"
    return ""


def _is_empty(rule: object) -> bool:
    """Return whether a rule only exempts its tools from the rules after it."""
    return isinstance(rule, dict) and all(value == {} for value in rule.values())


def _clean(text: str) -> str:
    return one_line(text, QUOTED_CHARS)


# The agent whose shell we print in


def _lower_to_bound(values: dict[str, Setting], bound: Bound) -> None:
    """Lower every limit, in the rules too, to what the agent shows and what the rule for its shell allows."""
    patterns = [None, *dict.fromkeys(pattern for key in values if (pattern := split(key)[0]) is not None)]
    ruled = {key: _effective(values, key, _rule_for(patterns, bound.shell)) for key in (*LIMITS, "tokenizer")}
    most = {name: _lower(ruled[name], bound.shown.get(name, 0), bound.origin) for name in LIMITS}
    for pattern in patterns:
        for name in LIMITS:
            key = name if pattern is None else in_rule(pattern, name)
            if key in values and _number(most[name]):
                values[key] = replace(_lower(values[key], _number(most[name]), most[name].origin), key=key)
        counter = "tokenizer" if pattern is None else in_rule(pattern, "tokenizer")
        if counter in values and not _is_callers(values[counter]):
            values[counter] = replace(ruled["tokenizer"], key=counter)


def _rule_for(patterns: list[str | None], tool: str) -> str | None:
    return next((pattern for pattern in patterns if pattern is not None and fnmatchcase(tool, pattern)), None)


def _effective(values: Mapping[str, Setting], name: str, pattern: str | None) -> Setting:
    """Return the value in effect under a rule: its own, or the one for all tools."""
    own = None if pattern is None else values.get(in_rule(pattern, name))
    return own or values[name]


def _lower(setting: Setting, most: int, origin: str) -> Setting:
    """Return the setting, lowered to this many if it is higher or not set; the caller's own stays."""
    if not most or _is_callers(setting) or 0 < _number(setting) <= most:
        return setting
    return Setting(setting.key, most, origin)


def _number(setting: Setting) -> int:
    return int(read(kind_of(setting.key), setting.value))


def _is_callers(setting: Setting) -> bool:
    return setting.origin.startswith("--")


# Everything together


def profile_package() -> Any:
    """Return the profiles: they are made of settings, and a name in a file is all that leads to one."""
    return import_module("spillover.profiles")


PREFIX = "SPILLOVER_"
VARIABLES = {PREFIX + key.upper().replace(".", "_"): key for key in KEYS}
RETENTION = tuple(f"retention.{name}" for name in ("age", "bytes", "count", "grace", "runs"))
#: What a profile decides where nobody sets it.
PROFILES_OWN = ("limits", "keep", "tokenizer", "store")
TEXTS = ("profile", "scope")  # used as they are, and empty where nobody says
#: Ours too, but no settings.
OTHERS = (NAMED, "SPILLOVER_CONTEXT_TOKENS", "SPILLOVER_DEBUG")


class Loaded(Struct, frozen=True):
    """What holds, by flat key ("tokens", "tools.bash*.keep"), the files that were read, and what was ignored."""

    values: Mapping[str, Setting]
    files: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    project: str | None = None  # a folder: its project is the scope, where nobody names one

    def choices(self) -> dict[str, Any]:
        """Return the values as options of a Clipper; ConfigError for what a Clipper would refuse."""
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
            held_against = LIMITS if name == "tokenizer" else ()
            with self._blaming(*keys, *held_against):
                chosen[name] = _choice(name, values)
                Settings(**chosen)
        rules: dict[str, dict[str, Any]] = {}
        for pattern, ruled in _by_pattern(values).items():
            with self._blaming(*(in_rule(pattern, key) for key in ruled)):
                named = (name for name, keys in CHOICES.items() if ruled.keys() & keys)
                rule = {name: _choice(name, {**values, **ruled}) for name in named}
                rules[pattern] = rule | {key: ruled[key] for key in ruled if key == "clip"}
                Settings(**chosen, rules={pattern: rules[pattern]})
        return {**chosen, "rules": rules}

    def settings(self, **others: Any) -> Settings:
        """Return these values as Settings, with the wording and file names of the profile if there is one."""
        profile = self.values["profile"].value
        chosen = self.choices()
        if not profile:
            return Settings(**{**chosen, **others})
        # The options of a profile may set the limits, and a command may choose `keep`.
        own = {name for name in PROFILES_OWN if not any(map(self._is_set, CHOICES.get(name, (name,))))}
        chosen = {name: value for name, value in chosen.items() if name not in own}
        options = [key for key in self.values if key.startswith(f"{OPTIONS}{profile}.")]
        chosen |= {key.removeprefix(f"{OPTIONS}{profile}."): self.values[key].value for key in options}
        with self._blaming("profile", *options):
            settings: Settings = profile_package().named(str(profile)).clipper(**{**chosen, **others}).settings
        if isinstance(settings.store, NamedStore) and any(map(self._is_set, RETENTION)):
            settings = settings.but(store=replace(settings.store, retention=self.retention()))
        return settings

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
                words = str(error) if typed else explain_value(said[0], str(error))
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
    bounds: Sequence[Bound] = (),
    uid: int | None = None,
) -> Loaded:
    """Return the settings from every source; `given` are the caller's values by flat key, None if not given.

    `bounds`: the agents in whose shell we print. Limits are lowered to what they show, except for those on the command line
    and those of a profile, which behaves like its own system wherever it runs. Files count only if they belong to `uid`,
    which is the user of this process, or to root.
    """
    environ = os.environ if environ is None else environ
    here = _here() if cwd is None else os.path.realpath(cwd)
    files, ignored = files_for(here, environ, os.geteuid() if uid is None else uid)
    caller = [(key, given_origin(key), value) for key, value in (given or {}).items() if value is not None]
    said: dict[str, Setting] = {}
    for key, origin, value in (*caller, *_variables(environ)):
        said.setdefault(key, _read_given(key, origin, value, here, environ))
    loaded = replace(settle(files, said, environ, ignored), project=cwd)
    if not bounds or loaded.values["profile"].value:
        return loaded
    values = dict(loaded.values)
    for bound in bounds:
        _lower_to_bound(values, bound)
    return replace(loaded, values=values)


def settle(
    files: Sequence[File], said: Mapping[str, Setting], environ: Mapping[str, str], ignored: Sequence[Ignored] = ()
) -> Loaded:
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
    made = Loaded({key: merged[key] for key in KEYS} | merged, tuple(file.path for file in files), tuple(ignored))
    for file in files:
        made = made if file.trusted else _narrow_by(made, file, said, environ)
    return made


def needs_trust(file: File, environ: Mapping[str, str]) -> tuple[Ignored, ...]:
    """Return what of a project's file would be ignored if it were not trusted."""
    user, _ = users_file(environ, os.geteuid())
    return settle([*([user] if user else []), replace(file, trusted=False)], {}, environ).ignored


def _narrow_by(settings: Loaded, file: File, said: Mapping[str, Setting], environ: Mapping[str, str]) -> Loaded:
    """Return the settings narrowed by an untrusted file. Its rules come after all others, so that none is overruled."""
    applied, ignored = narrow(file, settings.values, said, environ)
    made = replace(settings, values={**settings.values, **applied}, ignored=(*settings.ignored, *ignored))
    try:
        if applied:
            made.settings()
    except SpilloverError as error:  # each narrows, and together they cannot be used: no reason to stop a command
        why = Ignored(file.path, "", f"it cannot be used together with what holds here ({str(error).rstrip('.')})")
        return replace(settings, ignored=(*settings.ignored, why))
    return made


def _from_profile(chosen: Setting | None) -> Iterator[Setting]:
    """Yield the settings of a profile; a limit that it does not set is removed."""
    if chosen is None:
        return
    said = {**dict.fromkeys(LIMITS, 0), **profile_package().named(str(chosen.value)).SETTINGS}
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
        "cap": MAX_STORED_BYTES,
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
    if name != "limits":
        return values[keys[0]]
    sizes = {key: values[key] or None for key in keys}
    if not any(sizes.values()):
        raise UsageError(f"{', '.join(LIMITS)} are all 0; set one of them.")
    return Limits(**sizes)


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
