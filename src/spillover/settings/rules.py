"""Rules: other settings for tools and commands whose name matches a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol, TypeVar

from spillover.errors import UsageError
from spillover.settings.limits import SIZES, SMALLEST, Limits, read_amount

#: What a rule may set: the options of a Clipper, and the limits one by one, as in a configuration file.
KEYS = frozenset(
    {
        "limits",
        "trigger",
        "keep",
        "store",
        "tokenizer",
        "hints",
        "cap",
        "wording",
        "notice",
        "raw",
        "worth",
        "since",
        "clip",
        *SMALLEST,
    }
)


class HasPattern(Protocol):
    """A rule, as far as finding it goes."""

    @property
    def pattern(self) -> str:
        """The names it is for: `pytest*`, or `npm *` for a command."""


AnyRule = TypeVar("AnyRule", bound=HasPattern)


def find_rule(rules: Sequence[AnyRule], tool: str) -> AnyRule | None:
    """Return the first rule whose pattern matches the name of a tool."""
    for rule in rules:
        if fnmatchcase(tool, rule.pattern):
            return rule
    return None


def find_command_rule(rules: Sequence[AnyRule], command: str) -> AnyRule | None:
    """Return the first rule that is for a command and matches this line of shell."""
    if not command:
        return None
    for rule in rules:
        if is_for_commands(rule.pattern) and matches_command(rule.pattern, command):
            return rule
    return None


def is_for_commands(pattern: str) -> bool:
    """Return whether a rule is for what is run, and not for the tool that runs it: no tool has a space in its name."""
    return " " in pattern


def matches_command(pattern: str, command: str) -> bool:
    """Return whether one of the commands in a line is what a pattern means; `npm *` means `npm` alone, too."""
    ends = pattern.endswith(" *")
    return any(
        fnmatchcase(piece, pattern) or (ends and fnmatchcase(piece, pattern[:-2]))
        for piece in (*commands_in(command), " ".join(command.split()))
    )


def commands_in(line: str) -> list[str]:
    """Return the commands of a line of shell, roughly: what stands between `&&`, `;` and `|`, without variables before it."""
    for separator in ("&&", "||", "|&", "|", ";", "\n"):
        line = line.replace(separator, "\0")
    pieces = []
    for piece in line.split("\0"):
        words = piece.split()
        while words and words[0].partition("=")[0].isidentifier() and "=" in words[0]:
            words = words[1:]
        if words:
            pieces.append(" ".join(words))
    return pieces


def read_rule(rule: Mapping[str, Any], limits: Limits, trigger: Limits | None) -> dict[str, Any]:
    """Return a rule as changes of Settings. A limit that it does not name stays as it is for all tools."""
    read = {key: value for key, value in rule.items() if key not in (*SMALLEST, "clip")}
    sizes = {key: value for key, value in rule.items() if key in SMALLEST}
    if sizes:
        read["limits"] = _merge(read.get("limits", limits), sizes)
        if read["limits"] is None:
            raise UsageError("a rule must leave at least one limit.")
    if isinstance(read.get("trigger"), Mapping):
        read["trigger"] = _merge(trigger, read["trigger"])
    if isinstance(read.get("cap"), str):
        read["cap"] = _read_cap(read["cap"])
    return read


def check_rule(pattern: str, rule: Mapping[str, Any]) -> None:
    """Raise a UsageError for what is no rule, and for a key that no rule has."""
    if not isinstance(pattern, str) or not hasattr(rule, "items"):
        raise UsageError(
            f'the rule for {pattern!r:.80} is not settings by name; use e.g. {{"pytest*": {{"keep": "tail"}}}}.'
        )
    for key in rule:
        if key not in KEYS:
            raise UsageError(f"the rule for {pattern!r} has {key!r}; a rule may set {', '.join(sorted(KEYS))}.")
    if "clip" in rule and is_for_commands(pattern):
        raise UsageError(f"the rule for {pattern!r} has 'clip'; a tool can be left alone, not a command.")


def _merge(held: Limits | None, sizes: Mapping[str, Any]) -> Limits | None:
    """Return the limits with some of them changed; 0 and False remove one."""
    for name in sizes:
        if name not in SMALLEST:
            raise UsageError(f"a rule has no limit {name!r}; use {', '.join(SMALLEST)}.")
    changed = {name: value or None for name, value in sizes.items()}
    merged = {**(dict(held.given()) if held else {}), **changed}
    return Limits(**merged) if any(merged.values()) else None


def _read_cap(text: str) -> int:
    try:
        return read_amount(text, SIZES)
    except ValueError:
        raise UsageError(f'cap={text!r} is not a size; use a number of bytes, or one with its unit: "2 GiB".') from None
