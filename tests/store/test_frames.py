"""Compressed outputs: any size, any range, any damage."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import StoreError
from spillover.source.blob import MemoryBlob
from spillover.store import frames as module
from spillover.store.frames import FRAME, HELD, PackedBlob, Packer, encode_table

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 90_001))


def packed(data):
    packer = Packer(MemoryBlob(data))
    return b"".join(packer.pieces()) + encode_table(packer.frames())


def table_of(whole):
    (size,) = struct.unpack("<I", whole[-4:])
    return json.loads(whole[-4 - size : -4])


@pytest.mark.parametrize("size", [FRAME - 1, FRAME, FRAME + 1, 3 * FRAME])
def test_any_size_comes_back_as_it_was_by_us_and_by_zstd_itself(size):
    data = (LINES * 2)[:size]
    whole = packed(data)
    blob = PackedBlob(MemoryBlob(whole), "x")
    assert (blob.size, blob.read(0, size + 5)) == (size, data)
    assert module.zstd().decompress(whole) == data


PLAIN = MemoryBlob(LINES)
PACKED = MemoryBlob(packed(LINES))
places = st.integers(-5, len(LINES) + 5)


@given(st.lists(st.tuples(places, places | places.map(lambda at: at % 300)), max_size=8))
def test_any_ranges_in_any_order_are_those_of_the_plain_output(ranges):
    blob = PackedBlob(PACKED, "x")
    for start, end in [*ranges, *((start, start + length) for start, length in ranges)]:
        assert blob.read(start, end) == PLAIN.read(start, end)


def test_reading_a_range_decompresses_only_its_frames_and_few_are_held_in_memory():
    asked = []

    class Watched(MemoryBlob):
        def read(self, start, end):
            asked.append((start, end))
            return super().read(start, end)

    blob = PackedBlob(Watched(packed(LINES * 6)), "x")
    table = len(asked)
    assert blob.read(FRAME - 2, FRAME + 2) == (LINES * 6)[FRAME - 2 : FRAME + 2]
    blob.read(FRAME, FRAME + 9)
    assert len(asked) == table + 1, "frames that were just read are at hand"
    blob.read(0, blob.size)
    assert len(blob._held) == HELD


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
        lambda whole: whole.replace(b'"bytes": 2', b'"bytes": 9'),
        lambda whole: whole.replace(b'"form": "zstd"', b'"form": "lzma"'),
        lambda whole: LINES,
        lambda whole: b"\0" * len(whole),
    ],
)
def test_a_malformed_file_is_reported_as_damaged(damage):
    with pytest.raises(StoreError, match=r"bash-1\.txt\.zst is damaged: it does not end with a table of its frames"):
        PackedBlob(MemoryBlob(damage(packed(LINES))), "bash-1.txt.zst")


@pytest.mark.parametrize("at", [0, 5, 1_000])
def test_a_damaged_frame_is_reported_and_the_others_can_be_read(at):
    whole = bytearray(packed(LINES))
    whole[table_of(whole)["sizes"][0] + at] ^= 0x55
    blob = PackedBlob(MemoryBlob(bytes(whole)), "bash-1.txt.zst")
    assert blob.read(0, FRAME) == LINES[:FRAME]
    with pytest.raises(StoreError, match=r"Bytes 524,289-1,048,576 of bash-1\.txt\.zst are not the ones that were"):
        blob.read(FRAME, FRAME + 1)
    assert blob.read(2 * FRAME, 1 << 30) == LINES[2 * FRAME :]


def test_a_frame_that_holds_more_than_the_table_says_is_damaged():
    data = b"0" * 5_000
    packer = Packer(MemoryBlob(data))
    frames = b"".join(packer.pieces())
    table = encode_table(packer.frames()).replace(b'"bytes": 5000', b'"bytes": 4000')
    blob = PackedBlob(MemoryBlob(frames + table), "x")
    with pytest.raises(StoreError, match="Bytes 1-4,000"):
        blob.read(0, 1)
