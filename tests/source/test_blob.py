"""Bytes open for random access, and what is said of a middle that is gone."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.source.blob import BLOCK_BYTES, BothEnds, LineIndex, MemoryBlob, Meter
from spillover.testing import byte_by_byte, chunked

WHOLE = b"0123456789"


@pytest.mark.parametrize(
    ("start", "end", "got"),
    [
        (0, 10, WHOLE),
        (0, 99, WHOLE),
        (3, 5, b"34"),
        (5, 3, b""),
        (-4, 2, b"01"),  # never counted from the end
        (2, -1, b""),
        (10, 12, b""),
    ],
)
def test_a_range_is_what_it_says(start, end, got):
    assert MemoryBlob(WHOLE).read(start, end) == got
    assert BothEnds(MemoryBlob(WHOLE), b"", 10).read(start, end) == got
    assert BothEnds(MemoryBlob(b""), WHOLE, 10).read(start, end) == got


@pytest.mark.parametrize(
    ("start", "end", "got"),
    [
        (0, 3, b"012"),
        (2, 3, b"2"),
        (2, 9, b"2"),  # it stops where the gap begins
        (3, 7, b""),  # nothing of this is here
        (4, 9, b"78"),
        (7, 10, b"789"),
        (0, 10, b"012"),
    ],
)
def test_what_is_between_the_ends_is_not_there(start, end, got):
    ends = BothEnds(MemoryBlob(b"012"), b"789", 10)
    assert ends.gap == (3, 7)
    assert ends.read(start, end) == got


@settings(max_examples=200)  # the laws look further
@given(st.integers(0, 10), st.integers(0, 10), st.integers(-1, 12), st.integers(-1, 12))
def test_ends_that_meet_or_overlap_are_the_whole(head, tail, start, end):
    ends = BothEnds(MemoryBlob(WHOLE[:head]), WHOLE[10 - tail :], 10)
    got = ends.read(start, end)
    opens, closes = ends.gap
    if head + tail >= 10:
        assert opens == closes
        assert got == WHOLE[max(0, start) : max(0, end)]
    else:
        assert (opens, closes) == (head, 10 - tail)
        assert got in WHOLE[max(0, start) : max(0, end)]


def test_closing_the_ends_closes_the_head():
    class Head(MemoryBlob):
        closed = False

        def close(self):
            type(self).closed = True

    BothEnds(Head(b"01"), b"9", 10).close()
    assert Head.closed


# Counting bytes as they pass: tables first, then any bytes in any pieces.

#: what came, lines, characters
COUNTED = [
    (b"", 0, 0),
    (b"a", 1, 1),
    (b"\n", 1, 1),
    (b"a\n", 1, 2),
    (b"a\nb", 2, 3),
    (b"a\r\nb\r\n", 2, 6),  # CRLF ends one line
    (b"a\rb", 1, 3),  # a carriage return alone ends none
    (b"\n\n\n", 3, 3),
    (b"\0\0\n\0", 2, 4),
    ("äöü\n€".encode(), 2, 5),
    ("🎉".encode(), 1, 1),
]


def measured(pieces):
    meter = Meter()
    for piece in pieces:
        meter.feed(piece)
    return meter


def facts(meter):
    return meter.bytes, meter.lines, meter.newlines, meter.chars, meter.sha256, meter.index, meter.last


@pytest.mark.parametrize(("data", "lines", "chars"), COUNTED)
def test_lines_are_counted_as_a_person_does(data, lines, chars):
    meter = measured([data])
    assert (meter.bytes, meter.lines, meter.chars) == (len(data), lines, chars)
    assert meter.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(("data", "lines", "chars"), COUNTED)
def test_byte_by_byte_gives_the_same_numbers(data, lines, chars):
    assert facts(measured(byte_by_byte(data))) == facts(measured([data]))


@settings(max_examples=200)  # the laws look further
@given(st.binary(max_size=400), st.lists(st.integers(0, 50)))
def test_pieces_make_no_difference(data, sizes):
    assert facts(measured(chunked(data, sizes))) == facts(measured([data]))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_bytes_is_measured(kind):
    assert measured([kind(b"a\nb\n")]).lines == 2


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_the_index_says_how_many_newlines_stand_before_each_block(blocks, over):
    data = (b"1234567\n" * (blocks * BLOCK_BYTES // 8 + 1))[: blocks * BLOCK_BYTES + over]
    before = tuple(data[: block * BLOCK_BYTES].count(b"\n") for block in range(len(data) // BLOCK_BYTES + 1))
    assert measured([data]).index == LineIndex(BLOCK_BYTES, before)
    assert measured(chunked(data, [1000] * 300)).index == LineIndex(BLOCK_BYTES, before)


def test_counting_goes_on_where_hashing_stops():
    meter = Meter()
    meter.feed(b"kept\n")
    meter.feed(b"not kept\n", hashing=False)
    assert (meter.bytes, meter.lines, meter.hashed) == (14, 2, 5)
    assert meter.sha256 == hashlib.sha256(b"kept\n").hexdigest()
