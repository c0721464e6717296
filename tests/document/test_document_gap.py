"""Lines of an output whose index ends early, or of which the middle is gone."""

import pytest

from spillover.document.document import Document
from spillover.source.blob import BLOCK_BYTES, BothEnds, LineIndex, MemoryBlob, Meter

DATA = b"".join(b"line %d\n" % number for number in range(1, 40_001))


def document(blob, index):
    meter = Meter()
    meter.feed(DATA)
    return Document(blob, index or meter.index, meter.lines, meter.newlines)


def starts():
    at = 0
    for number, line in enumerate(DATA.split(b"\n")[:-1], 1):
        yield number, at
        at += len(line) + 1


def test_a_line_is_found_behind_the_end_of_the_index():
    meter = Meter()
    meter.feed(DATA[: BLOCK_BYTES + 5])
    for index in (LineIndex(), meter.index):
        ends = BothEnds(MemoryBlob(DATA[:200_000]), DATA[200_000:], len(DATA))
        whole = document(ends, index)
        for number, at in list(starts())[::997]:
            assert whole.start(number) == at, number
            assert whole.number(at) == number


@pytest.mark.parametrize("index", [None, LineIndex()])
@pytest.mark.parametrize("tail", [0, 1, 70_000])
def test_a_line_of_the_middle_that_is_gone_begins_where_there_is_something_again(index, tail):
    ends = BothEnds(MemoryBlob(DATA[:70_000]), DATA[len(DATA) - tail :], len(DATA))
    opens, closes = ends.gap
    cut = document(ends, index)
    for number, at in list(starts())[::97]:
        assert cut.start(number) == (at if at <= opens or at > closes else closes), number
    assert cut.start(40_001) == len(DATA)
