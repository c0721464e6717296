"""Every way to name an output or a part of it.

    bash-7f3a9c2e41d05b86           a ref, or the start of one
    /store/bash-7f3a….txt           the path in a notice
    spill://REF                     the URI that docs/format.md defines
    last, last:cargo test           the newest run, of any command or of this one
    REF#L10-20, REF#bytes=1-400     a range of it, wherever a ref can be read
    REF#/items/0/name               a value in JSON (RFC 6901)
    last:3, all, REF,REF, a tool    several outputs, for the tools of a model

`last` is the newest run, whatever became of its output: an output that fitted is stored now, so that it can be read
like any other, and one that could not be kept is an error instead of an older output. Words only choose among the runs
and records that are there; no part of a name is ever used as a path.
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
from spillover.notice.words import lines_of, one_line, shorten_reason
from spillover.settings.integers import spell_int
from spillover.shell import is_retrieval
from spillover.source.blob import Meter
from spillover.store.record import REF_SHAPE, Record, RunRecord, check_ref, mint
from spillover.store.scopes import ScopedStore

LAST = "last"
ALL = "all"
SCHEME = "spill://"
#: Outputs that are read or searched together, at most.
MAX_OUTPUTS = 50
#: Newest outputs that are named where nothing is found, and characters of each command and of the query.
NEWEST_NAMED = 3
NAME_CHARS = 30
COMMAND_CHARS = 60
#: Characters of the reason why a bucket could not be asked.
AWAY_CHARS = 120
#: Anything younger is "just now", so an answer that is asked for twice stays the same for a while.
_AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class Part(Struct, frozen=True):
    """The part of an output that stands behind the `#` of its name; at most one field is set."""

    pointer: str | None = None
    lines: str | None = None
    bytes: str | None = None


class Target(Struct, frozen=True):
    """What a name means."""

    ref: str
    part: Part = Part()
    note: str = ""  # for `last`: which run that is, and how old
    away: str = ""  # why only this machine was asked for `last`


def resolve(name: str, store: ScopedStore, *, part: Literal["none", "value", "any"] = "none") -> Target:
    """Return what a name means; `part` says which parts of an output the caller can use.

    A ref is not looked up: the store completes it when it is opened, and says what is wrong with it.
    """
    if not isinstance(name, str):
        return Target(name)
    ref, named = split_part(name)
    if part == "none" and named != Part():
        raise UsageError(
            f"{name[:80]} names a part of an output, which can only be read; leave out what follows the #."
        )
    if part == "value" and (named.lines or named.bytes):
        raise UsageError(
            f"{name[:80]} names a range, which can only be read; to search or outline the whole output, leave out what "
            "follows the #."
        )
    head, _, words = ref.partition(":")
    if head.strip() == LAST:
        return replace(_find_last(ref, words, store), part=named)
    return Target(_find_in_path(ref, store) or ref, named)


def how_sure(word: str, store: ScopedStore) -> int:
    """Return how surely a word names an output, by its shape alone: 2 for a ref, a path or a URI, 1 for `last`, 0."""
    if word[: len(SCHEME)].lower() == SCHEME:
        return 2
    ref, _ = split_part(word)
    if REF_SHAPE.fullmatch(ref) or _find_in_path(ref, store) is not None:
        return 2
    return 1 if ref.partition(":")[0].strip() == LAST else 0


def _find_in_path(path: str, store: ScopedStore) -> str | None:
    """Return the ref in a path as a notice names it; None if there is none."""
    if "/" in path or "\\" in path or path.endswith((".txt", ".zst", ".json")):
        return store.find_ref(path) or store.find_ref(path.replace("\\", "/"))
    return None


# Matched at one place; no quantifier gives anything back.
_LINES = re.compile(r"L?(\d++)(?:[-:]L?(\d++))?", re.ASCII)
_BYTES = re.compile(r"bytes=(\d++)[-:](\d++)", re.ASCII)


def split_part(name: str) -> tuple[str, Part]:
    """Return a name without what follows its `#`, and the part that this names; other words with a `#` stay."""
    is_uri = name[: len(SCHEME)].lower() == SCHEME
    ref, sign, fragment = name.partition("#")
    if is_uri:
        ref = check_ref(ref[len(SCHEME) :].rstrip("/"))
    if not sign or not fragment:
        return ref, Part()
    if fragment.startswith("/"):
        return ref, Part(pointer=unquote(fragment) if is_uri else fragment)
    if found := _LINES.fullmatch(fragment):
        return ref, Part(lines=f"{found[1]}:{found[2] or found[1]}")
    if found := _BYTES.fullmatch(fragment):
        return ref, Part(bytes=f"{found[1]}:{found[2]}")
    if not is_uri:
        return name, Part()
    raise UsageError(
        f"#{fragment[:60]} names no part of an output; use #L10-20, #bytes=1-4000 or a JSON pointer such as #/items/0."
    )


def find_each(names: Any, store: ScopedStore) -> list[str] | None:
    """Return the names of several outputs: of a list, `last:3`, a tool's name, `all`. None if it is one output."""
    if isinstance(names, (list, tuple)):
        if not names or not all(isinstance(name, str) for name in names):
            raise UsageError('a list of refs holds names, e.g. ["bash-7f3a9c2e41d05b86", "last"].')
        return list(dict.fromkeys(names))[:MAX_OUTPUTS] if len(names) > 1 else None
    if not isinstance(names, str):
        return None
    name = names.strip()
    if "," in name:
        return find_each([one.strip() for one in name.split(",") if one.strip()], store)
    head, _, count = name.partition(":")
    if name == ALL or (head == LAST and count.isdecimal()):
        newest, _ = store.newest(min(MAX_OUTPUTS, int(count) if count else MAX_OUTPUTS))
        return [record.ref for record in newest]
    if name.startswith(LAST) or "-" in name:
        return None
    of_tool = [record.ref for record in store.newest()[0] if record.tool == name]
    return of_tool[:MAX_OUTPUTS] or None


