"""Bounded memory while an output arrives, from published cases: chunks → beginning, end and counts."""

import sys

import pytest

from spillover import DirStore, Limits, MemoryStore
from spillover.errors import StoreError
from spillover.testing import FailingStore, byte_by_byte, content
from support import Intake


def nowhere():
    raise StoreError("there is no store")


def buffered(side, chunks):
    """Feed an intake without a store, which keeps `side` bytes of the beginning and at least as many of the end."""
    intake = Intake(0, nowhere, side=side)
    for chunk in chunks:
        intake.write(chunk)
    intake.finish()
    return intake


BUFFERS = [
    # codex head_tail_buffer_tests, a buffer of 10: chunks → first 5, last 5
    ("kept while it fits", [b"01234", b"56789"], b"01234", b"56789"),
    ("prefix and suffix", [b"0123456789", b"ab"], b"01234", b"789ab"),
    ("a chunk larger than the end", [b"0123456789", b"ab", b"ABCDEFGHIJK"], b"01234", b"GHIJK"),
    ("the beginning fills over several chunks", [b"0", b"12", b"3456789ab"], b"01234", b"789ab"),
    ("tiny chunks", list(byte_by_byte(b"0123456789abcdefghij")), b"01234", b"fghij"),
    ("one huge chunk", [b"0123456789" * 1_000], b"01234", b"56789"),
    ("empty chunks", [b"", b"0123456789", b"", b"ab", b""], b"01234", b"789ab"),
]


@pytest.mark.parametrize(("case", "chunks", "head", "tail"), BUFFERS, ids=[case for case, *_ in BUFFERS])
def test_the_first_and_the_last_bytes_survive_and_the_rest_is_counted(case, chunks, head, tail):
    whole = b"".join(chunks)
    intake = buffered(5, chunks)
    blob = intake.blob()
    assert blob.read(0, 5) == head
    assert blob.read(len(whole) - 5, len(whole)) == tail
    assert intake.meter.bytes == intake.bytes == len(whole)
    opens, closes = blob.gap
    assert closes - opens <= max(0, len(whole) - 10), "we may keep more of the end than they do, never less"


@pytest.mark.parametrize(
    ("source", "side", "data", "head", "tail"),
    [("codex, capacity 0", 0, b"abc", b"", b""), ("codex, capacity 1", 1, b"abc", b"a", b"c")],
)
def test_the_smallest_buffers(source, side, data, head, tail):
    intake = buffered(side, byte_by_byte(data))
    blob = intake.blob()
    assert blob.read(0, side) == head
    assert blob.read(len(data) - side, len(data)) == tail
    assert intake.meter.bytes == len(data)


@pytest.mark.parametrize("step", [1, 7, 64, 4_096])
def test_memory_is_bounded_by_the_buffer_and_not_by_the_output(step):
    """codex: tiny chunks add no metadata; cline: keeps a rolling head and tail."""
    intake = Intake(100, nowhere, side=1_000)
    for _ in range(0, 200_000, step):
        intake.write(b"x" * step)
    held = sum(sys.getsizeof(part) for part in (intake.blob().read(0, 1_000), intake.blob().tail))
    assert held <= 4 * 1_000 + 500
    assert len(intake.segments) == 1


@pytest.mark.parametrize("limit", [5_120, 10_240, 20_480])
@pytest.mark.parametrize("chunks", [1, 100, 4_096])
def test_nothing_touches_the_disk_at_the_limit_and_one_byte_more_is_stored_from_byte_0(
    tmp_path, clipping, limit, chunks
):
    """Roo OutputInterceptor: no file exactly at the limit; one byte more, and the file has everything."""
    root = tmp_path / "store"
    clipper = clipping(Limits(bytes=limit))
    on_disk = type(clipper)(Limits(bytes=limit), store=DirStore(root))
    at = b"0123456789" * (limit // 10)
    assert on_disk.clip(at[i : i + chunks] for i in range(0, limit, chunks)).outcome == "whole"
    assert not root.exists()
    over = at + b"x"
    clip = on_disk.clip(over[i : i + chunks] for i in range(0, limit + 1, chunks))
    assert clip.outcome == "stored"
    assert content(on_disk.settings.store, clip.ref) == over


@pytest.mark.parametrize("after", [0, 1, 300, 5_000, 40_000])
def test_a_disk_that_fills_up_in_the_middle_leaves_both_ends_to_show(after):
    """hermes tee, qwen: if spilling fails, the result is still bounded and its end is shown."""
    from spillover import Clipper

    text = "FIRST\n" + "".join(f"line {number}\n" for number in range(5_000)) + "LAST\n"
    clipper = Clipper(Limits(bytes=1_000), store=FailingStore(MemoryStore(), after_bytes=after))
    clip = clipper.clip(text[at : at + 100] for at in range(0, len(text), 100))
    assert clip.outcome == "lost"
    assert "No space left on device" in clip.text
    assert "FIRST" in clip.text
    assert clip.text.endswith("LAST\n")
    assert (clip.total.lines, clip.total.bytes) == (5_002, len(text))
    assert len(clip.text) <= 1_000


def test_an_output_past_its_cap_is_counted_on_and_called_partial(clipping, store):
    """deepagents sandbox: past the cap, the file is incomplete and the notice says so; opencode v2 calls it full."""
    text = "".join(f"line {number}\n" for number in range(10_000))
    clip = clipping(Limits(bytes=1_000), cap=5_000).clip(text)
    assert "Stored in part: first 5,000 bytes" in clip.text
    assert (clip.total.lines, clip.total.bytes) == (10_000, len(text))
    assert clip.text.endswith("line 9999\n")
    assert content(store, clip.ref).decode() == text[:5_000]
