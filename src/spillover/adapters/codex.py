"""Codex's PreToolUse hook: a shell line comes back inside `spill sh`. What a command printed cannot be replaced there.

Codex takes a changed line only beside `"permissionDecision": "allow"`. That approves nothing: with approvals on, the person is
asked about the changed line (seen in 0.169). But rules (`*.rules`) are matched on the changed line, too, so that a line with a
program that a rule names stays as it came.
"""

from __future__ import annotations

import os
import re
import sys

from spillover.adapters.hooked import words_of
from spillover.adapters.rewrite import COMMAND, rewrite_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from spillover.clipper import Clipper

HINTS = ("cli",)
EVENT, SHELL = "PreToolUse", "Bash"
#: Rules of the machine, beside those of the user and of the project.
MACHINE = "/etc/codex"
#: A file of rules is not larger.
MOST_BYTES = 1 << 20
#: A login shell, which is what Codex runs lines in, finds programs here whatever the user's profile says.
ALWAYS_FOUND = ("/usr/local/bin", "/usr/bin", "/bin")
_QUOTED = re.compile(r"\"([^\"\n]*+)\"|'([^'\n]*+)'")
_COMMENT = re.compile(r"(?m)^[ \t]*+#.*+$")
_BEHIND = re.compile(r"#.*+")
#: What can make a word out of others; a file with one of these is not read for certain.
_COMPUTED = re.compile(r"[+%\\]|\b(?:def|for|format|join|lambda|load)\b")


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:  # noqa: ARG001  as all hooks are called
    """Return what the hook answers; None where nothing changes."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT or event.get("tool_name") != SHELL:
        return None
    given = event.get("tool_input")
    line = words_of(given, "command")
    if not isinstance(given, dict) or not line:
        return None
    named = names_in_rules(rule_files(os.environ, words_of(event, "cwd") or os.curdir))
    if named is None:  # a rule may stand in what cannot be read
        return None
    new = rewrite_line(line, lambda commands: _is_named(named, commands), command=_find_ourselves())
    if new is None:
        return None
    said = {"hookEventName": EVENT, "permissionDecision": "allow", "updatedInput": {**given, "command": new}}
    return {"hookSpecificOutput": said}


def rule_files(environ: Mapping[str, str], cwd: str) -> Iterator[str]:
    """Yield where rules can stand: those of the machine, of the user, and of every folder above the working one."""
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".codex")
    yield from (os.path.join(MACHINE, "requirements.toml"), os.path.join(home, "requirements.toml"))
    folders = [MACHINE, home]
    here = os.path.abspath(cwd)
    while True:
        folders.append(os.path.join(here, ".codex"))
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    for folder in dict.fromkeys(folders):
        rules = os.path.join(folder, "rules")
        try:
            names = sorted(os.listdir(rules))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            names = ["*.rules"]  # cannot be read, which opening it will say
        yield from (os.path.join(rules, name) for name in names if name.endswith(".rules"))


def names_in_rules(files: Iterator[str] | Sequence[str]) -> set[str] | None:
    """Return every word that rules name, whatever they decide; None where a file cannot be read for certain."""
    out: set[str] = set()
    for path in files:
        try:
            with open(path, "rb") as file:
                text = _COMMENT.sub("", file.read(MOST_BYTES).decode())
        except FileNotFoundError:
            if path.endswith("*.rules"):
                return None
            continue
        except (OSError, ValueError):
            return None
        if _COMPUTED.search(_BEHIND.sub("", _QUOTED.sub("", text))):
            return None
        out.update(os.path.basename(found[1] or found[2] or "") for found in _QUOTED.finditer(text))
    return out


def _is_named(named: set[str], commands: Sequence[Sequence[str]]) -> bool:
    """Return whether a rule names a word of one of these commands: rather once too often than once too seldom."""
    return any(os.path.basename(word) in named for words in commands for word in words)


def _find_ourselves() -> str:
    """Return how a login shell finds us: by name where it surely does, else by our path. A line that it cannot find would fail."""
    from shutil import which

    path = os.path.abspath(which(sys.argv[0]) or which(COMMAND) or COMMAND)
    return COMMAND if os.path.dirname(path) in ALWAYS_FOUND or os.path.basename(path) != COMMAND else path