# `last`


def matches(run: Record | RunRecord, words: str) -> bool:
    """Return whether a run is of this command (its words, in order, in any case) or of the tool of this name."""
    wanted = words.casefold().split()
    if " ".join(wanted) == run.tool.casefold():
        return True
    command = (run.command or "").casefold()
    at = 0
    for word in wanted:
        at = command.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True


def is_same_command(run: Record | RunRecord, command: str | None, tool: str) -> bool:
    """Return whether a run is of exactly this command; where there is none, whether it is a call of this tool."""
    return run.command == command if command else run.tool == tool and not run.command


def find_before(store: ScopedStore, record: Record) -> str:
    """Return the ref of the run before an output, of the same command; RefError where there is none.

    It is the same ref where that run printed the same.
    """

    def is_same(run: Record | RunRecord) -> bool:
        return is_same_command(run, record.command, record.tool)

    def is_earlier(run: Record | RunRecord) -> bool:
        return is_same(run) and run.created < record.created and run.ref != record.ref

    is_older = False  # than the newest run that printed it
    for run in store.runs():
        if is_earlier(run) and (run.ref or run.data is not None):
            return store_run(store, run)
        if is_same(run) and run.ref == record.ref:
            if is_older:
                return record.ref
            is_older = True
    earlier = next(filter(is_earlier, store.list()), None)
    if earlier is None:
        what = f"`{record.command}`" if record.command else record.tool
        raise RefError(f"No earlier run of {what} is kept to compare {record.ref} with; name one: spill diff OLD NEW.")
    return earlier.ref


def store_run(store: ScopedStore, run: RunRecord) -> str:
    """Return the ref of a run's output, stored now if it fitted then; RefError says what became of it otherwise."""
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
    """Return what was run, how it ended and how long ago; `without` stands for a command that is not known."""
    exit_code = getattr(run, "exit_code", None)
    parts = [
        one_line(run.command, COMMAND_CHARS) if run.command else without,
        "" if exit_code is None else f"exit code {exit_code}",
        tell_age(now - run.created),
    ]
    return ", ".join(filter(None, parts))


def tell_age(seconds: float) -> str:
    """Return how long ago something was, in one unit."""
    for size, unit in _AGES:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"


