"""What a scope can see of a bucket: no key outside of it is asked for, and whose a record is is checked at every read."""

from __future__ import annotations

import logging

from msgspec import Struct

from spillover.store.object.bucket import Bucket, Denied, Missing
from spillover.store.object.entry import Entry, decode
from spillover.store.object.keys import OUTPUTS, Name, is_record, place_of, record_key
from spillover.store.scope import EVERY, covers

_log = logging.getLogger(__name__)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

#: So many records are read at once.
AT_ONCE = 16


class View(Struct, frozen=True):
    """The outputs of one scope, and of those below it, in a bucket."""

    bucket: Bucket
    scope: str

    def own(self, ref: str) -> Entry | None:
        """Return what stands under a ref in this very scope, in one request; None also where that may not be known."""
        if self.scope == EVERY:
            return None
        try:
            return self.read(Name("", ref, "json", record_key(self.scope, ref)))
        except Denied:  # perhaps it is not there: who has to know makes a listing, which says why it may not
            return None

    def listed(self, ref: str = "") -> Iterator[tuple[datetime, str]]:
        """Yield when each record in view was changed, and its key; with the start of a ref, of those that it may name, and others."""
        folder, after = place_of(self.scope), None
        if self.scope.startswith("/"):  # such a scope has no others below it
            folder = f"{folder}/{OUTPUTS}"
            after = f"{folder}/{ref}" if "-" in ref else None
        for key, _, changed in self.bucket.list(folder, after=after):
            if after and key > f"{after}~":  # "~" comes after every character of a name
                return
            if is_record(key):
                yield changed, key

    def entries(self, names: Iterable[Name]) -> Iterator[Entry]:
        """Yield the entries under these keys that can be read and belong where they stand."""
        from concurrent.futures import ThreadPoolExecutor

        names = [*names]
        if len(names) < 2:
            found = [self.read(name) for name in names]
        else:
            with ThreadPoolExecutor(min(AT_ONCE, len(names)), "spillover-list") as pool:
                found = list(pool.map(self.read, names))
        yield from filter(None, found)

    def read(self, name: Name) -> Entry | None:
        """Return what stands under a key; None for nothing, for what cannot be read, and for what is not in view.

        A record has to stand where its own scope puts it: one that was copied elsewhere is nobody's.
        """
        try:
            entry = self._decoded(name) or self._decoded(name)  # what the way garbled once comes whole the next time
        except Missing:
            return None
        if entry is None:
            _log.warning("The record %s in %s is damaged.", name.key, self.bucket.url)
            return None
        scope = entry.record.scope
        ours = record_key(scope, name.ref) == name.key and (self.scope == EVERY or covers(self.scope, scope))
        return entry if ours and not entry.record.others else None

    def _decoded(self, name: Name) -> Entry | None:
        found = self.bucket.get(name.key)
        try:
            return decode(found.data, name.ref, found.tag)
        except ValueError:
            return None

    def remove(self, entry: Entry) -> None:
        """Remove one output of one scope: the record first, because it makes the bytes visible."""
        record = entry.record
        self.bucket.delete([record_key(record.scope, record.ref)])
        if entry.data:
            self.bucket.delete([f"{place_of(record.scope)}/{entry.data}"])
