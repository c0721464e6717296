"""Copilot CLI's `postToolUse` hook: the result of a tool in, the same within the limits out."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from typing import Any

from spillover.api import Clipper
from spillover.hosts import COPILOT, find_cut
from spillover.hosts.hook_plain import Plain
from spillover.hosts.hooked import (
    COMMAND_CHARS,
    HookCall,
    bound_result,
    clip_file,
    open_temporary,
    read_number,
    words_of,
)

_log = logging.getLogger(__name__)

#: What the model has here to go back with.
HINTS = ("cli",)
#: How the model goes back, and what is there to be followed word for word.
LEFT_ALONE = frozenset(
    {"view", "edit", "create", "str_replace_editor", "apply_patch", "update_todo", "ask_user", "report_intent"}
)
TEXT = "textResultForLlm"
#: The last line of what a command printed: how it ended, and in which shell.
ENDED = re.compile(r"\n?<shellId: [^\n>]{1,200}? exit code (\d{1,5})>\s{0,9}\Z")
ENDED_CHARS = 300
#: How Copilot CLI names the files that hold whole results, until the session ends.
KEPT = re.compile(r"\d{1,20}-copilot-tool-output-[\w-]{1,100}\.txt", re.ASCII)


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
    ended = ENDED.search(text, max(0, len(text) - ENDED_CHARS))
    output = text[: ended.start()] if ended else text

    def bound(call: HookCall | Plain) -> dict[str, Any] | None:
        new = _restore(output, call) or call.text(output)
        return None if new is None else {**result, TEXT: new}

    changed = bound_result(
        bound,
        clipper,
        tool,
        host=COPILOT.name,
        at_most=COPILOT.shown,
        command=words_of(_arguments(event.get("toolArgs")), "command", COMMAND_CHARS),
        call_id=words_of(event, "toolCallId"),
        cwd=words_of(event, "cwd"),
        exit_code=read_number(ended),
        ending=ended[0] if ended else "",
        whole=result,
    )
    return None if changed is None else {"modifiedResult": changed}


def _restore(output: str, call: HookCall | Plain) -> str | None:
    """Return what Copilot CLI has saved to a file, of which it shows 500 characters; None where that cannot be read."""
    found = find_cut(COPILOT.name, output)
    if found is None:
        return None
    file = open_temporary(found[1], KEPT)
    return None if file is None else clip_file(file, call)


def _arguments(said: object) -> Any:
    """Return the arguments of a call, which come as JSON."""
    if not isinstance(said, str):
        return said
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return None
