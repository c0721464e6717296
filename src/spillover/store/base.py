"""What a store is: put a stream, open it for random access, list, delete. Refs, records and the Protocol."""

from __future__ import annotations

import re

from spillover.data import dataclass, field, replace
from spillover.errors import RefError, StoreError, UsageError
from spillover.intake.blob import Blob
from spillover.intake.meter import LineIndex, Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol, Self
else:
    Protocol = object

REF_DIGITS = 12
#: How many digits a ref may have: more of them only where an output with another hash has the shorter name.
REF_LENGTHS = (REF_DIGITS, 16, 24, 32, 64)
TOOL_CHARS = 32
#: The shape we mint; anything else never touches a path.
REF_SHAPE = re.compile(r"[a-z0-9_.]{1,32}-[0-9a-f]{12,64}", re.ASCII)
#: What a person may type for it: a ref, the start of one, or the start of its digits.
REF_TYPED = re.compile(r"(?:[a-z0-9_.]{1,32}-)?[0-9a-f]{1,64}|[a-z0-9_.]{1,32}-?", re.ASCII)


def mint(tool: str, sha256: str, digits: int = REF_DIGITS) -> str:
    """The name of an output: what made it, and the start of its own hash, so that no output can carry its own ref."""
    name = re.sub(r"[^a-z0-9_.]+", "_", tool.lower())[:TOOL_CHARS].strip("_.") or "tool"
    return f"{name}-{sha256[:digits]}"


def names_for(tool: str, sha256: str) -> Iterator[str]:
    """The refs an output may get, shortest first; a hash that is none never becomes part of a path."""
    for digits in REF_LENGTHS:
        ref = mint(tool, sha256, digits)
        if not REF_SHAPE.fullmatch(ref) or len(sha256) != REF_LENGTHS[-1]:
            raise UsageError(f"sha256={sha256[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits.")
        yield ref


def checked(ref: str) -> str:
    """The ref, if it has the shape we mint or the start of one; a hostile one stops here."""
    if not isinstance(ref, str) or not REF_TYPED.fullmatch(ref):
        shown = repr(ref)[:80]
        raise RefError(f"{shown} is not a ref; refs look like bash-7f3a9c2e41d0. `spill list` shows what is stored.")
    return ref


def resolve(ref: str, known: Iterator[str]) -> str:
    """The one stored ref that `ref` names, whole or by a start that only one has."""
    checked(ref)
    matches = []
    for name in known:
        if name == ref:
            return ref
        if name.startswith(ref) or name.rpartition("-")[2].startswith(ref):
            matches.append(name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        some = ", ".join(sorted(matches)[:4])
        raise RefError(
            f"{ref} may be any of {len(matches):,} outputs ({some}{', …' if len(matches) > 4 else ''}); write more of it."
        )
    raise unknown(ref)


def unknown(ref: str) -> RefError:
    """What to raise where nothing is stored under a ref."""
    return RefError(
        f"No output is stored under {ref}: it was never here, or has ended by age, size or count. "
        "`spill list` shows what is stored; if it is gone, run the tool again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known of a stored output beside its bytes."""

    ref: str
    tool: str
    sha256: str  # of the stored bytes
    bytes: int  # stored
    lines: int  # stored
    created: float = 0.0  # 0: it is published with the moment at which it is
    call_id: str | None = None
    command: str | None = None
    partial: str | None = None  # why not all of it is stored; None when all of it is
    produced_bytes: int | None = None  # of the whole output, where only a part is stored
    produced_lines: int | None = None
    segments: tuple[tuple[str, int], ...] = ()  # (stream, bytes) in order of arrival; empty when all of it is stdout
    index: LineIndex = field(default_factory=LineIndex)
    shown: tuple[tuple[int, int], ...] = ()  # the line ranges the model saw
    kind: str = ""  # what the output was taken for
    why: tuple[tuple[int, int, str], ...] = ()  # (first line, last line, why they were shown)
    pinned: bool = False
    path: str | None = field(default=None, compare=False)  # a file of its own name, where this call got one; not kept

    @property
    def facts(self) -> tuple[object, ...]:
        """What it says of its bytes; two records with the same facts are of the same output."""
        return self.sha256, self.bytes, self.partial, self.produced_bytes, self.produced_lines, self.segments

    def renamed(self, ref: str) -> Self:
        return replace(self, ref=ref)

    def dated(self, now: float) -> Self:
        return self if self.created else replace(self, created=now)


class Writer(Protocol):
    """An output on its way into a store. Nothing of it can be seen before `publish`."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of it, or raise StoreError and append nothing."""

    def fileno(self) -> int | None:
        """A descriptor that may be written (and spliced) into directly, where there is one."""

    def blob(self) -> Blob:
        """What was written so far, to select from before it is published."""

    def publish(self, record: Record) -> Record:
        """Make it visible, all at once; the record comes back with the ref it got. Raises StoreError."""

    def abandon(self) -> None:
        """Leave nothing behind. Safe to call at any time, more than once, and after `publish`."""


class Store(Protocol):
    """Where whole outputs are kept."""

    def writer(self) -> Writer:
        """Begin an output; raises StoreError when the store cannot take any."""

    def get(self, ref: str) -> Record:
        """The record of a ref or of a unique start of one; raises RefError."""

    def open(self, ref: str) -> Blob:
        """The bytes of a ref; raises RefError, or StoreError when they cannot be read."""

    def list(self) -> Iterator[Record]:
        """Every stored output, newest first."""

    def delete(self, ref: str) -> None:
        """Remove one output; raises RefError when there is none."""

    def pin(self, ref: str, pinned: bool = True) -> None:
        """Keep an output from retention, or no longer."""

    def where(self, ref: str) -> str | None:
        """A path that other tools can open, where there is one; a whole ref has it also before it is published."""


def verify(store: Store, ref: str) -> str | None:
    """What is wrong with a stored output, read again from its first byte to its last; None when nothing is."""
    try:
        record = store.get(ref)
        blob = store.open(record.ref)
    except StoreError as error:
        return str(error)
    meter = Meter()
    try:
        while part := blob.read(meter.bytes, meter.bytes + (1 << 20)):
            meter.feed(part)
    except StoreError as error:
        return str(error)
    finally:
        blob.close()
    if meter.bytes != record.bytes:
        return f"{record.bytes:,} bytes were stored; {meter.bytes:,} are there."
    if meter.sha256 != record.sha256:
        return f"Its bytes have changed: their SHA-256 is {meter.sha256}; that of what was stored is {record.sha256}."
    if meter.lines != record.lines:
        return f"Its record counts {record.lines:,} lines; there are {meter.lines:,}."
    return None
