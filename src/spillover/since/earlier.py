"""Finding the earlier run that an output is told against: the newest one of the same command, the newest good one, or a ref.

Nothing here fails the call: what cannot be found or opened is a reason that the notice gives.
"""

from __future__ import annotations

import os
import time

from spillover.errors import RefError, SpilloverError, StoreError
from spillover.retrieve.opening import opened
from spillover.since.against import Against

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.choices import Choices
    from spillover.store.base import Record
    from spillover.store.runs import RunRecord
    from spillover.store.scoped import Scoped

#: The newest run of the same command; the newest that ended with exit code 0; the same, and not a word where there is none.
LAST, GOOD, GOOD_IF_ANY = "last", "good", "good if any"
#: Younger than this is "just now": an answer that is asked for twice stays the same for a while.
JUST_NOW_SECONDS = 60
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def find_earlier(choices: Choices, command: str | None, cwd: str | None) -> Against | None:
    """Return the earlier output, open; or why there is none. None where nothing is to be said about that."""
    asked = choices.since
    ref, how = asked, ""
    try:
        if asked in (LAST, GOOD, GOOD_IF_ANY):
            found = _find_run(choices, command, cwd, good=asked != LAST)
            if found is None:
                if asked == GOOD_IF_ANY:
                    return None
                which, none = ("the last", "earlier") if asked == LAST else ("a good", "successful")
                return Against(f"{which} run", reason=f"no {none} run of this command is kept")
            ref, how = found
        elif "/" in asked or asked.endswith(".txt"):
            ref = choices.outputs.ref_of(asked) or asked
        record, before = opened(choices, ref)
        return Against(record.ref, how, before=before)
    except SpilloverError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001  a store may be anybody's, and the tool call survives it
        reason = f"{type(error).__name__}: {error}"
    return None if asked == GOOD_IF_ANY else Against(ref, how, reason)


def _find_run(choices: Choices, command: str | None, cwd: str | None, *, good: bool) -> tuple[str, str] | None:
    """Return the ref of the newest run of a command, or of a tool that has none; and how it ended and how old it is."""
    from spillover.secrets.commands import shorten_command  # few ask

    store = choices.outputs
    said = None if command is None else shorten_command(command)
    here = cwd or _working_folder()

    def is_same(run: Record | RunRecord) -> bool:
        folder = getattr(run, "cwd", None)
        same = run.command == said if said else run.tool == choices.tool and run.command is None
        return same and (folder is None or here is None or folder == here)

    elsewhere = set()  # a record does not say in which folder its command ran
    for run in store.runs():
        if not is_same(run):
            elsewhere.add(run.ref)
        elif not good or run.exit_code == 0:
            ended = "" if run.exit_code is None else f"exit code {run.exit_code}, "
            return keep_run(store, run), ended + tell_age(time.time() - run.created)
    if good:
        return None
    kept = (record for record in store.looked_through()[0] if is_same(record) and record.ref not in elsewhere)
    record = next(kept, None)
    return None if record is None else (record.ref, tell_age(time.time() - record.created))


def find_before(store: Scoped, record: Record) -> str:
    """Return the ref of the run before an output, of the same command; RefError where there is none.

    It is the same ref where that run printed the same.
    """

    def is_same(run: Record | RunRecord) -> bool:
        return run.command == record.command if record.command else run.tool == record.tool

    def is_earlier(run: Record | RunRecord) -> bool:
        return is_same(run) and run.created < record.created and run.ref != record.ref

    passed = False  # the newest run that printed it
    for run in store.runs():
        if is_earlier(run) and (run.ref or run.data is not None):
            return keep_run(store, run)
        if is_same(run) and run.ref == record.ref:
            if passed:
                return record.ref
            passed = True
    found = next((other for other in store.list() if is_earlier(other)), None)
    if found is None:
        what = f"`{record.command}`" if record.command else record.tool
        raise RefError(f"No earlier run of {what} is kept to compare {record.ref} with; name one: spill diff OLD NEW.")
    return found.ref


def keep_run(store: Scoped, run: RunRecord) -> str:
    """Return the ref of a run's output, stored now if it fitted then; RefError says what became of it otherwise."""
    if run.ref is not None:
        try:
            return store.get(run.ref).ref
        except RefError:
            raise RefError("its output has been removed since") from None
    if run.data is None:
        raise RefError(f"its output was not kept: {run.reason or 'it could not be stored'}")
    from spillover.intake.meter import Meter
    from spillover.store.base import Record, mint

    meter = Meter()
    meter.feed(run.data)
    try:
        writer = store.writer()
        try:
            writer.write(run.data)
            published = writer.publish(
                Record(
                    ref=mint(run.tool, meter.sha256),
                    tool=run.tool,
                    sha256=meter.sha256,
                    bytes=meter.bytes,
                    lines=meter.lines,
                    created=run.created,
                    call_id=run.call_id,
                    command=run.command,
                    index=meter.index,
                    shown=((1, meter.lines),) if meter.lines else (),
                )
            )
        finally:
            writer.abandon()
    except StoreError as error:
        raise RefError(f"its output cannot be stored to be read: {error}") from error
    return published.ref


def tell_age(seconds: float) -> str:
    """Say how long ago something was, in one unit."""
    if seconds < JUST_NOW_SECONDS:
        return "just now"
    for size, unit in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return None
