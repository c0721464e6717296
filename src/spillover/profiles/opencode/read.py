"""opencode's Read tool: numbered lines of a file or names in a folder, a page at a time; bounded, so never clipped again."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from spillover.base.data import dataclass
from spillover.errors import UsageError
from spillover.profiles.opencode.lines import LINE_CHARS, Lines, Page, fit, take_page
from spillover.profiles.opencode.media import MEDIA_BYTES, SAMPLE, is_binary, media_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO, Literal

    Result = dict[str, Any]

LIMIT = 2_000
MAX_BYTES = 50 * 1_024
PREVIEW_LINES = 20
#: How many similar names are proposed for a file that is missing.
LIKE_IT = 3


@dataclass(frozen=True, slots=True)
class Style:
    """What differs between opencode's Read and the document's."""

    first: int  # the `offset` of the first line
    suffix: str  # what a long line ends in

    def offset(self, line: int) -> int:
        """Return the offset of a line that is counted from 1."""
        return line - 1 + self.first


STYLES = {
    "today": Style(1, f"... (line truncated to {LINE_CHARS} chars)"),
    "document": Style(0, "..."),
}


def read(
    path: str | os.PathLike[str],
    offset: int | None = None,
    limit: int = LIMIT,
    *,
    column: int = 1,
    root: str = "",
    style: Literal["today", "document"] = "today",
) -> Result:
    """Read `limit` lines of a file from `offset` on, or names of a folder; `{title, output, metadata}`.

    `style="today"`, as opencode does it now: offsets count from 1, and a long line ends in "... (line truncated to 2000
    chars)". `style="document"`: they count from 0, and it ends in "...". Lines are numbered from 1 in both.
    `column` continues inside the line at `offset`, from that byte of it, so that every part of a huge line can be read.
    """
    if style not in STYLES:
        raise UsageError(f"style={style!r} is not a style of Read; use {' or '.join(map(repr, STYLES))}.")
    chosen = STYLES[style]
    offset = chosen.first if offset is None else offset
    for name, value, least in (("offset", offset, chosen.first), ("limit", limit, 1), ("column", column, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"{name} must be greater than or equal to {least}")
    line = offset + 1 - chosen.first
    where = os.path.abspath(os.path.join(root, path))
    title = os.path.relpath(where, root or None)
    limit = min(limit, LIMIT)
    if os.path.isdir(where):
        return _folder(where, title, line, limit, chosen)
    with _open(where) as file:
        sample = file.read(SAMPLE)
        mime = media_type(sample)
        if mime:
            return _media(file, where, title, mime, sample)
        if is_binary(where, sample):
            raise UsageError(f"Cannot read binary file: {where}")
        file.seek(0)
        if column > 1:
            return _inside(file, where, title, line, column, chosen)
        return _lines(file, where, title, line, limit, chosen)


def _lines(file: BinaryIO, path: str, title: str, first: int, limit: int, style: Style) -> Result:
    page = take_page(Lines(file), first, limit, MAX_BYTES, style.suffix)
    if page.count < first and (page.count, first) != (0, 1):
        raise _out_of_range(style.offset(first), page.count)
    last = first + len(page.lines) - 1
    following = f"Use offset={style.offset(last + 1)} to continue."
    if page.capped:
        footer = f"(Output capped at 50 KB. Showing lines {first}-{last}. {following})"
    elif page.more:
        footer = f"(Showing lines {first}-{last} of {page.count}. {following})"
    else:
        footer = f"(End of file - total {page.count} lines)"
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(page.lines, first))
    output = _file(path, numbered, footer + _within(page, style))
    return _result(title, output, page.lines, truncated=page.more or page.capped)


def _out_of_range(offset: int, lines: int) -> UsageError:
    return UsageError(f"Offset {offset} is out of range for this file ({lines} lines)")


def _within(page: Page, style: Style) -> str:
    """Say how to continue inside the first line that was cut: the footer leads past it."""
    if page.cut is None:
        return ""
    line, column, size = page.cut
    return f"\n(Line {line} has {size} bytes. Use offset={style.offset(line)} column={column} to continue inside it.)"


def _inside(file: BinaryIO, path: str, title: str, line: int, column: int, style: Style) -> Result:
    """Read one line from a byte of it on."""
    lines = Lines(file)
    lines.pass_over(line - 1)
    if lines.ended:
        raise _out_of_range(style.offset(line), lines.count)
    start = lines.position
    size = lines.line(0)[1]
    if column > size:
        raise UsageError(f"Column {column} is out of range for line {line} ({size} bytes)")
    more = not lines.ended
    file.seek(start + column - 1)
    skipped, data = fit(file.read(min(MAX_BYTES, size - column + 1)), MAX_BYTES, last=size - column + 1 <= MAX_BYTES)
    first, last = column + skipped, column + skipped + len(data) - 1
    if last < size:
        following = f"Use offset={style.offset(line)} column={last + 1} to continue."
        footer = f"(Showing bytes {first}-{last} of {size} of line {line}. {following})"
    elif more:
        footer = f"(End of line {line} - total {size} bytes. Use offset={style.offset(line + 1)} to continue.)"
    else:
        footer = f"(End of line {line} - total {size} bytes. End of file - total {line} lines)"
    text = data.decode("utf-8", "replace")
    output = _file(path, f"{line}: {text}", footer)
    return _result(title, output, [text[:LINE_CHARS]], truncated=last < size or more)


def _folder(path: str, title: str, first: int, limit: int, style: Style) -> Result:
    """List names in order, folders with a slash behind them."""
    try:
        with os.scandir(path) as found:
            names = [_make_printable(entry.name) + "/" * _is_folder(entry) for entry in found]
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}") from error
    names.sort(key=lambda name: (name.casefold(), name.swapcase()))
    shown: list[str] = []
    room = MAX_BYTES
    for name in names[first - 1 : first - 1 + limit]:
        room -= len(name.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        shown.append(name)
    more = first - 1 + len(shown) < len(names)
    beyond = f"Use 'offset' parameter to read beyond entry {style.offset(first + len(shown))}"
    said = f"(Showing {len(shown)} of {len(names)} entries. {beyond})" if more else f"({len(names)} entries)"
    listed = "\n".join(shown)
    output = f"<path>{path}</path>\n<type>directory</type>\n<entries>\n{listed}\n\n{said}\n</entries>"
    return _result(title, output, shown, truncated=more)


def _media(file: BinaryIO, path: str, title: str, mime: str, sample: bytes) -> Result:
    """Attach an image or a PDF as it is."""
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
    """Return a result in the shape of a tool that bounds itself."""
    return {
        "title": title,
        "output": output,
        "metadata": {"preview": "\n".join(lines[:PREVIEW_LINES]), "truncated": truncated},
    }


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    """Open a plain file; a pipe or a device might never end, or never begin."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UsageError(f"File not found: {path}{_propose(path)}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UsageError(f"Path is not a file: {path}")
        yield file


def _propose(path: str) -> str:
    """Return names beside it that contain its own, or are contained in it."""
    folder, base = os.path.split(path)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ""
    wanted = base.lower()
    near = [os.path.join(folder, name) for name in names if name.lower() in wanted or wanted in name.lower()]
    return "\n\nDid you mean one of these?\n" + "\n".join(map(_make_printable, near[:LIKE_IT])) if near else ""


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _make_printable(name: str) -> str:
    """Return a name on one line, whatever bytes it has."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)
