"""Records of stored outputs, their refs, their scopes, and the runs that printed them.

Everything here is pure: values in, values out. A record is JSON that ends with a hash of itself, which reveals
accidental changes. Its numbers are checked as well, because anybody who can write to the store can write the hash, too.

The same bytes from two scopes are stored once. The record then keeps the time and the command of each scope apart, so
that no scope reads the command of another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, field, msgpack, to_builtins
from msgspec.structs import astuple, replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import LineIndex

#: Hexadecimal digits of a ref. More make refs longer; with fewer, two outputs with the same ref can be found (12 took
#: minutes).
REF_DIGITS = 16
HASH_DIGITS = 64
#: Characters of a tool's name in a ref; more make refs longer.
MAX_TOOL_CHARS = 32
#: The shape of a ref, and of anything else that may become part of a path.
REF_SHAPE = re.compile(r"[a-z0-9_.]{1,32}-[0-9a-f]{12,64}", re.ASCII)
#: A ref as a person may type it: all of it, its start, or the start of its digits.
REF_TYPED = re.compile(r"(?:[a-z0-9_.]{1,32}-)?[0-9a-f]{1,64}|[a-z0-9_.]{1,32}-?", re.ASCII)

#: The scope that sees every output, even those without a scope; files and variables cannot set it.
EVERY = "*"
#: Bytes of a scope. A name becomes part of a key in stores whose keys have at most 1,024 bytes.
MAX_NAME_BYTES = 512
MAX_FOLDER_BYTES = 4_096

#: The newest notices that a record remembers; more make it longer.
MAX_NOTICES = 16
#: Scopes that can have one output; more make its record longer. A new one replaces the oldest.
MAX_OWNERS = 500
#: Seconds for which a scope is not replaced, so that a new one may be refused; with more, more of them are.
OWNER_GRACE_SECONDS = 3_600

#: The format of a record in a folder.
FORMAT = 1
#: Fields that are not in the file: names of files, and facts that only the storing call knows.
NOT_SAVED = ("ref", "pinned", "path", "only_here")
#: Fields of `Record.as_dict`, in order.
_DICT_FIELDS = (
    *("ref", "tool", "call_id", "command", "created", "lines", "bytes", "sha256", "partial", "produced_bytes"),
    *("produced_lines", "segments", "shown", "kind", "why", "pinned", "redacted", "scope"),
)
#: Numbers and times (in seconds from 1970) as they may stand in a record.
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Moment = Annotated[float, Meta(gt=-1e12, lt=1e12)]
#: The end of a record: this key, the hash of everything before it, and the closing brace.
_CHECK = b', "check": "'
_END = b'"}\n'
_RUN_FORMAT = b"spillover-run 1\n"

Bytes = bytes  # records have a field of that name


class UnknownRefError(RefError):
    """Nothing is stored under a ref."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"No output is stored under {ref}: it never existed, or it has been removed. "
            "`spill list` shows what is stored; if it is gone, run the tool again."
        )


class BytesMissingError(RefError):
    """The bytes of a stored record are missing."""


class RefTakenError(StoreError):
    """Another output has this ref."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"another output is stored as {ref}; one ref never names two")


def mint(tool: str, sha256: str) -> str:
    """Return a ref: the tool, and the start of the output's hash, so that no output can contain its own ref."""
    name = re.sub(r"[^a-z0-9_.]+", "_", tool.lower())[:MAX_TOOL_CHARS].strip("_.") or "tool"
    return f"{name}-{sha256[:REF_DIGITS]}"


def name_for(tool: str, sha256: str) -> str:
    """Return the ref of an output; raise UsageError for anything but a SHA-256, since it becomes part of a path."""
    if not is_hash(sha256):
        raise UsageError(f"sha256={sha256[:80]!r} is not a SHA-256 in 64 lower-case hexadecimal digits.")
    return mint(tool, sha256)


