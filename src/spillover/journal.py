"""The journal: one JSON line per clip and retrieval, without content: append, rotate, read.

    <store>/.ledger/journal                      the newest lines
    <store>/.ledger/journal.<when>-<random>      what was rotated away, the oldest first by name

    {"operation":"clip","outcome":"stored","when":1763000000.123,"scope":"/home/me/app","tool":"npm",…}

A line is one write of less than 4,096 bytes to a file that is opened to append, so that the lines of 200 writers do not
mix. The writer that fills the file renames it, and removes the oldest files when all together are too large. The
journal is as private as the store: its folder is opened through the store's own, which is checked, links are not
followed, and files are 0600.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store import Store, complete
from spillover.store.folder import READ, TEMP, Folder, is_ours, make_file, shut
from spillover.store.record import EVERY, covers

Operation = Literal["clip", "read", "grep", "outline", "list", "diff", "schema"]
EntryOutcome = Literal["whole", "stored", "lost", "failed"]
#: The operations that go back to a stored output.
RETRIEVALS = ("read", "grep", "outline", "list", "diff")

#: Bytes of each text and of the scope that a line keeps; more make the journal larger.
MAX_TEXT_BYTES = {"tool": 200, "host": 60, "command": 800, "kind": 20, "ref": 120}
MAX_SCOPE_BYTES = 1_024
#: A longer line is not ours: appending more bytes than this at once is not atomic everywhere.
MAX_LINE_BYTES = 4_096
#: Ranges of lines that an entry keeps; more make its line longer.
MAX_RANGES = 20
#: Larger numbers are cut to this, and a line with one is damaged.
MAX_COUNT = 10**12

FOLDER = ".ledger"
JOURNAL = "journal"
#: The size at which the file is renamed; larger files are removed in larger steps.
MAX_FILE_BYTES = 8 << 20
#: The size of all files together; more remember a longer time. A line has about 200 bytes.
MAX_JOURNAL_BYTES = 64 << 20
#: Bytes read at once; more take more memory.
BLOCK_BYTES = 1 << 20
_APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A clip or a retrieval. Tokens are by the counter of its settings."""

    operation: Operation  # "schema": the descriptions of our own tools, which every session pays for
    outcome: EntryOutcome  # "failed": a retrieval that was answered with an error
    when: Annotated[float, msgspec.Meta(ge=0, lt=1e11)]  # seconds since 1970
    scope: str
    tool: str
    host: str = ""  # the title of the agent that called, if known
    command: str = ""  # of a retrieval: the command of the stored output
    kind: str = ""
    ref: str = ""
    produced: Count = 0  # tokens the tool produced
    base: Count = 0  # tokens of these that the host would have shown without us
    shown: Count = 0  # tokens of the output that reached the model; of a retrieval and a schema, all that did
    notice: Count = 0  # tokens of notices and gap markers
    milliseconds: Count = 0
    lines: tuple[tuple[Count, Count], ...] = ()  # of a retrieval: the lines fetched
    near: Count | None = None  # of fetched lines that had been hidden: the distance to the nearest shown line

    @property
    def received(self) -> int:
        """All tokens that reached the model."""
        return self.shown + self.notice


def folder_of(store: Store) -> str | None:
    """Return the folder beside which a store's journal is kept, on this machine; None for a store without one."""
    return complete(store).folder


def append(
    folder: str, entry: Entry, *, file_bytes: int = MAX_FILE_BYTES, journal_bytes: int = MAX_JOURNAL_BYTES
) -> None:
    """Append a line to the journal; raise OSError or StoreError if that fails."""
    line = encode(entry)
    with Folder(folder, make=True) as root:
        _refuse_links(root)
        ledger = root.open_folder(FOLDER, make=True)
        try:
            fd = _open_journal(ledger, root.path)
            try:
                facts = os.fstat(fd)
                if facts.st_size and os.pread(fd, 1, facts.st_size - 1) != b"\n":
                    line = b"\n" + line  # end the half line that a full disk left
                os.write(fd, line)
            finally:
                os.close(fd)
            if facts.st_size + len(line) >= file_bytes:
                _rotate(ledger, facts.st_ino, journal_bytes)
        finally:
            shut(ledger)


