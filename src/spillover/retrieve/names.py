"""Names of outputs and of parts of them: refs, paths, URIs, `last`, ranges.

    bash-7f3a9c2e41d05b86           a ref, or the start of one
    /store/bash-7f3a….txt           the path in a notice
    spill://REF                     the URI that docs/format.md defines
    last, last:cargo test           the newest run, of any command or of this one
    REF#L10-20, REF#bytes=1-400     a range of an output, for reading
    REF#/items/0/name               a value in JSON (RFC 6901)
    last:3, all, REF,REF, a tool    several outputs, for the tools of a model

`last` is the newest run: its output is stored now if it fitted, so that it can be read like any other, and if it could
not be stored, that is an error, and not an older output. Words only choose among runs and records; no part of a name is
ever used as a path.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.notice.wording import lines_of, one_line, shorten_reason
from spillover.settings.limits import spell_int
from spillover.shell import is_retrieval
from spillover.source.blob import Meter
from spillover.store.record import REF_SHAPE, Record, RunRecord, check_ref, mint
from spillover.store.scopes import ScopedStore

LAST = "last"
ALL = "all"
SCHEME = "spill://"
#: Outputs that are read or searched together; of more, each would get too little room.
MAX_OUTPUTS = 50
#: Outputs that an error names as examples; more make it longer.
NEWEST_NAMED = 3
#: Characters of a name, a command and a reason in a note or an error; more make it longer.
NAME_CHARS = 30
COMMAND_CHARS = 60
REASON_CHARS = 120
#: Units of an age. Anything younger is "just now", so that two answers in a row are the same.
_AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class Part(Struct, frozen=True):
    """The part of an output after the `#` of its name; at most one field is set."""

    pointer: str | None = None
    lines: str | None = None
    bytes: str | None = None


class Target(Struct, frozen=True):
    """The output, and the part of it, that a name means."""

    ref: str
    part: Part = Part()
    note: str = ""  # for `last`: the command and the age of that run
    away: str = ""  # for `last`: the reason why only this machine was searched


def resolve(name: str, store: ScopedStore, *, part: Literal["none", "value", "any"] = "none") -> Target:
    """Return the target of a name; `part` is the kind of part that the caller can use.

    A ref is not looked up: the store completes it when the output is opened, or raises a RefError.
    """
    if not isinstance(name, str):
        return Target(name)
    ref, target_part = split_part(name)
    if part == "none" and target_part != Part():
        raise UsageError(
            f"{name[:80]} names a part of an output, which can only be read; leave out what follows the #."
        )
    if part == "value" and (target_part.lines or target_part.bytes):
        raise UsageError(
            f"{name[:80]} names a range, which can only be read; to search or outline the whole output, leave out what "
            "follows the #."
        )
    head, _, words = ref.partition(":")
    if head.strip() == LAST:
        return replace(_find_last(ref, words, store), part=target_part)
    return Target(_find_in_path(ref, store) or ref, target_part)


def how_sure(word: str, store: ScopedStore) -> int:
    """Return the certainty that a word names an output: 2 for a ref, a path or a URI, 1 for `last`, 0 for the rest."""
    if word[: len(SCHEME)].lower() == SCHEME:
        return 2
    ref, _ = split_part(word)
    if REF_SHAPE.fullmatch(ref) or _find_in_path(ref, store) is not None:
        return 2
    return 1 if ref.partition(":")[0].strip() == LAST else 0


def _find_in_path(path: str, store: ScopedStore) -> str | None:
    """Return the ref in a path from a notice; None if there is none."""
    if "/" in path or "\\" in path or path.endswith((".txt", ".zst", ".json")):
        return store.find_ref(path) or store.find_ref(path.replace("\\", "/"))
    return None


# Matched at one place; no quantifier gives anything back.
_LINES = re.compile(r"L?(\d++)(?:[-:]L?(\d++))?", re.ASCII)
_BYTES = re.compile(r"bytes=(\d++)[-:](\d++)", re.ASCII)


def split_part(name: str) -> tuple[str, Part]:
    """Split a name at its `#` into a ref and a part; a text whose `#` begins no part stays whole."""
    is_uri = name[: len(SCHEME)].lower() == SCHEME
    ref, sign, fragment = name.partition("#")
    if is_uri:
        ref = check_ref(ref[len(SCHEME) :].rstrip("/"))
    if not sign or not fragment:
        return ref, Part()
    if fragment.startswith("/"):
        return ref, Part(pointer=unquote(fragment) if is_uri else fragment)
    if match := _LINES.fullmatch(fragment):
        return ref, Part(lines=f"{match[1]}:{match[2] or match[1]}")
    if match := _BYTES.fullmatch(fragment):
        return ref, Part(bytes=f"{match[1]}:{match[2]}")
    if not is_uri:
        return name, Part()
    raise UsageError(
        f"#{fragment[:60]} names no part of an output; use #L10-20, #bytes=1-4000 or a JSON pointer such as #/items/0."
    )


def expand_names(names: Any, store: ScopedStore) -> list[str] | None:
    """Expand a list, `last:3`, the name of a tool or `all` to the names of outputs; None for a single output."""
    if isinstance(names, (list, tuple)):
        if not names or not all(isinstance(name, str) for name in names):
            raise UsageError('a list of refs holds names, e.g. ["bash-7f3a9c2e41d05b86", "last"].')
        return list(dict.fromkeys(names))[:MAX_OUTPUTS] if len(names) > 1 else None
    if not isinstance(names, str):
        return None
    name = names.strip()
    if "," in name:
        return expand_names([part.strip() for part in name.split(",") if part.strip()], store)
    head, _, count = name.partition(":")
    if name == ALL or (head == LAST and count.isdecimal()):
        newest, _ = store.newest(min(MAX_OUTPUTS, int(count) if count else MAX_OUTPUTS))
        return [record.ref for record in newest]
    if name.startswith(LAST) or "-" in name:
        return None
    refs = [record.ref for record in store.newest()[0] if record.tool == name]
    return refs[:MAX_OUTPUTS] or None


# `last`


def matches(run: Record | RunRecord, words: str) -> bool:
    """Return whether words are in a run's command, in order and in any case, or name its tool."""
    words_in_order = words.casefold().split()
    if " ".join(words_in_order) == run.tool.casefold():
        return True
    command = (run.command or "").casefold()
    at = 0
    for word in words_in_order:
        at = command.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True


