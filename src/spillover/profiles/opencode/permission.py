"""opencode's permission rules: of those whose permission and pattern match, the last one decides."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    #: {"permission": "task", "pattern": "*", "action": "allow" | "ask" | "deny"}, in order.
    Rules = Sequence[Mapping[str, str]]
else:
    Rules = object


def evaluate(permission: str, pattern: str, rules: Rules) -> str:
    """Return what the rules say to this: "allow", "ask" or "deny"; "ask" where none matches."""
    for rule in reversed(rules):
        if _matches(permission, rule.get("permission", "*")) and _matches(pattern, rule.get("pattern", "*")):
            return rule.get("action", "ask")
    return "ask"


def may_delegate(rules: Rules | None) -> bool:
    """Return whether an agent with these rules may use the tool `task`; None is no agent, which may not."""
    return rules is not None and evaluate("task", "*", rules) != "deny"


def allow_reading(rules: Rules, folder: str) -> Rules:
    """Return the rules with permission to read the folder of outputs, whatever they say of other folders.

    Without it a hint would name a file that may not be opened. Only a rule that denies exactly this folder is stronger.
    """
    everything = f"{folder}/*"
    told = [rule.get("action") for rule in rules if _names(rule, everything)]
    if told and told[-1] == "deny":
        return rules
    return [*rules, {"permission": "external_directory", "pattern": everything, "action": "allow"}]


def _names(rule: Mapping[str, str], pattern: str) -> bool:
    return rule.get("permission") == "external_directory" and rule.get("pattern") == pattern


def _matches(text: str, wildcard: str) -> bool:
    """Match `*` with anything, `?` with one character, and all else as it is written."""
    first, *others = wildcard.split("*")
    if not _stands(first, text, 0):
        return False
    if not others:
        return len(text) == len(first)
    at = len(first)
    for part in others[:-1]:  # the first place of each is enough: it leaves the most room to what follows
        found = next((place for place in range(at, len(text) + 1) if _stands(part, text, place)), None)
        if found is None:
            return False
        at = found + len(part)
    return at + len(others[-1]) <= len(text) and _stands(others[-1], text, len(text) - len(others[-1]))


def _stands(part: str, text: str, at: int) -> bool:
    """Return whether a part of a wildcard without `*` matches a text at this place."""
    here = text[at : at + len(part)]
    return len(here) == len(part) and all(one in ("?", other) for one, other in zip(part, here, strict=True))
