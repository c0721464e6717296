"""Check what `spill init` has installed for this user and this folder."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from shutil import which

from spillover.errors import UsageError
from spillover.hosts import AGENTS
from spillover.hosts.host import Event, Host, Scope
from spillover.hosts.install import (
    COMMAND,
    Target,
    is_installed,
    plan_install,
    targets,
    warn_duplicate_tools,
)
from spillover.hosts.shell import SHELL

PATIENCE = 30  # seconds, for a command of ours that should take a tenth of one
SCOPES: tuple[Scope, ...] = ("user", "project")


def sample_event(host: Host, folder: str) -> Event:
    """Return an event with a long result, whose session is in this folder."""
    assert host.hook is not None
    return {**host.hook.sample, "transcript_path": os.path.join(folder, "chats", "doctor.jsonl")}


def check_installed(environ: Mapping[str, str], folder: str) -> Iterator[tuple[str, bool, str]]:
    """Yield, for each file with something of ours in it: the host, whether it works, and a message."""
    seen = set()
    for host in (*AGENTS, SHELL):
        for scope in SCOPES:
            if host is SHELL and scope == "user":
                continue
            for target in targets(host, scope, environ, folder):
                real = os.path.realpath(target.path)
                if real not in seen and os.path.isfile(real):
                    seen.add(real)
                    yield from _check(host, scope, target)
    home = environ.get("HOME") or os.path.expanduser("~")
    servers = {os.path.join(home, host.server_file) for host in AGENTS if host.server_file}
    for path in sorted(seen | {os.path.realpath(path) for path in (*servers, os.path.join(folder, ".mcp.json"))}):
        if said := warn_duplicate_tools(path):
            yield "mcp", True, said


def _check(host: Host, scope: Scope, target: Target) -> Iterator[tuple[str, bool, str]]:
    again = f"spill init {host.name}" + " --scope project" * (scope == "project")
    try:
        if not is_installed(target):
            return
        current = plan_install(target).is_noop
    except UsageError as error:
        if _names_us(target.path):  # else it is nothing of ours that is broken
            yield host.name, False, str(error)
        return
    if not current:
        yield host.name, False, f"{target.path} is not as this version writes it; run `{again}`"
    elif which(COMMAND) is None:
        yield host.name, False, f"{target.path} calls `{COMMAND}`, which is not on your PATH"
    elif host.hook and not _answers(host):
        wrong = f"`{COMMAND} hook {host.name}` does not answer; is another {COMMAND} on your PATH?"
        yield host.name, False, f"{target.path} is in place, but {wrong}"
    else:
        yield host.name, True, f"{target.path} is in place, and `{COMMAND}` is {which(COMMAND)}"


def _names_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return COMMAND.encode() in file.read(1 << 20)
    except OSError:
        return False


def _answers(host: Host) -> bool:
    """Return whether the hook answers, asked as the host would, with a temporary store."""
    with tempfile.TemporaryDirectory(prefix="spill-doctor-") as store:
        try:
            ran = subprocess.run(
                [COMMAND, "hook", host.name],
                input=json.dumps(sample_event(host, store)).encode(),
                env={**os.environ, "SPILLOVER_STORE": store},
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
            return ran.returncode == 0 and isinstance(json.loads(ran.stdout), dict)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return False
