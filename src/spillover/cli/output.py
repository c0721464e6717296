"""Writing: bytes that nothing re-encodes, and facts as JSON."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.limits import Size
    from spillover.result import Clip


def put(text: str, fd: int = 1) -> None:
    """Write all of it, whatever the locale says about encodings."""
    if text and not text.endswith("\n") and os.isatty(fd):
        text += "\n"  # for the prompt that follows
    data = memoryview(text.encode("utf-8", "surrogatepass"))
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # whoever shares it with us has made it so
            wait(fd, writing=True)


def wait(fd: int, *, writing: bool = False) -> None:
    """Until a descriptor that does not block can be read, or written."""
    import select  # hardly ever needed

    select.select([] if writing else [fd], [fd] if writing else [], [])


def complain(message: str) -> None:
    """Say on stderr what is wrong; where nobody can hear it, that is no reason to fail."""
    with suppress(OSError):
        put(f"spill: {message}\n", 2)


def put_json(value: Any) -> None:
    import json  # most calls print text

    put(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def facts(clip: Clip) -> dict[str, Any]:
    """What is known of a clip, for a program."""
    return {
        "outcome": clip.outcome,
        "ref": clip.ref,
        "path": clip.path,
        "reason": clip.reason,
        "total": size(clip.total),
        "shown": size(clip.shown),
        "ranges": [list(pair) for pair in clip.ranges],
        "text": clip.text,
    }


def size(value: Size) -> dict[str, int]:
    return {"lines": value.lines, "bytes": value.bytes, "chars": value.chars, "tokens": value.tokens}
