"""Naming an output by when and how it came to be: `last`, or `last:cargo test` for the newest of that command or tool.

Words only choose among the records that are there; no part of them ever touches a path.
"""

from __future__ import annotations

from spillover.errors import RefError
from spillover.notice import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.store.base import Record, Store

LAST = "last"
#: Where nothing is found, so many of the newest are named, and so much is said of each and of the query.
NAMED = 3
WORDS_CHARS = 30


def named(store: Store, ref: str) -> str:
    """The ref that these words mean; what is no `last…` is a ref already, for the store to judge."""
    if not isinstance(ref, str):
        return ref
    head, colon, query = ref.partition(":")
    if head.strip() != LAST:
        return ref
    newest = list(store.list())
    found = next((record for record in newest if matches(record, query)), None)
    if found is None:
        raise _nothing(query if colon else "", newest)
    return found.ref


def matches(record: Record, query: str) -> bool:
    """Whether an output is of this command (its words, in order, capitals or not) or of the tool of this name."""
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


def _nothing(query: str, newest: list[Record]) -> RefError:
    if not newest:
        return RefError("Nothing is stored yet: only what does not fit is. Run the tool, and read what it says.")
    some = ", ".join(_said(record) for record in newest[:NAMED])
    sought = one_line(query, WORDS_CHARS)
    return RefError(f"No stored output is of {sought!r}; `spill list` shows all. The newest: {some}.")


def _said(record: Record) -> str:
    return f"{record.ref} ({one_line(record.command, WORDS_CHARS)})" if record.command else record.ref
