import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import compiled
from spillover.intake.meter import BLOCK, Meter

SOME = [b"\n", b"a", b"\x80", b"\xbf", b"\xc0", b"\xff", b"\0", "é".encode(), "🎉".encode(), b"line\n"]


def in_python_alone(data):
    return data.count(b"\n"), sum(byte & 0xC0 != 0x80 for byte in data)


@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(SOME), max_size=200).map(b"".join)))
def test_newlines_and_characters_of_any_bytes(data):
    if library := compiled.loops():
        assert library.tally(data) == in_python_alone(data)


@pytest.mark.parametrize("byte", [b"\n", b"\x80", b"\xbf", b"\xc0", b"a", bytes(range(256))])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 64 * 255, 64 * 255 + 1, 64 * 256, BLOCK])
def test_no_count_overflows(loops, byte, size):
    data = (byte * size)[:size]
    assert loops.tally(data) == in_python_alone(data)


def test_a_meter_counts_the_same(loops, in_python):
    data = b"".join(random.Random(1).choices(SOME, k=200_000))

    def measure():
        meter = Meter()
        meter.feed(data[:100])
        meter.feed(memoryview(data)[100:])
        return meter.newlines, meter.chars, meter.index

    assert measure() == in_python(measure)
    assert measure()[:2] == in_python_alone(data)


@pytest.mark.parametrize(
    "wrong", [(), ("text",), (None,), (b"", b""), (memoryview(bytes(8))[::2],), (memoryview(bytes(8)).cast("I"),)]
)
def test_wrong_arguments_are_refused(loops, wrong):
    with pytest.raises((TypeError, BufferError)):
        loops.tally(*wrong)
