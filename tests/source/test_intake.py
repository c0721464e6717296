"""Taking an output in: from memory to the store, past its cap, and past its failing."""

import array
import hashlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.errors import StoreError, UsageError
from spillover.source.intake import (
    MAX_LINE_BYTES,
    MAX_SEGMENTS,
    Intake,
    WholeLines,
    achunks,
    as_bytes,
    chunks,
    widen_pipe,
)
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.testing import FailingStore, chunked

WINDOW = 100
FULL = "No space left on device"
CAPPED = "the cap on one output was reached"


def taken(pieces, store=None, **options):
    intake = Intake(WINDOW, (store or MemoryStore()).writer, **options)
    for piece in pieces:
        intake.write(piece)
    intake.finish()
    return intake


def whole(intake):
    return intake.blob().read(0, intake.bytes)


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else DirStore(tmp_path / "store")


@pytest.mark.parametrize(
    ("sizes", "overflowed"),
    [
        ([], False),
        ([0, 0], False),
        ([100], False),
        ([60, 40], False),
        ([101], True),
        ([100, 1], True),
        ([1] * 101, True),
    ],
)
def test_only_what_cannot_fit_goes_to_the_store(sizes, overflowed, store):
    intake = taken([b"x" * size for size in sizes], store)
    assert intake.overflowed is overflowed
    assert whole(intake) == b"x" * sum(sizes)
    intake.abandon()


def test_small_output_never_asks_for_a_store():
    def begin():
        raise AssertionError("nothing overflowed")

    intake = Intake(WINDOW, begin)
    intake.write(b"x" * WINDOW)
    intake.finish()
    assert intake.last_bytes(3) == b"xxx"


@settings(max_examples=200)  # the laws look further
@given(st.binary(max_size=400), st.lists(st.integers(0, 150)))
def test_pieces_make_no_difference_to_what_is_stored(data, sizes):
    intake = taken(chunked(data, sizes))
    assert whole(intake) == data
    if intake.overflowed:
        assert intake.meter.sha256 == hashlib.sha256(data).hexdigest()
        assert intake.meter.bytes == len(data)


#: Where a store fails, or stops at its cap, in pieces of 70, 50 and 30 bytes: an output that is held, then spills, then streams.
PIECES = [b"a" * 70, b"b" * 50, b"c" * 30]
ALL = b"".join(PIECES)


@pytest.mark.parametrize("on", ["writer", "write"])
@pytest.mark.parametrize("after", [0, 69, 70, 119, 120, 149])
def test_a_store_that_fails_at_any_byte_loses_neither_count_nor_ends(on, after):
    intake = taken(PIECES, FailingStore(MemoryStore(), on=on, after_bytes=after))
    assert (intake.failure, intake.stored_bytes) == (FULL, 0)
    assert (intake.bytes, intake.meter.bytes) == (150, 150)
    assert whole(intake) == ALL
    assert intake.last_bytes(40) == ALL[-40:]


@pytest.mark.parametrize("cap", [1, 69, 70, 71, 119, 120, 121, 149])
def test_not_a_byte_more_than_the_cap_is_stored(cap, store):
    intake = taken(PIECES, store, cap=cap)
    assert (intake.failure, intake.stored_bytes) == (CAPPED, cap)
    assert intake.blob().head.read(0, 999) == ALL[:cap]
    assert intake.meter.sha256 == hashlib.sha256(ALL[:cap]).hexdigest()
    assert (intake.meter.bytes, intake.meter.hashed) == (150, cap)
    assert whole(intake) == ALL, "the rest is small enough to be held"
    intake.abandon()


def test_a_cap_of_exactly_the_output_is_no_loss(store):
    intake = taken(PIECES, store, cap=150)
    assert not intake.failure
    assert whole(intake) == ALL
    intake.abandon()


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_when_storing_fails_both_ends_stay_and_memory_is_bounded(pieces):
    data = b"".join(b"%06d\n" % number for number in range(3000))
    size = len(data) // pieces
    store = FailingStore(MemoryStore(), after_bytes=5_000)
    intake = taken(chunked(data, [size] * pieces), store, side=1_000)
    assert intake.meter.newlines == 3_000
    opens, closes = intake.blob().gap
    assert opens >= 1_000
    assert len(data) - closes >= 1_000
    assert intake.blob().read(0, opens) == data[:opens]
    assert intake.blob().read(closes, len(data)) == data[closes:]
    assert opens + len(data) - closes <= 3 * 1_000 + size
    assert intake.last_bytes(10) == data[-10:]


def test_abandoning_leaves_nothing_behind(tmp_path):
    store = DirStore(tmp_path / "store")
    intake = taken([b"x" * 500], store)
    intake.blob()
    intake.abandon()
    intake.abandon()
    assert list(store.list()) == []
    assert not any((tmp_path / "store" / ".tmp").iterdir())


# Which stream each byte is from.


def written(pairs):
    intake = Intake(WINDOW, MemoryStore().writer)
    for stream, data in pairs:
        intake.write(data, stream)
    return intake.segments


def test_streams_are_told_apart_in_order_of_arrival():
    assert written([("stdout", b"ab"), ("stdout", b"c"), ("stderr", b""), ("stderr", b"d"), ("stdout", b"e")]) == [
        ("stdout", 3),
        ("stderr", 1),
        ("stdout", 1),
    ]


