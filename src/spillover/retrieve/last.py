"""Naming an output by when and how it came to be: `last`, or `last:cargo test` for the newest run of that command or tool.

`last` is the newest run, whatever became of its output: an output that fitted is stored now, so that it can be read like
any other, and one that could not be kept is said to be gone instead of being passed over for an older one.
Words only choose among the runs and records that are there; no part of them ever touches a path.
"""

from __future__ import annotations

import time

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.notice.words import lines_of, one_line, shorten_reason
from spillover.shell.line import is_retrieval
from spillover.since.earlier import keep_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.store.base import Record
    from spillover.store.runs import RunRecord
    from spillover.store.scoped import Scoped

LAST = "last"
#: Where nothing is found, so many of the newest are named, and so much is said of each and of the query.
NAMED = 3
WORDS_CHARS = 30
#: So much of a command is said where an answer tells which run it is from.
COMMAND_CHARS = 60
#: So much is said of why a bucket could not be asked.
AWAY_CHARS = 120
#: Younger than this is "just now": an answer that is asked for twice stays the same for a while.
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class Found(Struct, frozen=True):
    """The ref that was meant, and for `last`, which run that is and how old."""

    ref: str
    said: str = ""
    away: str = ""  # why only this machine was asked for `last`


def find(store: Scoped, ref: str, now: float | None = None) -> Found:
    """Return the ref that these words mean; what is not `last…` is a ref already, or a path of ours."""
    if not isinstance(ref, str):
        return Found(ref)
    if is_uri(ref):
        from spillover.retrieve.uri import parse  # few name an output like this

        named = parse(ref)
        if named != replace(named, lines=None, bytes=None, pointer=None):
            raise UsageError(
                f"{ref[:80]} names a part of an output, which can only be read; leave out what follows the #."
            )
        return Found(named.ref)
    head, _, query = ref.partition(":")
    if head.strip() != LAST:
        return Found((store.ref_of(ref) or ref) if "/" in ref or ref.endswith(".txt") else ref)
    moment = time.time() if now is None else now
    asked, away = store, None
    try:
        newest = store.newest(NAMED)[0]
    except StoreError as error:
        if store.local is None:
            raise
        asked, away = store.local, error  # the bucket is away; what is here can be read all the same
        newest = asked.newest(NAMED)[0]
    record = next((record for record in newest if _is_meant(record, query)), None)
    if record is None and newest:
        record = next((record for record in asked.looked_through()[0] if _is_meant(record, query)), None)
    run = next((run for run in _runs(store) if _is_meant(run, query)), None)
    if record is None and run is None:
        raise away or _nothing(query, newest)
    # Its bytes may have come again since, by way of a pipe: then the run still says more of them.
    if run is None or (record is not None and record.created > run.created and record.ref != run.ref):
        assert record is not None
        return _found(ref, record.ref, record, moment, away)
    return _found(ref, _keep(store, run, record, moment), run, moment, away)


def is_uri(ref: object) -> bool:
    """Return whether this is `spill://…`."""
    return isinstance(ref, str) and ref[:8].lower() == "spill://"


def matches(record: Record | RunRecord, query: str) -> bool:
    """Return whether an output is of this command (its words, in order, in any case) or of the tool of this name."""
    words = query.casefold().split()
    if " ".join(words) == record.tool.casefold():
        return True
    command, at = (record.command or "").casefold(), 0
    for word in words:
        at = command.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True


def _is_meant(record: Record | RunRecord, query: str) -> bool:
    """Return whether this is a run of that command or tool, and no answer of ours about another one."""
    return matches(record, query) and not is_retrieval(record.tool, record.command)


def _runs(store: Scoped) -> Iterator[RunRecord]:
    try:
        yield from store.runs()
    except StoreError:  # whoever lists the outputs, or opens one, says what is wrong
        return


def _keep(store: Scoped, run: RunRecord, record: Record | None, now: float) -> str:
    """Return the ref of a run's output, stored now if it fitted then; RefError says what became of it otherwise."""
    try:
        return keep_run(store, run)
    except RefError as error:
        raise _gone(run, str(error), record, now) from error.__cause__
    except StoreError as error:
        if record is None:
            raise
        older = f"{record.ref} ({tell_age(now - record.created)})"
        raise StoreError(f"{str(error).rstrip('.')}. The newest that can be read by its ref: {older}.") from error


def _found(asked: str, ref: str, run: Record | RunRecord, now: float, away: StoreError | None) -> Found:
    """Say which run an answer is from, and how old that is; and where only this machine could be asked, why."""
    said = f"{one_line(asked, WORDS_CHARS)} is {ref}: {describe_run(run, now)}."
    if away is None:
        return Found(ref, f"[{said}]")
    why = f"the newest on this machine; the bucket could not be asked ({shorten_reason(str(away), AWAY_CHARS)})"
    return Found(ref, f"[{said} It is {why}.]", f"{ref} is {why}")


def describe_run(run: Record | RunRecord, now: float) -> str:
    """Say what was run, how it ended and how long ago."""
    exit_code = getattr(run, "exit_code", None)
    parts = [
        one_line(run.command, COMMAND_CHARS) if run.command else "",
        "" if exit_code is None else f"exit code {exit_code}",
        tell_age(now - run.created),
    ]
    return ", ".join(filter(None, parts))


def _gone(run: RunRecord, why: str, record: Record | None, now: float) -> RefError:
    older = ""
    if record is not None:
        older = f" The newest that is kept: {record.ref} ({tell_age(now - record.created)})."
    return RefError(
        f"The newest run ({describe_run(run, now)}; {lines_of(run.lines)}) cannot be read: {why.rstrip('.')}.{older}"
    )


def _nothing(query: str, newest: list[Record]) -> RefError:
    if not newest:
        return RefError(
            "Nothing has been run yet in this project. For outputs of another folder, add --all-scopes. "
            "Otherwise run the tool, e.g. `spill run -- make`."
        )
    some = ", ".join(_name(record) for record in newest[:NAMED])
    sought = one_line(query, WORDS_CHARS)
    return RefError(
        f"No run of {sought!r} is known; `spill list` shows the outputs of this project, `spill list --all-scopes` all of them. "
        f"The newest: {some}."
    )


def _name(record: Record) -> str:
    return f"{record.ref} ({one_line(record.command, WORDS_CHARS)})" if record.command else record.ref


def tell_age(seconds: float) -> str:
    """Say how long ago something was, in one unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"