def is_hash(text: str) -> bool:
    """Return whether a text is a SHA-256 in hexadecimal digits."""
    return len(text) == HASH_DIGITS and REF_SHAPE.fullmatch(f"x-{text}") is not None


def check_ref(ref: str) -> str:
    """Return a text with the shape of a ref, or of its start, unchanged; RefError for any other value."""
    if not isinstance(ref, str) or not REF_TYPED.fullmatch(ref):
        raise RefError(
            f"{ref!r:.76} is not a ref; refs look like bash-7f3a9c2e41d05b86. `spill list` shows what is stored."
        )
    return ref


def matches(prefix: str, ref: str) -> bool:
    """Return whether a ref, or the hash in it, begins with a prefix."""
    return ref.startswith(prefix) or ref.rpartition("-")[2].startswith(prefix)


def resolve(ref: str, refs: Iterable[str]) -> str:
    """Return the one stored ref that `ref` names, completely or by a unique prefix."""
    check_ref(ref)
    candidates = []
    for name in refs:
        if name == ref:
            return ref
        if matches(ref, name):
            candidates.append(name)
    if not candidates:
        raise UnknownRefError(ref)
    if len(candidates) > 1:
        examples = ", ".join(sorted(candidates)[:4]) + ", …" * (len(candidates) > 4)
        raise RefError(f"{ref} is ambiguous: {len(candidates):,} outputs begin with it ({examples}); write more of it.")
    return candidates[0]


def covers(scope: str, owner: str | None) -> bool:
    """Return whether `scope` may see an output of the scope `owner`; None is no scope.

    A folder ("/home/me/app") sees only itself. A name ("tenant/project/session") also sees everything below it.
    """
    if scope == EVERY:
        return True
    if owner is None or not scope:
        return False
    return scope == owner or (scope[0] != "/" and owner.startswith(scope + "/"))


def check_scope(text: str) -> str:
    """Return a valid scope unchanged; UsageError for any other value."""
    if not isinstance(text, str):
        raise UsageError(f"scope={text!r:.80} is not a text; use a name such as 'acme/web', or None for the project.")
    if text == EVERY:
        return text
    folder = text.startswith("/")
    max_bytes = MAX_FOLDER_BYTES if folder else MAX_NAME_BYTES
    if not text or len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise UsageError(f"scope={text[:80]!r} has {len(text):,} characters; use 1 to {max_bytes:,} bytes.")
    if not text.isprintable():
        raise UsageError(f"scope={text[:80]!r} has characters that cannot be seen; use letters, digits and '-_.@'.")
    for segment in [] if text == "/" else text[folder:].split("/"):
        if segment in ("", ".", "..", EVERY) or (segment != segment.strip() and not folder):
            raise UsageError(
                f"scope={text[:80]!r} has the segment {segment[:80]!r}; use 'tenant/project/session' "
                "or the absolute path of a folder, without empty segments, '.', '..' or '*'."
            )
    return text


def check_given_scope(text: str) -> str:
    """Return a valid scope of a variable, a file or a record unchanged; UsageError for others and for EVERY."""
    if text == EVERY:
        raise UsageError("it means every project. Leave it out, or use --all-scopes where the command has that option.")
    return check_scope(text)


class Owner(Struct, frozen=True, array_like=True):
    """A scope that has an output, and its newest call."""

    scope: str
    created: Moment
    call_id: str | None = None
    command: str | None = None


