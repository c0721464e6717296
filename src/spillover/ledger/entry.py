"""One line of the journal: what was clipped or fetched back, when, for whom, and how many tokens. Never a word of content.

    {"operation":"clip","outcome":"stored","when":1763000000.123,"scope":"/home/me/app","tool":"npm",…}

A line stays below 4,096 bytes, so that one write puts it down in one piece. Fields that have their default are left out.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

Operation = Literal["clip", "read", "grep", "outline", "list", "diff", "schema"]
EntryOutcome = Literal["whole", "stored", "lost", "failed"]
#: Going back, in the words of an entry's operation.
RETRIEVALS = ("read", "grep", "outline", "list", "diff")

#: Bytes kept of each text.
MAX_TEXT_BYTES = {"tool": 200, "host": 60, "command": 800, "kind": 20, "ref": 120}
MAX_SCOPE_BYTES = 1_024
#: A line that is longer is none of ours.
LINE_BYTES = 4_096
MAX_RANGES = 20
MAX_COUNT = 10**12

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A clip or a retrieval. Tokens are by the counter that was chosen for it."""

    operation: Operation  # "schema": the descriptions of our own tools, which every session pays for
    outcome: EntryOutcome  # "failed": a retrieval that was answered by what is wrong with it
    when: Annotated[float, msgspec.Meta(ge=0, lt=1e11)]  # seconds since 1970
    scope: str
    tool: str
    host: str = ""  # the agent that asked, where it is known: "Claude Code"
    command: str = ""  # of a retrieval: of the output it went back to
    kind: str = ""
    ref: str = ""
    produced: Count = 0  # tokens the tool produced
    base: Count = 0  # tokens of these that the host would have shown without us
    shown: Count = 0  # tokens of the output that reached the model; of a retrieval and a schema, all that did
    notice: Count = 0  # tokens that reached the model and are not the output's
    milliseconds: Count = 0
    lines: tuple[tuple[Count, Count], ...] = ()  # of a retrieval: what was fetched
    near: Count | None = None  # how many lines the nearest shown line is from what was fetched and had not been shown

    @property
    def received(self) -> int:
        """All tokens that reached the model."""
        return self.shown + self.notice


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


def encode(entry: Entry) -> bytes:
    """Return the line of an entry, with its newline."""
    texts = {name: _shorten(getattr(entry, name), most) for name, most in MAX_TEXT_BYTES.items()}
    counts = {
        name: min(max(0, getattr(entry, name)), MAX_COUNT)
        for name in ("produced", "base", "shown", "notice", "milliseconds")
    }
    scope = _shorten(shorten_scope(entry.scope), MAX_SCOPE_BYTES)
    short = replace(entry, when=round(entry.when, 3), scope=scope, lines=entry.lines[:MAX_RANGES], **texts, **counts)
    line = _encode(short)
    if len(line) >= LINE_BYTES:  # quotes and backslashes take two bytes each
        line = _encode(replace(short, command=""))
    return line + b"\n"


def decode(line: bytes) -> Entry | None:
    """Return the entry of a line, without its newline; None for one that is damaged."""
    if len(line) >= LINE_BYTES:
        return None
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def shorten_scope(scope: str) -> str:
    """Return a scope as the journal has it: a folder whose path is very long is named by its hash."""
    data = scope.encode("utf-8", "replace")
    return scope if len(data) <= MAX_SCOPE_BYTES else "/sha256/" + hashlib.sha256(data).hexdigest()


def _shorten(text: str, most: int) -> str:
    """Return a text without control codes and lone surrogates, cut between characters."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    data = text.encode()
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")