def test_past_so_many_switches_the_rest_is_mixed_and_memory_is_bounded():
    pairs = [(("stdout", "stderr")[number % 2], b"x") for number in range(MAX_SEGMENTS + 500)]
    segments = written(pairs)
    assert len(segments) == MAX_SEGMENTS
    assert segments[-1] == ("mixed", 501)
    assert sum(count for _, count in segments) == MAX_SEGMENTS + 500


def test_the_last_segment_keeps_its_name_while_only_its_own_stream_comes():
    pairs = [(("stdout", "stderr")[number % 2], b"x") for number in range(MAX_SEGMENTS)]
    assert written([*pairs, ("stderr", b"xx")])[-1] == ("stderr", 3)
    assert written([*pairs, ("stdout", b"xx"), ("stderr", b"x")])[-1] == ("mixed", 4)


def test_when_the_store_is_given_up_what_is_there_stays(tmp_path):
    intake = taken([b"x" * 500], DirStore(tmp_path / "store"))
    intake.fail(StoreError(FULL))
    intake.write(b"more")
    intake.finish()
    assert (intake.failure, intake.stored_bytes) == (FULL, 0)
    assert whole(intake) == b"x" * 500 + b"more"
    assert not any((tmp_path / "store" / ".tmp").iterdir())
    intake.abandon()


# Everything that can be clipped, as bytes; everything that cannot, said at once.

TEXT = "grün\r\n\x1b[1mfett\x1b[0m\n\0 ende"
DATA = TEXT.encode()


def a_path(folder):
    path = folder / "with a space.log"
    path.write_bytes(DATA)
    return path


#: every kind of source, from a folder it may write to
SOURCES = {
    "str": lambda _: TEXT,
    "bytes": lambda _: DATA,
    "bytearray": lambda _: bytearray(DATA),
    "memoryview": lambda _: memoryview(DATA),
    "path": a_path,
    "binary file": lambda folder: a_path(folder).open("rb"),
    "unbuffered file": lambda folder: a_path(folder).open("rb", buffering=0),
    "text file": lambda folder: a_path(folder).open(encoding="utf-8", newline=""),
    "BytesIO": lambda _: io.BytesIO(DATA),
    "StringIO": lambda _: io.StringIO(TEXT, newline=""),
    "list of str": lambda _: [TEXT[:5], "", TEXT[5:]],
    "list of bytes": lambda _: [DATA[:3], b"", DATA[3:]],
    "generator of both": lambda _: (piece for piece in (TEXT[:5], TEXT[5:].encode())),
}


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    made = SOURCES[request.param](tmp_path)
    yield made
    if isinstance(made, io.IOBase):
        made.close()


def test_every_source_gives_the_same_bytes(source):
    assert b"".join(chunks(source)) == DATA


async def test_every_source_gives_the_same_bytes_to_async_code(source):
    assert b"".join([bytes(chunk) async for chunk in achunks(source)]) == DATA


async def test_an_async_iterable_may_mix_text_and_bytes():
    async def pieces():
        yield TEXT[:4]
        yield DATA[len(TEXT[:4].encode()) :]

    assert b"".join([bytes(chunk) async for chunk in achunks(pieces())]) == DATA


@pytest.mark.parametrize("wrong", [None, 7, 1.5, object(), {"a": "b"}, {}])
def test_what_cannot_be_clipped_is_said_before_anything_is_taken(wrong):
    with pytest.raises(UsageError, match=rf"^cannot clip {type(wrong).__name__}; give str, bytes, a file"):
        chunks(wrong)


def test_a_wrong_piece_is_said_when_it_comes():
    pieces = chunks(["fine", 7])
    assert next(pieces) == b"fine"
    with pytest.raises(UsageError, match="cannot clip int"):
        next(pieces)


def test_an_async_iterable_asks_for_await():
    async def pieces():
        yield ""  # pragma: no cover

    with pytest.raises(UsageError, match="await aclip"):
        chunks(pieces())


def test_a_path_that_is_not_there_is_said_before_anything_is_taken(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.log: No such file"):
        chunks(tmp_path / "gone.log")


def test_a_folder_is_not_an_output(tmp_path):
    with pytest.raises(UsageError, match="Is a directory"):
        chunks(tmp_path)


def test_a_path_is_closed_once_it_has_been_read(tmp_path):
    read = chunks(a_path(tmp_path))
    file = read.gi_frame.f_locals["file"]
    assert b"".join(read) == DATA
    assert file.closed


def test_a_text_file_gives_the_bytes_of_its_text(tmp_path):
    path = Path(tmp_path) / "latin.txt"
    path.write_bytes("grün".encode("latin-1"))
    with path.open(encoding="latin-1") as file:
        assert b"".join(chunks(file)) == "grün".encode()


def test_a_lone_surrogate_keeps_its_three_bytes():
    assert as_bytes("a\ud800b") == b"a\xed\xa0\x80b"


def test_a_view_of_larger_items_is_taken_byte_by_byte():
    numbers = array.array("I", [1, 2])
    assert bytes(as_bytes(memoryview(numbers))) == numbers.tobytes()
    every_other = memoryview(b"abcdef")[::2]
    assert bytes(as_bytes(every_other)) == b"ace"


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
