"""Failing stores: one for every store method that clipping calls, and for every kind of exception."""

import errno

from spillover import DirStore, MemoryStore, Retention, StoreError
from spillover.testing import content

#: What a store may raise: our own exceptions and others.
ERRORS = {
    "StoreError": lambda: StoreError("No space left on device"),
    "OSError": lambda: OSError(errno.EDQUOT, "Disk quota exceeded"),
    "ValueError": lambda: ValueError("somebody's own mistake"),
    "no words": KeyError,
}
#: Every store method called while an output is stored, and how many calls succeed before the first failure.
CALLS = {"writer": (0,), "write": (0, 9), "fileno": (0,), "blob": (0,), "read": (0, 5), "publish": (0,),
         "where": (0,), "abandon": (0,), "close": (0,), "size": (0,)}  # fmt: skip


class Faulty:
    """A store with one failing method: the first `after` calls succeed, and all later ones fail."""

    def __init__(self, inner, call, after, error):
        self.inner, self.call, self.left, self.error = inner, call, after, error
        self.get, self.open, self.list = inner.get, inner.open, inner.list
        self.delete, self.pin = inner.delete, inner.pin

    def step(self, call):
        if call == self.call:
            self.left -= 1
            if self.left < 0:
                raise self.error()

    def writer(self):
        self.step("writer")
        return FaultyWriter(self, self.inner.writer())

    def where(self, ref):
        self.step("where")
        return self.inner.where(ref)


class FaultyWriter:
    def __init__(self, store, inner):
        self.store, self.inner = store, inner

    def write(self, data):
        self.store.step("write")
        self.inner.write(data)

    def fileno(self):
        self.store.step("fileno")
        return self.inner.fileno()

    def blob(self):
        self.store.step("blob")
        return FaultyBlob(self.store, self.inner.blob())

    def publish(self, record):
        self.store.step("publish")
        return self.inner.publish(record)

    def abandon(self):
        self.inner.abandon()
        self.store.step("abandon")


class FaultyBlob:
    def __init__(self, store, inner):
        self.store, self.inner = store, inner

    @property
    def size(self):
        self.store.step("size")
        return self.inner.size

    def read(self, start, end):
        self.store.step("read")
        return self.inner.read(start, end)

    def close(self):
        self.inner.close()
        self.store.step("close")


class Forgetful(MemoryStore):
    """A store that silently returns only the first bytes of what it was given."""

    def writer(self):
        writer = super().writer()

        class Short:
            write, fileno, publish, abandon = writer.write, writer.fileno, writer.publish, writer.abandon

            def blob(self):
                held = writer.blob()

                class Blob:
                    size, close = held.size, held.close

                    def read(self, start, end):
                        return held.read(start, min(end, 7_000))

                return Blob()

        return Short()


class Wordless(MemoryStore):
    """A store whose `publish` does not return the ref."""

    def writer(self):
        writer = super().writer()

        class Silent:
            write, fileno, blob, abandon = writer.write, writer.fileno, writer.blob, writer.abandon

            def publish(self, record):
                return None

        return Silent()


def failures(folder, turn=0):
    """Return every kind of failure by name, as a function that makes a store, and its cap. `turn` selects the exceptions."""
    made = {}
    for call, times in CALLS.items():
        for after in times:
            name = [*ERRORS][(len(made) + turn) % len(ERRORS)]
            made[f"{call} fails after {after}: {name}"] = (
                lambda call=call, after=after, error=ERRORS[name]: Faulty(MemoryStore(), call, after, error),
                None,
            )
    for cap in (1, 66_000):
        made[f"cap of {cap}"] = (MemoryStore, cap)
    made["cap, then publish fails"] = (lambda: Faulty(MemoryStore(), "publish", 0, ERRORS["OSError"]), 10_000)
    made["cap, then read fails"] = (lambda: Faulty(MemoryStore(), "read", 2, ERRORS["OSError"]), 10_000)
    made["full memory"] = (lambda: MemoryStore(max_bytes=30_000), None)
    made["full folder"] = (lambda: DirStore(folder, Retention(bytes=30_000)), None)
    made["too many in a folder"] = (lambda: DirStore(folder, Retention(count=0)), None)
    made["no folder"] = (lambda: DirStore("/proc/nope/x"), None)
    made["short reads"] = (Forgetful, None)
    made["no ref"] = (Wordless, None)
    return made


def wrong(clip, data, store, clipper, cap):
    """Return what is wrong with a clip of these bytes: an empty list if it survived as the law requires."""
    found = []
    if (clip.total.lines, clip.total.bytes) != (data.count(b"\n") + (not data.endswith(b"\n")), len(data)):
        found.append(f"the numbers: {clip.total}")
    if clip.outcome == "whole":
        found.append("cut and called whole")
    if clip.outcome == "lost" and not (clip.reason and "not kept" in clip.text and clip.ref is None):
        found.append(f"lost, unsaid: {clip.reason!r}")
    if clip.outcome == "stored":
        kept = content(store, clip.ref)
        if kept != (data if cap is None else data[:cap]) or (cap is not None and cap < len(data)) != bool(clip.reason):
            found.append(f"stored, and not so: {len(kept)} bytes, {clip.reason!r}")
    size = {"tokens": clipper.settings.count(clip.text), "bytes": len(clip.text.encode())}
    found += [f"{name}: {size[name]} > {most}" for name, most in clipper.settings.limits.given() if size[name] > most]
    return found
