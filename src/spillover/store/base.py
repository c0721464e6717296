"""Refs and records: what an output is called, and what is known about it besides its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import LineIndex

#: So many that nobody finds two outputs with the same ones; a store refuses the second (12 took minutes to find).
REF_DIGITS = 16
HASH_DIGITS = 64
TOOL_CHARS = 32
#: A record remembers so many of the notices that were given for its output.
NOTICES = 16
#: The shape of a ref, and of anything else that may become part of a path.
REF_SHAPE = re.compile(r"[a-z0-9_.]{1,32}-[0-9a-f]{12,64}", re.ASCII)
#: What a person may type for it: a ref, the start of one, or the start of its digits.
REF_TYPED = re.compile(r"(?:[a-z0-9_.]{1,32}-)?[0-9a-f]{1,64}|[a-z0-9_.]{1,32}-?", re.ASCII)


def mint(tool: str, sha256: str, digits: int = REF_DIGITS) -> str:
    """Return the name of an output: what made it, and the start of its own hash, so that no output can carry its own ref."""
    name = re.sub(r"[^a-z0-9_.]+", "_", tool.lower())[:TOOL_CHARS].strip("_.") or "tool"
    return f"{name}-{sha256[:digits]}"


def name_for(tool: str, sha256: str) -> str:
    """Return the ref of an output; a hash that is none never becomes part of a path."""
    if not is_hash(sha256):
        raise UsageError(f"sha256={sha256[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits.")
    return mint(tool, sha256)


def is_hash(text: str) -> bool:
    """Return whether this is a SHA-256 in hexadecimal digits."""
    return len(text) == HASH_DIGITS and REF_SHAPE.fullmatch(f"x-{text}") is not None


def check_ref(ref: str) -> str:
    """Return the ref, if it has the shape we mint or the start of one; a hostile one stops here."""
    if not isinstance(ref, str) or not REF_TYPED.fullmatch(ref):
        shown = repr(ref)[:76]
        raise RefError(
            f"{shown} is not a ref; refs look like bash-7f3a9c2e41d05b86. `spill list` shows what is stored."
        )
    return ref


def matches(prefix: str, ref: str) -> bool:
    """Return whether this is how a ref, or the hash in it, begins."""
    return ref.startswith(prefix) or ref.rpartition("-")[2].startswith(prefix)


def resolve(ref: str, known: Iterator[str]) -> str:
    """Return the one stored ref that `ref` names, whole or by a unique prefix."""
    check_ref(ref)
    found = []
    for name in known:
        if name == ref:
            return ref
        if matches(ref, name):
            found.append(name)
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(sorted(found)[:4])
        raise RefError(
            f"{ref} is ambiguous: {len(found):,} outputs begin with it ({some}{', …' if len(found) > 4 else ''}); write more of it."
        )
    raise UnknownRefError(ref)


class UnknownRefError(RefError):
    """Nothing is stored under a ref."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"No output is stored under {ref}: it never existed, or it has been removed. "
            "`spill list` shows what is stored; if it is gone, run the tool again."
        )


class Owner(Struct, frozen=True, array_like=True):
    """A scope that has an output, and its newest call."""

    scope: str
    created: float
    call_id: str | None = None
    command: str | None = None


class Record(Struct, frozen=True, kw_only=True):
    """What is known about a stored output besides its bytes."""

    ref: str
    tool: str
    sha256: str  # of the stored bytes
    bytes: int  # stored
    lines: int  # stored
    created: float = 0.0  # 0: set when it is published
    call_id: str | None = None
    command: str | None = None
    partial: str | None = None  # why not all of it is stored; None when all of it is
    produced_bytes: int | None = None  # of the whole output, where only a part is stored
    produced_lines: int | None = None
    segments: tuple[tuple[str, int], ...] = ()  # (stream, bytes) in order of arrival; empty when all of it is stdout
    index: LineIndex = field(default_factory=LineIndex)
    shown: tuple[tuple[int, int], ...] = ()  # the line ranges the model saw
    kind: str = ""  # what the output was recognized as
    why: tuple[tuple[int, int, str], ...] = ()  # (first line, last line, why they were shown)
    notices: tuple[str, ...] = ()  # notices about it, as `view.forged.remember` writes them; the newest last
    made: str = ""  # the choices behind the clip, as `show.made` writes them: limits, keep, query, the earlier run; "" if unknown
    pinned: bool = False
    scope: str | None = None  # the scope it belongs to; None: no scope, and visible only with --all-scopes
    others: tuple[Owner, ...] = ()  # other scopes that have the same bytes
    redacted: int | None = None  # how many secrets were covered before it was stored; None: redaction was off
    path: str | None = None  # a file with its own name, if this call made one; not saved
    only_here: str | None = None  # why it is only on this machine, if it is; not saved

    def __eq__(self, other: object) -> bool:
        """Compare all that is saved: everything but the last two fields."""
        return isinstance(other, Record) and astuple(self)[:-2] == astuple(other)[:-2]

    def __hash__(self) -> int:
        return hash(self.ref)

    @property
    def facts(self) -> tuple[object, ...]:
        """What it says about the bytes; two records with the same facts describe the same output."""
        return self.sha256, self.bytes, self.partial, self.produced_bytes, self.produced_lines, self.segments

    def with_notices(self, held: Record) -> Self:
        """Return the same record, with the notices that were written before for the same output."""
        return replace(self, notices=tuple(dict.fromkeys((*held.notices, *self.notices)))[-NOTICES:])

    def with_ref(self, ref: str) -> Self:
        return replace(self, ref=ref)

    def with_created(self, now: float) -> Self:
        return self if self.created else replace(self, created=now)


class BytesMissingError(RefError):
    """The record of an output is there, and its bytes are not."""


class RefTakenError(StoreError):
    """Another output has this ref."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"another output is stored as {ref}; one ref never names two")
