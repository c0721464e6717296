"""opencode's Read tool: numbered lines of a file or names of a folder, a page at a time; bounded, and so never spilled again."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from spillover.errors import UsageError
from spillover.profiles.opencode_lines import LINE_CHARS, Lines, Page, fitting, taken
from spillover.profiles.opencode_media import MEDIA_BYTES, SAMPLE, is_binary, media_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    Result = dict[str, Any]

LIMIT = 2_000
MAX_BYTES = 50 * 1_024
PREVIEW_LINES = 20
#: How many names that look like a missing one are proposed.
LIKE_IT = 3


def read(
    path: str | os.PathLike[str], offset: int = 1, limit: int = LIMIT, *, column: int = 1, root: str = ""
) -> Result:
    """Lines `offset` to `offset + limit - 1` of a file, or so many names of a folder; `{title, output, metadata}`.

    `column` goes on inside the line at `offset`, from that byte of it: no part of one huge line is out of reach.
    """
    for name, value in (("offset", offset), ("limit", limit), ("column", column)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name} must be greater than or equal to 1")
    where = os.path.abspath(os.path.join(root, path))
    title = os.path.relpath(where, root or None)
    limit = min(limit, LIMIT)
    if os.path.isdir(where):
        return _folder(where, title, offset, limit)
    with _opened(where) as file:
        sample = file.read(SAMPLE)
        mime = media_type(sample)
        if mime:
            return _media(file, where, title, mime, sample)
        if is_binary(where, sample):
            raise UsageError(f"Cannot read binary file: {where}")
        file.seek(0)
        if column > 1:
            return _inside(file, where, title, offset, column)
        return _lines(file, where, title, offset, limit)


def _lines(file: BinaryIO, path: str, title: str, offset: int, limit: int) -> Result:
    page = taken(Lines(file), offset, limit, MAX_BYTES)
    if page.count < offset and (page.count, offset) != (0, 1):
        raise UsageError(f"Offset {offset} is out of range for this file ({page.count} lines)")
    last = offset + len(page.lines) - 1
    if page.capped:
        footer = f"(Output capped at 50 KB. Showing lines {offset}-{last}. Use offset={last + 1} to continue.)"
    elif page.more:
        footer = f"(Showing lines {offset}-{last} of {page.count}. Use offset={last + 1} to continue.)"
    else:
        footer = f"(End of file - total {page.count} lines)"
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(page.lines, offset))
    output = _file(path, numbered, footer + _within(page))
    return _result(title, output, page.lines, truncated=page.more or page.capped)


def _within(page: Page) -> str:
    """How to go on inside the first line that was cut: its own footer leads past it."""
    if page.cut is None:
        return ""
    line, column, size = page.cut
    return f"\n(Line {line} has {size} bytes. Use offset={line} column={column} to continue inside it.)"


def _inside(file: BinaryIO, path: str, title: str, offset: int, column: int) -> Result:
    """One line from a byte of it on."""
    lines = Lines(file)
    lines.pass_over(offset - 1)
    if lines.ended:
        raise UsageError(f"Offset {offset} is out of range for this file ({lines.count} lines)")
    start = lines.position
    size = lines.line(0)[1]
    if column > size:
        raise UsageError(f"Column {column} is out of range for line {offset} ({size} bytes)")
    more = not lines.ended
    file.seek(start + column - 1)
    skipped, data = fitting(
        file.read(min(MAX_BYTES, size - column + 1)), MAX_BYTES, last=size - column + 1 <= MAX_BYTES
    )
    first, last = column + skipped, column + skipped + len(data) - 1
    if last < size:
        footer = f"(Showing bytes {first}-{last} of {size} of line {offset}. Use offset={offset} column={last + 1} to continue.)"
    elif more:
        footer = f"(End of line {offset} - total {size} bytes. Use offset={offset + 1} to continue.)"
    else:
        footer = f"(End of line {offset} - total {size} bytes. End of file - total {offset} lines)"
    text = data.decode("utf-8", "replace")
    output = _file(path, f"{offset}: {text}", footer)
    return _result(title, output, [text[:LINE_CHARS]], truncated=last < size or more)


def _folder(path: str, title: str, offset: int, limit: int) -> Result:
    """Names in order, folders with a slash behind them."""
    try:
        with os.scandir(path) as found:
            names = [_printable(entry.name) + "/" * _is_folder(entry) for entry in found]
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}") from error
    names.sort(key=lambda name: (name.casefold(), name.swapcase()))
    shown: list[str] = []
    room = MAX_BYTES
    for name in names[offset - 1 : offset - 1 + limit]:
        room -= len(name.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        shown.append(name)
    more = offset - 1 + len(shown) < len(names)
    beyond = f"Use 'offset' parameter to read beyond entry {offset + len(shown)}"
    said = f"(Showing {len(shown)} of {len(names)} entries. {beyond})" if more else f"({len(names)} entries)"
    listed = "\n".join(shown)
    output = f"<path>{path}</path>\n<type>directory</type>\n<entries>\n{listed}\n\n{said}\n</entries>"
    return _result(title, output, shown, truncated=more)


def _media(file: BinaryIO, path: str, title: str, mime: str, sample: bytes) -> Result:
    """An image or a PDF goes to the model as it is, beside the text."""
    from base64 import b64encode

    data = sample + file.read(MEDIA_BYTES + 1 - len(sample))
    if len(data) > MEDIA_BYTES:
        raise UsageError(f"Cannot read {path}: it is larger than {MEDIA_BYTES} bytes, the most that is attached")
    said = f"{'PDF' if mime == 'application/pdf' else 'Image'} read successfully"
    url = f"data:{mime};base64,{b64encode(data).decode()}"
    return {
        **_result(title, said, [said], truncated=False),
        "attachments": [{"type": "file", "mime": mime, "url": url}],
    }


def _file(path: str, content: str, footer: str) -> str:
    return f"<path>{path}</path>\n<type>file</type>\n<content>\n{content}\n\n{footer}\n</content>"


def _result(title: str, output: str, lines: list[str], *, truncated: bool) -> Result:
    """In the shape of a tool that bounds itself."""
    return {
        "title": title,
        "output": output,
        "metadata": {"preview": "\n".join(lines[:PREVIEW_LINES]), "truncated": truncated},
    }


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """A plain file; a pipe or a device might never end, or never begin."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UsageError(f"File not found: {path}{_like(path)}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UsageError(f"Path is not a file: {path}")
        yield file


def _like(path: str) -> str:
    """Names beside it that hold its own, or are held by it."""
    folder, base = os.path.split(path)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ""
    wanted = base.lower()
    near = [os.path.join(folder, name) for name in names if name.lower() in wanted or wanted in name.lower()]
    return "\n\nDid you mean one of these?\n" + "\n".join(map(_printable, near[:LIKE_IT])) if near else ""


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _printable(name: str) -> str:
    """A name on one line, whatever bytes it has."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)
