"""The one place that writes to terminals. Control characters in foreign text are made visible first.

Commands, tool names, keys and paths are somebody else's words. An escape code among them would set a clipboard or a
title, a bidi control would turn a line around; both are shown (␛, <U+202E>) instead of obeyed.
"""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.result import Clip
    from spillover.settings.limits import Size


def put(text: str | bytes, fd: int = 1, *, raw: bool = False, end: bool = False) -> None:
    """Write all of it, whatever the locale says about encodings.

    `raw`: what a profile shows as it came goes as it is to a program that reads it, and never to a terminal.
    `end`: the last line gets its newline, as on a terminal; an output that was not cut passes as it came.
    """
    if isinstance(text, bytes) and (not raw or os.isatty(fd)):
        from spillover.document.clean import clean  # for those who read it as it came, and have a terminal

        text = clean(text)
    if isinstance(text, str):
        text = text if raw and not os.isatty(fd) else make_harmless(text)
        if text and not text.endswith("\n") and (end or os.isatty(fd)):
            text += "\n"
        text = text.encode("utf-8", "surrogatepass")
    data = memoryview(text)
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # whoever shares it with us has made it so
            wait(fd, writing=True)


def make_harmless(text: str) -> str:
    """Return the text with control characters made visible; line ends and tabs stay."""
    if "\r\n" in text:
        return "\r\n".join(map(make_harmless, text.split("\r\n")))
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    from spillover.document.clean import show_controls  # most of what we say is plain

    return show_controls(text.encode("utf-8", "surrogatepass"))


def fit_terminal(text: str, fd: int = 1) -> str:
    """Return a table with its lines cut to the width of the terminal; as it is for anything else that reads it."""
    width = os.get_terminal_size(fd).columns if os.isatty(fd) else 0
    if not width:
        return text
    return "".join(f"{line if len(line) <= width else line[: width - 1] + '…'}\n" for line in text.splitlines())


def wait(fd: int, *, writing: bool = False) -> None:
    """Wait until a non-blocking descriptor can be read, or written."""
    import select  # hardly ever needed

    select.select([] if writing else [fd], [fd] if writing else [], [])


def complain(message: str) -> None:
    """Print an error on stderr; a closed stderr is not a reason to fail.

    Further lines are indented: a name with a newline in it cannot pass for something else we say.
    """
    said = message.replace("\n", "\n  ")
    with suppress(OSError):
        put(f"spill: {said}\n", 2)


def put_json(value: Any) -> None:
    import json  # most calls print text

    text = json.dumps(value, ensure_ascii=False, indent=1)
    if make_harmless(text) != text:  # the same value in other letters
        text = json.dumps(value, ensure_ascii=True, indent=1).replace("\x7f", "\\u007f")
    put(text + "\n")


def facts(clip: Clip) -> dict[str, Any]:
    """Return what is known of a clip, for a program."""
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
