"""Claude Code's permission rules for Bash, as far as they must be known: whether one that denies or asks speaks of a command.

Claude Code matches its rules on the line that a hook gives back. `Bash(rm:*)` under `deny` would not stop `spill sh 'rm -rf x'`. So a
line that such a rule may speak of is never changed: whether it runs is Claude Code's to say, of the line as it came.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from spillover.base.jsonc import read_jsonc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOOL = "Bash"
#: A file of settings is not larger.
MOST_BYTES = 1 << 22
MANAGED = ("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")


def settings_files(environ: Mapping[str, str], project: str) -> list[str]:
    """Return where rules can stand: those of the machine, the user and the project."""
    home = environ.get("HOME") or os.path.expanduser("~")
    user = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    here = os.path.join(project, ".claude")
    return [
        *MANAGED,
        os.path.join(user, "settings.json"),
        os.path.join(here, "settings.json"),
        os.path.join(here, "settings.local.json"),
    ]


def rules_in(files: Iterable[str], kinds: Sequence[str] = ("deny", "ask")) -> list[str] | None:
    """Return what the rules for Bash speak of; None where a file cannot be read, so that nothing is known."""
    out: list[str] = []
    for path in files:
        try:
            with open(path, "rb") as file:
                said = read_jsonc(file.read(MOST_BYTES).decode())
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            return None
        permissions = said.get("permissions") if isinstance(said, dict) else None
        for kind in kinds:
            rules = permissions.get(kind) if isinstance(permissions, dict) else None
            out += [rule for rule in rules or () if isinstance(rule, str) and rule.partition("(")[0].strip() == TOOL]
    return out


def may_speak_of(rules: Sequence[str], commands: Sequence[Sequence[str]]) -> bool:
    """Return whether a rule may be about one of these commands: rather once too often than once too seldom."""
    patterns = [rule.partition("(")[2].rstrip().removesuffix(")").strip() for rule in rules]
    if any(pattern in ("", "*", ":*") for pattern in patterns):
        return bool(patterns)
    for words in commands:
        for start in range(len(words)):  # `timeout 5 rm x` runs rm
            text = " ".join(words[start:])
            if any(_matches(pattern, text) for pattern in patterns):
                return True
    return False


def _matches(pattern: str, text: str) -> bool:
    prefix = pattern.removesuffix(":*").removesuffix("*").rstrip()
    if text == prefix or text.startswith(f"{prefix} "):
        return True
    return not pattern.endswith(":*") and fnmatchcase(text, pattern)
