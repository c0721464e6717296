"""`spill hook`: what a host asks after a tool call. Whatever comes in, it exits with 0, and says nothing where nothing changes."""

from __future__ import annotations

import os

from spillover.cli import exits
from spillover.cli.output import complain, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from spillover.clipper import Clipper

#: More than this no host sends for one tool call; what is larger is left as it is.
MOST_BYTES = 1 << 28


def hook(arguments: argparse.Namespace) -> int:
    """The host's question on stdin, the answer on stdout."""
    try:
        said = answer(arguments.host)
        if said:
            put(said)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  a hook that fails must not fail the tool call
        complain(f"nothing was changed: {type(error).__name__}: {error}")
    return exits.OK


def answer(host: str) -> str:
    data = _stdin()
    if not data:
        return ""
    import json

    event = json.loads(data)
    del data
    asked = _Asked(event.get("cwd") if isinstance(event, dict) else None)
    if host == "opencode":
        from spillover.adapters.opencode import HINTS, reply
    else:
        from spillover.adapters.claude_code import HINTS, reply

    said: dict[str, Any] | None = reply(event, lambda: asked.clipper(HINTS))
    if said is None:
        return ""
    if asked.complaint:
        said["systemMessage"] = f"spill: {asked.complaint} Until then its defaults hold."
    # A lone surrogate, which JSON can carry and UTF-8 cannot, stays escaped.
    return json.dumps(said, ensure_ascii=True)


def _stdin() -> bytes:
    """All of stdin; nothing where there is no end to it."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            return b""
    return b"".join(parts)


class _Asked:
    """The Clipper for a folder, and what is wrong with its configuration."""

    def __init__(self, cwd: object) -> None:
        self.cwd = cwd if isinstance(cwd, str) and os.path.isdir(cwd) else None
        self.complaint = ""

    def clipper(self, hints: tuple[str, ...]) -> Clipper:
        from spillover.clipper import Clipper
        from spillover.config.settings import load
        from spillover.errors import SpilloverError

        try:
            settings = load(cwd=self.cwd)
            others = {"hints": hints} if settings.values["hints"].origin == "default" else {}
            return settings.made(Clipper, **others)
        except SpilloverError as error:  # the tool call survives, and so does its bound
            self.complaint = str(error)
            return Clipper(hints=hints)
