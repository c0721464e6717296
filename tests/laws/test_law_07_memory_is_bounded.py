"""Law 7: memory is bounded by the limits, not by the output. Storing takes one pass, selecting at most one more."""

import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from law_given import choices, cuts, law_in_short, outputs

from spillover import Clipper, Limits, MemoryStore
from spillover.testing import chunked
from support import ToolClipper

MEGABYTE = 1 << 20
SMALL, BIG = MEGABYTE, 120 * MEGABYTE
ROOM = 40 * MEGABYTE


class Watched:
    """A store that records when it was first used, and how many bytes were read back."""

    def __init__(self):
        self.inner = MemoryStore()
        self.asked = 0
        self.most_read = self.all_read = 0

    def writer(self):
        self.asked += 1
        return _WatchedWriter(self, self.inner.writer())

    def __getattr__(self, name):
        return getattr(self.inner, name)


class _WatchedWriter:
    def __init__(self, store, inner):
        self.store, self.inner = store, inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def blob(self):
        return _WatchedBlob(self.store, self.inner.blob())


class _WatchedBlob:
    def __init__(self, store, inner):
        self.store, self.inner = store, inner
        self.size, self.close = inner.size, inner.close

    def read(self, start, end):
        data = self.inner.read(start, end)
        self.store.most_read = max(self.store.most_read, len(data))
        self.store.all_read += len(data)
        return data


@law_in_short
@given(chosen=choices, data=outputs, cuts=cuts)
def test_no_more_than_could_fit_is_held_before_the_store_is_asked(chosen, data, cuts):
    store = Watched()
    clipper = ToolClipper(**chosen, store=store)
    window = max(limits.window for limits in (clipper.settings.limits, clipper.settings.trigger) if limits)
    capture = clipper.capture()
    passed = 0
    for chunk in chunked(data, cuts):
        capture.write(chunk)
        passed += len(chunk)
        assert store.asked == (passed > window), "neither earlier nor later than needed"
    clip = capture.clip
    assert store.asked == (clip.outcome != "whole"), "once, and never for what fits"


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
@pytest.mark.parametrize(
    "line", [b"a line of a log that goes on and on\n", b"one line without an end ", b"\n", b"\r 10%"]
)
def test_selecting_looks_at_the_ends_only(keep, line):
    """However large the output is, cutting reads back only a multiple of the limits."""
    store = Watched()
    clipper = Clipper(Limits(bytes=2_000), keep=keep, store=store)
    clipper.clip(line * (20 * MEGABYTE // len(line)))
    assert store.most_read <= 2 * clipper.call().reach
    assert store.all_read <= 8 * MEGABYTE


#: Clips a stream of the given number of megabytes, generated on the fly, and prints its peak memory.
PROGRAM = textwrap.dedent("""
    import asyncio, sys
    from spillover import Clipper, DirStore, MemoryStore
    from spillover.testing import FailingStore, peak_memory
    way, size, root = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    line = {"lines": b"2026-01-01 00:00:00 INFO a line of a log that goes on and on\\n", "one line": b"0123456789abcdef", "empty lines": b"\\n",
            "frames": b"\\r 10%"}[sys.argv[4]]
    chunk = line * (65_536 // len(line))
    chunks = (chunk for _ in range(size // len(chunk)))
    full = FailingStore(MemoryStore(), after_bytes=1 << 20)
    clipper = Clipper(store=full if way == "lost" else DirStore(root), cap=1 << 20 if way == "capped" else 2 << 30)
    async def slowly():
        for piece in chunks:
            yield piece
    if way == "aclip":
        clip = asyncio.run(clipper.aclip(slowly()))
    elif way == "run":
        clip = clipper.run(["sh", "-c", f"yes '{line[:-1].decode()}' | head -c {size}"]).clip
    elif way == "streams":
        clip = clipper.clip_streams(stdout=chunks, stderr=[b"oh no"])
    else:
        clip = clipper.clip(chunks)
    assert clip.total.bytes > size * 0.99, clip.total
    assert len(clip.text) < 60_000
    if clip.ref and way == "read and grep":
        clipper.read(clip.ref, lines="-10:"), clipper.read(clip.ref, bytes="-10:"), clipper.grep(clip.ref, "zzz|no such")
    print(peak_memory())
""")


def memory(way, size, root, kind):
    command = [sys.executable, "-c", PROGRAM, way, str(size), str(root), kind]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


# Real processes and real files of 120 MB: a table rather than a property, because only the size matters here.
@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("clip", "lines"),
        ("clip", "one line"),
        ("clip", "empty lines"),
        ("clip", "frames"),
        ("aclip", "lines"),
        ("streams", "lines"),
        ("run", "lines"),
        ("lost", "lines"),
        ("lost", "one line"),
        ("capped", "lines"),
        ("read and grep", "lines"),
        ("read and grep", "one line"),
    ],
)
def test_120_megabytes_take_no_more_memory_than_one(tmp_path, way, kind):
    assert memory(way, BIG, tmp_path / "big", kind) - memory(way, SMALL, tmp_path / "small", kind) < ROOM
