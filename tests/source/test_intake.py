"""Taking an output in: from memory to the store, past its cap, and past its failing."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.errors import StoreError
from spillover.source.intake import MAX_SEGMENTS, Intake
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


def test_two_hundred_switches_are_two_hundred_segments():
    pairs = [(("stdout", "stderr")[number % 2], b"%d" % (number % 10)) for number in range(200)]
    assert written(pairs) == [(stream, 1) for stream, _ in pairs]


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
