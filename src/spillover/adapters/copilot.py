"""Copilot CLI's `postToolUse` hook: the result of a tool in, the same within the limits out."""

from __future__ import annotations

import json
import logging

from spillover.adapters.hooked import COMMAND_CHARS, bound_result, words_of
from spillover.hosts import COPILOT

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.clipper import Clipper

#: What the model has here to go back with.
HINTS = ("cli",)
#: How the model goes back, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"view", "edit", "create", "str_replace_editor", "apply_patch", "update_todo", "ask_user", "report_intent"}
)
TEXT = "textResultForLlm"


def reply(event: object, clipper: Callable[[], Clipper]) -> dict[str, Any] | None:
    """Return what the hook answers; None where nothing changes."""
    if not isinstance(event, dict):
        return None
    tool = words_of(event, "toolName") or ""
    result: Any = event.get("toolResult")
    text = words_of(result, TEXT)
    if text is None or tool in LEFT_ALONE:
        _log.info("The hook left the result of %s alone.", tool)
        return None
    new = bound_result(
        lambda call: call.text(text),
        clipper,
        tool,
        host=COPILOT.name,
        at_most=COPILOT.shown,
        command=words_of(_arguments(event.get("toolArgs")), "command", COMMAND_CHARS),
        call_id=words_of(event, "toolCallId"),
        cwd=words_of(event, "cwd"),
    )
    return None if new is None else {"modifiedResult": {**result, TEXT: new}}


def _arguments(said: object) -> Any:
    """Return the arguments of a call, which come as JSON."""
    if not isinstance(said, str):
        return said
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return None
