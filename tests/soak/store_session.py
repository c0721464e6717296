"""A scripted session with a store: clip, read, search, list, pin, sweep and delete outputs.

The attacks on the store run this session, make something fail along the way, and then check the result.
"""

import os

from spillover import Clipper, DirStore, Limits, Retention, SpilloverError
from spillover.store import verify
from spillover.store.folder import LOCK, Folder
from spillover.store.record import mint
from spillover.store.retention import count, hold_tally
from spillover.testing import content, put

LOG = b"".join(b"2026-01-01 12:00:%02d INFO request %d took %d ms\n" % (n % 60, n, n % 97) for n in range(400))
RECORDS = b"".join(b'{"id": %d, "level": "info", "ms": %d}\n' % (n, n % 97) for n in range(500))
TABLE = b"id,name,price\n" + b"".join(b"%d,item %d,%d.5\n" % (n, n, n % 9) for n in range(700))
OUTPUTS = {"log": LOG, "records": RECORDS, "table": TABLE}
#: Large enough that retention removes nothing during the session.
KEPT = Retention(bytes=50_000_000, count=50, grace_seconds=0)


class Session:
    """A run of the script, the refs it reported as stored, and what went wrong."""

    def __init__(self, root, retention=KEPT):
        self.root, self.store = root, DirStore(root, retention)
        self.clipper = Clipper(Limits(tokens=300), store=self.store)
        self.stored = {}  # ref → bytes, as reported by clips
        self.wrong = []  # (kind of failure, details)

    def run(self, told=lambda ref: None):
        """Run the entire script. `told` is called with each ref as soon as it is reported as stored."""
        for tool in ("log", "records", "table", "log"):
            self.clip(tool, OUTPUTS[tool])
            for ref in self.stored:
                told(ref)
        log = mint("log", self._sha256(LOG))
        self.ask(lambda: self.clipper.read(log, lines="390:400"), b"399")
        self.ask(lambda: self.clipper.grep(log, "request 333 "), b"request 333 took")
        self.ask(lambda: self.clipper.outline(log), b"")
        self.quietly(lambda: list(self.store.list()))
        self.quietly(lambda: self.store.pin(log))
        self.quietly(lambda: self.store.pin(log, pinned=False))
        self.quietly(self.store.sweep)
        table = mint("table", self._sha256(TABLE))
        self.stored.pop(table, None)
        told("-" + table)
        self.quietly(lambda: self.store.delete(table))
        self.clip("more", LOG[:-100])
        for ref in self.stored:
            told(ref)

    def clip(self, tool, data):
        try:
            pieces = (data[at : at + 5_000] for at in range(0, len(data), 5_000))
            clip = Clipper(Limits(tokens=300), store=self.store).clip(pieces, tool=tool)
        except Exception as error:  # noqa: BLE001  clipping must never raise
            self.wrong.append(("raised", f"clip: {error!r}"))
            return
        if self.clipper.settings.count(clip.text) > 300:
            self.wrong.append(("over", clip.text))
        if clip.outcome == "stored":
            self.stored[clip.ref] = data
        elif not (clip.outcome == "lost" and clip.reason and "not kept" in clip.text):
            self.wrong.append(("unsaid", f"{clip.outcome}: {clip.reason!r}"))

    def ask(self, way, expected):
        """Make a retrieval call: it may fail with one of our errors, but an answer must be right."""
        try:
            text = way().text
        except SpilloverError:
            return
        except Exception as error:  # noqa: BLE001  as above
            self.wrong.append(("raised", f"going back: {error!r}"))
            return
        if expected.decode() not in text:
            self.wrong.append(("wrong", text))

    def quietly(self, way):
        try:
            way()
        except SpilloverError:
            pass
        except Exception as error:  # noqa: BLE001  as above
            self.wrong.append(("raised", f"keeping: {error!r}"))

    def _sha256(self, data):
        import hashlib

        return hashlib.sha256(data).hexdigest()

    def judge(self):
        """Check the store once nothing fails any more: it has every reported output, all are intact, and it still works."""
        return self.wrong + wrong_with(self.root, self.stored)


def wrong_with(root, stored, retention=KEPT):
    """Return what is wrong with a store after an attack, given the outputs that were reported as stored."""
    store, wrong = DirStore(root, retention), []
    for ref, data in stored.items():
        try:
            if content(store, ref) != data:
                wrong.append(("wrong", f"{ref}: other bytes"))
        except SpilloverError as error:
            wrong.append(("unsaid", f"{ref} was said to be stored: {error}"))
    try:
        refs = [record.ref for record in store.list()]
        wrong += [("torn", f"{ref}: {said}") for ref in refs if (said := verify(store, ref))]
        if os.path.exists(os.path.join(root, LOCK)):
            with Folder(str(root)) as folder, hold_tally(folder) as tally:
                noted, held = tally.read(), count(folder)
            if noted and (noted.outputs < held.outputs or noted.bytes < held.bytes):
                wrong.append(("uncounted", f"{noted} noted, {held} there"))
        store.sweep()
        after = put(store, b"afterwards")
        if content(store, after.ref) != b"afterwards":
            wrong.append(("wrong", "afterwards"))
    except Exception as error:  # noqa: BLE001  any exception means the store is broken
        wrong.append(("raised", f"afterwards: {error!r}"))
    return wrong
