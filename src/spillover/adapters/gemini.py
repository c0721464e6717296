"""Gemini CLI's `BeforeTool` hook: a shell line comes back inside `spill sh`. What a tool returned cannot be replaced there."""

from __future__ import annotations

from spillover.adapters.hooked import words_of
from spillover.adapters.rewrite import rewrite_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.clipper import Clipper

HINTS = ("cli",)
EVENT = "BeforeTool"
#: The tool that runs a line of shell, as its matcher has it.
SHELL = "run_shell_command"


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:  # noqa: ARG001  as all hooks are called
    """Return what the hook answers; None where nothing changes."""
    if not isinstance(event, dict) or event.get("hook_event_name") != EVENT or event.get("tool_name") != SHELL:
        return None
    given = event.get("tool_input")
    line = words_of(given, "command")
    if not isinstance(given, dict) or not line or given.get("is_background") is True:
        return None
    new = rewrite_line(line)
    return (
        None
        if new is None
        else {"hookSpecificOutput": {"hookEventName": EVENT, "tool_input": {**given, "command": new}}}
    )
