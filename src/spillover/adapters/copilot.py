"""Copilot CLI's hooks: `preToolUse` gives a shell line back inside `spill sh`, `postToolUse` a result within the limits."""

from __future__ import annotations

import json

from spillover.adapters.hooked import COMMAND_CHARS, Call, bounded, words_of
from spillover.adapters.rewrite import rewrite_line
from spillover.base.log import info
from spillover.hosts import COPILOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.clipper import Clipper

#: What the model has here to go back with.
HINTS = ("cli",)
#: The tools that run a line of shell.
SHELLS = frozenset({"bash", "shell"})
#: How the model goes back, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"view", "edit", "create", "str_replace_editor", "apply_patch", "update_todo", "ask_user", "report_intent"}
)
TEXT = "textResultForLlm"
#: How Copilot CLI is told what may not run, or be used at all.
DENIES = (b"--deny-tool", b"--available-tools", b"--excluded-tools")
#: So many processes up, and so much of a command line, is read.
DEEPEST, MOST_BYTES = 6, 1 << 16


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the hook answers; None where nothing changes."""
    if not isinstance(event, dict):
        return None
    tool, arguments = words_of(event, "toolName") or "", _arguments(event.get("toolArgs"))
    if "toolResult" not in event:
        line = words_of(arguments, "command")
        new = rewrite_line(line) if tool in SHELLS and line and not has_deny_rules() else None
        return (
            None if new is None or not isinstance(arguments, dict) else {"modifiedArgs": {**arguments, "command": new}}
        )
    result = event["toolResult"]
    text = words_of(result, TEXT)
    if text is None or tool in LEFT_ALONE:
        info("The hook left the result of %s alone.", tool)
        return None
    limits = None
    command = words_of(arguments, "command", COMMAND_CHARS)
    try:
        made = clipper()
        if made.leaves_alone(tool):
            return None
        choices = bounded(made.for_command(command).for_tool(tool), **COPILOT.shown)
        limits = choices.limits
        call_id, cwd = words_of(event, "toolCallId"), words_of(event, "cwd")
        new = Call(choices, call_id, command, cwd, COPILOT.name, COPILOT.shown).text(text)
    except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on, and its result is bounded
        from spillover.adapters.hook_plain import Plain

        new = Plain(error, limits).text(text)
    return None if new is None else {"modifiedResult": {**result, TEXT: new}}


def has_deny_rules(pid: int | None = None) -> bool:
    """Return whether Copilot CLI was started with rules that deny: it matches them on the new line, where they would not bite.

    The rules stand on its command line, so that of every process above us is read, where the system shows it (Linux).
    """
    import os

    pid = os.getppid() if pid is None else pid
    for _ in range(DEEPEST):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read(MOST_BYTES).split(b"\0")
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read(MOST_BYTES).rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        if any(word.startswith(DENIES) for word in words):
            return True
    return False


def _arguments(said: object) -> Any:
    """Return the arguments of a call, which come as JSON."""
    if not isinstance(said, str):
        return said
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return None