def read(
    folder: str,
    *,
    since: float = 0.0,
    scope: str = EVERY,
    newest: bool = False,
    fitting: bool = True,
    block: int = BLOCK_BYTES,
) -> Iterator[Entry]:
    """Yield the undamaged entries of a scope, the oldest or the newest first.

    `fitting=False` leaves out the clips of output that fitted.
    """
    scope = shorten_scope(scope)
    for entry in read_all(folder, newest=newest, block=block):
        if entry is None or (not fitting and (entry.operation, entry.outcome) == ("clip", "whole")):
            continue
        if entry.when >= since and covers(scope, entry.scope):
            yield entry


def read_all(folder: str, *, newest: bool = False, block: int = BLOCK_BYTES) -> Iterator[Entry | None]:
    """Yield every entry, the oldest or the newest first; None for a line that is damaged."""
    read_lines = _lines_backwards if newest else _lines_forwards
    with _files(folder) as (ledger, names, current):
        files = [*names, JOURNAL]
        for name in reversed(files) if newest else files:
            try:  # a file may be rotated away meanwhile
                fd = _open_file(ledger, name, current) if name != JOURNAL else current
            except FileNotFoundError:
                continue
            try:
                for lines in read_lines(fd, block):
                    yield from map(decode, filter(None, reversed(lines) if newest else lines))
            finally:
                if fd != current:
                    shut(fd)


def size(folder: str) -> int:
    """Return the bytes of all files, which change with every line."""
    total = 0
    with _files(folder) as (ledger, names, current):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(name, dir_fd=ledger, follow_symlinks=False).st_size
        return total + (os.fstat(current).st_size if current >= 0 else 0)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


def encode(entry: Entry) -> bytes:
    """Return the line of an entry, with its newline. Fields that have their default are left out."""
    texts = {name: _shorten(getattr(entry, name), max_bytes) for name, max_bytes in MAX_TEXT_BYTES.items()}
    counts = {
        name: min(max(0, getattr(entry, name)), MAX_COUNT)
        for name in ("produced", "base", "shown", "notice", "milliseconds")
    }
    scope = _shorten(shorten_scope(entry.scope), MAX_SCOPE_BYTES)
    short = replace(entry, when=round(entry.when, 3), scope=scope, lines=entry.lines[:MAX_RANGES], **texts, **counts)
    line = _encode(short)
    if len(line) >= MAX_LINE_BYTES:  # quotes and backslashes take two bytes each
        line = _encode(replace(short, command=""))
    return line + b"\n"


def decode(line: bytes) -> Entry | None:
    """Return the entry of a line, without its newline; None for one that is damaged."""
    if len(line) >= MAX_LINE_BYTES:
        return None
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def shorten_scope(scope: str) -> str:
    """Return the scope that the journal writes: a hash in place of a very long path."""
    data = scope.encode("utf-8", "replace")
    return scope if len(data) <= MAX_SCOPE_BYTES else "/sha256/" + hashlib.sha256(data).hexdigest()


def _shorten(text: str, max_bytes: int) -> str:
    """Return at most `max_bytes` of a text, cut between characters, without control codes and lone surrogates."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    data = text.encode()
    return text if len(data) <= max_bytes else data[:max_bytes].decode("utf-8", "ignore")


def _refuse_links(root: Folder) -> None:
    """Refuse a store whose folder for temporary files is a link: it takes no output either."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(TEMP, dir_fd=root.fd, follow_symlinks=False).st_mode):
            raise StoreError(f"{root.path}/{TEMP} is not a folder of ours.")


