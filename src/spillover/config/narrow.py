"""What a project's file may say before the user has trusted it: lower limits, choose `keep`, and nothing else."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.config.file import File, Ignored
from spillover.config.values import LIMITS, QUOTED_CHARS, TRIGGER, Setting, in_rule, kind_of, read, split
from spillover.errors import ConfigError
from spillover.notice.words import one_line
from spillover.select import KEEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: Everything that is not here needs trust, and so does every key that is added one day.
ALLOWED = frozenset({*LIMITS, *TRIGGER, "keep"})
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
    triggers: list[Setting] = []

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
        if name in TRIGGER:
            triggers.append(one)  # held against the limits, which may come later in the file
        elif name == "clip" and _is_empty(file.table["tools"][pattern]):
            applied.update({} if any(split(key)[0] == pattern for key in held) else {one.key: one})
        else:
            judge(one)
    for one in triggers:
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
    if name in TRIGGER and not any(map(size, TRIGGER)):
        return f"nothing but the limits holds here, so a trigger would let more through; {NEEDS_TRUST}"
    if new == 0 or 0 < old < new:
        return f"that is more than the {old:,} that hold without it; {NEEDS_TRUST}"
    if name in TRIGGER and new < size(name.removeprefix("trigger.")):
        return "that is less than the limit"
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