def is_same_command(run: Record | RunRecord, command: str | None, tool: str) -> bool:
    """Return whether a run is of exactly this command; for None, a call of this tool that has none."""
    return run.command == command if command else run.tool == tool and not run.command


def find_before(store: ScopedStore, record: Record) -> str:
    """Return the ref of the previous run of the same command, the same ref for the same output; RefError if none."""
    repeats = 0
    for run in store.runs():
        if not is_same_command(run, record.command, record.tool):
            continue
        repeats += run.ref == record.ref
        if repeats == 2:
            return record.ref
        if run.created < record.created and run.ref != record.ref and (run.ref or run.data is not None):
            return store_run(store, run)
    for earlier in store.list():
        if earlier.created < record.created and is_same_command(earlier, record.command, record.tool):
            return earlier.ref
    command = f"`{record.command}`" if record.command else record.tool
    raise RefError(f"No earlier run of {command} is kept to compare {record.ref} with; name one: spill diff OLD NEW.")


def store_run(store: ScopedStore, run: RunRecord) -> str:
    """Return the ref of a run's output, and store it if it fitted then; RefError if it cannot be read."""
    if run.ref is not None:
        try:
            return store.get(run.ref).ref
        except RefError:
            raise RefError("its output has been removed since") from None
    if run.data is None:
        raise RefError(f"its output was not kept: {run.reason or 'it could not be stored'}")
    meter = Meter()
    meter.feed(run.data)
    record = Record(
        ref=mint(run.tool, meter.sha256),
        tool=run.tool,
        sha256=meter.sha256,
        bytes=meter.bytes,
        lines=meter.lines,
        created=run.created,
        call_id=run.call_id,
        command=run.command,
        partial=run.reason,  # it fitted, and was a preview
        index=meter.index,
        shown=((1, meter.lines),) if meter.lines else (),
    )
    try:
        writer = store.writer()
        try:
            writer.write(run.data)
            return writer.publish(record).ref
        finally:
            writer.abandon()
    except StoreError as error:
        raise RefError(f"its output cannot be stored to be read: {error}") from error


