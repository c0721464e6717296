"""The agent whose shell runs us, by what it sets in the environment, and the limits that hold for what we print there.

What `spill` prints in an agent's shell is a result of that shell: the agent cuts it, and the hook clips it, like any other. So
that an answer is never cut again, it is made to fit what the agent shows, and what the rule for its shell allows.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from spillover.config.values import LIMITS, TRIGGER, Setting, in_rule, kind_of, read, split
from spillover.hosts import Host, hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillover.config.settings import Settings


def limits_of_failing(environ: Mapping[str, str] | None = None) -> dict[str, int]:
    """Return what the agents that run us show of a command that failed, where that is less than of others."""
    found = hosts(os.environ if environ is None else environ)
    lower = [host.shown_of_failing for host in found if host.shown_of_failing]
    return {
        name: min(each[name] for each in lower if name in each) for name in {name for each in lower for name in each}
    }


def within(settings: Settings, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings for what is printed in an agent's shell; options on the command line stay.

    A profile behaves like its own system wherever it runs, and is left as it is.
    """
    found = hosts(os.environ if environ is None else environ)
    if not found or settings.values["profile"].value:
        return settings
    values = dict(settings.values)
    for host in found:
        _narrow(values, host)
    return replace(settings, values=values)


def _narrow(values: dict[str, Setting], host: Host) -> None:
    """Lower every limit, in the rules too, to what the host shows and what the rule for its shell allows."""
    patterns = [None, *dict.fromkeys(pattern for key in values if (pattern := split(key)[0]) is not None)]
    ruled = {key: _effective(values, key, _rule_for(patterns, host.shell)) for key in (*LIMITS, *TRIGGER, "tokenizer")}
    bound = {name: _lower(ruled[name], host.shown.get(name, 0), host) for name in LIMITS}
    if any(_number(ruled[name]) for name in TRIGGER):  # up to here nothing is cut
        for name in TRIGGER:
            bound[name] = _lower(ruled[name], host.shown.get(split(name)[1].rpartition(".")[2], 0), host)
    for pattern in patterns:
        triggered = any(_number(_effective(values, name, pattern)) for name in TRIGGER)
        for name in (*LIMITS, *TRIGGER):
            key = name if pattern is None else in_rule(pattern, name)
            if key not in values or (name in TRIGGER and not triggered):
                continue
            if name in TRIGGER and name not in bound:  # the hook has none, and would cut
                values[key] = Setting(key, 0, f"{host.name} (as seen in {host.seen_in})")
            elif _number(bound[name]):
                values[key] = replace(_lower(values[key], _number(bound[name]), bound[name]), key=key)
        for name in LIMITS:  # a limit is never above where cutting begins
            limit, trigger = (_effective(values, each, pattern) for each in (name, f"trigger.{name}"))
            if 0 < _number(trigger) < _number(limit) and not _is_callers(limit):
                key = name if pattern is None else in_rule(pattern, name)
                values[key] = replace(trigger, key=key)
        counter = "tokenizer" if pattern is None else in_rule(pattern, "tokenizer")
        if counter in values and not _is_callers(values[counter]):
            values[counter] = replace(ruled["tokenizer"], key=counter)


def _rule_for(patterns: list[str | None], tool: str) -> str | None:
    from fnmatch import fnmatchcase  # most run in no agent

    return next((pattern for pattern in patterns if pattern is not None and fnmatchcase(tool, pattern)), None)


def _effective(values: Mapping[str, Setting], name: str, pattern: str | None) -> Setting:
    """Return the value in effect under a rule: its own, or the one for all tools."""
    own = None if pattern is None else values.get(in_rule(pattern, name))
    return own or values[name]


def _lower(setting: Setting, most: int, origin: Host | Setting) -> Setting:
    """Return the setting, lowered to this many if it is higher or not set; the caller's own stays."""
    if not most or _is_callers(setting) or 0 < _number(setting) <= most:
        return setting
    said = f"{origin.name} (as seen in {origin.seen_in})" if isinstance(origin, Host) else origin.origin
    return Setting(setting.key, most, said)


def _number(setting: Setting) -> int:
    return int(read(kind_of(setting.key), setting.value))


def _is_callers(setting: Setting) -> bool:
    return setting.origin.startswith("--")