class Record(Struct, frozen=True, kw_only=True):
    """What is known about a stored output besides its bytes."""

    ref: str
    tool: str
    sha256: str  # of the stored bytes
    bytes: Count  # stored
    lines: Count  # stored
    created: Moment = 0.0  # 0: set by `publish`
    call_id: str | None = None
    command: str | None = None
    partial: str | None = None  # the reason why only a part is stored; None if all of it is
    produced_bytes: Count | None = None  # of the whole output, if only a part is stored
    produced_lines: Count | None = None
    segments: tuple[tuple[str, Count], ...] = ()  # (stream, bytes) in order of arrival; empty if all of it is stdout
    index: LineIndex = field(default_factory=LineIndex)
    shown: tuple[tuple[int, int], ...] = ()  # the line ranges that the model saw
    kind: str = ""  # the format of the output
    why: tuple[tuple[int, int, str], ...] = ()  # (first line, last line, reason to show them)
    notices: tuple[str, ...] = ()  # notices about it, as `document.forgery.digest_notice` writes them; the newest last
    #: The choices behind the clip, as `encode_call` writes them: limits, keep, query, the earlier run; "" if unknown.
    made: str = ""
    pinned: bool = False
    scope: str | None = None  # the scope it belongs to; None: no scope, and visible only with --all-scopes
    others: tuple[Owner, ...] = ()  # other scopes that have the same bytes
    redacted: Count | None = None  # the number of secrets covered before it was stored; None: redaction was off
    path: str | None = None  # the file with a name from this call, if there is one; not saved
    only_here: str | None = None  # the reason why it is only on this machine; None if it is not; not saved

    def __eq__(self, record: object) -> bool:
        """Compare the saved fields: all but the last two."""
        return isinstance(record, Record) and astuple(self)[:-2] == astuple(record)[:-2]

    def __hash__(self) -> int:
        return hash(self.ref)

    @property
    def facts(self) -> tuple[object, ...]:
        """The facts about the bytes, which are equal if two records describe the same output."""
        return self.sha256, self.bytes, self.partial, self.produced_bytes, self.produced_lines, self.segments

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that have the output, as far as the reader may see them."""
        return tuple(owner.scope for owner in owners(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the record for JSON, without its line index, its notices and the recipe of its clip."""
        return {**{name: getattr(self, name) for name in _DICT_FIELDS}, "scopes": self.scopes}

    def with_notices(self, earlier: Record) -> Self:
        """Return the record with the notices of an earlier record of the same output, too."""
        return replace(self, notices=tuple(dict.fromkeys((*earlier.notices, *self.notices)))[-MAX_NOTICES:])

    def with_ref(self, ref: str) -> Self:
        return replace(self, ref=ref)

    def with_created(self, now: float) -> Self:
        """Return the record with a time, if it has none."""
        return self if self.created else replace(self, created=now)

    def with_owners(self, first: Owner, *rest: Owner) -> Self:
        """Return the record for these scopes, with the call of the first."""
        return replace(
            self,
            scope=first.scope,
            created=first.created,
            call_id=first.call_id,
            command=first.command,
            others=rest,
        )


class RunRecord(Struct, frozen=True, kw_only=True):
    """One call of a tool, and the outcome of its output."""

    scope: str
    tool: str
    created: float
    outcome: Literal["whole", "stored", "lost"]
    bytes: int
    lines: int
    exit_code: int | None = None
    seconds: float | None = None
    command: str | None = None
    call_id: str | None = None
    cwd: str | None = None
    ref: str | None = None  # of the stored output
    reason: str | None = None  # the reason why it was not stored
    data: Bytes | None = None  # an output that fitted

    def has_bytes_of(self, ref: str, scope: str | None = None) -> bool:
        """Return whether the run holds the bytes of an output; with a scope, only if it covers the run."""
        if self.data is None or (scope is not None and not covers(scope, self.scope)):
            return False
        return mint(self.tool, hashlib.sha256(self.data).hexdigest()) == ref

    def printed(self, record: Record) -> bool:
        """Return whether this run printed an output: it has the same ref, or holds the same bytes."""
        if self.ref == record.ref or self.data is None:
            return self.ref == record.ref
        return len(self.data) == record.bytes and self.has_bytes_of(record.ref)

    def without_bytes(self, ref: str) -> Self:
        """Return the run with the ref of a removed output instead of its bytes."""
        return replace(self, data=None, ref=ref)


