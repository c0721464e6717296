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
    """What the rules say to this: "allow", "ask" or "deny"; to ask is what they say where none matches."""
    for rule in reversed(rules):
        if _matches(permission, rule.get("permission", "*")) and _matches(pattern, rule.get("pattern", "*")):
            return rule.get("action", "ask")
    return "ask"


def may_delegate(rules: Rules | None) -> bool:
    """Whether an agent with these rules may use the tool `task`; no agent may not."""
    return rules is not None and evaluate("task", "*", rules) != "deny"


def reading(rules: Rules, folder: str) -> Rules:
    """The rules with leave to read what is in the folder of outputs, whatever they say of other folders.

    Only a rule that denies exactly that is stronger: without it a hint would name a file that may not be opened.
    """
    everything = f"{folder}/*"
    told = [rule.get("action") for rule in rules if _names(rule, everything)]
    if told and told[-1] == "deny":
        return rules
    return [*rules, {"permission": "external_directory", "pattern": everything, "action": "allow"}]


def _names(rule: Mapping[str, str], pattern: str) -> bool:
    return rule.get("permission") == "external_directory" and rule.get("pattern") == pattern


def _matches(text: str, wildcard: str) -> bool:
    """`*` for anything, `?` for one character; all else as it is written."""
    import re  # only those who have rules pay for it

    pattern = "".join(".*" if char == "*" else "." if char == "?" else re.escape(char) for char in wildcard)
    return re.fullmatch(pattern, text, re.DOTALL) is not None
