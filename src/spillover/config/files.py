"""Configuration files: which are read, and the settings in them."""

from __future__ import annotations

import os

from spillover.config.place import expanded, own
from spillover.config.values import KEYS, QUOTED_CHARS, RULE_KEYS, Setting, checked, in_rule, line_of, nearest, short
from spillover.data import dataclass, replace
from spillover.errors import ConfigError
from spillover.notice import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FILE, PYPROJECT, NAMED = "spillover.toml", "pyproject.toml", "SPILLOVER_CONFIG"


@dataclass(frozen=True, slots=True)
class File:
    """One file, read; `table` is ours in it."""

    path: str
    table: dict[str, Any]
    text: str

    def settings(self, environ: Mapping[str, str]) -> Iterator[Setting]:
        flat = list(self._flat({key: value for key, value in self.table.items() if key != "tools"}, KEYS))
        for pattern, rule in self.inner("tools", self.table.get("tools", {})).items():
            own = list(self._flat(self.inner(pattern, rule), RULE_KEYS))
            # An empty rule says that this tool is like the rest, whatever the patterns after it say.
            flat += [(in_rule(pattern, key), value) for key, value in own or [("clip", True)]]
        for key, value in flat:
            yield checked(Setting(key, value, self.path), os.path.dirname(self.path), environ, self.text)

    def inner(self, name: str, value: object) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        raise self._refused(name, f"{short(Setting(name, value, self.path))}: expected a table of keys.")

    def _flat(self, table: dict[str, Any], known: Mapping[str, str], under: str = "") -> Iterator[tuple[str, object]]:
        for key, value in table.items():
            name = under + key
            if name in known:
                yield name, value
            elif any(one.startswith(name + ".") for one in known):
                yield from self._flat(self.inner(name, value), known, name + ".")
            else:
                beside = [one.removeprefix(under).partition(".")[0] for one in known if one.startswith(under)]
                beside += ["tools"] if known is KEYS and not under else []
                what = "no key" if known is KEYS else "no key of a rule"
                near = nearest(key, dict.fromkeys(beside))
                raise self._refused(key, f"{one_line(name, QUOTED_CHARS)} is {what}; {near}")

    def _refused(self, key: str, words: str) -> ConfigError:
        return ConfigError(f"{self.path}{line_of(self.text, key)}: {words}")


def files_for(here: str, environ: Mapping[str, str]) -> list[File]:
    """What is read: the user's file, then the one that is named or else the project's."""
    named = environ.get(NAMED)
    if named in ("", "none"):
        return []
    user = _opened(os.path.join(own(environ, "XDG_CONFIG_HOME", ".config"), FILE))
    project = _project(here) if named is None else _opened(os.path.join(here, expanded(named, environ)))
    if named is not None and project is None:
        raise ConfigError(f'{NAMED}: there is no configuration at {named}; name another file, or "none".')
    return [file for file in ((user,) if user == project else (user, project)) if file]


def _project(folder: str) -> File | None:
    while True:
        if found := _opened(os.path.join(folder, FILE)) or _opened(os.path.join(folder, PYPROJECT)):
            return found
        below, folder = folder, os.path.dirname(folder)
        if folder == below:
            return None


def _opened(path: str) -> File | None:
    """The configuration in a file; None where there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        if not os.path.exists(path):  # also where a folder above may not be entered: nothing is known to be there
            return None
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    shared = os.path.basename(path) == PYPROJECT
    if shared and b"tool.spillover" not in data:
        return None
    import tomllib  # 10 ms, and most have no file

    try:
        text = data.decode()
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error
    whole = File(path, table, text)
    if not shared:
        return whole
    tool = table.get("tool")
    ours = tool.get("spillover") if isinstance(tool, dict) else None
    return None if ours is None else replace(whole, table=whole.inner("spillover", ours))
