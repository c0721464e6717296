"""Check what `spill init` has installed for this user and this folder."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from shutil import which
from typing import Any

from spillover.errors import UsageError
from spillover.hosts.install.files import Target, is_installed, plan_install
from spillover.hosts.install.hosts import COMMAND, HOSTS, SCOPES, targets, warn_duplicate_tools

PATIENCE = 30  # seconds, for a command of ours that should take a tenth of one
LONG = "".join(f"line {number} of what doctor made up\n" for number in range(1, 5_001))
#: What each host would ask, and how its answer begins.
QUESTIONS: dict[str, dict[str, Any]] = {
    "claude-code": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "seq 5000"},
        "tool_response": {"stdout": LONG, "stderr": "", "interrupted": False},
    },
    "opencode": {"tool": "bash", "args": {"command": "seq 5000"}, "output": LONG},
    "copilot": {
        "toolName": "bash",
        "toolArgs": "{}",
        "toolResult": {"resultType": "success", "textResultForLlm": LONG},
    },
    "cline": {
        "tool": "run_commands",
        "args": {"commands": ["seq 5000"]},
        "output": [{"query": "seq 5000", "result": LONG}],
    },
    "pi": {"tool": "bash", "args": {}, "content": [{"type": "text", "text": LONG}]},
    "codex": {
        "hook_event_name": "PostToolUse",
        "tool_name": "mcp__doctor__count",
        "tool_response": {"content": [{"type": "text", "text": LONG}]},
    },
    "gemini": {
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "seq 5000"},
        "tool_response": {"llmContent": LONG},
    },
}


def question(host: str, folder: str) -> dict[str, Any]:
    """Return what a host would ask. Whatever belongs to its session is in this folder."""
    return {**QUESTIONS[host], "transcript_path": os.path.join(folder, "chats", "doctor.jsonl")}


def check_installed(environ: Mapping[str, str], folder: str) -> Iterator[tuple[str, bool, str]]:
    """Yield, for each file with something of ours in it: the host, whether it works, and a message."""
    seen = set()
    for host in HOSTS:
        for scope in SCOPES:
            if host == "shell" and scope == "user":
                continue
            for target in targets(host, scope, environ, folder):
                real = os.path.realpath(target.path)
                if real not in seen and os.path.isfile(real):
                    seen.add(real)
                    yield from _check(host, scope, target)
    home = environ.get("HOME") or os.path.expanduser("~")
    for path in sorted(
        seen | {os.path.realpath(os.path.join(*each)) for each in ((home, ".claude.json"), (folder, ".mcp.json"))}
    ):
        if said := warn_duplicate_tools(path):
            yield "mcp", True, said


def _check(host: str, scope: str, target: Target) -> Iterator[tuple[str, bool, str]]:
    again = f"spill init {host}" + " --scope project" * (scope == "project")
    try:
        if not is_installed(target):
            return
        current = plan_install(target).is_noop
    except UsageError as error:
        if _names_us(target.path):  # else it is nothing of ours that is broken
            yield host, False, str(error)
        return
    if not current:
        yield host, False, f"{target.path} is not as this version writes it; run `{again}`"
    elif which(COMMAND) is None:
        yield host, False, f"{target.path} calls `{COMMAND}`, which is not on your PATH"
    elif host in QUESTIONS and not _answers(host):
        yield (
            host,
            False,
            f"{target.path} is in place, but `{COMMAND} hook {host}` does not answer; is another {COMMAND} on your PATH?",
        )
    else:
        yield host, True, f"{target.path} is in place, and `{COMMAND}` is {which(COMMAND)}"


def _names_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return COMMAND.encode() in file.read(1 << 20)
    except OSError:
        return False


def _answers(host: str) -> bool:
    """Return whether the hook answers, asked as the host would, with a temporary store."""
    with tempfile.TemporaryDirectory(prefix="spill-doctor-") as store:
        try:
            ran = subprocess.run(
                [COMMAND, "hook", host],
                input=json.dumps(question(host, store)).encode(),
                env={**os.environ, "SPILLOVER_STORE": store},
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
            return ran.returncode == 0 and isinstance(json.loads(ran.stdout), dict)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return False