def describe_run(run: Record | RunRecord, now: float, without: str = "") -> str:
    """Return the command, the exit code and the age of a run; `without` stands for an unknown command."""
    exit_code = getattr(run, "exit_code", None)
    parts = [
        one_line(run.command, COMMAND_CHARS) if run.command else without,
        "" if exit_code is None else f"exit code {exit_code}",
        format_age(now - run.created),
    ]
    return ", ".join(filter(None, parts))


def format_age(seconds: float) -> str:
    """Return an age in its largest unit: "3 hours ago"."""
    for size, unit in _AGES:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"


def _find_last(name: str, words: str, store: ScopedStore) -> Target:
    """Return the newest run that matches words, stored, with a note about it."""

    def is_meant(run: Record | RunRecord) -> bool:
        return matches(run, words) and not is_retrieval(run.tool, run.command)

    now = time.time()
    away: StoreError | None = None
    local = store
    try:
        newest = store.newest(NEWEST_NAMED)[0]
    except StoreError as error:
        if store.local is None:
            raise
        away = error  # the outputs on this machine can be read all the same
        local = store.local
        newest = local.newest(NEWEST_NAMED)[0]
    record = next(filter(is_meant, newest), None)
    if record is None and newest:
        record = next(filter(is_meant, local.newest()[0]), None)
    run = next(filter(is_meant, _list_runs(store)), None)
    # The same bytes may have been stored again since, from a pipe: the run says more about them.
    if run is not None and (record is None or record.created <= run.created or record.ref == run.ref):
        ref = _store_newest(store, run, record, now)
        description = describe_run(run, now)
    elif record is not None:
        ref = record.ref
        description = describe_run(record, now)
    else:
        raise away or _no_run(words, newest)
    note = f"{one_line(name, NAME_CHARS)} is {ref}: {description}."
    if away is None:
        return Target(ref, note=f"[{note}]")
    reason = shorten_reason(str(away), REASON_CHARS)
    why = f"the newest on this machine; the bucket could not be asked ({reason})"
    return Target(ref, note=f"[{note} It is {why}.]", away=f"{ref} is {why}")


def _list_runs(store: ScopedStore) -> Iterator[RunRecord]:
    with suppress(StoreError):  # reported where the outputs are listed, or one is opened
        yield from store.runs()


def _store_newest(store: ScopedStore, run: RunRecord, record: Record | None, now: float) -> str:
    """Store the output of the newest run and return its ref; an error names the newest readable output."""
    older = "" if record is None else f"{record.ref} ({format_age(now - record.created)})"
    try:
        return store_run(store, run)
    except RefError as error:
        instead = f" The newest that is kept: {older}." if older else ""
        raise RefError(
            f"The newest run ({describe_run(run, now)}; {lines_of(run.lines)}) cannot be read: "
            f"{str(error).rstrip('.')}.{instead}"
        ) from error.__cause__
    except StoreError as error:
        if not older:
            raise
        raise StoreError(f"{str(error).rstrip('.')}. The newest that can be read by its ref: {older}.") from error


def _no_run(words: str, newest: list[Record]) -> RefError:
    if not newest:
        return RefError(
            "Nothing has been run yet in this project. For outputs of another folder, add --all-scopes. "
            "Otherwise run the tool, e.g. `spill run -- make`."
        )
    refs = ", ".join(
        f"{record.ref} ({one_line(record.command, NAME_CHARS)})" if record.command else record.ref
        for record in newest[:NEWEST_NAMED]
    )
    return RefError(
        f"No run of {one_line(words, NAME_CHARS)!r} is known; `spill list` shows the outputs of this project, "
        f"`spill list --all-scopes` all of them. The newest: {refs}."
    )


# Ranges