def _find_last(name: str, words: str, store: ScopedStore) -> Target:
    """Return the newest run that these words name, stored; the notes tell which one it is."""

    def is_meant(run: Record | RunRecord) -> bool:
        return matches(run, words) and not is_retrieval(run.tool, run.command)

    now = time.time()
    asked = store
    away = None
    try:
        newest = store.newest(NEWEST_NAMED)[0]
    except StoreError as error:
        if store.local is None:
            raise
        asked, away = store.local, error  # the bucket is away; what is here can be read all the same
        newest = asked.newest(NEWEST_NAMED)[0]
    record = next(filter(is_meant, newest), None)
    if record is None and newest:
        record = next(filter(is_meant, asked.newest()[0]), None)
    run = next(filter(is_meant, _list_runs(store)), None)
    if run is None and record is None:
        raise away or _nothing_found(words, newest)
    meant: Record | RunRecord
    # The bytes of a run may have come again since, by way of a pipe: then the run still says more of them.
    if run is None or (record is not None and record.created > run.created and record.ref != run.ref):
        assert record is not None
        ref, meant = record.ref, record
    else:
        ref, meant = _store_newest(store, run, record, now), run
    note = f"{one_line(name, NAME_CHARS)} is {ref}: {describe_run(meant, now)}."
    if away is None:
        return Target(ref, note=f"[{note}]")
    why = f"the newest on this machine; the bucket could not be asked ({shorten_reason(str(away), AWAY_CHARS)})"
    return Target(ref, note=f"[{note} It is {why}.]", away=f"{ref} is {why}")


def _list_runs(store: ScopedStore) -> Iterator[RunRecord]:
    with suppress(StoreError):  # whoever lists the outputs, or opens one, says what is wrong
        yield from store.runs()


def _store_newest(store: ScopedStore, run: RunRecord, record: Record | None, now: float) -> str:
    """Store the output of the newest run; an error names the newest output that can be read instead."""
    older = "" if record is None else f"{record.ref} ({tell_age(now - record.created)})"
    try:
        return store_run(store, run)
    except RefError as error:
        kept = f" The newest that is kept: {older}." if older else ""
        raise RefError(
            f"The newest run ({describe_run(run, now)}; {lines_of(run.lines)}) cannot be read: "
            f"{str(error).rstrip('.')}.{kept}"
        ) from error.__cause__
    except StoreError as error:
        if not older:
            raise
        raise StoreError(f"{str(error).rstrip('.')}. The newest that can be read by its ref: {older}.") from error


def _nothing_found(words: str, newest: list[Record]) -> RefError:
    if not newest:
        return RefError(
            "Nothing has been run yet in this project. For outputs of another folder, add --all-scopes. "
            "Otherwise run the tool, e.g. `spill run -- make`."
        )
    named = ", ".join(
        f"{record.ref} ({one_line(record.command, NAME_CHARS)})" if record.command else record.ref
        for record in newest[:NEWEST_NAMED]
    )
    return RefError(
        f"No run of {one_line(words, NAME_CHARS)!r} is known; `spill list` shows the outputs of this project, "
        f"`spill list --all-scopes` all of them. The newest: {named}."
    )


# Ranges as people write them: 120:180, 120-180, 120:+50, 120-, -50:, -50, 7. Counted from 1, both ends included.

_NUMBER = r"-?[\d_,]+"
_RANGE = re.compile(rf"(?P<first>{_NUMBER})?(?P<colon>:(?P<plus>\+)?(?P<last>{_NUMBER})?)?", re.ASCII)
_DASHED = re.compile(r"([\d_,]+) ?[-\u2013] ?([\d_,]*)", re.ASCII)
#: Several ranges in one text: 1-3,7.
_SEVERAL = re.compile(r"(\d++)[-:\u2013](\d++)(?:[,; ]++\d++(?:[-:\u2013]\d++)?)++", re.ASCII)
_PAIR = re.compile(r"(\d+),(\d+)", re.ASCII)
#: A comma or an underscore is for thousands: 12,345. Anything else may be meant for two numbers.
_THOUSANDS = re.compile(r"-?(?:\d{1,3}(?:[,_]\d{3})+|\d+)", re.ASCII)
_ENDS = re.compile(r"[-:\u2013]")
_HOW = "write 120:180, 120:+50 (50 lines from 120 on), -50: (the last 50) or 120"
_MAX_DIGITS = 19
#: What models write besides: lines 1-3, #L1-L3, 1..3, and the dashes of typography.
_WORDED = re.compile(
    r"#?(?:lines?|bytes|columns|l)?(-?[\d_,]+)?(?:(:|\.\.|[-\u2012\u2013\u2014])l?(\+?-?[\d_,]+)?)?", re.ASCII
)
#: The names models give to the ends of a range.
_NAMED_ENDS = (("start", "end"), ("first", "last"), ("from", "to"), ("begin", "end"))


