"""What `spill` prints: the one place that writes to terminals, tables, amounts with their units, and exit codes.

Commands, tool names, keys and paths are foreign text. An escape code in them would set a clipboard or a title, a bidi
control would turn a line around; both are shown (␛, <U+202E>) instead of obeyed.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from spillover.document.clean import clean, show_controls
from spillover.settings.load import AGE, COUNT, FLAG, LIMITS, SIZE, find_key, split

#: Exit codes. `spill run` and `spill sh` exit with the code of the command.
EXIT_OK = 0  # also for a closed pipe: the reader had enough
EXIT_FINDINGS = 1  # `grep` found no match, `verify` damage, `doctor` something to fix; `rm` left what is pinned
EXIT_USAGE = 2  # wrong use, a wrong configuration, an unknown ref
EXIT_SERVER_ENDED = 69  # the server behind `mcp`
EXIT_BUG = 70  # a bug in spill; please report it
EXIT_UNWRITTEN = 74  # stdout could not be written, e.g. to a full disk
EXIT_INTERRUPTED = 130  # Ctrl-C, as a shell reports it

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIMES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
#: Settings that count something, and what.
_COUNTED = {"retention.count": "outputs", "retention.runs": "runs"}


def write(text: str | bytes, fd: int = 1, *, raw: bool = False, end_line: bool = False) -> None:
    """Write a whole text, whatever the locale's encoding is.

    With `raw`, a program that reads it gets it unchanged; a terminal never does. With `end_line`, a last line without a
    newline gets one, as on a terminal; an output that was not cut passes unchanged.
    """
    terminal = os.isatty(fd)
    if isinstance(text, bytes) and (terminal or not raw):
        text = clean(text)
    if isinstance(text, str):
        if terminal or not raw:
            text = escape_controls(text)
        if text and not text.endswith("\n") and (end_line or terminal):
            text += "\n"
        text = text.encode("utf-8", "surrogatepass")
    data = memoryview(text)
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # a process that shares the descriptor has set it non-blocking
            wait(fd, writing=True)


def write_error(message: str) -> None:
    """Print a message on stderr; a closed stderr is no reason to fail.

    Further lines are indented, so that a name with a newline in it cannot pass for another message of ours.
    """
    indented = message.replace("\n", "\n  ")
    with suppress(OSError):
        write(f"spill: {indented}\n", 2)


def write_json(value: Any) -> None:
    """Print a value as JSON that is harmless on a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    if escape_controls(text) != text:  # the same value in other letters
        text = json.dumps(value, ensure_ascii=True, indent=1).replace("\x7f", "\\u007f")
    write(text + "\n")


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print columns as wide as they need to be."""
    write(format_table(head, rows, right))


def wait(fd: int, *, writing: bool = False) -> None:
    """Wait until a descriptor can be read, or written."""
    select.select([] if writing else [fd], [fd] if writing else [], [])


def escape_controls(text: str) -> str:
    """Return the text with control characters as visible ones; line ends and tabs stay."""
    if "\r\n" in text:
        return "\r\n".join(map(escape_controls, text.split("\r\n")))
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return show_controls(text.encode("utf-8", "surrogatepass"))


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return a table as text; the columns in `right` are aligned to the right."""
    table = [list(head), *([" ".join(escape_controls(cell).split()) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def fit_terminal(text: str, fd: int = 1) -> str:
    """Return a table with its lines cut to the width of the terminal; unchanged if no terminal reads it."""
    width = os.get_terminal_size(fd).columns if os.isatty(fd) else 0
    if not width:
        return text
    return "".join(f"{line if len(line) <= width else line[: width - 1] + '…'}\n" for line in text.splitlines())


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: "1 call", "2,000 calls"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_setting(key: str, value: object) -> str:
    """Return the value of a setting with its unit; "" if it sets nothing."""
    row = find_key(key)
    name = split(key)[1]
    kind = "" if row is None else row.kind
    if kind == FLAG or isinstance(value, bool):
        return str(value).lower()
    if kind not in (COUNT, SIZE, AGE):
        if isinstance(value, (list, tuple)):
            return " ".join(map(str, value))
        return "" if value == 0 else str(value)
    amount = int(str(value))
    if amount == 0:
        return ""
    if kind == AGE:
        return format_time(amount)
    unit = _COUNTED.get(name) or name.rpartition(".")[2]
    if kind == SIZE or unit == "bytes":
        return format_bytes(amount)
    return f"{amount:,} {unit if unit in (*LIMITS, *_COUNTED.values()) else ''}".strip()


def format_bytes(amount: int) -> str:
    """Return a number of bytes in the largest unit that needs no fraction."""
    for size, unit in _SIZES:
        if amount >= size and amount % size == 0:
            return f"{amount // size:,} {unit}"
    return f"{amount:,} bytes"


def format_time(seconds: float) -> str:
    """Return a time in the largest unit that needs no fraction."""
    for size, unit in _TIMES:
        if seconds >= size and seconds % size == 0:
            return count_of(int(seconds // size), unit)
    return f"{seconds:g} second{'s' * (seconds != 1)}"