def newest_first(records: Iterable[Record]) -> list[Record]:
    """Return records in the order of all lists: by time, then by ref."""
    return sorted(records, key=lambda record: (-record.created, record.ref))


def owners(record: Record) -> tuple[Owner, ...]:
    """Return every scope that has an output, with its newest call."""
    if record.scope is None:
        return record.others
    return (Owner(record.scope, record.created, record.call_id, record.command), *record.others)


def merge(earlier: Record, new: Record) -> Record:
    """Merge two records of the same bytes: the newest call, with the scopes of both; StoreError for too many scopes."""
    # `last` means the newest call, and the earlier output may have been stored in part only.
    is_newer = earlier.facts != new.facts or earlier.created <= new.created
    newest, before_it = (new, earlier) if is_newer else (earlier, new)
    by_scope: dict[str, Owner] = {}
    for owner in sorted((*owners(earlier), *owners(new)), key=lambda owner: owner.created):
        before = by_scope.get(owner.scope)
        # A call without a command, such as a pipe, does not remove that of an earlier call.
        by_scope[owner.scope] = replace(owner, command=owner.command or (before and before.command))
    if newest.scope is not None:
        newest = replace(newest, command=by_scope.pop(newest.scope).command)
    rest = sorted(by_scope.values(), key=lambda owner: (-owner.created, owner.scope))
    moment = max(earlier.created, new.created)
    if any(
        owner.scope == new.scope or moment - owner.created < OWNER_GRACE_SECONDS for owner in rest[MAX_OWNERS - 1 :]
    ):
        raise StoreError(
            f"This output already belongs to {MAX_OWNERS:,} scopes, and its record has room for no more; "
            "try again in an hour"
        )
    pinned = earlier.pinned or new.pinned
    return replace(newest.with_notices(before_it), ref=earlier.ref, others=tuple(rest[: MAX_OWNERS - 1]), pinned=pinned)


def combine(records: Iterable[Record]) -> Record:
    """Merge the records of the same bytes in several scopes or stores; the first one's facts stay."""
    first, *rest = records
    for record in rest:
        if record.sha256 == first.sha256:
            with suppress(StoreError):  # more scopes than a record has room for: the first ones stay
                first = merge(record, first)
    return first


def combine_by_ref(records: Iterable[Record]) -> list[Record]:
    """Return one record for each ref, newest first."""
    copies: dict[str, list[Record]] = {}
    for record in records:
        copies.setdefault(record.ref, []).append(record)
    return newest_first(map(combine, copies.values()))


def split_by_scope(record: Record) -> list[Record]:
    """Return a record for each scope of an output, with that scope's own call."""
    return [record.with_owners(owner) for owner in owners(record)] or [record]


def seen_by(record: Record, scope: str) -> Record | None:
    """Return the record with the calls of a scope only, the newest first; None if the scope may not see the output."""
    if scope == EVERY:
        return record
    return _for_owners(record, [owner for owner in owners(record) if covers(scope, owner.scope)])


def released_by(record: Record, scope: str) -> Record | None:
    """Return the record without the scopes that `scope` covers; None if no scope is left."""
    return _for_owners(record, [owner for owner in owners(record) if not covers(scope, owner.scope)])


def _for_owners(record: Record, remaining: list[Owner]) -> Record | None:
    """Return the record with these scopes only, the newest call first; None if there are none."""
    return record.with_owners(*sorted(remaining, key=lambda owner: -owner.created)) if remaining else None


def encode(record: Record, **more: Any) -> bytes:
    """Return a record as JSON, with `more` keys at the end; json escapes lone surrogates, which msgspec refuses."""
    facts = {"spillover": FORMAT, **to_builtins(record)}
    for name in NOT_SAVED:
        del facts[name]
    if not record.made:
        del facts["made"]
    if record.redacted is None:
        del facts["redacted"]
    import json  # 4 ms, and an output that fits has no record

    text = json.dumps({**facts, **more}, allow_nan=False).encode("ascii")[:-1]
    return text + _CHECK + _hash(text) + _END


