"""The format of compressed outputs: any size, any range, any damage."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import StoreError
from spillover.intake.blob import Held
from spillover.store import compress as module
from spillover.store.compress import FRAME, HELD, PackedBlob, packed

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 90_001))  # three frames


@pytest.mark.parametrize("size", [0, 1, FRAME - 1, FRAME, FRAME + 1, 3 * FRAME])
def test_any_size_comes_back_as_it_was_by_us_and_by_zstd_itself(size):
    data = (LINES * 2)[:size]
    whole = b"".join(packed(Held(data)))
    blob = PackedBlob(Held(whole), "x")
    assert (blob.size, blob.read(0, size + 5)) == (size, data)
    assert module.zstd().decompress(whole) == data


def test_the_end_of_the_file_is_the_table_of_the_seekable_format():
    whole = b"".join(packed(Held(LINES)))
    count, options, form = struct.unpack("<IBI", whole[-9:])
    assert (count, options, form) == (3, 0, 0x8F92EAB1)
    skipped, size = struct.unpack("<II", whole[-9 - 3 * 8 - 8 :][:8])
    assert (skipped, size) == (0x184D2A5E, 3 * 8 + 9)
    entries = list(struct.iter_unpack("<II", whole[-9 - 3 * 8 : -9]))
    assert [size for _, size in entries] == [FRAME, FRAME, len(LINES) - 2 * FRAME]
    assert sum(stored for stored, _ in entries) == len(whole) - 41


PLAIN = Held(LINES)
PACKED = Held(b"".join(packed(PLAIN)))
places = st.integers(-5, len(LINES) + 5)


@given(st.lists(st.tuples(places, places | places.map(lambda at: at % 300)), max_size=8))
def test_any_ranges_in_any_order_are_those_of_the_plain_output(ranges):
    blob = PackedBlob(PACKED, "x")
    for start, end in [*ranges, *((start, start + length) for start, length in ranges)]:
        assert blob.read(start, end) == PLAIN.read(start, end)


def test_reading_a_range_decompresses_only_its_frames_and_few_are_held_in_memory():
    asked = []

    class Watched(Held):
        def read(self, start, end):
            asked.append((start, end))
            return super().read(start, end)

    blob = PackedBlob(Watched(b"".join(packed(Held(LINES * 4)))), "x")
    table = len(asked)
    assert blob.read(FRAME - 2, FRAME + 2) == (LINES * 4)[FRAME - 2 : FRAME + 2]
    assert len(asked) == table + 2
    blob.read(FRAME, FRAME + 9)
    assert len(asked) == table + 2, "a frame that was just read is cached"
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
        lambda whole: whole[:-5] + b"\x80" + whole[-4:],  # unknown options
        lambda whole: whole[:-9] + struct.pack("<I", 2) + whole[-5:],
        lambda whole: whole[:-9] + struct.pack("<I", 0xFFFFFFFF) + whole[-5:],
        lambda whole: whole[:-13] + struct.pack("<I", 1 << 30) + whole[-9:],  # a frame of a gigabyte
        lambda whole: whole[:-13] + struct.pack("<I", 0) + whole[-9:],
        lambda whole: LINES,
        lambda whole: b"\0" * len(whole),
    ],
)
def test_a_malformed_file_is_reported_as_damaged(damage):
    whole = b"".join(packed(Held(LINES)))
    with pytest.raises(StoreError, match=r"bash-1\.txt\.zst is damaged: it does not end with a table of its frames"):
        PackedBlob(Held(damage(whole)), "bash-1.txt.zst")


@pytest.mark.parametrize("at", [0, 5, 200_000, 1_000])
def test_a_damaged_frame_is_reported_and_the_others_can_be_read(at):
    whole = bytearray(b"".join(packed(Held(LINES))))
    second = struct.unpack("<I", whole[-33:-29])[0]
    whole[second + at % 100_000] ^= 0x55
    blob = PackedBlob(Held(bytes(whole)), "bash-1.txt.zst")
    assert blob.read(0, FRAME) == LINES[:FRAME]
    with pytest.raises(
        StoreError, match=r"Bytes 1,048,577-2,097,152 of bash-1\.txt\.zst are damaged; the others can be"
    ):
        blob.read(FRAME, FRAME + 1)
    assert blob.read(2 * FRAME, 1 << 30) == LINES[2 * FRAME :]


def test_a_frame_that_holds_more_than_the_table_says_is_damaged():
    library = module.zstd()
    frame = library.compress(b"0" * 5_000)
    table = struct.pack("<IIIIIBI", 0x184D2A5E, 17, len(frame), 4_000, 1, 0, 0x8F92EAB1)
    blob = PackedBlob(Held(frame + table), "x")
    with pytest.raises(StoreError, match="Bytes 1-4,000"):
        blob.read(0, 1)
