"""Compressed outputs: any size, any range, any damage."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import StoreError
from spillover.source.blob import MemoryBlob
from spillover.store.frames import CACHED_FRAMES, FRAME_BYTES, CompressedFile, FrameWriter, encode_table, load_zstd

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 90_001))


def packed(data):
    writer = FrameWriter(MemoryBlob(data))
    return b"".join(writer.write()) + encode_table(writer.table())


def table_of(whole):
    (size,) = struct.unpack("<I", whole[-4:])
    return json.loads(whole[-4 - size : -4])


@pytest.mark.parametrize("size", [FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES])
def test_any_size_comes_back_as_it_was_by_us_and_by_zstd_itself(size):
    data = (LINES * 2)[:size]
    whole = packed(data)
    blob = CompressedFile(MemoryBlob(whole), "x")
    assert (blob.size, blob.read(0, size + 5)) == (size, data)
    assert load_zstd().decompress(whole) == data


PLAIN = MemoryBlob(LINES)
PACKED = MemoryBlob(packed(LINES))
places = st.integers(-5, len(LINES) + 5)


@given(st.lists(st.tuples(places, places | places.map(lambda at: at % 300)), max_size=8))
def test_any_ranges_in_any_order_are_those_of_the_plain_output(ranges):
    blob = CompressedFile(PACKED, "x")
    for start, end in [*ranges, *((start, start + length) for start, length in ranges)]:
        assert blob.read(start, end) == PLAIN.read(start, end)


def test_reading_a_range_decompresses_only_its_frames_and_few_are_held_in_memory():
    asked = []

    class Watched(MemoryBlob):
        def read(self, start, end):
            asked.append((start, end))
            return super().read(start, end)

    blob = CompressedFile(Watched(packed(LINES * 6)), "x")
    table = len(asked)
    assert blob.read(FRAME_BYTES - 2, FRAME_BYTES + 2) == (LINES * 6)[FRAME_BYTES - 2 : FRAME_BYTES + 2]
    blob.read(FRAME_BYTES, FRAME_BYTES + 9)
    assert len(asked) == table + 1, "frames that were just read are at hand"
    blob.read(0, blob.size)
    assert len(blob._cache) == CACHED_FRAMES


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:5],
        lambda whole: whole[:-1],
        lambda whole: whole[1:],
        lambda whole: whole + b"\0",
        lambda whole: whole[:-4] + struct.pack("<I", 0xFFFFFFFF),
        lambda whole: whole[:-4] + struct.pack("<I", 2),
        lambda whole: whole.replace(b'"bytes":2', b'"bytes":9'),
        lambda whole: whole.replace(b'"form":"zstd"', b'"form":"lzma"'),
        lambda whole: LINES,
        lambda whole: b"\0" * len(whole),
    ],
)
def test_a_malformed_file_is_reported_as_damaged(damage):
    with pytest.raises(StoreError, match=r"bash-1\.txt\.zst is damaged: it does not end with a table of its frames"):
        CompressedFile(MemoryBlob(damage(packed(LINES))), "bash-1.txt.zst")


@pytest.mark.parametrize("at", [0, 5, 1_000])
def test_a_damaged_frame_is_reported_and_the_others_can_be_read(at):
    whole = bytearray(packed(LINES))
    whole[table_of(whole)["sizes"][0] + at] ^= 0x55
    blob = CompressedFile(MemoryBlob(bytes(whole)), "bash-1.txt.zst")
    assert blob.read(0, FRAME_BYTES) == LINES[:FRAME_BYTES]
    with pytest.raises(StoreError, match=r"Bytes 524,289-1,048,576 of bash-1\.txt\.zst are not the ones that were"):
        blob.read(FRAME_BYTES, FRAME_BYTES + 1)
    assert blob.read(2 * FRAME_BYTES, 1 << 30) == LINES[2 * FRAME_BYTES :]


def test_a_frame_that_holds_more_than_the_table_says_is_damaged():
    data = b"0" * 5_000
    writer = FrameWriter(MemoryBlob(data))
    frames = b"".join(writer.write())
    table = encode_table(writer.table()).replace(b'"bytes":5000', b'"bytes":4000')
    blob = CompressedFile(MemoryBlob(frames + table), "x")
    with pytest.raises(StoreError, match="Bytes 1-4,000"):
        blob.read(0, 1)
