"""opencode's Bash tool: a person sees the beginning of the output while the command runs, the agent gets the end of it."""

from __future__ import annotations

import codecs
import os
import select
import time

from spillover import pipeline
from spillover.errors import StoreError
from spillover.intake import child
from spillover.notice.form import Form, Told
from spillover.profiles.base import lost_words_without_path, mark_gap
from spillover.profiles.opencode import profile as opencode
from spillover.run.command import COMMAND_CHARS, EVERY
from spillover.select.exact import last_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.intake.take import Intake
    from spillover.notice.form import Words

MAX_METADATA_LENGTH = 30_000
TIMEOUT_MS = 2 * 60 * 1_000
#: Seconds between asking a command to end and killing it.
GRACE = 3.0
NO_OUTPUT = "(no output)"
TRUNCATED = "...output truncated...\n\n{where}\n\n"
SAVED = "Full output saved to: {place}"
TIMED_OUT = (
    "shell tool terminated command after exceeding timeout {ms} ms. If this command is expected to take longer and is not "
    "waiting for interactive input, retry with a larger timeout value in milliseconds."
)
ABORTED = "User aborted the command"
METADATA = "\n\n<shell_metadata>\n{said}\n</shell_metadata>"


def clipper(**given: Any) -> Clipper:
    """Make the shell's own Clipper: the last 2,000 lines / 51,200 bytes. Takes what `opencode.clipper` takes."""
    return opencode.clipper(**{"keep": "tail", "tool": "bash", "wording": Form(_words, {"tail": last_lines}), **given})


def run(
    command: str,
    clipper: Clipper,
    *,
    description: str = "",
    timeout_ms: int = TIMEOUT_MS,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    shell: str | None = None,
    on_metadata: Callable[[dict[str, object]], None] | None = None,
    cancel: int | None = None,
    call_id: str | None = None,
) -> dict[str, Any]:
    """Run a line of shell; `{title, output, metadata}`. `cancel` is a descriptor that aborts it when it can be read.

    While it runs, `on_metadata` is called with what a person may see of it: `live` of what came so far.
    """
    line = child.Command(
        argv=[shell or _shell(), "-c", command], cwd=cwd, env=env, timeout=timeout_ms / 1_000, grace=GRACE
    )
    intake = pipeline.begin(clipper)
    told = _Live(intake, on_metadata, description)
    try:
        ended = child.run(line, intake, cancel=cancel, tick=told.tick)
        intake.finish()
        told.look(final=True)
    except BaseException:
        intake.abandon()
        raise
    clip = pipeline.settle(intake, clipper, call_id=call_id, command=command[:COMMAND_CHARS])
    if ended.signals:
        import signal  # what we passed on was meant for this program as well, which now has its own handlers back

        signal.raise_signal(ended.signals[0])
    aborted = cancel is not None and _can_be_read(cancel)
    said = [TIMED_OUT.format(ms=timeout_ms)] * ended.timed_out + [ABORTED] * aborted
    facts = opencode.result(clip)
    text = facts.pop("content") or NO_OUTPUT
    metadata = {"output": told.text or text, "description": description, **facts}
    return {
        "title": description,
        "output": f"{text}{METADATA.format(said=chr(10).join(said))}" if said else text,
        "metadata": {**metadata, "exit": None if said else ended.exit_code},
    }


def live(data: bytes, *, final: bool = True) -> str:
    """Return what a person sees of an output: its first 30,000 characters, and dots if there are more."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final)
    return text if len(text) <= MAX_METADATA_LENGTH else text[:MAX_METADATA_LENGTH] + "\n\n..."


class _Live:
    """Reports what can be seen, at most once every EVERY seconds, and only when the text has changed."""

    def __init__(self, intake: Intake, tell: Callable[[dict[str, object]], None] | None, description: str) -> None:
        self.text = ""
        self._intake, self._tell, self._description = intake, tell, description
        self._due, self._seen = time.monotonic() + EVERY, 0
        if tell:
            tell({"output": "", "description": description})

    def tick(self) -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY
            self.look()

    def look(self, *, final: bool = False) -> None:
        full = len(self.text) > MAX_METADATA_LENGTH  # more output does not change the beginning
        if full or (self._intake.bytes == self._seen and not final):
            return
        self._seen = self._intake.bytes
        try:
            data = _beginning(self._intake, 4 * (MAX_METADATA_LENGTH + 1))
        except StoreError:  # a preview is not worth failing the command; the result will say what went wrong
            return
        text = live(data, final=final)
        if text != self.text:
            self.text = text
            if self._tell:
                self._tell({"output": text, "description": self._description})


def _beginning(intake: Intake, count: int) -> bytes:
    """Return the first bytes that came in, wherever they are by now."""
    if not intake.spilled:
        return intake.held[:count]
    if intake.sink is None:  # it could not be stored; the beginning is in memory
        return intake.blob().read(0, count)
    blob = intake.sink.blob()
    try:
        return blob.read(0, count)
    finally:
        blob.close()


def _words(told: Told) -> Words:
    whole = told.place is not None and told.stored is None
    where = SAVED.format(place=told.place) if whole else lost_words_without_path(told)
    return TRUNCATED.format(where=where), mark_gap, ""


def _shell() -> str:
    """Return the shell a model expects of a tool named bash."""
    from shutil import which

    return which("bash") or "/bin/sh"


def _can_be_read(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
