import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import without

from spillover import compiled
from spillover.intake.meter import BLOCK, Meter

SOME = [b"\n", b"a", b"\x80", b"\xbf", b"\xc0", b"\xff", b"\0", "é".encode(), "🎉".encode(), b"line\n"]


def in_python_alone(data):
    return data.count(b"\n"), sum(byte & 0xC0 != 0x80 for byte in data)


def as_one_block(data):
    newlines, chars = in_python_alone(data)
    return [newlines] if data else [], chars


@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(SOME), max_size=200).map(b"".join)))
def test_newlines_and_characters_of_any_bytes(data):
    if library := compiled.loops():
        assert library.tally(data, len(data) or 1) == as_one_block(data)


@pytest.mark.parametrize("byte", [b"\n", b"\x80", b"\xbf", b"\xc0", b"a", bytes(range(256))])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 64 * 255, 64 * 255 + 1, 64 * 256, BLOCK])
def test_no_count_overflows(loops, byte, size):
    data = (byte * size)[:size]
    assert loops.tally(data, BLOCK) == as_one_block(data)


@given(st.lists(st.sampled_from(SOME), max_size=200).map(b"".join), st.integers(1, 70))
def test_newlines_are_counted_block_by_block(data, block):
    if library := compiled.loops():
        blocks = [data[at : at + block] for at in range(0, len(data), block)]
        assert library.tally(data, block) == ([each.count(b"\n") for each in blocks], in_python_alone(data)[1])


def test_a_meter_counts_the_same(loops):
    data = b"".join(random.Random(1).choices(SOME, k=200_000))

    def measure():
        meter = Meter()
        meter.feed(data[:100])
        meter.feed(memoryview(data)[100:])
        return meter.newlines, meter.chars, meter.index

    assert measure() == without(measure)
    assert measure()[:2] == in_python_alone(data)


@pytest.mark.parametrize(
    "wrong",
    [(), (b"",), ("text", 4), (None, 4), (b"", b""), (b"a", 0), (b"a", -1), (b"a", 1 << 70), (b"a", 4, 4),
     (memoryview(bytes(8))[::2], 4), (memoryview(bytes(8)).cast("I"), 4)],
)  # fmt: skip
def test_wrong_arguments_are_refused(loops, wrong):
    with pytest.raises((TypeError, ValueError, OverflowError, BufferError)):
        loops.tally(*wrong)
