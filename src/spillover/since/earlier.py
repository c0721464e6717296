"""Find the earlier run to compare with: the newest of the same command, the newest good one, or one by its name.

Nothing here fails the call: if a run cannot be found or opened, the notice gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from spillover.document.document import Document, cover_bytes
from spillover.errors import SpilloverError
from spillover.secrets.commands import shorten_command
from spillover.settings.settings import Call
from spillover.since import Earlier
from spillover.store.scopes import working_folder

#: The newest run of the same command.
LAST = "last"
#: The newest run that ended with exit code 0; with GOOD_IF_ANY, the notice does not mention that there is none.
GOOD = "good"
GOOD_IF_ANY = "good if any"
#: Bytes from which an unchanged output is replaced by a notice; with more, longer outputs are repeated.
WORTH_A_NOTICE_BYTES = 1_200


@contextmanager
def open_earlier(call: Call, whole: bytes | None) -> Iterator[Earlier | None]:
    """Open the earlier output to compare with, or the reason why there is none; None if no notice mentions it.

    `whole`, an output that fits, is compared here: it is stored and clipped only if it repeats the earlier one.
    """
    if whole is not None and (len(whole) < WORTH_A_NOTICE_BYTES or call.since == GOOD_IF_ANY):
        yield None
        return
    earlier = find_earlier(call)
    try:
        if earlier is not None and whole is not None:
            earlier = compare_with(earlier, Document.from_bytes(cover_bytes(call.settings, whole)))
        yield earlier
    finally:
        if earlier is not None:
            earlier.close()


def compare_with(earlier: Earlier, document: Document) -> Earlier:
    """Return the earlier output with its comparison to a document, or with the reason why there is none."""
    if earlier.document is None or earlier.compared is not None:
        return earlier
    try:
        from spillover.since.compare import compare

        return replace(earlier, compared=compare(document, earlier.document))
    except Exception as error:  # noqa: BLE001  a store may raise anything; the tool call goes on
        return replace(earlier, reason=str(error) or type(error).__name__)


def find_earlier(call: Call) -> Earlier | None:
    """Return the earlier output, open, or the reason why there is none; None if the notice does not mention it."""
    from spillover.retrieve.names import resolve
    from spillover.retrieve.read import open_output

    since = call.since
    ref = since
    ending = ""
    try:
        if since in (LAST, GOOD, GOOD_IF_ANY):
            run = _find_run(call, good=since != LAST)
            if run is None:
                if since == GOOD_IF_ANY:
                    return None
                name, kind = ("the last", "earlier") if since == LAST else ("a good", "successful")
                return Earlier(f"{name} run", reason=f"no {kind} run of this command is kept")
            ref, ending = run
        else:
            ref = resolve(since, call.settings.outputs).ref
        record, document = open_output(call, ref)
        return Earlier(record.ref, ending, document=document)
    except SpilloverError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001  a store may raise anything; the tool call goes on
        reason = f"{type(error).__name__}: {error}"
    return None if since == GOOD_IF_ANY else Earlier(ref, ending, reason)


def _find_run(call: Call, *, good: bool) -> tuple[str, str] | None:
    """Return the ref and the exit code, in words, of the newest run of a command, or of a tool without commands."""
    from spillover.retrieve.names import is_same_command, store_run

    store = call.settings.outputs
    line = shorten_command(call.command) if call.command else None
    folder = call.cwd or working_folder()
    elsewhere = set()  # a record does not say in which folder its command ran
    for run in store.runs():
        if not is_same_command(run, line, call.tool):
            continue
        if run.cwd is not None and folder is not None and run.cwd != folder:
            elsewhere.add(run.ref)
        elif not good or run.exit_code == 0:
            return store_run(store, run), "" if run.exit_code is None else f"exit code {run.exit_code}"
    if good:
        return None
    for record in store.newest()[0]:
        if is_same_command(record, line, call.tool) and record.ref not in elsewhere:
            return record.ref, ""
    return None
