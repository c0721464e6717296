"""From a descriptor into an intake."""

import hashlib
import os
import tempfile
import threading
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import StoreError
from spillover.source.intake import (
    MAX_LINE_BYTES,
    PIPE_BYTES,
    PIPE_READ_BYTES,
    Intake,
    WholeLines,
    widen_pipe,
)
from spillover.store.directory import DirStore, DirWriter
from spillover.store.memory import MemoryStore

WINDOW = 1_000
LINES = b"".join(b"line %d\n" % number for number in range(400_000))  # 4.6 MB


@contextmanager
def source(data, kind):
    """A descriptor that gives these bytes: a pipe with a writer behind it, or a file."""
    if kind == "file":
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file.fileno()
        return
    fd, end = os.pipe()
    writer = threading.Thread(target=write_all, args=(end, data))
    writer.start()
    yield fd
    writer.join()
    os.close(fd)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)


def moved(data, store, kind="pipe", **options):
    intake = Intake(WINDOW, store.writer, **options)
    with source(data, kind) as fd:
        widen_pipe(fd)
        while intake.write_from(fd):
            pass
    intake.finish()
    return intake


@pytest.mark.parametrize("kind", ["pipe", "file"])
@pytest.mark.parametrize("where", ["folder", "memory"])
@pytest.mark.parametrize("size", [0, 1, WINDOW, WINDOW + 1, PIPE_READ_BYTES + 1, PIPE_BYTES + 1, len(LINES)])
def test_every_byte_arrives_and_is_measured(tmp_path, kind, where, size):
    data = LINES[:size]
    intake = moved(data, DirStore(tmp_path / "store") if where == "folder" else MemoryStore(), kind)
    assert intake.overflowed is (size > WINDOW)
    assert intake.blob().read(0, size + 1) == data
    if intake.overflowed:
        assert intake.meter.sha256 == hashlib.sha256(data).hexdigest()
        assert (intake.meter.bytes, intake.meter.newlines) == (size, data.count(b"\n"))
    intake.abandon()


@pytest.mark.parametrize("cap", [WINDOW, PIPE_READ_BYTES, PIPE_READ_BYTES + 1, PIPE_BYTES, len(LINES) - 1])
def test_what_is_stored_stops_at_the_cap(tmp_path, cap):
    intake = moved(LINES, DirStore(tmp_path / "store"), cap=cap)
    assert (intake.failure, intake.stored_bytes) == ("the cap on one output was reached", cap)
    assert intake.blob().head.read(0, len(LINES)) == LINES[:cap]
    assert intake.meter.sha256 == hashlib.sha256(LINES[:cap]).hexdigest()
    assert (intake.meter.bytes, intake.meter.newlines) == (len(LINES), LINES.count(b"\n"))
    intake.abandon()


def test_an_empty_pipe_that_does_not_block_says_so(tmp_path):
    fd, end = os.pipe()
    os.set_blocking(fd, False)
    intake = Intake(2, DirStore(tmp_path / "store").writer)
    with pytest.raises(BlockingIOError):
        intake.write_from(fd)
    os.write(end, b"abc")
    assert intake.write_from(fd) == 3
    with pytest.raises(BlockingIOError):  # also once it has overflowed
        intake.write_from(fd)
    os.close(end)
    assert intake.write_from(fd) == 0
    os.close(fd)
    intake.abandon()


def test_a_disk_that_fills_up_loses_the_middle_and_no_number(tmp_path, monkeypatch):
    write = DirWriter.write

    def written(writer, data):
        if os.fstat(writer.fileno()).st_size > 1_000_000:
            raise StoreError("No space left on device")
        write(writer, data)

    monkeypatch.setattr(DirWriter, "write", written)
    intake = moved(LINES, DirStore(tmp_path / "store"), side=5_000)
    assert (intake.failure, intake.stored_bytes) == ("No space left on device", 0)
    assert (intake.meter.bytes, intake.meter.newlines) == (len(LINES), LINES.count(b"\n"))
    assert intake.blob().read(0, 5_000) == LINES[:5_000]
    assert intake.blob().read(len(LINES) - 5_000, len(LINES)) == LINES[-5_000:]
    assert not any((tmp_path / "store" / ".tmp").iterdir())
    intake.abandon()


def test_what_is_no_pipe_cannot_be_widened_and_that_is_fine(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    widen_pipe(fd)
    os.close(fd)
    widen_pipe(fd)


# Two streams, whole lines.

WRITES = st.lists(
    st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=8).map(lambda b: b.replace(b"a", b"\n")))
)


def interleave(writes):
    intake = Intake(1 << 20, MemoryStore().writer)
    intake.keep_lines_whole()
    for stream, data in writes:
        intake.write(data, stream)
    assert intake.received == sum(len(data) for _, data in writes)
    intake.finish()
    return intake.pieces


@given(WRITES)
def test_every_line_is_a_whole_line_that_one_stream_wrote(writes):
    pieces = interleave(writes)
    for name in ("stdout", "stderr"):  # nothing is lost, and each stream keeps its order
        assert b"".join(p for s, p in pieces if s == name) == b"".join(d for s, d in writes if s == name)
    for number, (_, piece) in enumerate(pieces):
        # Only behind the last line of a stream can another stream begin inside a line: no byte is ever added.
        assert piece.endswith(b"\n") or number >= len(pieces) - 2


def test_a_prompt_without_a_line_end_does_not_hold_up_the_other_stream():
    pieces = interleave([("stdout", b"loading: "), ("stderr", b"warning\n" * 3), ("stdout", b"done\n")])
    assert pieces == [("stderr", b"warning\n" * 3), ("stdout", b"loading: done\n")]


def test_a_line_longer_than_memory_allows_passes_in_parts():
    part = b"x" * MAX_LINE_BYTES
    lines = WholeLines()
    passed = [piece for _ in range(8) for piece in lines.pieces(part + b"y", "stdout")]
    assert lines.waiting <= MAX_LINE_BYTES
    assert sum(len(piece) for _, piece in passed) + lines.waiting == 8 * (MAX_LINE_BYTES + 1)
