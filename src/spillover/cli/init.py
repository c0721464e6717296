"""`spill init`: put spill into the configuration of a host, or take it out."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from difflib import unified_diff
from shutil import which
from textwrap import fill

from spillover.cli import exits
from spillover.cli.output import complain, put
from spillover.errors import UsageError
from spillover.hosts import AGENTS, HOSTS, find
from spillover.hosts.host import Host, Scope
from spillover.hosts.install import (
    LINES,
    Change,
    apply,
    find_user_folder,
    plan_install,
    plan_removal,
    targets,
    warn_duplicate_tools,
)
from spillover.hosts.shell import MCP_JSON, SHELL

#: The narrowest terminal that is usual.
COLUMNS = 79


def init(arguments: argparse.Namespace) -> int:
    """Change each file and say so; with --dry-run, only say so."""
    if arguments.all == (arguments.host is not None):
        names = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"name one agent ({names}), or use --all for those that are installed.")
    if arguments.file is not None and arguments.host != MCP_JSON.name:
        raise UsageError(f"{arguments.file!r:.80} is not expected here: FILE is only for {MCP_JSON.name}.")
    if arguments.host == SHELL.name and arguments.scope is None and not arguments.uninstall:
        put(LINES)
        return exits.OK
    chosen = [find(arguments.host)] if arguments.host else _find_hosts()
    if not chosen:
        put("No supported agent was found in your home folder or on your PATH.\n")
    for host in chosen:
        if arguments.all:
            put(f"{host.name}:\n")
        _init(host, arguments)
    return exits.OK


def _init(host: Host, arguments: argparse.Namespace) -> None:
    scope: Scope = arguments.scope or ("project" if host is SHELL else "user")
    plan = plan_removal if arguments.uninstall else plan_install
    # Everything is known to be possible before anything is changed.
    found = targets(host, scope, os.environ, os.getcwd(), file=arguments.file)
    if host is MCP_JSON and not arguments.uninstall:
        _check_folder(os.path.dirname(found[0].path))
    changes = [plan(target) for target in found]
    for change in changes:
        if not arguments.dry_run:
            apply(change)
        put(_describe(change, would=arguments.dry_run))
        if arguments.dry_run:
            put(_difference(change))
    if arguments.uninstall:
        return
    put(_wrap("Then" if arguments.dry_run else "Now", host.works) + _wrap("But", host.cannot))
    options = [*(["--scope", "project"] if arguments.scope == "project" else []), "--uninstall"]
    put(f"Undo: {shlex.join(['spill', 'init', host.name, *filter(None, [arguments.file]), *options])}\n")
    for change in changes:
        if said := warn_duplicate_tools(change.path):
            put(said + "\n")
    _warn()


def _wrap(title: str, words: str) -> str:
    """Return a title and what belongs to it, in lines that fit a terminal; a command stays on one."""
    text = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), f"{title + ':':6}{words}")
    lines = fill(text, COLUMNS, subsequent_indent=" " * 6, break_on_hyphens=False, break_long_words=False)
    return lines.replace("\0", " ") + "\n"


def _check_folder(folder: str) -> None:
    """Refuse a folder that is not there: no host would read a file in one that was mistyped."""
    if not os.path.isdir(folder):
        raise UsageError(
            f"there is no folder {folder}; check the path, or make it first: mkdir -p {shlex.quote(folder)}"
        )


def _find_hosts() -> list[Host]:
    """Return the agents that are installed: by their folder, or on the PATH."""
    return [host for host in AGENTS if os.path.isdir(find_user_folder(host, os.environ)[0]) or which(host.program)]


def _describe(change: Change, *, would: bool) -> str:
    if change.is_noop:
        return f"nothing to do: {change.path}\n"
    verb = "write" if change.before is None else "remove" if change.after is None else "change"
    done = {"write": "wrote", "remove": "removed", "change": "changed"}[verb]
    return f"would {verb} {change.path}\n" if would else f"{done} {change.path}\n"


def _difference(change: Change) -> str:
    lines = unified_diff((change.before or "").splitlines(), (change.after or "").splitlines(), n=2, lineterm="")
    return "".join(f"  {line}\n" for line in list(lines)[2:])


def _warn() -> None:
    if which("spill") is None:
        complain("`spill` is not on your PATH, and agents call it by that name; see `spill doctor`.")
