"""What a store is: put a stream, open it for random access, list, delete. Refs, records and the Protocol."""

from __future__ import annotations

import re

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import Blob, LineIndex, Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol, Self
else:
    Protocol = object

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


def resolve(ref: str, known: Iterator[str], missing: Callable[[str], RefError] | None = None) -> str:
    """Return the one stored ref that `ref` names, whole or by a unique prefix; `missing` makes the error for none."""
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
    raise (missing or unknown)(ref)


def unknown(ref: str) -> RefError:
    """Return what to raise where nothing is stored under a ref."""
    return RefError(
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
    here: str | None = None  # why it is only on this machine, if it is; not saved

    def __eq__(self, other: object) -> bool:
        """Compare all that is saved: everything but the last two fields."""
        return isinstance(other, Record) and astuple(self)[:-2] == astuple(other)[:-2]

    def __hash__(self) -> int:
        return hash(self.ref)

    @property
    def facts(self) -> tuple[object, ...]:
        """What it says about the bytes; two records with the same facts describe the same output."""
        return self.sha256, self.bytes, self.partial, self.produced_bytes, self.produced_lines, self.segments

    def beside(self, held: Record) -> Self:
        """Return the same record, with the notices that were written before for the same output."""
        return replace(self, notices=tuple(dict.fromkeys((*held.notices, *self.notices)))[-NOTICES:])

    def renamed(self, ref: str) -> Self:
        return replace(self, ref=ref)

    def dated(self, now: float) -> Self:
        return self if self.created else replace(self, created=now)


class Writer(Protocol):
    """An output that is being stored. It is not visible before `publish`."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of it, or raise StoreError and append nothing."""

    def fileno(self) -> int | None:
        """Return the file descriptor of the bytes written so far, if there is one."""

    def blob(self) -> Blob:
        """Return what has been written so far, so that lines can be selected before it is published."""

    def publish(self, record: Record) -> Record:
        """Make it visible, all at once, and return the record with its ref. Raises StoreError."""

    def abandon(self) -> None:
        """Leave nothing behind. Safe to call at any time, more than once, and after `publish`."""


class Store(Protocol):
    """Where whole outputs are kept."""

    def writer(self) -> Writer:
        """Start storing an output; raises StoreError if the store cannot take any."""

    def get(self, ref: str) -> Record:
        """Return the record of a ref or of a unique prefix; raises RefError."""

    def open(self, ref: str) -> Blob:
        """Return the bytes of a ref; raises RefError, or StoreError when they cannot be read."""

    def list(self) -> Iterator[Record]:
        """Return every stored output, newest first."""

    def delete(self, ref: str) -> None:
        """Remove one output; raises RefError when there is none."""

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Pin or unpin an output."""

    def where(self, ref: str) -> str | None:
        """Return a path that other tools can open, if there is one; for a complete ref, also before it is published."""


class BytesMissingError(RefError):
    """The record of an output is there, and its bytes are not."""


#: What `verify` says of such an output.
BYTES_MISSING = "its bytes are missing"


class RefTakenError(StoreError):
    """Another output has this ref."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"another output is stored as {ref}; one ref never names two")


def verify(store: Store, ref: str) -> str | None:
    """Read a stored output completely and return what is wrong with it; None if nothing is."""
    meter = Meter()
    try:
        record, blob = _opened(store, ref)
        try:
            while part := blob.read(meter.bytes, meter.bytes + (1 << 20)):
                meter.feed(part)
        finally:
            blob.close()
    except BytesMissingError:
        store.get(ref)  # or it was removed meanwhile, and nothing is wrong: RefError
        return BYTES_MISSING
    except StoreError as error:
        return str(error)
    if meter.bytes != record.bytes:
        return f"{record.bytes:,} bytes were stored; {meter.bytes:,} are there."
    if meter.sha256 != record.sha256:
        return f"Its bytes have changed: their SHA-256 is {meter.sha256}; that of what was stored is {record.sha256}."
    if meter.lines != record.lines:
        return f"Its record counts {record.lines:,} lines; there are {meter.lines:,}."
    return None


def _opened(store: Store, ref: str) -> tuple[Record, Blob]:
    """Return the record and the bytes, with one lookup where a store can do that: each may be a request."""
    at_once = getattr(store, "opened", None)
    if at_once is not None:
        found: tuple[Record, Blob] = at_once(ref)
        return found
    record = store.get(ref)
    return record, store.open(record.ref)
