"""One configuration file: what is in it, as settings. Imported where there is a file, and most have none."""

from __future__ import annotations

import os
import tomllib

from msgspec import Struct
from msgspec.structs import replace

from spillover.config.place import PYPROJECT
from spillover.config.values import (
    KEYS,
    OPTIONS,
    QUOTED_CHARS,
    RULE_KEYS,
    Setting,
    check,
    in_rule,
    line_of,
    nearest,
    short,
)
from spillover.errors import ConfigError
from spillover.notice.words import one_line
from spillover.profiles import NAMES as PROFILES
from spillover.profiles import options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: The tables in a file whose keys are not ours to choose.
TABLES = ("tools", "profiles")
#: Who sees an output, and what of it: a slip in one of these is not passed over.
PRIVATE = ("redact", "scope", "store")
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
    """One file, read; `table` is ours in it. What a file says that is not `trusted` may only narrow (`config.narrow`)."""

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
            if name in PROFILES:
                known = dict.fromkeys((OPTIONS + f"{name}.{option}" for option in options(name)), "")
                yield from self._flat(self.inner(name, table), known, OPTIONS + f"{name}.")
            else:
                yield from self._flat({name: table}, dict.fromkeys(map(OPTIONS.__add__, PROFILES), ""), OPTIONS)
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
                if nearest(key, PRIVATE, otherwise=""):  # the reader of the file relies on it
                    raise refusal
                yield name, Ignored(self.path, name, words.rstrip("."), str(refusal))

    def _refuse(self, key: str, words: str) -> ConfigError:
        return ConfigError(f"{self.path}{line_of(self.text, key)}: {words}")


def parse(path: str, data: bytes, *, trusted: bool = True) -> File | None:
    """Return the configuration in a file; None if it has none of ours (`speaks_of_us` tells quickly)."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > MOST_DOTS:
            raise ConfigError(f"{path}:{number}: more than {MOST_DOTS} dots in one line; break it up.")
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
