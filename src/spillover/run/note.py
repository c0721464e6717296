"""Noting a call: what was run, how it ended, and what became of its output. It never fails the call it notes."""

from __future__ import annotations

import logging
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices
    from spillover.result import Clip


def note_run(
    choices: Choices,
    clip: Clip,
    data: bytes,
    *,
    command: str | None = None,
    call_id: str | None = None,
    cwd: str | None = None,
    exit_code: int | None = None,
    seconds: float | None = None,
) -> None:
    """Leave a record of a call in its store; `data` is all of an output that fitted, and kept only then.

    Whatever goes wrong is logged and nothing else: the model has what fitted, and a clip says itself when it is lost.
    """
    write = getattr(choices.store, "note", None)
    if write is None:  # a store of somebody else, which keeps outputs alone
        return
    try:
        from spillover.secrets.commands import shorten_command
        from spillover.store.runs import RunRecord
        from spillover.store.scope import EVERY, default_scope

        if command is None or "spill" in command:
            from spillover.shell.line import is_retrieval  # few commands, and tools that have none, can be ours

            if is_retrieval(choices.tool, command):
                return
        write(
            RunRecord(
                scope=default_scope() if choices.scope in (None, EVERY) else choices.scope,
                tool=choices.tool,
                created=time.time(),
                outcome=clip.outcome,
                bytes=clip.total.bytes,
                lines=clip.total.lines,
                exit_code=exit_code,
                seconds=seconds,
                command=None if command is None else shorten_command(command),
                call_id=call_id,
                cwd=cwd or _working_folder(),
                ref=clip.ref,
                reason=clip.reason or choices.preview or None,
                data=data if clip.outcome == "whole" else None,
            )
        )
    except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on
        logging.getLogger(__name__).warning("a run could not be recorded, so `last` does not find it: %s", error)


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return None