def _open_journal(ledger: int, root: str) -> int:
    for _ in range(3):  # another process may rename or create it at this moment
        try:
            fd = os.open(JOURNAL, _APPEND, dir_fd=ledger)
        except FileNotFoundError:
            with suppress(FileExistsError):
                shut(make_file(JOURNAL, ledger))
            continue
        if not is_ours(os.fstat(fd)):
            shut(fd)
            break
        return fd
    raise StoreError(f"{root}/{FOLDER}/{JOURNAL} is not a plain file of ours.")


def _rotate(ledger: int, inode: int, journal_bytes: int) -> None:
    """Rename the full journal, unless another process has just done so, and remove the oldest files."""
    with suppress(FileNotFoundError):
        if os.stat(JOURNAL, dir_fd=ledger, follow_symlinks=False).st_ino != inode:
            return
        name = f"{JOURNAL}.{time.time_ns():020d}-{os.urandom(4).hex()}"
        os.rename(JOURNAL, name, src_dir_fd=ledger, dst_dir_fd=ledger)
    total = 0
    for name in reversed(_old_files(ledger)):
        with suppress(FileNotFoundError):
            total += os.stat(name, dir_fd=ledger, follow_symlinks=False).st_size
            if total > journal_bytes:
                os.unlink(name, dir_fd=ledger)


def _old_files(ledger: int) -> list[str]:
    begin = JOURNAL + "."
    return sorted(name for name in os.listdir(ledger) if name.startswith(begin) and name[len(begin) :][:20].isdecimal())


@contextmanager
def _files(folder: str) -> Iterator[tuple[int, list[str], int]]:
    """Open the journal: its folder, the names of rotated files, and the newest file; -1 for what does not exist."""
    ledger = -1
    current = -1
    try:
        with suppress(FileNotFoundError), Folder(folder) as root:
            ledger = root.open_folder(FOLDER)
        names: list[str] = []
        if ledger >= 0:
            # Open the newest before listing: a file that is rotated meanwhile is then under one of its two names.
            with suppress(FileNotFoundError):
                current = _open_file(ledger, JOURNAL)
            names = _old_files(ledger)
        yield ledger, names, current
    finally:
        shut(current)
        shut(ledger)


def _open_file(ledger: int, name: str, current: int = -1) -> int:
    """Open a file of ours; FileNotFoundError for anything else, and for the file that is open as `current`."""
    try:
        fd = os.open(name, READ, dir_fd=ledger)
    except OSError as error:  # a link, or a file that we may not read
        raise FileNotFoundError(name) from error
    facts = os.fstat(fd)
    if not is_ours(facts) or (current >= 0 and os.fstat(current).st_ino == facts.st_ino):
        shut(fd)
        raise FileNotFoundError(name)
    return fd


def _lines_forwards(fd: int, block: int) -> Iterator[list[bytes]]:
    """Yield the complete lines of a file, a block at a time; a last line without its newline is left out."""
    at = 0
    rest = b""
    while fd >= 0 and (data := os.pread(fd, block, at)):
        at += len(data)
        end = data.rfind(b"\n") + 1
        if end:
            yield (rest + data[:end]).split(b"\n")
            rest = data[end:]
        elif len(rest) < MAX_LINE_BYTES:
            rest += data[:MAX_LINE_BYTES]  # no line of ours is so long: what remains is damaged


def _lines_backwards(fd: int, block: int) -> Iterator[list[bytes]]:
    """Yield the complete lines of a file, a block at a time from its end."""
    at = os.fstat(fd).st_size if fd >= 0 else 0
    rest = b""
    while at > 0:
        begin = max(0, at - block)
        data = os.pread(fd, at - begin, begin) + rest
        at = begin
        cut = data.find(b"\n") + 1 if begin else 0
        if begin and not cut:
            rest = data[:MAX_LINE_BYTES]
            continue
        rest = data[:cut]
        yield data[cut : data.rfind(b"\n") + 1].split(b"\n")
