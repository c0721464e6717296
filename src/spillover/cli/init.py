"""`spill init`: what of ours a host needs goes into its own configuration, or out of it."""

from __future__ import annotations

import os

from spillover.adapters.hosts import targets
from spillover.adapters.install import Change, apply, installing, removing
from spillover.adapters.lines import LINES
from spillover.cli import exits
from spillover.cli.output import complain, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


#: What is still to be done by hand, in the words of each host.
THEN = {
    "claude-code": "It holds for sessions that start from now on.",
    "opencode": "It holds from the next start of opencode on.",
    "codex": "Codex cannot have results replaced: it gets `spill mcp` to go back with, and lines in AGENTS.md that say how.",
    "gemini": "Gemini CLI cannot have results replaced: it gets `spill mcp` to go back with, and lines in GEMINI.md that say how.",
    "shell": "Agents that read these files know about `spill run` now.",
}


def init(arguments: argparse.Namespace) -> int:
    """Say what becomes of each file; with --dry-run, only say it."""
    if arguments.host == "shell" and arguments.scope is None and not arguments.uninstall:
        put(LINES)
        return exits.OK
    scope = arguments.scope or ("project" if arguments.host == "shell" else "user")
    plan = removing if arguments.uninstall else installing
    # Everything is known to be possible before anything is changed.
    changes = [plan(target) for target in targets(arguments.host, scope, os.environ, os.getcwd())]
    for change in changes:
        if not arguments.dry_run:
            apply(change)
        put(_said(change, would=arguments.dry_run))
        if arguments.dry_run:
            put(_difference(change))
    if not arguments.uninstall and not arguments.dry_run:
        put(THEN[arguments.host] + "\n")
        _warn()
    return exits.OK


def _said(change: Change, *, would: bool) -> str:
    if change.nothing:
        return f"nothing to do: {change.path}\n"
    verb = "write" if change.before is None else "remove" if change.after is None else "change"
    done = {"write": "wrote", "remove": "removed", "change": "changed"}[verb]
    return f"would {verb} {change.path}\n" if would else f"{done} {change.path}\n"


def _difference(change: Change) -> str:
    from difflib import unified_diff  # only for somebody who looks first

    lines = unified_diff((change.before or "").splitlines(), (change.after or "").splitlines(), n=2, lineterm="")
    return "".join(f"  {line}\n" for line in list(lines)[2:])


def _warn() -> None:
    from shutil import which

    if which("spill") is None:
        complain("`spill` is not on your PATH, and agents call it by that name; see `spill doctor`.")
