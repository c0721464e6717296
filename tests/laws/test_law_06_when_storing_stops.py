"""Law 6 for capped and lost outputs: what is shown depends on the bytes, never on how they were chunked."""

import io
import json
import resource
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law_in_short, outputs

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.testing import FailingStore, byte_by_byte, chunked
from support import ToolClipper


def facts(clip):
    return clip.text, clip.outcome, clip.ref, clip.total, clip.shown, clip.ranges, clip.reason


#: A cut reads 64 KiB of each end, so an output of this size has a middle, and both windows slide.
SIZE = 300_000


def _repeat(line):
    return "".join(map(line, range(SIZE // 8))).encode()[:SIZE]


KINDS = {
    "log": _repeat(lambda n: f"12:00:{n % 60:02} {'ERROR' if n % 997 == 0 else 'INFO'} request {n} took {n % 37} ms\n"),
    "one line": _repeat(lambda n: f"word{n} "),
    "empty lines": b"\n" * SIZE,
    "JSON": json.dumps([{"id": n, "name": f"name {n}", "tags": ["a", "b"]} for n in range(6_000)]).encode()[:SIZE],
    "NDJSON": _repeat(lambda n: f'{{"id": {n}, "level": "{"error" if n % 997 == 0 else "info"}", "took": {n % 37}}}\n'),
    "CSV": b"id,name,amount\n" + _repeat(lambda n: f"{n},name {n},{n * 7 % 1000}\n"),
    "diff": b"--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n" + _repeat(lambda n: f"{' +-'[n % 3]}line {n} of the file\n"),
    "bytes": bytes(range(256)) * (SIZE // 256),
    "UTF-8": _repeat(lambda n: f"漢字 {n} 😀\n"),
}


def full(after):
    return lambda: FailingStore(MemoryStore(), after_bytes=after)


#: What stops storing, and where: in the first window, in the middle, or in the last window.
STOPS = {
    **{f"cap {cap}": ({"cap": cap}, MemoryStore) for cap in (1, 10_000, 65_536, 150_000, 299_000)},
    **{f"full after {after}": ({}, full(after)) for after in (0, 10_000, 65_536, 150_000, 299_000)},
    "takes nothing": ({}, lambda: FailingStore(MemoryStore(), on="writer")),
    "publishes nothing": ({}, lambda: FailingStore(MemoryStore(), on="publish")),
    "cap, publishes nothing": ({"cap": 150_000}, lambda: FailingStore(MemoryStore(), on="publish")),
    "cap, full before": ({"cap": 150_000}, full(120_000)),
}
PIECES = (777, 100_001)


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_output_that_is_capped_or_lost_reads_the_same_in_any_pieces(kind, stop):
    data, (options, store) = KINDS[kind], STOPS[stop]

    def clipped(source):
        return facts(Clipper(Limits(bytes=3_000), store=store(), **options).clip(source))

    whole = clipped(data)
    assert whole[1] == ("stored" if "cap" in options and store is MemoryStore else "lost")
    for size in PIECES:
        assert clipped(data[at : at + size] for at in range(0, len(data), size)) == whole, size


@law_in_short
@given(
    chosen=choices, data=outputs, stop=st.sampled_from(["cap", "write", "writer", "publish"]), cuts=cuts, at=st.data()
)
def test_wherever_storing_stops_chunking_makes_no_difference(chosen, data, stop, cuts, at):
    where = at.draw(st.integers(1, len(data) + 2))

    def clipped(source):
        store = MemoryStore() if stop == "cap" else FailingStore(MemoryStore(), on=stop, after_bytes=where)
        return facts(ToolClipper(**chosen, store=store, **({"cap": where} if stop == "cap" else {})).clip(source))

    whole = clipped(bytes(data))
    assert clipped(chunked(data, cuts)) == whole
    if len(data) < 2_000:
        assert clipped(byte_by_byte(data)) == whole


COPY = """
import os, sys
data, at, size = open(sys.argv[1], "rb").read(), 0, int(sys.argv[2])
while at < len(data):
    at += os.write(1, data[at : at + size])
"""


@pytest.mark.parametrize("options", [{"cap": 1}, {"cap": 70_000}, {"cap": 200_000}, {"cap": 299_999}], ids=str)
def test_a_capped_command_reads_as_its_bytes_do_whichever_way_they_came(tmp_path, options):
    """A command's output goes straight from its pipe to the file, in whatever pieces the pipe delivers."""
    data = KINDS["log"]
    (tmp_path / "data").write_bytes(data)
    clipper = Clipper(Limits(bytes=3_000), store=DirStore(tmp_path / "store"), hints="cli", **options)
    whole = facts(clipper.clip(data, tool="t"))
    assert facts(clipper.clip(tmp_path / "data", tool="t")) == whole
    assert facts(clipper.clip(io.BytesIO(data), tool="t")) == whole
    for size in (5_000, 65_536, 1_000_000):
        run = clipper.run([sys.executable, "-c", COPY, tmp_path / "data", str(size)], tool="t")
        assert facts(run.clip) == whole, size


@pytest.mark.parametrize("pieces", [1_000, 65_536, 300_000])
def test_a_disk_that_is_full_reads_the_same_in_any_pieces(tmp_path, pieces):
    """The file refuses bytes past a certain size, possibly in the middle of a chunk."""
    data = KINDS["log"]
    refusing = FailingStore(MemoryStore(), after_bytes=70_000, reason="File too large")
    expected = facts(Clipper(Limits(bytes=3_000), store=refusing, hints="cli").clip(data))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (123_456, hard))  # Python ignores the resulting signal, SIGXFSZ
    try:
        clipper = Clipper(Limits(bytes=3_000), store=DirStore(tmp_path / "store"), hints="cli")
        came = facts(clipper.clip(data[at : at + pieces] for at in range(0, len(data), pieces)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert came == expected