#: A range as people and models write it: 120:180, 120-180, 120..180, 120:+50, 120-, -50:, -50, 7, lines 7-9, #L7-L9.
_RANGE = re.compile(
    r"#?(?:lines?|bytes|columns|l)?(?P<first>-?[\d_,]+)?"
    r"(?:(?P<to>:|(?<=[\d_,])(?:\.\.|[-\u2012\u2013\u2014]))l?(?P<plus>\+)?(?P<last>-?[\d_,]+)?)?",
    re.ASCII,
)
#: Several ranges in one text: 1-3,7.
_SEVERAL = re.compile(r"(\d++)[-:\u2013](\d++)(?:[,; ]++\d++(?:[-:\u2013]\d++)?)++", re.ASCII)
_ENDS = re.compile(r"[-:\u2013]")
#: Two numbers, unless the comma is for thousands: 12,345.
_PAIR = re.compile(r"(\d+),(\d+)", re.ASCII)
_THOUSANDS = re.compile(r"-?(?:\d{1,3}(?:[,_]\d{3})+|\d+)", re.ASCII)
_HOW = "write 120:180, 120:+50 (50 lines from 120 on), -50: (the last 50) or 120"
#: Digits of a number in a range; every size has fewer.
MAX_DIGITS = 19
#: Characters of a wrong value in an error; more make it longer.
QUOTED_CHARS = 40
#: Names that models use for the ends of a range.
_END_NAMES = (("start", "end"), ("first", "last"), ("from", "to"), ("begin", "end"))


def parse_range(value: Any, total: int, unit: str = "lines") -> tuple[int, int]:
    """Return the first and the last of a range, inside 1 to `total`; last < first if nothing is in it.

    Both ends count from 1 and are included. A range is text, a number, a list of both ends, or an object with them.
    A UsageError shows how to write a range.
    """
    try:
        text = (_join_ends(value) or "").strip().lower()
    except RecursionError:  # it contains itself
        text = ""
    list_ = _SEVERAL.fullmatch(text)
    if list_ and not all(map(_THOUSANDS.fullmatch, _ENDS.split(text))):
        example = f"{list_[1]}:{list_[2]}"
        raise UsageError(f"{quote(value)} is more than one range of {unit}; ask for one at a time, e.g. {example}.")
    pair = _PAIR.fullmatch("".join(text.split()))
    if pair and not _THOUSANDS.fullmatch(pair[0]):
        text = f"{pair[1]}:{pair[2]}"
    match = _RANGE.fullmatch("".join(text.split()))
    if not match or not (match["first"] or match["to"]) or (match["plus"] and not match["last"]):
        raise UsageError(f"{quote(value)} is not a range of {unit}; {_how(unit)}.")
    start = 1 if match["first"] is None else _read_number(match["first"], unit)
    first = total + 1 + start if start < 0 else start
    if not match["to"]:
        last = total if start < 0 else first  # -5 is what `tail -5` shows
    elif match["last"] is None:
        last = total
    else:
        end = _read_number(match["last"], unit)
        if match["plus"]:
            last = max(1, first) + abs(end) - 1
        else:
            last = total + 1 + end if end < 0 else end
            if match["first"] and end != 0 and (start < 0) == (end < 0) and end < start:
                raise UsageError(f"{start}:{end} ends before it begins; write {end}:{start}.")
    if start == 0:
        raise UsageError(f"{unit.capitalize()} are counted from 1: write 1, or 1:100.")
    return max(1, first), min(last, total)


def _join_ends(value: Any) -> str | None:
    """Return a range as text, with a colon between its ends; None for any other value."""
    if isinstance(value, str):
        if not value.strip().startswith(("[", "{")):
            return value
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(spell_int(int(value)))
    if isinstance(value, Mapping):
        if value.keys() == {"offset", "limit"}:
            offset = _join_ends(value["offset"])
            count = _join_ends(value["limit"])
            return None if offset is None or count is None else f"{offset}:+{count}"
        ends = next(((first, last) for first, last in _END_NAMES if {first} <= value.keys() <= {first, last}), None)
        return None if ends is None else _join_ends([value.get(end) for end in ends])
    if isinstance(value, (list, tuple)) and 1 <= len(value) <= 2:
        parts = ["" if end is None else _join_ends(end) for end in value]
        return None if None in parts else ":".join(map(str, parts))
    return None


def _read_number(text: str, unit: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if len(digits) > MAX_DIGITS:
        raise UsageError(f"{quote(text)} is larger than any number of {unit}; {_how(unit)}.")
    if not _THOUSANDS.fullmatch(text):
        raise UsageError(f"{quote(text)} is not a number; {_how(unit)}.")
    return int(digits)


def _how(unit: str) -> str:
    return _HOW.replace("lines", unit)


def quote(value: Any) -> str:
    """Return the beginning of a value for an error."""
    try:
        return repr(one_line(str(spell_int(value) if isinstance(value, int) else value), QUOTED_CHARS))
    except Exception:  # noqa: BLE001  an object may raise anything, or contain itself
        return f"a {type(value).__name__}"