def parse_range(written: str | int, total: int, unit: str = "lines") -> tuple[int, int]:
    """Return the first and the last of a range, inside 1 to `total`; last < first if nothing is in it.

    UsageError says how to write what was meant.
    """
    text = str(written).strip()
    several = _SEVERAL.fullmatch(text)
    if several and not all(map(_THOUSANDS.fullmatch, _ENDS.split(text))):
        one = f"{several[1]}:{several[2]}"
        raise UsageError(f"{_quote(written)} is more than one range of {unit}; ask for one at a time, e.g. {one}.")
    if dashed := _DASHED.fullmatch(text):
        text = f"{dashed[1]}:{dashed[2]}"
    found = _RANGE.fullmatch(text)
    if not found or (found["first"] is None and found["colon"] is None) or (found["plus"] and not found["last"]):
        raise UsageError(f"{_quote(written)} is not a range of {unit}; {_how(unit)}.")
    first = _place(found["first"], 1, total, unit)
    if not found["colon"]:
        # -5 is what `tail -5` shows.
        last = total if text.startswith("-") else first
    elif found["plus"]:
        last = max(1, first) + abs(_number(found["last"], unit)) - 1
    else:
        last = _place(found["last"], total, total, unit)
        if found["first"] and found["last"]:
            _check_order(found["first"], found["last"], unit)
    if _number(found["first"] or "1", unit) == 0:
        raise UsageError(f"{unit.capitalize()} are counted from 1: write 1, or 1:100.")
    return max(1, first), min(last, total)


def spell_range(value: Any) -> str | None:
    """Return what models send for a range (a list, an object, words) as `parse_range` takes it; None if it is none."""
    try:
        text = _join_ends(value)
    except RecursionError:  # it contains itself
        return None
    found = None if text is None else _WORDED.fullmatch("".join(text.lower().split()))
    if not found or not (found[1] or found[3]):
        return None
    first, sign, last = found.groups(default="")
    if sign:
        return f"{first}:{last}"
    pair, comma, other = first.partition(",")
    return f"{pair}:{other}" if comma and len(other) != 3 else first  # 1,000 is a number


def _join_ends(value: Any) -> str | None:
    """Return a value as text, with a colon between first and last."""
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
            offset, count = _join_ends(value["offset"]), _join_ends(value["limit"])
            return None if offset is None or count is None else f"{offset}:+{count}"
        ends = next(((first, last) for first, last in _NAMED_ENDS if {first} <= value.keys() <= {first, last}), None)
        return None if ends is None else _join_ends([value.get(end) for end in ends])
    if isinstance(value, (list, tuple)) and 1 <= len(value) <= 2:
        parts = ["" if one is None else _join_ends(one) for one in value]
        return None if None in parts else ":".join(map(str, parts))
    return None


def _check_order(first: str, last: str, unit: str) -> None:
    """Refuse a range that ends before it begins, whatever the size of the output."""
    low, high = _number(first, unit), _number(last, unit)
    if high != 0 and (low < 0) == (high < 0) and high < low:
        raise UsageError(f"{first}:{last} ends before it begins; write {last}:{first}.")


def _place(text: str | None, default: int, total: int, unit: str) -> int:
    if text is None:
        return default
    number = _number(text, unit)
    return total + 1 + number if number < 0 else number


def _number(text: str, unit: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.lstrip("-"):
        raise UsageError(f"{_quote(text)} is not a number; {_how(unit)}.")
    if len(digits) > _MAX_DIGITS:
        raise UsageError(f"{_quote(text)} is larger than any number of {unit}; {_how(unit)}.")
    if not _THOUSANDS.fullmatch(text):
        pair = _PAIR.fullmatch(text)
        meant = f"write {pair[1]}:{pair[2]} for {unit} {pair[1]} to {pair[2]}" if pair else _how(unit)
        raise UsageError(f"{_quote(text)} is not a number; {meant}.")
    return int(digits)


def _how(unit: str) -> str:
    return _HOW.replace("lines", unit)


def _quote(text: object) -> str:
    return repr(text)[:42]