def decode(data: bytes, *, ref: str, pinned: bool) -> Record:
    """Return the record that was written for a ref; raise ValueError, with the reason, for any other data."""
    return to_record(read_facts(data), ref=ref, pinned=pinned)


def read_facts(data: bytes, number: int = FORMAT) -> dict[str, Any]:
    """Return the facts in a record of this format; raise ValueError, with the reason, if it was changed."""
    import json  # as above

    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(facts, dict) or facts.get("spillover") != number:
        raise ValueError("it is not a record of this version")
    check_bytes = len(_CHECK) + HASH_DIGITS + len(_END)
    text = data[: max(0, len(data) - check_bytes)]
    if data != text + _CHECK + _hash(text) + _END:
        raise ValueError("it was changed after it was written")
    return facts


def to_record(facts: dict[str, Any], *, ref: str, pinned: bool) -> Record:
    """Return the record of a ref with these facts; ValueError if they contradict each other or the ref."""
    try:
        record = convert({**facts, "ref": ref, "pinned": pinned, "path": None, "only_here": None}, Record)
        for owner in owners(record):
            check_given_scope(owner.scope)
    except (ValidationError, UsageError) as error:
        raise ValueError(f"a value is missing or wrong ({error})") from error
    if not is_hash(record.sha256) or not record.sha256.startswith(ref.rpartition("-")[2]):
        raise ValueError("it belongs to another output")
    if problem := _contradiction(record):
        raise ValueError(problem)
    return record


def _contradiction(record: Record) -> str:
    """Return the contradiction between the numbers of a record; "" if there is none."""
    block = record.index.block
    before = record.index.before
    produced = record.bytes if record.produced_bytes is None else record.produced_bytes
    lines = record.lines if record.produced_lines is None else record.produced_lines
    if len(before) != record.bytes // block + 1:
        return "its line index does not have an entry for each block"
    steps = [after - earlier for earlier, after in pairwise(before)]
    if before[0] or any(not 0 <= step <= block for step in steps) or not 0 <= record.lines - before[-1] <= block:
        return "its line index and its lines do not go together"
    if record.lines > record.bytes or (record.bytes > 0) != (record.lines > 0):
        return "it has more lines than bytes, or none"
    if produced < record.bytes or lines < record.lines:
        return "less came than is stored"
    if record.segments and sum(size for _, size in record.segments) not in (record.bytes, produced):
        return "its segments do not add up to its bytes"
    ranges = [(0, 0), *record.shown]
    if any(not earlier[1] < after[0] <= after[1] <= lines for earlier, after in pairwise(ranges)):
        return "the ranges that were shown are not in order"
    if any(not 0 < first <= last <= lines for first, last, _ in record.why):
        return "a reason is for lines that are not there"
    return ""


def _hash(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


def encode_run(run: RunRecord) -> bytes:
    """Return a run as MessagePack, with texts as bytes: msgspec refuses the lone surrogates of a path."""
    values = [value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value for value in astuple(run)]
    return _RUN_FORMAT + msgpack.encode(values)


def decode_run(data: bytes) -> RunRecord:
    """Return an encoded run; ValueError for any other data, even a part of a run."""
    if not data.startswith(_RUN_FORMAT):
        raise ValueError("not a run of this version")
    names = RunRecord.__struct_fields__
    try:
        values = dict(zip(names, msgpack.decode(data[len(_RUN_FORMAT) :], type=list[Any]), strict=True))
        texts = {name: value for name, value in values.items() if isinstance(value, bytes) and name != "data"}
        values |= {name: value.decode("utf-8", "surrogatepass") for name, value in texts.items()}
        return convert(values, RunRecord)
    except DecodeError as error:
        raise ValueError(f"cut short, or not a run ({error})") from error
