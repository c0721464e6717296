"""Gemini CLI's `BeforeTool` hook: a shell line comes back inside `spill sh`. What a tool returned cannot be replaced there.

Gemini CLI matches its policies on the line that the hook gives back: `deny` for `rm` would not stop `spill sh 'rm x'` (seen in
0.61). So a line with a program that a policy names stays as it came.
"""

from __future__ import annotations

import os

from spillover.adapters.hooked import words_of
from spillover.adapters.rewrite import rewrite_line
from spillover.base.jsonc import read_jsonc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from spillover.clipper import Clipper

HINTS = ("cli",)
EVENT = "BeforeTool"
#: The tool that runs a line of shell, as its matcher has it.
SHELL = "run_shell_command"
#: What settings call it where they exclude some of its lines: `run_shell_command(rm -rf)`.
SHELLS = (SHELL, "ShellTool")
#: Policies of the machine, beside those of the user and of the project.
MACHINE = "/etc/gemini-cli"
#: A file of policies is not larger.
MOST_BYTES = 1 << 20


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:  # noqa: ARG001  as all hooks are called
    """Return what the hook answers; None where nothing changes."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT or event.get("tool_name") != SHELL:
        return None
    given = event.get("tool_input")
    line = words_of(given, "command")
    if not isinstance(given, dict) or not line or given.get("is_background") is True:
        return None
    try:
        named = set(_names(os.environ, words_of(event, "cwd") or os.curdir))
    except (OSError, ValueError, RecursionError):  # a policy may stand in what cannot be read
        return None
    new = rewrite_line(line, lambda commands: _is_named(named, commands))
    if new is None:
        return None
    return {"hookSpecificOutput": {"hookEventName": EVENT, "tool_input": {**given, "command": new}}}


def _names(environ: Mapping[str, str], cwd: str) -> Iterator[str]:
    """Yield the programs that policies or settings speak of, other than to allow them; ValueError where that is not certain."""
    folders = [MACHINE, os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".gemini")]
    here = os.path.abspath(cwd)
    while os.path.dirname(here) != here:
        folders.append(os.path.join(here, ".gemini"))
        here = os.path.dirname(here)
    for folder in dict.fromkeys(folders):
        policies = os.path.join(folder, "policies")
        for name in sorted(os.listdir(policies)) if os.path.isdir(policies) else ():
            if name.endswith(".toml"):
                yield from _in_policy(_read(os.path.join(policies, name)))
        settings = os.path.join(folder, "settings.json")
        if os.path.lexists(settings):
            yield from _in_settings(read_jsonc(_read(settings)))


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(MOST_BYTES).decode()


def _in_policy(text: str) -> Iterator[str]:
    import tomllib

    rules = tomllib.loads(text).get("rule", [])
    for rule in rules if isinstance(rules, list) else [{}]:
        tools = rule.get("toolName", SHELL)
        if rule.get("decision") == "allow" or not {SHELL, "*"} & {*([tools] if isinstance(tools, str) else tools)}:
            continue
        prefixes = rule.get("commandPrefix")
        if prefixes is None:  # a pattern, or every line
            raise ValueError("a rule without a prefix")
        yield from ([prefixes] if isinstance(prefixes, str) else prefixes)


def _in_settings(said: Any) -> Iterator[str]:
    tools = said.get("tools") if isinstance(said, dict) else None
    listed = [said.get("excludeTools")] if isinstance(said, dict) else []
    listed += [tools.get("exclude")] if isinstance(tools, dict) else []
    for entry in (entry for each in listed if isinstance(each, list) for entry in each):
        name, _, inside = str(entry).partition("(")
        if name in SHELLS and inside:
            yield inside.rstrip(")")


def _is_named(named: set[str], commands: Sequence[Sequence[str]]) -> bool:
    """Return whether one of the programs is a word of one of these commands: rather once too often than once too seldom."""
    programs = {os.path.basename(words[0]) for each in named if (words := each.split())}
    return any(os.path.basename(word) in programs for words in commands for word in words)
