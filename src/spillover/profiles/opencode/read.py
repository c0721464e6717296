"""opencode's Read tool: numbered lines of a file, a page at a time; bounded, so never clipped again."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

DEFAULT_READ_LIMIT = 2_000
MAX_LINE_LENGTH = 2_000
MAX_BYTES = 50 * 1_024
PREVIEW_LINES = 20
#: Bytes at the start of a file that are searched for a NUL byte.
SAMPLE_BYTES = 4_096
#: Bytes of a line that are decoded: enough for one character more than is shown.
LINE_BYTES = 4 * (MAX_LINE_LENGTH + 1)
CHUNK_BYTES = 1 << 18


def read(
    path: str | os.PathLike[str], offset: int = 0, limit: int = DEFAULT_READ_LIMIT, *, root: str = ""
) -> dict[str, Any]:
    """Read up to `limit` lines of a file, starting at `offset`, which counts from 0; `{title, output, metadata}`.

    Lines are numbered from 1. A line of more than 2,000 characters ends in "...". A page has at most 50 KB.
    """
    for name, value, least in (("offset", offset, 0), ("limit", limit, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"{name} must be greater than or equal to {least}")
    where = os.path.abspath(os.path.join(root, path))
    with _open(where) as file:
        lines, count, capped = _read_page(file, offset, min(limit, DEFAULT_READ_LIMIT))
    if count <= offset and offset > 0:
        raise UsageError(f"Offset {offset} is out of range for this file ({count} lines)")
    end = offset + len(lines)
    if capped:
        footer = f"(Output capped at 50 KB. Showing lines {offset + 1}-{end}. Use offset={end} to continue.)"
    elif end < count:
        footer = f"(Showing lines {offset + 1}-{end} of {count}. Use offset={end} to continue.)"
    else:
        footer = f"(End of file - total {count} lines)"
    content = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, offset + 1))
    return {
        "title": os.path.relpath(where, root or None),
        "output": f"<path>{where}</path>\n<type>file</type>\n<content>\n{content}\n\n{footer}\n</content>",
        "metadata": {"preview": "\n".join(lines[:PREVIEW_LINES]), "truncated": capped or end < count},
    }


def _read_page(file: BinaryIO, offset: int, limit: int) -> tuple[list[str], int, bool]:
    """Return the lines of a page, how many lines the file has, and whether the page ended because of its bytes.

    Where it did, the file is not read further, and the count is that of the lines until there.
    """
    lines: list[str] = []
    count, room = 0, MAX_BYTES
    for line in _read_lines(file):
        count += 1
        if count > offset + limit:
            return lines, count + _count_lines(file), False
        if count <= offset:
            continue
        text = line.decode("utf-8", "replace")
        if len(text) > MAX_LINE_LENGTH:
            text = text[:MAX_LINE_LENGTH] + "..."
        room -= len(text.encode()) + (1 if lines else 0)
        if room < 0:
            return lines, count, True
        lines.append(text)
    return lines, count, False


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the first LINE_BYTES of each line, without its newline; a carriage return before that stays."""
    while line := file.readline(LINE_BYTES):
        yield line.removesuffix(b"\n")
        while line and not line.endswith(b"\n"):
            line = file.readline(CHUNK_BYTES)


def _count_lines(file: BinaryIO) -> int:
    count, last = 0, b"\n"
    while chunk := file.read(CHUNK_BYTES):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last != b"\n")


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    """Open a text file. A pipe or a device is refused: it might never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UsageError(f"File not found: {path}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UsageError(f"Path is not a file: {path}")
    with open(fd, "rb") as file:
        if b"\0" in file.read(SAMPLE_BYTES):
            raise UsageError(f"Cannot read binary file: {path}")
        file.seek(0)
        yield file
