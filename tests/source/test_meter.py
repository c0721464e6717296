"""Counting bytes as they pass: tables first, then any bytes in any pieces."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.source.blob import BLOCK_BYTES, LineIndex, Meter
from spillover.testing import byte_by_byte, chunked

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
